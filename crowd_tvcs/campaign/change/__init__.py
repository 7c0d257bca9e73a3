"""Changes of the settings of a campaign that runs: limits, caps, rules and classes.

What comes in, such as workers, tasks and answers, does not belong here (`campaign.ingest`).
"""

"""Changes of the settings of a campaign that runs: limits, caps, rules and classes.

New workers, tasks and answers do not belong here (`campaign.ingest`).
"""

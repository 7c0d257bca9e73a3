"""Pages of the operator beside the overview: settings, tasks, people.

Their contents are read in `crowd_tvcs.campaign.desk`; pages of workers do not belong here.
"""

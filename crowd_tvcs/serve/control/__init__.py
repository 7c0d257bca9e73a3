"""Pages of the operator beside the overview: settings, tasks, people.

What these show is read in `crowd_tvcs.campaign.desk`; pages of workers do not belong here.
"""

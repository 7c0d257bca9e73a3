"""Worker behaviour: drift, fatigue, speed, spam, copying, pay; each flag with its evidence.

Accuracies are estimated in `skills`, and tasks are assigned in `methods`.
"""

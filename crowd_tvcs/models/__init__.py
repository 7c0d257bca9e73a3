"""AI models as annotators: fit their skills and shared errors, and the work left for people.

Assignment does not belong here: the models' answers become priors of tasks, from which plans and
campaigns of people start.
"""

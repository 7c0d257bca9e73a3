"""Models as workers: what their answers leave to people, where models of one family err together.

Who labels what does not belong here: the models' answers become priors of tasks, and plans and
campaigns of people take it from there.
"""

"""Kinds of answers of a campaign: a class, a step of a scale, a preference, several labels.

What the models of `crowd_tvcs.answer_kinds` compute does not belong here.
"""

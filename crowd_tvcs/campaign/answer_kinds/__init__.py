"""Kinds of answers of a campaign: a class, a step of a scale, a preference, several labels.

The computations of `crowd_tvcs.answer_kinds` do not belong here.
"""

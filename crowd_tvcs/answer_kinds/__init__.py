"""Aggregate other answers than one of K classes: ordered scales, comparisons of pairs, label sets.

Unordered classes do not belong here: their skills and votes are in `crowd_tvcs.skills`.
"""

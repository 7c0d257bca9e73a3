"""Votes, without gold and with little of it, and how many of their labels are right.

The posterior by skills that are given does not belong here (`crowd_tvcs.skills.posterior`).
"""

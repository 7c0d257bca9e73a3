"""Simulated networks with known edges, and the training of the files that `grn_tvcs` ships.

What a user runs does not belong here.
"""

"""Simulated networks and experiments on them, as in the DREAM challenges.

The methods see only the files that this package writes.
"""

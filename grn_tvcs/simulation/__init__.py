"""Simulated networks and experiments on them, as in the DREAM challenges.

Nothing here infers: the methods see only the files that this room writes.
"""

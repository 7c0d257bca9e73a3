"""Peers as all studies of methods run them, and how these judge the top of a ranking.

A study itself does not belong here.
"""

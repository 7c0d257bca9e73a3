"""Jitted code of expected accuracy: lists and tables of the outcomes of a vote.

Nothing here knows caps or prices.
"""

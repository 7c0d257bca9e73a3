"""Jitted code of expected accuracy: lists and tables of the outcomes of a vote.

Caps and prices do not belong here.
"""

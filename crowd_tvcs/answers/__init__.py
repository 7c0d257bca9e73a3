"""Answers, gold and qualities: their files, their columns, the names in them.

What they say about workers is in `skills`, what is planned from them in `plan`.
"""

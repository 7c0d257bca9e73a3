"""Answers, gold and qualities: their files, their columns, the names in them.

`skills` estimates workers from them, and `plan` assigns tasks.
"""

"""Jitted code of the search: priced tasks, bounds, greedy gains, exchanges.

Nothing here knows a `Plan`: arrays and records in, arrays filled.
"""

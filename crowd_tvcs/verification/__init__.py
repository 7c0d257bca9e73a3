"""The check of what `crowd-tvcs assign` wrote, by code that shares nothing with the search.

Nothing here finds a plan; pricing uses NumPy alone.
"""

"""Independent checks of the files of `crowd-tvcs assign`; nothing is shared with the search.

Nothing here finds a plan; pricing uses NumPy alone.
"""

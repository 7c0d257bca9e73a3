"""Two conditions: which edges differ, and how far chance alone would go, by exchanging series.

What a single condition's network is, the methods say; nothing here infers one.
"""

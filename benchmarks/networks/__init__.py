"""Inferred networks and the simulator against what is true, and where the defaults come from.

Time and memory of an inference belong to `speed`.
"""

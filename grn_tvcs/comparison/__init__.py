"""Comparison of two conditions: edges that differ, tested by permutation of series.

`methods` infers the network of a single condition.
"""

"""Kernels for lists of candidates: shortest augmenting paths between rows and columns.

`exact/listed.py` calls them.
"""

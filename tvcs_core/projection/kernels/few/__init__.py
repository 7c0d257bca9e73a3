"""Kernels for tables of few lines on one side: shortest paths between these lines.

When they run is decided in `exact/shortcuts.py` and `exact/pruning.py`.
"""

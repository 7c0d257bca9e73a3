"""Kernels of the default method: arrays in, arrays filled.

Draws and candidate pairs are decided in the rest of `stability`.
"""

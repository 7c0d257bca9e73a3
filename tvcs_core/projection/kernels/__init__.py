"""Compiled kernels of the projection: arrays in, arrays filled.

Their order of execution belongs to `exact`.
"""

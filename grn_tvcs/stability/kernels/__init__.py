"""Jitted code of the default method: arrays in, arrays filled.

What is drawn, and which pairs may be edges, is decided in the rest of `stability`.
"""

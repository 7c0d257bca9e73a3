"""Jitted code of the projection: arrays in, arrays filled.

Which of it runs, and in what order, is decided in `exact`.
"""

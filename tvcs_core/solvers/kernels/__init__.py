"""Compiled loops of the solvers, on arrays.

Problems, losses and options do not belong here; see the other files of `solvers`.
"""

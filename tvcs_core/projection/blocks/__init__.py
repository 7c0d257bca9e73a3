"""Projection of a V that is stored in blocks of rows, by questions to the blocks.

Solving the core does not belong here; `tvcs_core.projection.exact` does it.
"""

"""Projection onto three-view cardinality constraints, and the solvers that stand on it."""

from tvcs_core.errors import DataError

__all__ = ["DataError"]

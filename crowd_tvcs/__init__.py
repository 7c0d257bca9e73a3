"""Which worker labels which task: assignments of largest expected accuracy within the caps."""

from crowd_tvcs.accuracy import (
    accuracy_bounds,
    expected_accuracy,
    gains,
    sampled_accuracy,
    smooth_accuracy,
)
from crowd_tvcs.assignment import Assignment, Duals
from crowd_tvcs.methods import METHODS, assign
from crowd_tvcs.plan import Plan
from crowd_tvcs.quality import Quality, QualityFile, read_quality
from crowd_tvcs.simulate import Crowd, simulate

__all__ = [
    "METHODS",
    "Assignment",
    "Crowd",
    "Duals",
    "Plan",
    "Quality",
    "QualityFile",
    "accuracy_bounds",
    "assign",
    "expected_accuracy",
    "gains",
    "read_quality",
    "sampled_accuracy",
    "simulate",
    "smooth_accuracy",
]

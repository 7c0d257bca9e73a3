"""Which worker labels which task: assignments of largest expected accuracy within the caps."""

from typing import TYPE_CHECKING

from tvcs_core.lazy import lazy_exports

if TYPE_CHECKING:
    from crowd_tvcs.accuracy.two_classes import (
        accuracy_bounds,
        expected_accuracy,
        gains,
        sampled_accuracy,
        smooth_accuracy,
    )
    from crowd_tvcs.answers.answers import Answers, Gold, read_answers, read_gold
    from crowd_tvcs.answers.quality import Quality, QualityFile, read_quality
    from crowd_tvcs.methods import METHODS, assign
    from crowd_tvcs.plan.assignment import Assignment
    from crowd_tvcs.plan.certificate import Duals
    from crowd_tvcs.plan.plan import Plan
    from crowd_tvcs.simulation import Crowd, simulate
    from crowd_tvcs.skills.estimate import estimate_quality
    from crowd_tvcs.skills.skill import Skill
    from crowd_tvcs.skills.voting.vote import vote
    from crowd_tvcs.skills.voting.votes import Votes

__all__ = [
    "METHODS",
    "Answers",
    "Assignment",
    "Crowd",
    "Duals",
    "Gold",
    "Plan",
    "Quality",
    "QualityFile",
    "Skill",
    "Votes",
    "accuracy_bounds",
    "assign",
    "estimate_quality",
    "expected_accuracy",
    "gains",
    "read_answers",
    "read_gold",
    "read_quality",
    "sampled_accuracy",
    "simulate",
    "smooth_accuracy",
    "vote",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "accuracy.two_classes": "accuracy_bounds expected_accuracy gains sampled_accuracy "
        "smooth_accuracy",
        "answers.answers": "Answers Gold read_answers read_gold",
        "answers.quality": "Quality QualityFile read_quality",
        "methods": "METHODS assign",
        "plan.assignment": "Assignment",
        "plan.certificate": "Duals",
        "plan.plan": "Plan",
        "simulation": "Crowd simulate",
        "skills.estimate": "estimate_quality",
        "skills.skill": "Skill",
        "skills.voting.vote": "vote",
        "skills.voting.votes": "Votes",
    },
    modules=["datasets"],
)

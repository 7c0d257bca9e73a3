"""Calibration of the confidences of a campaign on gold tasks, judged by each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowd_tvcs.answers.answers import Answers, Gold
from crowd_tvcs.campaign.estimates import PRIOR
from crowd_tvcs.campaign.state import State
from crowd_tvcs.skills.dependence import CalibrationBin, Dependence, calibration_warnings
from crowd_tvcs.skills.dependence_fit import held_out_prefixes
from crowd_tvcs.skills.estimate import estimate_quality
from crowd_tvcs.skills.reliability import (
    Bools,
    Floats,
    TargetEvidence,
    calibration_bins,
    confidence_threshold,
    gold_confidences,
    target_evidence,
)
from crowd_tvcs.skills.voting.random_gold import sample_doubt


@dataclass(frozen=True, eq=False)
class GoldCalibration:
    """Mean confidence and accuracy on the gold tasks.

    Attributes
    ----------
    claim, hit
        Confidence and whether the label is right, see
        `crowd_tvcs.skills.reliability.gold_confidences`.
    by_labels
        Means by the number of answers.
    tasks
        Number of gold tasks with answers.
    sample_doubt
        The evidence that gold is no random sample of the tasks; empty without any.
    """

    claim: Floats
    hit: Bools
    by_labels: tuple[CalibrationBin, ...]
    tasks: int
    sample_doubt: str

    @property
    def by_confidence(self) -> list[CalibrationBin]:
        """Means by how sure the claim is."""
        return calibration_bins(self.claim, self.hit)

    @property
    def warnings(self) -> list[str]:
        """Warn if confidences are off the measured accuracy, or gold is no random sample."""
        found = calibration_warnings(Dependence(measured=self.by_labels))
        if self.sample_doubt:
            found.append(f"warning: {self.sample_doubt}; draw gold at random among all tasks")
        return found

    def confidence_threshold(self, target: float) -> float:
        """How sure a label must be for a share `target` of right ones; 1 if that is unknown."""
        if self.sample_doubt:
            return 1.0
        return confidence_threshold(self.claim, self.hit, target)

    def target_evidence(self, target: float) -> TargetEvidence:
        """Return the share of right labels among those confident of a target."""
        return target_evidence(self.claim, self.hit, target, self.tasks)


def calibrate_on_gold(state: State) -> GoldCalibration | None:
    """Judge the gold tasks of a campaign by its model; None where qualities are from no gold."""
    if state.settings.source != "gold" or not (state.gold_answers and state.kind.has_classes):
        return None
    classes = state.classes
    known = Gold({task: classes[label] for task, label in state.gold.items()}, classes)
    workers = sorted({w.name for w in state.workers} | {name for _, name, _ in state.gold_answers})
    answers = Answers.of(
        state.gold_answers, tasks=sorted(state.gold), workers=workers, classes=classes
    )
    model = Dependence() if state.model is None else state.model
    skill = replace(
        estimate_quality(answers, known, prior=PRIOR, model="independent"), dependence=model
    )
    by_labels = model.measured or held_out_prefixes(answers, known, skill).measured(model)
    tasks = np.unique(answers.task_of).size
    judged = gold_confidences(answers, known, skill)
    return GoldCalibration(*judged, by_labels, tasks, gold_sample_doubt(state))


def gold_sample_doubt(state: State) -> str:
    """Describe why the gold of a campaign is no random sample of its tasks; empty if it can be."""
    if not (state.gold_answers and state.kind.has_classes):
        return ""
    tasks, workers, classes = state.factors.tasks, state.factors.table.workers, state.classes
    given = [
        (tasks[j], workers[i], classes[label])
        for i, j, label in state.given.tolist()
        if tasks[j] not in state.gold
    ]
    answers = Answers.of([*state.gold_answers, *given], classes=classes)
    return sample_doubt(answers, np.array([state.gold.get(name, -1) for name in answers.tasks]))

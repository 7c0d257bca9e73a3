"""Outcomes of replayed policies, and their averages over the splits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

NO_LIMIT = 0  # as a number of labels per task
CONFIDENT = 0.95  # confidence of a confident label


@dataclass(frozen=True)
class Outcome:
    """Result of one policy on one split.

    Attributes
    ----------
    policy
        ``"random"``: equally many answers per task, drawn; ``"balanced"``: equally many per task,
        by the best workers (one projection of the skills); ``"adaptive"``: those with the largest
        expected reduction of uncertainty, in batches; ``"stopping"``: likewise, until no label is
        worth its price; ``"all"``: every answer.
    vote
        ``"weighted"`` by the skills, ``"unsupervised"`` by the agreement of the workers alone,
        ``"majority"``, or ``"semi-supervised"``: weighted by skills that are re-estimated from all
        answers (see `crowd_tvcs.skills.semi_supervised`), even if held-out gold is against it.
    labels
        Requested number of labels per task, on average; `NO_LIMIT` for no limit.
    split
        Number of the split, from 0.
    bought
        Labels bought per task; fewer if the record has no more.
    accuracy
        Share of scored tasks whose label is right; of n labels that tie, one counts 1/n.
    mean_confidence
        Mean confidence of the labels of tasks with answers. NaN for a majority vote, whose shares
        are not confidences, and for ``"unsupervised"`` if no task has two answers.
    confident_share, confident_accuracy
        Share of the tasks with a confidence of `CONFIDENT` or more, and share of right labels among
        those; NaN if there are none, and for a majority vote.
    unlabelled
        Share of the tasks without answers. They count as guessed in `accuracy`.
    refused
        For ``"semi-supervised"``: 1 if it does worse on held-out gold, so that `crowd-tvcs quality`
        would not make it, else 0; NaN for other votes.
    """

    policy: str
    vote: str
    labels: int
    split: int
    bought: float
    accuracy: float
    mean_confidence: float
    confident_share: float
    confident_accuracy: float
    unlabelled: float
    refused: float


def averages(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return the mean accuracy over the splits and its standard error, by policy, vote and labels.

    `refused` is the number of splits whose held-out gold is against a refit. Missing values are
    None. The standard error is None for a single split. It reflects the choice of gold and scored
    tasks; the splits share most of their tasks, so it is not the sampling error of the data.
    """
    groups: dict[tuple[str, str, int], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.policy, outcome.vote, outcome.labels), []).append(outcome)
    rows = []
    for (policy, vote, labels), found in groups.items():
        values = np.array([o.accuracy for o in found])
        error = float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else None
        right = [o.confident_accuracy for o in found if o.confident_share > 0.0]
        claims = [o.mean_confidence for o in found if not math.isnan(o.mean_confidence)]
        is_measured = bool(claims)
        rows.append(
            {
                "policy": policy,
                "vote": vote,
                "labels": "no limit" if labels == NO_LIMIT else labels,
                "bought": float(np.mean([o.bought for o in found])),
                "accuracy": float(values.mean()),
                "standard_error": error,
                "mean_confidence": float(np.mean(claims)) if claims else None,
                "confident_share": float(np.mean([o.confident_share for o in found]))
                if is_measured
                else None,
                "confident_accuracy": float(np.mean(right)) if right else None,
                "unlabelled": float(np.mean([o.unlabelled for o in found])),
                "refused": sum(o.refused for o in found) if vote == "semi-supervised" else None,
            }
        )
    return rows

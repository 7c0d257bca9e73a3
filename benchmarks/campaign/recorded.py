"""Recorded answers, replayed by every policy on many splits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crowd_tvcs.answers.answers import read_answers, read_gold
from crowd_tvcs.routing.replay import replay

LABELS = (1, 2, 3, 5, 8)
POLICIES = (
    ("all", "weighted"),
    ("all", "majority"),
    ("all", "semi-supervised"),
    ("random", "weighted"),
    ("random", "majority"),
    ("balanced", "weighted"),
    ("balanced", "majority"),
    ("adaptive", "weighted"),
    ("stopping", "weighted"),
)
UNLIMITED = ("all", "stopping")
MODEL = "independent"  # of the tables; the model of dependence: benchmarks/crowd/confidence.py


@dataclass(frozen=True)
class Case:
    """One policy on one split of one set; see `crowd_tvcs.routing.outcomes.Outcome`."""

    data: str
    per_class: int
    policy: str
    vote: str
    labels: int
    split: int
    bought: float
    accuracy: float

    @property
    def key(self) -> tuple[str, int, str, str, int, int]:
        return self.data, self.per_class, self.policy, self.vote, self.labels, self.split


def replay_split(task: tuple[str, str, int, int]) -> list[Case]:
    """Replay every policy on one split."""
    data, name, per_class, split = task
    folder = Path(data) / name
    found = replay(
        read_answers(folder / "label.csv"),
        read_gold(folder / "truth.csv"),
        labels=LABELS,
        splits=1,
        first_split=split,
        per_class=bool(per_class),
        model=MODEL,
    )
    return [
        Case(name, per_class, o.policy, o.vote, o.labels, o.split, o.bought, o.accuracy)
        for o in found
        if (o.policy, o.vote) in POLICIES
    ]

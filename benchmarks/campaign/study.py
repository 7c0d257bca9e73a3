"""Campaigns: recorded answers replayed, workers who arrive online, and the optimism of plans.

`python -m benchmarks.campaign.study [DATA] [--write-docs]`. DATA is a folder of folders, each a set
of recorded answers: label.csv (item, worker, label) and truth.csv (item, truth); without it
the replay is left out. One row per case goes to replay.csv, online.csv and optimism.csv in --out
as soon as it is known; a run that was killed goes on where it stopped. `--write-docs` fills the
tables of docs/campaign-study.md and draws its figures, `--only-docs` does so without computing.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from benchmarks import resumable
from benchmarks.campaign import online
from crowd_tvcs.answers.answers import read_answers, read_gold
from crowd_tvcs.routing.replay import EVERYTHING, replay

ROOT = Path(__file__).resolve().parents[2]
LABELS = (1, 2, 3, 5, 8)
SPLITS = range(10)
TUNED, FRESH = range(10), range(100, 110)  # seeds of the simulations
POLICIES = (
    ("all", "weighted"),
    ("all", "majority"),
    ("all", "refreshed"),
    ("random", "weighted"),
    ("random", "majority"),
    ("balanced", "weighted"),
    ("balanced", "majority"),
    ("adaptive", "weighted"),
    ("stopping", "weighted"),
)
UNLIMITED = ("all", "stopping")


@dataclass(frozen=True)
class Case:
    """One policy on one split of one set; see `crowd_tvcs.routing.replay.Outcome`."""

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


def main() -> int:
    arguments = _arguments()
    out = arguments.out
    if not arguments.only_docs:
        out.mkdir(parents=True, exist_ok=True)
        if arguments.data is not None:
            run_replay(arguments.data, out / "replay.csv", arguments.jobs)
        run_online(out / "online.csv", arguments.jobs)
        run_optimism(out / "optimism.csv", arguments.jobs)
    if arguments.write_docs or arguments.only_docs:
        from benchmarks.campaign.show import write_docs

        write_docs(
            resumable.load(out / "replay.csv", Case),
            resumable.load(out / "online.csv", online.Curve),
            resumable.load(out / "optimism.csv", online.Optimism),
            ROOT / "docs",
        )
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path, nargs="?", help="folder of recorded answers")
    default = ROOT / "benchmarks" / "results" / "campaign"
    parser.add_argument("--out", type=Path, default=default, help="folder of the cases")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write-docs", action="store_true", help="fill docs/campaign-study.md")
    parser.add_argument("--only-docs", action="store_true", help="compute nothing")
    return parser.parse_args()


def run_replay(data: Path, path: Path, jobs: int) -> None:
    """Replay every set of `data`, one split after the other."""
    sets = sorted(folder.parent.name for folder in data.glob("*/truth.csv"))
    tasks = {
        (str(data), name, per_class, split): {
            (name, per_class, policy, vote, labels, split)
            for policy, vote in POLICIES
            for labels in ((EVERYTHING,) if policy in UNLIMITED else LABELS)
        }
        for name in sets
        for per_class in (0, 1)
        for split in SPLITS
    }
    resumable.complete(path, Case, tasks, replay_split, jobs=jobs, order=lambda case: case.key)


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
    )
    return [
        Case(name, per_class, o.policy, o.vote, o.labels, o.split, o.bought, o.accuracy)
        for o in found
    ]


def run_online(path: Path, jobs: int) -> None:
    """Let workers arrive online, for every family, policy and seed."""
    keys = [
        (family, policy, seed)
        for family in online.FAMILIES
        for policy in online.POLICIES
        for seed in (*TUNED, *FRESH)
    ]
    tasks = {key: {key} for key in keys}
    resumable.complete(
        path, online.Curve, tasks, one_curve, jobs=jobs, order=lambda case: keys.index(case.key)
    )


def one_curve(key: tuple[str, str, int]) -> list[online.Curve]:
    """One run of one policy."""
    return [online.curve(*key)]


def run_optimism(path: Path, jobs: int) -> None:
    """Plan with estimated qualities, for every family, number of gold answers and seed."""
    tasks = {
        (family, gold, seed): {(family, gold, name, seed) for name in online.ESTIMATES}
        for family in online.PLANNED
        for gold in online.GOLD_ANSWERS
        for seed in FRESH
    }
    resumable.complete(
        path, online.Optimism, tasks, one_plan, jobs=jobs, order=lambda case: case.key
    )


def one_plan(task: tuple[str, int, int]) -> list[online.Optimism]:
    """The plans of one crowd."""
    return online.optimism(*task)


if __name__ == "__main__":
    raise SystemExit(main())

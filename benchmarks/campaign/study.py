"""Campaigns: recorded answers replayed, workers who arrive online, and the optimism of plans.

`python -m benchmarks.campaign.study [DATA] [--write-docs]`. DATA is a folder of folders, each a set
of recorded answers: label.csv (item, worker, label) and truth.csv (item, truth); without it
the replay is left out. One row per case goes to replay.csv, online.csv and optimism.csv in --out
as soon as it is known; a run that was killed goes on where it stopped. `--write-docs` fills the
tables of docs/studies/campaign-study.md and draws its figures, `--only-docs` does so without
computing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.campaign import online
from benchmarks.campaign.online import FRESH, TUNED
from benchmarks.campaign.recorded import LABELS, POLICIES, UNLIMITED, Case, replay_split
from benchmarks.study import complete, load, options, run
from crowd_tvcs.routing.outcomes import NO_LIMIT

SPLITS = range(10)


def main() -> int:
    parser = options(__doc__, results="campaign", page="studies/campaign-study.md", jobs=1)
    parser.add_argument("data", type=Path, nargs="?", help="folder of recorded answers")
    return run(parser.parse_args(), compute, write_page)


def compute(arguments: argparse.Namespace) -> None:
    out, jobs = arguments.out, arguments.jobs
    if arguments.data is not None:
        run_replay(arguments.data, out / "replay.csv", jobs)
    run_online(out / "online.csv", jobs)
    run_optimism(out / "optimism.csv", jobs)


def write_page(out: Path, docs: Path) -> None:
    from benchmarks.campaign.show import write_docs

    write_docs(
        load(out / "replay.csv", Case),
        load(out / "online.csv", online.Curve),
        load(out / "optimism.csv", online.Optimism),
        docs,
    )


def run_replay(data: Path, path: Path, jobs: int) -> None:
    """Replay every set of `data`, one split after the other."""
    sets = sorted(folder.parent.name for folder in data.glob("*/truth.csv"))
    tasks = {
        (str(data), name, per_class, split): {
            (name, per_class, policy, vote, labels, split)
            for policy, vote in POLICIES
            for labels in ((NO_LIMIT,) if policy in UNLIMITED else LABELS)
        }
        for name in sets
        for per_class in (0, 1)
        for split in SPLITS
    }
    complete(path, Case, tasks, replay_split, jobs=jobs)


def run_online(path: Path, jobs: int) -> None:
    """Let workers arrive online, for every family, policy and seed."""
    keys = [
        (family, policy, seed)
        for family in online.FAMILIES
        for policy in online.POLICIES
        for seed in (*TUNED, *FRESH)
    ]
    tasks = {key: {key} for key in keys}
    complete(
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
    complete(path, online.Optimism, tasks, one_plan, jobs=jobs)


def one_plan(task: tuple[str, int, int]) -> list[online.Optimism]:
    """The plans of one crowd."""
    return online.optimism(*task)


if __name__ == "__main__":
    sys.exit(main())

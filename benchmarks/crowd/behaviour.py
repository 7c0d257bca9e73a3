"""Flags on workers: how many honest ones are flagged, and how many of the others are found.

``python -m benchmarks.crowd.behaviour`` simulates crowds; with the folder of recorded sets (each
with label.csv and truth.csv) it also says of every flag there what all known labels say of the
worker, and how many copies that are planted among them are found.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.crowd.simulated_workers import HONEST, simulate_workers
from crowd_tvcs.answers.answers import Answers, Gold, read_answers, read_gold
from crowd_tvcs.behaviour.copying import copying
from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import Flag
from crowd_tvcs.behaviour.worker_review import KINDS, find_flags
from tvcs_core.streams import stream

MIXED = {0: "guessing", 1: "same label", 2: "pattern", 4: "copying", 5: "drift", 6: "fatigue",
         7: "too fast"}  # fmt: skip
SIZES = {
    "2 classes, all answer all": {},
    "4 classes, 8 of 20 each": {"n_classes": 4, "n_tasks": 400, "per_task": 8},
    "5 of 20 each, hard, 40 gold": {"per_task": 5, "n_gold": 40, "difficulty": 1.5},
}
GOLD_SHARE = 0.2
PLANTED = 12  # workers who are made to copy, one at a time
COPIED = (0.6, 0.8)  # shares of the answers that they copy
LEAST_HELD = 5  # tasks of the class, and others, that were not gold
MOST = 30_000  # answers of a set in which that is done


def simulated(repeats: int = 60) -> None:
    """Print per kind of flag: crowds of honest workers with a flag, and what is found elsewhere."""
    for name, size in SIZES.items():
        alarms, workers = Counter(), Counter()
        for seed in range(repeats):
            found = _flags(simulate_workers(None, rng=seed, **size))
            alarms.update({kind for _, kind in found})
            workers.update(kind for _, kind in found)
        print(f"{name}: {repeats} honest crowds of 20")
        print("  crowds with a flag: " + _told(alarms) + "; workers: " + _told(workers))
        hits, wrong, there = Counter(), Counter(), Counter()
        for seed in range(repeats // 2):
            crowd = simulate_workers(MIXED, rng=1000 + seed, **size)
            there.update(crowd.kinds.values())
            for worker, kind in _flags(crowd):
                if crowd.kinds[worker] == kind:
                    hits[kind] += 1
                elif crowd.kinds[worker] == HONEST and not (kind == "copying" and worker == "w003"):
                    wrong[kind] += 1
        print("  found: " + ", ".join(f"{k} {hits[k]}/{there[k]}" for k in KINDS if there[k]))
        print(f"  of {there[HONEST]} honest ones beside them: {_told(wrong)}")


def recorded(folder: Path) -> None:
    """Print what is flagged in recorded sets, with a fifth of the known tasks for gold."""
    for path in sorted(p for p in folder.iterdir() if (p / "truth.csv").exists()):
        answers = read_answers(path / "label.csv", duplicates="first")
        truth = read_gold(path / "truth.csv")
        gold = _part(answers, truth)
        everything = Crowd.of(answers, truth)
        found = find_flags(Crowd.of(answers, gold))
        print(f"{path.name}: {len(answers.workers)} workers, {answers.size} answers")
        for kind in KINDS:
            flagged = sorted({flag.worker for flag in found if flag.kind == kind})
            right = [_share_right(everything, worker) for worker in flagged]
            shares = ", ".join(f"{share:.2f} of {n}" for share, n in right[:12])
            if flagged:
                print(f"  {kind}: {len(flagged)}; right by all known labels: {shares}")
        print(f"  confuses, held-out truth agrees: {_confirmed(answers, truth, gold, found)}")
        if answers.size <= MOST:
            for share in COPIED:
                found_copies = _planted(answers, gold, share)
                print(f"  copies of {share} of the answers, of {PLANTED} planted: {found_copies}")


def _confirmed(answers: Answers, truth: Gold, gold: Gold, found: list[Flag]) -> str:
    """Of how many flagged classes tasks that were not gold say the same: worse than others."""
    rest = {task: label for task, label in truth.labels.items() if task not in gold.labels}
    crowd = Crowd.of(answers, Gold(rest, truth.classes))
    below = []
    for flag in (flag for flag in found if flag.kind == "confuses"):
        mine = crowd.gold_of(crowd.answers.workers.index(flag.worker))
        of_class = crowd.truth[mine] == crowd.answers.classes.index(flag.other)
        if min(of_class.sum(), (~of_class).sum()) >= LEAST_HELD:
            beyond = crowd.surprise[mine]
            below.append(beyond[of_class].mean() < beyond[~of_class].mean())
    return f"{int(np.sum(below))} of {len(below)}"


def _planted(answers: Answers, gold: Gold, share: float) -> str:
    """Let a worker copy a share of the answers of another with whom they share most tasks."""
    rng = stream(0, "planted copies")
    busy = np.argsort(-answers.per_worker)[:40]
    given = answers.given
    hits, others = 0, 0
    for copier in busy[:PLANTED].tolist():
        shared = (given[busy] & given[copier]).sum(axis=1)
        shared[busy == copier] = 0
        source = int(busy[shared.argmax()])
        label = answers.label_of.copy()
        of_source = dict(zip(answers.task_of[answers.worker_of == source].tolist(),
                             label[answers.worker_of == source].tolist(), strict=True))  # fmt: skip
        for at in np.flatnonzero(answers.worker_of == copier).tolist():
            task = int(answers.task_of[at])
            if task in of_source and rng.random() < share:
                label[at] = of_source[task]
        changed = Answers(answers.tasks, answers.workers, answers.classes, answers.task_of,
                          answers.worker_of, label)  # fmt: skip
        flagged = {(f.worker, f.other) for f in copying(Crowd.of(changed, gold))}
        pair = answers.workers[copier], answers.workers[source]
        hits += pair in flagged
        others += len(flagged) // 2 - (pair in flagged)
    return f"{hits} found; other pairs flagged, on the mean {others / PLANTED:.2f}"


def _flags(workforce: object) -> set[tuple[str, str]]:
    crowd = Crowd.of(workforce.answers, workforce.gold)  # type: ignore[attr-defined]
    return {(flag.worker, flag.kind) for flag in find_flags(crowd)}


def _part(answers: Answers, truth: Gold) -> Gold:
    names = sorted(set(truth.labels) & set(answers.tasks))
    chosen = stream(0, "gold of recorded sets").permutation(len(names))
    known = [names[j] for j in chosen[: round(GOLD_SHARE * len(names))]]
    return Gold({name: truth.labels[name] for name in known}, truth.classes)


def _share_right(crowd: Crowd, worker: str) -> tuple[float, int]:
    mine = crowd.gold_of(crowd.answers.workers.index(worker))
    return (float(crowd.is_right[mine].mean()) if mine.size else float("nan")), mine.size


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{kind} {counts[kind]}" for kind in KINDS if counts[kind]) or "none"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", type=Path, help="folders of recorded sets")
    arguments = parser.parse_args()
    simulated()
    for folder in arguments.data:
        recorded(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What each part of the search of `best` is worth: every one is left out, at equal processor time.

`python -m benchmarks.crowd.plans.search_parts [DATA] [--seconds S] [--seeds N] [--parts NAME]`.
DATA is a folder of recorded crowds: their skills, estimated by a fifth of the tasks, and their
pairs. The other crowds are simulated. The whole search and that without a part alternate in one
process. The clock of the deadline is that of the processor, so that other work does not count.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.crowd.common_error import plan_of
from benchmarks.crowd.plans.table_of_plans import PAGE
from benchmarks.pages import fill_file, table
from benchmarks.study import first_answers
from crowd_tvcs import Plan, Quality, assign, simulate
from crowd_tvcs.answers.answers import read_gold
from crowd_tvcs.methods import best
from crowd_tvcs.plan.costs import is_rationed
from crowd_tvcs.routing.replay import draw_split
from crowd_tvcs.search import column_generation, deadline, initial, relaxation, search
from crowd_tvcs.search.all_sets import fits

# Left out and gone: branch and bound broken off early at first (decision 211).
Patch = tuple[Any, str, Any]
RECORDED = (("adult", False), ("dog", True), ("rte", False), ("web", True))
FIRST_SEED = 1_131_042  # of this study alone


def _edited(owner: Any, name: str, old: str, new: str) -> Patch:
    """Return a function of the search with a part of its text replaced."""
    source = textwrap.dedent(inspect.getsource(getattr(owner, name)))
    assert source.count(old) == 1, (name, old)
    module = sys.modules[getattr(owner, name).__module__]
    found: dict[str, Any] = {}
    exec(compile(source.replace(old, new), name, "exec"), vars(module) | {}, found)
    return owner, name, found[name]


def _none(relaxed: Any, *_: object, **__: object) -> Any:
    return np.zeros((relaxed.n_workers, relaxed.n_tasks), dtype=bool)


def _nobody(plan: Plan, _: object) -> Any:
    return np.zeros(plan.quality.shape, dtype=bool)


def _each(candidates: Any, *_: object) -> Any:
    each = np.arange(candidates.size.size)
    return each, each


def _first(self: Any) -> Any:
    limits = self.relaxation.rations.limits(self.relaxation.caps)
    return np.full(limits.size, 0.0)


SEARCH = search.Search
PARTS: dict[str, tuple[Patch, ...]] = {
    "odd sizes at the start": ((initial, "odd_sizes", _none),),
    "exchanges at the start": ((relaxation.Relaxation, "exchange", lambda _, sets, __: sets),),
    "greedy by exact gains": ((best, "climb", _none),),
    "the largest sum": ((best, "largest_sum", _nobody),),
    "prices from visits": ((SEARCH, "_first_prices", _first),),
    "three orders of tasks, not one": ((search, "ORDERS", 1),),
    "prices midway": (
        _edited(
            SEARCH,
            "_generate",
            "self._price(0.5 * (prices + self._guide.prices))",
            "pass",
        ),
    ),
    "a slack where nodes run out": (
        _edited(SEARCH, "_look_closer", "self._slack, self._guide = SLACK, None", "return False"),
    ),
    "a slack that grows": ((relaxation, "WIDER", 1),),
    "the best six sets a task": ((column_generation, "KEPT", 10**9),),
    "like tasks priced once": ((relaxation, "kinds_of_tasks", _each),),
    "branching of tiny plans": ((best, "fits", lambda _: False),),
    "exchanges within money and groups": ((SEARCH, "_trade", lambda _: None),),
    "greedy plans within money and groups": (
        (SEARCH, "_bargain", lambda _: None),
        (SEARCH, "begin_greedily", lambda _: None),
    ),
    "the program in whole numbers": ((column_generation.Columns, "solve_whole", lambda *_: None),),
}
OF_RATIONED = tuple(PARTS)[-3:]
NOT_OF_RATIONED = tuple(PARTS)[:4]


@contextmanager
def without(part: str | None) -> Iterator[None]:
    """Leave a part out."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in PARTS.get(part or "", ())]
    for owner, name, value in PARTS.get(part or "", ()):
        setattr(owner, name, value)
    yield
    for owner, name, value in before:
        setattr(owner, name, value)


def is_part_of(part: str, plan: Plan) -> bool:
    """Whether the search of a plan has the part at all."""
    if part in OF_RATIONED:
        return is_rationed(plan)
    if part == "branching of tiny plans":
        return fits(plan)
    if part == "exchanges at the start":
        return plan.n_classes == 2 and not is_rationed(plan)
    return not (part in NOT_OF_RATIONED and is_rationed(plan))


def simulated(seed: int) -> Iterator[tuple[str, Plan]]:
    """Yield crowds of two to five classes, tiny ones, and some with money and groups."""
    rng = np.random.default_rng(seed)

    def plan(family: str, n: int, m: int, labels: float, most: int, **options: Any) -> Plan:
        quality = simulate(n, m, family=family, rng=rng).quality
        share = max(1, round(1.3 * labels * m / n))
        return Plan(
            quality,
            max_workers_per_task=most,
            max_tasks_per_worker=share,
            budget=round(labels * m),
            **options,
        )

    yield "tiny", plan("iid", 6, 12, 2.0, 3)
    yield "iid 40 x 120", plan("iid", 40, 120, 2.5, 5)
    yield "skilldiff 60 x 400", plan("skilldiff", 60, 400, 3.0, 5)
    yield "worker 100 x 500", plan("worker", 100, 500, 3.0, 5)
    yield "3 classes 40 x 120", plan("topic", 40, 120, 3.0, 5, n_classes=3)
    yield "5 classes 30 x 100", plan("iid", 30, 100, 2.0, 4, n_classes=5)
    matrices = 0.45 * rng.dirichlet(np.ones(4), (40, 4)) + 0.55 * np.eye(4)
    yield "4 matrices 40 x 100", plan("worker", 40, 100, 2.5, 4, n_classes=4, confusion=matrices)
    cost = rng.uniform(1.0, 3.0, 40).round(2)
    yield "money 40 x 120", plan("worker", 40, 120, 3.0, 5, cost=cost, money=480.0)
    group = [f"g{i // 3}" for i in range(40)]
    both = {"cost": cost, "money": 480.0, "group": group}
    yield "money, groups 40 x 120", plan("iid", 40, 120, 3.0, 5, **both)


def recorded(data: Path, seed: int) -> Iterator[tuple[str, Plan]]:
    """Yield plans of recorded pairs at skills that a fifth of the tasks shows."""
    for name, per_class in RECORDED:
        truth = read_gold(data / name / "truth.csv")
        answers = first_answers(data / name / "label.csv", truth)
        rng = np.random.default_rng([seed, 1])
        split = draw_split(answers, truth, 0.2, per_class=per_class, rng=rng)
        plan = plan_of(split, "3 of 5, half", 0.0)
        some = np.sort(rng.permutation(len(plan.quality.tasks))[:240])
        quality = plan.quality
        assert isinstance(quality, Quality)
        assert quality.allowed is not None
        allowed = quality.allowed[:, some]
        names = [quality.tasks[j] for j in some]
        yield (
            name,
            Plan(
                Quality(quality.values[:, some], quality.workers, names, allowed),
                max_workers_per_task=5,
                max_tasks_per_worker=np.ceil(0.5 * allowed.sum(axis=1)).astype(np.int64),
                budget=3 * len(names),
                n_classes=plan.n_classes,
                confusion=plan.confusion,
            ),
        )


def measured(plan: Plan, part: str | None, seconds: float) -> tuple[float, float, float]:
    """Return error, gap (1 without a bound) and processor time of the search without a part."""
    with without(part):
        began = time.process_time()
        found = assign(plan, "best", rng=0, time_limit=seconds)
        took = time.process_time() - began
    gap = 1.0 if found.gap is None else max(found.gap, 1e-9)
    return 1.0 - found.expected_accuracy, gap, took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path, nargs="?", help="folder of recorded crowds")
    parser.add_argument("--seconds", type=float, default=4.0, help="of processor, for a plan")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--write-docs", action="store_true", help=f"write {PAGE.name} as well")
    arguments = parser.parse_args()
    deadline.time = SimpleNamespace(monotonic=time.process_time)  # type: ignore[attr-defined]
    found: dict[str, list[tuple[str, np.ndarray, np.ndarray]]] = {p: [] for p in arguments.parts}
    for seed in range(FIRST_SEED, FIRST_SEED + arguments.seeds):
        plans = list(simulated(seed))
        plans += [] if arguments.data is None else recorded(arguments.data, seed)
        for name, plan in plans:
            measured(plan, None, 0.5)  # loads what is compiled
            whole = np.array(measured(plan, None, arguments.seconds))
            for part in arguments.parts:
                if is_part_of(part, plan):
                    other = np.array(measured(plan, part, arguments.seconds))
                    found[part].append((name, other, whole))
                    print(f"{name}: without {part}", *other, "whole", *whole, flush=True)
    heads = ("left out", "plans", "error", "worst", "gap", "certified", "of", "time")
    content = table(heads, [line for p in arguments.parts for line in lines(p, found[p])])
    print(content)
    if arguments.write_docs:
        fill_file(PAGE, {"parts": content})
    return 0


def lines(part: str, found: list[tuple[str, np.ndarray, np.ndarray]]) -> Iterator[list[str]]:
    """Yield the line of a part: ratios, without by with it, as geometric means over plans."""
    if not found:
        return
    other, whole = (np.array([row[k] for row in found]) for k in (1, 2))
    ratio = other / whole

    def mean(x: np.ndarray) -> float:
        return float(np.exp(np.log(x).mean()))

    worst = int(ratio[:, 0].argmax())
    certified = [int((x[:, 1] <= 1e-3).sum()) for x in (other, whole)]
    yield [
        part,
        str(len(found)),
        f"{mean(ratio[:, 0]):.4f}",
        f"{ratio[worst, 0]:.3f} ({found[worst][0]})" if ratio[worst, 0] > 1.0005 else "1.000",
        f"{mean(ratio[:, 1]):.2f}",
        str(certified[0]),
        str(certified[1]),
        f"{mean(ratio[:, 2]):.2f}",
    ]


if __name__ == "__main__":
    sys.exit(main())

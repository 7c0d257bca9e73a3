"""Make the model of evidence that comes with the package, from our own simulator alone.

    python -m benchmarks.universal [--networks 784] [--processes 2] [--work FOLDER]

Draws networks of all kinds with designs of all kinds, computes the evidence on each (1 to 2 seconds
of processor; what is done stays in FOLDER and is taken up again), learns the combiner from them and
calibrates it for common designs. The same arguments give the same bytes on the same machine and
versions. Nothing here reads data that anyone measured.
"""

from __future__ import annotations

import argparse
import os
import pickle
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from grn_tvcs.combine.calibration import Calibration, calibration_of
from grn_tvcs.combine.chances import chance
from grn_tvcs.combine.combiner import Combiner
from grn_tvcs.combine.features import features_of
from grn_tvcs.combine.likeness import covariates, learn_likeness, traits
from grn_tvcs.combine.nulls import null_features
from grn_tvcs.combine.parts import Parts, gather_parts
from grn_tvcs.combine.training import Lesson, fit, fit_nulls
from grn_tvcs.combine.trees import Trees
from grn_tvcs.combine.universal import PATH, WORDS, for_design, write_universal
from grn_tvcs.evidence.lagged_regression import USUAL
from grn_tvcs.expression.expression import Expression
from grn_tvcs.simulation.designs import Design, universal_designs
from grn_tvcs.simulation.examples import draw_example, draw_null
from grn_tvcs.simulation.kinds import KINDS, NULLS
from tvcs_core.streams import stream

DRAWN, NETWORKS = 1200, 784  # designs that are drawn, of which the first are simulated
# Designs of the challenges that methods are judged by, each with and without a known perturbation,
# and knock-outs: genes, series, points, and networks more to learn from.
COMMON, MOST_OF_ONE = ((10, 5, 21, 64), (100, 10, 21, 32), (30, 10, 21, 0)), 64
KNOCKED = ({}, {"knocked_out": 1.0, "knocked_down": 1.0})
RIDGE = 1.0
SHUFFLED = 3  # of every so many designs the table of a network is shuffled, too


@dataclass(frozen=True)
class Known:
    """The evidence on one network whose edges are known."""

    design: Design
    kind: str
    parts: Parts
    is_edge: np.ndarray
    traits: dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--networks", type=int, default=NETWORKS)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=Path("universal-work"), metavar="FOLDER")
    parser.add_argument("--out", type=Path, default=PATH, metavar="FILE")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    known = list(all_known(given.networks, given.seed, given.work, given.processes))
    began = time.perf_counter()
    combiner, own = learned(known, given.seed)
    print(f"learned in {time.perf_counter() - began:.0f} s", flush=True)
    made = [one for one in known if one.kind not in NULLS]
    likeness = {
        start: learn_likeness([(x.traits, x.design) for x in made if x.design.start == start])
        for start in WORDS
    }
    common = common_calibrations(combiner, own, given.processes)
    growth = growth_of(for_design(combiner, None), made)
    nulls = learned_nulls(known, given.seed, given.processes)
    write_universal(given.out, combiner, likeness, growth, nulls, common, own)
    print(f"{given.out}: {given.out.stat().st_size / 1e6:.2f} MB, {len(common)} common designs")


def all_known(networks: int, seed: int, work: Path, processes: int) -> list[Known]:
    """Evidence on all networks, computed or taken up."""
    designs = universal_designs(DRAWN, stream(seed, "universal"))[:networks]
    jobs = [(k, *design) for k, design in enumerate(designs)]
    for k, (design, n) in enumerate(common_designs()):
        first = DRAWN + k * MOST_OF_ONE
        jobs += [(first + i, design, kind) for i, kind in enumerate(islice(cycle(KINDS), n))]
    began, found = time.perf_counter(), []
    with ProcessPoolExecutor(processes) as pool:
        for k, one in enumerate(pool.map(partial(known_of, seed, work), jobs, chunksize=4), 1):
            found.append(one)
            if k % 50 == 0:
                print(f"{k} networks, {time.perf_counter() - began:.0f} s", flush=True)
    return found


def known_of(seed: int, work: Path, job: tuple[int, Design, str]) -> Known:
    """Draw one network, do its experiments and compute the evidence; kept in `work`."""
    number, design, kind = job
    path = work / f"{seed}-{number}.pickle"  # our own files in our own folder
    if path.exists():
        return Known(**pickle.loads(path.read_bytes()))
    rng = stream(seed, "universal", str(number))
    example = (draw_null if kind in NULLS else draw_example)(design, kind, rng)
    expression, steady = example.expression, example.steady
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = gather_parts(expression, example.rules, rng, steady)
    one = Known(design, kind, parts, example.is_edge[parts.inputs], traits(expression, steady))
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps(vars(one)))
    part.replace(path)
    return one


def common_designs() -> list[tuple[Design, int]]:
    """Common designs, and how many networks of each."""
    return [
        (Design(n, n, series, points, is_perturbation_known=column, **knocked), more)
        for n, series, points, more in COMMON
        for column in (False, True)
        for knocked in KNOCKED
    ]


def learned(known: Sequence[Known], seed: int) -> tuple[Combiner, list[str]]:
    """Learn from all networks, and from those of each common design alone; their keys."""
    by_design: dict[str, list[Lesson]] = {d.key: [] for d, n in common_designs() if n}
    lessons = [lesson_of(one) for one in known]
    for one, lesson in zip(known, lessons, strict=True):
        if one.design.key in by_design:
            by_design[one.design.key].append(lesson)
    all_of_them = fit(lessons, seed)
    stages = [fit(some, seed).stages[0] for some in by_design.values()]
    return Combiner(all_of_them.names, (*all_of_them.stages, *stages)), list(by_design)


def lesson_of(known: Known) -> Lesson:
    return Lesson(features_of(known.parts), known.parts.inputs, known.is_edge)


def growth_of(combiner: Combiner, known: Sequence[Known]) -> np.ndarray:
    """Least squares coefficients of the logarithm of supported edges per gene on the design."""
    rows, counts = [], []
    for one in known:
        if not one.design.n_series:
            continue
        logits = combiner.logits(features_of(one.parts), one.parts.inputs)
        p = chance(logits)[one.parts.allowed]
        rows.append(covariates(one.design))
        counts.append(np.log(np.maximum(p[p > 0.2].sum(), 0.3)))
    X, y = np.array(rows), np.array(counts)
    penalty = RIDGE * np.eye(X.shape[1])
    penalty[0, 0] = 0.0
    return np.linalg.solve(X.T @ X + penalty, X.T @ y)


def learned_nulls(known: Sequence[Known], seed: int, processes: int) -> Trees:
    """Learn to tell tables without any edge from those of networks, of the same designs."""
    rows = [null_features(one.traits, one.design) for one in known if one.kind not in NULLS]
    jobs = list(enumerate(one.design for one in known))
    with ProcessPoolExecutor(processes) as pool:
        drawn = list(pool.map(partial(more_tables, seed), jobs, chunksize=4))
    rows += [row for networks, _ in drawn for row in networks]
    nulls = [row for _, without in drawn for row in without]
    is_null = np.arange(len(rows) + len(nulls)) >= len(rows)
    return fit_nulls(np.array(rows + nulls), is_null)


def more_tables(seed: int, job: tuple[int, Design]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Features of tables of a design: of networks, and of none.

    One without edges of each kind; of every third design a network's, as it is and shuffled.
    """
    number, design = job
    rng = stream(seed, "tables without edges", str(number))
    drawn = [draw_null(design, kind, rng) for kind in NULLS]
    networks, without = [], [traits(one.expression, one.steady) for one in drawn]
    if number % SHUFFLED == 0:  # knock-outs are no part of traits but for a few samples at rest
        kinds, plain = tuple(KINDS), replace(design, knocked_out=0.0, knocked_down=0.0)
        made = draw_example(plain, kinds[number // SHUFFLED % len(kinds)], rng).expression
        networks.append(traits(made))
        without.append(traits(shuffled(made, rng)))
    return (
        [null_features(one, design) for one in networks],
        [null_features(one, design) for one in without],
    )


def shuffled(expression: Expression, rng: np.random.Generator) -> Expression:
    """The table with the samples of each gene in an order of their own."""
    rest = expression.at_rest
    return replace(
        expression,
        values=rng.permuted(expression.values, axis=0),
        at_rest=None if rest is None else rng.permuted(rest, axis=0),
    )


def common_calibrations(
    combiner: Combiner, own: Sequence[str], processes: int
) -> dict[str, Calibration]:
    """Calibrations of the common designs, each by networks that nothing was learned from."""
    designs = [design for design, _ in common_designs()]
    places = {key: k for k, key in enumerate(own, 1)}
    combiners = [for_design(combiner, places.get(design.key)) for design in designs]
    with ProcessPoolExecutor(processes) as pool:
        found = pool.map(partial(calibration_of, resamples=USUAL.resamples), combiners, designs)
        return {design.key: one for design, one in zip(designs, found, strict=True)}


if __name__ == "__main__":
    main()

"""Make the model of evidence that comes with the package, from our own simulator alone.

    python -m benchmarks.universal [--networks 784] [--processes 2] [--work FOLDER] [--check]
    python -m benchmarks.universal --nulls [--processes 2] [--check]

Draws networks of all kinds with designs of all kinds, computes the evidence on each (about a second
of processor; what is done stays in FOLDER and is taken up again by the same code), learns the
combiner from them, tells tables without any edge from theirs, and calibrates for common designs.
The same arguments give the same bytes on the same machine and versions, however many processes
there are; the file says which arguments and versions made it. Nothing here reads data that anyone
measured. `--check` writes nothing and says in what FILE differs from what would be made.

`--nulls` keeps the combiner of FILE, and all else that does not hang on the trees that tell tables
without any edge. It learns these trees anew, in some minutes of processor, and what follows
from them for common designs. The bytes are those that the whole command writes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learning.files import write_pretrained
from benchmarks.learning.training import fit, fit_nets, fit_nulls, rounded
from benchmarks.learning.traits import fit_trait_distribution, least_squares
from benchmarks.learning.without_edges import DRIVEN, draw_without_edges
from benchmarks.universal_known import (
    NETWORKS,
    Job,
    Known,
    Look,
    all_known,
    common_designs,
    folder_in,
    in_processes,
    jobs_of,
    known_of,
    look_at,
    look_of,
    made_with,
)
from grn_tvcs.combine.calibration import (
    Calibration,
    NullModel,
    calibrate_design,
    null_limit,
    shared_limit,
)
from grn_tvcs.combine.combiner import Combiner
from grn_tvcs.combine.direction import has_directions
from grn_tvcs.combine.domain_check import TraitDistribution, covariates
from grn_tvcs.combine.features import pair_features
from grn_tvcs.combine.platt_scaling import sigmoid
from grn_tvcs.combine.pretrained import (
    PATH,
    WORDS,
    PretrainedModels,
    load_pretrained,
)
from grn_tvcs.combine.trees import Trees
from grn_tvcs.evidence.lagged_regression import DEFAULT_PLAN
from grn_tvcs.expression.expression import Expression
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.simulation.kinds import KINDS, NULLS
from grn_tvcs.stability.execution import SERIAL
from tvcs_core.engines.blas import one_blas_thread
from tvcs_core.streams import stream

RIDGE = 1.0
N_COMMON_NETWORKS = 48  # of a calibration that comes with the package
DRAWS, NETS = 3, 3  # trees, and nets, of the same networks, whose mean counts
SHUFFLED = 3  # of every so many designs the table of a network is shuffled, too


def main(words: Sequence[str] | None = None) -> None:
    """Make the model, or hold one against what would be made."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--networks", type=int, default=NETWORKS)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=Path("universal-work"), metavar="FOLDER")
    parser.add_argument("--out", type=Path, default=PATH, metavar="FILE")
    parser.add_argument("--nulls", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(words)

    def write(path: Path) -> None:
        if given.nulls:
            make_nulls(
                path, load_pretrained(given.out), given.networks, given.seed, given.processes
            )
        else:
            make(path, given.networks, given.seed, given.work, given.processes)

    if not given.check:
        write(given.out)
        return
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.npz"
        write(made)
        found = differences(given.out, made)
    print(f"{given.out}: {', '.join(found) or 'the same bytes'}")
    sys.exit(1 if found else 0)


def make(path: Path, networks: int, seed: int, work: Path, processes: int) -> None:
    """Write the model to `path`."""
    jobs = jobs_of(networks, seed)
    known = all_known(jobs, seed, work, processes)
    began = time.perf_counter()
    combiner = learned(jobs, seed, folder_in(work), processes)
    with one_blas_thread():
        print(f"learned in {time.perf_counter() - began:.0f} s", flush=True)
        made = [one for one in known if one.kind not in NULLS]
        trait_distributions = {
            start: fit_trait_distribution(
                [(x.traits, x.design) for x in made if x.design.start == start]
            )
            for start in WORDS
        }
        growth = growth_of(combiner, made)
        nulls = learned_nulls(known, seed, processes)
    combiner = rounded(combiner)
    common = common_calibrations(combiner, nulls, trait_distributions, processes)
    record = made_with(networks=networks, seed=seed)
    write_pretrained(path, combiner, trait_distributions, growth, nulls, common, record)
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB, {len(common)} common designs")


def make_nulls(
    path: Path, model: PretrainedModels, networks: int, seed: int, processes: int
) -> None:
    """Write a model to `path` with other trees that tell tables without any edge.

    Raises
    ------
    ValueError
        If the model was made with other arguments or versions, so that the rest of it is not what
        the whole command would make.
    """
    record = made_with(networks=networks, seed=seed)
    if model.made != record:
        raise ValueError(f"the model must be made with {record}, found {model.made}")
    began = time.perf_counter()
    looks = list(in_processes(partial(look_of, seed), jobs_of(networks, seed), processes))
    with one_blas_thread():
        nulls = learned_nulls(looks, seed, processes)
    print(f"learned in {time.perf_counter() - began:.0f} s", flush=True)
    jobs = [
        (
            model.combiner,
            one,
            NullModel(nulls, model.trait_distributions[one.start]),
            model.common[one.key],
        )
        for one, _ in common_designs()
    ]
    found = list(in_processes(common_limits, jobs, processes, at_once=1))
    common = dict(zip(model.common, found, strict=True))
    write_pretrained(
        path,
        model.combiner,
        model.trait_distributions,
        model.growth,
        nulls,
        common,
        record,
    )


def common_limits(job: tuple[Combiner, Design, NullModel, Calibration]) -> Calibration:
    """Return the calibration of a common design with limits by other trees."""
    combiner, design, null_model, known = job
    limit = null_limit(combiner, design, null_model, known, DEFAULT_PLAN.resamples, SERIAL)
    return replace(known, limit=limit, shared=shared_limit(design, SERIAL))


def differences(one: Path, other: Path) -> list[str]:
    """Arrays of two models that are not the same, or that their bytes are not; nothing if so."""
    if one.read_bytes() == other.read_bytes():
        return []
    with np.load(one, allow_pickle=False) as a, np.load(other, allow_pickle=False) as b:
        names = sorted({*a.files, *b.files})
        found = [
            f"{name} differs"
            for name in names
            if name not in a or name not in b or a[name].tobytes() != b[name].tobytes()
        ]
    return found or ["other bytes of the same arrays"]


def learned(jobs: Sequence[Job], seed: int, folder: Path, processes: int) -> Combiner:
    """Learn trees and nets from the networks, on which the evidence is in `folder`."""

    def of_all(teach: Callable[..., Any], draws: int) -> list[Any]:
        each = partial(taught, teach, jobs, seed, folder)
        return list(in_processes(each, range(draws), processes, at_once=1))

    trees, nets = of_all(fit, DRAWS), of_all(fit_nets, NETS)
    return Combiner(trees[0].names, tuple(one.stages[0] for one in trees), tuple(nets))


def taught(
    teach: Callable[..., Any], jobs: Sequence[Job], seed: int, folder: Path, draw: int
) -> Any:
    """Train trees or nets on the networks in one draw."""
    return teach([known_of(seed, folder, one).lesson for one in jobs], seed, draw)


def growth_of(combiner: Combiner, known: Sequence[Known]) -> np.ndarray:
    """Least squares coefficients of the logarithm of supported edges per gene on the design."""
    rows, counts = [], []
    for one in known:
        if not one.design.n_series:
            continue
        logits = combiner.logits(pair_features(one.parts), one.parts.inputs)
        p = sigmoid(logits)[one.parts.allowed]
        rows.append(covariates(one.design))
        counts.append(np.log(np.maximum(p[p > 0.2].sum(), 0.3)))
    return least_squares(np.array(rows), np.array(counts), RIDGE)


def learned_nulls(known: Sequence[Look], seed: int, processes: int) -> Trees:
    """Learn to tell tables without any edge from those of networks, of the same designs."""
    rows = [one.row for one in known if one.kind not in NULLS]
    jobs = list(enumerate(one.design for one in known))
    drawn = list(in_processes(partial(more_tables, seed), jobs, processes))
    rows += [row for networks, _ in drawn for row in networks]
    nulls = [row for _, without in drawn for row in without]
    is_null = np.arange(len(rows) + len(nulls)) >= len(rows)
    return fit_nulls(np.array(rows + nulls), is_null)


def more_tables(seed: int, job: tuple[int, Design]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Features of tables of a design: of networks, and of none.

    One without edges of each kind; of every third design a network's, as it is and shuffled. Tables
    of a common stimulus are there for designs of several series alone: in one series every network
    goes along few directions, too.
    """
    number, design = job
    rng = stream(seed, "tables without edges", str(number))
    nulls = (*NULLS, DRIVEN) if has_directions(design) else NULLS
    without = [look_at(draw_without_edges(design, kind, rng), design).row for kind in nulls]
    networks = []
    if number % SHUFFLED == 0:  # without knock-outs, which a shuffled table has none of
        kinds, plain = tuple(KINDS), replace(design, knocked_out=0.0, knocked_down=0.0)
        made = draw_example(plain, kinds[number // SHUFFLED % len(kinds)], rng)
        networks.append(look_at(made, design).row)
        other = replace(made, expression=shuffled(made.expression, rng))
        without.append(look_at(other, design).row)
    return networks, without


def shuffled(expression: Expression, rng: np.random.Generator) -> Expression:
    """The table with the samples of each gene in an order of their own."""
    rest = expression.steady_values
    return replace(
        expression,
        values=rng.permuted(expression.values, axis=0),
        steady_values=None if rest is None else rng.permuted(rest, axis=0),
    )


def common_calibrations(
    combiner: Combiner,
    nulls: Trees,
    trait_distributions: dict[str, TraitDistribution],
    processes: int,
) -> dict[str, Calibration]:
    """Calibrations of the common designs, each by networks that nothing was learned from."""
    designs = [design for design, _ in common_designs()]
    jobs = [(combiner, one, NullModel(nulls, trait_distributions[one.start])) for one in designs]
    found = in_processes(common_calibration, jobs, processes, at_once=1)
    return {design.key: one for design, one in zip(designs, found, strict=True)}


def common_calibration(job: tuple[Combiner, Design, NullModel]) -> Calibration:
    combiner, design, null_model = job
    return calibrate_design(
        combiner, design, N_COMMON_NETWORKS, resamples=DEFAULT_PLAN.resamples, null_model=null_model
    )


if __name__ == "__main__":
    main()

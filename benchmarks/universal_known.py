"""Networks whose edges are known, with the evidence on each: what `universal.py` learns from.

The evidence on one network takes about a second of processor. It is kept in a folder named after
all that it depends on: the code that computes it and the versions of the libraries. So what another
code computed is never taken up.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learning.designs import universal_designs
from benchmarks.learning.training import TrainingNetwork
from grn_tvcs.combine.direction import shared_direction
from grn_tvcs.combine.domain_check import traits
from grn_tvcs.combine.evidence_scores import EvidenceScores, compute_evidence
from grn_tvcs.combine.features import pair_features
from grn_tvcs.combine.nulls import effect_of_changes, null_features
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import Example, draw_example, draw_null
from grn_tvcs.simulation.kinds import KINDS, NULLS
from tvcs_core.engines.blas import one_blas_thread, one_blas_thread_from_now_on
from tvcs_core.files.record import run_record
from tvcs_core.streams import stream

DRAWN, NETWORKS = 1200, 784  # designs that are drawn, of which the first are simulated
# Designs of the challenges that methods are judged by, each with and without a known perturbation,
# and knock-outs: genes, series, points, and networks more to learn from.
COMMON, MOST_OF_ONE = ((10, 5, 21, 64), (100, 10, 21, 32), (30, 10, 21, 0)), 64
KNOCKED = ({}, {"knocked_out": 1.0, "knocked_down": 1.0})
ROOT = Path(__file__).parents[1]
# What the evidence on a network depends on, beside the versions of libraries.
SOURCES = (
    "benchmarks/universal_known.py", "grn_tvcs/combine/direction.py",
    "grn_tvcs/combine/kernels.py", "grn_tvcs/combine/domain_check.py", "grn_tvcs/combine/nulls.py",
    "grn_tvcs/combine/evidence_scores.py", "grn_tvcs/evidence",
    "grn_tvcs/expression", "grn_tvcs/network", "grn_tvcs/simulation", "grn_tvcs/stability",
    "tvcs_core",
)  # fmt: skip

Job = tuple[int, Design, str]


@dataclass(frozen=True, kw_only=True)
class Look:
    """What tells tables without any edge, of one network."""

    design: Design
    kind: str
    traits: dict[str, float]
    effect: float  # of knock-outs, as `nulls.effect_of_changes` has it
    shared: float  # of directions of series, as `direction.shared_direction` has it

    @property
    def row(self) -> np.ndarray:
        """What the trees that tell such tables know of it."""
        return null_features(self.traits, self.design, self.effect, self.shared)


@dataclass(frozen=True, kw_only=True)
class Known(Look):
    """The evidence on one network whose edges are known."""

    parts: EvidenceScores
    is_edge: np.ndarray

    @property
    def lesson(self) -> TrainingNetwork:
        return TrainingNetwork(pair_features(self.parts), self.parts.inputs, self.is_edge)


def jobs_of(networks: int, seed: int) -> list[Job]:
    """Number, design and kind of every network: of all designs, and more of common ones."""
    designs = universal_designs(DRAWN, stream(seed, "universal"))[:networks]
    jobs = [(k, *design) for k, design in enumerate(designs)]
    for k, (design, n) in enumerate(common_designs()):
        first = DRAWN + k * MOST_OF_ONE
        jobs += [(first + i, design, kind) for i, kind in enumerate(islice(cycle(KINDS), n))]
    return jobs


def common_designs() -> list[tuple[Design, int]]:
    """Common designs, and how many networks of each."""
    return [
        (Design(n, n, series, points, is_perturbation_known=column, **knocked), more)
        for n, series, points, more in COMMON
        for column in (False, True)
        for knocked in KNOCKED
    ]


def all_known(jobs: list[Job], seed: int, work: Path, processes: int) -> list[Known]:
    """Evidence on all networks, computed or taken up."""
    began, found = time.perf_counter(), []
    each = partial(known_of, seed, folder_in(work))
    for k, one in enumerate(in_processes(each, jobs, processes), 1):
        found.append(one)
        if k % 50 == 0:
            print(f"{k} of {len(jobs)} networks, {time.perf_counter() - began:.0f} s", flush=True)
    return found


def folder_in(work: Path) -> Path:
    """Where evidence that this code computed is kept."""
    folder = work / fingerprint()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def known_of(seed: int, folder: Path, job: Job) -> Known:
    """Draw one network, do its experiments and compute the evidence; kept in `folder`."""
    number, design, kind = job
    path = folder / f"{seed}-{number}.pickle"  # our own files in our own folder
    if path.exists():
        return Known(**pickle.loads(path.read_bytes()))
    rng = stream(seed, "universal", str(number))
    example = drawn(design, kind, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = compute_evidence(example.expression, example.rules, rng, example.steady)
    look = look_at(example, design)
    one = Known(**vars(look), parts=parts, is_edge=example.is_edge[parts.inputs])
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps(vars(one)))
    part.replace(path)
    return one


def drawn(design: Design, kind: str, rng: np.random.Generator) -> Example:
    """Draw a network of a kind with its experiments, or tables without any edge."""
    return (draw_null if kind in NULLS else draw_example)(design, kind, rng)


def look_at(example: Example, design: Design) -> Look:
    """Return what tells whether the tables of an example have any edge."""
    expression, steady = example.expression, example.steady
    return Look(
        design=design, kind=example.kind, traits=traits(expression, steady),
        effect=effect_of_changes(steady, expression), shared=shared_direction(expression),
    )  # fmt: skip


def look_of(seed: int, job: Job) -> Look:
    """Draw one network as `known_of` does, without the evidence on it."""
    number, design, kind = job
    return look_at(drawn(design, kind, stream(seed, "universal", str(number))), design)


def fingerprint() -> str:
    """SHA-256 of the code that evidence depends on, and of the versions of libraries."""
    found = hashlib.sha256(repr(made_with()["versions"]).encode())
    for source in SOURCES:
        place = ROOT / source
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            found.update(f"\0{path.relative_to(ROOT).as_posix()}\0".encode() + path.read_bytes())
    return found.hexdigest()


def made_with(**parameters: Any) -> dict[str, Any]:
    """The command that makes the model, and the versions that it ran with."""
    seed = parameters.pop("seed", None)
    record = run_record("python -m benchmarks.universal", parameters, seed=seed)
    return {key: record[key] for key in ("command", "parameters", "seed", "versions")}


def in_processes(
    function: Callable[[Any], Any], items: Iterable[Any], processes: int, *, at_once: int = 4
) -> Iterator[Any]:
    """The function of each item, in their order; each process with one thread of BLAS."""
    if processes == 1:
        with one_blas_thread():
            yield from map(function, items)
        return
    with ProcessPoolExecutor(processes, initializer=one_blas_thread_from_now_on) as pool:
        yield from pool.map(function, items, chunksize=at_once)

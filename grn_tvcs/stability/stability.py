"""Stability: solve on many random halves of the data, and add up what every edge explained.

Half of the series is drawn, and the other half too (complementary pairs: Shah and Samworth
2013). Inputs are multiplied by random factors, so that now one and now the other of two alike
wins (Meinshausen and Buhlmann 2010), and the memory of the past and the caps are drawn as well.

Somebody has to be chosen in every half, in noise too, and halves of the same noise agree. So only
those choices count for the stability that stand out of noise (`significance.noise_limit`) in a half
and in its complement, which shares no step with it: what one stretch of the data shows alone does
not. Where halves would share steps, or have few, there is none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.checkpoint import FinishedWork
from grn_tvcs.stability.model import Array, Explained, Flags, StepLoss, Transitions, transitions
from grn_tvcs.stability.significance import noise_limit
from tvcs_core import TVCS, Problem, solve

PARTS = ("tvcs", "omp")
FEWEST_SEGMENTS = 4  # with fewer, they are cut into blocks ...
BLOCKS = 8  # ... of this number in all, where they are long enough ...
BLOCK_STEPS = 2  # ... for blocks of so many steps
FEWEST_STEPS = 6  # with fewer in a half, all steps are used: own level and mean take two
LEAST_STEPS = 24  # with fewer in all, halves tell nothing about single edges
SURE = 0.5  # edges of this stability are called sure


Found = tuple[Explained, Flags]  # of one solver on a half; which edges stand out in both halves


@dataclass(frozen=True)
class Plan:
    """What is drawn, and from where.

    Attributes
    ----------
    parts
        Which solvers run on each half: ``"tvcs"`` (GradMP under caps), ``"omp"``.
    resamples
        Number of halves.
    memory
        Lowest and highest memory of the past (`Transitions.past`).
    column_weights
        Lowest and highest factor of an input.
    in_degrees
        Lowest and highest cap on the regulators of a gene.
    edges_per_gene
        Lowest and highest cap on all edges, per gene.
    iterations
        Of GradMP.
    """

    parts: tuple[str, ...]
    resamples: int
    memory: tuple[float, float]
    column_weights: tuple[float, float]
    in_degrees: tuple[int, int]
    edges_per_gene: tuple[float, float]
    iterations: int

    @property
    def pairs(self) -> int:
        """Halves and their complements that make at least `resamples`."""
        return -(-self.resamples // 2)

    def __post_init__(self) -> None:
        for name in ("resamples", "iterations"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be >= 1, found {getattr(self, name)}")
        for name, least, most in (
            ("memory", 0.0, 0.99),
            ("column_weights", 0.01, 1.0),
            ("in_degrees", 0, 100),
            ("edges_per_gene", 0.0, 100.0),
        ):
            low, high = getattr(self, name)
            if not least <= low <= high <= most:
                raise ValueError(
                    f"{name} must be two numbers, the lower one first, in [{least}, {most}], "
                    f"found {low} and {high}"
                )


@dataclass(frozen=True)
class Evidence:
    """Sums over the halves of what one solver found, [input, gene].

    Attributes
    ----------
    dropped, added, weights
        As in `Explained`.
    chosen
        In how many halves each edge was chosen and stood out of noise, as in the complement.
    """

    dropped: Array
    added: Array
    weights: Array
    chosen: Array

    def plus(self, found: Explained, is_sure: Flags) -> Evidence:
        """What was found on one half more, and what of it stood out."""
        return Evidence(
            self.dropped + found.dropped,
            self.added + found.added,
            self.weights + found.weights,
            self.chosen + is_sure,
        )


@dataclass(frozen=True)
class Draws:
    """Everything the draws need, made once.

    Attributes
    ----------
    steps
        The transitions.
    inputs
        Places of the genes that may regulate.
    allowed
        Which pairs may be edges, [input, gene].
    rules, genes
        The user's caps, which bound the drawn ones, and the names they are for.
    plan
        What is drawn.
    """

    steps: Transitions
    inputs: NDArray[np.int64]
    allowed: Flags
    rules: Rules
    genes: tuple[str, ...]
    plan: Plan

    @cached_property
    def limit(self) -> float:
        """Square of the t that noise does not reach on all steps."""
        steps = self.steps
        past = steps.past(self.inputs, float(np.mean(self.plan.memory)))
        ones = np.ones(len(self.inputs))
        loss = StepLoss(past, steps.own, steps.following, steps.intercepts, ones)
        return noise_limit(loss, self.allowed)

    def pair(self, rng: np.random.Generator) -> list[list[Found]]:
        """Draw a half and its complement; what each part of the plan finds on either.

        On half of the steps an edge must show the correlation that it needs on all of them.
        """
        plan = self.plan
        past = self.steps.past(self.inputs, rng.uniform(*plan.memory))
        found = []
        for rows in _halves(_blocks(self.steps), rng):
            weights = rng.uniform(*plan.column_weights, len(self.inputs))
            in_degree = int(rng.integers(plan.in_degrees[0], plan.in_degrees[1] + 1))
            total = int(np.rint(rng.uniform(*plan.edges_per_gene) * len(self.genes)))
            loss = StepLoss(
                past[rows],
                self.steps.own[rows],
                self.steps.following[rows],
                self.steps.intercepts[rows],
                weights,
            )
            limit = self.limit * np.count_nonzero(rows) / len(rows)
            half = [self._solved(part, loss, in_degree, total) for part in plan.parts]
            found.append([(part, part.t_squared > limit) for part in half])
        first, second = found
        in_both = [a & b for (_, a), (_, b) in zip(first, second, strict=True)]
        return [
            [(part, flags) for (part, _), flags in zip(half, in_both, strict=True)]
            for half in found
        ]

    def digest(self, rng: np.random.Generator) -> str:
        """A hash of all that the draws depend on."""
        state = json.dumps(rng.bit_generator.state, default=repr, sort_keys=True)
        seeds = repr(getattr(rng.bit_generator, "seed_seq", None))
        rules = self.rules
        out = rules.max_out_degree
        caps = [sorted(out.items()) if isinstance(out, Mapping) else out]
        caps += [rules.max_in_degree, rules.max_edges]
        said = [version("tvcs"), self.genes, caps, self.plan, state, seeds]
        digest = hashlib.sha256(repr(said).encode())
        steps = self.steps
        on = np.zeros(0) if steps.perturbed is None else steps.perturbed
        for part in (steps.levels, steps.pause, steps.before, steps.series, on, self.allowed):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()

    def _solved(self, part: str, loss: StepLoss, in_degree: int, total: int) -> Explained:
        rules = self.rules
        in_degree = min(in_degree, _or(rules.max_in_degree, in_degree))
        if part == "omp":
            return loss.pursue(self.allowed, in_degree)
        out = rules.out_caps(self.genes)
        constraint = TVCS.matrix(
            self.allowed.shape,
            row_caps=out[self.inputs] if isinstance(out, np.ndarray) else out,
            col_caps=in_degree,
            total=min(total, _or(rules.max_edges, total)),
            allowed=self.allowed,
        )
        solution = solve(
            Problem(loss, constraint), "gradmp", refit=True, max_iter=self.plan.iterations
        )
        return loss.explained(solution.support, self.allowed)


def gather(
    draws: Draws,
    rng: np.random.Generator,
    *,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
    keep: Path | None = None,
) -> list[Evidence]:
    """Evidence of each part of the plan, over all its halves.

    What is found is added in the order of the draws, so that the number of threads changes
    nothing. `progress` is told how many halves are done, and of how many. What is finished is
    kept in the folder `keep` now and then and when the work is interrupted, and taken from there.
    """
    n_pairs = draws.plan.pairs
    parts = draws.plan.parts
    kept = None if keep is None else FinishedWork(keep, draws.digest(rng))
    start, sums = (0, []) if kept is None else kept.load()
    if not sums:
        sums = [np.zeros(draws.allowed.shape)] * 4 * len(parts)
    state = start, [Evidence(*sums[4 * k : 4 * k + 4]) for k in range(len(parts))]
    streams = rng.spawn(n_pairs)[start:]
    try:
        with threadpool_limits(1, "blas"):
            for found in _in_order(draws.pair, streams, threads):
                evidence = state[1]
                for half in found:
                    evidence = [e.plus(*part) for e, part in zip(evidence, half, strict=True)]
                state = state[0] + 1, evidence
                if progress is not None:
                    progress(2 * state[0], 2 * n_pairs)
                if kept is not None:
                    kept.save(state[0], _sums(state[1]))
    except BaseException:
        if kept is not None and state[0] > start:
            kept.save(state[0], _sums(state[1]), now=True)
        raise
    return state[1]


def untold(expression: Expression) -> str | None:
    """Return why no edge can have a stability, and what would help; None where edges have one."""
    steps = transitions(replace(expression, scale="log"), 1.0)  # the design alone
    n_steps = len(steps.before)
    if n_steps < LEAST_STEPS:
        return (
            f"{n_steps} steps from sample to sample are too few to be halved, {LEAST_STEPS} are "
            f"needed; {LEAST_STEPS - n_steps} more time points, or another series, would help"
        )
    blocks = _blocks(steps)
    sizes = np.sort(np.bincount(blocks))
    smaller = int(sizes[: sizes.size // 2].sum())
    if smaller < FEWEST_STEPS:
        return (
            f"halves of the series would share samples, for half of the series may have only "
            f"{smaller} steps of {n_steps} and {FEWEST_STEPS} are needed; more series of several "
            "time points would help"
        )
    return None


def _sums(evidence: list[Evidence]) -> list[Array]:
    return [a for part in evidence for a in (part.dropped, part.added, part.weights, part.chosen)]


def _in_order(
    function: Callable[[np.random.Generator], list[list[Found]]],
    streams: list[np.random.Generator],
    threads: int,
) -> Iterator[list[list[Found]]]:
    """Results in the order of the streams, some of them worked at ahead."""
    if threads == 1:
        yield from map(function, streams)
        return
    left = iter(streams)
    pool = ThreadPoolExecutor(threads)
    try:
        ahead = [pool.submit(function, stream) for stream in islice(left, threads + 1)]
        while ahead:
            yield ahead.pop(0).result()
            ahead += [pool.submit(function, stream) for stream in islice(left, 1)]
    finally:
        pool.shutdown(cancel_futures=True)


def _blocks(steps: Transitions) -> NDArray[np.int64]:
    """Number what is drawn as one piece: whole segments, or stretches of the few there are."""
    segments = steps.segments
    n_segments = int(segments.max()) + 1
    if n_segments >= FEWEST_SEGMENTS:
        return segments
    wanted = -(-BLOCKS // n_segments)
    blocks = np.empty_like(segments)
    start = 0
    for number in range(n_segments):
        is_in = segments == number
        length = int(np.count_nonzero(is_in))
        n_blocks = max(1, min(wanted, length // BLOCK_STEPS))
        blocks[is_in] = start + np.arange(length) * n_blocks // length
        start += n_blocks
    return blocks


def _halves(blocks: NDArray[np.int64], rng: np.random.Generator) -> tuple[Flags, Flags]:
    """Rows of a random half of the blocks and of the others; all rows twice if there are few."""
    n_blocks = int(blocks.max()) + 1
    in_first = np.isin(blocks, rng.permutation(n_blocks)[: n_blocks // 2])
    if min(in_first.sum(), (~in_first).sum()) < FEWEST_STEPS:
        return np.ones_like(in_first), np.ones_like(in_first)
    return in_first, ~in_first


def _or(cap: int | None, other: int) -> int:
    return other if cap is None else cap

"""Stability selection: solve on many random halves of the data, and sum explained variance.

Halves come in complementary pairs (Shah and Samworth 2013). Inputs are multiplied by random
factors, so that either of two similar inputs can be selected (Meinshausen and Buhlmann 2010). The
memory of the past and the caps are random too, stratified over the halves (`draws`).

Some edges are selected in every half, in noise too, and halves of the same noise agree. Stability
therefore counts only selections above the noise limit (`significance.noise_limit`) in a half and in
its complement, which shares no step with it: a pattern of one stretch of the data does not count.
There is no stability if halves would share steps or have too few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.draws import ComplementaryPair, Subsample, SubsamplingPlan, draw_pairs
from grn_tvcs.stability.edges import Ints
from grn_tvcs.stability.matching_pursuit import gradmp
from grn_tvcs.stability.model import Array, Explained, Flags, StepLoss, Transitions, transitions
from grn_tvcs.stability.significance import noise_limit
from grn_tvcs.stability.sums import HalfResult, UnitSums
from tvcs_core import TVCS
from tvcs_core.engines import hash_of

SOLVERS = ("tvcs", "omp")
# Decision 21; `python -m benchmarks.networks.stability` measures the precision of stable edges.
MIN_SEGMENTS = 4  # with fewer segments, they are cut into blocks ...
N_BLOCKS = 8  # ... of this total number, if they are long enough for ...
BLOCK_STEPS = 2  # ... this number of steps per block
MIN_HALF_STEPS = 6  # with fewer steps in a half, all steps are used; own level and mean take two
MIN_STEPS = 24  # with fewer steps in all, halves carry no information on single edges
STABLE = 0.5  # stability from which edges are called stable
SUMMED = "exact, 3"  # version of checkpoints; those with another text are refused


@dataclass(frozen=True)
class Draws:
    """Data of all draws, made once.

    Attributes
    ----------
    steps
        The transitions.
    inputs
        Indices of the candidate regulators.
    allowed
        Whether a pair may be an edge; [input, target].
    rules, genes
        The user's caps, whose degrees bound the drawn ones, and the names they refer to.
    plan
        Distribution of the draws.
    pairs
        Draws of every pair of halves, made by `with_pairs`.
    """

    steps: Transitions
    inputs: NDArray[np.int64]
    allowed: Flags
    rules: Rules
    genes: tuple[str, ...]
    plan: SubsamplingPlan
    pairs: tuple[ComplementaryPair, ...] = ()

    def with_pairs(self, rng: np.random.Generator) -> Draws:
        """Return a copy with all pairs drawn from a stream that `rng` spawns, ready to be sent."""
        (own,) = rng.spawn(1)
        n_blocks = int(_blocks(self.steps).max()) + 1
        ready = replace(self, pairs=draw_pairs(self.plan, len(self.inputs), n_blocks, own))
        ready.limit  # noqa: B018  (cached here, so that workers do not repeat it)
        return ready

    @cached_property
    def limit(self) -> float:
        """Square of the t statistic that noise does not reach on all steps."""
        steps = self.steps
        past = steps.past(self.inputs, float(np.mean(self.plan.memory)))
        ones = np.ones(len(self.inputs))
        loss = StepLoss(past, steps.own, steps.following, steps.intercepts, ones)
        return noise_limit(loss, self.allowed)

    def unit(self, first: int, last: int) -> UnitSums:
        """Solve the pairs of halves from `first` to ``last - 1`` with all solvers of the plan.

        A pure function of the draws and the two numbers if BLAS has one thread.
        """
        added = np.zeros(self.shape, np.int64)
        found: list[list[HalfResult]] = [[] for _ in added]
        for pair in self.pairs[first:last]:
            for of_solver, halves in zip(found, self.pair(pair, added), strict=True):
                of_solver += halves
        return UnitSums.of(added, found)

    def pair(self, drawn: ComplementaryPair, added: Ints) -> list[list[HalfResult]]:
        """Solve a half and its complement with each solver of the plan.

        The noise limit is scaled so that an edge must show in half of the steps the correlation
        that it needs in all. Adds to `added`, [solver, target, input], as `StepLoss.explained`.
        """
        past = self.steps.past(self.inputs, drawn.memory)
        found = []
        both = _halves(_blocks(self.steps), drawn.in_first)
        for rows, caps in zip(both, (drawn.first, drawn.second), strict=True):
            limit = self.limit * np.count_nonzero(rows) / len(rows)
            half = self._half(past, rows, caps, added)
            found.append([(part, part.t_squared > limit) for part in half])
        return [_in_both(*halves) for halves in zip(*found, strict=True)]

    @cached_property
    def facts(self) -> dict[str, str]:
        """All inputs of the draws, as hashes with names."""
        rules, steps = self.rules, self.steps
        out = rules.max_out_degree
        caps = [sorted(out.items()) if isinstance(out, Mapping) else out]
        caps += [rules.max_in_degree]
        data = (steps.levels, steps.pause, steps.before, steps.series, steps.perturbed)
        return {
            "sums": SUMMED,
            "data": hash_of(self.genes, *data),
            "regulators or targets": hash_of("", self.inputs, self.allowed, steps.targets),
            "caps": hash_of(caps),
            "options": hash_of(self.plan),
            "seed": hash_of(*_facts_of(self.pairs)),
        }

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of solvers, targets and inputs."""
        return len(self.plan.solvers), self.allowed.shape[1], self.allowed.shape[0]

    def _half(self, past: Array, rows: Flags, drawn: Subsample, added: Ints) -> list[Explained]:
        """Solve some of the steps with each solver, with the weights and caps of a half."""
        plan = self.plan
        total = int(np.rint(drawn.edges_per_gene * self.allowed.shape[1]))
        steps, intercepts = self.steps.of(rows), self.steps.intercepts[rows]
        own, following = map(np.ascontiguousarray, (steps.own, steps.following))
        loss = StepLoss(past[rows], own, following, intercepts, drawn.column_weights, self.allowed)
        in_degree, most = drawn.in_degree, self.rules.max_in_degree
        in_degree = in_degree if most is None else min(in_degree, most)
        found = []
        for solver, sums in zip(plan.solvers, added, strict=True):
            if solver == "omp":
                found.append(loss.pursued(in_degree, sums))
            else:
                places = gradmp(loss, self._constraint(in_degree, total), plan.iterations)
                found.append(loss.explained(places, sums))
        return found

    def _constraint(self, in_degree: int, total: int) -> TVCS:
        """Return the drawn caps, degrees within the user's; the loss excludes other pairs.

        The user's number of edges selects from the scores and must not change them (decision 355).
        """
        out = self.rules.out_caps(self.genes)
        return TVCS.matrix(
            self.allowed.shape,
            row_caps=out[self.inputs] if isinstance(out, np.ndarray) else out,
            col_caps=in_degree,
            total=total,
        )


def why_no_stability(expression: Expression) -> str | None:
    """Return why no edge can have a stability, and a remedy; None if edges have one."""
    steps = transitions(replace(expression, scale="log"), 1.0)  # the design alone
    n_steps = len(steps.before)
    if n_steps < MIN_STEPS:
        return (
            f"{n_steps} steps from sample to sample are too few to be halved; {MIN_STEPS} are "
            f"needed ({MIN_STEPS - n_steps} more time points, or another series)"
        )
    blocks = _blocks(steps)
    sizes = np.sort(np.bincount(blocks))
    smaller = int(sizes[: sizes.size // 2].sum())
    if smaller < MIN_HALF_STEPS:
        return (
            f"halves of the series would share samples, because half of the series may have only "
            f"{smaller} of {n_steps} steps and {MIN_HALF_STEPS} are needed (add series with "
            "several time points)"
        )
    return None


def _facts_of(pairs: Sequence[ComplementaryPair]) -> tuple[object, ...]:
    """Return numbers and arrays of the draws, for `hash_of`."""
    halves = [half for pair in pairs for half in (pair.first, pair.second)]
    numbers = [pair.memory for pair in pairs], [(x.in_degree, x.edges_per_gene) for x in halves]
    return numbers, *(pair.in_first for pair in pairs), *(x.column_weights for x in halves)


def _in_both(first: HalfResult, second: HalfResult) -> list[HalfResult]:
    """Return the results of two halves, with the edges that exceed noise in both."""
    (one, in_one), (two, in_two) = first, second
    both = np.intersect1d(one.edges.places[in_one], two.edges.places[in_two], assume_unique=True)
    return [(half, np.isin(half.edges.places, both, assume_unique=True)) for half in (one, two)]


def _blocks(steps: Transitions) -> NDArray[np.int64]:
    """Number the blocks that are drawn together: whole segments, or pieces of a few segments."""
    segments = steps.segments
    n_segments = int(segments.max()) + 1
    if n_segments >= MIN_SEGMENTS:
        return segments
    wanted = -(-N_BLOCKS // n_segments)
    blocks = np.empty_like(segments)
    start = 0
    for number in range(n_segments):
        is_in = segments == number
        length = int(np.count_nonzero(is_in))
        n_blocks = max(1, min(wanted, length // BLOCK_STEPS))
        blocks[is_in] = start + np.arange(length) * n_blocks // length
        start += n_blocks
    return blocks


def _halves(blocks: NDArray[np.int64], is_first: Flags) -> tuple[Flags, Flags]:
    """Return the rows of both halves; all rows twice if a half would have too few."""
    in_first = is_first[blocks]
    if min(in_first.sum(), (~in_first).sum()) < MIN_HALF_STEPS:
        return np.ones_like(in_first), np.ones_like(in_first)
    return in_first, ~in_first

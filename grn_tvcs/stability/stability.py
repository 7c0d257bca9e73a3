"""Stability: solve on many random halves of the data, and add up what every edge explained.

Half of the series is drawn, and the other half too (complementary pairs: Shah and Samworth
2013). Inputs are multiplied by random factors, so that now one and now the other of two alike
wins (Meinshausen and Buhlmann 2010), and the memory of the past and the caps are drawn as well;
all of it is spread evenly over the halves (`draws`).

Somebody has to be chosen in every half, in noise too, and halves of the same noise agree. So only
those choices count for the stability that stand out of noise (`significance.noise_limit`) in a half
and in its complement, which shares no step with it: what one stretch of the data shows alone does
not. Where halves would share steps, or have few, there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.network.rules import Rules
from grn_tvcs.stability.draws import Half, Pair, Plan, draw_pairs
from grn_tvcs.stability.edges import Ints
from grn_tvcs.stability.matching_pursuit import gradmp
from grn_tvcs.stability.model import Array, Explained, Flags, StepLoss, Transitions, transitions
from grn_tvcs.stability.significance import noise_limit
from grn_tvcs.stability.sums import Found, Packed, PackedPart, Sums
from tvcs_core import TVCS
from tvcs_core.engines import hash_of

PARTS = ("tvcs", "omp")
FEWEST_SEGMENTS = 4  # with fewer, they are cut into blocks ...
BLOCKS = 8  # ... of this number in all, where they are long enough ...
BLOCK_STEPS = 2  # ... for blocks of so many steps
FEWEST_STEPS = 6  # with fewer in a half, all steps are used: own level and mean take two
LEAST_STEPS = 24  # with fewer in all, halves tell nothing about single edges
SURE = 0.5  # edges of this stability are called sure
SUMMED = "exact, 2"  # what finished work holds; another number refuses that of before


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
        Which pairs may be edges, [input, target].
    rules, genes
        The user's caps, which bound the drawn ones, and the names they are for.
    plan
        What is drawn.
    pairs
        What is drawn for every pair of halves; `with_pairs` draws it.
    """

    steps: Transitions
    inputs: NDArray[np.int64]
    allowed: Flags
    rules: Rules
    genes: tuple[str, ...]
    plan: Plan
    pairs: tuple[Pair, ...] = ()

    def with_pairs(self, rng: np.random.Generator) -> Draws:
        """The same with all pairs drawn by a stream that `rng` spawns; ready to be sent."""
        (own,) = rng.spawn(1)
        n_blocks = int(_blocks(self.steps).max()) + 1
        ready = replace(self, pairs=draw_pairs(self.plan, len(self.inputs), n_blocks, own))
        ready.limit  # noqa: B018  (computed here, not by every worker)
        return ready

    @cached_property
    def limit(self) -> float:
        """Square of the t that noise does not reach on all steps."""
        steps = self.steps
        past = steps.past(self.inputs, float(np.mean(self.plan.memory)))
        ones = np.ones(len(self.inputs))
        loss = StepLoss(past, steps.own, steps.following, steps.intercepts, ones)
        return noise_limit(loss, self.allowed)

    def sums(self) -> Sums:
        """Empty sums, for what the units find."""
        return Sums(len(self.plan.parts), self._shape, self.plan.pairs)

    def unit(self, first: int, last: int) -> Packed:
        """What all parts of the plan find on the pairs of halves from `first` to ``last - 1``.

        A pure function of the draws and the two numbers, where BLAS has one thread.

        Raises
        ------
        ValueError
            If there are no such pairs, as before `with_pairs`.
        """
        if not 0 <= first < last <= len(self.pairs):
            raise ValueError(f"pairs {first} to {last - 1} must be among {len(self.pairs)} drawn")
        added = [np.zeros(self._shape[::-1], np.int64) for _ in self.plan.parts]
        found: list[list[Found]] = [[] for _ in added]
        for pair in self.pairs[first:last]:
            for part, halves in zip(found, self.pair(pair, added), strict=True):
                part += halves
        parts = zip(added, found, strict=True)
        return Packed(first, last, tuple(PackedPart.of(*part) for part in parts))

    def pair(self, drawn: Pair, added: Sequence[Ints]) -> list[list[Found]]:
        """What each part of the plan finds on a half and on its complement.

        On half of the steps an edge must show the correlation that it needs on all of them.
        To `added`, one for each part, is added as `StepLoss.explained` does.
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
        """All that the draws depend on: what it is, and a hash of it."""
        rules, steps = self.rules, self.steps
        out = rules.max_out_degree
        caps = [sorted(out.items()) if isinstance(out, Mapping) else out]
        caps += [rules.max_in_degree, rules.max_edges]
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
    def _shape(self) -> tuple[int, int]:
        return self.allowed.shape[0], self.allowed.shape[1]

    def _half(
        self, past: Array, rows: Flags, drawn: Half, added: Sequence[Ints]
    ) -> list[Explained]:
        """What each part finds on some of the steps, with the weights and caps of a half."""
        plan = self.plan
        total = int(np.rint(drawn.edges_per_gene * self._shape[1]))
        steps, intercepts = self.steps.of(rows), self.steps.intercepts[rows]
        own, following = map(np.ascontiguousarray, (steps.own, steps.following))
        loss = StepLoss(past[rows], own, following, intercepts, drawn.column_weights, self.allowed)
        in_degree = min(drawn.in_degree, _or(self.rules.max_in_degree, drawn.in_degree))
        found = []
        for part, sums in zip(plan.parts, added, strict=True):
            if part == "omp":
                found.append(loss.pursued(in_degree, sums))
            else:
                places = gradmp(loss, self._constraint(in_degree, total), plan.iterations)
                found.append(loss.explained(places, sums))
        return found

    def _constraint(self, in_degree: int, total: int) -> TVCS:
        """The drawn caps within those of the user; what may be no edge, the loss says."""
        out = self.rules.out_caps(self.genes)
        return TVCS.matrix(
            self._shape,
            row_caps=out[self.inputs] if isinstance(out, np.ndarray) else out,
            col_caps=in_degree,
            total=min(total, _or(self.rules.max_edges, total)),
        )


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


def _facts_of(pairs: Sequence[Pair]) -> tuple[object, ...]:
    """Numbers and arrays of what was drawn, as `hash_of` takes them."""
    halves = [half for pair in pairs for half in (pair.first, pair.second)]
    numbers = [pair.memory for pair in pairs], [(x.in_degree, x.edges_per_gene) for x in halves]
    return numbers, *(pair.in_first for pair in pairs), *(x.column_weights for x in halves)


def _in_both(first: Found, second: Found) -> list[Found]:
    """What was found on two halves, with what stands out in both of them."""
    (one, in_one), (two, in_two) = first, second
    both = np.intersect1d(one.edges.places[in_one], two.edges.places[in_two], assume_unique=True)
    return [(half, np.isin(half.edges.places, both, assume_unique=True)) for half in (one, two)]


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


def _halves(blocks: NDArray[np.int64], is_first: Flags) -> tuple[Flags, Flags]:
    """Rows of the blocks of the first half and of the others; all rows twice if there are few."""
    in_first = is_first[blocks]
    if min(in_first.sum(), (~in_first).sum()) < FEWEST_STEPS:
        return np.ones_like(in_first), np.ones_like(in_first)
    return in_first, ~in_first


def _or(cap: int | None, other: int) -> int:
    return other if cap is None else cap

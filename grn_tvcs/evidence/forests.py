"""A forest for every target, as units of work: blocks of targets, which no order changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tvcs_core.engines import Engine, Job, Serial, hash_of, results
from tvcs_core.streams import seed_of, stream

UNITS = 64  # at most: many enough for many workers, large enough to be worth a message

Array = NDArray[np.float64]
Forest = partial[Array]  # of (inputs, response, rng, trees=...): importances of the inputs
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Forests:
    """What the forests of all targets share.

    Attributes
    ----------
    values
        Of the inputs; (samples, inputs).
    responses
        Of each target; (samples, targets).
    is_input
        Which inputs each target has, [input, target].
    genes, seed
        Names of the targets, which with the seed choose the random numbers of each.
    forest
        Importances of the columns of inputs for a response.
    block
        Targets in a unit.
    """

    values: Array
    responses: Array
    is_input: NDArray[np.bool_]
    genes: Sequence[str]
    seed: int
    forest: Forest
    block: int

    @property
    def facts(self) -> dict[str, str]:
        """All that the forests depend on: what it is, and a hash of it."""
        forest = self.forest
        return {
            "data": hash_of(self.genes, self.values, self.responses),
            "regulators or targets": hash_of("", self.is_input),
            "options": hash_of((forest.func.__module__, sorted(forest.keywords.items()))),
            "seed": str(self.seed),
        }


def grow_forests(
    values: Array,
    responses: Array,
    is_input: NDArray[np.bool_],
    genes: Sequence[str],
    rng: np.random.Generator,
    forest: Forest,
    *,
    engine: Engine | None = None,
    progress: Progress | None = None,
    keep: Path | None = None,
) -> Array:
    """Importance of every input for every target, ``[input, target]``; 0 where it is none.

    The parameters are those of `Forests`; a target without any input gets no forest. `progress` is
    told how many forests are grown, and of how many; `keep` is a folder for those that are.
    """
    places = np.flatnonzero(is_input.any(axis=0))
    seed, n_forests = seed_of(rng), len(places)
    scores = np.zeros((values.shape[1], len(genes)))
    if not n_forests:
        return scores
    block = -(-n_forests // UNITS)
    names = tuple(genes[i] for i in places.tolist())
    forests = Forests(values, responses[:, places], is_input[:, places], names, seed, forest, block)

    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress(min(done * block, n_forests), n_forests)

    facts = {} if keep is None else forests.facts
    job = Job("forests", grow_block, forests, -(-n_forests // block), facts)
    with closing(results([job], engine or Serial(), checkpoint_dir=keep, progress=tell)) as found:
        for _, unit, (columns,) in found:
            scores[:, places[unit * block : (unit + 1) * block]] = columns
    return scores


def grow_block(forests: Forests, unit: int) -> tuple[Array]:
    """Columns of the scores for the targets of a unit."""
    targets = range(len(forests.genes))[unit * forests.block : (unit + 1) * forests.block]
    columns = np.zeros((forests.values.shape[1], len(targets)))
    for column, target in zip(columns.T, targets, strict=True):
        inputs = np.flatnonzero(forests.is_input[:, target])
        rng = stream_of(forests.genes[target], forests.seed)
        response = forests.responses[:, target]
        column[inputs] = forests.forest(forests.values[:, inputs], response, rng)
    return (columns,)


def stream_of(gene: str, seed: int) -> np.random.Generator:
    """Make the generator of a gene.

    What a gene draws depends neither on its place nor on which other genes there are.
    """
    return stream(seed, "target", gene)


def streams_by_name(genes: Sequence[str], rng: np.random.Generator) -> list[np.random.Generator]:
    """Make the generators of all genes, from one draw of `rng`."""
    seed = seed_of(rng)
    return [stream_of(gene, seed) for gene in genes]

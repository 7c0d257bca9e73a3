"""One forest per target, as units of work: blocks of targets, in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.stability.execution import SERIAL, Execution
from tvcs_core.engines import Job, hash_of
from tvcs_core.streams import seed_of, stream

MAX_UNITS = 64  # blocks of targets: enough for many workers, and large beside their messages

Array = NDArray[np.float64]
Forest = partial[Array]  # (inputs, response, rng, trees=...) -> importances of the inputs
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Forests:
    """Shared data of the forests of all targets.

    Attributes
    ----------
    values
        Of the inputs; (samples, inputs).
    responses
        Of the targets; (samples, targets).
    is_input
        Whether an input may regulate a target; [input, target].
    genes, seed
        Names of the targets and the seed, which together seed the generator of each target.
    forest
        Function that returns the importances of inputs for a response.
    block
        Targets per unit.
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
        """All inputs of the forests, as hashes with names."""
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
    execution: Execution = SERIAL,
) -> Array:
    """Return the importance of every input for every target; ``[input, target]``, 0 if not allowed.

    Parameters are as in `Forests`. Targets without inputs get no forest. The progress of
    `execution` is told the number of finished forests and the total.
    """
    places = np.flatnonzero(is_input.any(axis=0))
    seed, n_forests = seed_of(rng), len(places)
    scores = np.zeros((values.shape[1], len(genes)))
    if not n_forests:
        return scores
    block = -(-n_forests // MAX_UNITS)
    names = tuple(genes[i] for i in places.tolist())
    values = np.asfortranarray(values)
    forests = Forests(values, responses[:, places], is_input[:, places], names, seed, forest, block)

    tell = execution.progress
    if tell is not None:
        execution = execution.reporting(
            lambda done, _: tell(min(done * block, n_forests), n_forests)
        )
    facts = {} if execution.checkpoint_dir is None else forests.facts
    job = Job("forests", grow_block, forests, -(-n_forests // block), facts)
    with execution.results(job) as found:
        for _, unit, (columns,) in found:
            scores[:, places[unit * block : (unit + 1) * block]] = columns
    return scores


def grow_block(forests: Forests, unit: int) -> tuple[Array]:
    """Return the columns of the scores for the targets of a unit."""
    targets = range(len(forests.genes))[unit * forests.block : (unit + 1) * forests.block]
    columns = np.zeros((forests.values.shape[1], len(targets)))
    for column, target in zip(columns.T, targets, strict=True):
        inputs = np.flatnonzero(forests.is_input[:, target])
        rng = stream_of(forests.genes[target], forests.seed)
        response = forests.responses[:, target]
        # Trees take values input by input: so rows of the transpose are copied, and once.
        column[inputs] = forests.forest(forests.values.T[inputs].T, response, rng)
    return (columns,)


def stream_of(gene: str, seed: int) -> np.random.Generator:
    """Return the generator of a gene.

    It depends on the gene's name only, not on its position or on the other genes.
    """
    return stream(seed, "target", gene)


def streams_by_name(genes: Sequence[str], rng: np.random.Generator) -> list[np.random.Generator]:
    """Return the generators of all genes, seeded by one draw of `rng`."""
    seed = seed_of(rng)
    return [stream_of(gene, seed) for gene in genes]

"""Time and memory of an inference, estimated before it begins."""

from __future__ import annotations

import math
from typing import NamedTuple

from tvcs_core.files.memory import available_memory

# Fitted to `python -m benchmarks.speed.cost`; another machine is as much faster or slower.
SECONDS_TO_START = 2.1
SECONDS_PER_VALUE = 1e-6  # of the table
SECONDS_PER_TARGET = 1.5e-5  # in a half
SECONDS_PER_PAIR = 9.2e-8  # of a regulator and a target, in a half
SECONDS_PER_SAMPLE_AND_PAIR = 3e-11
SECONDS_PER_PAIR_KEPT = 4e-8  # in a unit of halves: written to the disk, for --resume
SECONDS_PER_PAIR_AFTER = 3e-7  # adding up, rounding, the caps
SECONDS_PER_LINE = 2.5e-6  # of edges.tsv
BYTES_BASE = 0.24e9
BYTES_PER_PAIR = 120.0
BYTES_PER_PAIR_AT_WORK = 33.0  # in each thread
BYTES_PER_PAIR_RANKED = 26.0  # by a method that does not halve the series
# Of `combined`, part by part: `python -m benchmarks.speed.cost --default`.
SECONDS_PER_TRY = 1.2e-8  # of a tree, in each of log2(samples) layers of all samples
SECONDS_PER_PAIR_OF_PARTS = 1.5e-5  # the combiners: trees of three to six sets, nets of three
SECONDS_PER_PATH = 8e-9  # from a regulator over another one to a gene, or from it to both
SECONDS_PER_PAIR_OF_GENES = 2.5e-7  # rank correlations, of which none is kept
SECONDS_PER_SMALL_HALF = 3.5e-3  # of a network of a design, beside what its sizes take
SECONDS_PER_TABLE = 0.01  # without any edge, where its evidence is not needed
BYTES_PER_PAIR_OF_PARTS = 300.0  # of a regulator and a gene, beside all that


class Work(NamedTuple):
    """The sizes of an inference by ``"tvcs"``.

    Attributes
    ----------
    genes, regulators, targets, samples
        Numbers of genes, candidate regulators, targets, and time points of all series.
    halves
        Number of halves to solve.
    lines
        Number of lines of ``edges.tsv``.
    threads
        Number of threads that solve halves.
    """

    genes: int
    regulators: int
    targets: int
    samples: int
    halves: int
    lines: int
    threads: int = 1


class Cost(NamedTuple):
    """An estimate.

    Attributes
    ----------
    seconds
        Of one unloaded machine.
    memory
        Bytes at the peak.
    """

    seconds: float
    memory: float

    def refuse_too_large(self, remedies: str) -> None:
        """Refuse work that needs more memory than there is."""
        there_is = available_memory()
        if there_is is not None and self.memory > there_is:
            raise MemoryError(
                f"this needs about {self.memory / 1e9:.1f} GB, but only {there_is / 1e9:.1f} GB "
                f"are free; {remedies}"
            )


def estimate(work: Work) -> Cost:
    """Estimate time and memory of ``infer(..., "tvcs")``; threads are not counted as time saved."""
    from grn_tvcs.stability.units import size_of_units

    pairs = work.regulators * work.targets
    units = work.halves / (2 * size_of_units(max(work.halves // 2, 1), pairs))
    half = SECONDS_PER_PAIR + SECONDS_PER_SAMPLE_AND_PAIR * work.samples
    seconds = (
        SECONDS_TO_START
        + SECONDS_PER_VALUE * work.samples * work.genes
        + work.halves * (SECONDS_PER_TARGET * work.targets + half * pairs)
        + (SECONDS_PER_PAIR_KEPT * units + SECONDS_PER_PAIR_AFTER) * pairs
        + SECONDS_PER_LINE * work.lines
    )
    per_pair = BYTES_PER_PAIR + BYTES_PER_PAIR_AT_WORK * work.threads
    return Cost(seconds, BYTES_BASE + per_pair * pairs)


def memory_of_ranking(regulators: int, targets: int) -> Cost:
    """Estimate the memory of a method that ranks pairs and does not halve the series.

    Forests and other working memory come on top; the time is not estimated.
    """
    return Cost(0.0, BYTES_BASE + BYTES_PER_PAIR_RANKED * regulators * targets)


def estimate_of_parts(work: Work, trees: int) -> Cost:
    """Estimate the same of ``"combined"``, whose two forests have so many trees per gene.

    The forest of the blend, for a table like none that the simulator makes, is counted half.
    """
    from grn_tvcs.combine.blend.blend import TREES

    return _of_evidence(work, trees + TREES // 4)


def _of_evidence(work: Work, trees: int) -> Cost:
    """Estimate the same without the blend."""
    lagged = estimate(work._replace(halves=work.halves + work.halves // 2))  # both memories
    pairs = work.regulators * work.genes
    layers = work.samples * math.log2(max(work.samples, 2))
    tries = 2 * trees * work.targets * layers * math.sqrt(work.regulators)
    seconds = (
        lagged.seconds
        + SECONDS_PER_TRY * tries
        + SECONDS_PER_PAIR_OF_PARTS * work.regulators * work.targets
        + SECONDS_PER_PATH * work.regulators * pairs
        + SECONDS_PER_PAIR_OF_GENES * work.genes**2
    )
    return Cost(seconds, lagged.memory + BYTES_PER_PAIR_OF_PARTS * pairs)


def seconds_of_design(
    work: Work, trees: int, networks: int, tables: int, *, every_table: bool
) -> float:
    """Estimate the time to simulate so many networks and the tables without any edge.

    `work` is that of one network, with the number of units done at a time. `every_table` is whether
    the evidence of all of them is computed, as for very few samples.
    """
    one = work._replace(threads=1)
    each = _of_evidence(one, trees).seconds - SECONDS_TO_START
    each += SECONDS_PER_SMALL_HALF * (work.halves + work.halves // 2)
    of_tables = tables * (SECONDS_PER_TABLE + every_table * each)
    return networks * each / min(work.threads, networks) + of_tables / min(work.threads, tables)

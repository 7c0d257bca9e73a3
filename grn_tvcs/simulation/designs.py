"""Designs of experiments: a user's design, and rounded designs that many share.

`examples.py` simulates the measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.bins import average_in_bins
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.network.rules import Rules
from grn_tvcs.simulation.simulation import TIME_STEP

WILD, RANDOM = "wild type", "random"  # starts of series
# Simulated sizes; larger designs use the largest.
GENES = (5, 10, 15, 20, 30, 50, 70, 100)
REGULATORS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)  # fraction of the genes
SERIES = (0, 1, 2, 3, 4, 5, 7, 10, 15, 20)
POINTS = (3, 4, 5, 6, 8, 10, 12, 16, 21, 30, 40, 50, 60)
STEADY_SAMPLES = (0, 1, 2, 5, 10, 20, 50, 100, 200)
CELLS = (0, 2, 4, 8, 16, 32, 64)
KNOCKED = (0.0, 0.1, 0.25, 0.5, 1.0)  # fraction of the candidate regulators
CELL_INTERVAL = 10.0  # units of time between bins of cells

Array = NDArray[np.float64]
Rng = int | np.random.Generator | None


@dataclass(frozen=True)
class Design:
    """Design of an experiment: everything but the levels.

    Parameters
    ----------
    n_genes
        Measured genes.
    n_regulators
        Candidate regulators.
    n_series, n_points
        Series, and points of each.
    interval
        Time between points; half-lives are 5 to 50.
    is_perturbation_known
        Whether a column marks the perturbation, in the first half of every series.
    knocked_out, knocked_down
        Fraction of the candidate regulators with a knock-out, or knock-down, in [0, 1]; above 0 at
        least one gene.
    n_steady
        Steady-state samples, each with small changes of all genes.
    cells
        Number of cells averaged in a sample of a series; 0 for bulk samples.
    start
        Start of series: the ``"wild type"``, with perturbed genes in the first half, or
        ``"random"`` states from which they relax.
    hidden
        Fraction of the genes of the network that are not measured, in [0, 1).

    Raises
    ------
    ValueError
        If a number is too small, nothing is measured, or `start` is unknown or conflicts with a
        known perturbation.
    """

    n_genes: int
    n_regulators: int
    n_series: int
    n_points: int
    interval: float = TIME_STEP
    is_perturbation_known: bool = False
    knocked_out: float = 0.0
    knocked_down: float = 0.0
    n_steady: int = 0
    cells: int = 0
    start: str = WILD
    hidden: float = 0.0

    def __post_init__(self) -> None:
        for name, least in (
            ("n_genes", 2),
            ("n_regulators", 1),
            ("n_series", 1 if self.cells else 0),
            ("n_points", 2),
            ("n_steady", 0 if self.n_series else 1),
            ("cells", 0),
        ):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be >= {least}, found {getattr(self, name)}")
        if self.n_regulators > self.n_genes:
            raise ValueError(f"n_regulators must be <= n_genes, found {self.n_regulators}")
        if not (0 < self.interval < np.inf and 0 <= self.hidden < 1):
            raise ValueError(
                "interval must be above 0 and hidden in [0, 1), found "
                f"{self.interval} and {self.hidden}"
            )
        if not (0 <= self.knocked_out <= 1 and 0 <= self.knocked_down <= 1):
            raise ValueError(
                "knocked_out and knocked_down must be in [0, 1], found "
                f"{self.knocked_out} and {self.knocked_down}"
            )
        if self.start not in (WILD, RANDOM):
            raise ValueError(f"start must be {WILD!r} or {RANDOM!r}, found {self.start!r}")
        if self.is_perturbation_known and (self.start == RANDOM or self.cells):
            raise ValueError("a known perturbation needs series from the wild type without cells")

    def n_changed(self, share: float) -> int:
        """Return the candidate regulators in a fraction: 0 for 0, otherwise at least 1."""
        return max(1, round(share * self.n_regulators)) if share else 0

    @property
    def key(self) -> str:
        """A short name without spaces; designs with equal keys are simulated alike."""
        parts = [
            f"g{self.n_genes}r{self.n_regulators}",
            f"s{self.n_series}x{self.n_points}" if self.n_series else "",
            f"i{self.interval:.12g}" if self.n_series else "",
            "column" if self.is_perturbation_known else "",
            f"out{self.knocked_out:.12g}" if self.knocked_out else "",
            f"down{self.knocked_down:.12g}" if self.knocked_down else "",
            f"rest{self.n_steady}" if self.n_steady else "",
            f"cells{self.cells}" if self.cells else "",
            "random" if self.start == RANDOM else "",
            f"hidden{self.hidden:.12g}" if self.hidden else "",
        ]
        return "-".join(part for part in parts if part)


def design_of(expression: Expression, steady: SteadyStates | None, rules: Rules) -> Design:
    """Return the design of a user's data, within the simulated sizes.

    Cells are averaged in bins as by `infer`. If series differ in length, their median length is
    used. The interval is always the default: units of time are unknown, and the autocorrelation of
    levels does not determine it either (a slow test shows this). Levels are not used.
    """
    expression = average_in_bins(expression)
    n, most = len(expression.genes), GENES[-1]
    may_regulate = rules.inputs(expression.genes).regulators
    candidates = {expression.genes[j] for j in may_regulate}
    lengths = [rows.stop - rows.start for rows in expression.pieces.values()]
    n_points = round(float(np.median(lengths))) if lengths else POINTS[0]
    cells = 0
    if lengths and expression.cells is not None:
        cells = round(float(np.clip(np.median(expression.cells), CELLS[1], CELLS[-1])))
    is_known = bool(lengths) and expression.perturbed is not None and not cells
    return Design(
        n_genes=min(max(n, 2), most),
        n_regulators=max(1, round(len(candidates) * min(1.0, most / n))),
        n_series=min(len(lengths), SERIES[-1]),
        n_points=min(max(n_points, POINTS[0]), POINTS[-1]),
        interval=CELL_INTERVAL if cells else TIME_STEP,
        is_perturbation_known=is_known,
        knocked_out=_share_changed(steady, candidates, is_out=True),
        knocked_down=_share_changed(steady, candidates, is_out=False),
        n_steady=min(expression.n_steady, STEADY_SAMPLES[-1]),
        cells=cells,
    )


def _share_changed(steady: SteadyStates | None, candidates: set[str], *, is_out: bool) -> float:
    """Return the fraction of candidate regulators that were knocked out, or down."""
    if steady is None or not candidates:
        return 0.0
    is_changed = steady.is_changed(is_out=is_out)
    changed = {gene for gene, is_it in zip(steady.genes, is_changed, strict=True) if is_it}
    return len(changed & candidates) / len(candidates)


def rounded(design: Design) -> Design:
    """Return a nearby design that many share: nearest sizes of the lists above, by ratio."""
    n_genes = int(_nearest(design.n_genes, GENES))
    share = _nearest(design.n_regulators / design.n_genes, REGULATORS)
    return replace(
        design,
        n_genes=n_genes,
        n_regulators=max(1, round(share * n_genes)),
        n_series=int(_nearest(design.n_series, SERIES)),
        n_points=int(_nearest(design.n_points, POINTS)),
        knocked_out=_nearest(design.knocked_out, KNOCKED),
        knocked_down=_nearest(design.knocked_down, KNOCKED),
        n_steady=int(_nearest(design.n_steady, STEADY_SAMPLES)),
        cells=int(_nearest(design.cells, CELLS)),
    )


def _nearest(value: float, sizes: Sequence[float]) -> float:
    """Return the size with the ratio to `value` nearest to 1; only 0 is rounded to 0."""
    if value == 0:
        return 0
    return min((size for size in sizes if size), key=lambda size: abs(np.log(size / value)))

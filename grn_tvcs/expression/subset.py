"""Some genes of a table: those that are named, or the most variable."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.scales import on_scale
from tvcs_core.arguments import check_number, check_type, names_of
from tvcs_core.files.display import joined

FEWEST = 2  # genes: fewer have no edge
OFFSET = 0.2  # part of the typical largest level that is added before the logarithm


def subset_genes(expression: Expression, names: Collection[str]) -> Expression:
    """The same samples of some genes, in the order of the table.

    The scale is settled first, on all genes: counts are divided by the size of their sample, and
    are levels from then on, because the genes that are left do not give that size.

    Raises
    ------
    ValueError
        If a name is no gene, or fewer than two are named.
    """
    check_type("expression", expression, Expression)
    wanted = set(names_of("names", names))
    if unknown := sorted(wanted - set(expression.genes)):
        raise ValueError(f"these are no genes of the table: {joined(unknown)}")
    if len(wanted) < FEWEST:
        raise ValueError(f"at least {FEWEST} genes must be left, found {joined(sorted(wanted))}")
    if len(wanted) == len(expression.genes):
        return expression
    expression = on_scale(expression)
    kept = np.array([gene in wanted for gene in expression.genes])
    return expression.of_genes(kept, "log" if expression.scale == "log" else "levels")


def most_variable(expression: Expression, n: int) -> list[str]:
    """Names of the `n` genes of the largest variance over all samples, the most variable first.

    Of levels ``log(x + 0.2 m)`` is taken, m being the median over genes of their largest level: a
    gene that is hardly there does not vary, whatever its noise. Counts are divided by the size of
    their sample first, logarithms are taken as they are. Of equal ones the first by name.

    Raises
    ------
    ValueError
        If `n` is below 2.
    """
    check_type("expression", expression, Expression)
    check_number("n", n, whole=True)
    if n < FEWEST:
        raise ValueError(f"n, the number of most variable genes, must be >= {FEWEST}, found {n}")
    expression = on_scale(expression)
    variance = _logs(expression).var(axis=0).tolist()
    falling = sorted(zip(variance, expression.genes, strict=True), key=lambda v: (-v[0], v[1]))
    return [gene for _, gene in falling[:n]]


def _logs(expression: Expression) -> NDArray[np.float64]:
    levels = expression.levels
    if expression.scale == "log":
        return levels
    largest = levels.max(axis=0)
    typical = float(np.median(largest[largest > 0])) if largest.any() else 1.0
    return np.asarray(np.log(levels + OFFSET * typical))

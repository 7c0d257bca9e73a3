"""Comparison of two conditions by permutations of whole series."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Any

import numpy as np

from grn_tvcs.comparison.comparison import DEFAULT_FDR, Comparison
from grn_tvcs.comparison.conditions import with_common_genes
from grn_tvcs.comparison.correction import Correction
from grn_tvcs.comparison.difference_model import global_p_value, predict_differences
from grn_tvcs.comparison.differences import measure_differences
from grn_tvcs.comparison.permutations import (
    DEFAULT_PERMUTATIONS,
    MIN_PERMUTATIONS,
    count_permutations,
    draw_permutations,
)
from grn_tvcs.comparison.steps import make_steps, pool_conditions
from grn_tvcs.expression.bins import prepared
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.options import AUTO
from grn_tvcs.expression.read import READING, as_expressions
from grn_tvcs.expression.user_warnings import warnings_of
from grn_tvcs.inference.infer import FOREIGN
from grn_tvcs.network.network import Network
from grn_tvcs.network.rules import Rules, gene_set
from tvcs_core.arguments import check_number, names_of
from tvcs_core.engines import Engine, one_blas_thread
from tvcs_core.files.display import did_you_mean
from tvcs_core.streams import stream


def compare(
    a: Any,
    b: Any,
    *,
    names: Sequence[str] = ("A", "B"),
    regulators: Iterable[str] | None = None,
    scale: str | None = None,
    bins: int | str = AUTO,
    fdr: float = DEFAULT_FDR,
    permutations: int = DEFAULT_PERMUTATIONS,
    rng: int | np.random.Generator | None = None,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
    **reading: Any,
) -> Comparison:
    """Compare the networks of two conditions by time series of both.

    Whole series are permuted between the conditions to test for a difference. A model trained on
    simulated pairs of networks then gives the probability that each edge differs.

    Parameters
    ----------
    a, b
        The conditions, each with at least two series: an `Expression`, or what `Expression.of`
        reads. Steady-state samples are not used.
    names
        Names of the conditions.
    regulators
        Names of the genes that may regulate; None means all.
    scale, bins
        As for `infer`, of both.
    fdr
        Expected fraction of false edges among significant edges, in (0, 1).
    permutations
        Largest number of permutations.
    rng
        Seed or generator; equal seeds give equal results.
    engine, progress
        As for `infer`; units of work are targets.
    **reading
        Options of reading, such as ``time_column``, where a condition is to be read.

    Raises
    ------
    ValueError, TypeError
        If a condition has fewer than two series, the conditions share fewer than half of their
        genes, or an option is out of its range.
    """
    _refuse_unknown(reading)
    names = _checked(names, fdr, permutations)
    read = _read(a, b, reading).values()
    a, b = (_prepared(one, part, bins, scale) for one, part in zip(names, read, strict=True))
    first, second, notes = with_common_genes(a, b, names)
    both, n_first = pool_conditions(first, second)
    inputs = (
        Rules(regulators=gene_set("regulators", regulators))
        .called_as(both.genes, both.identifiers)
        .candidates(both.genes, both.constant_genes)
        .regulators
    )
    n_second = both.n_series - n_first
    drawn = draw_permutations(n_first, n_second, permutations, stream(rng, "compare"))
    with one_blas_thread():
        steps = make_steps(both, inputs)
        found = measure_differences(steps, drawn, engine=engine, progress=progress)
    p = global_p_value(found, drawn)
    return Comparison(
        names,
        both.genes,
        tuple(both.genes[j] for j in inputs),
        (n_first, n_second),
        len(steps.past),
        len(drawn.in_first),
        count_permutations(n_first, n_second),
        p,
        fdr,
        found,
        predict_differences(found, drawn, steps),
        drawn.p_values(found.best),
        Correction(p),
        tuple(dict.fromkeys((*a.notes, *b.notes, *notes))),
    )


def _checked(names: Sequence[str], fdr: float, permutations: int) -> tuple[str, str]:
    """Return the two names; refuse options that are out of their range."""
    check_number("fdr", fdr)
    check_number("permutations", permutations, whole=True, least=MIN_PERMUTATIONS)
    if not 0 < fdr < 1:
        raise ValueError(f"fdr must be above 0 and below 1, found {fdr:g}")
    names = names_of("names", names)
    if len(set(names)) != 2 or len(names) != 2:
        raise ValueError(f"names must be two different ones, found {names}")
    return names[0], names[1]


def _read(a: Any, b: Any, reading: dict[str, Any]) -> dict[str, Expression]:
    """Read both conditions."""
    for argument, condition in (("a", a), ("b", b)):
        if isinstance(condition, Network):
            raise TypeError(
                f"{argument} must be the data of a condition, found a Network; score(a, b) counts "
                "the edges that two networks share"
            )
    return as_expressions({"a": a, "b": b}, reading)


def _prepared(name: str, part: Expression, bins: int | str, scale: str | None) -> Expression:
    """Prepare a condition, with its name in warnings."""
    with warnings_of(name):
        return prepared(part, bins, scale)


def _refuse_unknown(words: Iterable[str]) -> None:
    """Refuse arguments that are none of reading, those of other libraries with the right one."""
    for name in words:
        if name in READING:
            continue
        right = FOREIGN.get(name, "")
        is_ours = right.partition(",")[0] in signature(compare).parameters
        remedy = f"; give {right}" if is_ours else did_you_mean(name, READING)
        raise TypeError(f"compare does not take {name!r}{remedy}")

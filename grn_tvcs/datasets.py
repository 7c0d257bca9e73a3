"""Data sets that come with the package, each by a call: network30 and bsubtilis."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tvcs_core.files.display import summary

if TYPE_CHECKING:
    from grn_tvcs.expression.expression import Expression
    from grn_tvcs.expression.steady_states import SteadyStates
    from grn_tvcs.network.network import Network


class Dataset(NamedTuple):
    """Expression with the edges that are known.

    Attributes
    ----------
    expression
        Levels of the genes.
    reference
        The true or known edges between them.
    regulators
        Names of the genes that may regulate; None for all.
    steady
        Knock-outs, knock-downs and wild type; None if there are none.
    folder
        The files, for the command line, with their DATASHEET.md.
    """

    expression: Expression
    reference: Network
    regulators: tuple[str, ...] | None
    steady: SteadyStates | None
    folder: Path

    def __repr__(self) -> str:
        return summary(self)


def network30() -> Dataset:
    """Return a simulated network of 30 genes and 48 edges, with all experiments of DREAM.

    There are ten time series of 21 points, knock-outs, knock-downs and the wild type. Nothing in it
    was measured, and it is too small to judge a method by.

    Examples
    --------
    >>> data = network30()
    >>> len(data.expression.genes), len(data.reference.edges())
    (30, 48)
    """
    from grn_tvcs.expression.expression import Expression
    from grn_tvcs.expression.formats.steady import read_steady_states
    from grn_tvcs.network.edge_files import read_reference
    from tvcs_core.files.extras import carried

    folder = carried(__package__, "network30")
    expression = Expression.of(folder / "timeseries.tsv")
    steady = read_steady_states(
        knockouts=folder / "knockouts.tsv",
        knockdowns=folder / "knockdowns.tsv",
        wildtype=folder / "wildtype.tsv",
    )
    reference = read_reference(folder / "goldstandard.tsv", expression.genes)
    return Dataset(expression, reference, None, steady, folder)


def bsubtilis() -> Dataset:
    """Return a part of a compendium of *Bacillus subtilis*: 149 genes and 288 known edges.

    There are 33 time series and 106 steady-state samples, measured by many laboratories
    (Arrieta-Ortiz et al., 2015). An edge that is not known may still be true. The licence is BSD
    2-clause, in the folder.

    Examples
    --------
    >>> data = bsubtilis()
    >>> len(data.expression.genes), len(data.reference.edges()), len(data.regulators)
    (149, 288, 47)
    """
    from grn_tvcs.expression.expression import Expression
    from grn_tvcs.network.edge_files import read_reference
    from tvcs_core.files.extras import carried
    from tvcs_core.files.tables import read_text

    folder = carried(__package__, "bsubtilis")
    samples = folder / "samples.tsv"
    with warnings.catch_warnings():  # three samples begin two series each, as its DATASHEET says
        warnings.simplefilter("ignore")
        expression = Expression.of(folder / "expression.tsv", samples=samples, genes_in_rows=True)
    reference = read_reference(folder / "known_edges.tsv", expression.genes)
    _, *regulators = read_text(folder / "regulators.tsv").split()
    return Dataset(expression, reference, tuple(regulators), None, folder)

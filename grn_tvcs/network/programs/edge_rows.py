"""Rows of a list of edges, with the names of both genes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grn_tvcs.expression.judge.same_names import SameNames, same_names
from tvcs_core import DataError
from tvcs_core.files.display import joined
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import Table


class EdgeRows(NamedTuple):
    """The rows of a table that are edges.

    Attributes
    ----------
    table
        The table.
    ends
        Columns of regulator and target.
    first
        The first row that is an edge.
    is_shielded
        Whether an apostrophe before a name is no part of it, as in ``edges.tsv``.
    """

    table: Table
    ends: tuple[int, int]
    first: int
    is_shielded: bool = False

    def pairs(self, same: SameNames | None = None) -> Iterator[tuple[str, str]]:
        """Yield regulator and target of every row, called as the genes of `same` if given."""
        gene_of = {} if same is None else same.gene_of
        for row in self.table.rows[self.first :]:
            one, other = (row[j] for j in self.ends)
            if self.is_shielded:
                one, other = unshield(one), unshield(other)
            yield gene_of.get(one, one), gene_of.get(other, other)

    def names(self) -> list[str]:
        """Return all regulators and targets, each once."""
        return sorted({name for pair in self.pairs() for name in pair})

    def called_as(self, genes: Sequence[str]) -> SameNames:
        """Find the names among genes that may be written otherwise."""
        return same_names((name for pair in self.pairs() for name in pair), genes)

    def no_edge(
        self, genes: Sequence[str], edge: str = "an edge", of: str = "network"
    ) -> DataError:
        """Return the error for a list of which no row joins two of the genes."""
        return DataError(
            f"must have {edge} between two different genes of the {of}, found none; it names "
            f"{joined(self.names()) or 'nothing'}; the {of} has {joined(genes)}",
            path=self.table.path,
        )

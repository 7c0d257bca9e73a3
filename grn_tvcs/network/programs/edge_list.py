"""Lists of edges, ours and those of other programs and databases: tables with named columns.

Spaces may part cells below a known header, as R writes them, and a header may be one cell short,
which is that of R's names of rows.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.judge.names import INDEX, REGULATOR, TARGET
from grn_tvcs.expression.judge.same_names import NO_IDENTIFIERS, Identifiers, SameNames, same_names
from grn_tvcs.expression.user_warnings import warn_user
from grn_tvcs.network.edge import HEADER
from grn_tvcs.network.pairs import EXTRA
from grn_tvcs.network.programs.refused import if_json, refuse_folder, refuse_other_formats
from grn_tvcs.network.programs.signs import is_word, sign_of
from tvcs_core import DataError
from tvcs_core.files.display import joined, plural, quoted
from tvcs_core.files.frames import is_frame, table_in
from tvcs_core.files.rows import Rows
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import SPACE, Table, is_number

if TYPE_CHECKING:
    import pandas as pd

Value = TypeVar("Value")
Places = NDArray[np.int64]
SYMBOLS = ("source_genesymbol", "target_genesymbol")  # OmniPath's, beside identifiers of proteins
STIMULATION, INHIBITION = "is_stimulation", "is_inhibition"  # OmniPath's signs
SCORE = ("score", "importance", "edgeweight", "weight", "coef_mean", "coef_abs")
SIGN = ("sign", "mor", "regulation", "effect", "interaction", "6)function")  # the last: RegulonDB
SELF_LOOPS, UNKNOWN_GENES, REPEATS = "self_loops", "unknown_genes", "repeats"  # do not count
MOST_NAMELESS = 4  # columns beside both genes of an edge, where none has a known name
SIGNED = ("coef_mean",)  # scores whose side of 0 is the sign
_NAME_OF_EDGE = re.compile(r"(.+) \([^()]*\) (.+)")  # of Cytoscape


class EdgeList(NamedTuple):
    """The rows of a table that are edges.

    Attributes
    ----------
    table
        The table.
    columns
        Places of the known columns by our names of them; empty if nothing names them.
    first
        The first row that is an edge.
    is_shielded
        Whether an apostrophe before a name is no part of it, as in ``edges.tsv``.
    """

    table: Table
    columns: dict[str, int]
    first: int
    is_shielded: bool = False

    @property
    def is_wide(self) -> bool:
        """Whether there are more columns than regulator, target and a third."""
        return len(self.table.rows[0]) > 3

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.table.rows) - self.first

    def header(self, name: str) -> str:
        """Return the heading of a column in small letters; empty without one."""
        is_named = self.first and name in self.columns
        return self.table.rows[0][self.columns[name]].lower() if is_named else ""

    def cells(self, name: str) -> list[str]:
        """Return the cells of a column."""
        column = self.columns[name]
        return [row[column] for row in self.table.rows[self.first :]]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return the numbers of a column; refuse other cells."""
        return self.table.numbers(self.first, [self.columns[name]])[:, 0]

    def value(self, edge: int, name: str, read: Callable[[str], Value]) -> Value:
        """Return what `read` makes of a cell; its ValueError becomes an error with the place."""
        try:
            return read(self.table.rows[self.first + edge][self.columns[name]])
        except ValueError as error:
            raise self.error(str(error), edge, name) from None

    def error(self, message: str, edge: int, name: str) -> DataError:
        """Return an error that names the place of a cell."""
        return self.table.error(message, self.first + edge, self.columns[name])

    def pairs(self, same: SameNames | None = None) -> Iterator[tuple[str, str]]:
        """Yield regulator and target of every edge, called as the genes of `same` if given."""
        gene_of = {} if same is None else same.gene_of
        ends = self.columns["regulator"], self.columns["target"]
        for row in self.table.rows[self.first :]:
            one, other = (row[j] for j in ends)
            if self.is_shielded:
                one, other = unshield(one), unshield(other)
            yield gene_of.get(one, one), gene_of.get(other, other)

    def names(self) -> list[str]:
        """Return all regulators and targets, each once; an empty cell names none."""
        return sorted({name for pair in self.pairs() for name in pair} - {""})

    def called_as(
        self, genes: Sequence[str], identifiers: Identifiers = NO_IDENTIFIERS
    ) -> SameNames:
        """Find the names among genes that may be written otherwise."""
        return same_names((name for pair in self.pairs() for name in pair), genes, identifiers)

    def among(
        self,
        genes: Sequence[str],
        same: SameNames,
        is_edge: NDArray[np.bool_] | None = None,
    ) -> EdgesAmong:
        """Find the edges that join two of the genes, which may be written otherwise.

        Parameters
        ----------
        same
            The names among the genes.
        is_edge
            Which rows are edges at all; by default all.
        """
        place = {gene: i for i, gene in enumerate(genes)}
        rows, numbers = array("q"), array("q")
        left_out: dict[str, list[str]] = {SELF_LOOPS: [], UNKNOWN_GENES: [], REPEATS: []}
        for i, (regulator, target) in enumerate(self.pairs(same)):
            if is_edge is not None and not is_edge[i]:
                continue
            if regulator == target:
                left_out[SELF_LOOPS].append(regulator)
            elif regulator not in place or target not in place:
                left_out[UNKNOWN_GENES].append(f"{regulator} -> {target}")
            else:
                rows.append(i)
                numbers.append(place[regulator] * len(genes) + place[target])
        places, pairs = np.array(rows, np.int64), np.array(numbers, np.int64)
        _, first = np.unique(pairs, return_index=True)
        for number in np.delete(pairs, first).tolist():
            one, other = (genes[i] for i in divmod(number, len(genes)))
            left_out[REPEATS].append(f"{one} -> {other}")
        return EdgesAmong(self, genes, places, pairs, first, left_out, same)

    def no_edge(
        self, genes: Sequence[str], edge: str = "an edge", of: str = "network"
    ) -> DataError:
        """Return the error for a list of which no row joins two of the genes."""
        return DataError(
            f"must have {edge} between two different genes of the {of}, found none; it names "
            f"{joined(self.names()) or 'nothing'}; the {of} has {joined(genes)}",
            path=self.table.path,
        )


class EdgesAmong(NamedTuple):
    """Edges of a list between two different genes.

    Attributes
    ----------
    edges, genes
        The list, and the genes.
    rows
        Places of the edges in the list.
    numbers
        Place of the regulator times the number of genes, plus place of the target.
    first
        Where each pair comes first among these, by its number.
    left_out
        Names of the edges that do not count, by reason.
    same
        Names that are not written as the genes are.
    """

    edges: EdgeList
    genes: Sequence[str]
    rows: Places
    numbers: Places
    first: Places
    left_out: dict[str, list[str]]
    same: SameNames

    @property
    def ends(self) -> tuple[Places, Places]:
        """Places of the regulators and of the targets, of each pair once."""
        return np.divmod(self.numbers[self.first], len(self.genes))

    def describe(self, of: str = "network", repeats: str = "listed before") -> list[str]:
        """Return a sentence for names that are written otherwise, and for each reason."""
        why = {
            SELF_LOOPS: "of a gene on itself",
            UNKNOWN_GENES: f"with a gene that is not in the {of}",
            REPEATS: repeats,
        }
        left_out = [
            f"left out {plural(len(names), 'edge')} {why[kind]}: {joined(names)}"
            for kind, names in self.left_out.items()
            if names
        ]
        return [*filter(None, [self.same.describe()]), *left_out]

    def values(self, name: str, read: Callable[[str], float]) -> NDArray[np.float64]:
        """Return what `read` makes of the cells of a column; see `EdgeList.value`."""
        cells = (self.edges.value(i, name, read) for i in self.rows.tolist())
        return np.fromiter(cells, np.float64, self.rows.size)


def open_edges(
    source: str | Path | pd.DataFrame, third: str, genes: Collection[str] = ()
) -> EdgeList:
    """Read a table of edges, with its columns if the first row names them by known names.

    Parameters
    ----------
    source
        Text, plain or ``.gz``, a workbook, or a DataFrame, of which numbers name no columns.
    third
        A third column in the words of a remedy.
    genes
        Two of them in the first row are an edge.
    """
    if not is_frame(source):
        refuse_folder(source)
    table = table_in(source, spaces=True, comments=True, if_json=if_json(third))
    if is_frame(source) and table.rows[0] == list(map(str, range(len(table.rows[0])))):
        table = replace(table, rows=table.rows[1:], lines=table.lines[1:])
    table = _with_ends(_with_sign(table))
    columns, width = columns_of(table), len(table.rows[0])
    if columns and {len(row) for row in table.rows[1:]} == {width + 1}:
        rows = Rows.of(row if i else ["", *row] for i, row in enumerate(table.rows))
        table = replace(table, rows=rows)  # R's names of rows have no heading
        columns = columns_of(table)
    refuse_other_formats(table, third)
    if table.delimiter == SPACE and not columns:
        raise table.error(
            "must have a tab, comma or semicolon between regulator and target, found spaces in "
            f"{quoted(' '.join(table.rows[0]))}; put tabs in their place",
            row=0,
        )
    table.check_rectangle()
    has_header = bool(columns) or _has_other_header(table, genes)
    return EdgeList(replace(table, has_header=has_header), columns, int(has_header))


def _has_other_header(table: Table, genes: Collection[str]) -> bool:
    """Whether the first row, which holds no known names, is no edge all the same, with a warning.

    Its third cell is neither number nor sign then, but that of the row below is one.
    """
    top, *below = (row[:3] for row in table.rows[:2])
    if not below or len(top) < 3 or set(genes).issuperset(top[:2]):
        return False
    if _is_fact(top[2]) or not _is_fact(below[0][2]):
        return False
    first, second, *others = (name.lower() for name in table.rows[0])
    if first in TARGET or second in REGULATOR or {*others} & {*REGULATOR, *TARGET}:
        raise table.error(
            f"the first row must name regulator and target, found {joined(table.rows[0])}; known "
            f"names are {', '.join(REGULATOR)}; {', '.join(TARGET)}",
            row=0,
        )
    if len(others) > MOST_NAMELESS and all(map(is_number, table.rows[1][2:])):
        raise table.error(
            f"must hold edges, but {plural(len(others), 'column')} of numbers, as of levels of "
            "expression, and none called regulator and target, stand here: give edges.tsv, or "
            "columns regulator, target and score",
            row=0,
        )
    warn_user(
        f"{table.path}: the first row is taken for names of columns ({joined(table.rows[0])}), of "
        "which the first is the regulator and the second the target; to be sure, call them so"
    )
    return True


def _is_fact(cell: str) -> bool:
    return is_number(cell) or sign_of(cell) is not None


def _with_sign(table: Table) -> Table:
    """Add a column of signs to a table of OmniPath, which has one for each sign."""
    header = [cell.lower() for cell in table.rows[0]]
    if not {*SYMBOLS, STIMULATION, INHIBITION} <= set(header) or SIGN[0] in header:
        return table
    table.check_rectangle()
    up, down = header.index(STIMULATION), header.index(INHIBITION)
    signs = {(True, False): "+", (False, True): "-"}
    on = ("1", "true", "1.0")
    cells = [SIGN[0]]
    for row in table.rows[1:]:
        cells.append(signs.get((row[up].lower() in on, row[down].lower() in on), "?"))
    rows = Rows.of([*row, cell] for row, cell in zip(table.rows, cells, strict=True))
    return replace(table, rows=rows)


def _with_ends(table: Table) -> Table:
    """Add columns of both genes to a table of Cytoscape, which has ``Fos (activates) Jun``."""
    header = [cell.lower() for cell in table.rows[0]]
    if "interaction" not in header or "name" not in header or _ends(table) is not None:
        return table
    table.check_rectangle()
    place = header.index("name")
    found = [_NAME_OF_EDGE.fullmatch(row[place]) for row in table.rows[1:]]
    ends = [(one[1], one[2]) for one in found if one is not None]
    if len(ends) < len(found):
        return table
    ends.insert(0, (REGULATOR[0], TARGET[0]))
    both = zip(ends, table.rows, strict=True)
    return replace(table, rows=Rows.of([*of_row, *row] for of_row, row in both))


def columns_of(table: Table) -> dict[str, int]:
    """Places of the named columns; empty if the first row is no header."""
    header = [cell.lower() for cell in table.rows[0]]
    ends = _ends(table)
    if ends is None:
        return {}
    known = (*HEADER[2:], *EXTRA)
    columns = {name: header.index(name) for name in known if name in header}
    for name in SCORE:
        if name in header:
            columns.setdefault("score", header.index(name))
    for name in SIGN:
        if name in header and (name == SIGN[0] or _holds_signs(table, header.index(name))):
            columns.setdefault("sign", header.index(name))
    columns |= ends
    for place in columns.values():
        if header.count(header[place]) > 1:
            raise table.error(f"must have one column {quoted(table.rows[0][place])}", row=0)
    return columns


def _holds_signs(table: Table, column: int) -> bool:
    """Whether every cell of a column is a sign; columns of such names may mean other things."""
    return all(len(row) > column and sign_of(row[column]) is not None for row in table.rows[1:])


def _ends(table: Table) -> dict[str, int] | None:
    """Places of regulator and target: the first columns, or wherever such names stand."""
    header = [cell.lower() for cell in table.rows[0]]
    if set(SYMBOLS) <= set(header):
        return {"regulator": header.index(SYMBOLS[0]), "target": header.index(SYMBOLS[1])}
    if len(header) > 1 and header[0] in REGULATOR and header[1] in TARGET:
        return {"regulator": 0, "target": 1}
    found: dict[str, int] = {}
    for end, names in (("regulator", REGULATOR), ("target", TARGET)):
        places = [j for j, name in enumerate(header) if name in names]
        if not places:
            return None
        if len(places) > 1:
            several = joined(table.rows[0][j] for j in places)
            raise table.error(f"must have one column of the {end}, found {several}", row=0)
        found[end] = places[0]
    return found


def of_three(edges: EdgeList, what: str) -> EdgeList:
    """Return a list of two or three columns, of which the third is the sign, whatever its name."""
    named, top = edges.columns, edges.table.rows[0]
    columns = {"regulator": named.get("regulator", 0), "target": named.get("target", 1)}
    others = [
        j
        for j, name in enumerate(top)
        if j not in columns.values() and not (named and j == 0 and name.lower() in INDEX)
    ]
    if len(top) < 2 or len(others) > 1:
        found = len(top) if len(top) < 2 else 2 + len(others)
        raise edges.table.error(
            f"{what} must have 2 or 3 columns, found {found}; leave those out that are neither "
            "genes nor sign",
            row=0,
        )
    if others:
        columns["sign"] = others[0]
    return edges._replace(columns=columns)


def of_database(edges: EdgeList) -> EdgeList | None:
    """Return a list of a database, which has more than three columns; None for others.

    Such are CollecTRI and DoRothEA with a header (repression by the sign, or by a weight below 0),
    and TRRUST without one (regulator, target, a word for the sign, sources).
    """
    rows, named = edges.table.rows, edges.columns
    if len(rows[0]) <= 3:
        return None
    if named:
        known = {"regulator": "regulator", "target": "target", "score": "sign", "sign": "sign"}
        columns = {ours: named[name] for name, ours in known.items() if name in named}
        return edges._replace(columns=columns)
    if all(is_word(row[2]) for row in rows[edges.first :]):
        return edges._replace(columns={"regulator": 0, "target": 1, "sign": 2})
    return None

"""Tables of edges in files, and files that only look like one.

A single cell of a matrix, of SIF or of XML tells nobody what to do; so these are refused by name.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from grn_tvcs.network.programs.facts import RELATION
from grn_tvcs.network.programs.headers import columns_of
from grn_tvcs.network.programs.signs import is_word
from tvcs_core.files.display import quoted
from tvcs_core.files.rows import Rows
from tvcs_core.files.tables import SPACE, Table, is_number, read_table

MARKS = {
    "<?xml": "XML, such as GraphML", "<graph": "XML, such as GraphML",
    "{": "JSON, such as Cytoscape's", "#": "a comment",
}  # fmt: skip
BASE = ("peak_id", "gene_short_name")  # how a base GRN of CellOracle begins
LIST = "write regulator, target and perhaps {} in each line, with a tab between them"
OURS = "give edges.tsv, from which it was written, or "


def open_edges(path: str | Path, third: str) -> Table:
    """Read a table of edges; `third` says what its third column may hold.

    Parameters
    ----------
    path
        Text, plain or ``.gz``, or a workbook. Spaces may part cells below a known header, as R
        writes them, and a header may be one cell short, which is that of R's names of rows.
    third
        In the words of a remedy.

    Raises
    ------
    DataError
        If it is no table, or XML, JSON, SIF, a matrix or a base GRN, which hold no list of edges.
    """
    table = _with_row_names(read_table(path, spaces=True))
    first = table.rows[0]
    as_list = LIST.format(third)
    for mark, kind in MARKS.items():
        if first[0].startswith(mark):
            remedy = "remove these lines, or " if mark == "#" else OURS
            said = f"must be a header or an edge, found {kind} ({quoted(first[0])}); "
            raise table.error(f"{said}{remedy}{as_list}", row=0)
    if tuple(cell.lower() for cell in first[:2]) == BASE:
        raise table.error(
            "is a base GRN of CellOracle, which has neither scores nor signs; " + OURS + as_list,
            row=0,
        )
    if _is_sif(table):
        raise table.error(
            f"is SIF, which has the relation between the genes ({quoted(' '.join(first))}) and no "
            f"scores; {OURS}{as_list}",
            row=0,
        )
    if table.delimiter == SPACE and columns_of(table) is None:
        raise table.error(
            "must have a tab, comma or semicolon between regulator and target, found spaces in "
            f"{quoted(' '.join(first))}; put tabs in their place",
            row=0,
        )
    table.check_rectangle()
    if _is_matrix(table):
        raise table.error(
            "is a matrix of genes x genes, which does not say which side regulates; "
            f"{as_list} (in Python: m.stack(), in R: as.data.frame(as.table(m)))",
            row=0,
        )
    return table


def _with_row_names(table: Table) -> Table:
    """Give R's names of rows a first, empty heading, where every row has one cell more."""
    width = len(table.rows[0])
    if len(table.rows) < 2 or any(len(row) != width + 1 for row in table.rows[1:]):
        return table
    if columns_of(table) is None:
        return table
    return replace(
        table, rows=Rows.of(row if i else ["", *row] for i, row in enumerate(table.rows))
    )


def _is_sif(table: Table) -> bool:
    first = table.rows[0]
    if len(first) > 2 and (is_number(first[2]) or is_word(first[2])):
        return False
    is_called = Path(table.path).suffix.lower() == ".sif" and len(first) != 2
    return is_called or (len(first) > 2 and first[1] in RELATION.values())


def _is_matrix(table: Table) -> bool:
    """Whether names stand above and at the left, and numbers everywhere else."""
    header = table.rows[0]
    if len(header) < 3 or len(table.rows) < 2 or header[0] or any(map(is_number, header[1:])):
        return False
    return all(not is_number(row[0]) and all(map(is_number, row[1:])) for row in table.rows[1:])

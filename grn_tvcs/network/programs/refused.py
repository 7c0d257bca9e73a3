"""Files that look like a list of edges and hold none, refused by the names of their formats.

An error about one cell of a matrix, of SIF or of XML would help nobody.
"""

from __future__ import annotations

from pathlib import Path

from grn_tvcs.network.edge import FILES, RELATIONS
from grn_tvcs.network.programs.signs import is_word
from tvcs_core import DataError
from tvcs_core.files.display import quoted
from tvcs_core.files.tables import Table, is_number

MARKS = {
    "<?xml": "XML, such as GraphML", "<graph": "XML, such as GraphML", "#": "a comment",
}  # fmt: skip
BASE = ("peak_id", "gene_short_name")  # how a base GRN of CellOracle begins
OURS = "give edges.tsv, from which it was written, or "


def if_json(third: str) -> str:
    """Return what to give instead of JSON; `third` as in `open_edges`."""
    return f", such as Cytoscape's files; {OURS}{_as_list(third)}"


def _as_list(third: str) -> str:
    return f"write regulator, target and perhaps {third} in each line, with a tab between them"


def refuse_folder(path: str | Path) -> None:
    """Refuse a folder of results, and name the edges in it."""
    for name in FILES:
        if (Path(path) / name).is_file():
            raise DataError(f"is a folder of results: give its {name}", path=path)


def refuse_other_formats(table: Table, third: str) -> None:
    """Refuse XML, comments, SIF, a base GRN and a matrix; `third` as in `open_edges`."""
    first = table.rows[0]
    begins = " ".join(first)
    as_list = _as_list(third)
    for mark, kind in MARKS.items():
        if first[0].startswith(mark):
            remedy = "remove these lines, or " if mark == "#" else OURS
            reason = f"must be a header or an edge, found {kind} ({quoted(first[0])}); "
            raise table.error(f"{reason}{remedy}{as_list}", row=0)
    if tuple(cell.lower() for cell in first[:2]) == BASE:
        reason = "is a base GRN of CellOracle, which has neither scores nor signs; "
    elif _is_sif(table):
        relation = f"the relation between the genes ({quoted(begins)})"
        reason = f"is SIF, which has {relation} and no scores; "
    elif _is_matrix(table):
        raise table.error(
            "is a matrix of genes x genes, which does not say which side regulates; "
            f"{as_list} (in Python: m.stack() where rows regulate, m.T.stack() where columns do; "
            "in R: as.data.frame(as.table(m)), or of t(m))",
            row=0,
        )
    else:
        return
    raise table.error(f"{reason}{OURS}{as_list}", row=0)


def _is_sif(table: Table) -> bool:
    first = table.rows[0]
    if len(first) > 2 and (is_number(first[2]) or is_word(first[2])):
        return False
    is_called = Path(table.path).suffix.lower() == ".sif" and len(first) != 2
    return is_called or (len(first) > 2 and first[1] in RELATIONS)


def _is_matrix(table: Table) -> bool:
    """Whether names stand above and at the left, and numbers everywhere else."""
    header = table.rows[0]
    if len(header) < 3 or len(table.rows) < 2 or any(map(is_number, header[1:])):
        return False
    if header[0] and set(header[1:]).isdisjoint(row[0] for row in table.rows[1:]):
        return False
    return all(
        len(row) == len(header) and not is_number(row[0]) and all(map(is_number, row[1:]))
        for row in table.rows[1:]
    )

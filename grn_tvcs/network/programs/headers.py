"""Tables of edges, ours and those of other programs: opened, and the places of their columns.

An error about one cell of a matrix, of SIF or of XML helps nobody, so files that only look like a
table of edges are refused by the name of their format.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.judge.names import INDEX
from grn_tvcs.network.edge import HEADER, RELATIONS
from grn_tvcs.network.pairs import EXTRA
from grn_tvcs.network.programs.signs import SHOWN, is_word, sign_of
from tvcs_core import DataError
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.rows import Rows
from tvcs_core.files.tables import SPACE, Table, is_number, read_table

REGULATOR = ("regulator", "source", "from", "tf", "gene1", "regulatorygene", "regulatory.gene")
TARGET = ("target", "to", "gene2", "targetgene", "target.gene")
SYMBOLS = ("source_genesymbol", "target_genesymbol")  # OmniPath's, beside identifiers of proteins
STIMULATION, INHIBITION = "is_stimulation", "is_inhibition"  # OmniPath's signs
SCORE = ("score", "importance", "edgeweight", "weight", "coef_mean", "coef_abs")
SIGN = ("sign", "mor", "regulation", "effect", "interaction")
SIGNED = ("coef_mean",)  # scores whose side of 0 is the sign
MAY_BE_SIGNED = ("edgeweight", "weight")  # the same, where any is below 0
MARKS = {
    "<?xml": "XML, such as GraphML", "<graph": "XML, such as GraphML",
    "{": "JSON, such as Cytoscape's", "#": "a comment",
}  # fmt: skip
_NAME_OF_EDGE = re.compile(r"(.+) \([^()]*\) (.+)")  # of Cytoscape
BASE = ("peak_id", "gene_short_name")  # how a base GRN of CellOracle begins
LIST = "write regulator, target and perhaps {} in each line, with a tab between them"
OURS = "give edges.tsv, from which it was written, or "


def open_edges(path: str | Path, third: str) -> tuple[Table, dict[str, int] | None]:
    """Read a table of edges, and the places of its columns, by `columns_of`.

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
    for name in ("edges.tsv", "edges.tsv.gz"):
        if (Path(path) / name).is_file():
            raise DataError(f"is a folder of results: give its {name}", path=path)
    table = _with_ends(_with_sign(read_table(path, spaces=True)))
    if _has_names_of_rows(table):
        rows = Rows.of(row if i else ["", *row] for i, row in enumerate(table.rows))
        table = replace(table, rows=rows)
    first = table.rows[0]
    as_list = LIST.format(third)
    for mark, kind in MARKS.items():
        if first[0].startswith(mark):
            remedy = "remove these lines, or " if mark == "#" else OURS
            reason = f"must be a header or an edge, found {kind} ({quoted(first[0])}); "
            raise table.error(f"{reason}{remedy}{as_list}", row=0)
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
    columns = columns_of(table)
    if table.delimiter == SPACE and columns is None:
        raise table.error(
            "must have a tab, comma or semicolon between regulator and target, found spaces in "
            f"{quoted(' '.join(first))}; put tabs in their place",
            row=0,
        )
    table.check_rectangle()
    if _is_matrix(table):
        raise table.error(
            "is a matrix of genes x genes, which does not say which side regulates; "
            f"{as_list} (in Python: m.stack() where rows regulate, m.T.stack() where columns do; "
            "in R: as.data.frame(as.table(m)), or of t(m))",
            row=0,
        )
    return table, columns


def _has_names_of_rows(table: Table) -> bool:
    """Whether every row has one cell more than a header of edges, as R's names of rows make it."""
    width = len(table.rows[0])
    if len(table.rows) < 2 or any(len(row) != width + 1 for row in table.rows[1:]):
        return False
    return _ends(table) is not None


def _with_sign(table: Table) -> Table:
    """Add a column of signs to a table of OmniPath, which has one for each sign."""
    header = [cell.lower() for cell in table.rows[0]]
    if not {*SYMBOLS, STIMULATION, INHIBITION} <= set(header) or SIGN[0] in header:
        return table
    table.check_rectangle()
    up, down = header.index(STIMULATION), header.index(INHIBITION)
    signs = {(True, False): "+", (False, True): "-"}
    rows = Rows.of(
        [*row, signs.get((_is_on(row[up]), _is_on(row[down])), "?") if i else SIGN[0]]
        for i, row in enumerate(table.rows)
    )
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


def _is_on(cell: str) -> bool:
    return cell.strip().lower() in ("1", "true", "1.0")


def _is_sif(table: Table) -> bool:
    first = table.rows[0]
    if len(first) > 2 and (is_number(first[2]) or is_word(first[2])):
        return False
    is_called = Path(table.path).suffix.lower() == ".sif" and len(first) != 2
    return is_called or (len(first) > 2 and first[1] in RELATIONS)


def _is_matrix(table: Table) -> bool:
    """Whether names stand above and at the left, and numbers everywhere else."""
    header = table.rows[0]
    if len(header) < 3 or len(table.rows) < 2 or header[0] or any(map(is_number, header[1:])):
        return False
    return all(not is_number(row[0]) and all(map(is_number, row[1:])) for row in table.rows[1:])


def columns_of(table: Table) -> dict[str, int] | None:
    """Places of the named columns, or None if the first row is no header."""
    header = [cell.lower() for cell in table.rows[0]]
    ends = _ends(table)
    if ends is None:
        return None
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


def scores_and_signs(
    table: Table, columns: dict[str, int], first: int
) -> tuple[NDArray[np.float64], NDArray[np.int8], list[str]]:
    """Score, sign and, of a column of signs, every cell that is none, of the rows from `first` on.

    A column of signs counts before a score below 0. Without a column of scores each is 1.

    Raises
    ------
    DataError
        If a score is no number, is below 0 but no sign, or contradicts the column of signs.
    """
    n = len(table.rows) - first
    scores, signs, unknown = np.ones(n), np.zeros(n, np.int8), []
    if "score" in columns:
        scores = table.numbers(first, [columns["score"]])[:, 0]
        signs = _signs_of(table, columns["score"], first, scores)
    if "sign" in columns:
        at = columns["sign"]
        for i in range(n):
            sign = sign_of(table.rows[first + i][at])
            if sign is None:
                unknown.append(table.rows[first + i][at])
            elif sign > 0 > scores[i]:
                raise table.error(
                    f"says activation, but the score is below 0 ({scores[i]:g}), which says "
                    "repression; correct one of them",
                    first + i,
                    at,
                )
            signs[i] = sign or 0
    return np.abs(scores), signs, unknown


def _signs_of(
    table: Table, column: int, first: int, scores: NDArray[np.float64]
) -> NDArray[np.int8]:
    """Return the signs of a column of scores."""
    name = table.rows[0][column].lower() if first else ""
    is_below = scores < 0
    if name in SIGNED or (name in MAY_BE_SIGNED and is_below.any()):
        return np.sign(scores).astype(np.int8)
    if is_below.any():
        row = first + int(np.flatnonzero(is_below)[0])
        raise table.error(
            f"a score must be >= 0, found {quoted(table.rows[row][column])}; where one below 0 "
            "represses, call the column weight or EdgeWeight",
            row,
            column,
        )
    return np.zeros(scores.size, np.int8)


class Three(NamedTuple):
    """A table of two or three columns.

    Attributes
    ----------
    is_named
        Whether its first row has the names of columns.
    ends
        Places of regulator and target.
    third
        Return the position of the column with the kind of edge; None without one.
    """

    is_named: bool
    ends: tuple[int, int]
    third: int | None


def of_three(table: Table, columns: dict[str, int] | None, what: str) -> Three:
    """Return the places of the columns of `what`, without numbers of rows.

    Raises
    ------
    DataError
        If there are not two or three columns.
    """
    ends = (0, 1) if columns is None else (columns["regulator"], columns["target"])
    others = [
        j
        for j, name in enumerate(table.rows[0])
        if j not in ends and not (columns and j == 0 and name.lower() in INDEX)
    ]
    width = 2 + len(others)
    if len(table.rows[0]) < 2 or width > 3:
        found = len(table.rows[0]) if len(table.rows[0]) < 2 else width
        raise table.error(
            f"{what} must have 2 or 3 columns, found {found}; leave those out that are neither "
            "genes nor sign",
            row=0,
        )
    return Three(columns is not None, ends, others[0] if others else None)


def of_database(table: Table, columns: dict[str, int] | None) -> Three | None:
    """Places of the columns of a list of a database, which has more than three; None for others.

    Such are CollecTRI and DoRothEA with a header (repression by the sign, or by a weight below 0),
    and TRRUST without one (regulator, target, a word for the sign, sources).
    """
    width = len(table.rows[0])
    if width <= 3:
        return None
    if columns is not None:
        third = columns.get("sign", columns.get("score"))
        return Three(True, (columns["regulator"], columns["target"]), third)
    return Three(False, (0, 1), 2) if all(is_word(row[2]) for row in table.rows) else None


def as_true_edges(cells: Sequence[str]) -> list[str]:
    """Return weights of a database as signs of true edges: below 0 represses, 0 is no edge."""
    if not all(is_number(cell) for cell in cells):
        return list(cells)
    weights = [float(cell) for cell in cells]
    positive = "+" if min(weights, default=0.0) < 0 else "1"
    return ["0" if w == 0 else "-" if w < 0 else positive for w in weights]


def without_header(table: Table) -> dict[str, int]:
    """Places of the columns of a table whose first row is an edge."""
    top = table.rows[0]
    if len(top) < 2:
        raise table.error("must have the columns regulator and target", row=0)
    names = ("regulator", "target", "score")
    if len(top) > 2 and not is_number(top[2]):
        if any(sign_of(row[2]) is None for row in table.rows):
            raise table.error(
                "the third cell must be a number (regulator, target, score) or a sign, or the "
                f"first row must name the columns regulator, target and score; found {joined(top)}",
                row=0,
            )
        names = ("regulator", "target", "sign")
    return dict(zip(names, range(len(top)), strict=False))


def unread(table: Table, columns: dict[str, int] | None, signs: Sequence[str]) -> list[str]:
    """A sentence about a header without scores, and one about signs that are none."""
    sentences = []
    if columns is not None and "score" not in columns:
        read = {place for name, place in columns.items() if name != "rank"}
        if others := [name for j, name in enumerate(table.rows[0]) if j not in read]:
            sentences.append(
                f"no column is called {', '.join(SCORE)}, so every edge has the score 1; not "
                f"read: {joined(others)}"
            )
    if signs:
        found = joined(dict.fromkeys(signs))
        sentences.append(f"{len(signs)} signs count as ?: {found}; a sign is {SHOWN}")
    return sentences

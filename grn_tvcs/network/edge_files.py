"""Networks from files: tables of edges, references, lists of genes."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import repeated
from grn_tvcs.expression.judge.names import OF_GENES
from grn_tvcs.expression.warned import warn_user
from grn_tvcs.network.evidence import CODES
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import EXTRA, FIXED, Pairs
from grn_tvcs.network.programs.facts import RELATION
from grn_tvcs.network.programs.headers import (
    SIGN_OF,
    columns_of,
    of_three,
    unread,
    without_header,
)
from tvcs_core import DataError
from tvcs_core.files.shown import listed, shown
from tvcs_core.files.spreadsheet import unshield
from tvcs_core.files.tables import Table, is_number, read_names, read_table, read_text

SIGNED = "edgeweight"
NO_EDGE = "0"
SMALL = ("signs", "selected")  # kept as bytes while a file is read
ANYBODYS = ("stability", "own")  # columns that are read from tables of other programs too
MARKS = {"<?xml": "XML, such as GraphML", "<graph": "XML, such as GraphML", "#": "a comment"}
REASONS = {
    "self_loops": "of a gene on itself",
    "unknown_genes": "with a gene that is not in the network",
    "repeats": "that were there already",
}


def read_network(path: str | Path, genes: Sequence[str]) -> Network:
    """Read a table of edges over `genes`: ``edges.tsv``, or what another program wrote.

    Known are the headers of arboreto (``TF target importance``), BEELINE (``Gene1 Gene2
    EdgeWeight``, where a weight below 0 represses) and GENIE3 (``regulatoryGene targetGene
    weight``), in any order. Without a header the columns are regulator, target and, if there is a
    third, score; edges without a score get 1. Without a column ``selected`` every edge with a score
    above 0 is selected. An apostrophe before a name of ``edges.tsv`` that starts like a formula is
    taken off (see `tvcs_core.files.spreadsheet`). Self-loops, edges of genes that are not in
    `genes` and repeats are left out, with a warning that says so.

    Raises
    ------
    DataError
        Naming line and column, if columns are missing or a cell does not hold what it must; or
        naming the file, if it has edges and none joins two of the genes.
    """
    table = _read_edges(path, "a score")
    header = columns_of(table)
    first = 0 if header is None else 1
    columns = without_header(table) if header is None else header
    weights = _weights(table, columns, first)
    is_ours = "selected" in columns
    # Other programs have columns of this name that mean something else.
    known = [name for name in EXTRA if name in columns and (is_ours or name in ANYBODYS)]
    kept = _Kept(genes, [*FIXED, *known])
    other_signs = []
    for row, weight in enumerate(weights.tolist(), start=first):
        cells = table.rows[row]
        names = cells[columns["regulator"]], cells[columns["target"]]
        if not kept.takes(*map(unshield, names) if is_ours else names):
            continue
        sign = cells[columns["sign"]] if "sign" in columns else ""
        if sign and sign not in SIGN_OF:
            other_signs.append(sign)
        is_in = _flag(table, row, columns["selected"]) if is_ours else True
        kept.note("scores", abs(weight))
        kept.note("signs", -1 if weight < 0 else SIGN_OF.get(sign, 0))
        kept.note("selected", is_in and weight != 0)
        for name in known:
            kept.note(name, READERS[name](table, row, columns[name]))
    if len(table.rows) > first and not kept.n_taken:
        raise _no_edge(table, (columns["regulator"], columns["target"]), first, genes)
    found = kept.reference()
    for message in [*unread(table, header, other_signs), *found.said()]:
        warn_user(f"{path}: {message}")
    return found.network


def read_reference(path: str | Path, genes: Sequence[str]) -> Network:
    """Read the true edges over `genes`: regulator, target and perhaps ``+``, ``-``, ``?``, 1 or 0.

    A header is known by its names, which may be in any order, or by holding neither two genes nor
    one of these values. 0 means that there is no edge, as does a pair that is not listed. Edges
    have the score 1. Self-loops, edges of genes that are not in `genes` and repeats are left out,
    with a warning that says so.

    Raises
    ------
    DataError
        If there are not 2 or 3 columns, a third cell is something else (line and column are
        named), or no edge joins two of the genes.
    """
    found = reference_in(path, genes)
    for message in found.said():
        warn_user(f"{path}: {message}")
    return found.network


@dataclass(frozen=True)
class Reference:
    """True edges of a file, and the edges of the file that do not count.

    Attributes
    ----------
    network
        The true edges, all selected.
    left_out
        Names of the edges that do not count, by reason: ``self_loops``, ``unknown_genes``,
        ``repeats``.
    strangers
        Names of the file that are no genes of the network.
    """

    network: Network
    left_out: dict[str, list[str]]
    strangers: tuple[str, ...] = ()

    def said(self) -> list[str]:
        """A sentence for every reason that there was."""
        more = {"unknown_genes": same_but_for_case(self.strangers, self.network.genes)}
        return [
            f"left out {len(names)} edges {REASONS[kind]}: {listed(names)}{more.get(kind, '')}"
            for kind, names in self.left_out.items()
            if names
        ]


def reference_in(path: str | Path, genes: Sequence[str]) -> Reference:
    """Read what `read_reference` reads, and keep what was left out."""
    table = _read_edges(path, "one of + - ? 1 0")
    is_named, ends, third = of_three(table, "a reference")
    first = 1 if is_named or _is_header(table.rows[0], genes) else 0
    kept = _Kept(genes, ["scores", "signs"])
    for row in range(first, len(table.rows)):
        cells = table.rows[row]
        value = "1" if third is None else cells[third]
        if value not in (*SIGN_OF, NO_EDGE):
            raise DataError(
                f"must be one of + - ? 1 0, found {shown(value)}",
                path=path,
                line=table.lines[row],
                column=3 if third is None or not first else table.rows[0][third],
            )
        if kept.takes(*(cells[j] for j in ends)):
            kept.note("scores", value != NO_EDGE)
            kept.note("signs", SIGN_OF.get(value, 0))
    found = kept.reference()
    if not found.network.n_scored:
        raise _no_edge(table, ends, first, genes)
    return found


def _no_edge(table: Table, ends: tuple[int, int], first: int, genes: Sequence[str]) -> DataError:
    names = sorted({row[j] for row in table.rows[first:] for j in ends})
    return DataError(
        "must have an edge between two different genes of the network, found none; it names "
        f"{listed(names) or 'nothing'}; the network has {listed(list(genes))}"
        f"{same_but_for_case(names, genes)}",
        path=table.path,
    )


def _read_edges(path: str | Path, third: str) -> Table:
    """A table of edges; `third` is what its third column may hold.

    Spaces between cells, and SIF and GraphML, which `infer` itself writes for Cytoscape, are
    refused by name: what is wrong with a single cell would not tell what to do.
    """
    table = read_table(path)
    first = table.rows[0]
    for mark, kind in MARKS.items():
        if first[0].startswith(mark):
            raise table.error(
                f"must be a header or an edge, found {kind} ({shown(first[0])}); write regulator, "
                f"target and perhaps {third} in each line, with a tab between them",
                row=0,
            )
    cells = first if len(first) > 1 else first[0].split()
    is_list = len(cells) > 2 and (is_number(cells[2]) or cells[2] in SIGN_OF)
    is_sif = Path(path).suffix.lower() == ".sif" and len(first) != 2
    if not is_list and (is_sif or (len(cells) > 2 and cells[1] in RELATION.values())):
        raise table.error(
            f"is SIF, which has the relation between the genes ({shown(' '.join(cells))}); write "
            f"regulator, target and perhaps {third} in each line, with a tab between them",
            row=0,
        )
    if len(first) == 1 < len(cells):
        raise table.error(
            "must have a tab, comma or semicolon between regulator and target, found spaces in "
            f"{shown(first[0])}; put tabs in their place",
            row=0,
        )
    table.require_rectangle()
    return table


def _is_header(top: Sequence[str], genes: Sequence[str]) -> bool:
    """Whether a row without known names is no edge all the same."""
    return not (set(genes).issuperset(top[:2]) or len(top) < 3 or top[2] in (*SIGN_OF, NO_EDGE))


def same_but_for_case(names: Sequence[str], genes: Sequence[str]) -> str:
    """Warn where names would match if capitals did not count."""
    known, lower = set(genes), {gene.lower() for gene in genes}
    same = [name for name in names if name not in known and name.lower() in lower]
    return f"; {listed(same)} would match if capitals did not count" if same else ""


def read_genes(path: str | Path) -> list[str]:
    """Read all genes of a network from its ``run.json``, or from a list with one per line.

    Raises
    ------
    DataError
        If there is no such file, it names no genes, or names one twice.
    """
    path = Path(path)
    if path.name == "run.json":
        if not path.exists():
            raise DataError("is missing, so the genes are not known; give --genes FILE", path=path)
        genes = _recorded_genes(path)
    else:
        genes = read_names(path)
    if not genes:
        raise DataError("must name the genes, found none", path=path)
    if OF_GENES.fullmatch(genes[0].lower()):
        raise DataError(
            f"must name one gene per line, found the heading {shown(genes[0])}; remove it",
            path=path,
        )
    if twice := repeated(genes):
        raise DataError(f"gene names must be different, found twice: {listed(twice)}", path=path)
    return genes


def _recorded_genes(path: Path) -> list[str]:
    try:
        record = json.loads(read_text(path))
    except RecursionError:
        record = None
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        record = None
    genes = record.get("genes") if isinstance(record, dict) else None
    if not isinstance(genes, list) or not all(isinstance(gene, str) and gene for gene in genes):
        raise DataError("must list the genes under 'genes'; give --genes FILE", path=path)
    return genes


class _Kept:
    """The edges of a file that count, a number each, and which were left out for what reason."""

    def __init__(self, genes: Sequence[str], known: Sequence[str]) -> None:
        self.left_out: dict[str, list[str]] = {kind: [] for kind in REASONS}
        self.strangers: dict[str, None] = {}  # names that are no genes, each once
        self._genes = genes
        self._place = {gene: i for i, gene in enumerate(genes)}
        self._numbers = array("q")  # place of the regulator * genes + place of the target
        self._known: dict[str, array[Any]] = {
            name: array("b" if name in SMALL else "d") for name in known
        }

    def takes(self, regulator: str, target: str) -> bool:
        """Whether the edge counts, unless it was there already; then notes of it must follow."""
        if regulator == target:
            self.left_out["self_loops"].append(regulator)
            return False
        if regulator not in self._place or target not in self._place:
            self.left_out["unknown_genes"].append(f"{regulator} -> {target}")
            ends = (regulator, target)
            self.strangers |= dict.fromkeys(name for name in ends if name not in self._place)
            return False
        self._numbers.append(self._place[regulator] * len(self._genes) + self._place[target])
        return True

    @property
    def n_taken(self) -> int:
        """Edges that count, repeats too."""
        return len(self._numbers)

    def note(self, name: str, value: float) -> None:
        """Keep what is known of the edge that was taken last."""
        self._known[name].append(value)

    def reference(self) -> Reference:
        """The edges as a network, and what was left out."""
        network = Network.of_pairs(self._genes, self._pairs())
        return Reference(network, self.left_out, tuple(self.strangers))

    def _pairs(self) -> Pairs:
        """What is known of the edges; where one is repeated, its first row counts."""
        numbers = np.array(self._numbers, np.int64)
        _, first = np.unique(numbers, return_index=True)
        known = {name: np.asarray(values)[first] for name, values in self._known.items()}
        for number in np.delete(numbers, first).tolist():
            regulator, target = (self._genes[i] for i in divmod(number, len(self._genes)))
            self.left_out["repeats"].append(f"{regulator} -> {target}")
        return Pairs.listed(np.divmod(numbers[first], len(self._genes)), known)


def _weights(table: Table, columns: dict[str, int], first: int) -> NDArray[np.float64]:
    """The score of every row from `first` on; below 0 only where this means repression."""
    if "score" not in columns:
        return np.ones(len(table.rows) - first)
    weights = table.numbers(first, [columns["score"]])[:, 0]
    is_signed = first == 1 and table.rows[0][columns["score"]].lower() == SIGNED
    if not is_signed and (weights < 0).any():
        row = first + int(np.flatnonzero(weights < 0)[0])
        found = shown(table.rows[row][columns["score"]])
        raise table.error(
            f"a score must be >= 0, found {found}; where one below 0 represses, call the column "
            "EdgeWeight",
            row,
            columns["score"],
        )
    return weights


def _flag(table: Table, row: int, column: int) -> bool:
    cell = table.rows[row][column]
    if cell not in ("0", "1"):
        raise table.error(f"must be 0 or 1, found {shown(cell)}", row, column)
    return cell == "1"


def _share(table: Table, row: int, column: int) -> float:
    cell = table.rows[row][column]
    if not cell:
        return math.nan
    if not (is_number(cell) and 0 <= float(cell) <= 1):
        raise table.error(
            f"must be a number from 0 to 1 or empty, found {shown(cell)}", row, column
        )
    return float(cell)


def _chance(table: Table, row: int, column: int) -> float:
    if not table.rows[row][column]:
        raise table.error("must be a number from 0 to 1, found nothing", row, column)
    return _share(table, row, column)


def _evidence(table: Table, row: int, column: int) -> int:
    cell = table.rows[row][column]
    if cell and cell not in CODES:
        raise table.error(f"must be one of {', '.join(CODES)}, found {cell!r}", row, column)
    return CODES.get(cell, 0)


READERS = {
    "stability": _share, "own": _flag, "evidence": _evidence, "confidence": _chance,
    "false_discovery": _chance,
}  # fmt: skip

"""Networks from files: tables of edges, references, lists of genes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.expression import describe_repeated
from grn_tvcs.expression.judge.names import OF_GENES
from grn_tvcs.expression.judge.same_names import NO_IDENTIFIERS, Identifiers, same_names
from grn_tvcs.expression.user_warnings import warn_user
from grn_tvcs.network.evidence import CODES
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import EXTRA, Pairs
from grn_tvcs.network.programs.edge_list import (
    EdgeList,
    EdgesAmong,
    of_database,
    of_three,
    open_edges,
)
from grn_tvcs.network.programs.scored_edges import open_scored_edges, scores_and_signs, unread
from grn_tvcs.network.programs.signs import NO_EDGE, SHOWN, as_true_edges, of_true_edges
from tvcs_core import DataError
from tvcs_core.arguments import names_of
from tvcs_core.files.display import joined, plural, quoted
from tvcs_core.files.tables import is_number, read_names, read_text

if TYPE_CHECKING:
    import pandas as pd

ANYBODYS = ("stability", "own")  # columns that are read from tables of other programs too
FLAGS = {"0": False, "1": True, "false": False, "true": True}  # pandas and R write the last two


def read_network(source: str | Path | pd.DataFrame, genes: Sequence[str] | None = None) -> Network:
    """Read a table of edges: ``edges.tsv``, or a table of another program.

    Known are the headers of arboreto (``TF target importance``), BEELINE (``Gene1 Gene2
    EdgeWeight``), GENIE3 (``regulatoryGene targetGene weight``), decoupler (``source target
    weight``) and CellOracle (``source target coef_mean``), in any order, and Cytoscape's names of
    edges (``Fos (activates) Jun``). Without such names the columns are regulator, target and, if
    there is a third, score or sign; edges without a score get 1. A first row with another third
    cell is a header then, with a warning, unless its first two cells are `genes`. A column ``sign``
    (``+``, ``-``, ``?``, or words such as ``Activation``) gives the sign; so does ``coef_mean``,
    and ``weight`` or ``EdgeWeight`` if any is below 0. Without a column ``selected`` every edge
    with a score above 0 is selected. An apostrophe before a name of ``edges.tsv`` that starts like
    a formula is taken off (see `tvcs_core.files.spreadsheet`).

    Parameters
    ----------
    source
        Text, plain or ``.gz``, a workbook, or a DataFrame.
    genes
        All genes; None for those that the file names, in the order of their names. Self-loops,
        edges of other genes and repeats are left out, with a warning; genes that are
        written otherwise are found as in `read_reference`.

    Raises
    ------
    DataError
        Naming line and column, if columns are missing or a cell does not hold what it must; or
        naming the file, if it has edges and none joins two of the genes.
    """
    genes = None if genes is None else names_of("genes", genes)
    edges = open_scored_edges(source, genes or ())
    named, is_ours = edges.names(), edges.is_shielded
    genes = named if genes is None else genes
    scores, signs, other_signs = scores_and_signs(edges)
    # Other programs have columns of this name that mean something else.
    known = [name for name in EXTRA if name in edges.columns and (is_ours or name in ANYBODYS)]
    found = edges.among(genes, same_names(named, genes))
    if edges.n_edges and not found.rows.size:
        raise edges.no_edge(genes)
    is_in = found.values("selected", _flag) if is_ours else np.ones(found.rows.size)
    facts: dict[str, NDArray[Any]] = {name: found.values(name, READERS[name]) for name in known}
    at = found.rows
    facts |= {"scores": scores[at], "signs": signs[at], "selected": (is_in > 0) & (scores[at] > 0)}
    return _reference(edges.table.path, found, facts, unread(edges, other_signs)).network


def _reference(
    path: str,
    found: EdgesAmong,
    facts: Mapping[str, NDArray[Any]],
    more: Sequence[str] = (),
) -> Reference:
    """Return the edges as a network, with a warning for each remark on them.

    Parameters
    ----------
    facts
        Of the edges that were found; of a repeated one those of the first row count.
    more
        Remarks on the file.
    """
    known = {name: values[found.first] for name, values in facts.items()}
    network = Network(tuple(found.genes), Pairs.listed(found.ends, known))
    reference = Reference(network, found.left_out, found.describe())
    for message in [*more, *reference.remarks]:
        warn_user(f"{path}: {message}")
    return reference


def names_in_edges(path: str | Path) -> list[str]:
    """The genes that a table of edges names, in the order of their names."""
    return open_scored_edges(path).names()


def read_reference(
    source: str | Path | pd.DataFrame,
    genes: Sequence[str],
    identifiers: Identifiers = NO_IDENTIFIERS,
) -> Network:
    """Read the true edges over `genes`: regulator, target and perhaps a sign, or 1 or 0.

    They are in a file or a DataFrame.

    A sign is ``+``, ``-``, ``?`` or a word such as ``Activation``. 1 is an edge; 0 is none, as is a
    pair that is not listed. If any value is -1, it represses and 1 activates. A header is known
    as in `read_network`. Edges have the score 1. Self-loops, repeats and edges of other genes are
    left out, with a warning. Names are matched without version, species prefix and case where they
    differ in these alone, with a warning that counts them; and by `identifiers`, those of an
    `Expression`. Lists of databases may have more columns: CollecTRI, DoRothEA, OmniPath and
    RegulonDB with their headers, TRRUST without one. Lines above that begin with ``#`` are
    comments.

    Raises
    ------
    DataError
        If there are not 2 or 3 columns, a third cell is something else (line and column are
        named), or no edge joins two of the genes.
    """
    return reference_in(source, genes, identifiers).network


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
    remarks
        A sentence for every reason, and for names that are not written as the genes are.
    """

    network: Network
    left_out: dict[str, list[str]]
    remarks: list[str]


def _remedy(value: str, row: int) -> str:
    """Return the remedy for a third cell of true edges that is no sign."""
    if is_number(value):
        return "; scores do not belong here: leave out the column, and edges that are not true"
    if not row:
        return "; if the first row names the columns, call them regulator, target and sign"
    return ""


def reference_in(
    source: str | Path | pd.DataFrame,
    genes: Sequence[str],
    identifiers: Identifiers = NO_IDENTIFIERS,
) -> Reference:
    """Read a reference as `read_reference` does, and count the rows that were left out."""
    genes = names_of("genes", genes)
    edges = _open_reference(source, genes)
    cells = edges.cells("sign") if "sign" in edges.columns else ["1"] * edges.n_edges
    if edges.is_wide:
        cells = as_true_edges(cells)
    signs = of_true_edges(cells)
    if None in signs:
        i = signs.index(None)
        remedy = _remedy(cells[i], edges.first + i)
        raise edges.error(f"must be one of {SHOWN}, found {quoted(cells[i])}{remedy}", i, "sign")
    found = edges.among(genes, edges.called_as(genes, identifiers))
    is_edge = np.array([cell != NO_EDGE for cell in cells])[found.rows]
    if not is_edge[found.first].any():
        raise edges.no_edge(genes)
    agreed, twofold = _agreed_signs(found, np.array(signs)[found.rows])
    return _reference(edges.table.path, found, {"scores": is_edge, "signs": agreed}, twofold)


def _agreed_signs(
    found: EdgesAmong, signs: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the sign on which all rows of an edge agree, for each row, and a remark on others."""
    numbers, edge = np.unique(found.numbers, return_inverse=True)
    activates, represses = (np.bincount(edge, signs == sign) > 0 for sign in (1, -1))
    genes, both = found.genes, numbers[activates & represses]
    names = [f"{genes[k // len(genes)]} -> {genes[k % len(genes)]}" for k in both.tolist()]
    have = plural(both.size, "edge has", "edges have")
    remark = f"{have} both signs, so no sign counts: {joined(names)}"
    agreed = activates.astype(np.int64) - represses
    return agreed[edge], [remark] if names else []


def names_in_reference(path: str | Path, genes: Sequence[str] = ()) -> list[str]:
    """The genes that a list of true edges names, each once.

    Those that are one of `genes` in another way of writing are called as these.
    """
    edges = _open_reference(path, genes)
    return sorted({name for pair in edges.pairs(edges.called_as(genes)) for name in pair})


def _open_reference(source: str | Path | pd.DataFrame, genes: Sequence[str]) -> EdgeList:
    edges = open_edges(source, "one of + - ? 1 0", genes)
    return of_database(edges) or of_three(edges, "a reference")


def read_genes(path: str | Path) -> list[str]:
    """Read all genes of a network from its ``run.json``, or from a list with one per line.

    Raises
    ------
    DataError
        If there is no such file, it names no genes, or names one twice.
    """
    path = Path(path)
    genes = _recorded_genes(path) if path.name == "run.json" else _listed_genes(path)
    if not genes:
        raise DataError("must name the genes, found none", path=path)
    if twice := describe_repeated("gene names", genes):
        raise DataError(twice, path=path)
    return genes


def _listed_genes(path: Path) -> list[str]:
    genes = read_names(path, remarks=True)
    if genes and OF_GENES.fullmatch(genes[0].lower()):
        raise DataError(
            f"must name one gene per line, found the heading {quoted(genes[0])}; remove it",
            path=path,
        )
    if genes and any(all(mark in gene for gene in genes) for mark in ",;\t"):
        raise DataError(
            f"must name one gene per line, found the line {quoted(genes[0])}", path=path
        )
    return genes


def _recorded_genes(path: Path) -> list[str]:
    if not path.exists():
        raise DataError("is missing, so the genes are not known; give --genes FILE", path=path)
    genes = (read_record(path) or {}).get("genes")
    if not isinstance(genes, list) or not all(isinstance(gene, str) and gene for gene in genes):
        raise DataError("must list the genes under 'genes'; give --genes FILE", path=path)
    return genes


def read_identifiers(path: Path) -> Identifiers:
    """Read other names of the genes of a network from its ``run.json``; none without them."""
    found = (read_record(path) or {}).get("identifiers") if path.exists() else None
    if found is None:
        return NO_IDENTIFIERS
    try:
        pairs = frozenset((str(one), str(gene)) for one, gene in found["pairs"])
        return Identifiers(tuple(map(str, found["columns"])), pairs)
    except (KeyError, TypeError, ValueError):
        raise DataError(
            "must list columns, and pairs of identifier and gene, under 'identifiers'", path=path
        ) from None


def read_record(path: Path) -> dict[str, Any] | None:
    """Read the record of a run; None if the file holds none."""
    text = read_text(path)
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _flag(cell: str) -> bool:
    flag = FLAGS.get(cell.lower())
    if flag is None:
        raise ValueError(f"must be 0 or 1, found {quoted(cell)}")
    return flag


def _share(cell: str) -> float:
    if not cell:
        return math.nan
    if not (is_number(cell) and 0 <= float(cell) <= 1):
        raise ValueError(f"must be a number from 0 to 1 or empty, found {quoted(cell)}")
    return float(cell)


def _chance(cell: str) -> float:
    if not cell:
        raise ValueError("must be a number from 0 to 1, found nothing")
    return _share(cell)


def _evidence(cell: str) -> int:
    if cell and cell not in CODES:
        raise ValueError(f"must be one of {', '.join(CODES)}, found {cell!r}")
    return CODES.get(cell, 0)


READERS: dict[str, Callable[[str], float]] = {
    "stability": _share, "own": _flag, "evidence": _evidence, "confidence": _chance,
    "false_discovery": _chance, "undirected": _flag,
}  # fmt: skip

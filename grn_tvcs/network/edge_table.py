"""Writing ``edges.tsv``: some lines at a time, so that memory does not grow with them."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from grn_tvcs.network.edge import HEADER
from grn_tvcs.network.network import Network
from grn_tvcs.network.pairs import EXTRA, Pairs
from grn_tvcs.network.ranking import Ranked, blocks, columns_of
from tvcs_core.arguments import check_number
from tvcs_core.files.spreadsheet import shield
from tvcs_core.files.tables import write_table

LEVEL = 6  # of compression: zlib's own default


def write_edges(network: Network, path: str | Path, *, top: int | None = None) -> None:
    """Write every edge as ``edges.tsv``: regulator, target, score, sign, rank, selected.

    If the method resampled, a column holds the stability, empty if the data are too few. If it
    selects edges itself, a column `own` marks them. With several sources, a column `evidence` names
    those of the score. If the chance that an edge is true is known,
    there are columns `confidence` and `false_discovery`. People open it in a spreadsheet, so a name
    that would act as a formula gets an apostrophe, which `read_network` takes off.

    Parameters
    ----------
    path
        Compressed where it ends with ``.gz``: the same edges give the same bytes.
    top
        Write the `top` surest edges alone, and every selected one; None writes all.

    Raises
    ------
    ValueError
        If `top` is below 0.
    """
    if top is not None:
        check_number("top", top, whole=True, least=0)
    pairs = network.pairs
    extra = [name for name in EXTRA if getattr(pairs, name) is not None]
    names = [shield(gene) for gene in network.genes]
    with ExitStack() as opened:
        writer = csv.writer(_text(Path(path), opened), delimiter="\t", lineterminator="\n")
        writer.writerow((*HEADER, *extra))
        for some in blocks(pairs, network.genes, top):
            writer.writerows(_lines(pairs, names, some))


def write_reference(network: Network, path: str | Path) -> None:
    """Write the selected edges as a reference: regulator, target, sign."""
    edges = network.edges(selected_only=True)
    rows = [(edge.regulator, edge.target, edge.sign) for edge in edges]
    write_table(Path(path), ("regulator", "target", "sign"), rows)


def _text(path: Path, opened: ExitStack) -> IO[str]:
    """The open file; a compressed one holds neither a name nor a time."""
    if path.suffix != ".gz":
        return opened.enter_context(path.open("w", encoding="utf-8", newline=""))
    raw = opened.enter_context(path.open("wb"))
    packed = gzip.GzipFile("", "wb", LEVEL, raw, mtime=0)
    buffered = io.BufferedWriter(opened.enter_context(packed), 2**20)
    return opened.enter_context(io.TextIOWrapper(buffered, encoding="utf-8", newline=""))


def _lines(pairs: Pairs, names: list[str], some: Ranked) -> Iterator[tuple[object, ...]]:
    """Return the cells of these edges, line by line."""
    columns = columns_of(pairs, names, some)
    columns |= {
        "score": list(map(repr, columns["score"])), "selected": list(map(int, columns["selected"])),
    }  # fmt: skip
    for name in EXTRA:
        if name in columns:
            columns[name] = list(map(_cell, columns[name]))
    return zip(*columns.values(), strict=True)


def _cell(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "" if value != value else f"{value:g}"

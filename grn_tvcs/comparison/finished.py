"""Two finished networks: edges that either selects, with scores and confidences.

Folders of ``grn-tvcs infer`` hold no series, so differences are not tested.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grn_tvcs.comparison.conditions import MIN_COMMON_GENES
from grn_tvcs.expression.expression import describe_repeated
from grn_tvcs.network.edge import FILES
from grn_tvcs.network.edge_files import read_network, read_record
from grn_tvcs.network.network import Network
from tvcs_core import DataError
from tvcs_core.files.display import joined, plural

RUN = "run.json"
COMMAND = "grn-tvcs infer"
NO_SERIES = (
    "Two finished networks hold no series, so these differences are not tested: there are no "
    "intervals and no false discovery rates. For a test, give the tables they were inferred from."
)
KINDS = ("gained", "lost", "reversed", "unchanged")
KIND_OF = {(True, False): "lost", (False, True): "gained", (True, True): "unchanged"}


@dataclass(frozen=True)
class FinishedRun:
    """A finished folder of ``grn-tvcs infer``.

    Attributes
    ----------
    folder, record, network
        Path, run.json and edges.
    """

    folder: Path
    record: dict[str, Any]
    network: Network

    @property
    def method(self) -> str:
        """The method that inferred it."""
        return str(self.record.get("parameters", {}).get("method"))

    @property
    def version(self) -> str:
        """The version of tvcs that inferred it."""
        return str(self.record.get("versions", {}).get("tvcs"))


def read_finished(folder: Path) -> FinishedRun:
    """Read a finished folder."""
    path = folder / RUN
    if not path.is_file():
        raise DataError(
            f"must be a folder that {COMMAND} finished, but it has no {RUN}", path=folder
        )
    record = read_record(path) or {}
    genes = record.get("genes") if record.get("command") == COMMAND else None
    if not isinstance(genes, list) or not all(isinstance(name, str) for name in genes):
        raise DataError(f"must be the record of {COMMAND} with the names of all genes", path=path)
    if twice := describe_repeated("gene names", genes):
        raise DataError(twice, path=path)
    for name in ("parameters", "versions"):
        if not isinstance(record.get(name, {}), dict):
            raise DataError(f"{name} must be names and values", path=path)
    edges = [folder / name for name in FILES if (folder / name).is_file()]
    if not edges:
        raise DataError(f"must have {FILES[0]} next to {RUN}", path=folder)
    return FinishedRun(folder, record, read_network(edges[0], genes))


def compare_edges(
    first: FinishedRun, second: FinishedRun
) -> tuple[list[str], list[list[Any]], list[str]]:
    """Return header and rows of all edges that either network selects, and remarks."""
    for kind, a, b in (
        ("method", first.method, second.method),
        ("version of tvcs", first.version, second.version),
    ):
        if a != b:
            raise DataError(
                f"must be inferred by the same {kind} as {first.folder}, found {b} and there {a}; "
                "infer both in the same way, or compare their tables",
                path=second.folder,
            )
    genes = first.network.genes, second.network.genes
    common = sorted(set(genes[0]) & set(genes[1]))
    if len(common) < MIN_COMMON_GENES * max(map(len, genes)):
        raise DataError(
            f"must share at least half of the genes of {first.folder}, found {len(common)} of "
            f"{len(genes[1])}: {joined(genes[1])}; there {joined(genes[0])}",
            path=second.folder,
        )
    remarks = [NO_SERIES]
    if len(common) < max(map(len, genes)):
        both = plural(len(common), "gene is", "genes are")
        remarks.append(f"{both} in both, of {len(genes[0])} and {len(genes[1])}.")
    header = ["regulator", "target", "kind"]
    header += [f"{name}_{side}" for name in ("sign", "score", "confidence") for side in "ab"]
    return header, _rows(first.network, second.network, common), remarks


def _rows(first: Network, second: Network, common: list[str]) -> list[list[Any]]:
    """Return a row for each edge that either network selects, by type of change."""
    all_edges = [
        {(edge.regulator, edge.target): edge for edge in network.edges(selected_only=False)}
        for network in (first, second)
    ]
    found_edges = (edge for found in all_edges for edge in found.values())
    undirected = {frozenset((e.regulator, e.target)) for e in found_edges if e.undirected}

    def one_way(regulator: str, target: str) -> tuple[str, str]:
        """Return an undirected pair in the order of names, whichever way was selected."""
        ends = regulator, target
        return (min(ends), max(ends)) if frozenset(ends) in undirected else ends

    sides = [
        {one_way(edge.regulator, edge.target): edge for edge in network.edges(selected_only=True)}
        for network in (first, second)
    ]
    known, rows = set(common), []
    for pair in sorted(set(sides[0]) | set(sides[1])):
        if not known.issuperset(pair):
            continue
        kind = KIND_OF[pair in sides[0], pair in sides[1]]
        edges = [
            side.get(pair, found.get(pair)) for side, found in zip(sides, all_edges, strict=True)
        ]
        signs = ["" if edge is None else edge.sign for edge in edges]
        if kind == "unchanged" and set(signs) == {"+", "-"}:
            kind = "reversed"
        scores = ["0" if edge is None else f"{edge.score:.6g}" for edge in edges]
        chances = [None if edge is None else edge.confidence for edge in edges]
        confidences = ["" if chance is None else f"{chance:.6g}" for chance in chances]
        rows.append([*pair, kind, *signs, *scores, *confidences])
    return sorted(rows, key=lambda row: KINDS.index(row[2]))

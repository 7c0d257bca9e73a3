"""Topologies: read from a file, or grown with hubs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.judge.names import NAMED, OF_GENES
from grn_tvcs.network.network import Network
from grn_tvcs.network.programs.edge_list import EdgeList, columns_of, of_three
from grn_tvcs.network.programs.signs import NO_EDGE, SHOWN, of_true_edges
from tvcs_core.arguments import check_number
from tvcs_core.files.display import joined
from tvcs_core.files.tables import Table, read_table
from tvcs_core.streams import stream

# As in modules of the network of E. coli that GeneNetWeaver has (docs/simulator.md).
EDGES_PER_GENE = 1.6
MAX_IN_DEGREE = 6
ACTIVATING = 0.55  # fraction of the edges


def grow(
    n_genes: int,
    n_edges: int | None = None,
    *,
    max_in_degree: int = MAX_IN_DEGREE,
    max_out_degree: int | None = None,
    min_regulators: int | None = None,
    rng: int | np.random.Generator | None = None,
) -> Network:
    """Grow a network with hubs by preferential attachment.

    First every regulator gets a target, then every isolated gene a regulator, then edges join any
    two genes. The genes are named G1, G2, ...

    Parameters
    ----------
    n_genes
        At least 2.
    n_edges
        1.6 per gene by default, as in modules of the network of E. coli, or fewer if the degrees do
        not allow more.
    max_in_degree, max_out_degree
        Largest number of regulators of a gene and of targets of a regulator; None for no limit.
    min_regulators
        Smallest number of genes with a target; the default is 1.6 times the square root of the
        number of genes.

    Raises
    ------
    ValueError
        If a number is too small, or the edges do not fit into the degrees.
    """
    _check_sizes(n_genes, n_edges, max_in_degree, max_out_degree, min_regulators)
    rng = stream(rng, "grow")
    most_out = n_genes - 1 if max_out_degree is None else min(max_out_degree, n_genes - 1)
    n_regulators = max(2, round(1.6 * n_genes**0.5))
    if n_edges is not None:
        n_regulators = min(n_regulators, n_edges)
        if n_edges <= n_genes * most_out:
            n_regulators = max(n_regulators, -(-n_edges // most_out))
    n_regulators = min(n_genes, max(n_regulators, min_regulators or 0))
    n_possible = _most_edges(n_genes, n_regulators, max_in_degree, most_out)
    if n_edges is None:
        n_edges = min(max(round(EDGES_PER_GENE * n_genes), n_regulators), n_possible)
    if not n_regulators <= n_edges <= n_possible:
        raise ValueError(
            f"n_edges must be in [{n_regulators}, {n_possible}] for {n_genes} genes of which "
            f"{n_regulators} regulate, at most {max_in_degree} regulators of a gene and at most "
            f"{most_out} targets of a regulator, found {n_edges}"
        )
    regulators = np.sort(rng.permutation(n_genes)[:n_regulators])
    edges = np.zeros((n_genes, n_genes), dtype=bool)
    edges[regulators] = _placed(n_edges, regulators, n_genes, max_in_degree, most_out, rng)
    signs = np.where(rng.random(edges.shape) < ACTIVATING, 1, -1) * edges
    genes = tuple(f"G{i + 1}" for i in range(n_genes))
    return Network.of(genes, edges.astype(float), signs.astype(np.int8))


def _check_sizes(
    n_genes: int,
    n_edges: int | None,
    max_in_degree: int,
    max_out_degree: int | None,
    min_regulators: int | None,
) -> None:
    counts = {"n_genes": n_genes, "n_edges": n_edges, "max_in_degree": max_in_degree}
    counts |= {"max_out_degree": max_out_degree, "min_regulators": min_regulators}
    for name, value in counts.items():
        if value is not None or name in ("n_genes", "max_in_degree"):
            check_number(name, value, whole=True)
    for name, value, least in (
        ("n_genes", n_genes, 2),
        ("n_edges", n_edges, 1),
        ("max_in_degree", max_in_degree, 1),
        ("max_out_degree", max_out_degree, 1),
        ("min_regulators", min_regulators, 1),
    ):
        if value is not None and value < least:
            raise ValueError(f"{name} must be >= {least}, found {value}")
    if min_regulators is not None and min_regulators > n_genes:
        raise ValueError(
            f"min_regulators must be <= the number of genes, {n_genes}, found {min_regulators}"
        )


def _most_edges(n_genes: int, n_regulators: int, most_in: int, most_out: int) -> int:
    of_targets = n_regulators * min(most_in, n_regulators - 1)
    of_targets += (n_genes - n_regulators) * min(most_in, n_regulators)
    return min(of_targets, n_regulators * most_out)


def _placed(
    n_edges: int,
    regulators: NDArray[np.intp],
    n_genes: int,
    most_in: int,
    most_out: int,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Place edges from `regulators` (rows) to all genes (columns), one at a time."""
    edges = np.zeros((regulators.size, n_genes), dtype=bool)
    loops = regulators[:, None] == np.arange(n_genes)
    for _ in range(n_edges):
        n_targets, n_regulators = edges.sum(axis=1), edges.sum(axis=0)
        degree = n_regulators.copy()
        degree[regulators] += n_targets
        free = ~(edges | loops) & (n_targets < most_out)[:, None] & (n_regulators < most_in)
        idle = free & (n_targets == 0)[:, None]
        alone = free & (degree == 0)
        wanted = next(pairs for pairs in (idle, alone, free) if pairs.any() or pairs is free)
        if not wanted.any():
            _make_room(edges, loops, most_in, most_out)
            continue
        wish = (wanted * np.maximum(n_targets, 1.0)[:, None]).ravel()
        edges.flat[rng.choice(edges.size, p=wish / wish.sum())] = True
    return edges


def _make_room(
    edges: NDArray[np.bool_], loops: NDArray[np.bool_], most_in: int, most_out: int
) -> None:
    """Replace one edge by two, if no free pair has both degrees to spare."""
    empty = ~(edges | loops)
    for i in np.flatnonzero(edges.sum(axis=1) < most_out):
        for j in np.flatnonzero(edges.sum(axis=0) < most_in):
            swaps = np.argwhere(edges & empty[:, j, None] & empty[i])
            if swaps.size:
                a, b = swaps[0]
                edges[a, b] = False
                edges[i, b] = edges[a, j] = True
                return
    raise ValueError("the edges do not fit into the degrees; ask for fewer edges")


def read_topology(path: str | Path) -> Network:
    """Read a network to simulate: regulator, target and optionally ``+``, ``-``, ``?``, 1 or 0.

    Missing signs are drawn by the model. 0 means no edge and only names the two genes. Genes are
    sorted by name (G2 before G10). Columns of a header may be in any order.

    Raises
    ------
    DataError
        With the line: if there are not 2 or 3 columns, a third cell is invalid, a gene has no name
        or the name of a column, an edge is a loop or a duplicate, or there is no edge.
    """
    table = read_table(path)
    table.check_rectangle()
    columns = columns_of(table)
    edges = of_three(EdgeList(table, columns, int(bool(columns))), "a topology")
    names = edges.names()
    lower = {name: name.lower() for name in names}
    if taken := [name for name, low in lower.items() if low in NAMED or OF_GENES.fullmatch(low)]:
        raise table.error(
            f"a gene must not have the name of a column, found {joined(taken)}; if the first line "
            "is a header, call its columns regulator and target"
        )
    genes = sorted(names, key=_by_numbers)
    place = {gene: i for i, gene in enumerate(genes)}
    scores = np.zeros((len(genes), len(genes)))
    signs = np.zeros(scores.shape, dtype=np.int8)
    seen: dict[tuple[str, str], int] = {}
    cells = edges.cells("sign") if "sign" in edges.columns else ["?"] * edges.n_edges
    found = zip(edges.pairs(), cells, of_true_edges(cells), strict=True)
    for row, ((regulator, target), cell, sign) in enumerate(found, start=edges.first):
        if sign is None:
            raise table.error(f"a sign must be one of {SHOWN}, found {cell!r}", row)
        _check_edge(table, row, regulator, target)
        if (regulator, target) in seen:
            line = table.lines[seen[regulator, target]]
            raise table.error(f"the edge {regulator} -> {target} is in line {line} too", row)
        seen[regulator, target] = row
        if cell != NO_EDGE:
            scores[place[regulator], place[target]] = 1.0
            signs[place[regulator], place[target]] = sign
    if not scores.any():
        raise table.error("a topology must have an edge, found none")
    return Network.of(tuple(genes), scores, signs)


def _check_edge(table: Table, row: int, regulator: str, target: str) -> None:
    if not regulator or not target:
        raise table.error("a gene must have a name, found an empty cell", row)
    if regulator == target:
        raise table.error(f"a gene must not regulate itself, but {target} does", row)


def _by_numbers(name: str) -> list[tuple[int, str]]:
    """Return a sort key that compares numbers in names as numbers."""
    parts = re.split(r"([0-9]+)", name)
    return [(int(p), p) if k % 2 else (0, p) for k, p in enumerate(parts)]

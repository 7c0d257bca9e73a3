"""The tables of docs/studies/real-sets.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.pages import fill, table
from benchmarks.real.cases import PEERS, STUDIED, Case

OURS = "combined"
NEAR = 0.98  # AUPR relative to the best peer that counts as reached


def page_of(cases: Sequence[Case], page: str) -> str:
    """Fill the page from all cases."""
    page = fill(page, "lose", lost(cases))
    page = fill(page, "families", by_family(cases))
    return fill(page, "sets", by_set(cases))


def gains(cases: Sequence[Case]) -> dict[str, dict[str, float]]:
    """Return log2(AUPR / chance) by family and method, the mean over tables and gold standards."""
    found: dict[str, dict[str, list[float]]] = {}
    for case in cases:
        of_family = found.setdefault(case.family, {})
        of_family.setdefault(case.method, []).append(float(np.log2(case.aupr / case.chance)))
    return {
        family: {method: float(np.mean(values)) for method, values in of_family.items()}
        for family, of_family in found.items()
    }


def lost(cases: Sequence[Case]) -> str:
    """Compare the default with the best peer of every family that has both, worst first."""
    rows = []
    for family, of_family in gains(cases).items():
        peers = {method: value for method, value in of_family.items() if method in PEERS}
        if OURS not in of_family or not peers:
            continue
        best = max(peers, key=peers.__getitem__)
        ratio = 2.0 ** (of_family[OURS] - peers[best])
        rows.append((ratio, family, best, peers[best], of_family[OURS]))
    rows.sort()
    n_near = sum(ratio >= NEAR for ratio, *_ in rows)
    head = (
        f"The default reaches {NEAR:.0%} of the AUPR of the best peer, or more, on {n_near} of "
        f"{len(rows)} families."
    )
    cells = [
        (family, best, f"{peer:.2f}", f"{ours:.2f}", f"{ratio:.2f}")
        for ratio, family, best, peer, ours in rows
    ]
    names = ("family", "best peer", "its log2", OURS, "AUPR relative to the peer")
    return f"{head}\n\n{table(names, cells, words=2)}"


def by_family(cases: Sequence[Case]) -> str:
    """Write log2(AUPR / chance) of all methods by family, and seconds; the best method first."""
    found = gains(cases)
    largest = max(cases, key=lambda case: case.genes).table
    seconds = {case.method: f"{case.seconds:.2g}" for case in cases if case.table == largest}
    methods = [m for m in STUDIED if any(m in of_family for of_family in found.values())]
    whole = {m: [of.get(m, np.nan) for of in found.values()] for m in methods}

    def mean(method: str) -> float:
        return float(np.mean(whole[method]))  # NaN where a family is missing

    ordered = sorted(methods, key=lambda m: (np.isnan(mean(m)), -mean(m)))
    cells = [
        (m, *(_written(value) for value in whole[m]), _written(mean(m), 3), seconds.get(m, ""))
        for m in ordered
    ]
    return table(("method", *found, "mean", f"seconds, {largest}"), cells)


def by_set(cases: Sequence[Case]) -> str:
    """Write AUPR of every table and gold standard."""
    rows: dict[tuple[str, str], dict[str, Case]] = {}
    for case in cases:
        rows.setdefault((case.table, case.gold), {})[case.method] = case
    cells = []
    for (name, gold), row in rows.items():
        one = next(iter(row.values()))
        ours = row.get(OURS)
        given = "" if ours is None else ours.confidence
        head = f"{name} {gold}".strip(), f"{one.genes}", f"{one.chance:.4f}", given
        peers = {method: case.aupr for method, case in row.items() if method in PEERS}
        best = max(peers, key=peers.__getitem__, default="")
        found = _written(np.nan if ours is None else ours.aupr, 3)
        cells.append((*head, found, best, _written(peers.get(best, np.nan), 3)))
    heads = ("set", "genes", "chance", "probabilities", OURS, "best peer", "its AUPR")
    return table(heads, cells, words={0, 5})


def _written(value: float, digits: int = 2) -> str:
    return "" if np.isnan(value) else f"{value:.{digits}f}"

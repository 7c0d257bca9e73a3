"""Tables of docs/studies/crowd-kinds.md, from `benchmarks.answer_kinds.study`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from benchmarks.answer_kinds import pairs, scales
from benchmarks.answer_kinds.cases import Case
from benchmarks.answer_kinds.crowds import PAIRS, SCALES, SETS
from benchmarks.pages import fill_file, plain, signed, table

LEAST_LOSS = 0.005
MOST_LOSSES = 10  # shown
CLAIMED = (scales.OURS, scales.ORDINAL, scales.UNORDERED, scales.SHARES, scales.DAWID_SKENE)


def write_docs(cases: list[Case], docs: Path) -> None:
    """Fill the tables of crowd-kinds.md."""
    tables = {name: make(cases) for name, make in TABLES.items()}
    fill_file(docs / "studies" / "crowd-kinds.md", tables)


def of(cases: list[Case], part: str, method: str | None = None) -> list[Case]:
    return [c for c in cases if c.part == part and method in (None, c.method)]


def mean(cases: Iterable[Case], name: str) -> float:
    return float(np.mean([getattr(case, name) for case in cases]))


def cells(cases: list[Case]) -> dict[tuple[str, str], list[Case]]:
    """Return the cases by crowd and size: means over their seeds are judged."""
    out: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        out.setdefault((case.crowd, case.size), []).append(case)
    return out


def worst(cases: list[Case], name: str = "gap") -> str:
    """Write the cell that is furthest off, and by how much."""
    by = {key: mean(found, name) for key, found in cells(cases).items()}
    key = max(by, key=lambda one: abs(by[one]))
    return f"{signed(by[key])} ({key[0]}, {key[1]})"


def scale_means(cases: list[Case]) -> str:
    rows = []
    for method in scales.METHODS:
        found = of(cases, "scale", method)
        if method == "order test" or not found:
            continue
        row = [method, plain(mean(found, "right")), plain(mean(found, "error"))]
        row.append(plain(mean(found, "near")))
        if method in CLAIMED:
            off = [abs(mean(cell, "gap")) for cell in cells(found).values()]
            row += [signed(mean(found, "gap")), plain(float(np.mean(off))), worst(found)]
        else:
            row += ["", "", ""]
        rows.append(row)
    return table(("method", "right", "mean error", "within one", "gap", "size of the gap",
                  "worst gap"), rows, words={0, 6})  # fmt: skip


def scale_kinds(cases: list[Case]) -> str:
    rows = []
    for kind in SCALES:
        ours = [c for c in of(cases, "scale", scales.OURS) if c.crowd == kind]
        row = [kind, plain(mean(ours, "right")), signed(mean(ours, "gap")),
               signed(mean(ours, "near_gap"))]  # fmt: skip
        for method in (scales.UNORDERED, scales.SHARES, scales.DAWID_SKENE):
            found = [c for c in of(cases, "scale", method) if c.crowd == kind]
            row.append(plain(mean(found, "right")) if found else "")
        rows.append(row)
    return table(("crowd", "scale", "gap", "gap within one step", scales.UNORDERED, scales.SHARES,
                  scales.DAWID_SKENE), rows)  # fmt: skip


def order_table(cases: list[Case]) -> str:
    found = of(cases, "scale", "order test")
    other = [f"{c.crowd}, {c.size}" for c in found if c.error]
    unsure = sorted({f"{c.crowd}, {c.size}" for c in found if not c.right and not c.error})
    ordered = sum(c.right == 1 for c in found)
    return (
        f"Of {len(found)} simulated crowds on ordered scales the test calls {ordered} ordered and "
        f"prefers another order for {len(other)}{_listed(other)}; of the others it reports that "
        f"the answers do not show the order{_listed(unsure)}."
    )


def _listed(words: list[str]) -> str:
    return f" ({'; '.join(words)})" if words else ""


def real_table(cases: list[Case]) -> str:
    rows = []
    for (name, size), found in sorted(cells(of(cases, "real")).items()):
        for method in CLAIMED:
            some = [c for c in found if c.method == method]
            if some:
                rows.append([name, size, method, plain(mean(some, "right")),
                             plain(mean(some, "error")), signed(mean(some, "gap"))])  # fmt: skip
    return table(("set", "answers", "method", "right", "mean error", "gap"), rows, words=3)


def pair_table(cases: list[Case]) -> str:
    rows = []
    for method in pairs.METHODS:
        found = of(cases, "pairs", method)
        taus = [plain(mean([c for c in found if c.crowd == kind], "tau")) for kind in PAIRS]
        rows.append([method, *taus])
    for label, name, write in (("gap", "gap", signed), ("ranks in 90 %", "covered", plain)):
        found = of(cases, "pairs", pairs.OURS)
        values = [write(mean([c for c in found if c.crowd == kind], name)) for kind in PAIRS]
        rows.append([f"rank: {label}", *values])
    return table(("Kendall's tau", *PAIRS), rows)


def next_table(cases: list[Case]) -> str:
    rows = []
    for crowd in ("honest", "spammers"):
        for method in (pairs.DRAWN, pairs.CHOSEN):
            found = [c for c in of(cases, "next", method) if c.crowd == crowd]
            values = [mean([c for c in found if c.size == str(n)], "tau") for n in pairs.REPORTED]
            rows.append([crowd, method, *map(plain, values)])
            gap = [mean([c for c in found if c.size == str(n)], "gap") for n in pairs.REPORTED]
            rows.append(["", "gap", *map(signed, gap)])
    return table(("crowd", "tau at labels", *map(str, pairs.REPORTED)), rows, words=2)


def label_table(cases: list[Case]) -> str:
    rows = []
    for kind in SETS:
        for method in ("multilabel", "majority of each"):
            found = [c for c in of(cases, "labels", method) if c.crowd == kind]
            rows.append([kind, method, plain(mean(found, "right")), signed(mean(found, "gap")),
                         plain(mean(found, "near")), signed(mean(found, "near_gap"))])  # fmt: skip
    return table(
        ("crowd", "method", "label right", "gap", "set right", "gap of sets"), rows, words=2
    )


def losses(cases: list[Case]) -> str:
    """Write where ours is behind a peer, or claims more than .03 too much or too little."""
    lines = []
    for part, ours, name in (("scale", scales.OURS, "right"), ("real", scales.OURS, "right"),
                             ("pairs", pairs.OURS, "tau")):  # fmt: skip
        for (crowd, size), found in sorted(cells(of(cases, part)).items()):
            by = {m: [c for c in found if c.method == m] for m in sorted({c.method for c in found})}
            means = {m: mean(some, name) for m, some in by.items() if m != "order test"}
            best = max(means, key=lambda m: means[m])
            loss = means[best] - means[ours]
            if loss > LEAST_LOSS:
                lines.append((loss, f"{crowd}, {size}: {best} has {plain(loss)} more {name}"))
    if not lines:
        return "No peer is ahead anywhere."
    worst = [f"- {line}" for _, line in sorted(lines, reverse=True)[:MOST_LOSSES]]
    if len(lines) > MOST_LOSSES:
        worst.append(f"\nThese are the worst of {len(lines)} cells.")
    return "\n".join(worst)


def claims(cases: list[Case]) -> str:
    rows = []
    for words, part, method, name in (
        ("step of a scale, simulated", "scale", scales.OURS, "gap"),
        ("within one step, simulated", "scale", scales.OURS, "near_gap"),
        ("step of a scale, recorded", "real", scales.OURS, "gap"),
        ("within one step, recorded", "real", scales.OURS, "near_gap"),
        ("order of a pair", "pairs", pairs.OURS, "gap"),
        ("a label", "labels", "multilabel", "gap"),
        ("a whole set", "labels", "multilabel", "near_gap"),
    ):
        found = of(cases, part, method)
        if found:
            rows.append([words, signed(mean(found, name)), worst(found, name)])
    return table(("claim", "mean gap", "worst cell"), rows, words={0, 2})


TABLES: dict[str, Callable[[list[Case]], str]] = {
    "claims": claims,
    "losses": losses,
    "scales": scale_means,
    "scale kinds": scale_kinds,
    "order": order_table,
    "recorded": real_table,
    "pairs": pair_table,
    "next": next_table,
    "labels": label_table,
}

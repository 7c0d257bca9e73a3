"""Figure and tables of the network study, from its CSV files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from benchmarks.networks.cases import CUTS, ONE, PAIRS, TEN, Case, number, simulate_one
from benchmarks.networks.methods import ENTRIES
from benchmarks.pages import fill_file, in_one_cell, table
from benchmarks.study import load
from grn_tvcs import Network
from grn_tvcs.report.layout import HEIGHT, WIDTH, draw

SHOWN = ("sn", "sp", "auc", "auroc", "aupr")  # ACC, F and MCC are in the rows
METHODS = [name for name, entry in ENTRIES.items() if len(entry.ways) > 3]
VARIANTS = ["tvcs", *(name for name in ENTRIES if name not in METHODS)]
PEER = "dyngenie3"
N_PAIRS = 870  # of 30 genes, as in the paper
TOLD = "tvcs-plain among linked pairs"
PAPER = {  # Table 1 of the paper: SN, SP and AUC, and who they are here
    "tvcs": ("Our Method", 0.6875, 0.7397, 0.7136),
    "genie3": ("GENIE3", 0.5611, 0.4984, 0.5662),
    "clr": ("CLR", 0.5167, 0.4476, 0.5210),
    "tigress": ("TIGRESS", 0.1333, 0.8302, 0.5567),
    "pcc": ("PCC", 0.5042, 0.4333, 0.5091),
    "aracne": ("ARACNE", 0.1167, 0.9127, 0.5808),
    "mrnet": ("MINET", 0.5764, 0.5381, 0.5910),
}


def write_docs(out: Path, docs: Path, seed: int) -> None:
    """Draw the study's network and fill the known tables of docs/studies/network-study.md."""
    page = docs / "studies" / "network-study.md"
    tables = {}
    files = sorted(out.glob("*.csv"), key=lambda path: (path.stem not in (ONE, TEN), path.stem))
    known = {path.stem: load(path, Case) for path in files}
    for design, pairs in ((ONE, "linked"), (TEN, "all")):
        if design in known:
            chosen = [case for case in known[design] if case.pairs == pairs]
            tables[f"{design} {pairs}"] = paper_table(chosen)
    if TEN in known:
        tables[f"{TEN} caps"] = caps_table(known[TEN])
    like = {name: cases for name, cases in known.items() if cases[0].n_pairs == N_PAIRS}
    tables |= {
        "paper": beside_the_paper(like),
        "areas": areas_table(known, METHODS),
        "ratios": ratios_table(known),
        "variants": areas_table(known, VARIANTS),
    }
    (docs / "figures" / "network-study.svg").write_text(
        drawing(simulate_one(seed).network), encoding="utf-8"
    )
    fill_file(page, tables)
    print(f"wrote {page}", flush=True)


def of(cases: Iterable[Case], key: Callable[[Case], object]) -> dict[object, list[Case]]:
    """The cases by what `key` says of them."""
    found: dict[object, list[Case]] = defaultdict(list)
    for case in cases:
        found[key(case)].append(case)
    return found


def mean(cases: list[Case], name: str) -> float:
    return float(np.mean([getattr(case, name) for case in cases]))


def spread(cases: list[Case], name: str) -> str:
    """Mean and deviation."""
    values = [getattr(case, name) for case in cases]
    deviation = np.std(values, ddof=1) if len(values) > 1 else 0.0
    return f"{np.mean(values):.3f} ± {deviation:.3f}"


def paper_table(cases: list[Case]) -> str:
    """Table 1 of the paper: every method in the cut by as many edges, or its own, or by caps."""
    by = of(cases, lambda case: (case.method, case.way))
    rows = [
        [method, way, *(spread(by[method, way], name) for name in SHOWN)]
        for way in ("top-n", "own", "2 per gene", "largest degrees")
        for method in METHODS
        if (method, way) in by and (way in ("top-n", "own") or method.startswith("tvcs"))
    ]
    return table(["method", "cut", *map(str.upper, SHOWN)], rows, words=2)


def beside_the_paper(known: dict[str, list[Case]]) -> str:
    """SN / SP / AUC of the paper's table beside ours on linked pairs."""
    rows = []
    for method, (name, *printed) in PAPER.items():
        area = "auc" if method == "tvcs" else "auroc"
        way = "own" if "own" in ENTRIES[method].ways else "top-n"
        row = [name, method, way, in_one_cell(printed)]
        for cases in known.values():
            by = of(cases, lambda case: (case.method, case.pairs, case.way))
            found = by.get((method, "linked", way))
            row.append(in_one_cell([mean(found, n) for n in ("sn", "sp", area)]) if found else "")
        rows.append(row)
    heads = ["in the paper", "here", "cut here", "the paper's", *known]
    return table(heads, rows, words=3)


def caps_table(cases: list[Case]) -> str:
    """AUC of the hard graph of every method under equal caps."""
    by = of(cases, lambda case: (case.method, case.pairs, case.way))
    ways = [way for way in CUTS if way != "own"]
    columns = [(pairs, way) for pairs in PAIRS for way in ways]
    heads = [f"{pairs}, {way}" for pairs, way in columns]
    rows = [
        [method, *(f"{mean(found, 'auc'):.3f}" if found else "" for found in cells)]
        for method in (*METHODS, TOLD)
        if any(cells := [by.get((method, *column)) for column in columns])
    ]
    return table(["method", *heads], rows)


def areas_table(known: dict[str, list[Case]], methods: Iterable[str]) -> str:
    """AUROC / AUPR / AUROC over linked pairs, by data set."""
    rows = []
    for method in methods:
        row = [method]
        for cases in known.values():
            by = of((c for c in cases if c.method == method), lambda case: case.pairs)
            figures = (("all", "auroc"), ("all", "aupr"), ("linked", "auroc"))
            row.append(in_one_cell([mean(by[p], name) for p, name in figures]) if by else "")
        if any(row[1:]):
            rows.append(row)
    return table(["method", *known], rows)


def ratios_table(known: dict[str, list[Case]]) -> str:
    """AUPR of the default beside that of dynGENIE3 in the same run, on the same data."""
    rows = []
    for design, cases in known.items():
        by = of((c for c in cases if c.pairs == "all" and c.way == "top-n"), lambda c: c.method)
        theirs = {(case.network, case.draw): case for case in by[PEER]}
        ours = [case for case in by["tvcs"] if (case.network, case.draw) in theirs]
        pairs = [(theirs[case.network, case.draw], case) for case in ours]
        halves = ["", ""]
        if design not in (ONE, TEN):
            halves = [_beside([p for p in pairs if number(p[0].network) % 2 == k]) for k in (1, 0)]
        chance = np.mean([case.n_edges / case.n_pairs for case in ours])
        won = sum(case.aupr > peer.aupr for peer, case in pairs)
        rows.append(
            [design, f"{chance:.3f}", _beside(pairs), *halves, f"{won} of {len(pairs)}"]
        )  # fmt: skip
    heads = ["data", "chance", "dynGENIE3, tvcs, ratio", "odd networks", "even networks"]
    return table([*heads, "tvcs ahead on"], rows)


def _beside(pairs: list[tuple[Case, Case]]) -> str:
    peer, ours = (mean(list(cases), "aupr") for cases in zip(*pairs, strict=True))
    return f"{peer:.3f}, {ours:.3f}, {ours / peer:.1f} x"


def drawing(network: Network) -> str:
    """The paper's Figure 5 of our network, as SVG."""
    dots, arrows = draw(network.edges(selected_only=True))
    colours = {"activates": "#0072b2", "represses": "#d55e00", "regulates": "#888888"}
    tips = {"represses": '<path d="M4 0V8" stroke-width="3" stroke="{}"/>'}
    arrow = '<path d="M0 0L8 4L0 8z" fill="{}"/>'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
        'font-family="sans-serif" font-size="12" role="img" aria-label="The network">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        "<defs>",
        *(
            f'<marker id="{kind}" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="5" '
            f'markerHeight="5" orient="auto">{tips.get(kind, arrow).format(colour)}</marker>'
            for kind, colour in colours.items()
        ),
        "</defs>",
        *(
            f'<path d="{a.path}" fill="none" stroke="{colours[a.kind]}" stroke-width="1.6" '
            f'marker-end="url(#{a.kind})"/>'
            for a in arrows
        ),
    ]
    for dot in dots:
        lines += [
            f'<circle cx="{dot.x}" cy="{dot.y}" r="{dot.radius:.1f}" stroke="#222222" '
            f'fill="{"#222222" if dot.is_regulator else "#ffffff"}"/>',
            f'<text x="{dot.x}" y="{dot.y + dot.radius + 13:.1f}" text-anchor="middle" '
            f'stroke="#ffffff" stroke-width="3" paint-order="stroke">{dot.name}</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"

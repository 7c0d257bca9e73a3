"""Figures and tables of the synthetic study, from its CSV files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.pages import fill
from benchmarks.resumable import load
from benchmarks.synthetic.cases import Case

Value = Callable[[Case], float]
VIEWS = ("tvcs", "overall", "rows", "columns")

STRONG = 5.0  # standard errors
LINES = {  # what is drawn: label, colour, dashes
    "tvcs starts": ("TVCS, all caps", "#000000", "-"),
    "tvcs gradmp": ("TVCS, GradMP from zero", "#000000", "--"),
    "overall starts": ("overall sparsity", "#0072b2", "-"),
    "rows starts": ("exclusive by rows", "#009e73", "-"),
    "columns starts": ("exclusive by columns", "#e69f00", "-"),
    "exclusive lasso (hindsight)": ("exclusive lasso (best strength)", "#cc79a7", "-"),
    "lasso (hindsight)": ("lasso (best strength)", "#d55e00", ":"),
    "ridge (hindsight)": ("ridge (best strength)", "#56b4e9", ":"),
    "oracle": ("oracle, starts at the truth", "#888888", "--"),
}


def curves(known: Iterable[Case], value: Value) -> dict[str, dict[int, np.ndarray]]:
    """Values of every method at every n, in the order of the repeats."""
    found: dict[str, dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for case in known:
        found[case.method][case.n][case.repeat] = value(case)
    return {
        method: {
            n: np.array([values[r] for r in sorted(values)]) for n, values in sorted(by_n.items())
        }
        for method, by_n in found.items()
    }


def recall(case: Case) -> float:
    return case.projected_recall


def recovered(case: Case) -> float:
    return float(case.is_recovered)


def wrong(case: Case) -> float:
    assert case.projected_error is not None
    return case.projected_error


def draw_figure(figure: int, known: list[Case]) -> Figure:
    """The two panels of Figure 2 or 3: means over the repeats, bands of one standard error."""
    panels: list[tuple[str, Value]] = [("selection recall", recall)]
    panels.append(("successful recovery rate", recovered) if figure == 2 else ("error", wrong))
    with mpl.rc_context({"font.size": 9, "svg.hashsalt": "tvcs", "axes.spines.top": False}):
        picture, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
        for axis, (name, value) in zip(axes, panels, strict=True):
            _draw(axis, curves(known, value))
            axis.set(xlabel="samples n", ylabel=name)
            axis.spines["right"].set_visible(False)
        handles, labels = axes[0].get_legend_handles_labels()
        picture.legend(handles[::-1], labels[::-1], loc="outside right center", frameon=False)
    return picture


def _draw(axis: Axes, lines: dict[str, dict[int, np.ndarray]]) -> None:
    for method in reversed(LINES):  # ours on top
        if method not in lines:
            continue
        label, colour, dashes = LINES[method]
        n = np.array(list(lines[method]))
        mean = np.array([v.mean() for v in lines[method].values()])
        error = np.array([v.std() / np.sqrt(v.size) for v in lines[method].values()])
        width = 2.2 if method.startswith("tvcs") else 1.3
        axis.plot(n, mean, dashes, color=colour, label=label, lw=width)
        axis.fill_between(n, mean - error, mean + error, color=colour, alpha=0.12, lw=0)


def table(lines: dict[str, dict[int, np.ndarray]], methods: Iterable[str], digits: int = 3) -> str:
    """Means as a Markdown table, one row per method, the best of a column in bold."""
    methods = [m for m in methods if m in lines]
    sizes = sorted({n for method in methods for n in lines[method]})
    rows = [["method", *(f"n = {n}" for n in sizes)], ["---"] + ["---:"] * len(sizes)]
    for method in methods:
        cells = [f"{v.mean():.{digits}f}" if v.size else "" for v in lines[method].values()]
        rows.append([method, *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def duels(
    lines: dict[str, dict[int, np.ndarray]], ours: str, rivals: Iterable[str], sign: int = 1
) -> str:
    """At every n the best rival, and by how much we differ from it, instance by instance."""
    rivals = [r for r in rivals if r in lines and r != ours]
    rows = [["n", ours, "best other", "of", "difference"], ["---:", "---:", "---:", "---", "---:"]]
    for n, values in lines[ours].items():
        best = max(rivals, key=lambda r: sign * lines[r][n].mean())
        gain = values - lines[best][n]
        error = gain.std(ddof=1) / np.sqrt(gain.size) if gain.size > 1 else 0.0
        other = lines[best][n].mean()
        difference = f"{gain.mean():+.3f} ± {error:.3f}"
        rows.append([str(n), f"{values.mean():.3f}", f"{other:.3f}", best, difference])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def raw_table(known: list[Case], methods: Iterable[str]) -> str:
    """Recall before the projection, with how many entries it took."""
    hits, sizes = curves(known, lambda c: c.recall), curves(known, lambda c: c.size)
    methods = [m for m in methods if m in hits]
    header = ["method", *(f"n = {n}" for n in hits[methods[0]])]
    rows = [header, ["---"] + ["---:"] * (len(header) - 1)]
    for method in methods:
        cells = [
            f"{hits[method][n].mean():.3f} ({sizes[method][n].mean():.0f})" for n in hits[method]
        ]
        rows.append([method, *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def write_docs(out: Path, docs: Path) -> None:
    """Draw both figures and fill the tables of docs/synthetic-study.md."""
    from benchmarks.synthetic.tables import tables

    page = docs / "synthetic-study.md"
    text = page.read_text(encoding="utf-8")
    (docs / "figures").mkdir(exist_ok=True)
    for figure in (2, 3):
        known = load(out / f"figure{figure}.csv", Case)
        picture = draw_figure(figure, known)
        path = docs / "figures" / f"synthetic-figure{figure}.svg"
        with mpl.rc_context({"svg.hashsalt": "tvcs"}):
            picture.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(picture)
        for name, content in tables(figure, known).items():
            text = fill(text, name, content)
    page.write_text(text, encoding="utf-8")
    print(f"wrote {page}", flush=True)

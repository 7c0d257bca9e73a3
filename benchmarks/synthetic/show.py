"""Figures of the synthetic study, and the forms of its tables, from its cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.pages import figure_style, standard_error, table
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
    with figure_style():
        picture, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
        for axis, (name, value) in zip(axes, panels, strict=True):
            _draw(axis, curves(known, value))
            axis.set(xlabel="samples n", ylabel=name)
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


def means_table(
    lines: dict[str, dict[int, np.ndarray]], methods: Iterable[str], digits: int = 3
) -> str:
    """Means as a Markdown table, one row per method, the best of a column in bold."""
    methods = [m for m in methods if m in lines]
    sizes = sorted({n for method in methods for n in lines[method]})
    rows = [
        [method, *(f"{v.mean():.{digits}f}" if v.size else "" for v in lines[method].values())]
        for method in methods
    ]
    return table(["method", *(f"n = {n}" for n in sizes)], rows)


def duels(
    lines: dict[str, dict[int, np.ndarray]], ours: str, rivals: Iterable[str], sign: int = 1
) -> str:
    """At every n the best rival, and by how much we differ from it, instance by instance."""
    rivals = [r for r in rivals if r in lines and r != ours]
    rows = []
    for n, values in lines[ours].items():
        best = max(rivals, key=lambda r: sign * lines[r][n].mean())
        gain = values - lines[best][n]
        other = lines[best][n].mean()
        difference = f"{gain.mean():+.3f} ± {standard_error(gain):.3f}"
        rows.append([str(n), f"{values.mean():.3f}", f"{other:.3f}", best, difference])
    return table(["n", ours, "best other", "of", "difference"], rows, words={3})

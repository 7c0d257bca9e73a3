"""What docs/studies/synthetic-study.md shows: its tables and figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.pages import fill_file, save
from benchmarks.study import load
from benchmarks.synthetic.cases import HINDSIGHT, Case
from benchmarks.synthetic.show import (
    STRONG,
    VIEWS,
    curves,
    draw_figure,
    duels,
    means_table,
    recall,
    recovered,
    wrong,
)

CHOSEN = ["exclusive lasso", "lasso", "ridge"]
OTHERS = [name for chosen in CHOSEN for name in (chosen, chosen + HINDSIGHT)] + ["omp", "abess"]
PAPER = ["exclusive lasso", "exclusive lasso" + HINDSIGHT]
SOLVERS = ("iht", "htp", "cosamp", "gradmp", "starts")
FEWER = [f"{view} {solver}" for view in VIEWS[1:] for solver in SOLVERS]
BEST = [f"{view} starts" for view in VIEWS]
OURS = [f"tvcs {solver}" for solver in SOLVERS if solver != "starts"]


def write_docs(out: Path, docs: Path) -> None:
    """Draw both figures and fill the tables of docs/studies/synthetic-study.md."""
    page = docs / "studies" / "synthetic-study.md"
    for figure in (2, 3):
        known = load(out / f"figure{figure}.csv", Case)
        save(draw_figure(figure, known), docs / "figures" / f"synthetic-figure{figure}.svg")
        fill_file(page, tables(figure, known))
    print(f"wrote {page}", flush=True)


def tables(figure: int, known: list[Case]) -> dict[str, str]:
    """The tables of a figure by the names that the page gives them."""
    found = figure_2(known) if figure == 2 else figure_3(known)
    return {f"{name}-{figure}": content for name, content in found.items()}


def figure_2(known: list[Case]) -> dict[str, str]:
    recalls, rates = curves(known, recall), curves(known, recovered)
    strong = [case for case in known if case.weakest > STRONG]
    return {
        "recall": means_table(recalls, [*BEST, *OURS, *OTHERS, "oracle"]),
        "recovery": means_table(rates, [*BEST, *PAPER, "lasso" + HINDSIGHT, "oracle"], digits=2),
        "strong": _strong(strong),
        "duels-all": duels(recalls, "tvcs starts", [*FEWER, *OTHERS]),
        "seconds": _seconds(known),
    }


def figure_3(known: list[Case]) -> dict[str, str]:
    recalls, errors = curves(known, recall), curves(known, wrong)
    return {
        "recall": means_table(recalls, [*BEST, *OURS, *OTHERS]),
        "error": means_table(errors, [*BEST, *OURS, *OTHERS]),
        "duels-all": duels(recalls, "tvcs starts", [*FEWER, *OTHERS]),
        "duels-plain": duels(recalls, "tvcs gradmp", [*FEWER, *PAPER]),
        "seconds": _seconds(known),
    }


def _strong(strong: list[Case]) -> str:
    """Recovery rate where the noise cannot hide a weight, and how many instances that is."""
    rates = curves(strong, recovered)
    text = means_table(rates, [BEST[0], *OURS, *PAPER, "lasso" + HINDSIGHT, "oracle"], digits=2)
    cells = " | ".join(str(values.size) for values in rates["oracle"].values())
    return f"{text}\n| *instances* | {cells} |"


def _seconds(known: list[Case]) -> str:
    lines = curves(known, lambda case: case.seconds)
    mean = {
        method: np.concatenate(list(by_n.values())).mean()
        for method, by_n in lines.items()
        if not method.endswith(HINDSIGHT) and method not in FEWER
    }
    return ", ".join(
        f"{method} {mean[method]:.2g}" for method in sorted(mean, key=mean.__getitem__)
    )

"""Draw the picture at the top of the README: `python docs/extensions/first_picture.py`.

A projection, a network and a plan, each computed while it is drawn. Needs the extra `plot`.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURE = Path(__file__).resolve().parents[1] / "figures" / "tvcs.png"
WIDTH, HEIGHT, DOTS = 9.6, 3.5, 100  # inches, and dots an inch
COLOURS = 64  # of the palette: half the bytes, and nothing that is seen
INK, ACCENT = "#22303c", "#c8452f"


def draw(path: Path) -> None:
    """Write the picture as PNG."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt
    from PIL import Image

    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, HEIGHT), layout="constrained")
    for ax, panel in zip(axes, (_projection, _network, _plan), strict=True):
        panel(ax)
        ax.title.set(color=INK, fontsize=10)
    with BytesIO() as drawn:
        figure.savefig(drawn, dpi=DOTS)
        Image.open(drawn).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    plt.close(figure)


def _projection(ax: Axes) -> None:
    """A matrix of gains, with the entries that the projection keeps marked."""
    from tvcs_core import TVCS, project

    V = np.random.default_rng(4).random((10, 12))
    kept = project(V, TVCS.matrix(V.shape, row_caps=2, col_caps=2, total=16)).support
    ax.imshow(V, cmap="Greys", vmin=0, vmax=1.6)
    rows, cols = np.nonzero(kept)
    ax.scatter(cols, rows, s=110, marker="s", facecolors="none", edgecolors=ACCENT, linewidths=1.8)
    ax.set(xticks=[], yticks=[])
    ax.set_title("Keep the best entries:\n2 a row, 2 a column, 16 in all")


def _network(ax: Axes) -> None:
    """The network of a data set that comes with the package."""
    from grn_tvcs import infer
    from grn_tvcs.datasets import network30

    network = infer(network30().expression, max_in_degree=4, max_edges=40, rng=0)
    network.plot(max_edges=40, ax=ax)
    ax.set_title("Gene network: few regulators a gene,\nfew targets a regulator")


def _plan(ax: Axes) -> None:
    """Who labels what, by a plan of the data set that comes with the package."""
    from crowd_tvcs import Plan, assign
    from crowd_tvcs.datasets import crowd40

    quality = crowd40().quality
    caps = {"max_workers_per_task": 3, "max_tasks_per_worker": 10, "budget": 300}
    found = assign(Plan(quality, **caps), "tvcs", rng=0)
    workers, tasks = found.assigned.workers, found.assigned.tasks
    ax.scatter(tasks, workers, s=9, color=ACCENT, linewidths=0)
    ax.set(xticks=[], yticks=[], xlabel="120 tasks", ylabel="40 workers")
    ax.set_title(f"Plan: 300 answers in budget,\nexpected accuracy {found.expected_accuracy:.1%}")


if __name__ == "__main__":
    draw(PICTURE)

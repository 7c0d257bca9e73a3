"""Run the notebooks and store in them what they show: text, tables and pictures.

    python -m benchmarks.notebooks [NAME...]

A notebook runs from top to bottom in one process, as `tests/test_notebooks.py` runs it, which
compares what is stored with what the code gives. Nothing of the machine is stored, no time and no
path. Beside a picture stands a hash of the numbers and words that are drawn, for the bytes of a
picture change with matplotlib and its fonts.
"""

from __future__ import annotations

import argparse
import ast
import base64
import contextlib
import hashlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from PIL import Image

from benchmarks.study import ROOT
from tvcs_core.files.folders import write_whole

FOLDER = ROOT / "notebooks"
DPI, COLOURS = 80, 128
SIZES = ("display.width", 100, "display.max_columns", 20, "display.max_rows", 60)


def main() -> int:
    names = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of notebooks; default: all")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.names) - set(names)):
        parser.error(f"NAME must be one of {', '.join(names)}, found {unknown[0]!r}")
    for name in arguments.names or names:
        store(FOLDER / f"{name}.ipynb")
        print(f"stored {name}", flush=True)
    return 0


def store(path: Path) -> None:
    """Run a notebook and write into it what it shows."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, shown) in enumerate(zip(code, shown_by(path), strict=True), start=1):
        cell["execution_count"], cell["outputs"] = number, shown
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    write_whole(path, lambda partial: partial.write_text(text, encoding="utf-8"))


def shown_by(path: Path, *, pictures: bool = True) -> Iterator[list[dict[str, Any]]]:
    """Run the cells of a notebook in its folder; yield the outputs of each, as Jupyter keeps them.

    Without `pictures` their outputs have all but the bytes, which take time to make.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    here = Path.cwd()
    with mpl.rc_context({"backend": "agg"}), pd.option_context(*SIZES):
        for number, cell in enumerate(code, start=1):
            printed = io.StringIO()
            os.chdir(path.parent)
            try:
                with contextlib.redirect_stdout(printed):
                    value = run("".join(cell["source"]), f"{path.name}, code cell {number}", names)
                yield list(outputs(printed.getvalue(), value, number, pictures))
            finally:
                plt.close("all")
                os.chdir(here)


def run(source: str, name: str, names: dict[str, Any]) -> object:
    """Run a cell as a notebook does; return the value of its last line."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), name, "eval"), names)


def outputs(printed: str, value: object, number: int, pictures: bool) -> Iterator[dict[str, Any]]:
    """What a cell printed and drew, and its value where that is no drawing of its own."""
    if printed:
        yield {"name": "stdout", "output_type": "stream", "text": lines(printed)}
    figures = [plt.figure(k) for k in plt.get_fignums()]
    if isinstance(value, Figure) and value not in figures:
        figures.append(value)
    for figure in figures:
        kept = {"drawn": drawn(figure)}  # first: a picture moves the ends of arrows
        data = {"image/png": png(figure)} if pictures else {}
        data["text/plain"] = [f"<Figure: {len(figure.axes)} axes>"]
        yield {"data": data, "metadata": kept, "output_type": "display_data"}
    if value is not None and not isinstance(value, Figure):
        data = {"text/plain": lines(repr(value))}
        if html := getattr(value, "_repr_html_", lambda: None)():
            data = {"text/html": lines(html), **data}
        yield {
            "data": data, "execution_count": number, "metadata": {},
            "output_type": "execute_result",
        }  # fmt: skip


def lines(text: str) -> list[str]:
    """Text as a notebook keeps it."""
    return text.splitlines(keepends=True)


def png(figure: Figure) -> str:
    """A small picture without the name of the program that made it."""
    raw, small = io.BytesIO(), io.BytesIO()
    figure.savefig(raw, format="png", dpi=DPI, bbox_inches="tight")
    Image.open(raw).convert("RGB").quantize(COLOURS).save(small, "png", optimize=True)
    return base64.b64encode(small.getvalue()).decode("ascii")


def drawn(figure: Figure) -> str:
    """Hash of the words of a figure and of the numbers it shows, to four digits."""
    shown: list[object] = []
    for axes in figure.axes:
        shown += [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
        shown += [text.get_text() for text in axes.texts]
        for artist in (*axes.lines, *axes.collections, *axes.patches, *axes.images):
            shown.append(artist.get_label())
            for part in points(artist):
                shown += [f"{x:.4g}" for x in np.ravel(np.ma.filled(part, np.nan)).tolist()]
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]


def points(artist: Artist) -> list[np.ndarray]:
    """Where an artist of a figure stands, in the units of its data."""
    if isinstance(artist, Line2D):
        return [artist.get_xydata()]
    if isinstance(artist, Patch):
        return [artist.get_patch_transform().transform(artist.get_path().vertices)]
    if isinstance(artist, AxesImage):
        return [artist.get_array(), np.array(artist.get_extent())]
    return [artist.get_offsets(), *(path.vertices for path in artist.get_paths())]


if __name__ == "__main__":
    sys.exit(main())

"""What a study writes into the docs: tables between the comments that name them, and figures."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def fill(page: str, name: str, content: str) -> str:
    """Replace what stands between ``<!-- table NAME -->`` and ``<!-- end -->`` in the text."""
    pattern = rf"(<!-- table {re.escape(name)} -->\n).*?(<!-- end -->)"
    filled, count = re.subn(pattern, lambda m: f"{m[1]}\n{content}\n\n{m[2]}", page, flags=re.S)
    if count != 1:
        raise ValueError(f"the page must have one place for the table {name}, found {count}")
    return filled


def fill_file(path: Path, tables: Mapping[str, str]) -> None:
    """Fill the tables of a page, by their names."""
    page = path.read_text(encoding="utf-8")
    for name, content in tables.items():
        page = fill(page, name, content)
    path.write_text(page, encoding="utf-8")


def table(
    names: Sequence[str], rows: Iterable[Sequence[str]], *, words: int | Collection[int] = 1
) -> str:
    """Write a Markdown table; the first `words` columns, or those of these places, hold words.

    The other columns hold numbers and stand on the right.
    """
    wordy = range(words) if isinstance(words, int) else words
    marks = ["---" if k in wordy else "---:" for k in range(len(names))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (names, marks, *rows))


def in_one_cell(values: Iterable[float]) -> str:
    """Write numbers below 1 into one cell, such as .718 / .093."""
    return " / ".join(f"{value:.3f}".removeprefix("0") for value in values)


def standard_error(values: Any) -> float:
    """Return the standard error of the mean, and 0 for one value, which says nothing of it."""
    found = np.asarray(values, dtype=float)
    return float(found.std(ddof=1) / np.sqrt(found.size)) if found.size > 1 else 0.0


def figure_style() -> AbstractContextManager[None]:
    """Draw as all figures of the docs are drawn: small letters, no frame above and on the right."""
    import matplotlib as mpl

    settings = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    return mpl.rc_context(settings)


def save(figure: Figure, path: Path) -> None:
    """Write a figure and forget it; the same figure gives the same bytes."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    path.parent.mkdir(exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "tvcs"}):
        figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def signed(value: float) -> str:
    """Write a difference, such as +.012."""
    return f"{value:+.3f}".replace("0.", ".", 1)


def plain(value: float) -> str:
    """Write a share, such as .914."""
    return f"{value:.3f}".removeprefix("0")

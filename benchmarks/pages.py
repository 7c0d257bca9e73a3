"""Tables that a study writes into a page of the docs, between the comments that name them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def fill(page: str, name: str, content: str) -> str:
    """Replace what stands between ``<!-- table NAME -->`` and ``<!-- end -->`` in the text."""
    pattern = rf"(<!-- table {re.escape(name)} -->\n).*?(<!-- end -->)"
    filled, count = re.subn(pattern, lambda m: f"{m[1]}\n{content}\n\n{m[2]}", page, flags=re.S)
    if count != 1:
        raise ValueError(f"the page must have one place for the table {name}, found {count}")
    return filled


def table(names: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1) -> str:
    """Write a Markdown table; the first `words` columns hold words, the others numbers."""
    marks = ["---"] * words + ["---:"] * (len(names) - words)
    return "\n".join(f"| {' | '.join(row)} |" for row in (names, marks, *rows))

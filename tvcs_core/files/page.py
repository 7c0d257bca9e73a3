"""Self-contained HTML pages, and the axes of their curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

WIDTH, HEIGHT = 920, 300  # pixels of a curve, with margins for the labels left and below
LEFT, BELOW, ABOVE, RIGHT = 64, 46, 14, 20  # pixels of the margins


def fill_page(package: str, template: str, **values: Any) -> str:
    """Fill a template of a package; it may extend one of this package, such as ``page.html.j2``.

    Values are escaped, lone surrogates of file names too. A value that the template uses and the
    caller does not give is an error.
    """
    page = str(_templates(package).get_template(template).render(**values))
    return page.encode(errors="backslashreplace").decode()


@cache
def _templates(package: str) -> Any:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("tvcs_core.files")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


@dataclass(frozen=True)
class Axes:
    """The axes of a curve: x from 0 to `last`, y from `low` to `high`; coordinates in pixels."""

    last: float
    low: float
    high: float
    width: int = WIDTH
    height: int = HEIGHT

    def across(self, x: float) -> float:
        """Return the horizontal coordinate of `x`, from the left."""
        return round(LEFT + (self.width - LEFT - RIGHT) * x / self.last, 1)

    def down(self, y: float) -> float:
        """Return the vertical coordinate of `y`, from the top."""
        room = self.height - ABOVE - BELOW
        return round(ABOVE + room * (self.high - y) / (self.high - self.low), 1)

    def drawn(
        self, lines: Iterable[tuple[float, str]], marks: Iterable[tuple[float, str]]
    ) -> dict[str, Any]:
        """Return the arguments of the macro `axes`: labelled horizontal lines and x marks."""
        return {
            "lines": [(self.down(y), label) for y, label in lines],
            "marks": [(self.across(x), label) for x, label in marks],
            "width": self.width,
            "height": self.height,
            "left": LEFT,
            "right": self.width - RIGHT,
            "bottom": self.height - BELOW,
        }


def round_numbers(low: float, high: float) -> Sequence[float]:
    """Return about five round numbers that cover `low` to `high`."""
    span = max(high - low, 1e-3)
    unit = 10.0 ** np.floor(np.log10(span / 5))
    step = next(unit * k for k in (1, 2, 5, 10) if span / (unit * k) <= 6)
    first, last = np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9)
    return [float(f"{step * k:.10g}") for k in np.arange(first, max(last, first + 1) + 1)]

"""The reliability diagram: what is claimed of known labels against what is reached, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowd_tvcs.skills.dependence import Claimed
from tvcs_core.files.page import Axes

TENTHS = tuple(k / 10 for k in range(0, 11, 2))


def diagram(found: Sequence[Claimed]) -> dict[str, Any]:
    """Return places in the picture; drawn by the macro of ``reliability.html.j2``.

    Every part of the labels, such as those of like confidence, is a dot with its interval; dots
    below the diagonal claim too much.
    """
    axes = Axes(1.0, 0.0, 1.0)
    dots = [
        {
            "x": axes.across(one.claimed),
            "y": axes.down(one.reached),
            "top": axes.down(one.high),
            "bottom": axes.down(one.low),
            "parts": one.parts,
            "words": f"{one.claimed:.3f} claimed, {one.reached:.3f} reached "
            f"({one.low:.3f} to {one.high:.3f}, {one.tasks} tasks)",
        }
        for one in found
    ]
    labels = [(value, f"{100 * value:.0f} %") for value in TENTHS]
    return axes.drawn(labels, labels) | {
        "dots": dots,
        "from": (axes.across(0.0), axes.down(0.0)),
        "to": (axes.across(1.0), axes.down(1.0)),
    }

"""Reliability diagram: accuracy of known labels against their mean confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowd_tvcs.skills.dependence import CalibrationBin
from tvcs_core.files.display import plural
from tvcs_core.files.page import Axes

TENTHS = tuple(k / 10 for k in range(0, 11, 2))


def diagram(found: Sequence[CalibrationBin]) -> dict[str, Any]:
    """Return positions in the picture; drawn by the macro of ``reliability.html.j2``.

    Every bin of labels, such as those of similar confidence, is a dot with its interval; dots below
    the diagonal are overconfident.
    """
    axes = Axes(1.0, 0.0, 1.0)
    dots = [
        {
            "x": axes.across(one.mean_confidence),
            "y": axes.down(one.accuracy),
            "top": axes.down(one.high),
            "bottom": axes.down(one.low),
            "is_miscalibrated": one.is_miscalibrated,
            "words": f"mean confidence {one.mean_confidence:.3f}, accuracy {one.accuracy:.3f} "
            f"({one.low:.3f} to {one.high:.3f}, {plural(one.tasks, 'task')})",
        }
        for one in found
    ]
    labels = [(value, f"{100 * value:.0f} %") for value in TENTHS]
    return axes.drawn(labels, labels) | {
        "dots": dots,
        "from": (axes.across(0.0), axes.down(0.0)),
        "to": (axes.across(1.0), axes.down(1.0)),
    }

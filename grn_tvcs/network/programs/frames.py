"""Edges as the data frames that decoupler and CellOracle take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grn_tvcs.network.edge import Edge

if TYPE_CHECKING:
    import pandas as pd

DECOUPLER = ("source", "target", "weight", "sign")
CELLORACLE = ("source", "target", "coef_mean", "coef_abs", "p", "-logp", "sign")


def decoupler_frame(edges: Sequence[Edge]) -> pd.DataFrame:
    """Return edges as a net of decoupler."""
    import pandas as pd

    rows = [(e.regulator, e.target, signed(e), e.sign) for e in edges]
    return pd.DataFrame(rows, columns=list(DECOUPLER))


def celloracle_frame(edges: Sequence[Edge]) -> pd.DataFrame:
    """Return edges as links of CellOracle; p-values are not known, so empty."""
    import pandas as pd

    rows = [(e.regulator, e.target, signed(e), e.score, None, None, e.sign) for e in edges]
    frame = pd.DataFrame(rows, columns=list(CELLORACLE))
    return frame.astype({"p": float, "-logp": float})


def signed(edge: Edge) -> float:
    """The score, below 0 if the edge represses; an unknown sign counts as activation."""
    return -edge.score if edge.sign == "-" else edge.score

"""The compendium of *B. subtilis* as it comes with the Inferelator: its samples and known edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from grn_tvcs import Expression


def read_compendium(folder: Path) -> tuple[Expression, pd.DataFrame]:
    """Read the series and the samples at rest of the genes with known edges.

    The second result says whether a regulator (column) is known to regulate a gene (row).
    """
    levels = pd.read_csv(folder / "expression.tsv.gz", sep="\t", index_col=0, lineterminator="\r")
    known = pd.read_csv(folder / "gold_standard.tsv.gz", sep="\t", index_col=0) != 0
    has_edge = {*known.columns[known.any()], *known.index[known.any(axis=1)]}
    levels = levels.loc[sorted(has_edge & {*levels.index})]
    meta = pd.read_csv(folder / "meta_data.tsv", sep="\t", index_col="condName")
    names, times, series = courses(meta)
    rest = meta.index[~meta.isTs & ~meta.index.duplicated()]
    expression = Expression(
        levels[names].to_numpy().T, np.array(times), tuple(series), tuple(levels.index),
        scale="log", steady_values=levels[list(rest)].to_numpy().T,
    ).in_name_order()  # fmt: skip
    return expression, known


def courses(meta: pd.DataFrame) -> tuple[list[str], list[float], list[str]]:
    """Return the samples of all courses, their minutes and the last sample of their course."""
    meta = meta[~meta.index.duplicated()]  # a sample that begins two series has two rows
    names, times, series = [], [], []
    for last in meta.index[meta.is1stLast == "l"]:
        course, ages = [last], [0.0]
        while isinstance(before := meta.prevCol[course[-1]], str):
            ages.append(ages[-1] + float(meta["del.t"][course[-1]]))
            course.append(before)
        names += course[::-1]
        times += [ages[-1] - age for age in ages[::-1]]
        series += [last] * len(course)
    return names, times, series

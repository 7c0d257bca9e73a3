"""An array of levels with names of its columns: read as a DataFrame of them would be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tvcs_core.arguments import array_of, items_of, names_of, refuse_masked

if TYPE_CHECKING:
    import pandas as pd

OF_ARRAYS = ("gene_names", "times", "series")
TIME, SERIES = "(time)", "(series)"  # columns made here, called as no gene is


def is_array(data: Any) -> bool:
    """Whether data are levels without names: an array, dense or sparse, or lists of numbers."""
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(row, list | tuple | np.ndarray) for row in data)
    return isinstance(data, np.ndarray) or sparse.issparse(data)


def as_frame(data: Any, words: Mapping[str, Any], name: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Make a DataFrame of an array, and the options with which it is read.

    Parameters
    ----------
    data
        Levels; (samples, genes).
    words
        `gene_names`, the names of the columns; perhaps `times`, numbers or texts such as 2h, NaN
        for a sample at rest, and `series`, a name for each sample; and options of reading.
    name
        The argument that `data` are.
    """
    import pandas as pd

    given = dict(words)
    names, times, series = (given.pop(name, None) for name in OF_ARRAYS)
    levels = array_of(name, data.toarray() if sparse.issparse(data) else data, np.float64)
    if levels.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, samples x genes, found {levels.shape}")
    if names is None:
        raise TypeError("an array has no names of genes: give gene_names=[...], one per column")
    genes = names_of("gene_names", names)
    if len(genes) != levels.shape[1]:
        turned = f"; give {name}.T if genes stand in rows" if len(genes) == len(levels) else ""
        raise ValueError(
            f"gene_names must name each of the {levels.shape[1]} columns, found {len(genes)} "
            f"names{turned}"
        )
    frame = pd.DataFrame(levels, columns=list(genes))
    if series is not None:
        frame.insert(0, SERIES, _each("series", names_of("series", series), len(levels)))
        given["series_column"] = SERIES
    if times is not None:
        refuse_masked("times", times)
        frame.insert(0, TIME, _each("times", items_of("times", times, "times"), len(levels)))
        given["time_column"] = TIME
    elif series is not None:
        raise TypeError("series are of samples with times: give times=[...] too")
    return frame, {"keep": genes, **given}


def _each(name: str, values: Any, n: int) -> Any:
    shape = np.shape(values)
    if shape != (n,):
        found = " x ".join(map(str, shape))
        raise ValueError(f"{name} must have one for each of the {n} samples, found {found}")
    return values

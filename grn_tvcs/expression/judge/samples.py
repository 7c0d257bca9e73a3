"""Which columns of a table with genes in rows are samples, and which samples are doubtful."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.judge import names as known
from grn_tvcs.expression.judge.names import Names
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core import DataError
from tvcs_core.arguments import option_words
from tvcs_core.files.display import joined

FEWEST_GENES = 20  # below which samples are unlike by chance
FEWEST_SAMPLES = 4
# Rank correlations with the other columns, in the median: most samples are above .8, lengths of
# genes beside them below .3. So are spores beside cells that grow, whose numbers are of the same
# size and form.
ALIKE, UNLIKE = 0.8, 0.3
OTHER_SIZE = 4.0  # times the median of every other column, or a part of it
MOST_LOOKED_AT = 2000  # genes


def samples_by_name(columns: Names) -> NDArray[np.bool_]:
    """Return the names that may be samples; annotation of genes is left out with a note."""
    is_of_genes = columns.match(known.ANNOTATION)
    if is_of_genes.any():
        is_of_genes |= columns.match(known.PLACES)
        gone = columns.at(is_of_genes)
        warn_user(
            f"{columns.path}: left out {joined(gone)}, which tell of the genes and are no samples; "
            f"if one is a sample, give {option_words({'keep': gone[0]})}"
        )
    return ~is_of_genes


def refuse_two_units(columns: Names) -> None:
    """Refuse counts and TPM, or intensities raw and normalised, side by side."""
    names = columns.names
    for pattern, star in ((known.UNIT_BEHIND, "*{0}"), (known.UNIT_BEFORE, "{0}*")):
        found = [(name, pattern.fullmatch(name)) for name in names]
        # The marks between belong to the pattern, so that raw and raw count are told apart.
        marks = {one[1]: _with_mark(one) for _, one in found if one is not None}
        others = [name for name, one in found if one is None]
        if len({unit.lower() for unit in marks}) < 2 or len(others) > len(names) / 2:
            continue
        remedies = [
            {"ignore": (*(star.format(marks[o]) for o in marks if o != unit), *others)}
            for unit in marks
        ]
        each = " or ".join(
            f"{option_words(way)} (which leaves {unit})"
            for way, unit in zip(remedies, marks, strict=True)
        )
        raise columns.error(
            f"must hold levels in one unit, but {joined(list(marks))} stand side by side: give "
            f"{each}",
            remedies,
        )


def _with_mark(found: re.Match[str]) -> str:
    """A unit with the mark between it and the name of the sample."""
    start, end = found.span(1)
    return found.string[start - 1 :] if start else found.string[: end + 1]


def refuse_unlike(columns: Names, values: NDArray[np.float64]) -> None:
    """Refuse columns whose numbers do not go with those of samples, as lengths of genes.

    Parameters
    ----------
    columns
        The names of the columns.
    values
        (genes, samples); NaN where one is missing.
    """
    n = len(columns.names)
    if n < FEWEST_SAMPLES or len(values) < FEWEST_GENES:
        return
    values = values[:: -(-len(values) // MOST_LOOKED_AT)]
    known_or_0 = np.nan_to_num(values)
    if not (np.ptp(known_or_0, axis=0) > 0).all():
        return
    ranks = np.argsort(np.argsort(known_or_0, axis=0), axis=0)
    likeness = np.corrcoef(ranks, rowvar=False)
    middle = np.nanmedian(np.where(np.eye(n, dtype=bool), np.nan, likeness), axis=1)
    odd = columns.at((middle < UNLIKE) & _of_another_form(values) & columns.is_free)
    if not odd or len(odd) > n / 4 + 1 or np.median(middle) < ALIKE:
        return
    remedies = {"ignore": tuple(odd)}, {"keep": tuple(odd)}
    none, samples = map(option_words, remedies)
    raise columns.error(
        f"every column must be a sample, but {joined(odd)} may be none, for its numbers rise "
        f"and fall with no other column's: give {none}, or if it is one {samples}",
        remedies,
    )


def _of_another_form(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which columns are whole where others are not, or of a size that no other column has."""
    is_whole = np.array([bool((column == np.round(column)).all()) for column in values.T])
    is_rare = is_whole if is_whole.mean() < 0.5 else ~is_whole
    middle = np.nanmedian(values, axis=0)
    found = is_rare.copy()
    for j in range(len(middle)):
        others = np.delete(middle, j)
        found[j] |= middle[j] > OTHER_SIZE * others.max() > 0
        found[j] |= 0 < OTHER_SIZE * abs(middle[j]) < others.min()
    return found


def refuse_relations(path: str, values: NDArray[np.float64]) -> None:
    """Refuse a symmetric matrix: it holds correlations or distances of genes, and no levels.

    Parameters
    ----------
    path
        The file.
    values
        (samples, genes); NaN where one is missing.
    """
    n = len(values)
    if n < FEWEST_SAMPLES or values.shape != (n, n) or np.ptp(np.nan_to_num(values)) == 0:
        return
    if np.allclose(values, values.T, equal_nan=True):
        raise DataError(
            f"must hold levels, but its {n} rows and columns are a symmetric matrix, as "
            "correlations, distances and edges are: give the table it was made from",
            path=path,
        )

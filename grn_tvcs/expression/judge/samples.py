"""Which columns of a table with genes in rows are samples, and which samples are doubtful."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.clock import hold_times
from grn_tvcs.expression.judge import names as known
from grn_tvcs.expression.options import may_read, option_words
from grn_tvcs.expression.warned import warn_user
from tvcs_core import DataError
from tvcs_core.files.display import joined

FEWEST_GENES = 20  # below which samples are unlike by chance
FEWEST_SAMPLES = 4
# Rank correlations with the other columns, in the median: most samples are above .8, lengths of
# genes beside them below .3. So are spores beside cells that grow, whose numbers are of the same
# size and form.
ALIKE, UNLIKE = 0.8, 0.3
OTHER_SIZE = 4.0  # times the median of every other column, or a part of it
MOST_LOOKED_AT = 2000  # genes
FEWEST_DIFFERENT = 10  # genes, below which samples are the same, or 0, by chance


def samples_by_name(path: str, names: Sequence[str], keep: Sequence[str] = ()) -> list[bool]:
    """Return the names that may be samples; annotation of genes is left out with a note."""
    kept = {name.lower() for name in keep}
    is_told = [
        name.lower() not in kept and known.ANNOTATION.fullmatch(name) is not None for name in names
    ]
    if any(is_told):
        is_told = [
            told or (name.lower() in known.PLACES and name.lower() not in kept)
            for name, told in zip(names, is_told, strict=True)
        ]
        told = [name for name, is_one in zip(names, is_told, strict=True) if is_one]
        warn_user(
            f"{path}: left out {joined(told)}, which tell of the genes and are no samples; if one "
            f"is a sample, give {option_words({'keep': told[0]})}"
        )
    return [not is_one for is_one in is_told]


def refuse_two_units(path: str, names: Sequence[str]) -> None:
    """Refuse counts and TPM, or intensities raw and normalised, side by side.

    Raises
    ------
    LayoutError
        With the options that leave one of them.
    """
    for pattern, star in ((known.UNIT_BEHIND, "*{0}"), (known.UNIT_BEFORE, "{0}*")):
        found = [pattern.fullmatch(name) for name in names]
        units = Counter(one[1] for one in found if one is not None)
        if len({unit.lower() for unit in units}) < 2 or sum(units.values()) < len(names) / 2:
            continue
        # The marks between belong to the pattern, so that raw and raw count are told apart.
        marks = {one[1]: _mark(one) for one in found if one is not None}
        others = [n for n, one in zip(names, found, strict=True) if one is None]
        ways = [
            {"ignore": (*(star.format(marks[o]) for o in units if o != unit), *others)}
            for unit in units
        ]
        each = " or ".join(
            f"{option_words(way)} (which leaves {unit})"
            for way, unit in zip(ways, units, strict=True)
        )
        raise may_read(
            DataError(
                f"must hold levels in one unit, but {joined(list(units))} stand side by side: give "
                f"{each}",
                path=path,
            ),
            *ways,
        )


def _mark(found: object) -> str:
    """A unit with the mark between it and the name of the sample."""
    start, end = found.span(1)  # type: ignore[attr-defined]
    text = str(found.string)  # type: ignore[attr-defined]
    return text[start - 1 :] if start else text[: end + 1]


def refuse_unlike(
    path: str, names: Sequence[str], values: NDArray[np.float64], keep: Sequence[str] = ()
) -> None:
    """Refuse columns whose numbers do not go with those of samples, as lengths of genes.

    Parameters
    ----------
    path, names, keep
        As for `samples_by_name`.
    values
        (genes, samples); NaN where one is missing.

    Raises
    ------
    LayoutError
        With the options for a sample and for none.
    """
    if len(names) < FEWEST_SAMPLES or len(values) < FEWEST_GENES:
        return
    step = -(-len(values) // MOST_LOOKED_AT)
    ranks = np.argsort(np.argsort(np.nan_to_num(values[::step]), axis=0), axis=0)
    varies = np.ptp(np.nan_to_num(values[::step]), axis=0) > 0
    if not varies.all():
        return
    of_form = _of_another_form(values[::step])
    likeness = np.corrcoef(ranks, rowvar=False)
    likeness = np.where(np.eye(len(names), dtype=bool), np.nan, likeness)
    middle = np.nanmedian(likeness, axis=1)
    kept = {name.lower() for name in keep}
    is_odd = (middle < UNLIKE) & of_form
    odd = [n for n, one in zip(names, is_odd, strict=True) if one and n.lower() not in kept]
    if not odd or len(odd) > len(names) / 4 + 1 or np.median(middle) < ALIKE:
        return
    ways = {"ignore": tuple(odd)}, {"keep": tuple(odd)}
    none, samples = map(option_words, ways)
    raise may_read(
        DataError(
            f"every column must be a sample, but {joined(odd)} may be none, for its numbers rise "
            f"and fall with no other column's: give {none}, or if it is one {samples}",
            path=path,
        ),
        *ways,
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


def warn_of_times(path: str, names: Sequence[str]) -> None:
    """Warn where all samples are in steady state, and their names hold times."""
    if hold_times(names):
        warn_user(
            f"{path}: names of samples seem to hold times ({joined(names[:3])}), but all "
            "samples are taken as in steady state; to have series, give --samples SHEET with "
            "columns sample, time and replicate"
        )


def warn_of_samples(path: str, values: NDArray[np.float64]) -> None:
    """Warn of samples that are 0 in every gene, and of samples that are there twice."""
    if not len(values) or values.shape[1] < FEWEST_DIFFERENT:
        return
    is_zero = ~values.any(axis=1) & bool((values >= 0).all())  # a ratio to the start is 0 there
    if is_zero.any() and not is_zero.all():
        places = [str(i + 1) for i in np.flatnonzero(is_zero)]
        warn_user(
            f"{path}: {len(places)} of {len(values)} samples are 0 in every gene, as failed ones "
            f"are, and are used all the same (sample {joined(places)}): remove them, or say why not"
        )
    # A digest of each sample: to sort the samples would take three copies of the table.
    digests = [sha256((row + 0.0).tobytes()).digest() for row in values if row.any()]
    n_same = len(digests) - len(set(digests))
    if n_same:
        were = "sample is" if n_same == 1 else "samples are"
        warn_user(
            f"{path}: {n_same} {were} the same as another in every gene: one measurement is there "
            "twice, and counts twice"
        )

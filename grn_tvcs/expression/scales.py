"""The scale of a table: levels, logarithms or counts, given by the user or guessed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grn_tvcs.expression.expression import SCALES, Expression
from grn_tvcs.expression.judge.cycles import are_like_cycles
from grn_tvcs.expression.missing_values import CYCLES, RISING
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core.arguments import check_choice, option_name, option_words

COUNTS = 50  # whole numbers with one above this look like counts
NORMALISED = 2.0  # levels divided by their largest, or by a control, stay below this ...
LOGARITHMS = 25.0  # ... and logarithms to base 2 of what machines measure below this
SHARE_OF_CHANGES = 0.25  # of negative values: half of the changes are, of logarithms only few
FEW_GENES = 100
FEWEST_COUNTED, SOME_ZEROS = 10, 0.05  # genes, and part of 0, that small counts of molecules have
SKEWED = 6.0  # the 99th percentile beside the median: above this few levels tower over many
LARGEST = {"log": 64.0, "levels": 1e15, "counts": 1e15}  # beyond what any machine measures
TOLD_BY = 2000  # cells, of which the first tell the scale of all
LEAST_RANGE = 1e-100  # of logarithms; the squares of less are no numbers any more
WHOLE = 0.25  # part of the lesser values that are whole numbers in expected counts, as of RSEM
OF_ONE_SIZE = 1e-12  # samples whose sizes differ by less have one size, up to rounding
# Genes, log ratio and factor by which logarithms must fit better, to be taken for logarithms.
FEWEST_AGREEING, AGREEING, MUCH_WORSE = 5, 0.3, 3.0
FEWEST_SAMPLES = 6  # of series; the medians of fewer say little of a level (two agreed by chance)
RARE, SLIGHT = 0.05, 0.05  # part of all values, and of the largest, that background leaves below 0

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Guess:
    """A guess of the scale.

    Attributes
    ----------
    scale
        One of `SCALES`.
    why
        The evidence.
    other
        Another scale that fits the values too; None without doubt.
    """

    scale: str
    why: str
    other: str | None = None


def guess_scale(values: Values) -> Guess:
    """Guess from the range of the values whether they are levels, logarithms or counts."""
    n_below = int((values < 0).sum())
    if n_below and not _is_background(values):
        return Guess("log", f"{n_below} of {values.size} values are negative")
    above = values[values > 0]
    largest = float(above.max(initial=0.0))
    span = f"they go from {values.min():g} to {largest:g}"
    if (values == np.rint(values)).all():
        if largest > COUNTS:
            why = "all are whole numbers, and large ones are among them"
            few = values.shape[1] < FEW_GENES
            also = f"; {values.shape[1]} genes are few to estimate its size factors" if few else ""
            return Guess("counts", why + also, "levels" if few else None)
        n_genes, zeros = values.shape[1], float((values == 0).mean())
        if n_genes >= FEWEST_COUNTED and zeros > SOME_ZEROS:
            why = (
                f"all are whole numbers, {span}, and {zeros:.0%} are 0, as counts of molecules are"
            )
            return Guess("counts", why, "levels" if n_genes < FEW_GENES else None)
        return Guess("levels", f"they are whole numbers, and {span}")
    if largest > LOGARITHMS and _are_expected(above):
        also = "many are whole numbers, as expected counts of RSEM and salmon are"
        return Guess("levels", f"{span}; {also}", "counts")
    if largest > LOGARITHMS:
        return Guess("levels", span)
    middle, high = np.percentile(above, (50, 99)) if above.size else (1.0, 1.0)
    if high > SKEWED * middle and largest != 1.0:  # levels divided by the largest have 1
        return Guess("levels", f"{span}, and few tower over many", "log")
    if largest <= NORMALISED:
        return Guess("levels", span)
    return Guess("log", f"no whole numbers, and {span}", "levels")


def counts_before_averaging(values: Any) -> tuple[str | None, str | None]:
    """Return scale and evidence of counts, whose means do not look like counts; else None twice.

    Parameters
    ----------
    values
        Cells or samples that are averaged, dense or sparse; (cells, genes).
    """
    stored = values.data if sparse.issparse(values) else np.asarray(values)
    if not (stored == np.rint(stored)).all():
        return None, None
    some = values[:TOLD_BY]
    guess = guess_scale(some.toarray() if sparse.issparse(some) else np.asarray(some))
    return ("counts", guess.why) if guess.scale == "counts" else (None, None)


def scale_of(expression: Expression) -> str:
    """Return the scale of an expression; a guess without a word if none is given."""
    return expression.scale or guess_scale(expression.levels).scale


def on_scale(expression: Expression, scale: str | None = None) -> Expression:
    """Return the expression with its scale: given here, given before, or guessed.

    Counts are divided by the size of their sample beside the median size. Levels just below 0,
    as a subtracted background leaves them, become 0, with a warning that names the lowest; so does
    a doubtful guess warn.

    Raises
    ------
    ValueError
        If `scale` is none of the three, or values that are given as levels or counts are negative
        by more than a background, or logarithms differ by next to nothing, or a guess leaves values
        that nobody measures, such as -999 for a missing one.
    """
    if scale is not None:
        check_choice("scale", scale, SCALES)
    values = expression.levels
    used, why = scale or expression.scale, None if scale else expression.guessed_from
    if used is None:
        guess = guess_scale(values)
        used, why = guess.scale, guess.why
        if used == "levels" and are_like_cycles(values):
            warn_user(
                f"values are taken as levels, for {why}; so do {CYCLES}: if they are such, {RISING}"
            )
        if guess.other is not None:
            warn_user(
                f"values are taken as {used}, for {why}; if they are {guess.other}, give "
                f"{option_words({'scale': guess.other})}"
            )
        _refuse_implausible(expression, used)
        _warn_of_mixture(expression)
    if scale == "log" and values.min() >= 0 and values.max() > LARGEST["log"]:
        warn_user(
            f"{option_name('scale')} is log, but values go up to {values.max():g}: logarithms lie "
            f"below {LARGEST['log']:g}, so these seem to be levels"
        )
    if used != "log" and (values < 0).any():
        values = _without_background(expression, used)
    if used == "counts":
        values = of_one_size(values)
    if used == "log" and 0 < (most := np.ptp(values, axis=0).max()) < LEAST_RANGE:
        raise ValueError(
            f"logarithms must differ by more than {LEAST_RANGE:g}, but no gene's do by more than "
            f"{most:.3g}; if the values are levels, give {option_words({'scale': 'levels'})}"
        )
    n = len(expression.times)
    unbinned = expression.unbinned
    if unbinned is not None and used != "log":
        unbinned = np.maximum(unbinned, 0.0)
        unbinned = of_one_size(unbinned) if used == "counts" else unbinned
    return replace(
        expression, values=values[:n], steady_values=values[n:], scale=used, guessed_from=why,
        unbinned=unbinned,
    )  # fmt: skip


def describe_scale(expression: Expression) -> str:
    """Describe the scale of an expression and the evidence for it."""
    taken = {
        "levels": "levels, taken on a log scale",
        "log": "logarithms, used as they are",
        "counts": "counts, divided by the size of their sample and taken on a log scale",
    }[expression.scale or "levels"]
    why = expression.guessed_from
    return taken if why is None else f"{taken} (guessed: {why})"


def scale_like(expression: Expression, levels: Values) -> Values:
    """Steady levels, (experiments, genes), as `on_scale` has left those of `expression`."""
    is_below = (levels < 0).any() and expression.scale != "log" and not _is_background(levels)
    if is_below or not are_of_one_unit(levels, expression.levels):
        remedy = "give logarithms of both or of neither"
        if is_below or (levels < 0).mean() > SHARE_OF_CHANGES:
            remedy = (
                "negative ones seem to be changes against the wild type: give the levels of which "
                "they were taken (of log2 changes: the level of the wild type times 2 ** change)"
            )
        raise ValueError(
            "steady states must be in the unit of the series, but their median is "
            f"{np.median(levels):g}, their lowest value {levels.min():g}, and the median of the "
            f"series {np.median(expression.levels):g}; {remedy}"
        )
    if expression.scale == "counts":
        return of_one_size(levels, float(np.median(expression.levels.sum(axis=1))))
    if expression.scale == "log":
        return levels
    if are_logarithms_of(levels, expression.levels):
        warn_user(
            "steady states look like logarithms of the unit of the series: their levels agree "
            "with these only where logarithms of the series are taken; give the levels themselves"
        )
    if (levels < 0).any():
        warn_user(
            f"{int((levels < 0).sum())} of {levels.size} values of steady states are below 0 and "
            f"taken as 0, the lowest {levels.min():g}"
        )
    return np.maximum(levels, 0.0)


def are_of_one_unit(one: Values, other: Values) -> bool:
    """Whether two tables may be in one unit: not where one alone looks like logarithms."""
    low, high = sorted((one, other), key=np.median)
    is_small = low.max(initial=0.0) <= LOGARITHMS and (low != np.rint(low)).any()
    return not (is_small and np.median(high) > LOGARITHMS)


def are_logarithms_of(levels: Values, others: Values) -> bool:
    """Whether the medians of genes agree with logarithms of the others, and not with themselves."""
    one, other = (np.median(np.maximum(some, 0.0), axis=0) for some in (levels, others))
    if one.size < FEWEST_AGREEING or len(others) < FEWEST_SAMPLES or not other.any():
        return False
    as_they_are = _disagreement(one, other)
    as_logs = min(_disagreement(one, np.log1p(other) / np.log(base)) for base in (2, np.e, 10))
    return as_logs < AGREEING and as_they_are > MUCH_WORSE * as_logs


def _disagreement(one: Values, other: Values) -> float:
    """Return the median over genes of the log ratio, of those that are not near 0."""
    near = 0.01 * max(one.max(), other.max())
    return float(np.median(np.abs(np.log((one + near) / (other + near)))))


def of_one_size(counts: Values, size_of_all: float | None = None) -> Values:
    """Counts as if every sample had one size, by default the median; those of nothing stay."""
    size = counts.sum(axis=1, keepdims=True)
    if not size.any():
        return counts
    usual = np.median(size[size > 0]) if size_of_all is None else size_of_all
    factor = np.where(size > 0, usual / np.where(size > 0, size, 1.0), 1.0)
    return counts * np.where(np.abs(factor - 1.0) < OF_ONE_SIZE, 1.0, factor)  # twice is as once


def log_levels(values: Values, log_offset: float, scale: str) -> Values:
    """``log(x / max + log_offset)`` by gene, or the values themselves if they are logarithms."""
    if scale == "log":
        return values
    largest = values.max(axis=0)
    return np.log(values / np.where(largest > 0, largest, 1.0) + log_offset)


def _are_expected(above: Values) -> bool:
    """Whether many of the lesser values are whole numbers, as no intensities and no TPM are."""
    low = above[above <= np.median(above)]
    return bool((low == np.rint(low)).mean() >= WHOLE)


def _is_background(values: Values) -> bool:
    """Whether the negative values are few and small, as after subtracting a background."""
    is_rare = (values < 0).sum() <= max(1.0, RARE * values.size)
    return bool(is_rare and -values.min() <= SLIGHT * values.max())


def _refuse_implausible(expression: Expression, scale: str) -> None:
    """Refuse markers of missing values, and levels of which a large background was subtracted."""
    values = expression.levels
    size = np.abs(values)
    if size.max(initial=0.0) <= LARGEST[scale]:
        return
    place = int(size.argmax())
    n = int((values == values.flat[place]).sum())
    limits, remedy = "levels and counts are at most 1e15", ""
    if scale == "log":
        limits = "logarithms and z-scores lie between -64 and 64, and levels are not below 0"
        remedy = "set levels that a subtracted background left below 0 to 0; "
    raise ValueError(
        f"{limits}, found {_place_of(expression, place)} ({n} such cells); if it marks a missing "
        f"value, leave the cell empty and give {option_words({'missing': 'interpolate'})}; {remedy}"
        f"if it is right, give {option_words({'scale': scale})}"
    )


def _warn_of_mixture(expression: Expression) -> None:
    """Warn of a series that seems to hold logarithms, or counts, beside another that does not."""
    of_series = {name: expression.values[rows] for name, rows in expression.pieces.items()}
    if len(of_series) < 2:
        return
    middle = {name: float(np.median(one)) for name, one in of_series.items()}
    whole = {name: float((one == np.rint(one)).mean()) for name, one in of_series.items()}
    low, high = min(middle, key=middle.__getitem__), max(middle, key=middle.__getitem__)
    broken, counted = min(whole, key=whole.__getitem__), max(whole, key=whole.__getitem__)
    if not are_of_one_unit(of_series[low], of_series[high]):
        one, other, what = low, high, "logarithms"
    elif whole[counted] == 1 and of_series[counted].max() > COUNTS and whole[broken] < WHOLE:
        one, other, what = counted, broken, "counts"
    else:
        return
    warn_user(
        f"series {one} seems to hold {what}, unlike series {other} (their medians are "
        f"{middle[one]:g} and {middle[other]:g}): give all series in one unit"
    )


def _place_of(expression: Expression, place: int) -> str:
    """Return the value at a place of the flat levels, its gene and its sample, as text."""
    values, n = expression.levels, len(expression.times)
    sample, gene = (int(k) for k in np.unravel_index(place, values.shape))
    at = (
        f"at time {expression.times[sample]:g} of series {expression.series[sample]}"
        if sample < n
        else f"in steady-state sample {sample - n + 1}"
    )
    return f"{values[sample, gene]:g} of gene {expression.genes[gene]} {at}"


def _without_background(expression: Expression, scale: str) -> Values:
    values = expression.levels
    where = _place_of(expression, int(values.argmin()))
    n_below = int((values < 0).sum())
    if scale == "counts" or not _is_background(values):
        raise ValueError(
            f"{scale} must be >= 0, but {n_below} of {values.size} values are not, the lowest "
            f"{where}; logarithms and z-scores are {option_words({'scale': 'log'})}"
        )
    warn_user(
        f"{n_below} of {values.size} values are just below 0 and taken as 0, the lowest {where}"
    )
    return np.maximum(values, 0.0)

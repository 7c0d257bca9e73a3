"""Which columns of a table are genes: by their names, otherwise by their numbers.

Columns that are certainly no genes are left out with a note. Doubtful ones are refused, with both
readings and the options that choose them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grn_tvcs.expression.clock import FEWEST_SAMPLES, read_times, rise_like_times
from grn_tvcs.expression.judge import names as known
from grn_tvcs.expression.judge.names import Names
from grn_tvcs.expression.user_warnings import warn_user
from tvcs_core import DataError
from tvcs_core.arguments import option_words
from tvcs_core.files.display import joined, plural, quoted

FEWEST_NAMED = 3  # samples, of a column that is called as times are
FEWEST_GENES = 8  # below which no column is unlike the others
MOST_LOOKED_AT = 64  # samples: decimals of more say the same
MOST_DECIMALS = 7  # that tell columns apart; computers write more
USUAL = 0.75  # part of the genes that one program wrote with the same decimals
AVERAGED = (2, 3, 4)  # rows of one gene that users average
LEAST_WHOLE = 10  # a logarithm is whole and larger by chance alone
FAR = 20.0  # times the upper quartile of genes, as totals are and few genes
FAR_ABOVE_ALL = 100.0  # times the second highest, as reads are beside counts and no gene
LOGARITHMS = 25.0  # to base 2, of what machines measure, stay below
ENOUGH = 2  # signs, of which each alone may be chance
# What a gene has as often in front as elsewhere.
_ANYWHERE = frozenset(("few values", "far above most genes", "a name with marks"))
CHANCE = 1e-3  # that any gene of the table has whole numbers alone
RARE = 0.05  # part of the names that have marks, where genes have none
# Words: mapping_rate, TSS.enrichment, Insert size, BindingDensity. Few genes are called so.
_WORDS = re.compile(
    r"[a-z]{2,}([_. ][a-z]{2,})+|.*[_. ][a-z]{4,}([_. ].*)?|.*[A-Za-z]{2,} [A-Za-z]{2,}.*"
    r"|([A-Z][a-z]{2,}){2,}"
)
_MARKS = re.compile(r"[\s_/()\[\]%']")
_UNIT = re.compile(
    r".*[\s_(\[]([numk]?g|[num]?l|[num]M|[ncmk]?m|bp|kb|nt|hr?s?|mins?|secs?|days?|weeks?|years?"
    r"|yrs?|C|K|gDW|pct|perc|units?|U|cells|g/L|mg/dL|ng/u[lL]|ng_u[lL]|mmHg|ppm|rpm)[)\]]?"
)
_TOTAL = re.compile(r"(grand[_. ]?)?totals?|sums?|all", re.IGNORECASE)
_MEAN = re.compile(r"(row[_. ]?)?(means?|averages?|avg)", re.IGNORECASE)
_FORMS_OF_MEANS = ("{}", "{}_mean", "{}.mean", "{} mean", "mean_{}", "mean.{}", "mean {}")
FEWEST_SPREADS = 2  # one pair of names may be two genes
_COUNT = re.compile(r"(sample[_. ]?)?(x|ids?|nos?|nr|num(ber)?|index|row)\.?|#|", re.IGNORECASE)

Flags = NDArray[np.bool_]
Values = NDArray[np.float64]


def genes_by_name(columns: Names, *, has_time: bool = False) -> Flags:
    """Return the columns that may be genes; controls and facts of samples are left out with a note.

    With `has_time` another column is the time, and no second one is.
    """
    is_control = columns.match(known.CONTROL)
    is_fact = np.array([known.is_of_samples(name) for name in columns.names], dtype=bool)
    is_fact = ((is_fact & columns.is_free) | columns.match(*[known.CLOCK] * has_time)) & ~is_control
    if is_control.any() and not is_control.all():
        controls = columns.at(is_control)
        warn_user(
            f"{columns.path}: left out {plural(len(controls), 'control probe')}, no genes: "
            f"{joined(controls)}"
        )
    else:
        is_control[:] = False
    _warn_of_facts(columns, is_fact, "tell of samples")
    return ~(is_control | is_fact)


def refuse_results(columns: Names) -> None:
    """Refuse columns of a test of genes: fold changes and p-values are no levels."""
    found = columns.at(columns.match(known.STATISTIC))
    if not found:
        return
    of_tests = columns.at(columns.match(known.STATISTIC, known.OF_TESTS))
    remedies: list[dict[str, Any]] = []
    what = "give the table of counts or levels, of which the test was made"
    if len(columns.names) - len(of_tests) > 2:
        remedies = [{"ignore": tuple(of_tests)}]
        what = f"give {option_words(remedies[0])}, if the other columns are levels; or {what}"
    raise columns.error(
        f"must hold expression, but {joined(found)} are results of a test of genes: {what}"
        f" (if they are genes, give {option_words({'keep': tuple(found)})})",
        remedies,
    )


def refuse_samples(samples: Names) -> None:
    """Refuse rows that are called as results of a test or as the times of a turned table."""
    if found := samples.at(samples.match(known.STATISTIC)):
        raise samples.error(
            f"must hold expression, but the rows {joined(found)} are results of a test of genes: "
            "give the table of counts or levels, of which the test was made (if they are samples, "
            "rename them)",
            (),
        )
    clocks = [name for name in samples.at(samples.match(known.CLOCK)) if read_times([name]) is None]
    if len(clocks) == 1:
        turn = {"genes_in_rows": True}
        raise samples.error(
            f"a sample is called {quoted(clocks[0])}, as times are: if genes stand in rows, give "
            f"{option_words(turn)}, else rename it",
            [turn],
        )


def refuse_spreads(columns: Names) -> None:
    """Refuse standard deviations beside the means they belong to: they are no levels."""
    names = {name.lower() for name in columns.names}
    spreads: dict[str, str] = {}  # the pattern that leaves out each
    for name in columns.at(columns.is_free):
        found = known.SPREAD.fullmatch(name)
        if found is None:
            continue
        stem = found["behind"] or found["before"]
        if any(form.format(stem.lower()) in names for form in _FORMS_OF_MEANS):
            spreads[name] = name.replace(stem, "*", 1)
    if len(spreads) < FEWEST_SPREADS:
        return
    remedy = {"ignore": tuple(dict.fromkeys(spreads.values()))}
    raise columns.error(
        f"must hold levels, but {joined(spreads)} are standard deviations or errors of others: "
        f"give {option_words(remedy)}",
        [remedy],
    )


def genes_by_numbers(columns: Names, values: Values) -> Flags:
    """Return which columns of numbers are genes; totals, counts of rows and replicates are none.

    Parameters
    ----------
    columns
        Their names.
    values
        Their numbers, NaN where one is missing; (samples, columns).

    Raises
    ------
    DataError
        If a column may be a gene or not, with the options for both.
    """
    is_gene = np.ones(len(columns.names), dtype=bool)
    for is_none, what in (
        (_replicates(columns.names, values), "number groups of samples"),
        (_counts(columns, values), "count the samples"),
        (_totals(columns.names, values), "are sums or means of the others"),
    ):
        is_none &= columns.is_free & is_gene
        if (is_gene & ~is_none).any():
            _warn_of_facts(columns, is_none, what)
            is_gene &= ~is_none
    _refuse_odd(columns, columns.at(is_gene), values[:, is_gene])
    return is_gene


def _warn_of_facts(columns: Names, is_fact: Flags, what: str) -> None:
    names = columns.at(is_fact)
    if not names:
        return
    one = option_words({"keep": names[0]})
    series = ""
    if what.startswith("number"):
        series = f", and if it tells series apart, {option_words({'series_column': names[0]})}"
    warn_user(
        f"{columns.path}: left out {joined(names)}, no genes but columns that {what}; if one is a "
        f"gene, give {one}{series}"
    )


def _replicates(names: Sequence[str], values: Values) -> Flags:
    """Return columns that are named like series and hold few whole numbers."""
    is_one = np.zeros(len(names), dtype=bool)
    for j, name in enumerate(names):
        if known.MAY_BE_SERIES.fullmatch(name):
            column = values[:, j]
            is_whole = bool((column == np.round(column)).all())
            is_one[j] = is_whole and 2 * np.unique(column).size <= column.size
    return is_one


def _counts(columns: Names, values: Values) -> Flags:
    """Return columns that count the samples: the first two, and others that are called so."""
    if len(values) < FEWEST_SAMPLES:
        return np.zeros(len(columns.names), dtype=bool)
    may_be = columns.match(_COUNT)
    may_be[:2] = True
    may_be[may_be] = [_is_count(column) for column in values.T[may_be]]
    return may_be & columns.is_free


def refuse_times(columns: Names, values: Values) -> None:
    """Refuse a first column that rises like a time, or a second one that counts, without times."""
    for j, name in enumerate(columns.names[:2]):
        column = values[:, j]
        fewest = FEWEST_NAMED if known.MAY_BE_TIME.fullmatch(name) else FEWEST_SAMPLES
        is_count = len(column) >= FEWEST_SAMPLES and _is_count(column)
        may_be_time = is_count or (not j and rise_like_times(column.tolist(), fewest))
        is_known = not columns.is_free[j] or (_COUNT.fullmatch(name) and _is_count(column))
        if may_be_time and not is_known:
            raise _may_be_time(columns, name, column)


def _is_count(column: Values) -> bool:
    return column[0] in (0, 1) and bool((np.diff(column) == 1).all())


def _may_be_time(columns: Names, name: str, column: Values) -> DataError:
    start = ", ".join(f"{value:g}" for value in column[:3])
    remedies: list[dict[str, Any]] = [
        {"time_column": name}, {"ignore": (name,)}, {"keep": (name,)}
    ]  # fmt: skip
    time, gone, gene = map(option_words, remedies)
    return columns.error(
        f"rises like a time ({start}, ...), and no column is called Time: give {time} if it is "
        f"one; {gone} if it counts the samples; {gene} if it is a gene",
        remedies,
        column=name,
    )


def _totals(names: Sequence[str], values: Values) -> Flags:
    """Return columns that are the sum of all others, or their mean and called so.

    One called total or mean is within 5 % of that of the others, where some were left out.
    """
    is_one = np.zeros(len(names), dtype=bool)
    if len(values) < 3 or len(names) < 4:
        return is_one
    total = np.nansum(values, axis=1)
    for j, name in enumerate(names):
        others = total - values[:, j]
        if is_mean := _MEAN.fullmatch(name) is not None:
            others /= len(names) - 1
        within = 0.05 if is_mean or _TOTAL.fullmatch(name) else 1e-9
        is_near = np.abs(others - values[:, j]) <= within * np.abs(others)
        is_one[j] = is_near.mean() >= 0.8 and np.ptp(values[:, j]) > 0
    return is_one


def _refuse_odd(columns: Names, names: list[str], values: Values) -> None:
    """Refuse numbers that no list names and that are unlike those of all genes."""
    signs = odd_signs(names, values)
    odd = {j: why for j, why in signs.items() if names[j].lower() not in columns.keep}
    if not odd or len(odd) > len(names) / 4 + 1:
        return
    which = tuple(names[j] for j in odd)
    remedies = {"ignore": which}, {"keep": which}
    none, genes = map(option_words, remedies)
    why = "; ".join(f"{quoted(names[j])}: {', '.join(signs)}" for j, signs in odd.items())
    raise columns.error(
        f"every column without a label must be a gene, but {len(odd)} of {len(names)} may be "
        f"none ({why}): give {none}, or if they are genes {genes}",
        remedies,
    )


def odd_signs(names: Sequence[str], values: Values) -> dict[int, list[str]]:
    """Return columns that may be no genes, and how they differ from the others.

    Parameters
    ----------
    names
        Of the columns.
    values
        (samples, columns).
    """
    n = len(names)
    if n < FEWEST_GENES or len(values) < FEWEST_SAMPLES:
        return {}
    values = values[:MOST_LOOKED_AT]
    varies = np.nanmin(values, axis=0) < np.nanmax(values, axis=0)
    found: dict[int, list[str]] = {j: [] for j in range(n)}
    weight = np.zeros(n)

    def sign(is_one: Flags, strength: int, why: str) -> None:
        for j in np.flatnonzero(is_one & varies):
            found[int(j)].append(why)
            weight[j] += strength

    sign(np.array([_WORDS.fullmatch(name) is not None for name in names]), 1, "a name of words")
    sign(np.array([_UNIT.fullmatch(name) is not None for name in names]), 1, "a name with a unit")
    has_marks = np.array([_MARKS.search(name) is not None for name in names])
    if has_marks.sum() <= max(1, RARE * n):
        sign(has_marks, 1, "a name with marks")
    _of_decimals(values, sign)
    n_values = np.array([np.unique(column[~np.isnan(column)]).size for column in values.T])
    is_few = n_values <= min(3, len(values) // 3)
    if is_few.mean() <= 1 - USUAL:
        has_zero = (values == 0).any(axis=0)
        sign(is_few & has_zero, 1, "few values")
        sign(is_few & ~has_zero, 1, "few values, none of them 0")
    middle = np.nanmedian(values, axis=0)
    upper = np.quantile(middle, USUAL)
    second = np.partition(middle, -2)[-2]  # all but the highest are below this
    if upper > 0:
        sign(middle > FAR * upper, 1, "far above most genes")
        sign(middle > FAR_ABOVE_ALL * second, ENOUGH, "far above every gene")
    if second < LOGARITHMS:
        sign(np.nanmin(values, axis=0) > LOGARITHMS, ENOUGH, "no logarithm as the others")
    by_form = np.array([not _ANYWHERE.issuperset(found[j]) for j in range(n)])
    weight[_at_edge(weight > 0) & by_form] += 1
    return {j: found[j] for j in range(n) if weight[j] >= ENOUGH}


def _of_decimals(values: Values, sign: Any) -> None:
    """Find columns with other decimals than most genes, which one program wrote.

    A column has more only where most of its cells do: means of probes stand in some cells alone.
    """
    n = values.shape[1]
    decimals, of_most = np.full((2, n), MOST_DECIMALS)  # of all cells of a column, of most of them
    for d in range(MOST_DECIMALS)[::-1]:
        with np.errstate(invalid="ignore"):
            is_round = np.isclose(np.round(values, d), values, rtol=1e-12, atol=1e-9)
        share = (is_round | np.isnan(values)).mean(axis=0)
        decimals[share == 1] = d
        of_most[share >= USUAL] = d
    usual, n_usual = Counter(of_most.tolist()).most_common(1)[0]
    if n_usual < USUAL * n:
        return
    # Programs that write so many digits in all give large numbers fewer decimals.
    least = np.nanmin(np.where(values == 0, np.nan, np.abs(values)), axis=0, initial=np.inf)
    digits = np.floor(np.log10(np.where(np.isfinite(least), least, 1.0)))
    more = digits - np.median(digits)
    is_by_size = (decimals < usual) & (usual - decimals <= more)
    is_by_size |= (decimals > usual) & (decimals - usual <= -more)
    with np.errstate(invalid="ignore"):
        is_mostly_part = (values != np.round(values)).mean(axis=0) >= 0.5
    if usual == 0:
        is_part = (decimals > 0) & is_mostly_part
        is_part &= ~_are_means(values, is_part, usual)
        sign(is_part, ENOUGH, "fractions beside whole numbers")
        return
    decimals = np.where(of_most > usual, of_most, np.minimum(decimals, usual))
    # By chance a gene has the last of so many decimals 0 in all samples.
    is_chance = (decimals < usual) & (n * 10.0 ** (-(usual - decimals) * len(values)) > CHANCE)
    n_values = np.array([np.unique(column).size for column in values.T])
    is_whole = (decimals == 0) & (np.nanmax(values, axis=0) >= LEAST_WHOLE) & (n_values > 3)
    sign(is_whole & ~is_chance, ENOUGH, "whole numbers beside fractions")
    # So do logarithms of small counts: log2(1 + 1) is 1.
    is_small = (n_values <= 3) & (np.nanmax(values, axis=0) < LEAST_WHOLE)
    is_other = (decimals != usual) & ~is_small & ~is_whole & ~is_chance & ~is_by_size
    is_other &= ~_are_means(values, is_other & (decimals > usual), usual)
    sign(is_other, 1, "other decimals")


def _are_means(values: Values, some: Flags, usual: int) -> Flags:
    """Return which of some columns are means of a few values with the usual number of decimals.

    The rows of a gene that stood there several times are averaged so.
    """
    found = np.zeros(values.shape[1], dtype=bool)
    for j in np.flatnonzero(some):
        column = values[~np.isnan(values[:, j]), j]
        for k in AVERAGED:
            sums = column * k
            found[j] |= np.allclose(np.round(sums, usual), sums, rtol=1e-12, atol=1e-9)
    return found


def _at_edge(is_one: Flags) -> Flags:
    """Which columns stand in a run of such from the first on, or up to the last."""
    from_left = np.cumprod(is_one).astype(bool)
    from_right = np.cumprod(is_one[::-1]).astype(bool)[::-1]
    return np.asarray(from_left | from_right)

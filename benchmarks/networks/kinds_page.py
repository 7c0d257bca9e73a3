"""Tables of docs/studies/network-kinds.md, from the rows of the study of kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.networks.cases import number
from benchmarks.networks.kinds_data import (
    ABOVE,
    BOTH,
    COLUMN,
    COMPENDIUM,
    GIVEN,
    OUT,
    REST,
    SERIES,
    SURE,
    WITH_REST,
    Case,
    Null,
)
from benchmarks.pages import fill, in_one_cell, standard_error, table
from grn_tvcs.network.confidence import BINS
from grn_tvcs.simulation.kinds import KINDS

DEFAULT = "combined"
BEFORE, BEFORE_STEADY = "tvcs", "genie3"  # what was the default before
MARGIN = 0.02
DIFFERENCE = ("difference", "standard error", "beyond chance")
SURELY = 0.95  # part of the intervals of mean differences that hold what they estimate
HUB_POOR = 3.0  # networks of a concentration below have no hubs
MORE = ((SERIES, COLUMN), (SERIES, OUT), (SERIES, WITH_REST), (COLUMN, BOTH), (OUT, BOTH))
MOST_SHOWN, MOST_IN_BINS = 12, 2  # least honest kinds in tables
Rows = dict[str, list[Case]]  # of one kind of data, by method
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Beside:
    """The default beside another method on one kind of data, AUPR on the same networks."""

    kind: str
    given: str
    other: str
    ours: Array
    theirs: Array

    @property
    def gain(self) -> float:
        return float(np.mean(self.ours - self.theirs))

    @property
    def is_surely_less(self) -> bool:
        return is_surely_less(self.ours - self.theirs)


def page_of(cases: list[Case], nulls: list[Null], page: str) -> str:
    """The page with its tables."""
    kinds = by_kind(cases)
    default = DEFAULT if any(DEFAULT in rows for rows in kinds.values()) else ""
    with_confidence = [case for case in cases if case.confidence]
    parts: dict[str, Callable[[], str]] = {
        "lose": lambda: lose_table(kinds, default),
        "before": lambda: before_table(kinds, default),
        "more": lambda: more_table(kinds, default),
        "kinds": lambda: kinds_table(kinds, default),
        "cost": lambda: cost_table(cases),
        "calibration": lambda: calibration_table(with_confidence),
        "reliability": lambda: reliability_table(with_confidence),
        "nulls": lambda: nulls_table(nulls),
        "groups": lambda: groups_table(kinds),
    }
    for name, part in parts.items():
        page = fill(page, name, part())
    return page


def by_kind(cases: Iterable[Case]) -> dict[tuple[str, str], Rows]:
    """Rows by kind and what was given, then by method, in the order of the file."""
    found: dict[tuple[str, str], Rows] = {}
    for case in cases:
        rows = found.setdefault((case.kind, case.given), {})
        rows.setdefault(case.method, []).append(case)
    return found


def mean(cases: list[Case], name: str) -> float:
    return float(np.mean([getattr(case, name) for case in cases]))


def beside(kind: tuple[str, str], rows: Rows, default: str, other: str) -> Beside | None:
    """Compare on a kind, if both methods have all networks of the default."""
    found = in_pairs(rows.get(default, []), rows.get(other, []))
    if not len(found) or len(found) < len(rows[default]):
        return None
    return Beside(*kind, other, *found.T)


def in_pairs(some: list[Case], others: list[Case]) -> Array:
    """AUPR of both on the networks that both have; (networks, 2)."""
    theirs = {case.network: case.aupr for case in others}
    found = [(case.aupr, theirs[case.network]) for case in some if case.network in theirs]
    return np.array(found).reshape(-1, 2)


def is_surely_less(differences: Array) -> bool:
    """Whether the mean is below 0 beyond chance: by Student's t, and never by one network."""
    from scipy.stats import t

    if differences.size < 2:
        return False
    width = t.ppf((1 + SURELY) / 2, differences.size - 1) * standard_error(differences)
    return bool(differences.mean() + width < 0)


def lose_table(kinds: dict[tuple[str, str], Rows], default: str) -> str:
    """Kinds where the best other method is ahead by more than `MARGIN`, worst first."""
    best = []
    for kind, rows in kinds.items():
        found = [beside(kind, rows, default, other) for other in rows if other != default]
        if known := [one for one in found if one is not None]:
            best.append(min(known, key=lambda one: one.gain))
    lost = [one for one in best if one.gain < -MARGIN]
    refused = sum(default not in rows for rows in kinds.values())
    return _said(
        f"`{default}` is below the best other method by more than {MARGIN:g} on {len(lost)} of "
        f"{len(best)} kinds of data{_how_surely(lost)}; it has no answer on {refused} more.",
        lost, default, "best other",
    )  # fmt: skip


def before_table(kinds: dict[tuple[str, str], Rows], default: str) -> str:
    """Kinds where the method that was the default before is ahead, worst first."""
    found = [
        beside(kind, rows, default, BEFORE_STEADY if kind[1] == REST else BEFORE)
        for kind, rows in kinds.items()
    ]
    known = [one for one in found if one is not None and one.other != default]
    lost = [one for one in known if one.gain < 0]
    far = [one for one in lost if one.gain < -MARGIN]
    return _said(
        f"`{default}` is below what the default was before on {len(lost)} of {len(known)} kinds "
        f"of data{_how_surely(lost)}. It is by more than {MARGIN:g} on {len(far)}"
        f"{_how_surely(far)}. {sum(one.ours.size == 1 for one in known)} of the {len(known)} "
        "kinds rest on one network, which decides nothing in either direction.",
        lost, default, "before",
    )  # fmt: skip


def _how_surely(lost: list[Beside]) -> str:
    """How many of the lost kinds are lost beyond chance, and how many have one network."""
    if not lost:
        return ""
    surely = sum(one.is_surely_less for one in lost)
    alone = sum(one.ours.size == 1 for one in lost)
    return f" ({surely} beyond chance, {alone} on one network alone)"


def more_table(kinds: dict[tuple[str, str], Rows], default: str) -> str:
    """Kinds of data where the default finds less when it is given more, worst first."""
    lines, n = [], 0
    for (kind, less), rows in kinds.items():
        for more in (more for base, more in MORE if base == less):
            with_more = kinds.get((kind, more), {}).get(default, [])
            if len(pairs := in_pairs(rows.get(default, []), with_more)):
                n += 1
                change, means = pairs[:, 1] - pairs[:, 0], pairs.mean(axis=0)
                cells = [kind, less, more, str(len(pairs)), *map(_short, means)]
                if change.mean() < 0:
                    lines.append((change.mean(), [*cells, *_difference(change)]))
    surely = sum(cells[-1] == "yes" for _, cells in lines)
    sentence = (
        f"`{default}` finds less with more evidence in {len(lines)} of {n} cases, in {surely} of "
        "them beyond chance."
    )
    if not lines:
        return sentence
    rows = [cells for _, cells in sorted(lines)]
    heads = ["data", "given", "given more", "networks", "AUPR", "with more", *DIFFERENCE]
    return f"{sentence}\n\n{table(heads, rows, words=3)}"


def _difference(differences: Array) -> list[str]:
    """Cells of `DIFFERENCE`."""
    if differences.size < 2:
        return [f"{differences.mean():+.3f}", "", "not known"]
    error = standard_error(differences)
    is_less = "yes" if is_surely_less(differences) else "no"
    return [f"{differences.mean():+.3f}", f"{error:.3f}", is_less]


def _said(sentence: str, lost: list[Beside], default: str, other: str) -> str:
    if not lost:
        return sentence
    rows = [
        [
            one.kind, one.given, one.other, str(one.ours.size),
            *(_short(of.mean()) for of in (one.ours, one.theirs)),
            *_difference(one.ours - one.theirs),
            f"{(one.ours > one.theirs).sum()} of {one.ours.size}",
        ]
        for one in sorted(lost, key=lambda one: one.gain)
    ]  # fmt: skip
    heads = [
        "data", "given", other, "networks", default, "the other", *DIFFERENCE,
        f"{default} ahead on",
    ]  # fmt: skip
    return f"{sentence}\n\n{table(heads, rows, words=3)}"


def kinds_table(kinds: dict[tuple[str, str], Rows], default: str) -> str:
    """AUPR of the default / of the best other method, by data and by what was given."""
    cells: dict[str, dict[str, str]] = {}
    facts: dict[str, tuple[str, str]] = {}
    for (kind, given), rows in kinds.items():
        some = max(rows.values(), key=len)
        facts.setdefault(kind, (str(len(some)), f"{mean(some, 'concentration'):.1f}"))
        cells.setdefault(kind, {})[given] = _beside_the_best(rows, default)
    shown = [given for given in GIVEN if any(given in of for of in cells.values())]
    lines = [[k, *facts[k], *(cells[k].get(given, "") for given in shown)] for k in cells]
    return table(["data", "networks", "concentration", *shown], lines)


def _beside_the_best(rows: Rows, default: str) -> str:
    """Compare on the networks that both methods have; the best other has most of them."""
    pairs = [in_pairs(rows.get(default, []), rows[other]) for other in rows if other != default]
    known = [found for found in pairs if len(found)]
    if not known:
        return ""
    ours, theirs = max(known, key=lambda found: (len(found), found[:, 1].mean())).mean(axis=0)
    best = f"**{_short(ours)}**" if ours > theirs else _short(ours)
    return f"{best} / {_short(theirs)}"


def _methods(kinds: dict[tuple[str, str], Rows]) -> list[str]:
    """All methods of the rows, those of most kinds of data first where an order is missing."""
    longest = sorted(kinds.values(), key=len, reverse=True)
    return list(dict.fromkeys(method for rows in longest for method in rows))


def cost_table(cases: list[Case]) -> str:
    """Seconds of the processor by number of genes, and which trees stood for forests."""
    methods = _methods(by_kind(cases))
    lines = []
    for genes in sorted({case.genes for case in cases}):
        cells = []
        for method in methods:
            mine = [case for case in cases if (case.genes, case.method) == (genes, method)]
            seconds = [case.seconds for case in mine]
            how = " ".join(sorted({case.how for case in mine} - {""}))
            note = f" ({how.split()[0]})" if how else ""
            cells.append(f"{np.median(seconds):.2g}, {max(seconds):.2g}{note}" if mine else "")
        lines.append([str(genes), *cells])
    return table(["genes", *methods], lines)


def pooled(cases: Iterable[Case]) -> dict[int, tuple[int, float, float]]:
    """Pairs, mean probability and share of true ones in each bin, over networks."""
    sums: dict[int, np.ndarray] = {}
    for case in cases:
        for cell in case.bins.split():
            place, *figures = cell.split(":")
            n, claimed, true = map(float, figures)
            more = np.array([n, n * claimed, n * true])
            sums[int(place)] = sums.get(int(place), np.zeros(3)) + more
    return {k: (int(n), claimed / n, true / n) for k, (n, claimed, true) in sorted(sums.items())}


def error_of(bins: dict[int, tuple[int, float, float]]) -> float:
    """Mean probability less the share of true pairs, over pairs; NaN without any."""
    n = sum(count for count, _, _ in bins.values())
    gap = sum(count * abs(claimed - true) for count, claimed, true in bins.values())
    return gap / n if n else float("nan")


def _by_honesty(cases: list[Case]) -> list[tuple[tuple[str, str, str], list[Case]]]:
    """Rows with the kind, what was given and the method; the least honest first."""
    found: dict[tuple[str, str, str], list[Case]] = {}
    for case in cases:
        found.setdefault((case.kind, case.given, case.method), []).append(case)

    def badness(rows: list[Case]) -> float:
        return -float(np.nan_to_num(error_of(pooled(rows)), nan=-1.0))

    return sorted(found.items(), key=lambda item: badness(item[1]))


def calibration_table(cases: list[Case]) -> str:
    """Calibration error, supported edges and the true ones among them, least honest first."""
    if not cases:
        return "No method of this run has a confidence."
    lines, errors = [], []
    for words, rows in _by_honesty(cases):
        bins = pooled(rows)
        if not bins:
            continue
        n, error = sum(count for count, _, _ in bins.values()), error_of(bins)
        errors.append(error)
        given = sum(case.confidence == "yes" for case in rows)
        sums = [sum(getattr(c, name) for c in rows) for name in ("supported", "expected", "found")]
        lines.append(
            [*words, f"{given} of {len(rows)}", str(n), _short(error),
             *(f"{value:.0f}" for value in sums)]
        )  # fmt: skip
    heads = [
        "data", "given", "method", "has a confidence", f"pairs above {ABOVE:g}", "error",
        "supported", "should be true", "are true",
    ]  # fmt: skip
    if not errors:
        return "Calibration error: not known."
    of = f"; these are the least honest of {len(errors)} kinds" if errors[MOST_SHOWN:] else ""
    error = f"{np.mean(errors):.3f} on the mean of kinds, {errors[0]:.3f} on the worst{of}"
    return f"Calibration error: {error}.\n\n{table(heads, lines[:MOST_SHOWN], words=3)}"


def reliability_table(cases: list[Case]) -> str:
    """Mean probability / share of true pairs (pairs) in each bin, of all and the least honest."""
    kinds = [(words, rows) for words, rows in _by_honesty(cases) if pooled(rows)]
    if not kinds:
        return "No confidence was given."
    lines = []
    for words, rows in [(("all", "", ""), cases), *kinds[:MOST_IN_BINS]]:
        bins = pooled(rows)
        cells = [_reliability(*bins[k]) if k in bins else "" for k in range(BINS)]
        lines.append([*words, *cells])
    ends = np.linspace(ABOVE, 1.0, BINS + 1)[1:]
    heads = ["data", "given", "method", *(f"to {end:.2f}" for end in ends)]
    return table(heads, lines, words=3)


def _reliability(n: int, claimed: float, true: float) -> str:
    return f"{in_one_cell([claimed, true])} ({n})"


def nulls_table(nulls: list[Null]) -> str:
    """The largest confidence where nothing is true, by kind of null and design; worst first."""
    if not nulls:
        return "No method of this run has a confidence."
    found: dict[tuple[str, str, str], list[Null]] = {}
    for row in nulls:
        found.setdefault((row.kind, row.size, row.method), []).append(row)

    def largest(rows: list[Null]) -> float:
        return max((row.largest for row in rows if row.largest is not None), default=-1.0)

    lines = []
    for words, rows in sorted(found.items(), key=lambda item: -largest(item[1])):
        given = sum(row.confidence == "yes" for row in rows)
        above = [row.above for row in rows]
        shown = _short(largest(rows)) if given else ""
        counts = f"{sum(n > 0 for n in above)} of {len(rows)}", str(sum(above))
        lines.append([*words, f"{given} of {len(rows)}", shown, *counts])
    heads = [
        "null", "design", "method", "has a confidence", "largest",
        f"tables with one above {SURE:g}", f"pairs above {SURE:g}",
    ]  # fmt: skip
    return table(heads, lines, words=3)


def groups_table(kinds: dict[tuple[str, str], Rows]) -> str:
    """Mean AUPR over kinds of data, by what could have been chosen on them."""
    methods = _methods(kinds)
    groups: dict[str, dict[tuple[str, str], Rows]] = {}
    for kind, rows in kinds.items():
        for method, cases in rows.items():
            for case in cases:
                of_group = groups.setdefault(_group(case), {})
                of_group.setdefault(kind, {}).setdefault(method, []).append(case)
    lines = []
    for group, of_group in sorted(groups.items()):
        cells = [
            _short(np.mean([mean(rows[method], "aupr") for rows in of_group.values()]))
            if all(method in rows for rows in of_group.values())
            else ""
            for method in methods
        ]
        lines.append([group, str(len(of_group)), *cells])
    return table(["networks", "kinds of data", *methods], lines)


def _group(case: Case) -> str:
    if case.kind.startswith(COMPENDIUM):
        return "B. subtilis" if case.network == "whole" else "parts of B. subtilis"
    experiments = ", with knock-outs" if case.given in (OUT, BOTH) else ""
    if case.kind.split(",")[0] not in KINDS:
        return f"folders, {'odd' if number(case.network) % 2 else 'even'} networks{experiments}"
    if case.given == REST:
        return "our simulator, steady state"
    few = "below" if case.concentration < HUB_POOR else "from"
    return f"our simulator, concentration {few} {HUB_POOR:g}{experiments}"


def _short(value: float) -> str:
    return in_one_cell([value])

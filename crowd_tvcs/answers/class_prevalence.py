"""Class prevalence by the gold, as the prior of a label before any answer.

The prevalence of a class is (gold tasks of it + s) / (gold tasks + s K), with K classes and s =
`STRENGTH` (additive smoothing). It is valid if gold is a random sample of the tasks. For gold that
was selected, such as equally many tasks of each class, a prior must be given.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.answers.columns import Column, find, open_table, rows_by_name
from crowd_tvcs.answers.rows import read_shares
from crowd_tvcs.arrays import Floats, Integers
from tvcs_core.arguments import option_name
from tvcs_core.files.display import joined, plural, quoted, unquoted
from tvcs_core.files.tables import is_number

STRENGTH = 5.0  # gold tasks added to each class; chosen on six public sets (docs/answers.md)
COLUMNS = ("label", "gold", "share")
MAX_SHOWN = 10  # classes in a message
EQUAL = "equal"


def class_counts(labels: Mapping[str, str], classes: Sequence[str]) -> Integers:
    """Return the number of gold labels, by task, of each of `classes`; others are not counted."""
    known = list(labels.values())
    return np.array([known.count(name) for name in classes], dtype=np.int64)


def class_prevalence(counts: ArrayLike) -> Floats:
    """Return the prevalence of every class from its number of gold tasks; each above 0.

    Examples
    --------
    >>> class_prevalence([60, 100]).round(3).tolist()
    [0.382, 0.618]
    """
    smoothed = np.asarray(counts, dtype=np.float64) + STRENGTH
    return smoothed / smoothed.sum()


def describe_prevalence(classes: Sequence[str], counts: ArrayLike) -> str:
    """Describe the class prevalence, the largest first, with the number of gold tasks."""
    n_gold = int(np.asarray(counts).sum())
    prevalence = format_prevalence(classes, class_prevalence(counts))
    return f"class prevalence from gold: {prevalence} ({plural(n_gold, 'gold task')})"


def format_prevalence(classes: Sequence[str], shares: ArrayLike) -> str:
    """Format each class with its prevalence, the largest first."""
    pairs = zip(classes, np.asarray(shares, dtype=np.float64).tolist(), strict=True)
    order = sorted(pairs, key=lambda pair: -pair[1])
    words = [
        f"{unquoted(name)} " + f"{share:.2f}".removeprefix("0") for name, share in order[:MAX_SHOWN]
    ]
    more = len(order) - MAX_SHOWN
    return ", ".join(words) + (f" and {more} more" if more > 0 else "")


def rows(classes: Sequence[str], counts: Integers) -> list[tuple[str, int, float]]:
    """Return the rows of `COLUMNS` for a file."""
    return list(zip(classes, counts.tolist(), class_prevalence(counts).tolist(), strict=True))


def read_prevalence(path: str | Path) -> dict[str, float]:
    """Read `label` and `share` of a table, as `crowd-tvcs quality` writes it, in its order."""
    table = open_table(path)
    hint = "; crowd-tvcs quality writes it"
    label, share = find(table, [Column("label"), Column("share")], hint)
    values = read_shares(table, [share], "a share")[:, 0].tolist()
    out = {name: values[r - 1] for name, r in rows_by_name(table, label, checked=False).items()}
    if abs(sum(out.values()) - 1.0) > 1e-6:
        raise table.error(f"the shares must add up to 1, they add up to {sum(out.values()):.6g}")
    return out


def read_prior(given: str | None, classes: Sequence[str]) -> list[float] | None:
    """Read the option --prior: ``A=P,B=P,...``, ``equal``, or a file of `read_prevalence`.

    Returns one probability per class, or None without the option.

    Raises
    ------
    ValueError
        If it does not name every class once.
    """
    if given is None:
        return None
    if given == EQUAL:
        return [1.0 / len(classes)] * len(classes)
    is_file = Path(given).is_file()
    chance_of = read_prevalence(given) if is_file else _parse_prior(given)
    if set(chance_of) != set(classes):
        raise ValueError(
            f"--prior must name every class once: {', '.join(classes)}; found {given!r}"
            + (f" with {', '.join(chance_of)}" if is_file else "")
        )
    return [chance_of[name] for name in classes]


def warn_unused_classes(used: Collection[str], gold: Mapping[str, str]) -> list[str]:
    """Warn of every class of a gold task that no answer has; `used` are the labels of answers."""
    out = []
    for name in sorted(set(gold.values()) - set(used)):
        tasks = sorted(task for task, label in gold.items() if label == name)
        whose = f"only gold task {tasks[0]!r} has" if len(tasks) == 1 else (
            f"{len(tasks)} gold tasks ({joined(tasks, quoted)}) have"
        )  # fmt: skip
        out.append(
            f"warning: {whose} the label {name!r}, which no answer has; it counts as a class. If "
            f"that is a mistake, mend it, or name the labels with {option_name('classes')}"
        )
    return out


def warn_single_class(gold: Mapping[str, str], classes: Collection[str]) -> list[str]:
    """Warn of gold that has one class only, if there are others."""
    known = set(gold.values())
    if len(known) > 1 or len(set(classes)) < 2:
        return []
    whose = "the only gold task has" if len(gold) == 1 else f"all {len(gold)} gold tasks have"
    return [
        f"warning: {whose} the label {known.pop()!r}, so errors on other "
        "classes cannot be estimated: qualities, class prevalence and confidences hold for this "
        "class alone. Give gold of every class"
    ]


def _parse_prior(given: str) -> dict[str, float]:
    out: dict[str, float] = {}
    for word in given.split(","):
        name, equals, number = word.rpartition("=")
        if not equals or not is_number(number):
            raise ValueError(f"--prior must hold CLASS=CHANCE, as in A=.3,B=.7; found {word!r}")
        if name.strip() in out:
            raise ValueError(f"--prior must name every class once, found {given!r}")
        out[name.strip()] = float(number)
    return out

"""Class shares: how frequent each class is, by the gold, for what is believed before any answer.

The share of a class is (gold tasks of it + s) / (gold tasks + s K), with K classes and s =
`STRENGTH`: as if every class had s gold tasks more. That takes gold to be a random sample of the
tasks; of gold that was picked, such as the same number of each class, the shares say nothing, and
a prior must be given.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowd_tvcs.answers.columns import Column, find, open_table, rows_by_name
from tvcs_core.files.shown import listed, plain
from tvcs_core.files.shown import shown as quoted
from tvcs_core.files.spreadsheet import shield

STRENGTH = 5.0  # gold tasks added to each class; chosen on six public sets (docs/answers.md)
COLUMNS = ("label", "gold", "share")
MOST_SHOWN = 10
EQUAL = "equal"

Floats = NDArray[np.float64]


def class_counts(labels: Mapping[str, str], classes: Sequence[str]) -> NDArray[np.int64]:
    """How many of the gold labels, by task, are each of `classes`; others are not counted."""
    known = list(labels.values())
    return np.array([known.count(name) for name in classes], dtype=np.int64)


def class_shares(counts: ArrayLike, strength: float = STRENGTH) -> Floats:
    """Share of every class, given how many gold tasks are of it; each above 0.

    Examples
    --------
    >>> class_shares([60, 100]).round(3).tolist()
    [0.382, 0.618]
    """
    smoothed = np.asarray(counts, dtype=np.float64) + strength
    out: Floats = smoothed / smoothed.sum()
    return out


def said(classes: Sequence[str], counts: ArrayLike) -> str:
    """Describe the shares, the largest first, and from how many gold tasks they are."""
    n_gold = int(np.asarray(counts).sum())
    return f"class shares from gold: {shown(classes, class_shares(counts))} ({n_gold} gold tasks)"


def shown(classes: Sequence[str], shares: ArrayLike) -> str:
    """Format each class with its share, the largest first."""
    pairs = zip(classes, np.asarray(shares, dtype=np.float64).tolist(), strict=True)
    order = sorted(pairs, key=lambda pair: -pair[1])
    words = [
        f"{plain(name)} " + f"{share:.2f}".removeprefix("0") for name, share in order[:MOST_SHOWN]
    ]
    more = len(order) - MOST_SHOWN
    return ", ".join(words) + (f" and {more} more" if more > 0 else "")


def rows(classes: Sequence[str], counts: NDArray[np.int64]) -> list[tuple[str, int, float]]:
    """Return the rows of `COLUMNS` for a file."""
    names = map(shield, classes)
    return list(zip(names, counts.tolist(), class_shares(counts).tolist(), strict=True))


def read_shares(path: str | Path) -> dict[str, float]:
    """Read `label` and `share` of a table, as `crowd-tvcs quality` writes it, in its order.

    Raises
    ------
    DataError
        If a column is missing, a label is there twice, or the shares are none.
    """
    table = open_table(path)
    hint = "; crowd-tvcs quality writes it"
    label, share = find(table, [Column("label"), Column("share")], hint)
    values = table.numbers(1, [share])[:, 0].tolist()
    out = {name: values[r - 1] for name, r in rows_by_name(table, label, judged=False).items()}
    for r, value in enumerate(values, start=1):
        if not 0.0 <= value <= 1.0:
            found = plain(table.rows[r][share])
            raise table.error(f"must be a share in [0, 1], found {found}", r, share)
    if abs(sum(out.values()) - 1.0) > 1e-6:
        raise table.error(f"the shares must add up to 1, they add up to {sum(out.values()):.6g}")
    return out


def read_prior(given: str | None, classes: Sequence[str]) -> list[float] | None:
    """Read the option --prior: ``A=P,B=P,...``, ``equal``, or a file of `read_shares`.

    Returns one chance per class, or None where nothing is given.

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
    chance_of = read_shares(given) if is_file else _named(given)
    if set(chance_of) != set(classes):
        raise ValueError(
            f"--prior must name every class once: {', '.join(classes)}; found {given!r}"
            + (f" with {', '.join(chance_of)}" if is_file else "")
        )
    return [chance_of[name] for name in classes]


def odd_classes(used: Collection[str], gold: Mapping[str, str]) -> list[str]:
    """Warn of every class that a gold task has and no answer, of which `used` are the labels."""
    out = []
    for name in sorted(set(gold.values()) - set(used)):
        tasks = sorted(task for task, label in gold.items() if label == name)
        whose = f"only gold task {tasks[0]!r} has" if len(tasks) == 1 else (
            f"{len(tasks)} gold tasks ({listed(tasks, quoted)}) have"
        )  # fmt: skip
        out.append(
            f"warning: {whose} the label {name!r}, which no answer has; it counts as a class. If "
            "that is a mistake, mend it, or name the labels with --classes"
        )
    return out


def lone_class(gold: Mapping[str, str], classes: Collection[str]) -> list[str]:
    """Warn of gold that is all of one class, where there are others."""
    known = set(gold.values())
    if len(known) > 1 or len(set(classes)) < 2:
        return []
    return [
        f"warning: all {len(gold)} gold tasks have the label {known.pop()!r}: of answers to tasks "
        "of other classes nothing is known, so qualities, class shares and confidences are of this "
        "one. Give gold of every class"
    ]


def _named(given: str) -> dict[str, float]:
    out: dict[str, float] = {}
    for word in given.split(","):
        name, _, number = word.rpartition("=")
        try:
            chance = float(number)
        except ValueError:
            raise ValueError(f"--prior must hold CLASS=CHANCE, found {word!r}") from None
        if name.strip() in out:
            raise ValueError(f"--prior must name every class once, found {given!r}")
        out[name.strip()] = chance
    return out

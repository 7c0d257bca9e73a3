"""Tables of docs/studies/crowd-without-gold.md, from `benchmarks.without_gold.study`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.pages import fill_file, plain, signed, table
from benchmarks.without_gold.cases import LEFT_OUT, NONE, OURS, Case, Cases

LEAST_LOSS = 0.005  # of right labels, that counts as one
WORDS = {0: "all", 3: "three"}


def write_docs(cases: list[Case], docs: Path) -> None:
    """Fill the tables of crowd-without-gold.md."""
    page = docs / "studies" / "crowd-without-gold.md"
    of = {(c.data, c.gold, c.method, c.labels): c for c in cases}
    fill_file(
        page,
        {
            "losses": losses(of),
            **{f"right {word}": right(of, labels) for labels, word in WORDS.items()},
            "means": means(of),
            "claims": claims(of),
            "gold": gold_table(of),
            "one percent": one_percent(of),
            "shares": shares_table(of),
        },
    )


def sets(of: Cases) -> list[str]:
    return sorted({data for data, *_ in of})


def without_gold(of: Cases) -> list[str]:
    """Methods without gold that were computed on all sets: ours first, then peers."""
    found = {method for _, gold, method, _ in of if gold == 0.0}
    keys = {m: {(data, 0.0, m, labels) for data in sets(of) for labels in WORDS} for m in found}
    whole = {method for method in found if keys[method] <= of.keys()}
    first = [m for m in (OURS, LEFT_OUT, "majority") if m in whole]
    return first + sorted(whole - set(first))


def losses(of: Cases) -> str:
    """Write where ours is behind, worst first."""
    found = []
    for data in sets(of):
        for labels, word in WORDS.items():
            peers = [m for m in without_gold(of) if m not in (OURS, LEFT_OUT)]
            best = max((of[data, 0.0, m, labels] for m in peers), key=lambda case: case.right)
            for method in (OURS, LEFT_OUT):
                ours = of.get((data, 0.0, method, labels), best)
                if best.right - ours.right > LEAST_LOSS:
                    words = f"{data}, {word} labels, {method}: {best.method}"
                    found.append((best.right - ours.right, words))
    if not found:
        return f"Ours is behind no other method by more than {plain(LEAST_LOSS)} on any set."
    lines = [f"- {words} has {plain(loss)} more right" for loss, words in sorted(found)[::-1]]
    return "\n".join(lines)


def right(of: Cases, labels: int) -> str:
    methods = without_gold(of)
    rows = [[data, *(plain(of[data, 0.0, m, labels].right) for m in methods)] for data in sets(of)]
    mean = [np.mean([of[data, 0.0, m, labels].right for data in sets(of)]) for m in methods]
    return table(["set", *methods], [*rows, ["mean", *(plain(float(x)) for x in mean)]])


def means(of: Cases) -> str:
    """Write right labels, log score and gaps of every method."""
    rows = []
    for labels, word in WORDS.items():
        for method in without_gold(of):
            rows.append([word, method, *summary(of, 0.0, method, labels)])
    return table(["labels", "method", *SUMMARY], rows, words=2)


SUMMARY = ("right", "log score", "mean gap", "largest gap")


def summary(of: Cases, gold: float, method: str, labels: int) -> list[str]:
    cases = [of[data, gold, method, labels] for data in sets(of)]
    gaps = [abs(case.gap) for case in cases]
    reached, gap = float(np.mean([case.right for case in cases])), float(np.mean(gaps))
    score = float(np.mean([case.log_score for case in cases]))
    return [plain(reached), f"{score:.3f}", plain(gap), plain(max(gaps))]


def claims(of: Cases) -> str:
    """Write what is claimed without gold, the largest gap first."""
    rows = []
    for labels, word in WORDS.items():
        for data in sets(of):
            case, other = of[data, 0.0, OURS, labels], of.get((data, 0.0, LEFT_OUT, labels))
            left_out = "" if other is None else signed(other.gap)
            found = "" if case.sure_right is None else plain(case.sure_right)
            cells = [plain(case.claimed), plain(case.right), signed(case.gap), left_out]
            rows.append((abs(case.gap), [data, word, *cells, plain(case.sure), found]))
    names = [
        "set",
        "labels",
        "claimed",
        "right",
        "gap",
        "gap, left out",
        "called .9",
        "right of them",
    ]
    ordered: Sequence[list[str]] = [cells for _, cells in sorted(rows, key=lambda row: -row[0])]
    return table(names, ordered, words=2)


def gold_table(of: Cases) -> str:
    shares = sorted({gold for _, gold, *_ in of if gold})
    rows = []
    for labels, word in WORDS.items():
        rows.append([word, "none", OURS, *summary(of, 0.0, OURS, labels)])
        for gold in shares:
            for method in ("gold", "blend", LEFT_OUT):
                rows.append([word, f"{gold:.0%}", method, *summary(of, gold, method, labels)])
    return table(["labels", "gold", "method", *SUMMARY], rows, words=3)


def shares_table(of: Cases) -> str:
    """Write how often the interval of the share of right labels holds it, and its width."""
    rows = []
    for gold in sorted({gold for _, gold, *_ in of if gold}):
        found = [of[data, gold, "blend", 0] for data in sets(of)]
        found = [case for case in found if case.held is not None]
        if not found:
            continue
        rows_of = np.array([(c.held, c.width, c.of_gold) for c in found], dtype=np.float64)
        held, width, alone = rows_of.mean(axis=0).tolist()
        cells = [f"{gold:.0%}", str(len(found)), f"{held:.2f}", plain(width), plain(alone)]
        rows.append([*cells, f"{(alone / width) ** 2:.2f}"])
    names = [
        "gold",
        "sets",
        "holds",
        "width",
        "by gold alone",
        "worth gold tasks, times",
    ]
    return table(names, rows)


def one_percent(of: Cases) -> str:
    """Write what 1 % gold adds to none, the largest loss first."""
    rows = []
    for labels, word in WORDS.items():
        for data in sets(of):
            none, alone, both = (
                of[data, 0.01, method, labels] for method in (NONE, "gold", "blend")
            )
            ahead = both.right - none.right
            cells = [plain(none.right), plain(alone.right), plain(both.right), signed(ahead)]
            rows.append((ahead, [data, word, *cells, signed(none.gap), signed(both.gap)]))
    names = ["set", "labels", "none", "gold", "blend", "blend - none", "gap, none", "gap, blend"]
    return table(names, [cells for _, cells in sorted(rows, key=lambda row: row[0])], words=2)

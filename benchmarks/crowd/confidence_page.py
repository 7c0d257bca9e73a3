"""Tables of docs/studies/crowd-confidence.md, from the cases of `benchmarks.crowd.confidence`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.crowd.cases import (
    ASKED,
    GOLD,
    LABELS,
    LEFT_OUT,
    MODELS,
    RIVALS,
    Claim,
    Labels,
    Policy,
)
from benchmarks.pages import fill_file, plain, signed, table
from crowd_tvcs.routing.outcomes import NO_LIMIT

OURS, BAYES = MODELS
LEAST_LOSS = 0.003  # of accuracy, that counts as one
MOST_GAP = 0.03
WANTED = {  # accuracy with three labels per task
    "rte": 0.925, "dog": 0.825, "web": 0.94, "d_sentiment": 0.957, "face": 0.66, "adult": 0.762,
}  # fmt: skip

Claims = dict[tuple[str, float, str, str, int], Claim]


def write_docs(
    claims: list[Claim], labels: list[Labels], policies: list[Policy], docs: Path
) -> None:
    """Fill the tables of crowd-confidence.md."""
    page = docs / "studies" / "crowd-confidence.md"
    of = {(c.data, c.gold, c.order, c.model, c.labels): c for c in claims}
    fill_file(
        page,
        {
            "losses": losses(of),
            "goals": goals(of, labels, policies),
            "claims": grid(of, "best", (OURS, LEFT_OUT, BAYES), gap_cell),
            "random": grid(of, "random", (OURS,), gap_cell),
            "scores": scores(of),
            "sure": grid(of, "best", (OURS,), sure_cell),
            "thin": thin(of),
            "rivals": rivals(labels, policies),
            "policies": policies_table(policies),
        },
    )


def gap_cell(case: Claim) -> str:
    return f"{signed(case.gap)} ± {plain(case.gap_error)}"


def sure_cell(case: Claim) -> str:
    wrong = "" if case.sure_wrong is None else f" / {plain(case.sure_wrong)}"
    return f"{plain(case.sure)}{wrong}"


def sets(of: Claims) -> list[str]:
    """Names of the sets."""
    return sorted({key[0] for key in of})


def column(labels: int) -> str:
    return "all" if labels == NO_LIMIT else str(labels)


def grid(of: Claims, order: str, models: Sequence[str], cell: Callable[[Claim], str]) -> str:
    """Every set and model against labels per task, with a fifth of the tasks for gold."""
    rows = [
        (name, model, *(cell(of[name, GOLD[0], order, model, k]) for k in LABELS))
        for name in sets(of)
        for model in models
    ]
    return table(("set", "model", *map(column, LABELS)), rows, words=2)


def gaps(of: Claims, gold: float, order: str, model: str) -> np.ndarray:
    """How much too much is claimed, of shape (sets, labels)."""
    return np.array([[of[n, gold, order, model, k].gap for k in LABELS] for n in sets(of)])


def changes(of: Claims, gold: float, order: str) -> np.ndarray:
    """How many more labels are right than by independent workers, of shape (sets, labels)."""
    return np.array(
        [
            [of[n, gold, order, OURS, k].reached - of[n, gold, order, BAYES, k].reached
             for k in LABELS]
            for n in sets(of)
        ]
    )  # fmt: skip


def score(of: Claims, name: str, gold: float, order: str, model: str) -> float:
    """Mean log score over the numbers of labels."""
    return float(np.mean([of[name, gold, order, model, k].log_score for k in LABELS]))


def losses(of: Claims) -> str:
    """The cells that lose accuracy, and those whose claims are far off."""
    lines = []
    for order, whose in (("best", "the best workers"), ("random", "random workers")):
        change, gap = changes(of, GOLD[0], order), gaps(of, GOLD[0], order, OURS)
        worse = [
            f"{name}, {column(k)}: {signed(change[i, j])}"
            for i, name in enumerate(sets(of))
            for j, k in enumerate(LABELS)
            if change[i, j] < -LEAST_LOSS
        ]
        off = [
            f"{name}, {column(k)}: {signed(gap[i, j])}"
            for i, name in enumerate(sets(of))
            for j, k in enumerate(LABELS)
            if abs(gap[i, j]) > MOST_GAP
        ]
        better = int((change > LEAST_LOSS).sum())
        lines.append(
            f"- Labels of {whose}, right labels: {len(worse)} of {change.size} cells lose more "
            f"than .003 ({'; '.join(worse) or 'none'}), {better} gain more; the mean is "
            f"{signed(float(change.mean()))}."
        )
        lines.append(
            f"- Labels of {whose}, claims off by more than .03: {len(off)} of {gap.size} cells "
            f"({'; '.join(off) or 'none'})."
        )
    return "\n".join(lines)


def goals(of: Claims, labels: list[Labels], policies: list[Policy]) -> str:
    """What the project wanted and what is reached."""
    rows = [*claim_goals(of), *label_goals(of, labels, policies)]
    marked = [(what, goal, found, "yes" if met else "no") for what, goal, found, met in rows]
    return table(("what", "goal", "found", "met"), marked, words=(0, 3))


Goal = tuple[str, str, str, bool]


def claim_goals(of: Claims) -> list[Goal]:
    """Goals for what is claimed."""
    full, thin = GOLD[0], GOLD[-1]
    own, left = abs(gaps(of, full, "best", OURS)), abs(gaps(of, full, "best", LEFT_OUT))
    few, any_ = abs(gaps(of, thin, "best", OURS)), abs(gaps(of, full, "random", OURS))
    few_left = abs(gaps(of, thin, "best", LEFT_OUT))
    better = [
        score(of, n, full, "best", OURS) > score(of, n, full, "best", BAYES) for n in sets(of)
    ]
    sure = [
        1.0 - wrong
        for n in sets(of)
        if (wrong := of[n, full, "best", OURS, NO_LIMIT].sure_wrong) is not None
    ]
    change = changes(of, full, "best")
    return [
        at_most("gap, largest of all cells", MOST_GAP, own.max()),
        at_most("gap, mean", 0.012, own.mean()),
        at_most("gap, sets left out, mean", 0.016, left.mean()),
        at_most("gap with 1 % gold, mean", 0.04, few.mean()),
        at_most("gap with 1 % gold, sets left out, mean", 0.04, few_left.mean()),
        at_most("gap, labels of random workers, largest", MOST_GAP, any_.max()),
        ("log score better than independent, sets", str(len(better)), str(sum(better)),
         all(better)),
        ("right labels against independent, worst cell", "-.003", signed(float(change.min())),
         bool(change.min() >= -LEAST_LOSS)),
        ("right among those called .95 sure, all labels", ".94 to .99",
         f"{plain(min(sure))} to {plain(max(sure))}",
         min(sure) >= 0.94 and max(sure) <= 0.99),
    ]  # fmt: skip


def at_most(what: str, goal: float, found: float) -> Goal:
    return what, f"≤ {plain(goal)}", f"{found:.4f}".removeprefix("0"), bool(found <= goal)


def label_goals(of: Claims, labels: list[Labels], policies: list[Policy]) -> list[Goal]:
    """Goals for right labels with three labels per task and with one."""
    right = {(one.data, one.method): one.accuracy for one in labels if one.splits == most(labels)}
    adaptive = {
        (p.data, p.labels): p for p in policies if (p.model, p.policy) == (OURS, "adaptive")
    }
    rows: list[Goal] = []
    for name in sets(of):
        balanced = of[name, GOLD[0], "best", OURS, 3].reached
        chosen = adaptive[name, 3].reached
        if name in WANTED:
            rows.append(
                (f"{name}: 3 labels, balanced / adaptive", plain(WANTED[name]),
                 f"{plain(balanced)} / {plain(chosen)}", max(balanced, chosen) >= WANTED[name])
            )  # fmt: skip
    majority = {n: right[n, "majority of all"] for n in sets(of)}
    kit = {n: max(right[n, m] for m in RIVALS) for n in sets(of)}
    balanced_of = {n: right[n, OURS] for n in sets(of)}
    adaptive_of = {n: adaptive[n, 3].reached for n in sets(of)}
    for what, own, rival in (
        ("3 balanced labels against the majority of all", balanced_of, majority),
        ("3 adaptive labels against the majority of all", adaptive_of, majority),
        ("3 labels against crowd-kit's best on the same 3", balanced_of, kit),
    ):
        ahead = {n: own[n] - rival[n] for n in sets(of)}
        worst = min(ahead, key=lambda n: ahead[n])
        found = f"{signed(ahead[worst])} ({worst})"
        rows.append((f"{what}, worst set", "0", found, ahead[worst] >= 0.0))
    first = {n: adaptive[n, 1].ahead for n in sets(of)}
    worst = min(first, key=lambda n: first[n])
    rows.append(
        ("adaptive against balanced, 1 label, worst set", "-.005",
         f"{signed(first[worst])} ({worst})", first[worst] >= -0.005)
    )  # fmt: skip
    return rows


def scores(of: Claims) -> str:
    """Log scores of labels of the best workers and of any."""
    rows = []
    for name in sets(of):
        best = [score(of, name, GOLD[0], "best", m) for m in (OURS, LEFT_OUT, BAYES)]
        drawn = [score(of, name, GOLD[0], "random", m) for m in MODELS]
        rows.append((name, *(f"{value:.3f}" for value in (*best, *drawn))))
    names = ("set", OURS, LEFT_OUT, BAYES, f"random, {OURS}", f"random, {BAYES}")
    return table(names, rows)


def thin(of: Claims) -> str:
    """Claims, right labels and log scores with less gold, the mean over the sets."""
    rows = []
    for gold in GOLD:
        for order in ("best", "random"):
            for model in (OURS, LEFT_OUT, BAYES) if order == "best" else (OURS, BAYES):
                off = abs(gaps(of, gold, order, model))
                cells = [of[n, gold, order, model, k] for n in sets(of) for k in LABELS]
                rows.append(
                    (f"{100 * gold:g} %", order, model, plain(off.mean()), plain(off.max()),
                     plain(float(np.mean([c.reached for c in cells]))),
                     f"{np.mean([c.log_score for c in cells]):.3f}")
                )  # fmt: skip
    names = ("gold", "labels of", "model", "mean gap", "largest", "right", "log score")
    return table(names, rows, words=3)


def most(labels: list[Labels]) -> int:
    """On how many splits the quick votes are."""
    return max(one.splits for one in labels)


def rivals(labels: list[Labels], policies: list[Policy]) -> str:
    """Right labels by every method on the same labels, the worst for adaptive ones first."""
    wanted = ("majority of all", *RIVALS, BAYES, OURS)
    cells = votes_table(labels, wanted, most(labels))
    with_three = [p for p in policies if (p.model, p.policy, p.labels) == (OURS, "adaptive", 3)]
    of_all = {
        c.data: c.accuracy for c in labels if (c.method, c.splits) == (wanted[0], most(labels))
    }
    rows = []
    for one in sorted(with_three, key=lambda p: p.reached - of_all[p.data]):
        reached = f"{plain(one.reached)} ± {plain(one.reached_error)}"
        ahead = signed(one.reached - of_all[one.data])
        rows.append((one.data, *cells[one.data], reached, ahead))
    return table(("set", *wanted, "adaptive", "adaptive - all"), rows)


def votes_table(labels: list[Labels], methods: Sequence[str], splits: int) -> dict[str, list[str]]:
    """Right labels of these methods on so many splits, by set."""
    right = {(one.data, one.method): one for one in labels if one.splits == splits}
    return {
        name: [f"{plain(right[name, m].accuracy)} ± {plain(right[name, m].error)}" for m in methods]
        for name in sorted({one.data for one in labels})
    }


def policies_table(policies: list[Policy]) -> str:
    """Balanced and adaptive labels, and how far apart they are."""
    at = {(p.data, p.model, p.policy, p.labels): p for p in policies}
    rows = []
    for name in sorted({p.data for p in policies}):
        for model in (OURS,):
            balanced = [plain(at[name, model, "balanced", k].reached) for k in ASKED]
            routed = [at[name, model, "adaptive", k] for k in ASKED]
            rows.append(
                (name, model, " ".join(balanced), " ".join(plain(p.reached) for p in routed),
                 *(f"{signed(p.ahead)} ± {plain(p.ahead_error)}" for p in routed))
            )  # fmt: skip
    names = ("set", "model", "balanced 1 2 3", "adaptive 1 2 3", "ahead at 1", "at 2", "at 3")
    return table(names, rows, words=2)

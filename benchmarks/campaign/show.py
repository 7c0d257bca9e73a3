"""Tables and figures of docs/studies/campaign-study.md, from the cases of campaign_study.py."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from numpy.typing import NDArray

from benchmarks.campaign import online
from benchmarks.campaign.online import FRESH, TUNED
from benchmarks.campaign.recorded import LABELS, POLICIES, UNLIMITED, Case
from benchmarks.pages import figure_style, fill_file, plain, save, standard_error, table
from crowd_tvcs.routing.outcomes import NO_LIMIT

WANTED = 0.95
GOLD_PRICE = online.WORKERS * online.GOLD / online.TASKS  # gold labels per task
GOALS = (  # set, policy, labels per task, accuracy
    ("rte", "balanced", 3, 0.915),
    ("rte", "adaptive", 3, 0.915),
    ("d_sentiment", "balanced", 1, 0.94),
    ("d_sentiment", "adaptive", 1, 0.94),
    ("dog", "adaptive", 3, 0.81),
    ("web", "balanced", 3, 0.89),
    ("web", "adaptive", 3, 0.89),
)
SAVED = (("static", 0.55), ("static gate", 0.40))  # against what, at least
COLOURS = {
    "random": "#888888",
    "balanced": "#e69f00",
    "adaptive": "#0072b2",
    "all": "#000000",
    "majority": "#cc79a7",
    "static": "#888888",
    "static gate": "#e69f00",
    "adaptive gate": "#0072b2",
    "adaptive gate refresh": "#009e73",
}
Key = tuple[str, int, str, str, int]


def write_docs(
    cases: list[Case], curves: list[online.Curve], plans: list[online.Optimism], docs: Path
) -> None:
    """Fill the tables of campaign-study.md and draw its figures."""
    page = docs / "studies" / "campaign-study.md"
    means = accuracies(cases)
    fill_file(
        page,
        {
            "goals": goals(means),
            "replay": replay_table(means),
            "stopping": stopping_table(cases, means),
            "online": online_table(curves),
            "saved": saved_table(curves),
            "optimism": optimism_table(plans),
        },
    )
    draw_replay(means, docs / "figures" / "campaign-replay.svg")
    draw_online(curves, docs / "figures" / "campaign-online.svg")


def accuracies(cases: Iterable[Case]) -> dict[Key, NDArray[np.float64]]:
    """Accuracies of all splits of every policy, sorted by split."""
    found: dict[Key, dict[int, float]] = defaultdict(dict)
    for case in cases:
        key = (case.data, case.per_class, case.policy, case.vote, case.labels)
        found[key][case.split] = case.accuracy
    return {key: np.array([by[s] for s in sorted(by)]) for key, by in found.items()}


def mean_and_error(values: NDArray[np.float64]) -> str:
    """Mean and standard error for a cell."""
    return f"{values.mean():.3f} ± {standard_error(values):.3f}"


def goals(means: dict[Key, NDArray[np.float64]]) -> str:
    """What the project wanted of the replay, and what was measured."""
    rows = []
    for data, policy, labels, goal in GOALS:
        one, per_class = (means[data, c, policy, "weighted", labels] for c in (0, 1))
        met = "yes" if one.mean() >= goal else "no"
        cells = (f"{goal:.3f}", mean_and_error(one), met, mean_and_error(per_class))
        rows.append((data, policy, str(labels), *cells))
    names = ("set", "policy", "labels", "goal", "one accuracy", "met", "per class")
    return table(names, rows, words=2)


def replay_table(means: dict[Key, NDArray[np.float64]]) -> str:
    """Right labels by labels per task, of every policy with a limit, on every set."""
    limited = [one for one in POLICIES if one[0] not in UNLIMITED and one != ("random", "majority")]
    rows = [
        (
            data,
            f"{policy}, {vote}",
            *(plain(means[data, 0, policy, vote, k].mean()) for k in LABELS),
        )
        for data in sets(means)
        for policy, vote in limited
    ]
    return table(("set", "policy, vote", *map(str, LABELS)), rows, words=2)


def stopping_table(cases: Iterable[Case], means: dict[Key, NDArray[np.float64]]) -> str:
    """Where the campaign stops by itself, against all labels."""
    groups: dict[tuple[str, int, str], list[Case]] = defaultdict(list)
    for case in cases:
        if case.policy in UNLIMITED and case.vote == "weighted":
            groups[case.data, case.per_class, case.policy].append(case)
    rows = []
    for data in sorted({key[0] for key in groups}):
        for per_class, name in ((0, "one accuracy"), (1, "per class")):
            cells = []
            for policy in ("stopping", "all"):
                found = groups[data, per_class, policy]
                cells += [f"{np.mean([c.bought for c in found]):.2f}"]
                cells += [mean_and_error(np.array([c.accuracy for c in found]))]
            majority = means[data, per_class, "all", "majority", NO_LIMIT]
            rows.append((data, name, *cells, mean_and_error(majority)))
    names = ("set", "skills", "labels", "right", "all labels", "right with all", "by majority")
    return table(names, rows, words=2)


def sets(means: dict[Key, NDArray[np.float64]]) -> list[str]:
    """Names of the sets."""
    return sorted({key[0] for key in means})


def reached(curves: Sequence[NDArray[np.float64]]) -> float:
    """Labels per task at which the mean of the curves passes `WANTED`; nan if it does not."""
    mean = np.concatenate([[0.5], np.mean(curves, axis=0)])
    if (mean < WANTED).all():
        return float("nan")
    k = int(np.argmax(mean >= WANTED))
    part = (WANTED - mean[k - 1]) / (mean[k] - mean[k - 1])
    return online.STEP * (k - 1 + float(part))


def jackknife(curves: Sequence[NDArray[np.float64]]) -> float:
    """Standard error of `reached`, leaving out one seed after the other."""
    n = len(curves)
    left = np.array([reached([*curves[:i], *curves[i + 1 :]]) for i in range(n)])
    return float(np.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum()))


def curves_of(
    curves: Iterable[online.Curve], family: str, policy: str, seeds: Iterable[int]
) -> list[NDArray[np.float64]]:
    """The curves of a policy, by seed."""
    by_seed = {c.seed: c for c in curves if (c.family, c.policy) == (family, policy)}
    return [np.array(by_seed[s].curve.split(), dtype=float) for s in seeds]


def online_table(curves: list[online.Curve]) -> str:
    """Labels per task until the wanted share is right."""
    rows = []
    for policy in online.POLICIES:
        cells = []
        for family in online.FAMILIES:
            for seeds in (FRESH, TUNED):
                found = curves_of(curves, family, policy, seeds)
                value = reached(found)
                text = "> 20" if np.isnan(value) else f"{value:.2f} ± {jackknife(found):.2f}"
                cells.append(text)
        rows.append((policy, *cells))
    names = [f"{f}, {s}" for f in online.FAMILIES for s in ("fresh seeds", "other seeds")]
    return table(("policy", *names), rows)


def saved_table(curves: list[online.Curve]) -> str:
    """How many labels fewer the adaptive policies need, on the fresh seeds."""
    rows = []
    for family in online.FAMILIES:
        for policy in ("adaptive gate", "adaptive gate refresh"):
            for against, goal in SAVED:
                need, other = (
                    reached(curves_of(curves, family, p, FRESH)) for p in (policy, against)
                )
                shares = [1 - (need + g) / (other + g) for g in (0.0, GOLD_PRICE)]
                cells = [f"{share:.1%} ({'yes' if share >= goal else 'no'})" for share in shares]
                rows.append((family, policy, against, f"{goal:.0%}", *cells))
    names = ("family", "policy", "fewer than", "goal", "gold not counted", "gold counted")
    return table(names, rows, words=3)


def optimism_table(plans: list[online.Optimism]) -> str:
    """What plans claim, what they reach, and what is lost against the true qualities."""
    groups: dict[tuple[str, int, str], list[online.Optimism]] = defaultdict(list)
    for plan in plans:
        if plan.estimate == "cautious":  # its accuracy is that of the shrunk one, within .003
            continue
        groups[plan.family, plan.gold, plan.estimate].append(plan)
    rows = []
    for (family, gold, estimate), found in sorted(groups.items()):
        claimed, got, best = (
            np.mean([getattr(p, name) for p in found]) for name in ("claimed", "reached", "best")
        )
        cells = f"{claimed:.3f}", f"{got:.3f}", f"{claimed - got:+.3f}", f"{best - got:.3f}"
        rows.append((family, estimate, str(gold), *cells))
    names = ("family", "estimate", "gold answers", "expected", "accuracy", "difference", "regret")
    return table(names, rows, words=2)


def draw_replay(means: dict[Key, NDArray[np.float64]], path: Path) -> None:
    """Accuracy against labels per task, one panel per set."""
    with figure_style():
        names = sets(means)
        figure, axes = plt.subplots(1, len(names), figsize=(9.0, 2.8), layout="constrained")
        for axis, data in zip(axes, names, strict=True):
            for policy, vote in POLICIES:
                if policy == "stopping":
                    continue
                if policy == "all":
                    level = means[data, 0, policy, vote, NO_LIMIT].mean()
                    dashes = {"weighted": "--", "majority": ":", "semi-supervised": "-."}[vote]
                    axis.axhline(level, color="black", ls=dashes, lw=1, label=f"all, {vote}")
                elif vote == "weighted":
                    values = [means[data, 0, policy, vote, k].mean() for k in LABELS]
                    axis.plot(LABELS, values, marker=".", color=COLOURS[policy], label=policy)
            axis.set(title=data, xlabel="labels per task")
        axes[0].set_ylabel("right labels")
        axes[-1].legend(frameon=False, fontsize=7)
        save(figure, path)


def draw_online(curves: list[online.Curve], path: Path) -> None:
    """Accuracy against labels per task of workers who arrive online, one panel per family."""
    at = online.STEP * np.arange(1, online.STEPS + 1)
    with figure_style():
        figure, axes = plt.subplots(
            1, len(online.FAMILIES), figsize=(8.0, 3.2), layout="constrained", sharey=True
        )
        for axis, family in zip(axes, online.FAMILIES, strict=True):
            for policy in online.POLICIES:
                if policy in COLOURS:
                    values = np.mean(curves_of(curves, family, policy, FRESH), axis=0)
                    axis.plot(at, values, color=COLOURS[policy], label=policy)
            axis.axhline(WANTED, color="black", ls=":", lw=1)
            axis.set(title=family, xlabel="labels per task, gold not counted", xlim=(0, 16))
        axes[0].set(ylabel="right labels", ylim=(0.65, 1.0))
        axes[-1].legend(frameon=False, fontsize=7)
        save(figure, path)

"""Flag classes on which a worker errs more often than on their other classes, for training."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import DEFAULT_FDR, Flag, p_value_text, significant_flags
from crowd_tvcs.behaviour.trends import falling_p_value
from tvcs_core.files.display import quoted
from tvcs_core.streams import stream

MIN_ANSWERS = 10  # of the class, and as many of other classes
# Accuracy below the other workers on the class, and below the worker's own other classes. False and
# missed flags at the thresholds of this room are measured by benchmarks/crowd/behaviour.py.
MIN_FALL = 0.15


def confusing(crowd: Crowd, fdr: float = DEFAULT_FDR) -> list[Flag]:
    """Flag workers who are much worse on one class than on their others.

    By gold, else by the majority of the others; difficulty shared by all workers is removed. The
    p-value is that of a permutation test over the worker's answers to tasks of this class.
    """
    answers, rng = crowd.answers, stream(0, "confusing")
    tested, falls = [], []
    for i, name in enumerate(answers.workers):
        mine = crowd.of_worker[i]
        mine = mine[crowd.compared[mine]]
        beyond = crowd.surprise[mine]
        for k, label in enumerate(answers.classes):
            of_class = crowd.reference[mine] == k
            n = int(of_class.sum())
            if min(n, mine.size - n) < MIN_ANSWERS:
                continue
            one_group = np.zeros(mine.size, dtype=np.int64)
            p = falling_p_value(of_class.astype(float), beyond, one_group, rng)
            there, elsewhere = float(beyond[of_class].mean()), float(beyond[~of_class].mean())
            at = mine[of_class]
            right = int(crowd.agrees[at].sum())
            others = answers.label_of[at[~crowd.agrees[at]]]
            instead = answers.classes[int(np.bincount(others).argmax())] if others.size else ""
            evidence = (
                f"right on {right} of {n} of class {quoted(label)}, the others on "
                f"{right - beyond[of_class].sum():.0f}; usual wrong answer {quoted(instead)}; "
                f"{p_value_text(p)}"
            )
            tested.append(Flag(name, "confuses", n, p, evidence, label))
            if there <= -MIN_FALL and there - elsewhere <= -MIN_FALL:
                falls.append((name, label))
    return [
        flag for flag in significant_flags(tested, fdr) if (flag.worker, flag.other) in set(falls)
    ]

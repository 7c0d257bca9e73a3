"""Classes that a worker gets wrong more often than their others: what training could mend."""

from __future__ import annotations

import numpy as np

from crowd_tvcs.behaviour.crowd import Crowd
from crowd_tvcs.behaviour.evidence import LEVEL, Flag, chance_text, judged
from crowd_tvcs.behaviour.trends import falling
from tvcs_core.files.shown import shown
from tvcs_core.streams import stream

LEAST_ANSWERS = 10  # of the class, and as many of others
LEAST_FALL = 0.15  # below the others on the class, and below the worker's own other classes


def confusing(crowd: Crowd, level: float = LEVEL) -> list[Flag]:
    """Flag workers who are much worse on one class than on their others.

    By gold, else by most of the others; what is hard for everybody is taken off. The p-value is
    that of a permutation test, over which of a worker's answers are to tasks of this class.
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
            if min(n, mine.size - n) < LEAST_ANSWERS:
                continue
            one_group = np.zeros(mine.size, dtype=np.int64)
            p = falling(of_class.astype(float), beyond, one_group, rng)
            there, elsewhere = float(beyond[of_class].mean()), float(beyond[~of_class].mean())
            at = mine[of_class]
            right = int(crowd.agrees[at].sum())
            others = answers.label_of[at[~crowd.agrees[at]]]
            instead = answers.classes[int(np.bincount(others).argmax())] if others.size else ""
            evidence = (
                f"right on {right} of {n} of class {shown(label)}, the others on "
                f"{right - beyond[of_class].sum():.0f}; mostly says {shown(instead)}; "
                f"{chance_text(p)}"
            )
            tested.append(Flag(name, "confuses", n, p, evidence, label))
            if there <= -LEAST_FALL and there - elsewhere <= -LEAST_FALL:
                falls.append((name, label))
    return [flag for flag in judged(tested, level) if (flag.worker, flag.other) in set(falls)]

"""crowd-kit's aggregators, which learn how good the workers are from the answers alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers import Answers

USABLE = ("MajorityVote", "DawidSkene", "OneCoinDawidSkene", "GLAD", "MACE", "MMSR")
NOT_USABLE = {
    "Wawa": "it fails with scikit-learn 1.6 or newer",
    "ZeroBasedSkill": "it fails with scikit-learn 1.6 or newer",
    "KOS": "nothing tells it which of two labels is which, so that it may give all of them swapped",
    "GoldMajorityVote": "the weighted vote uses gold tasks",
}
HOW = 'crowd-kit is not installed; install it with: pip install "tvcs[crowdkit]"'


def require_usable(name: str) -> None:
    """Refuse an aggregator that cannot be used, and say why."""
    if name in NOT_USABLE:
        raise ValueError(f"crowd-kit's {name} is not offered: {NOT_USABLE[name]}")


def fit(name: str, answers: Answers) -> Any:
    """Fit one of `USABLE` to the answers; crowd-kit's own object.

    Raises
    ------
    ModuleNotFoundError
        If crowd-kit is not installed.
    ValueError
        If there is no answer.
    """
    try:
        import crowdkit.aggregation as kit
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("crowdkit"):
            raise
        raise ModuleNotFoundError(HOW, name=error.name) from None
    if answers.size == 0:
        raise ValueError(f"crowd-kit's {name} needs answers, found none")
    with _quiet():
        return getattr(kit, name)().fit(answers.frame())


def aggregate(name: str, answers: Answers) -> NDArray[np.float64]:
    """Weight of every class for every task, of shape (tasks, classes), by one of `USABLE`.

    Posterior probabilities under the aggregator's model; shares of the scores for MMSR, of the
    answers for MajorityVote. A task without answers has equal weights.
    """
    fitted = fit(name, answers)
    with _quiet():
        table = fitted.predict_score(answers.frame()) if name == "MMSR" else fitted.probas_
    values = table.reindex(index=list(answers.tasks), columns=list(answers.classes))
    out = np.clip(np.nan_to_num(values.to_numpy(dtype=np.float64)), 0.0, None)
    none = out.sum(axis=1) <= 0.0
    out[none] = 1.0
    out /= out.sum(axis=1, keepdims=True)
    return out


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide warnings: its use of pandas is deprecated in many places."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield

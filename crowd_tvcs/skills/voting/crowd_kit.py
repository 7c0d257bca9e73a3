"""Aggregators of crowd-kit, which estimate the workers' skills from the answers alone."""

from __future__ import annotations

import warnings

import numpy as np

from crowd_tvcs.answers.answers import Answers
from crowd_tvcs.arrays import Floats
from tvcs_core.files.extras import to_install

USABLE = ("MajorityVote", "DawidSkene", "OneCoinDawidSkene", "GLAD", "MACE", "MMSR")
NOT_USABLE = {
    "Wawa": "it fails with scikit-learn 1.6 or newer",
    "ZeroBasedSkill": "it fails with scikit-learn 1.6 or newer",
    "KOS": "it cannot identify the two labels, so it may return all of them swapped",
    "GoldMajorityVote": "the weighted vote uses gold tasks",
}
NOT_INSTALLED = "crowd-kit is not installed; install it with:"


def check_usable(name: str) -> None:
    """Refuse an aggregator that cannot be used, with the reason."""
    if name in NOT_USABLE:
        raise ValueError(f"crowd-kit's {name} is not offered: {NOT_USABLE[name]}")


def aggregate(name: str, answers: Answers) -> Floats:
    """Return class weights for every task, of shape (tasks, classes), by one of `USABLE`.

    The weights are posterior probabilities under the aggregator's model; for MMSR they are shares
    of the scores, for MajorityVote shares of the answers. A task without answers has equal weights.
    """
    try:
        import crowdkit.aggregation as kit
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("crowdkit"):
            raise
        raise ValueError(f"{NOT_INSTALLED} {to_install('crowdkit')}") from None
    if answers.size == 0:
        raise ValueError("crowd-kit needs answers, found none")
    aggregator, table = getattr(kit, name)(), answers.to_frame()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # crowd-kit uses deprecated features of pandas
        aggregator.fit(table)
        found = aggregator.predict_score(table) if name == "MMSR" else aggregator.probas_
    values = found.reindex(index=list(answers.tasks), columns=list(answers.classes))
    out = np.clip(np.nan_to_num(values.to_numpy(dtype=np.float64)), 0.0, None)
    out[out.sum(axis=1) <= 0.0] = 1.0
    return out / out.sum(axis=1, keepdims=True)

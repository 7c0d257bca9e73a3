"""The vote on the label of every task, by any method."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from crowd_tvcs.answers.answers import Answers, Gold, answers_of
from crowd_tvcs.answers.names import in_order
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.skills.dependence import Dependence
from crowd_tvcs.skills.estimate import answers_and_gold, estimate_quality
from crowd_tvcs.skills.posterior import posterior
from crowd_tvcs.skills.skill import Skill, reversed_doubt
from crowd_tvcs.skills.voting.crowd_kit import USABLE, aggregate, check_usable
from crowd_tvcs.skills.voting.little_gold import vote_with_gold
from crowd_tvcs.skills.voting.random_gold import sample_doubt
from crowd_tvcs.skills.voting.unsupervised import unsupervised_posterior, vote_shares
from crowd_tvcs.skills.voting.votes import Votes, most_probable
from tvcs_core.arguments import check_choice

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("weighted", "unsupervised", "majority", *USABLE)


def vote(
    answers: Answers | str | Path | pd.DataFrame,
    method: str | None = None,
    *,
    gold: Gold | str | Path | pd.DataFrame | pd.Series | Mapping[object, object] | None = None,
    skill: Skill | Quality | ArrayLike | None = None,
    prior: ArrayLike | None = None,
    dependence: Dependence | None = None,
) -> Votes:
    """Vote on the label of every task.

    Parameters
    ----------
    answers
        Answers of workers to tasks, or a table of them: a DataFrame with the columns task, worker
        and label, or a path, as for `crowd_tvcs.read_answers`.
    method
        ``"weighted"``: the label of largest posterior probability, by gold, or by `skill` and
        `prior` (Bayes' rule; the vote whose expected accuracy a plan states). ``"unsupervised"``:
        without gold, by the agreement of the workers, see `crowd_tvcs.skills.voting.unsupervised`.
        ``"majority"``: the most frequent answer. Or one of crowd-kit's aggregators by its name
        there, such as ``"DawidSkene"``; these and the majority have no confidence. None:
        ``"weighted"`` with gold or a skill, ``"unsupervised"`` without.
    gold
        Known labels of some tasks: a mapping or Series of tasks to labels, or as for
        `crowd_tvcs.read_gold`. These tasks keep their label, with confidence 1. For ``"weighted"``
        the skills are estimated from gold, and the agreement of the workers counts beside it, see
        `crowd_tvcs.skills.voting.little_gold`.
    skill
        As for `crowd_tvcs.skills.posterior.posterior`; only for ``"weighted"``. Beside gold one
        that `crowd_tvcs.estimate_quality` made.
    prior
        As for `posterior`, or a mapping of classes to probabilities; only for ``"weighted"`` and
        ``"unsupervised"``.
    dependence
        As for `posterior`; only for ``"weighted"`` without gold.

    Returns
    -------
    Votes
        A task without answers has no label, whatever the prior.

    Warns
    -----
    UserWarning
        Gold seems to be no random sample of the tasks, its labels seem to be exchanged, or a label
        may be a typo.

    Raises
    ------
    ValueError
        If the method is unknown, cannot be used, or needs crowd-kit, which is not installed; if it
        needs a skill and gets none, or the other way round; if a table is invalid.

    Examples
    --------
    >>> answers = Answers.of([("t1", "ann", "1"), ("t1", "bob", "0"), ("t1", "cy", "0")])
    >>> vote(answers, "majority").labels, vote(answers, skill=[.95, .6, .6]).labels
    ({'t1': '0'}, {'t1': '1'})
    """
    if method is not None:
        if isinstance(method, str):
            check_usable(method)
        check_choice("method", method, METHODS)
    if gold is None:
        answers = answers_of(answers)
        prior = in_order("prior", prior, answers.classes)
        return _voted(answers, method, skill, prior, dependence)
    answers, known = answers_and_gold(answers, gold)
    prior = in_order("prior", prior, answers.classes)
    if method in (None, "weighted"):
        votes = _by_gold(answers, known, skill, prior, dependence)
    else:
        votes = _voted(answers, method, skill, prior, dependence)
    if doubt := sample_doubt(answers, known.codes(answers.tasks, answers.classes)):
        warnings.warn(
            f"{doubt}; so what gold shows does not hold for them. Draw gold at random among all "
            "tasks",
            stacklevel=2,
        )
    return votes.with_gold(answers, known)


def _by_gold(
    answers: Answers,
    gold: Gold,
    skill: Skill | Quality | ArrayLike | None,
    prior: ArrayLike | None,
    dependence: Dependence | None,
) -> Votes:
    """Vote by gold and by the agreement of the workers."""
    if dependence is not None:
        raise ValueError("gold shows how errors depend: give gold or dependence, not both")
    if skill is None:
        skill = estimate_quality(answers, gold, like=answers)
    elif not isinstance(skill, Skill):
        raise ValueError(
            "gold shows how accurate the workers are: give gold or their accuracies, not both"
        )
    if doubt := reversed_doubt(skill):
        warnings.warn(doubt, stacklevel=3)
    votes, _, share = vote_with_gold(answers, gold, skill, prior)
    return replace(votes, right_share=share)


def _voted(
    answers: Answers,
    method: str | None,
    skill: Skill | Quality | ArrayLike | None,
    prior: ArrayLike | None,
    dependence: Dependence | None,
) -> Votes:
    """Vote without gold."""
    method = method or ("unsupervised" if skill is None else "weighted")
    if method == "weighted":
        if skill is None:
            raise ValueError(
                "the weighted vote needs a skill: estimate it from gold tasks, or use unsupervised"
            )
        return most_probable(answers, posterior(answers, skill, prior, dependence), method)
    for name, value in (("skill", skill), ("dependence", dependence)):
        if value is not None:
            raise ValueError(f"the method {method} uses the answers alone, but has a {name}")
    if method == "unsupervised":
        return most_probable(answers, unsupervised_posterior(answers, prior=prior), method)
    if prior is not None:
        raise ValueError(f"the method {method} uses the answers alone, but has a prior")
    weights = vote_shares(answers) if method == "majority" else aggregate(method, answers)
    return most_probable(answers, weights, method)

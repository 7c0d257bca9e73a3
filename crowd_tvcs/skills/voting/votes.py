"""Votes: one label per task, with a confidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from crowd_tvcs.answers.answers import UNKNOWN, Answers, Gold
from crowd_tvcs.arrays import Bools, Floats, Integers
from crowd_tvcs.skills.voting.right_share import RightShare
from crowd_tvcs.skills.voting.unsupervised import MAX_CONFIDENCE, has_agreement, vote_shares
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("task", "label", "confidence", "answers")
SHARE_COLUMN = "share"  # added if the method has no confidence


@dataclass(frozen=True, eq=False)
class Votes:
    """Outcome of a vote.

    Attributes
    ----------
    tasks, classes
        Names, as in the answers.
    label_of
        Class index of the label of every task; ties go to the first class. `UNKNOWN` (-1) for a
        task without answers.
    confidence
        Posterior probability of the label: for ``weighted`` by the given skills, for
        ``unsupervised`` by the agreement of the workers, and then `MAX_CONFIDENCE` at most. NaN for
        a task without answers, for the other methods, and for ``unsupervised`` if no task has two
        answers.
    answers
        Number of answers of every task.
    method
        Voting method.
    share
        Share of the answers that gave the label. It is not a confidence: with one answer it is 1.
        NaN for a task without answers.
    right_share
        Share of right labels of the tasks without gold, with its interval; None if gold does not
        show it, see `crowd_tvcs.skills.voting.little_gold.vote_with_gold`.

    Examples
    --------
    >>> from crowd_tvcs import Answers, vote
    >>> votes = vote(Answers.of([("t1", "ann", "cat"), ("t1", "bob", "dog"), ("t1", "cy", "dog")]))
    >>> votes, votes.labels
    (Votes(1 task by unsupervised), {'t1': 'dog'})
    """

    tasks: tuple[str, ...]
    classes: tuple[str, ...]
    label_of: Integers
    confidence: Floats
    answers: Integers
    method: str
    share: Floats
    right_share: RightShare | None = None

    def __repr__(self) -> str:
        return f"Votes({plural(len(self.tasks), 'task')} by {self.method})"

    def with_gold(self, answers: Answers, gold: Gold) -> Votes:
        """Return the votes with the known label of every gold task, and confidence 1."""
        known = gold.codes(self.tasks, self.classes)
        is_gold = known != UNKNOWN
        shares = vote_shares(answers)[np.arange(known.size), known]
        return replace(
            self,
            label_of=np.where(is_gold, known, self.label_of),
            confidence=np.where(is_gold, 1.0, self.confidence),
            share=np.where(is_gold, shares, self.share),
        )

    @property
    def labels(self) -> dict[str, str]:
        """Label of each task that has answers, by name."""
        pairs = zip(self.tasks, self.label_of.tolist(), strict=True)
        return {task: self.classes[k] for task, k in pairs if k != UNKNOWN}

    @property
    def is_labelled(self) -> Bools:
        """Whether each task has a label."""
        return self.label_of != UNKNOWN

    @property
    def is_measured(self) -> bool:
        """Whether the votes have confidences."""
        if self.method == "unsupervised":
            return bool((self.answers > 1).any())
        return self.method == "weighted"

    @property
    def columns(self) -> tuple[str, ...]:
        """Header of the table: a share in addition if there are no confidences."""
        return COLUMNS if self.is_measured else (*COLUMNS, SHARE_COLUMN)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table of `columns`."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(self.columns))

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows of `columns`; missing values are None and NaN."""
        names = [None if k == UNKNOWN else self.classes[k] for k in self.label_of.tolist()]
        columns = [names, self.confidence.tolist(), self.answers.tolist()]
        columns += [] if self.is_measured else [self.share.tolist()]
        return list(zip(self.tasks, *columns, strict=True))


def most_probable(answers: Answers, weights: Floats, method: str) -> Votes:
    """Return the votes of the largest weights, of shape (tasks, classes)."""
    best, at, n = weights.argmax(axis=1), np.arange(len(answers.tasks)), answers.per_task
    confidence = np.full(at.size, np.nan)
    if method == "weighted":
        confidence = weights[at, best]
    elif method == "unsupervised" and has_agreement(answers):
        confidence = np.minimum(weights[at, best], MAX_CONFIDENCE)
    confidence, share = (
        np.where(n > 0, x, np.nan) for x in (confidence, vote_shares(answers)[at, best])
    )
    label_of = np.where(n > 0, best, UNKNOWN)
    return Votes(answers.tasks, answers.classes, label_of, confidence, n, method, share)

"""How much one worker has earned and was paid."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Payout:
    """The earnings of a worker, in the unit of the costs.

    Attributes
    ----------
    worker
        Name.
    answers
        Number of answers, those to gold among the tasks too.
    gold, right
        Answers to gold, and how many of them are right.
    cost
        Of one label.
    earned, paid, due
        Cost of the answers, sum of the recorded payments, and the difference, which is below 0 if
        a paid answer was taken back.
    code
        Completion code of a worker who signed up, or ``""``.
    """

    worker: str
    answers: int
    gold: int
    right: int
    cost: float
    earned: float
    paid: float
    due: float
    code: str

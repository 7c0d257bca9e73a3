"""What the page of a worker showed when they answered: nobody answers a task they did not see."""

from __future__ import annotations

import hashlib
import time

from itsdangerous import BadSignature, URLSafeTimedSerializer

from crowd_tvcs.campaign import Refused

LEAST = 0.3
"""Seconds from a task to its answer: less is a key that is held, or a second click.

Who only has to press a key when a light goes on takes .2 s, to choose one of two .3 to .4 s
(R. D. Luce, Response Times, 1986).
"""
LASTS = 7 * 24 * 3600
"""Seconds for which a page can be sent back."""


class Pages:
    """The tokens of workers' pages: each is good for its worker, its task and its moment.

    Parameters
    ----------
    secret
        The campaign's.
    least
        Seconds for which a page takes nothing after it was shown.
    """

    def __init__(self, secret: str, least: float = LEAST) -> None:
        self.least = least
        self._tokens = URLSafeTimedSerializer(secret, salt="page")

    def token(self, owner: str, task: str, answers: int, now: float | None = None) -> str:
        """Return what the forms of a page send back; `owner` is the cookie of its worker."""
        now = time.time() if now is None else now
        return str(self._tokens.dumps([_hash(owner, task), answers, round(now, 3)]))

    def answers(self, owner: str, task: str, token: str, now: float | None = None) -> int:
        """Return how many answers the worker had given when their page showed this task.

        Raises
        ------
        Refused
            If the page is another's, too old or of another task, or was shown only a moment ago.
        """
        try:
            shown, answers, at = self._tokens.loads(token, max_age=LASTS)
        except BadSignature:
            raise Refused("this page is too old: open your task again") from None
        if shown != _hash(owner, task):
            raise Refused("this page showed another task: open your task again")
        # Desks of one campaign may have clocks that differ: then a page comes from the future.
        if 0.0 <= (time.time() if now is None else now) - at < self.least:
            raise Refused(
                f"that came within {self.least:g} s of the task, so it was not taken: look at the "
                "task, then answer"
            )
        return int(answers)


def _hash(owner: str, task: str) -> str:
    return hashlib.sha256(f"{owner}\0{task}".encode()).hexdigest()[:16]

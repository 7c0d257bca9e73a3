"""Tokens of workers' pages, so that workers can only answer tasks that they saw."""

from __future__ import annotations

import hashlib
import time

from itsdangerous import BadSignature, URLSafeTimedSerializer

from crowd_tvcs.campaign import RejectedError
from crowd_tvcs.campaign.desk.access import loads_within

MIN_SECONDS = 0.3
"""Shortest time from a task to its answer, in seconds: below, it is a held key or a double click.

A simple reaction takes .2 s, a choice of two .3 to .4 s (R. D. Luce, Response Times, 1986).
"""
MAX_AGE_SECONDS = 7 * 24 * 3600
"""Seconds for which a page can be submitted."""


class PageTokens:
    """Tokens of workers' pages, each valid for its worker, its task and its time.

    A page accepts no answer within `least` seconds after it is shown.
    """

    def __init__(self, secret: str, least: float = MIN_SECONDS) -> None:
        self.least = least
        self._tokens = URLSafeTimedSerializer(secret, salt="page")

    def token(self, owner: str, task: str, answers: int, now: float | None = None) -> str:
        """Return the token of the forms of a page; `owner` is the cookie of its worker."""
        now = time.time() if now is None else now
        return str(self._tokens.dumps([_hash(owner, task), answers, round(now, 3)]))

    def answers(self, owner: str, task: str, token: str, now: float | None = None) -> int:
        """Return the worker's number of answers when their page showed this task."""
        try:
            shown, answers, at = loads_within(self._tokens, token, MAX_AGE_SECONDS)
        except BadSignature:
            raise RejectedError("this page has expired; open your task again") from None
        if shown != _hash(owner, task):
            raise RejectedError("this page showed another task; open your task again")
        # Servers of one campaign may have different clocks: then a page comes from the future.
        if 0.0 <= (time.time() if now is None else now) - at < self.least:
            raise RejectedError(
                f"this answer came within {self.least:g} s of the task, so it was not accepted; "
                "look at the task, then answer"
            )
        return int(answers)


def _hash(owner: str, task: str) -> str:
    return hashlib.sha256(f"{owner}\0{task}".encode()).hexdigest()[:16]

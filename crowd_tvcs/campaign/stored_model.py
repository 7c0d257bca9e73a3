"""Model of dependent errors as a store keeps it: its text, and when it must be fitted anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from crowd_tvcs.belief.dependent import Matrix
from crowd_tvcs.skills.dependence import Dependence

FIRST_FIT = 20  # labels of a campaign from which its model is first fitted
SPARE = 32  # answers by which a fit is late, with each of which one worker tries again
UNSETTLED = "unsettled"  # in the text of a model


@lru_cache(maxsize=16)
def parse_model(text: str | None) -> Dependence | None:
    """Read the model as a store keeps it; None for workers who err independently.

    Raises
    ------
    ValueError
        If the text is damaged.
    """
    if text is None:
        return None
    with known_damage():
        return Dependence.from_json(_unmarked(text))


@lru_cache(maxsize=4096)
def parse_confusion(text: str | None) -> Matrix | None:
    """Read the confusion matrix of a worker likewise."""
    return None if text is None else tuple(tuple(row) for row in json.loads(text))


@contextmanager
def known_damage() -> Iterator[None]:
    """Refuse a damaged model."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError(
            "the model of dependence that the store keeps is damaged; take a copy of the store "
            "from before"
        ) from None


def _read(text: str) -> dict[str, Any]:
    """Return the model that a text holds, by names."""
    with known_damage():
        return dict(json.loads(text))


def fitted_to(answers: int) -> int:
    """Return how many labels, the first of the campaign, its model goes by when it has so many.

    `FIRST_FIT`, or twice, four times ... that: so the model follows from the history alone, whoever
    fits it, and is seldom fitted.
    """
    return FIRST_FIT << (answers // FIRST_FIT).bit_length() - 1 if answers >= FIRST_FIT else 0


def lacks_fit(text: str | None, answers: int) -> bool:
    """Whether the model in the store is of gold and goes by other labels than it should."""
    goes_by = _goes_by(text)
    return goes_by is not None and goes_by != fitted_to(answers)


def is_due(text: str | None, answers: int) -> bool:
    """Whether that is so, or some tasks are not settled by the model that is there."""
    return lacks_fit(text, answers) or unsettled(text) is not None


def is_due_now(text: str | None, answers: int) -> bool:
    """Whether it is whoever brought the last of so many answers who fits the model.

    That is one worker. If theirs failed or was killed, or nobody fitted before, it is one of the
    next `SPARE`; meanwhile the others need not do it as well.
    """
    size = fitted_to(answers)
    is_theirs = (answers - size) % max(SPARE, size // 4) == 0
    return is_theirs and is_due(text, answers)


def taken_back(text: str | None, place: int, answers: int) -> str | None:
    """Return the text of the model once the answer of such a place is gone, of so many.

    Its labels are below 0 then, and others each time: a fit that began before sees that.
    """
    goes_by = _goes_by(text)
    if text is None or goes_by is None or place > fitted_to(answers):
        return text
    return json.dumps(_read(text) | {"labels": min(goes_by, 0) - 1})


def unsettled(text: str | None) -> int | None:
    """Return the id from which on tasks are not settled by the model yet; None if all are."""
    return None if text is None or UNSETTLED not in text else _read(text).get(UNSETTLED)


def _unmarked(text: str) -> dict[str, Any]:
    """Return the model that a text holds, by names, without a mark."""
    return {name: value for name, value in _read(text).items() if name != UNSETTLED}


def marked(text: str, start: int | None) -> str:
    """Return the text of the model with such a mark, or without one."""
    return json.dumps(_unmarked(text) | ({} if start is None else {UNSETTLED: start}))


def _goes_by(text: str | None) -> int | None:
    """Return how many labels a model goes by; None if it is not of gold, and goes by none."""
    model = parse_model(text)
    return None if model is None or model.source != "gold" else model.labels

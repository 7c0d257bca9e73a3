"""Model of dependent errors as a store keeps it: its text, and when it must be fitted anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from crowd_tvcs.belief.dependent import Matrix
from crowd_tvcs.skills.dependence import Dependence

FIRST_FIT = 20  # labels: with so many the model is first fitted to the labels of its campaign
SPARE = 32  # answers, at least, after which another worker tries a fit that failed
UNSETTLED = "unsettled"  # key of the mark in the text of a model


@lru_cache(maxsize=16)
def parse_model(text: str | None) -> Dependence | None:
    """Read the model as a store keeps it; None for workers who err independently."""
    if text is None:
        return None
    with _known_damage():
        return Dependence.from_json(_unmarked(text))


def interval_around(sure: float | None, text: str | None, tasks: int) -> dict[str, float] | None:
    """Put an interval around the expected accuracy of tasks, by the gold of the model.

    None without tasks, or where no gold was measured.
    """
    model = parse_model(text)
    if sure is None or not tasks or model is None or model.forecast_model is None:
        return None
    return model.forecast_model.with_interval(sure, tasks)._asdict()


@lru_cache(maxsize=4096)
def parse_confusion(text: str | None) -> Matrix | None:
    """Read the confusion matrix of a worker as a store keeps it; None if there is none."""
    return None if text is None else tuple(tuple(row) for row in json.loads(text))


@contextmanager
def _known_damage() -> Iterator[None]:
    """Refuse a damaged model."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError(
            "the model of dependence that the store keeps is damaged; take a copy of the store "
            "from before"
        ) from None


def _read(text: str) -> dict[str, Any]:
    """Return the content of a text, by names."""
    with _known_damage():
        return dict(json.loads(text))


def fitted_to(answers: int) -> int:
    """Return the number of labels, the first of the campaign, that its model is fitted to.

    It is `FIRST_FIT`, or twice, four times ... that. So the model is seldom fitted, and follows
    from the history of the campaign, whichever worker's request fits it.
    """
    return FIRST_FIT << (answers // FIRST_FIT).bit_length() - 1 if answers >= FIRST_FIT else 0


def lacks_fit(text: str | None, answers: int) -> bool:
    """Whether the model in the store is of gold and fitted to other labels than it should be."""
    goes_by = _goes_by(text)
    return goes_by is not None and goes_by != fitted_to(answers)


def is_due(text: str | None, answers: int) -> bool:
    """Whether the model must be fitted, or tasks must be settled by the model that is there."""
    return lacks_fit(text, answers) or unsettled(text) is not None


def is_due_now(text: str | None, answers: int) -> bool:
    """Whether the request that brought the last of so many answers must fit the model.

    One request fits it. If it failed or was killed, the next to try comes after `SPARE` answers or
    more; the requests between do not wait for a fit.
    """
    size = fitted_to(answers)
    is_theirs = (answers - size) % max(SPARE, size // 4) == 0
    return is_theirs and is_due(text, answers)


def taken_back(text: str | None, place: int, answers: int) -> str | None:
    """Return the text of the model after an answer, the one at `place`, is taken back.

    If the model was fitted to it, its number of labels is below 0 then, and another each time: a
    fit that began before sees that.
    """
    goes_by = _goes_by(text)
    if text is None or goes_by is None or place > fitted_to(answers):
        return text
    return json.dumps(_read(text) | {"labels": min(goes_by, 0) - 1})


def unsettled(text: str | None) -> int | None:
    """Return the id of the first task that the model has not settled yet; None if there is none."""
    return None if text is None or UNSETTLED not in text else _read(text).get(UNSETTLED)


def _unmarked(text: str) -> dict[str, Any]:
    """Return the content of a text without a mark, by names."""
    return {name: value for name, value in _read(text).items() if name != UNSETTLED}


def marked(text: str, start: int | None) -> str:
    """Return the text of the model with the first unsettled task marked, or none for None."""
    return json.dumps(_unmarked(text) | ({} if start is None else {UNSETTLED: start}))


def _goes_by(text: str | None) -> int | None:
    """Return the number of labels that a model is fitted to; None if it is not of gold."""
    model = parse_model(text)
    return None if model is None or model.source != "gold" else model.labels

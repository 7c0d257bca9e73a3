"""Answers that came faster than their task can be read, or than this crowd usually answers."""

from __future__ import annotations

import math
from typing import Any

from sqlalchemy import Connection, Float, bindparam, case, cast, func, literal_column, select

from crowd_tvcs.campaign.desk.content import Content
from crowd_tvcs.campaign.store.schema import ANSWERED, content, pair
from crowd_tvcs.campaign.store.statements import Statement

MIN_REACTION_SECONDS = 0.3
"""Seconds to see something and press one of two keys (R. D. Luce, Response Times, 1986)."""
MAX_READING_SPEED = 60.0
"""Characters a second above which nobody reads.

People read 175 to 300 words of English a minute, at most 29 characters a second with the spaces
(M. Brysbaert, Journal of Memory and Language 109, 2019); this is twice as fast.
"""
MAX_DURATIONS = 1000
"""Durations by which a crowd is judged; the limit is then known to some per cent."""

_FRAME = len(Content().as_json())
"""Characters of content that shows nothing."""
_IS_GIVEN = pair.c.state == literal_column(str(ANSWERED))
_SECONDS = Statement(  # of an index that `seats` makes, in which the places of answers are not
    select(pair.c.seconds).where(
        _IS_GIVEN,
        pair.c.seconds.is_not(None),
        (pair.c.task_id + pair.c.worker_id) % bindparam("step") == 0,
    )
)
_READ = (
    select(
        content.c.task_id,
        (
            MIN_REACTION_SECONDS
            + cast(func.length(content.c.body) - _FRAME, Float) / MAX_READING_SPEED
        ).label("seconds"),
    )
    .cte("read")
    .prefix_with("MATERIALIZED")  # each text is measured once, and not for every answer
)


def limit(connection: Connection, answers: int) -> float:
    """Return the seconds below which answers of this crowd are fast, see `pace.fast_limit`.

    0 while too few durations are known. `answers` is their number; a sample is used if it is large.
    """
    from crowd_tvcs.behaviour.pace import MIN_ANSWERS, fast_limit

    if answers < MIN_ANSWERS:
        return 0.0
    import numpy as np

    rows = _SECONDS(connection, step=1 + answers // MAX_DURATIONS)
    found = fast_limit(np.array(sorted(row.seconds for row in rows)))
    return 0.0 if math.isnan(found) else found


def is_fast(limit: float) -> Any:
    """Return the condition on a pair, joined by `with_texts`, that it was answered too fast.

    That is below the limit of its crowd, or before its text can be read.
    """
    most = max(limit, MIN_REACTION_SECONDS)
    return pair.c.seconds < case((_READ.c.seconds > most, _READ.c.seconds), else_=most)


def add_fast(connection: Connection, answers: int, query: Any) -> Any:
    """Add to a query of pairs, as `fast`, whether each was answered too fast for its crowd."""
    fast = is_fast(limit(connection, answers)).label("fast")
    return with_texts(query.add_columns(fast))


def with_texts(query: Any) -> Any:
    """Join the pairs of a query to how long their texts take to read."""
    return query.outerjoin(_READ, _READ.c.task_id == pair.c.task_id)

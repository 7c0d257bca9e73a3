"""What all pages of one server share: the campaign, its links, its settings."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from fastapi.responses import HTMLResponse, Response
from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy import bindparam, func, or_, select

from crowd_tvcs.campaign import Campaign, Refused
from crowd_tvcs.campaign.desk.access import Links
from crowd_tvcs.campaign.desk.content import Content, content_of
from crowd_tvcs.campaign.store.schema import GOLD, pair, task, worker
from crowd_tvcs.campaign.store.statements import Statement
from crowd_tvcs.serve.aliases import Aliases
from crowd_tvcs.serve.entrance import Entrance
from crowd_tvcs.serve.limits import TokenBucket
from crowd_tvcs.serve.pages import page
from crowd_tvcs.serve.turn.instructions import pictures
from crowd_tvcs.serve.turn.shown import Pages

_GOLD = (
    select(func.count(task.c.id), func.min(pair.c.leased_at))
    .outerjoin_from(task, pair, pair.c.task_id == task.c.id)
    .where(task.c.closed == GOLD)
)
_TOLD = Statement(
    select(task.c.id)
    .join_from(pair, task, task.c.id == pair.c.task_id)
    .join(worker, worker.c.id == pair.c.worker_id)
    .where(
        task.c.name == bindparam("called"),
        task.c.closed != GOLD,
        worker.c.name == bindparam("by"),
        or_(pair.c.leased_at < bindparam("since"), pair.c.leased_at.is_(None)),
    )
)
"""A task whose name a worker was told, and that is no gold."""

THREADS = 12
"""Of what workers ask; with a connection each, and those that are kept idle, they leave 3 of the
store's 19 to other pages (`store.POOL`)."""
FRESH = 30.0
"""Seconds for which the content of a task is not read again."""
WAYS = "another password, other instructions or another share of gold"
"""What `Served.setup` tells apart, in words."""


class Cookies(NamedTuple):
    """Names of the cookies of a campaign; others of the same host have others."""

    worker: str
    operator: str
    done: str

    @classmethod
    def of(cls, secret: str) -> Cookies:
        """Return the names that follow from a campaign's secret, the same at all its desks."""
        sign = hashlib.sha256(f"cookies {secret}".encode()).hexdigest()[:8]
        return cls(*(f"tvcs_{kind}_{sign}" for kind in cls._fields))


@dataclass(eq=False)
class Served:
    """A campaign that is served.

    Attributes
    ----------
    campaign
        The campaign.
    password
        Of the operator.
    media
        The folder of images and sounds, or None.
    instructions
        Markdown that every worker sees, or ``""``.
    is_secure
        Whether browsers come by https, so that cookies go no other way.
    root
        The path of the host below which browsers see the desk, such as ``/label``, or ``""``.
    public_url
        Where browsers reach the desk; links begin with it, whatever a request calls its host. By
        default this machine's port 8000.
    """

    campaign: Campaign
    password: str
    media: Path | None = None
    instructions: str = ""
    is_secure: bool = False
    root: str = ""
    public_url: str = ""
    per_worker: TokenBucket = field(default_factory=lambda: TokenBucket(2.0, 20.0))
    guesses: TokenBucket = field(default_factory=lambda: TokenBucket(10.0 / 60.0, 20.0))

    def __post_init__(self) -> None:
        self.links = Links(self.campaign.store)
        self.entrance = Entrance(self.campaign.store, self.links.secret, self.password)
        self.password = ""
        self.public_url = self.public_url or f"http://127.0.0.1:8000{self.root}"
        self.cookies = Cookies.of(self.links.secret)
        self.pages = Pages(self.links.secret)
        self._contents: dict[str, tuple[float, Content]] = {}
        self._aliases = Aliases(self.campaign.store, self.links.secret)
        self.look_for_gold()
        self._threads = ThreadPoolExecutor(THREADS, "turns")
        self._forms = URLSafeTimedSerializer(self.links.secret, salt="form")

    def link(self, token: str) -> str:
        """Return the link of a worker."""
        return f"{self.public_url}/w/{token}"

    def page(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """Fill a template, which knows below which path the desk is."""
        return page(template, status, root=self.root, **values)

    async def in_thread(self, work: Callable[..., Response], *given: Any) -> Response:
        """Answer beside other requests what waits for the store."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)

    def content_of(self, task: str) -> Content:
        """What a task shows; a desk that started later may have given it anew a moment ago."""
        now = time.monotonic()
        read, found = self._contents.get(task, (-FRESH, None))
        if found is None or now - read >= FRESH:
            found = content_of(self.campaign.store, task)
            found = self._aliases.shown(task, found) if self.is_mixed else found
            self._contents[task] = now, found
        return found

    def look_for_gold(self) -> None:
        """Look whether gold is among the tasks; once more after it was put there."""
        self.is_mixed, self._since = self._mixed()

    def setup(self, gold_share: float) -> bytes:
        """What must be the same at all desks of a campaign; it tells nothing of the password."""
        told = f"{gold_share} {self.instructions}".encode()
        return hashlib.sha256(self.entrance.sign + told).digest()

    def _mixed(self) -> tuple[bool, float]:
        """Whether gold is among the tasks, also of a server before, and since when for workers.

        That is the first time that any was given out, or now.
        """
        with self.campaign.store.read() as (connection, _):
            gold, first = connection.execute(_GOLD).one()
        now = time.time()
        since = now if first is None else min(first, now)
        return bool(gold) or self.campaign.gold_share > 0.0, since

    def name_of(self, task: str) -> str:
        """Return the name that workers see of a task."""
        return self._aliases.of(task) if self.is_mixed else task

    def task_of(self, name: str, worker: str) -> str:
        """Return the task of such a name.

        A worker may give the real name of a task that they were told by it: before any gold was
        among the tasks, or by a round. Of other tasks it would say that they are no gold.

        Raises
        ------
        Refused
            If it is the name of none.
        """
        if not self.is_mixed:
            return name
        try:
            return self._aliases.name(name)
        except Refused:
            with self.campaign.store.read() as (connection, _):
                if _TOLD.first(connection, called=name, by=worker, since=self._since) is None:
                    raise
            return name

    def file_of(self, path: str) -> str:
        """Return the file in the folder of media that workers see under a path.

        Pictures of the instructions keep their names, since they belong to no task.
        """
        if not self.is_mixed or path in pictures(self.instructions):
            return path
        task, kind = self._aliases.file(path)
        return str(getattr(content_of(self.campaign.store, task), kind))

    def unnamed(self) -> AbstractContextManager[None]:
        """Keep names of tasks out of what workers are told of a refusal."""
        return self._aliases.unnamed() if self.is_mixed else nullcontext()

    @cached_property
    def classes(self) -> list[str]:
        """Names of the labels."""
        with self.campaign.store.read() as (_, settings):
            return list(json.loads(settings.classes))

    def form_token(self, owner: str) -> str:
        """Return what a form must send back, so that no other site can send it."""
        return str(self._forms.dumps(hashlib.sha256(owner.encode()).hexdigest()[:16]))

    def is_form_of(self, owner: str, token: str) -> bool:
        """Whether a form was made for this owner of a cookie."""
        try:
            found = self._forms.loads(token, max_age=7 * 24 * 3600)
        except BadSignature:
            return False
        return bool(found == hashlib.sha256(owner.encode()).hexdigest()[:16])

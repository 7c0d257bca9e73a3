"""Shared state of the pages of one server: the campaign, its links, its settings."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fastapi.responses import HTMLResponse, Response
from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy import bindparam, func, or_, select

from crowd_tvcs.campaign import Campaign, RejectedError
from crowd_tvcs.campaign.answer_kinds.kind import AnswerKind, kind_of
from crowd_tvcs.campaign.desk.access import Links, loads_within
from crowd_tvcs.campaign.desk.content import Content, content_of
from crowd_tvcs.campaign.store.queries import SETTINGS, of_pairs
from crowd_tvcs.campaign.store.schema import GOLD, pair, task, worker
from crowd_tvcs.campaign.store.statements import Statement
from crowd_tvcs.serve.aliases import Aliases
from crowd_tvcs.serve.control.accounts import Account
from crowd_tvcs.serve.limits import TokenBucket
from crowd_tvcs.serve.operator_auth import OperatorAuth
from crowd_tvcs.serve.pages import page
from crowd_tvcs.serve.recruit.sign_up import SignUp
from crowd_tvcs.serve.sign_in import UserHeader
from crowd_tvcs.serve.turn.instructions import pictures
from crowd_tvcs.serve.turn.page_tokens import PageTokens
from crowd_tvcs.serve.turn.texts import carried

_GOLD = (
    select(func.count(task.c.id), func.min(pair.c.leased_at))
    .outerjoin_from(task, pair, pair.c.task_id == task.c.id)
    .where(task.c.closed == GOLD)
)
_KNOWN_NAME = Statement(
    of_pairs(task.c.id).where(
        task.c.name == bindparam("called"),
        task.c.closed != GOLD,
        worker.c.name == bindparam("by"),
        or_(pair.c.leased_at < bindparam("since"), pair.c.leased_at.is_(None)),
    )
)
"""Task whose real name was shown to a worker, and which is not gold."""

THREADS = 12
"""Threads for workers' requests. Each has a connection; with the idle ones they leave 3 of the
store's 19 connections to other pages (`store.POOL`)."""
CONTENT_CACHE_SECONDS = 30.0
"""Seconds for which the content of a task is cached."""
CLASSES_CACHE_SECONDS = 1.0
"""Seconds for which the classes are cached."""
SETUP_DIFFERENCES = (
    "another password, other instructions, another share of gold, or another way to sign up or in"
)
"""Differences that `Served.setup` detects, in words."""


class Cookies(NamedTuple):
    """Names of the cookies of a campaign, unique on a host."""

    worker: str
    operator: str
    done: str
    join: str

    @classmethod
    def of(cls, secret: str) -> Cookies:
        """Return the names derived from a campaign's secret, equal at all its servers."""
        fingerprint = hashlib.sha256(f"cookies {secret}".encode()).hexdigest()[:8]
        return cls(*(f"tvcs_{kind}_{fingerprint}" for kind in cls._fields))


@dataclass(eq=False)
class Served:
    """A served campaign.

    Attributes
    ----------
    campaign
        The campaign.
    password
        Password of the operator.
    media
        Folder of images and sounds, or None.
    instructions
        Instructions for workers in Markdown, or ``""``.
    is_secure
        Whether browsers use https, so that cookies require it.
    root
        Path of the host below which browsers see the server, such as ``/label``, or ``""``.
    public_url
        URL of the server for browsers; links begin with it, whatever the Host header of a request.
        By default this machine's port 8000.
    sign_up
        How people sign up by themselves; None if they cannot.
    accounts
        Several operators in place of the one with `password`.
    user_header
        How a proxy names workers who signed in there; None if they have links only.
    texts
        Texts of the pages of workers (`turn.texts`).
    """

    campaign: Campaign
    password: str
    media: Path | None = None
    instructions: str = ""
    is_secure: bool = False
    root: str = ""
    public_url: str = ""
    sign_up: SignUp | None = None
    accounts: Sequence[Account] = ()
    user_header: UserHeader | None = None
    texts: Mapping[str, str] = field(default_factory=carried)
    per_worker: TokenBucket = field(default_factory=lambda: TokenBucket(2.0, 20.0))
    guesses: TokenBucket = field(default_factory=lambda: TokenBucket(10.0 / 60.0, 20.0))

    def __post_init__(self) -> None:
        self.links = Links(self.campaign.store)
        accounts = self.accounts or (Account(password=self.password),)
        self.auth = OperatorAuth(self.campaign.store, self.links.secret, accounts)
        self.password, self.accounts = "", ()
        self.public_url = self.public_url or f"http://127.0.0.1:8000{self.root}"
        self.cookies = Cookies.of(self.links.secret)
        self.pages = PageTokens(self.links.secret)
        self._kind: tuple[float, AnswerKind | None] = (-CLASSES_CACHE_SECONDS, None)
        self._contents: dict[str, tuple[float, Content]] = {}
        self._aliases = Aliases(self.campaign.store, self.links.secret)
        self.look_for_gold()
        self._threads = ThreadPoolExecutor(THREADS, "turns")
        self._forms = URLSafeTimedSerializer(self.links.secret, salt="form")

    def link(self, token: str) -> str:
        """Return the link of a worker."""
        return f"{self.public_url}/w/{token}"

    def page(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """Fill a template, with the path of the server and the texts of workers."""
        return page(template, status, **{"root": self.root, "t": self.texts, **values})

    def set_cookie(
        self, answer: Response, name: str, value: str, seconds: int, *, is_strict: bool = False
    ) -> None:
        """Set a cookie that scripts cannot read; a strict one is sent from our own pages alone."""
        answer.set_cookie(
            name, value, path=self.root or "/", httponly=True, secure=self.is_secure,
            samesite="strict" if is_strict else "lax", max_age=seconds,
        )  # fmt: skip

    async def in_thread(self, work: Callable[..., Response], *given: Any) -> Response:
        """Process a request that waits for the store in a thread."""
        within = copy_context().run  # with the origin of the request
        return await asyncio.get_running_loop().run_in_executor(self._threads, within, work, *given)

    def content_for(self, task: str, worker: str) -> Content:
        """Return the content of a task with its sides as they are drawn for a worker."""
        found = self.content_of(task)
        return found.swapped if self.kind.is_swapped(task, worker) else found

    def content_of(self, task: str) -> Content:
        """Return the content of a task; another server may have just changed it."""
        now = time.monotonic()
        read, found = self._contents.get(task, (-CONTENT_CACHE_SECONDS, None))
        if found is None or now - read >= CONTENT_CACHE_SECONDS:
            found = content_of(self.campaign.store, task)
            found = self._aliases.shown(task, found) if self.is_mixed else found
            self._contents[task] = now, found
        return found

    def look_for_gold(self) -> None:
        """Detect gold among the tasks, also by an earlier server; repeat after adding some."""
        with self.campaign.store.read() as (connection, _):
            gold, first = connection.execute(_GOLD).one()
        now, policy = time.time(), self.campaign
        self.is_mixed = bool(gold) or policy.gold_share > 0.0 or policy.gold_first > 0
        self._since = now if first is None else min(first, now)  # the first lease of gold

    def setup(self, gold_share: float, gold_first: int = 0, gold_feedback: bool = False) -> bytes:
        """Return a hash of the settings that all servers of a campaign share.

        It does not reveal the password.
        """
        text = (
            f"{gold_share} {gold_first} {gold_feedback} {self.sign_up} {self.user_header} "
            f"{self.instructions}"
        ).encode()
        return hashlib.sha256(self.auth.fingerprint + text).digest()

    def name_of(self, task: str) -> str:
        """Return the name of a task that workers see."""
        return self._aliases.of(task) if self.is_mixed else task

    def task_of(self, name: str, worker: str) -> str:
        """Return the task of such a name.

        A worker may give the real name of a task that was shown to them: before gold was added, or
        by a round. For other tasks it would reveal that they are not gold.
        """
        if not self.is_mixed:
            return name
        try:
            return self._aliases.name(name)
        except RejectedError:
            with self.campaign.store.read() as (connection, _):
                if _KNOWN_NAME.first(connection, called=name, by=worker, since=self._since) is None:
                    raise
            return name

    def file_of(self, path: str) -> str:
        """Return the file in the media folder for a path that workers see.

        Pictures of the instructions keep their names, since they belong to no task.
        """
        if not self.is_mixed or path in pictures(self.instructions):
            return path
        task, kind = self._aliases.file(path)
        return str(getattr(content_of(self.campaign.store, task), kind))

    def unnamed(self) -> AbstractContextManager[None]:
        """Remove names of tasks from refusals for workers."""
        return self._aliases.unnamed() if self.is_mixed else nullcontext()

    @property
    def kind(self) -> AnswerKind:
        """The kind of answers and their labels; another server may have just added some."""
        now = time.monotonic()
        read, found = self._kind
        if found is None or now - read >= CLASSES_CACHE_SECONDS:
            ((settings,),) = self.campaign.store.look(SETTINGS.with_())
            found = kind_of(settings)
            self._kind = now, found
        return found

    @property
    def classes(self) -> list[str]:
        """Names of the classes, steps or labels, or the words of a preference."""
        return list(self.kind.labels)

    def forget_classes(self) -> None:
        """Read the classes anew, after a change here."""
        self._kind = (-CLASSES_CACHE_SECONDS, None)

    def form_token(self, owner: str) -> str:
        """Return the token of a form, so that no other site can send it."""
        return str(self._forms.dumps(hashlib.sha256(owner.encode()).hexdigest()[:16]))

    def is_form_of(self, owner: str, token: str) -> bool:
        """Return whether a form was made for this owner of a cookie."""
        try:
            found = loads_within(self._forms, token, 7 * 24 * 3600)
        except BadSignature:
            return False
        return bool(found == hashlib.sha256(owner.encode()).hexdigest()[:16])

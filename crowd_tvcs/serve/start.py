"""Start the server, stop it cleanly, and create a demo campaign."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from sqlalchemy import func, select

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.answer_kinds.kind import Preference, kind_of
from crowd_tvcs.campaign.desk.content import (
    Content,
    check_kept_media,
    check_tasks,
    content_of_pairs,
    read_content,
    set_content,
    text_of,
)
from crowd_tvcs.campaign.desk.figures import without_gold
from crowd_tvcs.campaign.desk.gold import mix_in
from crowd_tvcs.campaign.desk.media import check_media
from crowd_tvcs.campaign.desk.seats import check_seats
from crowd_tvcs.campaign.store.schema import gold as gold_label
from crowd_tvcs.campaign.store.schema import task, worker
from crowd_tvcs.campaign.store.server_lock import ServerLock, hold_server_lock
from crowd_tvcs.serve import connections
from crowd_tvcs.serve.address import ListenAddress
from crowd_tvcs.serve.app import create_app
from crowd_tvcs.serve.control.accounts import read_accounts
from crowd_tvcs.serve.desk import SETUP_DIFFERENCES, Served
from crowd_tvcs.serve.recruit.sign_up import SignUp
from crowd_tvcs.serve.sign_in import UserHeader
from crowd_tvcs.serve.turn.instructions import pictures
from crowd_tvcs.serve.turn.texts import missing, read_texts
from tvcs_core.command.shell import print_message
from tvcs_core.files.display import joined, plural
from tvcs_core.files.errors import RunError

GOLD_SHARE = 0.1
"""Share of gold among the assigned tasks, if gold is given without a share."""
NO_GOLD = 0.0, 0, False
"""Share of gold, number of gold tasks that come first, and whether their labels are shown."""
GRACE_SECONDS = 1
"""Seconds that requests have to finish after Ctrl-C."""
DEMO = {
    "The train was on time and the seats were clean.": "good",
    "Two hours late, and nobody said a word.": "bad",
    "Friendly staff, fair price.": "good",
    "The heating was off all night.": "bad",
    "I would come again.": "good",
    "Never again.": "bad",
    "Not bad at all, in the end.": "good",
    "It could not have been worse planned.": "bad",
}


def serve(
    store: str | None,
    address: ListenAddress,
    *,
    content: Path | None = None,
    media: Path | None = None,
    instructions: Path | None = None,
    operator_password_file: Path | None = None,
    operators: Path | None = None,
    gold: Path | None = None,
    gold_share: float | None = None,
    gold_first: int = 0,
    gold_feedback: bool = False,
    sign_up: SignUp | None = None,
    user_header: UserHeader | None = None,
    language: str = "en",
) -> None:
    """Serve a campaign until Ctrl-C; without a store, a demo campaign.

    Gold of a file, and of the campaign, is mixed into the tasks if `gold`, `gold_share` or
    `gold_first` is given. People sign up by themselves with `sign_up`, and a proxy signs workers in
    with `user_header`. `language` is that of the pages of workers, or a file of their texts.

    Raises
    ------
    DataError, ValueError
        If a file is invalid.
    RunError
        If the address is in use, or another server has the campaign, except one with the same
        settings on PostgreSQL; also if it started while the database was unavailable.
    """
    texts = _texts(language)
    with _campaign(store) as campaign:
        accounts = () if operators is None else tuple(read_accounts(operators))
        password = "" if accounts else _password(operator_password_file)
        text = "" if instructions is None else _instructions(instructions, media)
        labels = {} if gold is None else _gold_labels(campaign, gold)
        bodies = {} if content is None else _bodies(campaign, content, media, labels)
        check_kept_media(campaign.store, media, bodies)
        served = Served(
            campaign, password, media, text, address.is_secure, address.root, address.url,
            sign_up, accounts, user_header, texts,
        )  # fmt: skip
        if sign_up is not None:
            with campaign.store.read() as (_, settings):
                check_seats(settings, sign_up)
        is_gold = gold is not None or gold_share is not None or gold_first > 0
        share = GOLD_SHARE if gold_share is None else gold_share
        rules = (share, gold_first, gold_feedback) if is_gold else NO_GOLD
        with hold_server_lock(campaign.store, served.setup(*rules), SETUP_DIFFERENCES) as sign:
            if is_gold:
                _mix_in(campaign, labels, content, bodies)
                campaign.gold_share, campaign.gold_first, campaign.gold_feedback = rules
                served.look_for_gold()
            if content is not None and (lacking := set_content(campaign.store, bodies, content)):
                have = plural(lacking, "task has", "tasks have")
                print_message(f"{have} no content; names are shown")
            if is_gold:
                _print_workers_without_tasks(campaign)
            made = password if operator_password_file is None else ""
            _print_addresses(address.url, sign_up, made)
            if store is None:
                _print_links(served)
            _run(served, address, sign)


def _texts(language: str) -> Mapping[str, str]:
    """Read the texts of a language, and report those that it lacks."""
    texts = read_texts(language)
    if lacking := missing(texts):
        print_message(f"{language} lacks {plural(len(lacking), 'text')}, in English here")
    return texts


def _print_addresses(url: str, sign_up: SignUp | None, password: str) -> None:
    """Print the addresses of operators and of people who sign up, and a password made here."""
    print_message(f"operator: {url}/operator")
    if password:
        print_message(f"password of the operator, for this run: {password}")
    if sign_up is not None and not sign_up.is_signed:
        print_message(f"people sign up at {url}/join?{sign_up.parameters[0]}=ID")


def _print_links(served: Served) -> None:
    for name, token in served.links.make(None, now=time.time()).items():
        print_message(f"{name}: {served.link(token)}")


def _instructions(path: Path, media: Path | None) -> str:
    """Read the instructions, and check their pictures."""
    text = text_of(path)
    try:
        for picture in sorted(pictures(text)):
            check_media(media, picture, "image")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return text


def _gold_labels(campaign: Campaign, path: Path) -> Mapping[str, str]:
    """Read gold by the kind of answers."""
    from crowd_tvcs.campaign.answer_kinds.tables import read_known

    with campaign.store.read() as (connection, settings):
        return read_known(path, kind_of(settings), set(connection.scalars(select(task.c.name))))


def _known_tasks(campaign: Campaign, labels: Mapping[str, str]) -> set[str]:
    """Return the names of all tasks, gold too."""
    known = set(labels)
    with campaign.store.read() as (connection, _):
        for column in (task.c.name, gold_label.c.task):
            known.update(connection.scalars(select(column)))
    return known


def _bodies(
    campaign: Campaign, path: Path, media: Path | None, labels: Mapping[str, str]
) -> dict[str, Content]:
    """Read the content of tasks; of comparisons it may be that of their items."""
    bodies = read_content(path, media)
    with campaign.store.read() as (_, settings):
        kind = kind_of(settings)
    if kind.name == Preference.name:
        return content_of_pairs(bodies, _known_tasks(campaign, labels), path)
    return bodies


def _mix_in(
    campaign: Campaign, labels: Mapping[str, str], path: Path | None, bodies: Mapping[str, Content]
) -> None:
    """Mix gold into the tasks, and report its number; refuse content of unknown tasks first."""
    check_tasks(bodies, _known_tasks(campaign, labels), path)
    there, left_out = mix_in(campaign.store, labels, bodies)
    print_message(
        plural(there, "gold task is", "gold tasks are") + " mixed in; workers cannot recognise them"
    )
    if left_out:
        print_message(
            f"{plural(left_out, 'gold task')} without content skipped; workers could recognise them"
        )


def _print_workers_without_tasks(campaign: Campaign) -> None:
    """Report the workers who get no gold, because they answered all of it before."""
    names, number = without_gold(campaign.store)
    with campaign.store.read() as (connection, _):
        workers = connection.scalar(select(func.count()).select_from(worker))
    if not names:
        return
    whom = f"all {workers} workers"
    if len(names) != workers:
        whom = f"{len(names)} of {workers} workers ({joined(names)})"
    print_message(
        f"{whom} have already answered all {number} gold tasks and get no gold; add gold that they "
        "have not seen with --gold FILE"
    )


class _Server(uvicorn.Server):
    """Server that reports when it listens, and ends when another replaces it."""

    def __init__(self, config: uvicorn.Config, sign: ServerLock | None) -> None:
        super().__init__(config)
        self._sign = sign

    @property
    def is_ousted(self) -> bool:
        """Whether a server with other settings has the campaign now."""
        return self._sign is not None and self._sign.is_ousted

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        connections.log_shortage(asyncio.get_running_loop())
        await super().startup(sockets)
        if self.started:
            for server in self.servers:
                for one in server.sockets:
                    connections.lengthen_queue(one.fileno())
            print_message("ready; stop with Ctrl-C")

    async def on_tick(self, counter: int) -> bool:
        """Return whether to end."""
        return await super().on_tick(counter) or self.is_ousted


def config_of(
    served: Served, address: ListenAddress, sign: ServerLock | None = None, most: int | None = None
) -> uvicorn.Config:
    """Return the configuration of the server, with at most `most` connections."""
    most = connections.max_connections() if most is None else most
    options: dict[str, Any] = {
        "host": address.host,
        "port": address.port,
        "log_level": "error",  # a line for every invalid request could fill a disk
        "access_log": False,
        "server_header": False,
        "proxy_headers": address.behind_proxy and served.user_header is None,
        "timeout_graceful_shutdown": GRACE_SECONDS,
        "timeout_keep_alive": connections.IDLE_SECONDS,
        "http": connections.bounded_protocol(most),
        "loop": "asyncio",  # whose behaviour without free files is known
        "ws": "none",
        "backlog": connections.BACKLOG,
    }
    return uvicorn.Config(create_app(served, sign), **options)


def _run(served: Served, address: ListenAddress, sign: ServerLock | None) -> None:
    logging.getLogger("uvicorn.error").addFilter(_is_no_end)
    server = _Server(config_of(served, address, sign), sign)
    try:
        server.run()
    except SystemExit:  # uvicorn has said why
        raise RunError(f"{address.listens} is not available; is it in use?") from None
    if server.is_ousted:
        raise RunError(
            f"a server with {SETUP_DIFFERENCES} took over the campaign while the database was "
            "unavailable; this one has stopped"
        )
    raise KeyboardInterrupt  # the usual end; uvicorn's own may come too late


def _is_no_end(record: logging.LogRecord) -> bool:
    """Return whether a uvicorn record is more than a request interrupted by the shutdown."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, asyncio.CancelledError)


def _password(path: Path | None) -> str:
    if path is None:
        return secrets.token_urlsafe(12)
    lines = text_of(path).splitlines()
    if not lines or len(lines[0]) < 8:
        raise ValueError(f"{path}: the password (first line) must have 8 characters or more")
    return lines[0]


@contextmanager
def _campaign(store: str | None) -> Iterator[Campaign]:
    if store is not None:
        with Campaign(store) as campaign:
            yield campaign
        return
    with tempfile.TemporaryDirectory(prefix="tvcs-desk-") as folder:
        workers = {"ann": 0.9, "bob": 0.8, "cy": 0.7}
        tasks = [f"t{j}" for j in range(1, len(DEMO) + 1)]
        path = Path(folder) / "demo.db"
        with Campaign.create(
            path,
            workers=workers,
            tasks=tasks,
            qualities=workers,
            classes=["bad", "good"],
            max_workers_per_task=3,
        ) as campaign:
            bodies = {name: Content(text) for name, text in zip(tasks, DEMO, strict=True)}
            set_content(campaign.store, bodies, path)
            yield campaign

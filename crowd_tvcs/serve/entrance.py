"""The operator's password and sessions: the same at every desk of the campaign that has it."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import os
import secrets
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from argon2.low_level import Type, hash_secret_raw
from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy import bindparam, delete, func, insert, select

from crowd_tvcs.campaign.desk.access import hashed, keyed
from crowd_tvcs.campaign.desk.turns import OPERATOR, Note, write_down
from crowd_tvcs.campaign.store.schema import audit, session
from crowd_tvcs.campaign.store.statements import Statement
from crowd_tvcs.campaign.store.store import Store
from crowd_tvcs.serve.limits import MOST_KNOWN, Busy, TooFast

SESSION = 8 * 3600
"""Seconds until an operator must give the password again."""
TRIES, WITHIN = 5, 60.0
"""Wrong passwords from one network, in so many seconds, after which none is looked at."""
MOST_WRITTEN = 60
"""Wrong passwords in that time that are written down; further ones each desk counts for itself."""
LATE = 600.0
"""Most seconds by which an entry of the audit may be older than one that was written before it.

Clocks of machines differ, changes wait for their turn, and those of one round of `sync` have the
time of its beginning.
"""
QUEUE = 4
"""Passwords that wait until one is looked at."""
NICE = 5
"""Of the thread that looks at passwords: it has a third of the time that a label has, not none."""
BUSY = 2.0
"""Seconds that a full queue takes to become empty, about."""
COST = {"time_cost": 3, "memory_cost": 65_536, "parallelism": 4}
"""Of a try, by argon2: what RFC 9106 recommends where memory is short."""
WRONG = "wrong password"

_OLD = (
    select(audit.c.id)
    .where(audit.c.at < bindparam("old"))
    .order_by(audit.c.id.desc())
    .limit(1)
    .scalar_subquery()
)
_WRONG = Statement(  # reads the audit from its end, as far as it is of these minutes
    select(audit.c.at, audit.c.address).where(
        audit.c.id > func.coalesce(_OLD, 0),
        audit.c.what == WRONG,
        audit.c.at > bindparam("since"),
    )
)
_SESSION = Statement(select(session.c.hashed).where(session.c.hashed == bindparam("hashed")))


def network_of(address: str) -> str:
    """Return what one person has of addresses: one, but of IPv6 the first 64 bits."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(found) >> 64 << 64))


class Entrance:
    """What lets the operator in.

    All that is known of the password is a slow hash of it under the campaign's secret, from which
    the key of sessions is made: so a session is good at every desk of the campaign that has this
    password, also after it began anew, and at none that has another. Wrong ones are written into
    the audit, where every desk counts them; so that strangers cannot fill it, only so many.

    Parameters
    ----------
    store
        The campaign's.
    secret
        The campaign's.
    password
        Of the operator.
    """

    def __init__(self, store: Store, secret: str, password: str) -> None:
        self._store, self._secret = store, secret
        self._salt = hashlib.sha256(f"operator {secret}".encode()).digest()[:16]
        self._slowly = ThreadPoolExecutor(1, "passwords", _give_way)
        self._proof = self._slow_hash(password)
        self._key = hashlib.sha256(b"quick" + self._proof).digest()
        self._right = b""  # a quick hash of what was right once
        self._sessions = URLSafeTimedSerializer(
            hashlib.sha256(b"sessions" + self._proof).hexdigest(), salt="operator"
        )
        self._one_at_a_time = threading.Lock()
        self._looking, self._waiting = ThreadPoolExecutor(1, "looking"), 0
        self._refused: dict[str, float] = {}  # networks, until when
        self._unwritten: list[tuple[float, str]] = []

    @property
    def sign(self) -> bytes:
        """What differs where the password does, and tells nothing of it."""
        return hashlib.sha256(b"sign" + self._proof).digest()

    def keyed(self, address: str) -> str:
        """Return what the audit keeps of an address: nobody finds it by trying all there are."""
        return keyed(self._secret, address)

    async def lets_in_soon(self, password: str, address: str) -> bool:
        """Whether this is the password, as `lets_in`, in a thread that no other page needs.

        Raises
        ------
        TooFast
            As `lets_in`.
        Busy
            If it is not known to be right, and others wait to be looked at.
        """
        loop, network = asyncio.get_running_loop(), self.keyed(network_of(address))
        if (wait := self._refused.get(network, 0.0) - time.time()) > 0.0:
            raise TooFast(max(1.0, wait))
        if secrets.compare_digest(self._quick_hash(password), self._right):
            return await loop.run_in_executor(None, self.lets_in, password, address)
        if self._waiting > QUEUE:
            raise Busy(BUSY)
        self._waiting += 1
        try:
            return await loop.run_in_executor(self._looking, self.lets_in, password, address)
        finally:
            self._waiting -= 1

    def lets_in(self, password: str, address: str) -> bool:
        """Whether this is the password.

        Raises
        ------
        TooFast
            If too many wrong ones came from this network; a right one is not looked at then either.
            Or if this is wrong, and too many came from anywhere.
        """
        network, quick = self.keyed(network_of(address)), self._quick_hash(password)
        if secrets.compare_digest(quick, self._right):
            self._require_few(network)
            return True
        with self._one_at_a_time:  # who tries many at once gains nothing
            full_for = self._require_few(network)
            if secrets.compare_digest(self._slow_hash(password), self._proof):
                self._right = quick
                return True
            now = time.time()
            if full_for:
                recent = [one for one in self._unwritten if one[0] > now - WITHIN]
                self._unwritten = [*recent, (now, network)]
                raise TooFast(full_for)
            with self._store.write() as (connection, _, _):
                write_down(connection, Note(OPERATOR, WRONG, address=network), now)
            return False

    def new_session(self) -> str:
        """Make a session; those that have run out are forgotten."""
        made, now = str(self._sessions.dumps(secrets.token_urlsafe(18))), time.time()
        with self._store.write() as (connection, _, _):
            connection.execute(delete(session).where(session.c.made < now - SESSION))
            connection.execute(insert(session).values(hashed=hashed(made), made=now))
        return made

    def is_session(self, text: str | None) -> bool:
        """Whether this is a session that has not run out or ended, at whatever desk."""
        try:
            self._sessions.loads(text or "", max_age=SESSION)
        except BadSignature:
            return False
        (rows,) = self._store.look(_SESSION.with_(hashed=hashed(text or "")))
        return bool(rows)

    def end_session(self, text: str) -> None:
        """End a session, at all desks: a copy of its cookie is good for nothing then."""
        with self._store.write() as (connection, _, _):
            connection.execute(delete(session).where(session.c.hashed == hashed(text)))

    def _require_few(self, network: str) -> float:
        """Return for how many seconds no wrong password is written down; 0 if one may be."""
        now = time.time()
        since = now - WITHIN
        with self._store.read() as (connection, _):
            written = [tuple(row) for row in _WRONG(connection, since=since, old=since - LATE)]
        wrong = [*written, *self._unwritten]
        own = sorted(at for at, whose in wrong if whose == network and at > since)
        if len(own) >= TRIES:
            if len(self._refused) >= MOST_KNOWN:
                self._refused.clear()
            self._refused[network] = own[-TRIES] + WITHIN
            raise TooFast(max(1.0, own[-TRIES] + WITHIN - now))
        if len(written) < MOST_WRITTEN:
            return 0.0
        return max(1.0, sorted(at for at, _ in written)[-MOST_WRITTEN] + WITHIN - now)

    def _quick_hash(self, password: str) -> bytes:
        return hashlib.blake2b(password.encode(), key=self._key).digest()

    def _slow_hash(self, password: str) -> bytes:
        """Hash in the thread that gives way to others."""
        return self._slowly.submit(_hashed, password.encode(), self._salt).result()


def _hashed(password: bytes, salt: bytes) -> bytes:
    return hash_secret_raw(password, salt, hash_len=32, type=Type.ID, **COST)


def _give_way() -> None:
    """Let labels go before the work of a thread and of those that it begins."""
    if sys.platform == "linux":  # elsewhere all of the process would give way
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)

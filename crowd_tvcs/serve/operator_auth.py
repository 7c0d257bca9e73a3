"""Operator login: password and sessions, shared by all servers of the campaign."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import os
import secrets
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

from argon2.low_level import Type, hash_secret_raw
from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy import bindparam, delete, func, insert, select

from crowd_tvcs.campaign.desk.access import hashed, keyed, loads_within
from crowd_tvcs.campaign.desk.actions import OPERATOR, write_audit
from crowd_tvcs.campaign.store.schema import audit, session
from crowd_tvcs.campaign.store.statements import Statement
from crowd_tvcs.campaign.store.store import Store
from crowd_tvcs.serve.control.accounts import Account
from crowd_tvcs.serve.limits import MAX_NAMES, BusyError, RateLimitError

SESSION_SECONDS = 8 * 3600
"""Seconds until an operator must log in again."""
MAX_TRIES, TRY_WINDOW_SECONDS = 5, 60.0
"""Wrong passwords from one network, in so many seconds, after which none is checked."""
MAX_RECORDED = 60
"""Wrong passwords in that time that are recorded; each server counts further ones itself."""
CLOCK_SKEW_SECONDS = 600.0
"""Largest number of seconds by which an audit entry may be older than an earlier entry.

Clocks of machines differ, changes queue up, and those of one round of `sync` have the time of its
beginning.
"""
MAX_QUEUED = 4
"""Passwords that wait for their check."""
NICENESS = 5
"""Niceness of the thread that checks passwords: a third of a label's share of the processor."""
RETRY_SECONDS = 2.0
"""Seconds in which a full queue empties, about."""
ARGON2_COST = {"time_cost": 3, "memory_cost": 65_536, "parallelism": 4}
"""Cost of a check by argon2: the recommendation of RFC 9106 for constrained memory."""
WRONG = "wrong password"

_OLD = (
    select(audit.c.id)
    .where(audit.c.at < bindparam("old"))
    .order_by(audit.c.id.desc())
    .limit(1)
    .scalar_subquery()
)
_WRONG = Statement(  # reads the audit from its end, back to these minutes
    select(audit.c.at, audit.c.address).where(
        audit.c.id > func.coalesce(_OLD, 0), audit.c.what == WRONG, audit.c.at > bindparam("since")
    )
)
_SESSION = Statement(select(session.c.hashed).where(session.c.hashed == bindparam("hashed")))


def network_of(address: str) -> str:
    """Return the network of one person: an address, or the first 64 bits of an IPv6 address."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(found) >> 64 << 64))


class OperatorAuth:
    """Authentication of the operator.

    Only a slow hash of the password under the campaign's secret is kept; the key of sessions
    derives from it. So a session is valid at every server of the campaign with this password, also
    after a restart, and at none with another. Wrong passwords are recorded in the audit, where
    every server counts them. Only so many are, so that attackers cannot fill it. Of a single
    account any name will do.
    """

    def __init__(self, store: Store, secret: str, accounts: Sequence[Account]) -> None:
        self._store, self._secret = store, secret
        self._slowly = ThreadPoolExecutor(1, "passwords", _give_way)
        self._proofs = {one.name: self._slow_hash(one.name, one.password) for one in accounts}
        self._accounts = {one.name: replace(one, password="") for one in accounts}
        rights = {one.name: sorted(one.rights) for one in accounts}
        self._proof = hashlib.sha256(f"{sorted(rights.items())}".encode()).digest()
        self._proof += b"".join(self._proofs[name] for name in sorted(self._proofs))
        self._key = hashlib.sha256(b"quick" + self._proof).digest()
        self._right: dict[str, bytes] = {}  # quick hashes of passwords that were right once
        self._sessions = URLSafeTimedSerializer(
            hashlib.sha256(b"sessions" + self._proof).hexdigest(), salt="operator"
        )
        self._one_at_a_time = threading.Lock()
        self._looking, self._waiting = ThreadPoolExecutor(1, "looking"), 0
        self._refused: dict[str, float] = {}  # networks, until when
        self._unwritten: list[tuple[float, str]] = []

    @property
    def is_single(self) -> bool:
        """Whether there is one operator, who needs no name."""
        return len(self._accounts) == 1

    def account(self, name: str) -> Account | None:
        """Return the operator of a name; the single one has any."""
        return self._accounts.get(next(iter(self._accounts)) if self.is_single else name)

    @property
    def fingerprint(self) -> bytes:
        """Hash that differs with passwords and rights, and does not reveal them."""
        return hashlib.sha256(b"sign" + self._proof).digest()

    def keyed(self, address: str) -> str:
        """Return the keyed hash of an address for the audit, which no enumeration can invert."""
        return keyed(self._secret, address)

    async def check_password_async(self, password: str, address: str, name: str = "") -> bool:
        """Check a password as `check_password`, in a thread that no other page needs.

        Raises
        ------
        RateLimitError
            As `check_password`.
        BusyError
            If it is not known to be right, and others wait for their check.
        """
        loop, network = asyncio.get_running_loop(), self.keyed(network_of(address))
        if (wait := self._refused.get(network, 0.0) - time.time()) > 0.0:
            raise RateLimitError(max(1.0, wait))
        given = (password, address, name)
        if self._is_known(self._quick_hash(password), name):
            return await loop.run_in_executor(None, self.check_password, *given)
        if self._waiting > MAX_QUEUED:
            raise BusyError(RETRY_SECONDS)
        self._waiting += 1
        try:
            return await loop.run_in_executor(self._looking, self.check_password, *given)
        finally:
            self._waiting -= 1

    def check_password(self, password: str, address: str, name: str = "") -> bool:
        """Return whether this is the password of the operator of this name.

        Raises
        ------
        RateLimitError
            If too many wrong ones came from this network; then a right one is not checked either.
            Or if this is wrong, and too many came from anywhere.
        """
        network, quick = self.keyed(network_of(address)), self._quick_hash(password)
        if self._is_known(quick, name):
            self._check_few(network)
            return True
        with self._one_at_a_time:  # so that parallel attempts gain nothing
            full_for = self._check_few(network)
            account = self.account(name)
            proof = b"" if account is None else self._proofs[account.name]
            salted = name if account is None else account.name  # an unknown name takes as long
            if secrets.compare_digest(self._slow_hash(salted, password), proof) and account:
                self._right[account.name] = quick
                return True
            now = time.time()
            if full_for:
                recent = [one for one in self._unwritten if one[0] > now - TRY_WINDOW_SECONDS]
                self._unwritten = [*recent, (now, network)]
                raise RateLimitError(full_for)
            with self._store.write() as (connection, _, _):
                write_audit(connection, OPERATOR, WRONG, address=network, now=now)
            return False

    def new_session(self, name: str = "") -> str:
        """Make a session of an operator; expired ones are deleted."""
        account = self.account(name)
        whose = [name if account is None else account.name, secrets.token_urlsafe(18)]
        made, now = str(self._sessions.dumps(whose)), time.time()
        with self._store.write() as (connection, _, _):
            connection.execute(delete(session).where(session.c.made < now - SESSION_SECONDS))
            connection.execute(insert(session).values(hashed=hashed(made), made=now))
        return made

    def is_session(self, text: str | None) -> bool:
        """Return whether this is a session that has not expired or ended, at any server."""
        return self.operator_of(text) is not None

    def operator_of(self, text: str | None) -> Account | None:
        """Return the operator of a session; None if it has expired or ended, at any server."""
        try:
            name, _ = loads_within(self._sessions, text or "", SESSION_SECONDS)
        except BadSignature:
            return None
        (rows,) = self._store.look(_SESSION.with_(hashed=hashed(text or "")))
        return self._accounts.get(name) if rows else None

    def end_session(self, text: str) -> None:
        """End a session at all servers; copies of its cookie become invalid."""
        with self._store.write() as (connection, _, _):
            connection.execute(delete(session).where(session.c.hashed == hashed(text)))

    def _check_few(self, network: str) -> float:
        """Return the seconds until a wrong password may be recorded again; 0 if now."""
        now = time.time()
        since = now - TRY_WINDOW_SECONDS
        with self._store.read() as (connection, _):
            written = [
                tuple(row)
                for row in _WRONG(connection, since=since, old=since - CLOCK_SKEW_SECONDS)
            ]
        wrong = [*written, *self._unwritten]
        own = sorted(at for at, whose in wrong if whose == network and at > since)
        if len(own) >= MAX_TRIES:
            if len(self._refused) >= MAX_NAMES:
                self._refused.clear()
            self._refused[network] = own[-MAX_TRIES] + TRY_WINDOW_SECONDS
            raise RateLimitError(max(1.0, own[-MAX_TRIES] + TRY_WINDOW_SECONDS - now))
        if len(written) < MAX_RECORDED:
            return 0.0
        return max(1.0, sorted(at for at, _ in written)[-MAX_RECORDED] + TRY_WINDOW_SECONDS - now)

    def _quick_hash(self, password: str) -> bytes:
        return hashlib.blake2b(password.encode(), key=self._key).digest()

    def _is_known(self, quick: bytes, name: str) -> bool:
        """Return whether a quick hash is that of a password that was right once."""
        account = self.account(name)
        right = b"" if account is None else self._right.get(account.name, b"")
        return secrets.compare_digest(quick, right)

    def _slow_hash(self, name: str, password: str) -> bytes:
        """Hash in the thread of low priority."""
        salt = hashlib.sha256(f"operator {self._secret} {name}".encode()).digest()[:16]
        return self._slowly.submit(_hashed, password.encode(), salt).result()


def _hashed(password: bytes, salt: bytes) -> bytes:
    return hash_secret_raw(password, salt, hash_len=32, type=Type.ID, **ARGON2_COST)


def _give_way() -> None:
    """Lower the priority of a thread and of those that it starts."""
    if sys.platform == "linux":  # elsewhere it would change the whole process
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)

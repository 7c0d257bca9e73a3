"""Links of workers: signed, kept as hashes only, and revocable."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Iterable
from typing import Any

from itsdangerous import BadSignature, SignatureExpired, Signer, URLSafeTimedSerializer
from sqlalchemy import bindparam, select, update

from crowd_tvcs.campaign.desk.actions import OPERATOR, write_audit
from crowd_tvcs.campaign.leases import refuse_unknown
from crowd_tvcs.campaign.store import schema
from crowd_tvcs.campaign.store.bulk import ids_of, insert_rows
from crowd_tvcs.campaign.store.schema import access, worker
from crowd_tvcs.campaign.store.statements import Statement
from crowd_tvcs.campaign.store.store import Store

TOKEN_BYTES = 18
"""Of a token before it is signed: 144 random bits."""
MAX_REMEMBERED = 10_000
"""Tokens remembered, by their hashes, as signed; whether one is still good the store says."""

_HOLDER = Statement(
    select(worker.c.name)
    .join(access, access.c.worker_id == worker.c.id)
    .where(access.c.token_hash == bindparam("hashed"), access.c.revoked.is_(None))
)


def secret_of(store: Store) -> str:
    """Return the key that signs the links of a campaign; the first call makes it."""
    with store.read() as (_, settings):
        if settings.secret is not None:
            return str(settings.secret)
    with store.write() as (connection, settings, _):
        if settings.secret is not None:  # another was faster
            return str(settings.secret)
        made = secrets.token_urlsafe(32)
        connection.execute(update(schema.campaign).values(secret=made))
        return made


class Links:
    """The links of the workers of one campaign."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.secret = secret_of(store)
        self._signed: set[str] = set()
        self._signer = Signer(self.secret, salt="link", digest_method=hashlib.sha256)

    def make(self, workers: Iterable[str] | None, *, now: float) -> dict[str, str]:
        """Make a new token for each of the workers, or for all; those they had stay good.

        Raises
        ------
        RejectedError
            If there is no such worker.
        """
        with self.store.write() as (connection, _, _):
            known = ids_of(connection, worker)
            names = sorted(known if workers is None else workers)
            refuse_unknown("worker", names, known)
            tokens = {name: self.new_token() for name in names}
            rows = [
                {"worker_id": known[name], "token_hash": hashed(token), "made": now}
                for name, token in tokens.items()
            ]
            insert_rows(connection, access, rows)
            write_audit(connection, OPERATOR, "links", detail=f"{len(rows)} made", now=now)
        return tokens

    def new_token(self) -> str:
        """Return a new signed token, which is nobody's before the store has its hash."""
        return self._signer.sign(secrets.token_urlsafe(TOKEN_BYTES)).decode()

    def revoke(self, workers: Iterable[str], *, now: float) -> int:
        """Revoke all links of some workers; how many these were.

        Raises
        ------
        RejectedError
            If there is no such worker.
        """
        names, revoked = sorted(workers), 0
        with self.store.write() as (connection, _, _):
            known = ids_of(connection, worker)
            refuse_unknown("worker", names, known)
            for name in names:
                found = connection.execute(
                    update(access)
                    .where(access.c.worker_id == known[name], access.c.revoked.is_(None))
                    .values(revoked=now)
                )
                revoked += found.rowcount
                write_audit(connection, OPERATOR, "revoke", detail=name, now=now)
        return revoked

    def holder(self, token: str) -> str | None:
        """Name of the worker whose link this is; None if it was revoked or never made."""
        known = hashed(token)
        if known not in self._signed:
            try:
                self._signer.unsign(token)
            except BadSignature:  # a guess, which costs no look into the store
                return None
            if len(self._signed) >= MAX_REMEMBERED:
                self._signed.clear()
            self._signed.add(known)
        (rows,) = self.store.look(_HOLDER.with_(hashed=known))
        return str(rows[0].name) if rows else None


def loads_within(serializer: URLSafeTimedSerializer, text: str, seconds: float) -> Any:
    """Return what was signed at most so many seconds ago, or by a clock that is ahead.

    Clocks of servers differ, and are set back. `max_age` of itsdangerous refuses the future.

    Raises
    ------
    BadSignature
        If it was not signed, or earlier.
    """
    found, signed = serializer.loads(text, return_timestamp=True)
    if time.time() - signed.timestamp() > seconds:
        raise SignatureExpired("too old")
    return found


def hashed(text: str) -> str:
    """Hash a token of many random bits, which the store does not keep."""
    return hashlib.sha256(text.encode()).hexdigest()


def keyed(secret: str, text: str) -> str:
    """Hash a value that could be guessed, such as an address, under the secret of a campaign."""
    return hmac.digest(secret.encode(), f"address {text}".encode(), "sha256").hex()

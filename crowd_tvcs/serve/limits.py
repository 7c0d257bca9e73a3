"""How often somebody may ask, how much they may send, and what every answer carries."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""Names of this machine for itself, which are no other's."""
MOST_KNOWN = 10_000
"""Names that a limit remembers; the one that was quiet for longest is forgotten."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class TooFast(Exception):
    """Somebody who asks too often; they may again in `wait` seconds."""

    def __init__(self, wait: float) -> None:
        super().__init__()
        self.wait = wait


class Busy(Exception):
    """What is asked for takes long, and many ask; it may be free in `wait` seconds."""

    def __init__(self, wait: float) -> None:
        super().__init__()
        self.wait = wait


class TokenBucket:
    """At most `burst` at once, and `per_second` in the long run, for each name."""

    def __init__(self, per_second: float, burst: float) -> None:
        self.per_second, self.burst = per_second, burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, name: str, now: float | None = None) -> float:
        """Seconds until `name` may ask; 0 if they may now, which is counted."""
        moment = time.monotonic() if now is None else now
        with self._lock:
            left, since = self._left.pop(name, (self.burst, moment))
            left = min(self.burst, left + (moment - since) * self.per_second)
            may = left >= 1.0
            self._left[name] = (left - 1.0 if may else left, moment)
            if len(self._left) > MOST_KNOWN:
                self._left.popitem(last=False)
        return 0.0 if may else (1.0 - left) / self.per_second


class Headed:
    """Add headers to every answer that lacks them, and `secure` ones if it goes by https."""

    def __init__(self, app: Any, headers: Mapping[str, str], secure: Mapping[str, str]) -> None:
        self.app = app
        self.headers, self.secure = _encoded(headers), _encoded(secure)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def headed(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", []))
                names = {name.lower() for name, _ in own}
                more = self.headers + (self.secure if scope["scheme"] == "https" else [])
                message["headers"] = own + [one for one in more if one[0] not in names]
            await send(message)

        await self.app(scope, receive, headed)


class Known:
    """Refuse a request for a host that the desk does not have, or by http where it has https.

    A page could else be made to point to a host that somebody chose, or a page of theirs, whose
    name they let stand for this machine, could read the desk.
    """

    def __init__(self, app: Any, url: str) -> None:
        parts = urlsplit(url)
        self.app, self.url = app, url
        self.host, self.is_secure = (parts.hostname or "").lower(), parts.scheme == "https"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower()
        host = given[1:].partition("]")[0] if given[:1] == "[" else given.partition(":")[0]
        if host in LOOPBACK:
            await self.app(scope, receive, send)
        elif host != self.host:
            await _refuse(send, 421, f"this desk is at {self.url}\n")
        elif self.is_secure and scope["scheme"] != "https":
            await _refuse(send, 403, f"this desk is at {self.url}, by https alone\n")
        else:
            await self.app(scope, receive, send)


class AtMost:
    """Refuse a request whose body is larger than `size` bytes, without reading on."""

    def __init__(self, app: Any, size: int) -> None:
        self.app, self.size = app, size
        self.refusal = f"a request may have at most {size} bytes\n"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        told = dict(scope["headers"]).get(b"content-length", b"0")
        if not told.isdigit() or int(told) > self.size:
            await _refuse(send, 413, self.refusal)
            return
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.size:
                await _refuse(send, 413, self.refusal)
                return
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> MutableMapping[str, Any]:
            return waiting.pop() if waiting else await receive()

        await self.app(scope, again, send)


async def _refuse(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), text.encode()) for name, text in headers.items()]

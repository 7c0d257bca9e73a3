"""Limits of requests by rate, size and host, a prefix of paths, and headers of every response."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from fastapi.responses import RedirectResponse

from crowd_tvcs.campaign.desk.actions import origin
from crowd_tvcs.serve.address import LOOPBACK

MAX_NAMES = 10_000
"""Names that a limit remembers; the least recent one is forgotten."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class RateLimitError(Exception):
    """Too many requests; the next is allowed in `wait` seconds."""

    status, text = 429, "too_many"

    def __init__(self, wait: float) -> None:
        super().__init__()
        self.wait = wait


class BusyError(RateLimitError):
    """Too many slow requests; one may be possible in `wait` seconds."""

    status, text = 503, "busy"


class TokenBucket:
    """Rate limit for each name: `burst` at once, and `per_second` in the long run."""

    def __init__(self, per_second: float, burst: float) -> None:
        self.per_second, self.burst = per_second, burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, name: str, now: float | None = None) -> float:
        """Return the seconds until `name` may continue; 0 if now, which is counted."""
        moment = time.monotonic() if now is None else now
        with self._lock:
            left, since = self._left.pop(name, (self.burst, moment))
            left = min(self.burst, left + (moment - since) * self.per_second)
            may = left >= 1.0
            self._left[name] = (left - 1.0 if may else left, moment)
            if len(self._left) > MAX_NAMES:
                self._left.popitem(last=False)
        return 0.0 if may else (1.0 - left) / self.per_second


class HeadersMiddleware:
    """Add missing headers to every response, and `secure` ones to https responses."""

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


class HostMiddleware:
    """Refuse a request for another host, or by http if the server has https.

    Otherwise a page could be made to link to an attacker's host, or a page of theirs, under a name
    that resolves to this machine (DNS rebinding), could read the server.
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
            await refuse(send, 421, f"this server is at {self.url}\n")
        elif self.is_secure and scope["scheme"] != "https":
            await refuse(send, 403, f"this server is at {self.url}, by https only\n")
        else:
            await self.app(scope, receive, send)


class OriginMiddleware:
    """Note the hash of the address of every request, for the audit."""

    def __init__(self, app: Any, keyed: Callable[[str], str]) -> None:
        self.app, self.keyed = app, keyed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            host, _ = scope["client"] or ("", 0)
            origin.set(self.keyed(host))
        await self.app(scope, receive, send)


class BodyLimitMiddleware:
    """Refuse a request with a body above `size` bytes, without reading on."""

    def __init__(self, app: Any, size: int) -> None:
        self.app, self.size = app, size
        self.refusal = f"a request may have at most {size} bytes\n"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self.size:
            await refuse(send, 413, self.refusal)
            return
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.size:
                await refuse(send, 413, self.refusal)
                return
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> MutableMapping[str, Any]:
            return waiting.pop() if waiting else await receive()

        await self.app(scope, again, send)


class PrefixMiddleware:
    """Serve an application below a prefix, whether or not the proxy removes it from the path."""

    def __init__(self, app: Any, prefix: str) -> None:
        self.app, self.prefix = app, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with the prefix on its path as ASGI requires."""
        if scope["type"] == "http" and self.prefix:
            path = scope["path"]
            if path == self.prefix:  # without the slash, the browser would send no cookie back
                query = scope.get("query_string", b"").decode("latin-1")
                there = f"{self.prefix}/?{query}" if query else f"{self.prefix}/"
                await RedirectResponse(there, 308)(scope, receive, send)
                return
            if not path.startswith(f"{self.prefix}/"):
                path = self.prefix + path
            scope = {**scope, "path": path, "root_path": self.prefix}
        await self.app(scope, receive, send)


async def refuse(send: Send, status: int, text: str) -> None:
    """Answer a request with a line of text, and close its connection."""
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), text.encode()) for name, text in headers.items()]

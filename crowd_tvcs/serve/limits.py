"""How often somebody may ask, how much they may send, and what every answer carries."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

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
    """Add headers to every answer that does not have them."""

    def __init__(self, app: Any, headers: Mapping[str, str]) -> None:
        self.app = app
        self.headers = [(name.lower().encode(), text.encode()) for name, text in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def headed(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", []))
                names = {name.lower() for name, _ in own}
                message["headers"] = own + [one for one in self.headers if one[0] not in names]
            await send(message)

        await self.app(scope, receive, headed)


class AtMost:
    """Refuse a request whose body is larger than `size` bytes, without reading on."""

    def __init__(self, app: Any, size: int) -> None:
        self.app, self.size = app, size

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        told = dict(scope["headers"]).get(b"content-length", b"0")
        if not told.isdigit() or int(told) > self.size:
            await self._refuse(send)
            return
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.size:
                await self._refuse(send)
                return
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> MutableMapping[str, Any]:
            return waiting.pop() if waiting else await receive()

        await self.app(scope, again, send)

    async def _refuse(self, send: Send) -> None:
        text = f"a request may have at most {self.size} bytes\n".encode()
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": text})

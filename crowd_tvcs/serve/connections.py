"""Limits of connections: their number, and the time and size of a request.

uvicorn itself waits forever for the first byte of a connection, and for the rest of a request. So
idle connections would use up the open files of the process, and lock out other users. Here the
connection that has waited longest is closed for a new one.
"""

from __future__ import annotations

import asyncio
import math
import os
import socket
import sys
from collections import OrderedDict
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tvcs_core.command.shell import print_message

MAX_CONNECTIONS = 512
"""Simultaneous connections: 2.5 for each of 200 people, who need one."""
MIN_CONNECTIONS = 16
"""Simultaneous connections if the process may open few files."""
BACKLOG = 64
"""Connections that are accepted in one turn of the loop."""
WANTED_FILES = 1024
"""Open files that the server requests: the usual limit of a process."""
LISTEN_QUEUE = 1024
"""Connections that the system queues until they are accepted; they are not open files."""
OTHER_FILES = 200 + 4 * BACKLOG
"""Open files besides `MAX_CONNECTIONS`: up to three for each of the store's 19 connections, media
and templates, and connections of four turns that are not counted yet, or are being closed."""
MAX_HEAD_BYTES = 16_384
"""Largest head of a request in bytes; nginx allows 8 to 32 kB, our cookies take 200 bytes."""
REQUEST_SECONDS = 20.0
"""Seconds for a request to arrive, from its first byte; also for the first one to begin."""
IDLE_SECONDS = 15
"""Seconds that a connection may wait for its next request."""
READ_SECONDS = 30.0
"""Seconds for a client to continue reading a response."""
LOG_SECONDS = 60.0
"""Seconds between two equal lines about missing resources."""
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: text/plain; charset=utf-8\r\ncontent-length: 38\r\nconnection: close\r\n\r\n"
    b"the head of a request may be 16 kB long"
)


def max_connections() -> int:
    """Return the number of simultaneous connections, by the open files of the process."""
    if sys.platform == "win32":  # has no such limit
        return MAX_CONNECTIONS
    import resource

    given = resource.getrlimit(resource.RLIMIT_NOFILE)
    files, most = (math.inf if n == resource.RLIM_INFINITY else n for n in given)
    if files < WANTED_FILES <= most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (WANTED_FILES, given[1]))
        files = WANTED_FILES
    return int(max(MIN_CONNECTIONS, min(MAX_CONNECTIONS, files - OTHER_FILES)))


class WaitingConnections:
    """Connections of one server without a complete request, which may be closed for others."""

    def __init__(self, most: int) -> None:
        self.most, self.there = most, 0
        self._new: OrderedDict[BoundedConnection, None] = OrderedDict()  # never had a whole request
        self._known: OrderedDict[BoundedConnection, None] = OrderedDict()

    def add(self, one: BoundedConnection, *, is_new: bool) -> None:
        """Add a connection that now waits."""
        (self._new if is_new else self._known)[one] = None

    def remove(self, one: BoundedConnection) -> None:
        """Remove a connection that no longer waits."""
        self._new.pop(one, None)
        self._known.pop(one, None)

    def make_room(self) -> None:
        """Close the longest waiting connection, preferring those without any request so far."""
        for some in (self._new, self._known):
            if some:
                some.popitem(last=False)[0].transport.abort()
                return


class BoundedConnection(HttpToolsProtocol):
    """Connection with limits of time and size of its requests; see `bounded_protocol`."""

    waiting: WaitingConnections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; beyond the limit, close the longest waiting connection."""
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._under_way, self._head, self._is_head = 0, 0, True
        self.waiting.there += 1
        self.waiting.add(self, is_new=True)
        if self.waiting.there > self.waiting.most:
            self.waiting.make_room()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self.waiting.there -= 1
        self.waiting.remove(self)
        for timer in (self._timer, self._unread):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; refuse a head that is incomplete after `MAX_HEAD_BYTES` bytes."""
        if self.transport.is_closing():
            return
        if self._is_head:
            self._head += len(data)
        super().data_received(data)
        if self._is_head and self._head > MAX_HEAD_BYTES and not self.transport.is_closing():
            self._refuse()

    def on_message_begin(self) -> None:
        """Begin a request: its time runs from the first byte."""
        super().on_message_begin()
        if not self._under_way:
            self._wait()

    def on_headers_complete(self) -> None:
        """Continue with a request whose head is small."""
        self._is_head, self._head = False, 0
        if len(self.url) + sum(len(a) + len(b) + 4 for a, b in self.headers) > MAX_HEAD_BYTES:
            self._refuse()
            raise ValueError  # httptools stops reading here
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Mark a request as complete: its processing has no limit of time."""
        is_answered = self.cycle.response_complete
        super().on_message_complete()
        self._is_head, self._head = True, 0
        if not is_answered:
            self._under_way += 1
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._under_way = max(0, self._under_way - 1)
        if not self._under_way:
            self.waiting.remove(self)
            self.waiting.add(self, is_new=False)
            self._wait()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse an invalid request, if it is not refused already."""
        if not self.transport.is_closing():
            super().send_400_response(msg)

    def pause_writing(self) -> None:
        """Wait for a client to continue reading, for a limited time."""
        super().pause_writing()
        self._unread = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Continue writing."""
        if self._unread is not None:
            self._unread.cancel()
        super().resume_writing()

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        self.waiting.remove(self)
        if self._timer is not None:
            self._timer.cancel()

    def _refuse(self) -> None:
        self.transport.write(_TOO_LARGE)
        self.transport.close()


def bounded_protocol(most: int) -> type[BoundedConnection]:
    """Return the protocol of one server with at most `most` connections."""
    return type("Bounded", (BoundedConnection,), {"waiting": WaitingConnections(most)})


def lengthen_queue(number: int) -> None:
    """Let the system queue more connections of a listening socket than are accepted at once."""
    with socket.socket(fileno=os.dup(number)) as one:
        one.listen(LISTEN_QUEUE)


def log_shortage(loop: asyncio.AbstractEventLoop) -> None:
    """Log once a minute that no connection can be accepted, instead of one traceback each."""
    logged_at = -LOG_SECONDS

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal logged_at
        error = context.get("exception")
        if not isinstance(error, OSError):
            loop.default_exception_handler(context)
        elif loop.time() >= logged_at + LOG_SECONDS:
            logged_at = loop.time()
            print_message(f"connections cannot be accepted now: {error.strerror}")

    loop.set_exception_handler(handle)

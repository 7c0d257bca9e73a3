"""Connections: how many there are, and how long and how large a request may be.

uvicorn itself waits for ever for the first byte of a connection, and for the rest of a request. So
connections that send nothing would use up the files that a process may have open, and nobody else
could come in. Here the one that has waited longest makes room.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections import OrderedDict
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tvcs_core.command.shell import say

MOST = 512
"""Connections at once: two and a half of each of 200 people, who need one."""
FEWEST = 16
"""Likewise where the process may have hardly any files open."""
BACKLOG = 64
"""Connections that are accepted before any of them is looked at."""
FILES = 1024
"""Files that a process may have open as a rule; a desk asks for so many."""
QUEUE = 1024
"""Connections that the system holds until they are accepted; they are no files of the process."""
OTHER_FILES = 200 + 4 * BACKLOG
"""Files beside `MOST`: the store's 19 connections have up to three each, media and templates, and
connections that are accepted and not counted yet, or closed and not gone yet: of four turns."""
HEAD = 16_384
"""Most bytes of a request before its body; nginx takes 8 to 32 thousand, our cookies are 200."""
WHOLE = 20.0
"""Seconds for a request to come whole, from the first byte; also for the first one to begin."""
IDLE = 15
"""Seconds that a connection may wait for its next request."""
UNREAD = 30.0
"""Seconds for a client to go on reading its answer."""
SAYS_EVERY = 60.0
"""Seconds between two lines that say the same of what is short."""
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: text/plain; charset=utf-8\r\ncontent-length: 38\r\nconnection: close\r\n\r\n"
    b"the head of a request may be 16 kB long"
)


def most_connections() -> int:
    """Return how many connections there may be at once, by the files a process may have open."""
    if sys.platform == "win32":  # has no such limit
        return MOST
    import resource

    files, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files < FILES <= limit or (files < FILES and limit == resource.RLIM_INFINITY):
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, limit))
        files = FILES
    is_any = files == resource.RLIM_INFINITY
    return MOST if is_any else max(FEWEST, min(MOST, files - OTHER_FILES))


class Waiting:
    """The connections of one server: those without a whole request can make room for others."""

    def __init__(self, most: int) -> None:
        self.most, self.there = most, 0
        self._new: OrderedDict[Bounded, None] = OrderedDict()  # never had a whole request
        self._known: OrderedDict[Bounded, None] = OrderedDict()

    def add(self, one: Bounded, *, is_new: bool) -> None:
        """Note that a connection waits from now on."""
        (self._new if is_new else self._known)[one] = None

    def remove(self, one: Bounded) -> None:
        """Note that a connection waits no more."""
        self._new.pop(one, None)
        self._known.pop(one, None)

    def make_room(self) -> None:
        """Close the connection that has waited longest, of those that never asked if there are."""
        for some in (self._new, self._known):
            if some:
                some.popitem(last=False)[0].transport.abort()
                return


class Bounded(HttpToolsProtocol):
    """A connection whose requests come in time and have a small head; see `bounded`."""

    waiting: Waiting

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; too many are answered by closing the one that waited longest."""
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
        """Read on; a head that is still not whole after `HEAD` bytes is refused."""
        if self.transport.is_closing():
            return
        if self._is_head:
            self._head += len(data)
        super().data_received(data)
        if self._is_head and self._head > HEAD and not self.transport.is_closing():
            self._refuse()

    def on_message_begin(self) -> None:
        """Begin a request: from its first byte it has its time."""
        super().on_message_begin()
        if not self._under_way:
            self._wait()

    def on_headers_complete(self) -> None:
        """Go on with a request whose head is small."""
        self._is_head, self._head = False, 0
        if len(self.url) + sum(len(a) + len(b) + 4 for a, b in self.headers) > HEAD:
            self._refuse()
            raise ValueError  # httptools stops reading here
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that a request is whole, so that it may take its time."""
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
        """Refuse what is no request, if it is not refused already."""
        if not self.transport.is_closing():
            super().send_400_response(msg)

    def pause_writing(self) -> None:
        """Wait for a client to read on, but not for ever."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on writing."""
        if self._unread is not None:
            self._unread.cancel()
        super().resume_writing()

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(WHOLE, self.transport.abort)

    def _stop_waiting(self) -> None:
        self.waiting.remove(self)
        if self._timer is not None:
            self._timer.cancel()

    def _refuse(self) -> None:
        self.transport.write(_TOO_LARGE)
        self.transport.close()


def bounded(most: int) -> type[Bounded]:
    """Return the protocol of one server with at most so many connections."""
    return type("Bounded", (Bounded,), {"waiting": Waiting(most)})


def queue_longer(number: int) -> None:
    """Let the system hold more connections than are accepted at once, of a socket that listens."""
    with socket.socket(fileno=os.dup(number)) as one:
        one.listen(QUEUE)


def say_what_is_short(loop: asyncio.AbstractEventLoop) -> None:
    """Say in one line a minute that no connection can be accepted, not in a traceback for each."""
    said_at = -SAYS_EVERY

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal said_at
        error = context.get("exception")
        if not isinstance(error, OSError):
            loop.default_exception_handler(context)
        elif loop.time() >= said_at + SAYS_EVERY:
            said_at = loop.time()
            say(f"connections cannot be accepted now: {error.strerror}")

    loop.set_exception_handler(handle)

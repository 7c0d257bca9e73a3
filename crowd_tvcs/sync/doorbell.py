"""An address that a tool calls when something came in, so that nobody waits for the next look.

A call says only "look now": what came in is read from the tool itself, with the token, so a call
from anybody else can put nothing into a campaign.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tvcs_core.files.errors import RunError

LONGEST = 1_000_000
"""Most bytes of a call that are read, and forgotten."""
PATIENCE = 5.0
"""Seconds that a caller has for its call."""


class Doorbell:
    """A bell: `wait` returns when it rings, and `path` is where to call."""

    def __init__(self) -> None:
        self._rung = threading.Event()
        self.path = f"/{secrets.token_urlsafe(18)}"

    def ring(self) -> None:
        """Ring."""
        self._rung.set()

    def wait(self, seconds: float) -> None:
        """Wait until it rings or the time is over."""
        self._rung.wait(seconds)
        self._rung.clear()


@contextmanager
def hang(bell: Doorbell, host: str, port: int) -> Iterator[str]:
    """Listen for calls; the address to call.

    Raises
    ------
    RunError
        If it cannot be listened to.
    """

    class _Porter(BaseHTTPRequestHandler):
        timeout = PATIENCE

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length") or "0"
            size = int(length) if length.isdecimal() else LONGEST
            self.rfile.read(min(size, LONGEST))
            is_ours = secrets.compare_digest(self.path.encode(), bell.path.encode())
            if is_ours:
                bell.ring()
            self.send_response(204 if is_ours else 404)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Write no log."""

    try:
        server = ThreadingHTTPServer((host, port), _Porter)
    except (OSError, OverflowError) as error:
        raise RunError(f"--listen {host}:{port} cannot be listened to: {error}") from None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1})
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}{bell.path}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

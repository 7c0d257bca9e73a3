"""Webhook: an address that a tool calls after a change, so that no change waits for polling.

A call only triggers polling: the change is read from the tool itself, with the token, so a call
from elsewhere cannot add anything to a campaign.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tvcs_core.files.errors import RunError

MAX_BODY_BYTES = 1_000_000
"""Largest number of bytes of a call that are read, and discarded."""
TIMEOUT_SECONDS = 5.0
"""Seconds that a call may take."""


class WebhookListener:
    """Event set by calls: `wait` returns at a call, and `path` is the path to call."""

    def __init__(self) -> None:
        self.called = threading.Event()
        self.path = f"/{secrets.token_urlsafe(18)}"

    def wait(self, seconds: float) -> None:
        """Wait for a call or until the time is over."""
        self.called.wait(seconds)
        self.called.clear()


@contextmanager
def listen(listener: WebhookListener, host: str, port: int) -> Iterator[str]:
    """Listen for calls; yield the address to call.

    Raises
    ------
    RunError
        If the address is not available.
    """

    class _Handler(BaseHTTPRequestHandler):
        timeout = TIMEOUT_SECONDS

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length") or "0"
            size = int(length) if length.isdecimal() else MAX_BODY_BYTES
            self.rfile.read(min(size, MAX_BODY_BYTES))
            is_ours = secrets.compare_digest(self.path.encode(), listener.path.encode())
            if is_ours:
                listener.called.set()
            self.send_response(204 if is_ours else 404)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Write no log."""

    try:
        server = ThreadingHTTPServer((host, port), _Handler)
    except (OSError, OverflowError) as error:
        raise RunError(f"--listen {host}:{port} cannot be listened to: {error}") from None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1})
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}{listener.path}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

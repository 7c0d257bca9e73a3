"""Ports of this machine that nobody else takes until a test listens there."""

import itertools
import os
import socket
from contextlib import suppress

FIRST = 20_000  # below 32,768: from there on Linux gives a port to whoever asks for any
EACH = 1_500  # of every process of pytest-xdist
_numbers = itertools.count(os.getpid())


def free_port():
    """A port that is free: neither the system nor another process of these tests gives it away."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    while True:
        port = FIRST + EACH * (number % 8) + next(_numbers) % EACH
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port

"""Messages through a pipe: their length, and then what they hold."""

from __future__ import annotations

from typing import IO

HEAD = 8  # bytes of the length


def write_frame(pipe: IO[bytes], message: bytes) -> None:
    """Send a message."""
    pipe.write(len(message).to_bytes(HEAD, "little"))
    pipe.write(message)
    pipe.flush()


def read_frame(pipe: IO[bytes]) -> bytes:
    """Wait for a message.

    Raises
    ------
    EOFError
        If whoever sends has ended.
    """
    return _exactly(pipe, int.from_bytes(_exactly(pipe, HEAD), "little"))


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    found = pipe.read(size)
    if len(found) < size:
        raise EOFError
    return found

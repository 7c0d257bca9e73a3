"""Messages through a pipe: the length, then the content."""

from __future__ import annotations

from typing import IO

LENGTH_BYTES = 8


def write_frame(pipe: IO[bytes], message: bytes) -> None:
    """Send a message."""
    pipe.write(len(message).to_bytes(LENGTH_BYTES, "little"))
    pipe.write(message)
    pipe.flush()


def read_frame(pipe: IO[bytes]) -> bytes:
    """Wait for a message and return it.

    Raises
    ------
    EOFError
        If the sender has ended.
    """
    return _exactly(pipe, int.from_bytes(_exactly(pipe, LENGTH_BYTES), "little"))


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    content = pipe.read(size)
    if len(content) < size:
        raise EOFError
    return content

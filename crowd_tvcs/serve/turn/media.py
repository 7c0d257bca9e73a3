"""Send files of tasks as data of one media type, which no browser renders as a page."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from fastapi.responses import Response, StreamingResponse

from crowd_tvcs.serve.limits import Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Accept-Ranges": "bytes",
}
"""In addition to those of all responses, among which ``nosniff`` enforces the media type."""
CHUNK = 65_536
"""Bytes per read."""

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


def sent(file: BinaryIO, kind: str, wanted: str | None) -> Response:
    """Return the response with an open file, or with the part of a ``Range`` header.

    Parameters
    ----------
    file
        The file, closed at the end.
    kind
        Its media type.
    wanted
        The header; None for the whole file, which is also sent for several parts.
    """
    size = os.fstat(file.fileno()).st_size
    first, end = 0, size
    found = _RANGE.fullmatch(wanted or "")
    if found is None or found[0] == "bytes=-":
        headers, status = dict(HEADERS), 200
    else:
        first, end = _part(found[1], found[2], size)
        if first >= end:
            file.close()
            return Response(status_code=416, headers=HEADERS | {"Content-Range": f"bytes */{size}"})
        headers, status = HEADERS | {"Content-Range": f"bytes {first}-{end - 1}/{size}"}, 206
    headers["Content-Length"] = str(end - first)
    return _Sent(file, _read(file, first, end - first), status, headers, media_type=kind)


class _Sent(StreamingResponse):
    """Response that closes its file, also if the client has left."""

    def __init__(self, file: BinaryIO, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._file:
            await super().__call__(scope, receive, send)


def _part(first: str, last: str, size: int) -> tuple[int, int]:
    """Return begin and end of ``first-last``, ``first-``, or the last ``-length`` bytes."""
    if not first:
        return max(size - int(last), 0), size
    return int(first), min(int(last) + 1, size) if last else size


def _read(file: BinaryIO, first: int, length: int) -> Iterator[bytes]:
    file.seek(first)
    while length and (chunk := file.read(min(CHUNK, length))):
        length -= len(chunk)
        yield chunk

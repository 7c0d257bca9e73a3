"""A server below a path of its host, such as ``https://example.org/label``."""

from __future__ import annotations

import re
from typing import Any

from fastapi.responses import RedirectResponse

from crowd_tvcs.serve.limits import Receive, Scope, Send

OWN = ("answer", "api", "media", "operator", "remark", "skip", "static", "undo", "w")
"""First parts of the server's own paths, which a prefix must not have."""

_PREFIX = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+")


def prefix_of(text: str) -> str:
    """Return a prefix of paths without a trailing slash; ``""`` for the root of the host."""
    found = text.rstrip("/")
    if found and not _PREFIX.fullmatch(found):
        raise ValueError(
            "--root-path must be a path such as /label, of letters, digits, '.', '_', '~' and "
            f"'-', found {text!r}"
        )
    first = found.split("/")[1] if found else ""
    if first in OWN:
        raise ValueError(
            f"--root-path must not begin with /{first}, a path of the server itself, found "
            f"{text!r}: give another, such as /label"
        )
    return found


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

"""A server below a path of its host, such as ``https://example.org/label``."""

from __future__ import annotations

from typing import Any

from fastapi.responses import RedirectResponse

from crowd_tvcs.serve.limits import Receive, Scope, Send


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

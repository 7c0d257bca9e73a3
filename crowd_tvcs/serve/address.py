"""Address of the server, its URL for browsers, and the prefix of its paths.

The command line has these as options, so nothing that the server needs is imported here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from tvcs_core.arguments import Help
from tvcs_core.files.display import quoted

LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""Names by which a machine addresses itself."""
ALL_INTERFACES = ("0.0.0.0", "::")
"""Addresses that stand for all interfaces of this machine."""
MAX_PORT = 65535
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


@dataclass(frozen=True)
class ListenAddress:
    """Address of the server, and its URL for browsers.

    Raises
    ------
    ValueError
        If others can reach it without a declared protection, or its URL for browsers is missing.
    """

    host: Annotated[str, Help("Address to listen on.", "ADDRESS")] = "127.0.0.1"
    port: Annotated[int, Help("Port to listen on; 0 for a free one.", "N")] = 8000
    behind_proxy: Annotated[
        bool, Help("A proxy provides https for the server; see docs/serve.md.")
    ] = False
    trust_network: Annotated[bool, Help("Allow unencrypted links and password on --host.")] = False
    public_url: Annotated[
        str | None, Help("URL of the server for browsers. Default: --host and --port.", "URL")
    ] = None
    root_path: Annotated[
        str, Help("Path prefix of the server for browsers, such as /label behind a proxy.", "PATH")
    ] = ""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= MAX_PORT:
            raise ValueError(f"port must be from 0 to {MAX_PORT}, found {self.port}")
        if self.behind_proxy and self.trust_network:
            raise ValueError(
                "--behind-proxy and --trust-network exclude each other: either a proxy speaks "
                "https, or the network is trusted without it"
            )
        if self.host not in LOOPBACK and not (self.behind_proxy or self.trust_network):
            raise ValueError(
                f"--host {self.host} can be reached by others, and links and the password would be "
                "sent unencrypted: let a proxy speak https and give --behind-proxy, or give "
                "--trust-network if the network is private"
            )
        root = self.root
        if self.public_url is not None:
            check_url(self.public_url, needs_https=self.behind_proxy)
            if urlsplit(self.public_url).path.rstrip("/") != root:
                raise ValueError(
                    f"--public-url must end with the path of --root-path, {root or 'none'}, "
                    f"found {quoted(self.public_url)}"
                )
        elif self.behind_proxy:
            raise ValueError(
                "--behind-proxy needs --public-url, the URL of the proxy for browsers, such as "
                "https://label.example.org"
            )
        elif self.host in ALL_INTERFACES:
            raise ValueError(
                f"--host {self.host} is no address that browsers can open: give --public-url, such "
                f"as http://192.168.1.5:{self.port}"
            )

    @property
    def root(self) -> str:
        """Prefix of all paths, ``""`` without one."""
        return prefix_of(self.root_path)

    @property
    def is_secure(self) -> bool:
        """Whether browsers use https."""
        return self.url.startswith("https://")

    @property
    def listens(self) -> str:
        """URL of the server itself."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def url(self) -> str:
        """URL for people."""
        return (
            f"{self.listens}{self.root}" if self.public_url is None else self.public_url.rstrip("/")
        )


def check_url(url: str, *, needs_https: bool = False) -> None:
    """Refuse a URL of the server that browsers cannot open."""
    parts = urlsplit(url)
    schemes = ("https",) if needs_https else ("http", "https")
    if parts.scheme not in schemes or not parts.hostname or parts.username or parts.query:
        why = ", since a proxy speaks https" if needs_https else ""
        raise ValueError(
            f"--public-url must be such as https://label.example.org{why}, found {quoted(url)}"
        )

"""Sign-in by a proxy, which names the person in a header: believed from named addresses only."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request

from crowd_tvcs.serve.limits import MAX_NAMES, Receive, Scope, Send, refuse
from tvcs_core.files.display import quoted

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
USER = "tvcs.user"
"""Key of a request's scope: the person whom the proxy names."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,60}")
TAKEN = ("authorization", "cookie", "host", "x-forwarded-for", "x-forwarded-proto", "x-part")
"""Headers that mean something else."""


class UnknownUserError(Exception):
    """The proxy names a person who is not in the campaign."""


@dataclass(frozen=True)
class UserHeader:
    """How a proxy names the person who signed in.

    Attributes
    ----------
    name
        Header of their name, such as ``X-Forwarded-User``.
    addresses
        Addresses or networks of the proxy, from which alone it is believed.

    Raises
    ------
    ValueError
        If a name is no header, there is no address, or one is none, or names everybody.
    """

    name: str
    addresses: tuple[str, ...]
    _networks: tuple[Network, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name.lower() in TAKEN:
            raise ValueError(
                "--user-header must be a header such as X-Forwarded-User, found "
                f"{quoted(self.name)}"
            )
        if not self.addresses:
            raise ValueError(
                "--user-header needs --proxy-address, as anybody could write this header: give the "
                "address of the proxy, such as 127.0.0.1"
            )
        networks = []
        for text in self.addresses:
            try:
                network = ipaddress.ip_network(text)
            except ValueError:
                raise ValueError(
                    "--proxy-address must be an address or a network, such as 10.0.0.7 or "
                    f"172.18.0.0/16, found {quoted(text)}"
                ) from None
            if network.prefixlen == 0:
                raise ValueError(
                    f"--proxy-address {text} names every address, so anybody could write the "
                    "header: name that of the proxy"
                )
            networks.append(network)
        object.__setattr__(self, "_networks", tuple(networks))

    def is_proxy(self, peer: str) -> bool:
        """Return whether an address is the proxy's."""
        try:
            address = ipaddress.ip_address(peer)
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None) or address
        return any(mapped in network for network in self._networks)


class UserHeaderMiddleware:
    """Take the header off every request, and keep its name of one from the proxy.

    `warn` is called with the address of anybody else who sends it, once for each.
    """

    def __init__(self, app: Any, rules: UserHeader, warn: Callable[[str], Awaitable[None]]) -> None:
        self.app, self.rules, self.warn = app, rules, warn
        self._warned: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        key = self.rules.name.lower().encode()
        given = [value for name, value in scope["headers"] if name == key]
        scope = {**scope, "headers": [one for one in scope["headers"] if one[0] != key]}
        peer = (scope.get("client") or ("",))[0]
        if given and not self.rules.is_proxy(peer):
            if peer not in self._warned and len(self._warned) < MAX_NAMES:
                self._warned.add(peer)
                await self.warn(peer)
        elif len(given) > 1:
            await refuse(send, 400, f"{self.rules.name} came twice: the proxy must replace it\n")
            return
        elif given and (name := given[0].decode("utf-8", "replace").strip()):
            scope[USER] = name
        await self.app(scope, receive, send)


def user_of(request: Request) -> str | None:
    """Return the person whom the proxy names; None if it names nobody."""
    found: str | None = request.scope.get(USER)
    return found

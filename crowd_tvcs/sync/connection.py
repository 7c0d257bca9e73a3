"""JSON over HTTP to a tool, with errors in words."""

from __future__ import annotations

import ipaddress
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

from tvcs_core.files.shown import shown

TIMEOUT = 60.0
"""Seconds to wait for one answer."""
SAID = 300
"""Most characters that are repeated of what a tool says about an error."""
WAIT = 429
"""The status of a server that asks for patience."""


class Away(Exception):
    """The tool cannot be reached now, or says that it is busy: a later try may succeed."""


class ToolError(ValueError):
    """The tool does not do it, and would not do it later either; `status` is that of HTTP."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status = status


@dataclass(frozen=True)
class Trust:
    """How a server is trusted.

    Attributes
    ----------
    authority
        PEM file of the authority that signed the server's certificate; None for those the machine
        trusts.
    network
        Whether the token may go to it unencrypted.
    """

    authority: Path | None = None
    network: bool = False


DEFAULT = Trust()


class Connection:
    """A server that speaks JSON.

    Parameters
    ----------
    url
        Its address; paths are appended to it.
    headers
        Of every request, such as the token.
    trust
        How the server is trusted.

    Raises
    ------
    ValueError
        If `url` is no address, it would carry a token unencrypted to another machine, or the
        authority holds no certificate.
    """

    def __init__(self, url: str, headers: Mapping[str, str], trust: Trust = DEFAULT) -> None:
        self.url = url.rstrip("/")
        self.host = _host(url)
        if url.startswith("http://") and not (trust.network or is_this_machine(self.host)):
            raise ValueError(
                f"{self.url} is reached by http, so everybody on the way could read the token: "
                "give an https:// address, or --trust-network if nobody else is on that network"
            )
        self.headers = dict(headers)
        handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
        if self.url.startswith("https://"):
            handlers.append(urllib.request.HTTPSHandler(context=_context(trust.authority)))
        self._opener = urllib.request.build_opener(*handlers)

    def ask(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Send a request; the JSON that comes back, None where nothing does.

        Raises
        ------
        Away
            If there is no answer, or one that says "later".
        ToolError
            If the server refuses.
        ValueError
            If it cannot be trusted, or does not answer in JSON.
        """
        request = self._request(method, path, body, query)
        try:
            with self._opener.open(request, timeout=TIMEOUT) as answer:
                return self._parsed(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error, path) from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, ssl.SSLCertVerificationError):
                raise self._not_trusted(error.reason) from None
            raise Away(f"{self.url} cannot be reached: {_words(error.reason)}") from None
        except (OSError, HTTPException) as error:
            raise Away(f"{self.url} cannot be reached: {_words(error)}") from None

    def _request(
        self, method: str, path: str, body: object, query: Mapping[str, object]
    ) -> urllib.request.Request:
        asked = urllib.parse.urlencode({k: v for k, v in query.items() if v is not None})
        return urllib.request.Request(
            f"{self.url}{path}{f'?{asked}' if asked else ''}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={**self.headers, "Content-Type": "application/json"},
        )

    def _parsed(self, raw: bytes) -> Any:
        if not raw:
            return None
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            start = shown(raw[:40].decode("utf-8", "replace"))
            raise ToolError(200, f"{self.url} does not answer in JSON, found {start}") from None

    def _refused(self, error: urllib.error.HTTPError, path: str) -> Exception:
        where = f"{error.headers.get('Location')}" if 300 <= error.code < 400 else ""
        if where:
            return ToolError(error.code, f"{self.url} sends on to {where}: give that address")
        try:
            said = " ".join(error.read(100 * SAID).decode("utf-8", "replace").split())
        except (OSError, HTTPException):
            said = ""
        what = f"{self.url}{path} answers {error.code} {error.reason}"
        if error.code >= 500 or error.code == WAIT:
            return Away(what)
        return ToolError(error.code, f"{what}: {said[:SAID]}" if said else what)

    def _not_trusted(self, error: ssl.SSLCertVerificationError) -> ValueError:
        return ValueError(
            f"{self.url}: the certificate of {self.host} is not trusted ({error.verify_message}); "
            "--tls-ca names the authority of one's own"
        )


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follow nobody to another address: the token would go along."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _host(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise ValueError(f"URL must be such as https://label.example.org, found {shown(url)}")
    return parts.hostname


def is_this_machine(host: str) -> bool:
    """Whether a host is this machine, so that nobody else sees what goes there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _context(authority: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if authority is None else str(authority))
    except ssl.SSLError:
        raise ValueError(f"{authority}: must hold a certificate in PEM") from None


def _words(reason: object) -> str:
    """What a failure says, without Python's number for it."""
    if isinstance(reason, TimeoutError):
        return f"no answer within {TIMEOUT:g} s"
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__

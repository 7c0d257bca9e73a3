"""JSON over HTTP to a tool, with readable errors."""

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

from tvcs_core.files.display import quoted

TIMEOUT = 60.0
"""Seconds to wait for a response."""
MAX_ERROR_CHARACTERS = 300
"""Largest number of characters of a tool's error message that are shown."""
UNAUTHORIZED, FORBIDDEN, TOO_MANY_REQUESTS = 401, 403, 429


class ToolUnavailableError(Exception):
    """The tool cannot be reached now, or is busy: a later attempt may succeed."""


class ToolError(ValueError):
    """The tool refuses a request, also later; `status` is that of HTTP."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status = status


@dataclass(frozen=True)
class Trust:
    """Trust in a server.

    Attributes
    ----------
    authority
        PEM file of the authority that signed the server's certificate; None for those the machine
        trusts.
    network
        Whether the token may be sent unencrypted.
    """

    authority: Path | None = None
    network: bool = False


DEFAULT = Trust()


class Connection:
    """Connection to a server that speaks JSON.

    Parameters
    ----------
    url
        URL of the server; paths are appended to it.
    headers
        Headers of every request, such as the token.
    trust
        Trust in the server.
    secret
        What the server calls its token.

    Raises
    ------
    ValueError
        If `url` is not a URL, it would send a token unencrypted to another machine, or the
        authority holds no certificate.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], trust: Trust = DEFAULT, secret: str = "token"
    ) -> None:
        self.url = url.rstrip("/")
        self.host = _host(url)
        if url.startswith("http://") and not (trust.network or is_this_machine(self.host)):
            raise ValueError(
                f"{self.url} uses http, so others on the network could read the token: give an "
                "https:// address, or --trust-network if the network is private"
            )
        self.headers = dict(headers)
        self._reasons = {
            UNAUTHORIZED: f"the {secret} is not valid: ",
            FORBIDDEN: f"the owner of the {secret} lacks the permission: ",
        }
        handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
        if self.url.startswith("https://"):
            handlers.append(urllib.request.HTTPSHandler(context=_context(trust.authority)))
        self._opener = urllib.request.build_opener(*handlers)

    def ask(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Send a request; return the JSON of the response, None if it is empty.

        Raises
        ------
        ToolUnavailableError
            If there is no response, or one that asks to try later.
        ToolError
            If the server refuses.
        ValueError
            If the server is not trusted, or does not respond in JSON.
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
            raise ToolUnavailableError(
                f"{self.url} cannot be reached: {_words(error.reason)}"
            ) from None
        except (OSError, HTTPException) as error:
            raise ToolUnavailableError(f"{self.url} cannot be reached: {_words(error)}") from None

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
            start = quoted(raw[:40].decode("utf-8", "replace"))
            raise ToolError(200, f"{self.url} does not answer in JSON, found {start}") from None

    def _refused(self, error: urllib.error.HTTPError, path: str) -> Exception:
        where = f"{error.headers.get('Location')}" if 300 <= error.code < 400 else ""
        if where:
            return ToolError(error.code, f"{self.url} redirects to {where}: give that address")
        try:
            detail = " ".join(
                error.read(100 * MAX_ERROR_CHARACTERS).decode("utf-8", "replace").split()
            )
        except (OSError, HTTPException):
            detail = ""
        why = self._reasons.get(error.code, "")
        what = f"{why}{self.url}{path} answers {error.code} {error.reason}"
        if error.code >= 500 or error.code == TOO_MANY_REQUESTS:
            return ToolUnavailableError(what)
        return ToolError(error.code, f"{what}: {detail[:MAX_ERROR_CHARACTERS]}" if detail else what)

    def _not_trusted(self, error: ssl.SSLCertVerificationError) -> ValueError:
        return ValueError(
            f"{self.url}: the certificate of {self.host} is not trusted ({error.verify_message}); "
            "--tls-ca names your own authority"
        )


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follow no redirects: the token would be sent to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _host(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise ValueError(f"URL must be such as https://label.example.org, found {quoted(url)}")
    return parts.hostname


def is_this_machine(host: str) -> bool:
    """Return whether a host is this machine, so that its traffic is private."""
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
    """Return the message of a failure, without Python's error number."""
    if isinstance(reason, TimeoutError):
        return f"no answer within {TIMEOUT:g} s"
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__

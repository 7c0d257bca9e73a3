"""Client of the API in the standard library of Python: copy it into a tool of your own."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from email.message import Message
from typing import Any

LOOPBACK = ("127.0.0.1", "::1", "localhost")


class DeskError(RuntimeError):
    """Refusal of the server; `status` is the HTTP status, `wait` the requested seconds."""

    def __init__(self, status: int, detail: str, wait: float = 0.0) -> None:
        super().__init__(detail)
        self.status, self.wait = status, wait


class DeskClient:
    """One worker at an annotation server.

    A refusal is a `DeskError`. A server that cannot be reached, or stopped, is an `OSError`: ask
    again then; submitting an answer twice is harmless.

    Parameters
    ----------
    url
        URL of the server, such as ``http://127.0.0.1:8000``.
    token
        The end of the worker's link.
    timeout
        Seconds to wait for a response.
    trust_network
        Whether the token may be sent unencrypted to another machine.

    Raises
    ------
    ValueError
        If the token would be, and the network is not trusted.

    Examples
    --------
    ``turn = client.next()``, and while ``turn["task"]``:
    ``turn = client.submit(turn["task"], label)["next"]``.
    """

    def __init__(
        self, url: str, token: str, timeout: float = 30.0, *, trust_network: bool = False
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "https" and parts.hostname not in LOOPBACK and not trust_network:
            raise ValueError(
                f"{url} does not use https, so others on the network could read the token: give "
                "an https:// address, or trust_network=True"
            )
        self.url, self.token, self.timeout = url.rstrip("/"), token, timeout

    def next(self) -> dict[str, Any]:
        """Return the current task: task, content, classes, expires, reason."""
        return self._ask("next")

    def submit(self, task: str, label: str) -> dict[str, Any]:
        """Submit an answer; return its result, and the ``next`` task."""
        return self._ask("submit", {"task": task, "label": label})

    def skip(self, task: str, reason: str = "") -> dict[str, Any]:
        """Skip a task for good; return the next one."""
        return self._ask("skip", {"task": task, "reason": reason})

    def undo(self) -> dict[str, Any]:
        """Withdraw the last answer; return its task."""
        return self._ask("undo")

    def _ask(self, what: str, body: dict[str, str] | None = None) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.url}/api/v1/{what}",
            data=json.dumps(body or {}).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            status, headers, sent = _answered(request, self.timeout)
            found: dict[str, Any] = json.loads(sent) if status < 300 else {}
        except (http.client.HTTPException, ValueError) as error:  # truncated
            raise ConnectionError(f"the server's response was cut off ({error})") from None
        if status < 300:  # a redirect has not accepted an answer
            return found
        try:
            detail = str(json.loads(sent)["detail"])
        except (ValueError, KeyError, TypeError):
            detail = http.client.responses.get(status, "no reason is given")
        wait = str(headers.get("Retry-After", ""))
        raise DeskError(status, detail, float(wait) if wait.isdecimal() else 0.0)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follow no redirects: the token would be sent to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect())


def _answered(request: urllib.request.Request, timeout: float) -> tuple[int, Message, bytes]:
    """Return status, headers and the whole body, also of an error."""
    try:
        answer = _OPENER.open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers, answer.read()

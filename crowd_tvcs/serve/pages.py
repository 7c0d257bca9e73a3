"""Fill the pages: templates, and headers of every response."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse

from tvcs_core.files.page import fill_page

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Fill a template; values are escaped."""
    words = {"percent": _percent, "clock": _clock}
    return HTMLResponse(fill_page("crowd_tvcs.serve", template, **words, **values), status)


def is_for_script(request: Request) -> bool:
    """Return whether the page's own script asks for the changing part only."""
    return request.headers.get("x-part") == "main"


def address_of(request: Request) -> str:
    """Return the address of the client."""
    return request.client.host if request.client else ""


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _clock(when: float | None) -> str:
    if when is None:
        return "-"
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d %H:%M UTC")

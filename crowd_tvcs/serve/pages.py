"""Filling the pages: templates, the words of a refusal, and Markdown."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

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


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("crowd_tvcs.serve"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["percent"] = lambda value: "-" if value is None else f"{100 * value:.1f} %"
    made.filters["clock"] = _clock
    return made


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Fill a template; what is filled in is escaped."""
    return HTMLResponse(_environment().get_template(template).render(**values), status)


def markdown(text: str) -> Markup:
    """Turn Markdown into HTML; tags in it are shown as text, and links run no script."""
    return Markup(MarkdownIt("commonmark", {"html": False}).render(text))


def is_for_script(request: Request) -> bool:
    """Whether the page's own script asks, and wants only what changes."""
    return request.headers.get("x-part") == "main"


def _clock(when: float | None) -> str:
    if when is None:
        return "-"
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d %H:%M UTC")

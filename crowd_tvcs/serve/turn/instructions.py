"""Instructions for workers: Markdown, with tables, and pictures of the media folder."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from tvcs_core.files.display import quoted

_BLOCKS = ("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "th", "td")
_READER = MarkdownIt("commonmark", {"html": False}).enable("table")


@lru_cache(maxsize=4)
def rendered(text: str, root: str = "") -> Markup:
    """Render Markdown as HTML; tags in it are shown as text, and links run no script.

    Pictures come from ``/media`` below `root`, links open in a new tab, and every block has the
    direction of its own script.
    """
    tokens = _READER.parse(text)
    for token in _every(tokens):
        if token.type == "image":
            token.attrSet("src", f"{root}/media/{quote(_file(token))}")
        elif token.type == "link_open":
            token.attrSet("target", "_blank")
            token.attrSet("rel", "noopener noreferrer")
        elif token.nesting == 1 and token.tag in _BLOCKS:
            token.attrSet("dir", "auto")
            token.attrs.pop("style", None)  # the alignment of a column, which the policy refuses
    return Markup(_READER.renderer.render(tokens, _READER.options, {}))


@lru_cache(maxsize=4)
def pictures(text: str) -> frozenset[str]:
    """Return the files of the media folder that instructions show.

    Raises
    ------
    ValueError
        If a picture is external, which pages do not load.
    """
    found = [token for token in _every(_READER.parse(text)) if token.type == "image"]
    for token in found:
        source = str(token.attrGet("src"))
        if ":" in source.partition("/")[0] or source.startswith("//"):
            raise ValueError(
                f"the instructions show the external picture {quoted(source)}, which pages do not "
                "load: put it into the folder --media and use its name"
            )
    return frozenset(map(_file, found))


def _file(image: Token) -> str:
    """Return the path of a picture in the media folder, which may be written as on pages."""
    source = unquote(str(image.attrGet("src")))
    return source.removeprefix("/").removeprefix("media/")


def _every(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _every(token.children or [])

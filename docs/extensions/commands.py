"""The directive `commands`: every command of a program with its options, made from the code.

What a page says of a command is what its own `--help` says, and is read from the same place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from typer.main import get_command

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

PROGRAMS = {
    "tvcs": "tvcs_core.cli",
    "grn-tvcs": "grn_tvcs.cli.main",
    "crowd-tvcs": "crowd_tvcs.cli.main",
}


@dataclass(frozen=True)
class Command:
    """A command as its help shows it; `rows` are pairs of an option or argument and its text."""

    words: str
    usage: str
    paragraphs: list[str]
    rows: list[tuple[str, str]]


def commands_of(program: str) -> list[Command]:
    """Return every command of a program, groups before what they hold."""
    app = get_command(import_module(PROGRAMS[program]).app)
    return list(_walk(app, program, None))


def _walk(command: Any, words: str, parent: Any) -> Iterator[Command]:
    context = command.context_class(command, info_name=words.rpartition(" ")[2], parent=parent)
    parameters = [one.get_help_record(context) for one in command.get_params(context)]
    help_text = (command.help or "").replace("\b\n", "")
    yield Command(
        words=words,
        usage=" ".join([words, *command.collect_usage_pieces(context)]),
        paragraphs=[" ".join(part.split()) for part in help_text.split("\n\n")],
        rows=[row for row in parameters if row is not None and "--help" not in row[0]],
    )
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from _walk(inner, f"{words} {name}", context)


def anchor_of(words: str) -> str:
    """Return the anchor of a command on its page."""
    return words.replace(" ", "-")


def _text(words: str) -> Iterator[nodes.Node]:
    """Turn words of a help into nodes: what stands in backticks or is an option is code."""
    from docutils import nodes

    for piece in re.split(r"(`[^`]+`|(?<![\w-])--?[a-z][\w-]*)", words):
        is_code = piece.startswith("`") or re.fullmatch(r"--?[a-z][\w-]*", piece)
        yield nodes.literal(text=piece.strip("`")) if is_code else nodes.Text(piece)


def _section(command: Command) -> nodes.section:
    from docutils import nodes

    anchor = anchor_of(command.words)
    section = nodes.section(ids=[anchor], names=[command.words])
    section += nodes.title("", "", nodes.literal(text=command.words))
    for paragraph in command.paragraphs:
        section += nodes.paragraph("", "", *_text(paragraph))
    section += nodes.literal_block(command.usage, command.usage, language="text")
    listing = nodes.definition_list(classes=["options"])
    for name, text in command.rows:
        item = nodes.definition_list_item()
        item += nodes.term("", "", nodes.literal(text=name))
        item += nodes.definition("", nodes.paragraph("", "", *_text(text)))
        listing += item
    if command.rows:
        section += listing
    return section


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    from sphinx.util.docutils import SphinxDirective

    class Commands(SphinxDirective):
        required_arguments = 1

        def run(self) -> list[nodes.Node]:
            self.env.note_reread()
            return [_section(command) for command in commands_of(self.arguments[0])]

    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

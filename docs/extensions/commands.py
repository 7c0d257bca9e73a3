"""The directive `commands`: a table of the commands of a program, each with a page of its own.

What a page says of a command is what its own `--help` says, and is read from the same place. The
pages are made before the site is built; the directive `command` is all that they hold.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
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
PAGES = Path("docs/reference/commands")  # made anew by every build, and ignored by git


@dataclass(frozen=True)
class Command:
    """A command as its help shows it; `rows` are pairs of an option or argument and its text."""

    words: str
    usage: str
    paragraphs: list[str]
    rows: list[tuple[str, str]]


@functools.cache
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


def page_of(words: str) -> str:
    """Return the address of the page of a command, from the project's folder."""
    return f"/{(PAGES / words.replace(' ', '-')).as_posix()}"


def entries(program: str) -> list[str]:
    """Return what `commands` stands for: reStructuredText, a row and a page for each command."""
    lines = [".. list-table::", "   :widths: 30 70", "   :class: names", ""]
    found = commands_of(program)
    for one in found:
        first = re.sub(
            r"(?<![\w-])--?[a-z][\w-]*", r"``\g<0>``", one.paragraphs[0].replace("`", "")
        )
        lines += [f"   * - :doc:`{one.words} <{page_of(one.words)}>`", f"     - {first}"]
    places = [f"   {page_of(one.words)}" for one in found]
    return [*lines, "", ".. toctree::", "   :hidden:", "", *places, ""]


def write_pages(root: Path) -> None:
    """Write the page of every command, and delete those of none."""
    (root / PAGES).mkdir(exist_ok=True)
    wanted = {
        root / f"{page_of(one.words)[1:]}.rst": one.words
        for program in PROGRAMS
        for one in commands_of(program)
    }
    for old in set((root / PAGES).glob("*.rst")) - set(wanted):
        old.unlink()
    for path, words in wanted.items():
        text = f"{words}\n{'=' * len(words)}\n\n.. command:: {words}\n"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _text(words: str) -> Iterator[nodes.Node]:
    """Turn words of a help into nodes: what stands in backticks or is an option is code."""
    from docutils import nodes

    for piece in re.split(r"(`[^`]+`|(?<![\w-])--?[a-z][\w-]*)", words):
        is_code = piece.startswith("`") or re.fullmatch(r"--?[a-z][\w-]*", piece)
        classes = ["option"] if piece.startswith("-") else []
        text = piece.strip("`")
        yield nodes.literal(text=text, classes=classes) if is_code else nodes.Text(piece)


def _content(command: Command) -> list[nodes.Node]:
    from docutils import nodes

    found: list[nodes.Node] = [
        nodes.paragraph("", "", *_text(paragraph)) for paragraph in command.paragraphs
    ]
    found.append(nodes.literal_block(command.usage, command.usage, language="text"))
    listing = nodes.definition_list(classes=["options"])
    for name, text in command.rows:
        item = nodes.definition_list_item()
        item += nodes.term("", "", nodes.literal(text=name))
        item += nodes.definition("", nodes.paragraph("", "", *_text(text)))
        listing += item
    return [*found, listing] if command.rows else found


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives."""
    from docutils.statemachine import StringList
    from sphinx.util.docutils import SphinxDirective

    class Commands(SphinxDirective):
        required_arguments = 1

        def run(self) -> list[nodes.Node]:
            self.env.note_reread()
            [program] = self.arguments
            lines = StringList(entries(program), source=f"commands of {program}")
            return self.parse_text_to_nodes(lines)

    class OneCommand(SphinxDirective):
        required_arguments = 1
        final_argument_whitespace = True

        def run(self) -> list[nodes.Node]:
            self.env.note_reread()
            [words] = self.arguments
            [found] = [one for one in commands_of(words.split()[0]) if one.words == words]
            return _content(found)

    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir)))
    app.add_directive("commands", Commands)
    app.add_directive("command", OneCommand)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

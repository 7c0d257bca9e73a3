"""Commands with a short help in groups, ``--help-all``, and ``-q`` and ``-v`` in all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand

from tvcs_core.command.shell import Volume, set_volume

HELP_NAMES = {"help_option_names": ["-h", "--help"]}  # inherited by the commands of a program
VOLUMES = {
    "-q": Volume.QUIET, "--quiet": Volume.QUIET, "-v": Volume.VERBOSE, "--verbose": Volume.VERBOSE,
}  # fmt: skip
ALL = "--help-all"
_SHOWS_ALL = "tvcs.help_all"


class Command(TyperCommand):
    """A command that also takes ``-q``, ``-v`` and ``--help-all``.

    Attributes
    ----------
    groups
        Names of the parameters that ``--help`` shows, by heading; without any it shows all.
    """

    groups: ClassVar[Mapping[str, str]] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the words that every command has, and leave the others to its options."""
        end = args.index("--") if "--" in args else len(args)
        words = args[:end]
        if ALL in words:
            ctx.meta[_SHOWS_ALL] = True
            print(self.get_help(ctx))
            ctx.exit()
        loud = {VOLUMES[word] for word in words if word in VOLUMES}
        if len(loud) > 1:
            ctx.fail("give --quiet or --verbose, not both")
        ctx.call_on_close(set_volume(*loud))
        rest = [word for word in words if word not in VOLUMES]
        return super().parse_args(ctx, rest + args[end:])

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the groups of options, or all, and how to see the others."""
        records = {
            param.name: record
            for param in self.get_params(ctx)
            if (record := param.get_help_record(ctx)) is not None and param.name != "help"
        }
        parts = dict(self._parts(ctx, list(records)))
        for heading, names in parts.items():
            with formatter.section(heading):
                formatter.write_dl([records[name] for name in names])
        n_hidden = len(records) - sum(map(len, parts.values()))
        with formatter.section("Help and messages"):
            formatter.write_dl(self._common(n_hidden))

    def _parts(self, ctx: Any, known: list[str]) -> Iterator[tuple[str, list[str]]]:
        """Yield the headings with the names of their parameters."""
        arguments = [p.name for p in self.get_params(ctx) if p.param_type_name == "argument"]
        if arguments := [name for name in known if name in arguments]:
            yield "Arguments", arguments
        shown = set(arguments)
        for heading, names in self.groups.items():
            yield heading, names.split()
            shown |= set(names.split())
        others = [name for name in known if name not in shown]
        if others and (not self.groups or _SHOWS_ALL in ctx.meta):
            yield "More options" if self.groups else "Options", others

    def _common(self, n_hidden: int) -> list[tuple[str, str]]:
        """Rows of the options of every command."""
        rows = [("-h, --help", "Show this message and exit.")]
        if self.groups:
            more = f"Show {n_hidden} more options." if n_hidden else "Show all options."
            rows.append((ALL, more))
        return [
            *rows,
            ("-q, --quiet", "Print warnings and errors only."),
            ("-v, --verbose", "Print the elapsed time before every message."),
        ]


class Program(typer.Typer):
    """A program, or a group of its commands, whose commands are of the kind above."""

    def command(self, name: str | None = None, **how: Any) -> Any:
        """Add a command as `typer.Typer.command` does."""
        return super().command(name, **({"cls": Command} | how))


def grouped(groups: Mapping[str, str]) -> type[Command]:
    """Make a kind of command whose ``--help`` shows the parameters of these groups only.

    Parameters
    ----------
    groups
        Names of parameters with spaces between, by heading.
    """
    return type("GroupedCommand", (Command,), {"groups": groups})

"""Commands with a short help in groups, ``--help-all``, and ``-q`` and ``-v`` in all of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter, signature
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand

from tvcs_core.command.shell import Volume, set_volume

HELP_NAMES = {"help_option_names": ["-h", "--help"]}  # inherited by the commands of a program
ALL = "--help-all"
_SHOWS_ALL, _VOLUME = "tvcs.help_all", "tvcs.volume"


def _show_all(context: typer.Context, is_wanted: bool) -> None:
    """Print the help of all options and end the command."""
    if is_wanted:
        context.meta[_SHOWS_ALL] = True
        print(context.command.get_help(context))
        raise typer.Exit


def _asks(volume: Volume) -> Callable[[typer.Context, bool], None]:
    """Return the callback of the option that asks for this volume."""

    def ask(context: typer.Context, is_wanted: bool) -> None:
        if is_wanted and context.meta.setdefault(_VOLUME, volume) is not volume:
            context.fail("give --quiet or --verbose, not both")

    return ask


# Options of every command, by name; `Command` describes them in its help.
COMMON = {
    name: typer.Option(*words, callback=callback, is_eager=True, expose_value=False, hidden=True)
    for name, words, callback in (
        ("help_all", [ALL], _show_all),
        ("quiet", ["--quiet", "-q"], _asks(Volume.QUIET)),
        ("verbose", ["--verbose", "-v"], _asks(Volume.VERBOSE)),
    )
}


def _with_common(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the parameters of every command beside its own."""

    @functools.wraps(function)
    def wrapper(**values: Any) -> Any:
        return function(**{name: value for name, value in values.items() if name not in COMMON})

    given = signature(function, eval_str=True)
    common = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, option])
        for name, option in COMMON.items()
    ]
    parameters = [*given.parameters.values(), *common]
    wrapper.__dict__["__signature__"] = given.replace(parameters=parameters)
    return wrapper


class Command(TyperCommand):
    """A command whose help shows its options in groups, and then those that all commands have.

    Attributes
    ----------
    groups
        Names of the parameters that ``--help`` shows, by heading; without any it shows all.
    """

    groups: ClassVar[Mapping[str, str]] = {}

    def invoke(self, ctx: Any) -> Any:
        """Run the command, its messages at the volume that was asked for."""
        reset = set_volume(ctx.meta.get(_VOLUME, Volume.USUAL))
        try:
            return super().invoke(ctx)
        finally:
            reset()

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the first sentence whole; lists of commands wrap it."""
        return super().get_short_help_str(1_000)

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
        """Add a command as `typer.Typer.command` does, with the options of every command."""
        add = super().command(name, **({"cls": Command} | how))

        def added(function: Callable[..., Any]) -> Callable[..., Any]:
            add(_with_common(function))
            return function

        return added


def grouped(groups: Mapping[str, str]) -> type[Command]:
    """Make a kind of command whose ``--help`` shows the parameters of these groups only.

    Parameters
    ----------
    groups
        Names of parameters with spaces between, by heading.
    """
    return type("GroupedCommand", (Command,), {"groups": groups})

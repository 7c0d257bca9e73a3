"""Options that all commands share, and commands whose options are the fields of one dataclass."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from tvcs_core.arguments import Help
from tvcs_core.command.help import HELP_NAMES, Program
from tvcs_core.files.record import tvcs_version


def file_option(about: str) -> Any:
    """Make an option that names a file."""
    return typer.Option(metavar="FILE", help=about)


def name_option(about: str) -> Any:
    """Make an option that is a name."""
    return typer.Option(metavar="NAME", help=about)


def number_option(about: str, least: int | None = None, most: int | None = None) -> Any:
    """Make an option that is a whole number."""
    return typer.Option(metavar="N", min=least, max=most, help=about)


# Notes of options: one that changes no result, or is recorded under another name; and one that is
# recorded where it is given alone.
NOT_RECORDED, WHERE_GIVEN = "not recorded", "recorded where it is given"


class Sets(NamedTuple):
    """A note of an option that sets an argument of another name: the name of the argument."""

    argument: str


OutFolder = Annotated[
    Path,
    typer.Option("--out", metavar="DIR", help="Folder for the results; made if missing."),
    NOT_RECORDED,
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace the files of a folder in use."), NOT_RECORDED
]
Seed = Annotated[
    int, typer.Option(help="Random seed; the same seed gives the same bytes."), NOT_RECORDED
]


def _show_version(context: typer.Context, is_wanted: bool) -> None:
    """Print the program's name and version and end it."""
    if is_wanted:
        print(f"{context.info_name} {tvcs_version()}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
]

T = TypeVar("T")
R = TypeVar("R")
# An argument of Python, by its name: `n_workers` may be the option --workers.
_REFUSED = re.compile(r"(\w+)(?= (?:of '.*' )?must )")


def program(text: str) -> typer.Typer:
    """Make a program that has no command yet, with the options that stand before any command.

    ``--version``, and ``--install-completion`` for the shell that the user types in; its help
    begins with `text`.
    """
    app = Program(
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        no_args_is_help=True,
        help=text,
        context_settings=HELP_NAMES,
    )

    @app.callback()
    def options(version: Version = False) -> None:
        """Take the options that stand before any command; each has done its work by now."""

    return app


def with_options(command: Callable[[T], R]) -> Callable[..., R]:
    """Make a command of a function whose one argument is a dataclass of options.

    Every field is an option or an argument of the command line, in the order of the fields and
    annotated as typer wants a parameter or by a `Help`. A field that is a dataclass itself stands
    for its own fields, so that commands can share groups of options. A field of ``Sequence[str]``
    is an option that may be given often. A message about an argument of Python names the option
    that was given for it.
    """
    [given] = signature(command, eval_str=True).parameters.values()
    options = given.annotation

    @functools.wraps(command)
    def wrapper(**values: Any) -> R:
        if values.get("seed", 0) < 0:  # NumPy takes none
            raise ValueError(f"--seed must be >= 0, found {values['seed']}")
        try:
            return command(_filled(options, values))
        except (TypeError, ValueError) as error:
            if found := _REFUSED.match(str(error)):
                name, given = found[1], _given(options, values)
                option = given.get(name) or given.get(name.removeprefix("n_")) or name
                error.args = (option + str(error)[found.end() :],)
            raise

    # typer reads its parameters from the signature, and calls with all of them by name.
    wrapper.__dict__["__signature__"] = Signature(list(_parameters(options)))
    return wrapper


def options_of(options: Any) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Yield name, value and notes of every option, also of groups, in the order of the help."""
    hints = get_type_hints(type(options), include_extras=True)
    for field in fields(options):
        value = getattr(options, field.name)
        if is_dataclass(value):
            yield from options_of(value)
        else:
            yield field.name, value, get_args(hints[field.name])[1:]


def kept(options: Any) -> dict[str, Any]:
    """Return the options of a record: files by their names, without folders.

    Left out are arguments, which are inputs, and options whose notes ask for it.
    """
    return {
        name: value.name if isinstance(value, Path) else value
        for name, value, notes in options_of(options)
        if _is_kept(value, notes)
    }


def recorded(options: Any) -> dict[str, Any]:
    """Return options as ``run.json`` keeps them: those `kept`, as ``as_recorded`` changes them.

    This is a method that options may have.
    """
    values = kept(options)
    as_recorded = getattr(options, "as_recorded", None)
    return values if as_recorded is None else dict(as_recorded(values))


def _is_kept(value: Any, notes: Sequence[Any]) -> bool:
    is_given = value not in (None, False, (), [])
    return not (_is_argument(notes) or NOT_RECORDED in notes) and (
        is_given or WHERE_GIVEN not in notes
    )


def _is_argument(notes: Sequence[Any]) -> bool:
    return any(isinstance(note, ArgumentInfo) for note in notes)


def input_files(options: Any) -> list[Path]:
    """Return the files that options name: arguments first, then the options that are recorded."""
    found = [(value, notes) for _, value, notes in options_of(options)]
    values = [value for value, notes in found if _is_argument(notes)]
    values += [value for value, notes in found if _is_kept(value, notes)]
    each = (value if isinstance(value, list) else [value] for value in values)
    return [path for paths in each for path in paths if isinstance(path, Path)]


def integers(option: str, text: str) -> list[int]:
    """Read whole numbers that an option holds with commas between."""
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be integers with commas, found {text!r}") from None


def command_line(words: Sequence[str], options: Mapping[str, object]) -> str:
    """Write the command that does it again, as a user would type it.

    Options that are None or False are left out, those that are True stand alone, and a list gives
    its option once for every item.
    """
    line = list(words)
    for name, value in options.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if one is not None and one is not False:
                line += [f"--{name.replace('_', '-')}", *([] if one is True else [str(one)])]
    return shlex.join(line)


def _parameters(options: Any) -> Iterator[Parameter]:
    hints = get_type_hints(options, include_extras=True)
    for field in fields(options):
        hint = hints[field.name]
        if is_dataclass(hint):
            yield from _parameters(hint)
            continue
        default = Parameter.empty if field.default is MISSING else field.default
        if default == ():
            default = None
        hint = _for_typer(field.name, hint)
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _given(options: Any, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the options that were given, as they are typed, by the arguments that they set."""
    out: dict[str, str] = {}
    hints = get_type_hints(options, include_extras=True)
    for field in fields(options):
        hint, notes = hints[field.name], get_args(hints[field.name])[1:]
        if is_dataclass(hint):
            out |= _given(hint, values)
        elif not _is_argument(notes) and values[field.name] not in (None, field.default):
            # typer has the first name of an annotated option where it has the default of others.
            first = [note.default for note in notes if isinstance(note, OptionInfo)]
            typed = [name for name in map(str, first) if name.startswith("--")]
            argument = next((n.argument for n in notes if isinstance(n, Sets)), field.name)
            out[argument] = typed[0] if typed else f"--{field.name.replace('_', '-')}"
    return out


def _for_typer(name: str, hint: Any) -> Any:
    """Write the annotation of a field by a `Help` as typer wants it; any other as it is."""
    kind, *notes = get_args(hint) or (hint,)
    if not (notes and isinstance(notes[0], Help)):
        return hint
    text, metavar = notes[0]
    if kind is bool:  # without a second option that denies it
        return Annotated[bool, typer.Option(f"--{name.replace('_', '-')}", help=text)]
    kind = list[str] | None if kind == Sequence[str] else kind
    return Annotated[kind, typer.Option(metavar=metavar, help=text)]


def _filled(options: Any, values: Mapping[str, Any]) -> Any:
    hints = get_type_hints(options)
    return options(
        **{
            field.name: _filled(hints[field.name], values)
            if is_dataclass(hints[field.name])
            else tuple(values[field.name] or ())
            if field.default == ()
            else values[field.name]
            for field in fields(options)
        }
    )

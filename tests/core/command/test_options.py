"""Commands whose options are the fields of a dataclass, and what is kept of the options."""

import shlex
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import signature
from pathlib import Path
from typing import Annotated, get_type_hints

import pytest
import typer
from typer.testing import CliRunner

import crowd_tvcs.cli.simulate
import grn_tvcs.cli.simulate
import tvcs_core.cli
from crowd_tvcs.cli.assign import AssignOptions
from crowd_tvcs.cli.exchange import ExportOptions, ImportOptions
from crowd_tvcs.cli.quality import QualityOptions
from crowd_tvcs.cli.recorded.agreement import AgreementOptions
from crowd_tvcs.cli.recorded.models import ModelsOptions
from crowd_tvcs.cli.recorded.multilabel import MultilabelOptions
from crowd_tvcs.cli.recorded.rank import RankOptions
from crowd_tvcs.cli.replay import ReplayOptions
from crowd_tvcs.cli.vote import VoteOptions
from crowd_tvcs.cli.workers import WorkersOptions
from grn_tvcs.cli.compare import CompareOptions
from grn_tvcs.cli.options import InferOptions
from tvcs_core.command.options import (
    NOT_RECORDED,
    WHERE_GIVEN,
    Seed,
    Sets,
    command_line,
    input_files,
    integers,
    kept,
    options_of,
    recorded,
    with_options,
)

Table = Annotated[Path, typer.Argument(metavar="TABLE", help="To read.")]
Cap = Annotated[int | None, typer.Option(metavar="N", help="Most.")]
Often = Annotated[list[str] | None, typer.Option("--word", help="May be given often.")]
Loud = Annotated[bool, typer.Option("--loud", help="Say it.")]


@dataclass(frozen=True, kw_only=True)
class Caps:
    low: Cap = None
    high: Cap = 7


@dataclass(frozen=True, kw_only=True)
class Options:
    table: Table
    first: Cap = None
    caps: Caps
    words: Often = None
    loud: Loud = False
    seed: Seed = 0


def in_one(given: Options) -> None:
    """Do it."""
    print(repr(given))


def one_by_one(
    table: Table,
    first: Cap = None,
    low: Cap = None,
    high: Cap = 7,
    words: Often = None,
    loud: Loud = False,
    seed: Seed = 0,
) -> None:
    """Do it."""
    caps = Caps(low=low, high=high)
    given = Options(table=table, first=first, caps=caps, words=words, loud=loud, seed=seed)
    print(repr(given))


def run(command, *words):
    app = typer.Typer(rich_markup_mode=None)
    app.command("it")(command)
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["x.csv"],
        ["x.csv", "--first", "1", "--low", "2", "--high", "3", "--seed", "4", "--loud"],
        ["x.csv", "--word", "a b", "--word", "c"],
        [],
        ["x.csv", "--low", "two"],
        ["x.csv", "--lowest", "2"],
    ],
)
def test_a_dataclass_is_the_same_command_as_its_parameters_written_out(words):
    one, other = run(with_options(in_one), *words), run(one_by_one, *words)
    assert (one.exit_code, one.stdout) == (other.exit_code, other.stdout)
    assert one.stderr == other.stderr
    assert "Do it." in one.stdout or words != ["--help"]


def test_options_are_recorded_in_their_order_and_files_by_their_names():
    given = Options(table=Path("there/x.csv"), caps=Caps(low=3), seed=5)
    values = {name: value for name, value, _ in options_of(given)}
    assert list(values) == list(signature(one_by_one).parameters)
    assert (values["low"], values["table"]) == (3, Path("there/x.csv"))
    left_out = ("seed", "table")  # the first has the note, the second is an argument
    assert list(recorded(given)) == [name for name in values if name not in left_out]
    assert recorded(given)["low"] == 3


def test_inputs_are_the_files_of_arguments_and_then_of_options():
    @dataclass(frozen=True, kw_only=True)
    class Files:
        gold: Annotated[Path | None, typer.Option()] = None
        tables: Annotated[list[Path], typer.Argument()]
        key: Annotated[Path, typer.Option(), NOT_RECORDED] = Path("key.pem")
        more: Annotated[Path | None, typer.Option(), WHERE_GIVEN] = None

    given = Files(gold=Path("gold.csv"), tables=[Path("a"), Path("b")])
    assert input_files(given) == [Path("a"), Path("b"), Path("gold.csv")]
    assert recorded(given) == {"gold": "gold.csv"}


def test_a_command_line_is_read_back_as_it_was_meant():
    options = {"low": 3, "high": None, "word": ["a b", "$c"], "loud": True, "seed": 0}
    line = command_line(["it", "x y.csv"], options | {"quiet": False})
    words = ["--low", "3", "--word", "a b", "--word", "$c", "--loud", "--seed", "0"]
    assert shlex.split(line) == ["it", "x y.csv", *words]
    done = run(with_options(in_one), *shlex.split(line)[1:])
    caps = Caps(low=3, high=7)
    meant = Options(table=Path("x y.csv"), caps=caps, words=["a b", "$c"], loud=True, seed=0)
    assert done.stdout == f"{meant!r}\n"


def made(options):
    """Options of a command as they are by default, files where one must be."""
    kinds = get_type_hints(options)
    values = {}
    for field in fields(options):
        if is_dataclass(kinds[field.name]):
            values[field.name] = made(kinds[field.name])
        elif field.default is MISSING:
            values[field.name] = Path("x")
    return options(**values)


CLEANING = " duplicates leave_out_missing"


# Of every command that leaves a record the options that are not in it, which either change no
# result, are in the record under another name (seed, inputs), or are recorded where they are given.
@pytest.mark.parametrize(
    ("options", "left_out"),
    [
        (tvcs_core.cli.ProjectOptions, "matrix out table row_caps col_caps force"),
        (
            InferOptions,
            "expression out seed threads workers cluster tls trust_network force resume",
        ),
        (CompareOptions, "a b out seed threads workers force"),
        (grn_tvcs.cli.simulate.SimulateOptions, "out topology ode seed force"),
        (AssignOptions, "quality out seed force kinds common_error dependence"),
        (QualityOptions, "answers out force" + CLEANING),
        (VoteOptions, "answers out force scale seed" + CLEANING),
        (ReplayOptions, "answers truth out seed force" + CLEANING),
        (
            crowd_tvcs.cli.simulate.SimulateOptions,
            "out seed force models shared_within shared_across difficulty_spread",
        ),
        (WorkersOptions, "answers out rows force" + CLEANING),
        (AgreementOptions, "answers out seed force" + CLEANING),
        (ModelsOptions, "answers out force" + CLEANING),
        (MultilabelOptions, "answers out seed force" + CLEANING),
        (RankOptions, "pairs out leave_out_missing seed force"),
        (ExportOptions, "plan out force"),
        (
            ImportOptions,
            "files out force worker_field column classes ground_truth skip_bad times" + CLEANING,
        ),
    ],
    ids=lambda value: getattr(value, "__module__", None),
)
def test_every_option_is_in_the_record_or_changes_no_result(options, left_out):
    given = made(options)
    names = {name for name, *_ in options_of(given)}
    assert names - set(kept(given)) == set(left_out.split())


def test_options_may_record_their_values_otherwise():
    @dataclass(frozen=True, kw_only=True)
    class Doubled(Options):
        def as_recorded(self, values):
            return {"high": 2 * values["high"]}

    assert recorded(Doubled(table=Path("x.csv"), caps=Caps(high=4))) == {"high": 8}


def test_a_seed_below_zero_is_refused_before_the_command_begins():
    @with_options
    def command(given: Options) -> None:
        raise AssertionError

    with pytest.raises(ValueError, match="--seed must be >= 0, found -1"):
        command(seed=-1)


@dataclass(frozen=True, kw_only=True)
class Renamed:
    caps: Caps
    cap_of: Annotated[str | None, typer.Option("--cap", help="Of one."), Sets("caps")] = None
    workers: Cap = None


@pytest.mark.parametrize(
    ("words", "message", "shown"),
    [
        (("--high", 3), "high must be >= 4, found 3", "--high must be >= 4, found 3"),
        ((), "high must be >= 8, found 7", "high must be >= 8, found 7"),  # nobody gave it
        (("--cap", "a"), "caps of 'a' must be whole", "--cap of 'a' must be whole"),
        (("--workers", 0), "n_workers must be >= 1", "--workers must be >= 1"),
        (("--high", 3), "t.csv:2: high must be >= 4", "t.csv:2: high must be >= 4"),
        (
            ("--high", 3),
            "high must be >= low, which must be",
            "--high must be >= low, which must be",
        ),
    ],
)
def test_a_message_about_an_argument_names_the_option_that_was_given(words, message, shown):
    @with_options
    def command(given: Renamed) -> None:
        raise ValueError(message)

    found = run(command, *words).exception
    assert (type(found), str(found)) == (ValueError, shown)


def test_integers_stand_with_commas_between():
    assert integers("--labels", "1,20, 3") == [1, 20, 3]
    for text in ("", "1,", "1.5", "1 2", "a"):
        with pytest.raises(ValueError, match="--labels must be integers with commas, found '"):
            integers("--labels", text)

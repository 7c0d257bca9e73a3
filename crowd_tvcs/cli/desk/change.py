"""The command `crowd-tvcs campaign change`: settings of a campaign that runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from crowd_tvcs.answers.columns import TASK, WORKER, Column, find, open_table, rows_by_name
from crowd_tvcs.answers.rows import read_count
from crowd_tvcs.answers.values import Amount, of_no_currency, parse_money
from crowd_tvcs.cli.answers import share_option
from crowd_tvcs.cli.campaign.options import StoreName, open_campaign, stored
from tvcs_core.arguments import Help
from tvcs_core.command.options import Sets, file_option, name_option, number_option, with_options
from tvcs_core.command.shell import print_message
from tvcs_core.files.display import joined
from tvcs_core.files.errors import DataError

Number = TypeVar("Number", int, float)
NONE = "none"
OF_INIT = "default"  # as a cap of one worker or task: that of the campaign


@dataclass(frozen=True, kw_only=True)
class NewLimits:
    """New limits of the campaign as a whole."""

    budget: Annotated[str | None, number_option("Maximum number of labels in all, or none.")] = None
    money: Annotated[str | None, Help("Maximum total cost, or none.", "X")] = None
    max_workers_per_task: Annotated[
        str | None,
        number_option("Maximum number of labels of every task whose cap is the campaign's."),
    ] = None
    max_tasks_per_worker: Annotated[
        str | None,
        number_option("Maximum number of tasks of every worker whose cap is the campaign's."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class NewCaps:
    """New caps of single workers and tasks."""

    worker_cap: Annotated[
        list[str] | None,
        Help(
            "Maximum number of tasks of one worker, or default for the campaign's; may be "
            "repeated.",
            "NAME=N",
        ),
        Sets("worker_caps"),
    ] = None
    task_cap: Annotated[
        list[str] | None,
        Help("Maximum number of labels of one task; may be repeated.", "NAME=N"),
        Sets("task_caps"),
    ] = None
    task_minimum: Annotated[
        list[str] | None,
        Help("Minimum number of labels of one task. Repeatable.", "NAME=N"),
        Sets("task_minimums"),
    ] = None
    workers: Annotated[
        Path | None, file_option("Caps of many workers: columns worker, max_tasks.")
    ] = None
    tasks: Annotated[
        Path | None,
        file_option("Caps of many tasks: columns task and any of min_workers, max_workers."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ChangeOptions:
    """The options of ``crowd-tvcs campaign change``."""

    store: StoreName
    limits: NewLimits
    caps: NewCaps
    min_quality: Annotated[
        float | None, share_option("Minimum quality of a worker who gets tasks.")
    ] = None
    target: Annotated[
        float | None, share_option("Confidence of a label at which its task is done.")
    ] = None
    min_gain: Annotated[float | None, share_option("Minimum gain of a label, 0 for any.")] = None
    lease: Annotated[
        float | None,
        Help("Time for which next reserves a task; tasks that are reserved stay so.", "SECONDS"),
        Sets("lease_seconds"),
    ] = None
    add_class: Annotated[
        list[str] | None, name_option("One more label; may be repeated."), Sets("new_classes")
    ] = None
    prior: Annotated[
        str | None,
        Help(
            "With --add-class: the probability of every class, the new ones last. Default: "
            "as the present ones were made.",
            "P,P,...",
        ),
    ] = None


@stored
@with_options
def change(given: ChangeOptions) -> None:
    """Change limits, caps, rules and classes while people label; nothing that was promised changes.

    Nothing falls below the labels that are answered or out with workers, no class goes away, and
    every change is in the audit. Gold, workers and tasks are brought by add.
    """
    rules = {
        "min_quality": given.min_quality,
        "target": given.target,
        "min_gain": given.min_gain,
        "lease_seconds": given.lease,
        "new_classes": given.add_class,
    }
    wanted: dict[str, Any] = {
        name: _limit(f"--{name.replace('_', '-')}", text, parse_money if name == "money" else int)
        for name, text in vars(given.limits).items()
        if text is not None
    }
    wanted |= {name: value for name, value in rules.items() if value is not None}
    if given.prior is not None:
        if not given.add_class:
            raise ValueError("--prior needs --add-class: it is the probability of every class then")
        wanted["prior"] = [_number("--prior", one, float) for one in given.prior.split(",")]
    wanted |= {name: caps for name, caps in _caps(given.caps).items() if caps}
    if not wanted:
        raise ValueError("nothing to change: give --budget, --money or another option; see --help")
    with open_campaign(given.store) as campaign:
        found = campaign.change(**wanted)
    print_message(*found)
    if not found:
        print_message("everything is so already; nothing was changed")


def _limit(option: str, text: str, kind: Callable[[str], Number]) -> Number | None:
    """Read a number, or `NONE` for no limit."""
    if text == NONE:
        return None
    value = _number(option, text, kind, f", or {NONE}")
    if isinstance(value, Amount) and value.currency:
        raise ValueError(f"{option} {of_no_currency(text, value.currency)}")
    return value


def _caps(given: NewCaps) -> dict[str, dict[str, Any]]:
    """Read the caps of single workers and tasks."""
    caps = _named("--worker-cap", given.worker_cap)
    task_caps = _named("--task-cap", given.task_cap)
    minimums = _named("--task-minimum", given.task_minimum, may_be_default=False)
    if given.workers is not None:
        _add_table(given.workers, WORKER, {"max_tasks": caps})
    if given.tasks is not None:
        _add_table(given.tasks, TASK, {"min_workers": minimums, "max_workers": task_caps})
    return {"worker_caps": caps, "task_caps": task_caps, "task_minimums": minimums}


def _add_table(path: Path, kind: Column, caps: dict[str, dict[str, Any]]) -> None:
    """Add the caps in the columns of a table; an empty cell leaves the cap as it is."""
    table = open_table(path)
    there = [column for column in map(Column, caps) if column.find(table.rows[0])]
    if not there:
        raise DataError(f"needs a column {' or '.join(caps)}", path=path)
    name, *places = find(table, [kind, *there])
    others = [header for j, header in enumerate(table.rows[0]) if j not in (name, *places)]
    if others:
        print_message(f"{path}: not read here, and so not changed: {joined(others)}")
    for column, at in zip(there, places, strict=True):
        for called, row in rows_by_name(table, name).items():
            if table.rows[row][at]:
                caps[column.name].setdefault(called, read_count(table, row, at))


def _named(option: str, given: list[str] | None, *, may_be_default: bool = True) -> dict[str, Any]:
    """Read NAME=N; a name may hold the sign too."""
    out: dict[str, Any] = {}
    for one in given or ():
        name, sign, text = one.rpartition("=")
        if not sign or not name:
            raise ValueError(f"{option} must be NAME=N, found {one!r}")
        if name in out:
            raise ValueError(f"{option} names {name!r} twice")
        more = f", or {OF_INIT}" if may_be_default else ""
        is_default = may_be_default and text == OF_INIT
        out[name] = None if is_default else _number(f"{option} of {name!r}", text, int, more)
    return out


def _number(what: str, text: str, kind: Callable[[str], Number], otherwise: str = "") -> Number:
    try:
        return kind(text)
    except ValueError:
        whole = "an integer" if kind is int else "a number"
        raise ValueError(f"{what} must be {whole}{otherwise}, found {text!r}") from None

"""What the commands of `crowd-tvcs campaign` share: the store, and its errors as exit codes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec, TypeVar

import typer

from tvcs_core.command.extras import to_install
from tvcs_core.command.shell import FAILED, emit, guarded, stop

if TYPE_CHECKING:
    from crowd_tvcs.campaign import Campaign

P = ParamSpec("P")
R = TypeVar("R")

StoreName = Annotated[
    str,
    typer.Argument(metavar="STORE", help="SQLite file, or postgresql://USER@HOST/DATABASE."),
]
QualityFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Quality of the workers (worker, quality), or of the pairs, as for assign.",
    ),
]
GoldFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Known labels: columns task, label.")
]
AnswersFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Answers to gold tasks: columns task, worker, label."),
]
WorkersFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Columns worker and any of max_tasks, cost (of a label), group."
    ),
]
TasksFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Columns task and any of prior, min_workers, max_workers."),
]
LeastGain = Annotated[
    float,
    typer.Option(
        metavar="P",
        help="Least that a label must add to the chance that its task is labelled rightly.",
    ),
]
OutFile = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write there, not to standard output."),
]


def stored(command: Callable[P, R]) -> Callable[P, R]:
    """Guard a command that uses a store: what the store could not do is exit code 1."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        if find_spec("sqlalchemy") is None:
            stop(f"error: campaigns need SQLAlchemy: {to_install('campaign')}", FAILED)
        from crowd_tvcs.campaign.store.store import StoreError

        try:
            return command(*args, **kwargs)
        except StoreError as error:
            stop(f"error: {error}", FAILED)

    return guarded(wrapper)


def open_campaign(store: str) -> Campaign:
    """Open the store of a campaign."""
    from crowd_tvcs.campaign import Campaign

    return Campaign(store)


def write_rows(out: Path | None, header: list[str], rows: list[list[object]]) -> None:
    """Write a CSV table to a file, whole or not at all, or to standard output."""
    import csv
    import io

    from tvcs_core.files.folders import write_whole
    from tvcs_core.files.spreadsheet import shield
    from tvcs_core.files.tables import write_table

    shown = [[shield(x) if isinstance(x, str) else x for x in row] for row in rows]
    if out is None:
        page = io.StringIO()
        writer = csv.writer(page, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(shown)
        emit(page.getvalue().removesuffix("\n"))
    else:
        write_whole(out, lambda path: write_table(path, header, shown, ","))

"""The command `crowd-tvcs workers`: recommendations to keep, train or stop workers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from crowd_tvcs.cli.answers import GOLD, RecordedAnswers, share_option
from tvcs_core.arguments import check_number
from tvcs_core.command.options import (
    NOT_RECORDED,
    Force,
    OutFolder,
    file_option,
    number_option,
    with_options,
)
from tvcs_core.command.results import print_table, results
from tvcs_core.command.shell import guarded, print_message

if TYPE_CHECKING:
    from crowd_tvcs.behaviour.worker_review import WorkerReview

ORDER = ("stop", "train", "more gold", "keep")


@dataclass(frozen=True, kw_only=True)
class WorkersOptions:
    """The options of ``crowd-tvcs workers``."""

    gold: Annotated[Path, file_option(GOLD)]
    out: OutFolder
    workers: Annotated[
        Path | None,
        file_option("Table of workers as for assign; its column cost gives the pay per hour."),
    ] = None
    answers: RecordedAnswers
    min_quality: Annotated[
        float | None,
        share_option(
            "Minimum accuracy of a label that is worth its price. Default: .1 above a guess."
        ),
    ] = None
    fdr: Annotated[
        float, share_option("False discovery rate of the flags, for each kind of flag.")
    ] = 0.05
    interval: Annotated[
        float, share_option("Probability of the credible interval from low to high.")
    ] = 0.9
    rows: Annotated[int, number_option("Number of workers to print."), NOT_RECORDED] = 20
    force: Force = False


@guarded
@with_options
def workers(given: WorkersOptions) -> None:
    """Recommend which workers to keep, train, stop, or test with more gold; write tables.

    workers.csv has everybody with accuracy, pace, flags and verdict, flags.csv the evidence of
    every flag, minutes.csv the minutes per label, a table of workers for assign; run.json is
    written too. ANSWERS may have columns answered_at (or time) and seconds (or duration), or
    started_at; crowd-tvcs import --times writes them.
    """
    from crowd_tvcs.behaviour.worker_review import COLUMNS, FLAG_COLUMNS, review_workers

    check_number("--rows", given.rows, least=0)
    table, known = given.answers.read_with(given.gold, times=True)
    found = review_workers(
        table,
        known,
        cost=_costs(given.workers),
        min_quality=given.min_quality,
        fdr=given.fdr,
        interval=given.interval,
    )
    with results("crowd-tvcs workers", given, layout=table.layout) as out:
        out.table("workers.csv", COLUMNS, found.rows())
        out.table("flags.csv", FLAG_COLUMNS, found.flag_rows())
        if minutes := found.minutes():
            out.table("minutes.csv", ["worker", "minutes"], minutes)
    _print_messages(found)
    _print(found, given.rows)
    print_message(f"written to {given.out}")


def _costs(path: Path | None) -> dict[str, float] | None:
    from crowd_tvcs.answers.columns import open_table
    from crowd_tvcs.answers.rows import COST, read_worker_rows

    if path is None:
        return None
    names = {name.lower() for name in open_table(path).rows[0]}
    if "minutes" in names and COST.name not in names:
        print_message(f"{path}: minutes are no pay; give a column {COST.name} to see pay an hour")
        return None
    rows = read_worker_rows(path)
    return {name: row["cost"] for name, row in rows.items() if "cost" in row}


def _print_messages(found: WorkerReview) -> None:
    if not found.has_times:
        print_message("no times of day, so drift, fatigue and patterns are not tested")
    if found.inferred:
        print_message("no durations, so the time since a worker's previous answer is used")
    print_message(str(found.speed_test))


def _print(found: WorkerReview, rows: int) -> None:
    """Print the workers, those that need an action first, then by number of answers."""
    from tvcs_core.files.display import unquoted

    count = Counter(one.verdict for one in found.workers)
    print(", ".join(f"{count[verdict]} {verdict}" for verdict in ORDER))
    columns = {
        "verdict": "<10", "answers": ">8", "gold": ">6", "right": ">6", "quality": ">9.3f",
        "low": ">6.2f", "high": ">6.2f", "seconds": ">9.1f", "per hour": ">10.2f", " ": "<2",
        "worker": "<16", "flags": "<",
    }  # fmt: skip
    order = sorted(found.workers, key=lambda s: (ORDER.index(s.verdict), -s.answers, s.worker))
    cells = []
    for s in order[: max(rows, 0)]:
        measured = [s.gold, s.right, s.quality, s.low, s.high, s.seconds, s.pay_per_hour]
        kinds = ", ".join(dict.fromkeys(flag.kind for flag in s.flags))
        cells.append([s.verdict, s.answers, *measured, "", unquoted(s.worker), kinds])
    print()
    print_table(columns, cells)

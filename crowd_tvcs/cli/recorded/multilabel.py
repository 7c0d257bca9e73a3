"""The command `crowd-tvcs multilabel`: tasks with several labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from crowd_tvcs.arrays import Integers
from crowd_tvcs.cli.answers import Cleaning, class_names
from tvcs_core.arguments import Help
from tvcs_core.command.options import Force, OutFolder, Seed, file_option, with_options
from tvcs_core.command.results import results
from tvcs_core.command.shell import guarded, print_message
from tvcs_core.files.display import plural


@dataclass(frozen=True, kw_only=True)
class MultilabelOptions:
    """The options of ``crowd-tvcs multilabel``."""

    answers: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS",
            help="CSV, TSV or .xlsx: columns task, worker, label, with all labels that a worker "
            "gives to a task in one cell.",
        ),
    ]
    out: OutFolder
    gold: Annotated[Path | None, file_option("Tasks with known labels: columns task, label.")] = (
        None
    )
    labels: Annotated[
        str | None, Help("Possible labels. Default: those that occur.", "A,B,...")
    ] = None
    separator: Annotated[str, Help("Text between the labels of a cell.", "TEXT")] = ";"
    none: Annotated[
        str, Help("Word for no label at all; an empty cell is a missing answer.", "WORD")
    ] = "none"
    cleaning: Cleaning
    seed: Seed = 0
    force: Force = False


@guarded
@with_options
def multilabel(given: MultilabelOptions) -> None:
    """Vote on tasks with several labels; write labels.csv, claims.csv, workers.csv, summary.json.

    Each label is a question of its own, and a worker marks all of them equally well. claims.csv has
    a line per task and label. Confidences are stated only with --gold; of a whole set only if gold
    measured how labels depend on each other. Nothing is drawn: any --seed gives the same.
    """
    from crowd_tvcs.answer_kinds.label_sets import read_gold_sets, read_label_sets, warn_separator
    from crowd_tvcs.answer_kinds.multilabel import (
        LABEL_COLUMNS,
        TASK_COLUMNS,
        WORKER_COLUMNS,
        vote_on_sets,
    )
    from crowd_tvcs.answers.label_typos import warn_of_names

    names = _check(given)
    gold = (
        None
        if given.gold is None
        else read_gold_sets(given.gold, names, given.separator, given.none)
    )
    also = frozenset().union(*(gold or {}).values())
    data = read_label_sets(
        given.answers, names, given.separator, given.none, also=also, **vars(given.cleaning)
    )
    print_message(f"{given.answers}: {data.layout}")
    for line in warn_of_names(
        {} if names is not None else _counted(data.labels, data.marks.sum(axis=0)),
        _counted(data.tasks, data.per_task),
        _counted(data.workers, data.per_worker),
    ):
        print_message(line)
    votes = vote_on_sets(data, gold)
    sentences = votes.sentences()
    if warning := warn_separator(data, given.separator):
        sentences.insert(0, warning)
    with results("crowd-tvcs multilabel", given, seed=given.seed, layout=data.layout) as out:
        rows = votes.task_rows(given.separator, given.none)
        out.table("labels.csv", TASK_COLUMNS, rows)
        out.table("claims.csv", LABEL_COLUMNS, votes.label_rows())
        out.table("workers.csv", WORKER_COLUMNS, votes.worker_rows())
        out.json(
            "summary.json",
            {
                "tasks": len(data.tasks),
                "workers": len(data.workers),
                "labels": list(data.labels),
                "is_measured": votes.is_measured,
                "on_gold": votes.reached_on_gold(),
                "exponent_of_sets": votes.exponent,
                "sentences": sentences,
            },
        )
    print_message(*sentences)
    print_message(f"{plural(len(data.tasks), 'task')}; written to {given.out}")


def _counted(names: Sequence[str], counts: Integers) -> dict[str, int]:
    return dict(zip(names, counts.tolist(), strict=True))


def _check(given: MultilabelOptions) -> list[str] | None:
    """Return the names of the labels; None for those that occur."""
    if not given.separator.strip():
        raise ValueError("--separator must be a visible text, such as ; or |, found none")
    if not given.none.strip():
        raise ValueError("--none must be a word, as an empty cell is a missing answer, found none")
    names = class_names(given.labels)
    if names is None:
        return None
    for name in names:
        if not name or name == given.none or given.separator in name or names.count(name) > 1:
            raise ValueError(
                f"--labels must be different names with commas between, without "
                f"{given.separator!r} and not {given.none!r}, found {name!r}"
            )
    return names

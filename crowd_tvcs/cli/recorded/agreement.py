"""The command `crowd-tvcs agreement`: how far workers agree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from crowd_tvcs.cli.answers import RecordedAnswers, share_option
from tvcs_core.arguments import Help
from tvcs_core.command.options import (
    Force,
    OutFolder,
    Seed,
    Sets,
    number_option,
    recorded,
    with_options,
)
from tvcs_core.command.results import print_table, results
from tvcs_core.command.shell import guarded, print_message
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from crowd_tvcs.agreement.agreement import Agreement


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """The options of ``crowd-tvcs agreement``."""

    out: OutFolder
    ordinal: Annotated[
        str | None,
        Help(
            "The labels from lowest to highest; adds Krippendorff's alpha for ordered labels.",
            "A,B,...",
        ),
        Sets("classes"),
    ] = None
    answers: RecordedAnswers
    bootstrap: Annotated[
        int, number_option("Bootstrap samples of the tasks for the intervals; 0 for none.")
    ] = 1000
    interval: Annotated[float, share_option("Probability of the intervals from low to high.")] = (
        0.95
    )
    min_common_tasks: Annotated[
        int, number_option("Minimum number of common tasks of a pair in pairs.csv.")
    ] = 10
    seed: Seed = 0
    force: Force = False


@guarded
@with_options
def agreement(given: AgreementOptions) -> None:
    """Measure how far workers agree; write tasks.csv, pairs.csv, summary.json and run.json.

    Krippendorff's alpha and Fleiss' kappa over all tasks with two answers or more; agreement and
    entropy of every task; agreement and Cohen's kappa of every pair of workers. Intervals are
    bootstrapped over tasks. Neither gold is needed nor accuracy measured.
    """
    from crowd_tvcs.agreement.agreement import PAIR_COLUMNS, TASK_COLUMNS, measure

    answers = given.answers
    if given.ordinal is not None:
        if answers.classes is not None:
            raise ValueError("give --ordinal or --classes, not both")
        answers = replace(answers, classes=given.ordinal)
    table = answers.read()
    found = measure(
        table,
        ordinal=given.ordinal is not None,
        bootstrap=given.bootstrap,
        interval=given.interval,
        min_common_tasks=given.min_common_tasks,
        rng=given.seed,
    )
    parameters = recorded(given)
    asked = {name: parameters[name] for name in ("bootstrap", "interval", "min_common_tasks")}
    with results(
        "crowd-tvcs agreement", given, parameters, seed=given.seed, layout=table.layout
    ) as out:  # fmt: skip
        out.table("tasks.csv", TASK_COLUMNS, found.task_rows())
        out.table("pairs.csv", PAIR_COLUMNS, found.pair_rows())
        out.json("summary.json", found.summary() | asked)
    _print(found)
    _print_left_out(found, given.min_common_tasks)


def _print(found: Agreement) -> None:
    named = {
        "alpha (nominal)": found.alpha,
        "alpha (ordinal)": found.ordinal,
        "Fleiss' kappa": found.fleiss,
        "Cohen, mean of pairs": found.pairs.mean,
    }
    columns = {"": "<24", "value": ">8.4f", "low": ">8.4f", "high": ">8.4f", " ": "<"}
    rows = [
        [name, one.value, one.low, one.high, f"  not defined: {one.why}" if one.why else ""]
        for name, one in named.items()
        if one is not None
    ]
    print_table(columns, rows)


def _print_left_out(found: Agreement, min_common_tasks: int) -> None:
    counts = found.summary()
    print_message(
        f"{plural(counts['tasks'], 'task')} with two answers or more, "
        f"{counts['tasks_that_tie']} of them tied; "
        f"left out: {plural(counts['tasks_of_one_answer'], 'task')} with one answer"
    )
    print_message(
        f"{plural(counts['pairs'], 'pair')} of workers with at least "
        f"{plural(min_common_tasks, 'task')} in common, "
        f"{counts['pairs_without_kappa']} of them without a kappa (only one label); "
        f"{counts['pairs_left_out']} with fewer are left out"
    )
    if lost := found.alpha.lost:
        print_message(
            f"in {lost} bootstrap samples all answers were equal; the intervals leave these out"
        )

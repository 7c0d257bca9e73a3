"""The command `crowd-tvcs replay`: accuracy of policies with fewer answers."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowd_tvcs.cli.answers import (
    GOLD,
    ClassChances,
    ErrorModel,
    PerClass,
    RecordedAnswers,
    share_option,
)
from tvcs_core.arguments import Help
from tvcs_core.command.options import (
    Force,
    OutFolder,
    Seed,
    integers,
    number_option,
    recorded,
    with_options,
)
from tvcs_core.command.results import print_table, results
from tvcs_core.command.shell import guarded, print_message

if TYPE_CHECKING:
    from crowd_tvcs.answers.answers import Answers, Gold


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """The options of ``crowd-tvcs replay``."""

    out: OutFolder
    labels: Annotated[str, Help("Numbers of labels per task that a policy may buy.", "N,N,...")] = (
        "1,2,3"
    )
    splits: Annotated[int, number_option("Number of splits into gold and scored tasks.")] = 10
    gold_share: Annotated[float, share_option("Share of the known tasks that are gold.")] = 0.2
    answers: RecordedAnswers
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help=GOLD)]
    per_class: PerClass = False
    prior: ClassChances = None
    error_model: ErrorModel = "dependent"
    seed: Seed = 0
    force: Force = False


@guarded
@with_options
def replay(given: ReplayOptions) -> None:
    """Replay recorded answers: the accuracy of each policy with fewer of them.

    Prints a table and writes it to replay.csv, every split to splits.csv, and run.json. Skills and
    class shares come from the gold tasks of each split, which are not scored. mean_confidence
    should equal accuracy. In the files confident_share is the share of labels with a confidence of
    .95 or more, and confident_accuracy the share of right ones among these. A majority has no
    confidence. refused counts the splits in which semi-supervised estimation does worse on held-out
    gold.
    """
    from crowd_tvcs.answers import class_prevalence
    from crowd_tvcs.routing.outcomes import Outcome, averages
    from crowd_tvcs.routing.replay import replay as replay_answers

    wanted = integers("--labels", given.labels)
    table, known = given.answers.read_with(given.truth)
    chances = class_prevalence.read_prior(given.prior, table.classes)
    if given.prior is None:
        _print_shares(table, known, given.gold_share)
    with results(
        "crowd-tvcs replay",
        given,
        _parameters(given) | {"labels": wanted},
        seed=given.seed,
        layout=table.layout,
    ) as out:
        found = replay_answers(
            table,
            known,
            labels=wanted,
            splits=given.splits,
            gold_share=given.gold_share,
            per_class=given.per_class,
            prior=chances,
            seed=given.seed,
            model=given.error_model,
        )
        rows = averages(found)
        out.table("replay.csv", list(rows[0]), [list(row.values()) for row in rows])
        names = [field.name for field in fields(Outcome)]
        splits = [["" if cell != cell else cell for cell in astuple(one)] for one in found]
        out.table("splits.csv", names, splits)
    _print_rows(rows, given.splits)


def _parameters(given: ReplayOptions) -> dict[str, Any]:
    """Return the options for ``run.json``; classes and the rule for duplicates if given."""
    from crowd_tvcs.answers.class_prevalence import STRENGTH

    strength = STRENGTH if given.prior is None else None
    kept = recorded(given) | {"truth": given.truth.name, "class_shares_strength": strength}
    if given.answers.classes is None:
        del kept["classes"]
    return kept


def _print_shares(table: Answers, known: Gold, gold_share: float) -> None:
    from crowd_tvcs.answers import class_prevalence

    of_class = class_prevalence.class_counts(known.labels, table.classes)
    n_gold = round(gold_share * len(known))
    shares = class_prevalence.format_prevalence(
        table.classes, class_prevalence.class_prevalence(of_class)
    )
    print_message(
        f"class prevalence from gold: of about {n_gold} gold tasks in each split (of all: {shares})"
    )


def _print_rows(rows: list[dict[str, Any]], splits: int) -> None:
    columns = {
        "policy": "<10", "vote": "<16", "labels": ">8", "bought": ">8.2f", "accuracy": ">10.4f",
        "error": ">9.4f", "confidence": ">12.4f", "": "<",
    }  # fmt: skip
    cells = []
    for row in rows:
        claimed = "-" if row["mean_confidence"] is None else row["mean_confidence"]
        measured = [row["accuracy"], row["standard_error"], claimed]
        numbers = [row["labels"], row["bought"], *measured]
        cells.append([row["policy"], row["vote"], *numbers, _refused(row, splits)])
    print_table(columns, cells)


def _refused(row: dict[str, Any], splits: int) -> str:
    """Describe in how many splits `crowd-tvcs quality` would not make semi-supervised skills."""
    if not row["refused"]:
        return ""
    return f"  worse on held-out gold in {row['refused']:.0f} of {splits} splits"

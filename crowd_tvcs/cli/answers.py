"""Tables and options that the commands on recorded answers share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from crowd_tvcs.answers.values import of_no_currency, parse_money, parse_share
from tvcs_core.command.options import WHERE_GIVEN, Sets
from tvcs_core.command.shell import print_message
from tvcs_core.files.display import joined, plural, quoted
from tvcs_core.files.errors import DataError

if TYPE_CHECKING:
    from crowd_tvcs.answers.answers import Answers, Gold
    from crowd_tvcs.skills.dependence import Dependence
    from crowd_tvcs.skills.skill import Skill

Number = TypeVar("Number", bound=float)


def money_option(about: str, *, is_plain: bool = False) -> Any:
    """Make an option that is an amount: ``0.05``, ``$0.05``; a plain one has no currency."""

    def read(text: object) -> float:
        amount = _parsed(parse_money, text)
        if is_plain and amount.currency:
            raise typer.BadParameter(of_no_currency(str(text), amount.currency))
        return amount

    return typer.Option(parser=read, metavar="X", help=about)


def share(text: object) -> float:
    """Read the share of an option: ``.5``, ``50 %``."""
    return _parsed(parse_share, text)


def share_option(about: str) -> Any:
    """Make an option that is a share."""
    return typer.Option(parser=share, metavar="P", help=about)


def _parsed(parse: Callable[[str], Number], text: object) -> Number:
    try:
        return parse(str(text))  # typer gives defaults too
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


AnswersFile = Annotated[
    Path,
    typer.Argument(
        metavar="ANSWERS",
        help="CSV or TSV, plain or .gz: columns task (item), worker (performer, annotator), label "
        "(output, answer).",
    ),
]
Classes = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Possible labels. Default: those that occur.")
]
Duplicates = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="For pairs that were answered more than once: keep the first, last or majority "
        "answer. Default: refuse.",
    ),
    WHERE_GIVEN,
]
LeaveOut = Annotated[
    bool,
    typer.Option(
        "--leave-out-missing",
        help="Leave out and count rows without a label, task or worker: an empty cell, or a "
        "marker of programs (nan, NA, #N/A). Default: refuse.",
    ),
    WHERE_GIVEN,
]


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """Treatment of duplicate and missing answers."""

    duplicates: Duplicates = None
    leave_out_missing: LeaveOut = False


@dataclass(frozen=True, kw_only=True)
class RecordedAnswers:
    """A table of recorded answers, and how it is read."""

    answers: AnswersFile
    classes: Classes = None
    cleaning: Cleaning

    def read(self) -> Answers:
        """Read answers without gold, and print how they were interpreted."""
        from crowd_tvcs.answers.answers import read_answers

        table = read_answers(self.answers, class_names(self.classes), **vars(self.cleaning))
        print_message(f"{self.answers}: {table.layout}")
        return table

    def read_with(
        self, gold: Path, *, times: bool = False, besides: Sequence[str] = ()
    ) -> tuple[Answers, Gold]:
        """Read answers and gold with shared classes, and print how they were interpreted."""
        from crowd_tvcs.answers.answers import read_answers, read_gold
        from crowd_tvcs.answers.class_prevalence import warn_single_class
        from crowd_tvcs.answers.label_typos import review_labels
        from crowd_tvcs.skills.voting.random_gold import sample_doubt

        names, cleaning = class_names(self.classes), self.cleaning
        known = read_gold(gold, names, leave_out_missing=cleaning.leave_out_missing)
        table = read_answers(
            self.answers, names, also=known.classes, times=times, besides=besides, **vars(cleaning)
        )
        print_message(f"{self.answers}: {table.layout}")
        print_message(f"{gold}: {known.layout}")
        absent = sorted(known.labels.keys() - set(table.tasks))
        if len(absent) == len(known) and known.labels.keys() <= set(table.workers):
            raise DataError(
                f"the tasks of {gold} are workers here: the columns task and worker seem to be "
                "swapped",
                path=self.answers,
            )
        if 0 < len(absent) < len(known):
            print_message(
                f"of {plural(len(known), 'gold task')} {plural(len(absent), 'has', 'have')} "
                f"no answer: {joined(absent, quoted)}"
            )
        warnings = review_labels(gold, known, table.used_classes, has_names=bool(names))
        warnings += warn_single_class(known.labels, table.classes)
        if doubt := sample_doubt(table, known.codes(table.tasks, table.classes)):
            warnings.append(
                f"warning: {doubt}; so what gold shows does not hold for them. Draw gold at random "
                "among all tasks"
            )
        print_message(*warnings)
        return table, known


PerClass = Annotated[
    bool, typer.Option("--per-class", help="Estimate a confusion matrix for every worker.")
]
ClassChances = Annotated[
    str | None,
    typer.Option(
        metavar="A=P,B=P,...",
        help="Probability of every class, a classes.csv of crowd-tvcs quality, or equal. "
        "Default: the class shares of the gold; without gold, equal.",
    ),
]
ErrorModel = Annotated[
    str,
    typer.Option(
        help="dependent: worker errors are correlated, as estimated from gold (recommended; only "
        "then are confidences calibrated). independent: naive Bayes."
    ),
    Sets("model"),
]
GOLD = "Known labels: columns task (item), label (truth)."


def class_names(given: str | None) -> list[str] | None:
    """Split a list of labels at its commas."""
    return None if given is None else [name.strip() for name in given.split(",")]


def print_skill(skill: Skill) -> None:
    """Print the amount of gold and the mean accuracy of the workers."""
    from crowd_tvcs.skills.skill import reversed_doubt

    answered = skill.n_gold[skill.n_gold > 0]
    print_message(
        f"{plural(skill.n_gold.sum(), 'gold answer')} of {answered.size} of "
        f"{plural(len(skill.workers), 'worker')}, "
        f"{skill.n_right.sum()} right; mean accuracy {skill.prior.mean:.3f}, a prior "
        f"with the weight of {skill.prior.strength:.1f} answers ({skill.prior.source})"
    )
    if doubt := reversed_doubt(skill):
        print_message(f"warning: {doubt}")
    if skill.dependence is not None:
        print_dependence(skill.dependence)


def print_dependence(dependence: Dependence) -> None:
    """Print how worker errors depend on each other, and where gold contradicts confidences."""
    from crowd_tvcs.skills.dependence import calibration_warnings, describe_dependence

    print_message(describe_dependence(dependence))
    print_message(*calibration_warnings(dependence))

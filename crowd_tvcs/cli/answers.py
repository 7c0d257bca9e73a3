"""What the commands about recorded answers share: the tables and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tvcs_core.command.shell import print_message

if TYPE_CHECKING:
    from crowd_tvcs.answers.answers import Answers, Gold
    from crowd_tvcs.skills.dependence import Dependence
    from crowd_tvcs.skills.skill import Skill

AnswersFile = Annotated[
    Path,
    typer.Argument(
        metavar="ANSWERS",
        help="CSV or TSV, plain or .gz: columns task (item), worker (performer, annotator), label "
        "(output, answer).",
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Labels there may be. Default: those that occur."),
]
Keep = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="Where a worker answered a task more than once: take their first, last or majority "
        "answer. Default: refuse.",
    ),
]
LeaveOut = Annotated[
    bool,
    typer.Option(
        "--leave-out-missing",
        help="Leave out and count rows without a label, task or worker: an empty cell, or a word "
        "or an error that programs write there (nan, NA, #N/A). Default: refuse.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """What to do about answers that are there twice, or not there."""

    keep: Keep = None
    leave_out_missing: LeaveOut = False

    @property
    def recorded(self) -> dict[str, object]:
        """Return what ``run.json`` says of it: nothing by default."""
        found = {} if self.keep is None else {"keep": self.keep}
        return found | ({"leave_out_missing": True} if self.leave_out_missing else {})


REFUSE = Cleaning()
PerClass = Annotated[
    bool, typer.Option("--per-class", help="Estimate a confusion matrix for every worker.")
]
ClassChances = Annotated[
    str | None,
    typer.Option(
        metavar="A=P,B=P,...",
        help="Chance of every class, or a classes.csv of crowd-tvcs quality, or equal. Default: "
        "the class shares of the gold; without gold, equal.",
    ),
]
Model = Annotated[
    str,
    typer.Option(
        help="dependent: workers err on the same tasks, as far as gold says (on real crowds a "
        "confidence is only then what it says); independent: Bayes' rule."
    ),
]
GOLD = "Labels that are known: columns task (item), label (truth)."


def read_with_gold(
    answers: Path,
    gold: Path,
    classes: str | None,
    cleaning: Cleaning = REFUSE,
    *,
    times: bool = False,
    besides: Sequence[str] = (),
) -> tuple[Answers, Gold]:
    """Read answers and gold, with the classes of both, and say how they were understood."""
    from crowd_tvcs.answers.answers import read_answers, read_gold
    from crowd_tvcs.answers.class_prevalence import warn_single_class
    from crowd_tvcs.answers.label_typos import review_labels

    names = class_names(classes)
    known = read_gold(gold, names, leave_out_missing=cleaning.leave_out_missing)
    table = read_answers(
        answers,
        names,
        also=known.classes,
        times=times,
        besides=besides,
        **vars(cleaning),
    )
    print_message(f"{answers}: {table.layout}")
    print_message(f"{gold}: {known.layout}")
    if names is None:
        for line in review_labels(gold, known, _used(table)):
            print_message(line)
    _say_names(table)
    for line in warn_single_class(known.labels, table.classes):
        print_message(line)
    return table, known


def read_alone(answers: Path, classes: str | None, cleaning: Cleaning = REFUSE) -> Answers:
    """Read answers without gold likewise."""
    from crowd_tvcs.answers.answers import read_answers

    names = class_names(classes)
    table = read_answers(answers, names, **vars(cleaning))
    print_message(f"{answers}: {table.layout}")
    if names is None:
        say_labels(_used(table))
    _say_names(table)
    return table


def _used(table: Answers) -> dict[str, int]:
    """Return the labels that answers have, with how many have each."""
    return {name: n for name, n in zip(table.classes, table.per_class.tolist(), strict=True) if n}


def _say_names(table: Answers) -> None:
    """Point out names of tasks and workers of a table."""
    say_names(
        dict(zip(table.tasks, table.per_task.tolist(), strict=True)),
        dict(zip(table.workers, table.per_worker.tolist(), strict=True)),
    )


def say_names(tasks: Mapping[str, int], workers: Mapping[str, int]) -> None:
    """Point out names that look alike, or may be those of several; by how many answers each has."""
    from crowd_tvcs.answers.label_typos import warn_similar_names

    for line in warn_similar_names("task", tasks) + warn_similar_names("worker", workers):
        print_message(line)


def say_labels(used: Mapping[str, int]) -> None:
    """Point out labels that look alike, or like no classes; by how many answers have each."""
    from crowd_tvcs.answers.label_typos import warn_odd_labels, warn_similar_labels

    for line in warn_similar_labels(used) + warn_odd_labels(used):
        print_message(line)


def class_names(given: str | None) -> list[str] | None:
    """Read the labels that there may be, with commas between."""
    return None if given is None else [name.strip() for name in given.split(",")]


def say_skill(skill: Skill) -> None:
    """Tell how much gold there is and how accurate the workers are on average."""
    answered = skill.n_gold[skill.n_gold > 0]
    print_message(
        f"{skill.n_gold.sum()} gold answers of {answered.size} of {len(skill.workers)} workers, "
        f"{skill.n_right.sum()} right; mean accuracy {skill.prior.mean:.3f}, "
        f"worth {skill.prior.strength:.1f} answers ({skill.prior.source})"
    )
    if skill.dependence is not None:
        say_dependence(skill.dependence)


def say_dependence(dependence: Dependence) -> None:
    """Tell what several answers are worth together, and warn where gold says otherwise."""
    from crowd_tvcs.skills.dependence import calibration_warnings, describe_dependence

    print_message(describe_dependence(dependence))
    for line in calibration_warnings(dependence):
        print_message(line)

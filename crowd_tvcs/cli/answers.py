"""What the commands about recorded answers share: the tables and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tvcs_core.command.shell import say

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
    keep: str | None = None,
    *,
    times: bool = False,
    besides: Sequence[str] = (),
) -> tuple[Answers, Gold]:
    """Read answers and gold, with the classes of both, and say how they were understood."""
    from crowd_tvcs.answers.answers import read_answers, read_gold
    from crowd_tvcs.answers.class_shares import lone_class
    from crowd_tvcs.answers.slips import ask_about_classes

    names = class_names(classes)
    known = read_gold(gold, names)
    also = known.classes
    table = read_answers(answers, names, also=also, keep=keep, times=times, besides=besides)
    say(f"{answers}: {table.layout}")
    say(f"{gold}: {known.layout}")
    if names is None:
        used = {table.classes[k] for k in set(table.label_of.tolist())}
        for line in ask_about_classes(gold, known, used):
            say(line)
    for line in lone_class(known.labels, table.classes):
        say(line)
    return table, known


def read_alone(answers: Path, classes: str | None, keep: str | None = None) -> Answers:
    """Read answers without gold likewise."""
    from crowd_tvcs.answers.answers import read_answers
    from crowd_tvcs.answers.slips import alike

    table = read_answers(answers, class_names(classes), keep=keep)
    say(f"{answers}: {table.layout}")
    for line in alike(table.classes) if classes is None else ():
        say(line)
    return table


def kept(keep: str | None) -> dict[str, str]:
    """What ``run.json`` says of the rule for repeated answers: nothing where there is none."""
    return {} if keep is None else {"keep": keep}


def class_names(given: str | None) -> list[str] | None:
    """Read the labels that there may be, with commas between."""
    return None if given is None else [name.strip() for name in given.split(",")]


def say_skill(skill: Skill) -> None:
    """Tell how much gold there is and how accurate the workers are on average."""
    answered = skill.n_gold[skill.n_gold > 0]
    say(
        f"{skill.n_gold.sum()} gold answers of {answered.size} of {len(skill.workers)} workers, "
        f"{skill.n_right.sum()} right; mean accuracy {skill.prior.mean:.3f}, "
        f"worth {skill.prior.strength:.1f} answers ({skill.prior.source})"
    )
    if skill.dependence is not None:
        say_dependence(skill.dependence)


def say_dependence(dependence: Dependence) -> None:
    """Tell what several answers are worth together, and warn where gold says otherwise."""
    from crowd_tvcs.skills.dependence import said, warnings

    say(said(dependence))
    for line in warnings(dependence):
        say(line)

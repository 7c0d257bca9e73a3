"""The command `crowd-tvcs vote`: the label of every task, from its answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowd_tvcs.cli.answers import (
    GOLD,
    AnswersFile,
    ClassChances,
    Classes,
    Cleaning,
    Model,
    PerClass,
    read_alone,
    read_with_gold,
    say_dependence,
    say_skill,
)
from tvcs_core.command.options import Force, OutFolder, recorded, with_options
from tvcs_core.command.shell import guarded, say

if TYPE_CHECKING:
    from crowd_tvcs.answers.answers import Answers, Gold
    from crowd_tvcs.answers.quality import Quality
    from crowd_tvcs.skills.dependence import Dependence
    from crowd_tvcs.skills.skill import Skill

RECORDED = ("quality", "gold", "method", "prior", "classes", "per_class", "model")


@dataclass(frozen=True, kw_only=True)
class VoteOptions:
    """The options of ``crowd-tvcs vote``."""

    answers: AnswersFile
    out: OutFolder
    quality: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="How accurate the workers are, wide or long."),
    ] = None
    gold: Annotated[Path | None, typer.Option(metavar="FILE", help=GOLD)] = None
    method: Annotated[
        str | None,
        typer.Option(
            help="weighted (needs --quality or --gold, and is then the default), majority, or "
            "crowd-kit's DawidSkene, OneCoinDawidSkene, GLAD, MACE, MMSR, MajorityVote."
        ),
    ] = None
    prior: ClassChances = None
    classes: Classes = None
    cleaning: Cleaning
    per_class: PerClass = False
    model: Model = "dependent"
    force: Force = False

    @property
    def used_method(self) -> str:
        """The method that was given, or the one that follows from what is known of the workers."""
        known = self.quality is not None or self.gold is not None
        return self.method or ("weighted" if known else "majority")


@guarded
@with_options
def vote(given: VoteOptions) -> None:
    """Vote on the label of every task; write labels.csv (task, label, confidence, answers).

    With --gold the skills and the class shares are estimated from the gold tasks first; these keep
    their known label, with confidence 1. The shares hold if gold is a random sample of the tasks;
    of gold that was picked, such as the same number of each class, give --prior.
    """
    from crowd_tvcs.answers import class_shares
    from crowd_tvcs.skills.vote import COLUMNS
    from crowd_tvcs.skills.vote import vote as vote_on
    from tvcs_core.files.folders import output_folder, write_json
    from tvcs_core.files.record import run_record
    from tvcs_core.files.spreadsheet import shield
    from tvcs_core.files.tables import write_table

    if given.quality is not None and given.gold is not None:
        raise ValueError("give --quality or --gold, not both")
    used = given.used_method
    table, labelled = _read(given)
    skill, shares, dependence = _skill(table, labelled, given)
    chances = class_shares.read_prior(given.prior, table.classes)
    votes = vote_on(table, used, skill=skill, prior=chances, dependence=dependence)
    known = {} if labelled is None else labelled.labels
    rows = [
        (name, shield(known[task]), 1.0, n) if task in known else (name, label, sure, n)
        for task, (name, label, sure, n) in zip(table.tasks, votes.rows(), strict=True)
    ]
    with output_folder(given.out, force=given.force) as folder:
        write_table(folder / "labels.csv", COLUMNS, rows, ",")
        record = run_record(
            "crowd-tvcs vote",
            recorded(given, RECORDED)
            | given.cleaning.recorded
            | {"method": used, "class_shares": shares}
            | {"dependence": None if dependence is None else dependence.as_json()},
            seed=None,
            inputs=[p for p in (given.answers, given.quality, given.gold) if p is not None],
            layout=table.layout,
        )
        write_json(folder / "run.json", record)
    mean = float(votes.confidence.mean())
    say(f"{len(rows)} labels by {used}, mean confidence {mean:.4f}; written to {given.out}")


def _read(given: VoteOptions) -> tuple[Answers, Gold | None]:
    if given.gold is not None:
        return read_with_gold(given.answers, given.gold, given.classes, given.cleaning)
    return read_alone(given.answers, given.classes, given.cleaning), None


def _skill(
    table: Answers, gold: Gold | None, given: VoteOptions
) -> tuple[Quality | Skill | None, dict[str, float] | None, Dependence | None]:
    """What the weights are made of, the class shares where they come from gold, and dependence."""
    from crowd_tvcs.answers import class_shares
    from crowd_tvcs.answers.quality import read_quality
    from crowd_tvcs.skills.dependence_fit import NO_GOLD
    from crowd_tvcs.skills.estimate import checked_model, estimate_quality

    is_dependent = checked_model(given.model) == "dependent"
    if given.used_method != "weighted":
        return None, None, None
    if given.quality is not None:
        if is_dependent:
            say_dependence(NO_GOLD)
        return read_quality(given.quality).quality, None, NO_GOLD if is_dependent else None
    if gold is None:
        return None, None, None
    skill = estimate_quality(table, gold, per_class=given.per_class, model=given.model, like=table)
    say_skill(skill)
    if given.prior is not None:
        return skill, None, skill.dependence
    say(class_shares.said(skill.classes, class_shares.class_counts(gold.labels, skill.classes)))
    shares = dict(zip(skill.classes, skill.class_shares.tolist(), strict=True))
    return skill, shares, skill.dependence

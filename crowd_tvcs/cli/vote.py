"""The command `crowd-tvcs vote`: the label of every task from its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from crowd_tvcs.cli.answers import (
    GOLD,
    ClassChances,
    ErrorModel,
    PerClass,
    RecordedAnswers,
    class_names,
    print_dependence,
    print_skill,
)
from tvcs_core.arguments import Help
from tvcs_core.command.options import (
    NOT_RECORDED,
    Force,
    OutFolder,
    file_option,
    recorded,
    with_options,
)
from tvcs_core.command.results import results
from tvcs_core.command.shell import guarded, print_message
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from crowd_tvcs.answers.answers import Answers, Gold
    from crowd_tvcs.answers.quality import Quality
    from crowd_tvcs.skills.dependence import Dependence
    from crowd_tvcs.skills.skill import Skill
    from crowd_tvcs.skills.voting.votes import Votes

BYTES_OF_A_VOTE = 32  # a probability of 8 bytes, kept four times


@dataclass(frozen=True, kw_only=True)
class VoteOptions:
    """The options of ``crowd-tvcs vote``."""

    out: OutFolder
    quality: Annotated[
        Path | None,
        file_option("Accuracies of the workers (worker, quality), or of the pairs, as for assign."),
    ] = None
    gold: Annotated[Path | None, file_option(GOLD)] = None
    method: Annotated[
        str | None,
        Help(
            "weighted (default with --quality or --gold, and needs one of them), "
            "unsupervised (default otherwise: by the agreement of the workers), majority, or "
            "crowd-kit's DawidSkene, OneCoinDawidSkene, GLAD, MACE, MMSR, MajorityVote."
        ),
    ] = None
    prior: ClassChances = None
    answers: RecordedAnswers
    per_class: PerClass = False
    error_model: ErrorModel = "dependent"
    scale: Annotated[
        str | None,
        Help(
            "The steps of an ordered scale, from one end to the other, also those that nobody "
            "gave. The label is then the median of a latent score, and workers.csv has each "
            "worker's bias, scale, noise and lapses.",
            "A,B,...",
        ),
        NOT_RECORDED,
    ] = None
    seed: Annotated[int, Help("Random seed; only --scale uses it."), NOT_RECORDED] = 0
    force: Force = False

    @property
    def used_method(self) -> str:
        """The given method, or the default for the given inputs."""
        known = self.quality is not None or self.gold is not None
        return self.method or ("weighted" if known else "unsupervised")


@guarded
@with_options
def vote(given: VoteOptions) -> None:
    """Vote on the label of every task; write labels.csv (task, label, confidence, answers).

    Without gold or a quality table the skills come from the agreement of the workers. Gold does not
    check the confidence then, and none is above .9. A majority, or a table with one answer per
    task, has no confidence; a column share then has the share of the answers with this label.

    With --gold the skills and class shares are estimated from the gold tasks first; these keep
    their known label, with confidence 1. The shares hold if gold is a random sample of the tasks;
    otherwise give --prior.

    With --scale the labels are steps in order: labels.csv also has the probability to be within one
    step and the expected error, measured by --gold alone, and summary.json whether the answers
    show the order.
    """
    from crowd_tvcs.answers import class_prevalence
    from tvcs_core.files.input_size import refuse_cells

    if (steps := class_names(given.scale)) is not None:
        _refuse_beside_scale(given)
        _vote_by_scale(given, steps)
        return
    if given.quality is not None and given.gold is not None:
        raise ValueError("give --quality or --gold, not both")
    used = given.used_method
    table, labelled = _read(given.answers, given.gold)
    refuse_cells(
        given.answers.answers, len(table.tasks), len(table.classes), BYTES_OF_A_VOTE,
        named=("tasks", "labels"), remedy="group texts or names into few classes",
    )  # fmt: skip
    skill, shares, dependence = _skill(table, labelled, given)
    chances = class_prevalence.read_prior(given.prior, table.classes)
    votes, facts = _votes(table, labelled, (skill, dependence), given, chances)
    known = {} if labelled is None else labelled.labels
    with results(
        "crowd-tvcs vote",
        given,
        recorded(given)
        | {"method": used, "class_shares": shares}
        | {"dependence": None if dependence is None else dependence.as_json()}
        | facts,
        layout=table.layout,
    ) as out:
        shown = votes if labelled is None else votes.with_gold(table, labelled)
        out.table("labels.csv", votes.columns, shown.rows())
    print_message(f"{_counted(votes, known, dependence)}; written to {given.out}")


def _refuse_beside_scale(given: VoteOptions) -> None:
    """Refuse the options of votes on unordered classes."""
    default = {one.name: one.default for one in (*fields(given), *fields(given.answers))}
    values = vars(given) | vars(given.answers)
    for name in ("quality", "method", "prior", "classes", "per_class", "error_model"):
        if values[name] != default[name]:
            raise ValueError(
                f"--scale has a model of its own: leave out --{name.replace('_', '-')}, or vote on "
                "classes without an order, without --scale"
            )


def _vote_by_scale(given: VoteOptions, steps: list[str]) -> None:
    """Vote on the step of every task; write labels.csv, workers.csv and summary.json."""
    from crowd_tvcs.answer_kinds import scale

    classes = ",".join(scale.check_scale(steps))
    table, known = _read(replace(given.answers, classes=classes), given.gold)
    votes = scale.vote_on_scale(table, known, rng=given.seed)
    sentences = [votes.order.describe(), scale.describe_claims(votes)]
    with results(
        "crowd-tvcs vote",
        given,
        {"gold": None if given.gold is None else given.gold.name, "scale": given.scale}
        | recorded(given.answers.cleaning),
        seed=given.seed,
        layout=table.layout,
    ) as out:
        out.table("labels.csv", scale.LABEL_COLUMNS, votes.rows())
        out.table("workers.csv", scale.WORKER_COLUMNS, votes.worker_rows())
        is_measured = votes.is_measured
        out.json(
            "summary.json",
            {
                "tasks": len(votes.tasks),
                "workers": len(votes.workers),
                "scale": list(votes.scale),
                "is_measured": is_measured,
                "on_gold": votes.reached_on_gold(),
                "calibration": votes.calibration._asdict() if is_measured else None,
                "contrast": votes.contrast if is_measured else None,
                "order": votes.order.as_json(),
                "sentences": sentences,
            },
        )
    print_message(*sentences)
    print_message(f"{plural(int((votes.label_of >= 0).sum()), 'label')}; written to {given.out}")


def _votes(
    table: Answers,
    gold: Gold | None,
    skills: tuple[Quality | Skill | list[float] | None, Dependence | None],
    given: VoteOptions,
    prior: list[float] | None,
) -> tuple[Votes, dict[str, Any]]:
    """Vote; with gold the agreement of the workers counts beside it.

    Also return what ``run.json`` keeps of that, and the share of right labels.
    """
    from crowd_tvcs.skills.dependence import CalibrationBin, Dependence, calibration_warnings
    from crowd_tvcs.skills.skill import Skill
    from crowd_tvcs.skills.voting.little_gold import vote_with_gold
    from crowd_tvcs.skills.voting.vote import vote as vote_on

    skill, dependence = skills
    if gold is None or not isinstance(skill, Skill):
        used = given.used_method
        return vote_on(table, used, skill=skill, prior=prior, dependence=dependence), {}
    votes, found, share = vote_with_gold(table, gold, skill, prior)
    if found.weight:
        print_message(found.describe())
    if dependence is None and found.claim.size:  # else `print_skill` has warned
        on_gold = CalibrationBin.of(found.claim, found.hit)
        for line in calibration_warnings(Dependence(measured=(on_gold,))):
            print_message(line)
    if share is not None:
        print_message(str(share))
    return votes, {
        "agreement": {"weight": found.weight, "temper": found.temper},
        "right_share": None if share is None else share._asdict(),
    }


def _counted(votes: Votes, known: Mapping[str, str], dependence: Dependence | None) -> str:
    """Count the labels, with the mean confidence of those that are not gold if it is measured."""
    import numpy as np

    is_gold = np.array([task in known for task in votes.tasks])
    voted = votes.is_labelled & ~is_gold
    counted = f"{plural(np.count_nonzero(votes.is_labelled | is_gold), 'label')} by {votes.method}"
    if not votes.is_measured:
        if votes.method == "unsupervised":
            counted += "; nothing was measured, since no task has two answers"
        mean = f"{votes.share[voted].mean():.4f}" if voted.any() else "-"
        remedy = "leave out --method" if known else "give --gold"
        return (
            f"{counted}, confidence not measured: {remedy}; on average a share of {mean} of the "
            "answers gave the label, which is no estimate of its accuracy"
        )
    if not voted.any():
        return f"{counted}, all of them known, so there is no confidence to report"
    is_fitted = dependence is not None and dependence.source == "gold"
    doubt = "" if is_fitted else f" ({_unchecked(votes)})"
    mean = f"{votes.confidence[voted].mean():.4f}"
    if is_gold.any():
        n_gold = np.count_nonzero(is_gold)
        return f"{counted}, {n_gold} of them gold; mean confidence of the others {mean}{doubt}"
    return f"{counted}, mean confidence {mean}{doubt}"


def _unchecked(votes: Votes) -> str:
    """Describe the evidence for confidences that no gold checks."""
    from crowd_tvcs.skills.voting.unsupervised import LARGEST_GAP, MAX_CONFIDENCE

    if votes.method != "unsupervised":
        return "not checked with gold"
    return (
        f"by agreement alone, not checked with gold: on public sets off by up to {LARGEST_GAP:g}, "
        f"so none above {MAX_CONFIDENCE:g} is stated; give --gold"
    )


def _read(answers: RecordedAnswers, gold: Path | None) -> tuple[Answers, Gold | None]:
    """Read answers, with gold if there is any."""
    return (answers.read(), None) if gold is None else answers.read_with(gold)


def _read_accuracies(path: Path, workers: Sequence[str]) -> Quality | list[float]:
    """Read the accuracy of every worker or every pair; refuse a table that lacks a worker."""
    from crowd_tvcs.answers.quality import Quality, read_qualities
    from tvcs_core.files.display import quoted
    from tvcs_core.files.errors import DataError

    found = read_qualities(path)
    known = found.workers if isinstance(found, Quality) else found
    missing = [name for name in workers if name not in known]
    if missing:
        raise DataError(
            f"must have every worker with answers, found no row of {quoted(missing[0])}", path=path
        )
    return found if isinstance(found, Quality) else [found[name] for name in workers]


def _skill(
    table: Answers, gold: Gold | None, given: VoteOptions
) -> tuple[Quality | Skill | list[float] | None, dict[str, float] | None, Dependence | None]:
    """Return the skills, the class shares if they come from gold, and the dependence."""
    from crowd_tvcs.answers import class_prevalence
    from crowd_tvcs.skills.dependence_fit import NO_GOLD
    from crowd_tvcs.skills.estimate import checked_model, estimate_quality

    is_dependent = checked_model(given.error_model) == "dependent"
    if given.used_method != "weighted":
        return None, None, None
    if given.quality is not None:
        if is_dependent:
            print_dependence(NO_GOLD)
        quality = _read_accuracies(given.quality, table.workers)
        return quality, None, NO_GOLD if is_dependent else None
    if gold is None:
        return None, None, None
    skill = estimate_quality(
        table, gold, per_class=given.per_class, model=given.error_model, like=table
    )
    print_skill(skill)
    if given.prior is not None:
        return skill, None, skill.dependence
    print_message(
        class_prevalence.describe_prevalence(
            skill.classes, class_prevalence.class_counts(gold.labels, skill.classes)
        )
    )
    shares = dict(zip(skill.classes, skill.class_prevalence.tolist(), strict=True))
    return skill, shares, skill.dependence

"""The command `crowd-tvcs models`: tasks that models leave to people."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from crowd_tvcs.cli.answers import GOLD, ClassChances, RecordedAnswers, share_option
from tvcs_core.arguments import Help
from tvcs_core.command.options import Force, OutFolder, file_option, number_option, with_options
from tvcs_core.command.results import results
from tvcs_core.command.shell import guarded, print_message
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from crowd_tvcs.answers.answers import Answers, Gold
    from crowd_tvcs.models.deferral import DeferredTasks
    from crowd_tvcs.models.fit import Models
    from crowd_tvcs.models.people import People
    from crowd_tvcs.models.plans import ModelPlan
    from crowd_tvcs.models.tables import AnnotatorTable


@dataclass(frozen=True, kw_only=True)
class ModelsOptions:
    """The options of ``crowd-tvcs models``."""

    workers: Annotated[
        Path,
        file_option(
            "Columns worker, kind (model or person), family (of models that may share "
            "errors), and any of cost, max_tasks, group. Workers that are not listed are "
            "people."
        ),
    ]
    gold: Annotated[Path, file_option(GOLD)]
    out: OutFolder
    target: Annotated[float, share_option("Required confidence in the label of a task.")] = 0.95
    right_share: Annotated[
        float | None,
        Help(
            "Required share of right labels of all tasks: find the cheapest plan of models "
            "and people that gold confirms.",
            "P",
        ),
    ] = None
    random_gold: Annotated[
        bool,
        Help("The gold tasks are a random sample of all tasks. Without it no share is proved."),
    ] = False
    max_people: Annotated[int, number_option("Maximum number of people on a task.")] = 5
    person_accuracy: Annotated[
        float | None,
        share_option("Accuracy of each person. Default: their mean, from their gold answers."),
    ] = None
    prior: ClassChances = None
    answers: RecordedAnswers
    force: Force = False


@guarded
@with_options
def models(given: ModelsOptions) -> None:
    """Estimate how many people each task still needs after models; write tables for assign.

    ANSWERS has the answers of models to all tasks, and those of models and people to gold tasks. It
    may have a column confidence for models. priors.csv is for --tasks of assign and campaign,
    quality.csv and people.csv are for the people, and plans.csv has for several confidences how
    many tasks need people, the price, and the share of right labels. Models of one family may share
    errors; how many, and how well calibrated stated confidences are, is estimated from gold.
    """
    import numpy as np

    from crowd_tvcs.answers.class_prevalence import read_prior
    from crowd_tvcs.models.deferral import DeferredTasks, open_tasks
    from crowd_tvcs.models.fit import fit_models
    from crowd_tvcs.models.measured_people import MeasuredPeople
    from crowd_tvcs.models.plans import describe_plans
    from crowd_tvcs.models.tables import CONFIDENCE, read_annotators, read_confidence

    _check(given)
    answers = given.answers
    table, known = answers.read_with(given.gold, besides=[CONFIDENCE.name])
    who = read_annotators(given.workers, table)
    cleaning = vars(answers.cleaning)
    stated = read_confidence(answers.answers, table, set(who.family_of), **cleaning)
    if stated is not None:
        print_message(
            f"confidence: stated by models with {plural(int((stated == stated).sum()), 'answer')}"
        )
    prior = read_prior(given.prior, table.classes)
    fitted = fit_models(table, known, who.family_of, confidence=stated, prior=prior)
    people = _people(fitted, table, known, who)
    accuracy = None if people is None else people.mean_quality
    if given.person_accuracy is not None:
        accuracy = np.full(fitted.truth.size, given.person_accuracy)
    if (fitted.truth >= 0).all():
        print_message("every task with answers is gold: no task is left for people")
    measured = None
    if people is not None and accuracy is not None:
        measured = MeasuredPeople.of(fitted, people, accuracy)
    handed = DeferredTasks(
        fitted, open_tasks(fitted), accuracy, given.target, given.max_people, measured
    )
    plans = _plans(given, handed, who)
    _write(given, table.layout, handed, who, people, plans)
    _print_messages(given, handed, who)
    if given.right_share is not None:
        print(describe_plans(plans, given.right_share, _doubt(given, handed)))
    print_message(f"written to {given.out}")


def _check(given: ModelsOptions) -> None:
    for name in ("target", "right_share", "person_accuracy"):
        value = getattr(given, name)
        if value is not None and not 0.0 < value < 1.0:
            option = name.replace("_", "-")
            raise ValueError(f"--{option} must be above 0 and below 1, found {value}")
    if not 0 <= given.max_people <= 20:
        raise ValueError(f"--max-people must be from 0 to 20, found {given.max_people}")


def _people(fitted: Models, table: Answers, gold: Gold, who: AnnotatorTable) -> People | None:
    """Estimate the quality of people from their own gold answers; None without any."""
    from crowd_tvcs.models.people import fit_people

    names = set(who.people)
    if not any(task in gold.labels and worker in names for task, worker, _ in table.rows()):
        return None
    return fit_people(fitted, table, gold, who.people)


def _plans(given: ModelsOptions, handed: DeferredTasks, who: AnnotatorTable) -> list[ModelPlan]:
    """Price plans of models and people; refuse if a share is required and none can be priced."""
    from crowd_tvcs.models.plans import model_plans
    from crowd_tvcs.skills.voting.right_share import MIN_GOLD

    plans = model_plans(handed, person_cost=who.person_cost)
    if given.right_share is None or plans:
        return plans
    if handed.accuracy is None:
        raise ValueError(
            "--right-share needs the accuracy of people, found none: give answers of people to "
            "gold tasks, or --person-accuracy"
        )
    if not given.max_people:
        raise ValueError("--right-share needs people, but --max-people is 0")
    if not (handed.models.answers.per_task[handed.tasks] > 0).any():
        raise ValueError("--right-share needs tasks without gold that models answered, found none")
    raise ValueError(
        f"--right-share needs {MIN_GOLD} gold tasks with answers of models, found "
        f"{handed.models.held_out_gold.truth.size}"
    )


def _doubt(given: ModelsOptions, handed: DeferredTasks) -> str:
    """Return the assumptions of a share of right labels; empty if nothing."""
    from crowd_tvcs.skills.voting.right_share import MIN_GOLD

    if handed.sample_doubt:
        return handed.sample_doubt
    if not given.random_gold:
        return "it takes the gold for a random sample of the tasks, which --random-gold would state"
    if handed.measured is None:
        return (
            f"it takes people to err independently, which answers of people to {MIN_GOLD} gold "
            "tasks would measure"
        )
    return ""


def _write(
    given: ModelsOptions, layout: str, handed: DeferredTasks, who: AnnotatorTable,
    people: People | None, plans: list[ModelPlan],
) -> None:  # fmt: skip
    from crowd_tvcs.models import deferral
    from crowd_tvcs.models.plans import PLAN_COLUMNS, confirmed

    with results("crowd-tvcs models", given, layout=layout) as out:
        rows, families = deferral.model_rows(handed.models), deferral.family_rows(handed.models)
        out.table("models.csv", deferral.MODEL_COLUMNS, rows)
        out.table("families.csv", deferral.FAMILY_COLUMNS, families)
        out.table("tasks.csv", handed.columns, handed.rows())
        out.table("priors.csv", *handed.priors())
        if plans:
            marks: list[bool | None] = [None] * len(plans)
            if given.right_share is not None:
                count = 0 if _doubt(given, handed) else confirmed(plans, given.right_share)
                marks = [at < count for at in range(len(plans))]
            priced = [one.row(is_confirmed=is_in) for one, is_in in zip(plans, marks, strict=True)]
            out.table("plans.csv", PLAN_COLUMNS, priced)
        if people is not None:
            tasks = [handed.models.answers.tasks[j] for j in handed.tasks.tolist()]
            values = people.quality(people.skill.mean)[:, handed.tasks].tolist()
            good = [[name, *row] for name, row in zip(people.skill.workers, values, strict=True)]
            out.table("quality.csv", ["worker", *tasks], good)
        out.table("people.csv", *_people_table(who))
        out.json("summary.json", _summary(handed))


def _people_table(who: AnnotatorTable) -> tuple[list[str], list[list[Any]]]:
    """Return the people and their caps, costs and groups, as assign and campaign read them."""
    names = sorted(who.people)
    known = [who.rows.get(name, {}) for name in names]
    some = [c for c in ("max_tasks", "cost", "group") if any(c in row for row in known)]
    cells = [[row.get(column, "") for column in some] for row in known]
    return ["worker", *some], [[name, *row] for name, row in zip(names, cells, strict=True)]


def _summary(handed: DeferredTasks) -> dict[str, Any]:
    fitted, needed = handed.models, handed.needed
    honest, apart = (fitted.held_out_gold.summed(independent=one) for one in (False, True))
    whole, sure = fitted.held_out_gold.compared(), handed.confident_on_gold
    share = None if handed.sample_doubt else handed.right_share
    of_people = None
    if handed.accuracy is not None and handed.tasks.size:
        of_people = handed.accuracy[handed.tasks]
    counts = None
    if needed is not None:
        more = {f"more than {handed.most}": int((needed < 0).sum())}
        counts = {str(n): int((needed == n).sum()) for n in range(handed.most + 1)} | more
    return {
        "models": len(fitted.answers.workers),
        "families": len(fitted.families),
        "classes": list(fitted.answers.classes),
        "tasks": int(handed.tasks.size),
        "gold": honest[3],
        "is_fitted": fitted.is_fitted,
        "dependence": fitted.dependence.as_json(),
        "mean_confidence": honest[0],
        "accuracy": honest[1],
        "accuracy_low": None if whole is None else whole.low,
        "accuracy_high": None if whole is None else whole.high,
        "right_share": None if share is None else share._asdict(),
        "contradicted": whole is not None and whole.is_miscalibrated,
        "doubt": handed.doubt,
        "confident_on_gold": None if sure is None else asdict(sure),
        "log_score": honest[2],
        "mean_confidence_if_independent": apart[0],
        "log_score_if_independent": apart[2],
        "person_accuracy": None if of_people is None else float(of_people.mean()),
        "person_accuracy_min": None if of_people is None else float(of_people.min()),
        "person_accuracy_max": None if of_people is None else float(of_people.max()),
        "people_delivered": None if handed.measured is None else handed.delivered,
        "target": handed.target,
        "people_needed": counts,
        "warnings": contradictions(handed),
        "sentences": handed.sentences(),
    }


def _print_messages(given: ModelsOptions, handed: DeferredTasks, who: AnnotatorTable) -> None:
    import numpy as np

    fitted, facts = handed.models, _summary(handed)
    unlisted = len(set(who.people) - set(who.rows))
    if unlisted:
        print_message(
            f"{plural(unlisted, 'worker')} with answers, not in {given.workers}, taken as people"
        )
    silent = sorted(set(who.family_of) - set(fitted.answers.workers))
    if silent:
        print_message(f"left out {plural(len(silent), 'model')} without an answer")
    if np.unique(fitted.held_out_gold.truth).size == 1:
        print_message(
            "warning: all gold tasks answered by models have the same class, so errors on other "
            "classes cannot be estimated"
        )
    for i, n in sorted(fitted.calibrated.unused.items()):
        name = fitted.answers.workers[i]
        print_message(
            f"the confidence of {name!r} is not used: it is stated with {n} gold answers, but "
            "10 are needed"
        )
    if not fitted.is_fitted:
        print_message(
            f"models have answers to {plural(facts['gold'], 'gold task')} only, too few to "
            "estimate shared errors; usual values are taken"
        )
    print_message(
        f"{plural(facts['models'], 'model')} of "
        f"{plural(facts['families'], 'family', 'families')}; "
        f"on {plural(facts['gold'], 'gold task')} "
        f"mean confidence is {facts['mean_confidence']:.3f} and accuracy {facts['accuracy']:.3f} "
        f"(mean confidence if models were independent: "
        f"{facts['mean_confidence_if_independent']:.3f})"
    )
    if (share := handed.right_share) is not None and not handed.sample_doubt:
        print_message(str(share))
    print_message(*contradictions(handed))
    if facts["person_accuracy"] is None:
        print_message(
            "no gold answers of people and no --person-accuracy: people needed are not estimated"
        )
    else:
        low, high = facts["person_accuracy_min"], facts["person_accuracy_max"]
        where = f" (from {low:.3f} on tasks with unsure models to {high:.3f})" if low < high else ""
        print_message(
            f"people have accuracy {facts['person_accuracy']:.3f}{where}; {_delivered(handed)}"
        )
    for sentence in facts["sentences"]:
        print(sentence)


def _delivered(handed: DeferredTasks) -> str:
    """Describe what people add to the models, as gold shows it."""
    if handed.measured is None:
        return "their other errors are taken as independent"
    return (
        f"on {plural(handed.measured.truth.size, 'gold task')} their answers deliver a share of "
        f"{handed.delivered:.2f} of what people who err independently would add to the models, and "
        "so much counts here; assign counts all of it"
    )


def contradictions(handed: DeferredTasks) -> list[str]:
    """Return a warning for each group of tasks whose mean confidence gold contradicts."""
    found = [("of all tasks", handed.models.held_out_gold.compared())]
    found.append((f"of tasks at {handed.target:g} or above", handed.confident_on_gold))
    return [
        f"warning: the confidence {which} is too "
        f"{'high' if one.mean_confidence > one.accuracy else 'low'}: on "
        f"{plural(one.tasks, 'gold task')} its mean is {one.mean_confidence:.3f}, but accuracy is "
        f"{one.accuracy:.3f} ({one.low:.3f} to {one.high:.3f})"
        for which, one in found
        if one is not None and one.is_miscalibrated
    ]

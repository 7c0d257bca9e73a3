"""The commands `crowd-tvcs quality`, `vote` and `replay`: from answers to skills and labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tvcs_core.command.shell import guarded, refuse_negative_seed, say

if TYPE_CHECKING:
    from crowd_tvcs.answers.answers import Answers, Gold
    from crowd_tvcs.answers.quality import Quality
    from crowd_tvcs.skills.skill import Skill

OutFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder for the results; made if missing.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace the files of a folder in use.")]
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
GOLD = "Labels that are known: columns task (item), label (truth)."


@guarded
def quality(
    answers: AnswersFile,
    gold: Annotated[Path, typer.Option(metavar="FILE", help=GOLD)],
    out: OutFolder,
    tasks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Names of the tasks to plan, one per line. Default: those of ANSWERS that are "
            "not gold.",
        ),
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="Write quality.csv wide, not worker, task, quality.")
    ] = False,
    classes: Classes = None,
    per_class: PerClass = False,
    prior: Annotated[
        str, typer.Option(help="What skills are shrunk to: empirical-bayes or two-answers.")
    ] = "empirical-bayes",
    interval: Annotated[
        float, typer.Option(metavar="P", help="Chance that low to high hold the accuracy.")
    ] = 0.9,
    refresh: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="Learn also from answers to other tasks: em, or DawidSkene (crowd-kit's). Says "
            "whether held-out gold gains by it. Default: off.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Estimate how accurate each worker is; write tables of them and run.json.

    skills.csv has the workers, quality.csv what assign reads; without tasks to plan there is none.
    classes.csv has the class shares of the gold:
    label, gold, share; they hold if gold is a random sample of the tasks. With --per-class also
    confusion.csv: worker, label, answer, chance.
    """
    from crowd_tvcs.answers import class_shares
    from crowd_tvcs.skills.em import refresh as refresh_skill
    from crowd_tvcs.skills.skill import COLUMNS, estimate_quality
    from tvcs_core.files.folders import output_folder, write_json
    from tvcs_core.files.record import run_record
    from tvcs_core.files.tables import read_names, write_table

    table, known = _read(answers, gold, classes)
    skill = estimate_quality(table, known, prior=prior, per_class=per_class, interval=interval)
    if refresh is not None:
        skill = refresh_skill(table, known, skill, method=refresh)
        _say_what_gold_says(table, known, refresh, per_class)
    names = [task for task in table.tasks if task not in known.labels]
    if tasks is not None:
        names = read_names(tasks)
    options = {
        "gold": gold.name,
        "tasks": tasks and tasks.name,
        "wide": wide,
        "classes": classes,
        "per_class": per_class,
        "prior": prior,
        "interval": interval,
        "refresh": refresh,
        "class_shares": dict(zip(skill.classes, skill.class_shares.tolist(), strict=True)),
    }
    of_class = class_shares.class_counts(known.labels, skill.classes)
    with output_folder(out, force=force) as folder:
        write_table(folder / "skills.csv", COLUMNS, skill.rows(), ",")
        write_table(
            folder / "classes.csv",
            class_shares.COLUMNS,
            class_shares.rows(skill.classes, of_class),
            ",",
        )
        if names:
            header, rows = _quality_rows(skill, names, wide=wide)
            write_table(folder / "quality.csv", header, rows, ",")
        if per_class:
            header = ["worker", "label", "answer", "chance"]
            write_table(folder / "confusion.csv", header, _confusion_rows(skill), ",")
        inputs = [answers, gold, *([] if tasks is None else [tasks])]
        record = run_record(
            "crowd-tvcs quality", options, seed=None, inputs=inputs, layout=table.layout
        )
        write_json(folder / "run.json", record)
    _say_skill(skill)
    say(class_shares.said(skill.classes, of_class))
    if not names:
        say("every task with answers is gold: no quality.csv; --tasks names the tasks to plan")
    say(f"written to {out}")


@guarded
def vote(
    answers: AnswersFile,
    out: OutFolder,
    quality: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="How accurate the workers are, wide or long."),
    ] = None,
    gold: Annotated[Path | None, typer.Option(metavar="FILE", help=GOLD)] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="weighted (needs --quality or --gold, and is then the default), majority, or "
            "crowd-kit's DawidSkene, OneCoinDawidSkene, GLAD, MACE, MMSR, MajorityVote."
        ),
    ] = None,
    prior: ClassChances = None,
    classes: Classes = None,
    per_class: PerClass = False,
    force: Force = False,
) -> None:
    """Vote on the label of every task; write labels.csv (task, label, confidence, answers).

    With --gold the skills and the class shares are estimated from the gold tasks first; these keep
    their known label, with confidence 1. The shares hold if gold is a random sample of the tasks;
    of gold that was picked, such as the same number of each class, give --prior.
    """
    from crowd_tvcs.answers import class_shares
    from crowd_tvcs.answers.answers import read_answers
    from crowd_tvcs.answers.quality import read_quality
    from crowd_tvcs.skills.skill import estimate_quality
    from crowd_tvcs.skills.vote import COLUMNS
    from crowd_tvcs.skills.vote import vote as vote_on
    from tvcs_core.files.folders import output_folder, write_json
    from tvcs_core.files.record import run_record
    from tvcs_core.files.spreadsheet import shield
    from tvcs_core.files.tables import write_table

    if quality is not None and gold is not None:
        raise ValueError("give --quality or --gold, not both")
    known: dict[str, str] = {}
    shares: dict[str, float] | None = None
    skill: Quality | Skill | None = None
    if gold is None:
        table = read_answers(answers, _classes(classes))
        say(f"{answers}: {table.layout}")
    else:
        table, labelled = _read(answers, gold, classes)
        known = dict(labelled.labels)
    used = method or ("majority" if quality is None and gold is None else "weighted")
    if used == "weighted" and quality is not None:
        skill = read_quality(quality).quality
    elif used == "weighted" and gold is not None:
        skill = estimate_quality(table, labelled, per_class=per_class)
        _say_skill(skill)
        if prior is None:
            of_class = class_shares.class_counts(known, skill.classes)
            say(class_shares.said(skill.classes, of_class))
            shares = dict(zip(skill.classes, skill.class_shares.tolist(), strict=True))
    chances = class_shares.read_prior(prior, table.classes)
    votes = vote_on(table, used, skill=skill, prior=chances)
    rows = [
        (name, shield(known[task]), 1.0, n) if task in known else (name, label, sure, n)
        for task, (name, label, sure, n) in zip(table.tasks, votes.rows(), strict=True)
    ]
    options = {
        "quality": quality and quality.name,
        "gold": gold and gold.name,
        "method": used,
        "prior": prior,
        "classes": classes,
        "per_class": per_class,
        "class_shares": shares,
    }
    with output_folder(out, force=force) as folder:
        write_table(folder / "labels.csv", COLUMNS, rows, ",")
        inputs = [path for path in (answers, quality, gold) if path is not None]
        record = run_record(
            "crowd-tvcs vote", options, seed=None, inputs=inputs, layout=table.layout
        )
        write_json(folder / "run.json", record)
    mean = float(votes.confidence.mean())
    say(f"{len(rows)} labels by {used}, mean confidence {mean:.4f}; written to {out}")


@guarded
def replay(
    answers: AnswersFile,
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help=GOLD)],
    out: OutFolder,
    labels: Annotated[
        str, typer.Option(metavar="N,N,...", help="Labels per task that a policy may buy.")
    ] = "1,2,3",
    splits: Annotated[int, typer.Option(metavar="N", help="Splits into gold and scored.")] = 10,
    gold_share: Annotated[
        float, typer.Option(metavar="P", help="Share of the known tasks that are gold.")
    ] = 0.2,
    per_class: PerClass = False,
    prior: ClassChances = None,
    seed: Annotated[int, typer.Option(help="Same seed, same bytes.")] = 0,
    force: Force = False,
) -> None:
    """Replay recorded answers: what each policy would have reached with fewer of them.

    Prints a table and writes it to replay.csv, every split to splits.csv, and run.json. Skills and
    class shares come from the gold tasks of each split, which are not scored.
    """
    from dataclasses import astuple, fields

    from crowd_tvcs.answers import class_shares
    from crowd_tvcs.routing.replay import Outcome, averages
    from crowd_tvcs.routing.replay import replay as replay_answers
    from tvcs_core.files.folders import output_folder, write_json
    from tvcs_core.files.record import run_record
    from tvcs_core.files.tables import write_table

    refuse_negative_seed(seed)
    try:
        wanted = [int(word) for word in labels.split(",")]
    except ValueError:
        raise ValueError(f"--labels must be integers with commas, found {labels!r}") from None
    table, known = _read(answers, truth, None)
    options = {
        "truth": truth.name,
        "labels": wanted,
        "splits": splits,
        "gold_share": gold_share,
        "per_class": per_class,
        "prior": prior,
        "class_shares_strength": class_shares.STRENGTH if prior is None else None,
    }
    chances = class_shares.read_prior(prior, table.classes)
    if prior is None:
        of_class = class_shares.class_counts(known.labels, table.classes)
        n_gold = round(gold_share * len(known))
        shares = class_shares.shown(table.classes, class_shares.class_shares(of_class))
        say(
            f"class shares from gold: of about {n_gold} gold tasks in each split (of all: {shares})"
        )
    with output_folder(out, force=force) as folder:
        found = replay_answers(
            table,
            known,
            labels=wanted,
            splits=splits,
            gold_share=gold_share,
            per_class=per_class,
            prior=chances,
            seed=seed,
        )
        rows = averages(found)
        header = list(rows[0])
        cells = [["" if row[k] is None else row[k] for k in header] for row in rows]
        write_table(folder / "replay.csv", header, cells, ",")
        names = [field.name for field in fields(Outcome)]
        write_table(folder / "splits.csv", names, [astuple(o) for o in found], ",")
        inputs = [answers, truth]
        record = run_record(
            "crowd-tvcs replay", options, seed=seed, inputs=inputs, layout=table.layout
        )
        write_json(folder / "run.json", record)
    print(f"{'policy':<10}{'vote':<10}{'labels':>8}{'bought':>8}{'accuracy':>10}{'error':>9}")
    for row in rows:
        error = "" if row["standard_error"] is None else f"{row['standard_error']:.4f}"
        print(
            f"{row['policy']:<10}{row['vote']:<10}{row['labels']:>8}{row['bought']:>8.2f}"
            f"{row['accuracy']:>10.4f}{error:>9}"
        )


def _read(answers: Path, gold: Path, classes: str | None) -> tuple[Answers, Gold]:
    """Read answers and gold, with the classes of both, and say how they were understood."""
    from crowd_tvcs.answers.answers import read_answers, read_gold
    from crowd_tvcs.answers.class_shares import odd_classes

    names = _classes(classes)
    known = read_gold(gold, names)
    table = read_answers(answers, names, also=known.classes)
    say(f"{answers}: {table.layout}")
    say(f"{gold}: {known.layout}")
    if names is None:
        used = {table.classes[k] for k in set(table.label_of.tolist())}
        for line in odd_classes(used, known.labels):
            say(line)
    return table, known


def _classes(given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",")]


def _quality_rows(
    skill: Skill, tasks: list[str], *, wide: bool
) -> tuple[list[str], list[list[object]]]:
    """Lay out what `crowd-tvcs assign` reads: every worker has one quality for all tasks."""
    from tvcs_core.files.spreadsheet import shield

    pairs = list(zip(map(shield, skill.workers), skill.mean.tolist(), strict=True))
    names = [shield(task) for task in tasks]
    if wide:
        return ["worker", *names], [[worker, *[mean] * len(names)] for worker, mean in pairs]
    rows: list[list[object]] = [[worker, task, mean] for worker, mean in pairs for task in names]
    return ["worker", "task", "quality"], rows


def _confusion_rows(skill: Skill) -> list[list[object]]:
    from tvcs_core.files.spreadsheet import shield

    return [
        [shield(worker), shield(label), shield(answer), float(skill.matrices[i, c, k])]
        for i, worker in enumerate(skill.workers)
        for c, label in enumerate(skill.classes)
        for k, answer in enumerate(skill.classes)
    ]


def _say_skill(skill: Skill) -> None:
    answered = skill.n_gold[skill.n_gold > 0]
    say(
        f"{skill.n_gold.sum()} gold answers of {answered.size} of {len(skill.workers)} workers, "
        f"{skill.n_right.sum()} right; mean accuracy {skill.prior.mean:.3f}, "
        f"worth {skill.prior.strength:.1f} answers ({skill.prior.source})"
    )


def _say_what_gold_says(answers: Answers, gold: Gold, method: str, per_class: bool) -> None:
    from crowd_tvcs.skills.em import helps

    found = helps(answers, gold, method=method, per_class=per_class)
    if found.gold == 0:
        say(f"refreshed by {method}; there is too little gold to say whether that helps")
        return
    say(
        f"refreshed by {method}; of {found.gold} held-out gold tasks the vote gets "
        f"{found.without} right without and {found.refreshed} with it"
    )
    if found.refreshed < found.without:
        say("warning: held-out gold says that the refresh makes the labels worse")

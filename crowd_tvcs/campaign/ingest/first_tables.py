"""The tables that a campaign starts from, put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from crowd_tvcs.answers.answers import Gold, read_gold, sort_classes
from crowd_tvcs.answers.class_prevalence import (
    class_counts,
    describe_prevalence,
    read_prior,
    warn_single_class,
)
from crowd_tvcs.answers.factors import Factors
from crowd_tvcs.answers.label_typos import review_labels, warn_similar_names
from crowd_tvcs.answers.quality import Qualities, Quality, read_qualities
from crowd_tvcs.campaign.answer_kinds import tables as of_kind
from crowd_tvcs.campaign.answer_kinds.kind import (
    KINDS,
    AnswerKind,
    OneClass,
    Preference,
    labels_of_kind,
)
from crowd_tvcs.campaign.entries import AnswerRecord, Task, Worker
from crowd_tvcs.campaign.ingest.files import CampaignFiles
from crowd_tvcs.campaign.ingest.tables import read_lines, read_tasks, read_workers
from crowd_tvcs.factors.tables import read_factors
from tvcs_core.command.shell import print_message
from tvcs_core.files.errors import DataError
from tvcs_core.files.tables import is_number


def read_first(
    files: CampaignFiles,
    classes: Sequence[str] | None,
    prior: str | None,
    answer_kind: str = OneClass.name,
    duplicates: str | None = None,
    leave_out_missing: bool = False,
) -> dict[str, Any]:
    """Read the tables of a new campaign as arguments of `Campaign.create`.

    Prints the class shares of the gold if they are used, and classes that look like mistakes.

    Raises
    ------
    DataError
        With file, line and column.
    ValueError
        If a required table is missing.
    """
    has_classes = KINDS[answer_kind].has_classes
    files.check_first(has_classes)
    if classes is not None:
        labels_of_kind(answer_kind, classes)
    if not has_classes:
        _refuse_of_classes(files, prior)
        kind = KINDS[answer_kind](labels_of_kind(answer_kind, classes or ()))
        return _first_of_kind(kind, files, duplicates, leave_out_missing)
    qualities = None if files.quality is None else read_qualities(files.quality)
    factors = None
    if files.kinds is not None and files.tasks is not None:
        factors = read_factors(files.kinds, files.tasks).factors
    table = qualities if factors is None else factors.table
    named = None if classes is None else [name.strip() for name in classes]
    lines: list[AnswerRecord] = []
    known, labels = None, {}
    if files.gold is not None:
        known = read_gold(files.gold, named, leave_out_missing=leave_out_missing)
        labels = dict(known.labels)
    if files.answers is not None:
        lines = read_lines(files.answers, duplicates, named, leave_out_missing=leave_out_missing)
    if files.gold is not None and known is not None and lines:
        used = Counter(line.label for line in lines)
        print_message(*review_labels(files.gold, known, used, has_names=named is not None))
    if named is None:
        named = _class_names(known, lines)
    if known is not None:
        _report_gold(labels, named, has_prior=prior is not None)
    return {
        "prior": _prior(prior, named),
        "qualities": qualities,
        "kinds": None if factors is None else factors.table,
        "gold": None if known is None else labels,
        "gold_answers": lines,
        "classes": named,
        "answer_kind": answer_kind,
        "workers": _workers(files.workers, table, {one.worker for one in lines}),
        "tasks": without_gold(_tasks(files.tasks, qualities, factors), labels, files.tasks),
    }


def _report_gold(labels: Mapping[str, str], classes: Sequence[str], *, has_prior: bool) -> None:
    """Warn of gold of one class, and print the class shares if they are used."""
    print_message(*warn_single_class(labels, classes))
    if not has_prior:
        print_message(describe_prevalence(classes, class_counts(labels, classes)))


def _class_names(known: Gold | None, lines: Sequence[AnswerRecord]) -> list[str]:
    """Return the classes of the gold and of answers to it; 0 and 1 if there are no two."""
    found = {line.label for line in lines}.union(() if known is None else known.classes)
    return list(sort_classes(found)) if len(found) > 1 else ["0", "1"]


def _refuse_of_classes(files: CampaignFiles, prior: str | None) -> None:
    """Refuse tables and priors where answers are no classes."""
    is_table = files.quality is not None or files.kinds is not None
    if is_table or prior is not None:
        raise ValueError(
            f"{'--quality or --kinds' if is_table else '--prior'} is for classes and scales; "
            "leave it out: people show by --gold how often they are right"
        )


def _first_of_kind(
    kind: AnswerKind, files: CampaignFiles, duplicates: str | None, leave_out_missing: bool
) -> dict[str, Any]:
    """Read the tables of a campaign whose answers are no classes."""
    if files.tasks is None:
        raise ValueError(
            "--tasks must name what is to be asked"
            + (": the pairs (left, right), or the items" if kind.name == Preference.name else "")
        )
    wanted = of_kind.read_tasks_of_kind(files.tasks, kind)
    names = {one.name for one in wanted}
    lines: list[AnswerRecord] = []
    if files.answers is not None:
        lines = of_kind.read_answers_of_kind(
            files.answers, kind, names, duplicates, leave_out_missing
        )
    known = None if files.gold is None else of_kind.read_known(files.gold, kind, names)
    return {
        "gold": known,
        "gold_answers": lines,
        "classes": list(kind.labels),
        "answer_kind": kind.name,
        "workers": _workers(files.workers, None, {one.worker for one in lines}),
        "tasks": without_gold(wanted, known or (), files.tasks),
    }


def without_gold(wanted: list[Task], gold: Collection[str], path: Path | None) -> list[Task]:
    """Leave out the tasks that people get as gold; report their number, and names like them.

    A label that is known need not be bought, and a task is either gold or to be labelled.

    Raises
    ------
    DataError
        If no other task is there.
    """
    kept = [one for one in wanted if one.name not in gold]
    if not kept:
        raise DataError("must have a task that is not gold, found none", path=path)
    if n := len(wanted) - len(kept):
        print_message(
            f"{n} of {len(wanted)} tasks are gold: they show how good people are, and need no label"
        )
    names = {one.name for one in wanted}
    if not names.issuperset(gold):
        told = warn_similar_names("task", names)  # where the table was read
        warnings = warn_similar_names("task", names.union(gold))
        print_message(*(one for one in warnings if one not in told))
    return kept


def _prior(given: str | None, classes: Sequence[str]) -> float | list[float] | None:
    """Read --prior: the probability of the second of two classes, or as for `vote`."""
    if given is None or not is_number(given):
        return read_prior(given, classes)
    return float(given)


def _workers(path: Path | None, qualities: Qualities | None, seen: set[str]) -> list[Worker]:
    known = None
    if qualities is not None:
        seen = set(qualities.workers if isinstance(qualities, Quality) else qualities)
        known = seen
    if path is not None:
        return read_workers(path, known)
    return [Worker(name) for name in sorted(seen)]


def _tasks(path: Path | None, qualities: Qualities | None, factors: Factors | None) -> list[Task]:
    known = qualities.tasks if isinstance(qualities, Quality) else None
    if path is not None:
        names = None if known is None else set(known)
        return read_tasks(path, names, of_kinds=factors is not None)
    if known is None:
        raise ValueError("--tasks must name what is to be labelled")
    return [Task(name) for name in known]

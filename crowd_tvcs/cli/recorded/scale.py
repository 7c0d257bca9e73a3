"""`crowd-tvcs vote --scale`: answers on an ordered scale."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowd_tvcs.cli.answers import Cleaning, class_names, read_recorded
from tvcs_core.command.options import recorded
from tvcs_core.command.results import OutOptions, results
from tvcs_core.command.shell import print_message
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from crowd_tvcs.answer_kinds.scale import ScaleVotes


def vote_by_scale(
    place: OutOptions, answers: Path, gold: Path | None, scale: str, cleaning: Cleaning, seed: int
) -> None:
    """Vote on the step of every task; write labels.csv, workers.csv and summary.json."""
    from crowd_tvcs.answer_kinds.scale import (
        LABEL_COLUMNS,
        WORKER_COLUMNS,
        check_scale,
        describe_claims,
        vote_on_scale,
    )

    steps = check_scale(class_names(scale) or [])
    table, known = read_recorded(answers, gold, ",".join(steps), cleaning)
    votes = vote_on_scale(table, known, rng=seed)
    sentences = [votes.order.describe(), describe_claims(votes)]
    with results(
        "crowd-tvcs vote",
        place,
        {"gold": None if gold is None else gold.name, "scale": scale} | recorded(cleaning),
        seed=seed,
        inputs=[answers, gold],
        layout=table.layout,
    ) as out:
        out.table("labels.csv", LABEL_COLUMNS, votes.rows())
        out.table("workers.csv", WORKER_COLUMNS, votes.worker_rows())
        out.json("summary.json", _summary(votes, sentences))
    for sentence in sentences:
        print_message(sentence)
    print_message(f"{plural(int((votes.label_of >= 0).sum()), 'label')}; written to {place.out}")


def _summary(votes: ScaleVotes, sentences: list[str]) -> dict[str, Any]:
    return {
        "tasks": len(votes.tasks),
        "workers": len(votes.workers),
        "scale": list(votes.scale),
        "is_measured": votes.is_measured,
        "on_gold": votes.reached_on_gold(),
        "calibration": votes.calibration._asdict() if votes.is_measured else None,
        "contrast": votes.contrast if votes.is_measured else None,
        "order": votes.order.as_json(),
        "sentences": sentences,
    }

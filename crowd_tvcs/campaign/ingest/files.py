"""The tables that a campaign begins with, or is extended by; also options of the commands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tvcs_core.arguments import Help

FILE = "FILE"


@dataclass(frozen=True, kw_only=True)
class CampaignFiles:
    """Tables of a campaign."""

    quality: Annotated[
        Path | None,
        Help("Quality of the workers (worker, quality), or of the pairs, as for assign.", FILE),
    ] = None
    kinds: Annotated[
        Path | None,
        Help(
            "Quality of the workers on kinds of tasks, as for assign; --tasks has the kind "
            "of every task.",
            FILE,
        ),
    ] = None
    gold: Annotated[Path | None, Help("Known labels: columns task, label.", FILE)] = None
    answers: Annotated[
        Path | None, Help("Answers to gold tasks: columns task, worker, label.", FILE)
    ] = None
    workers: Annotated[
        Path | None, Help("Columns worker and any of max_tasks, cost (per label), group.", FILE)
    ] = None
    tasks: Annotated[
        Path | None,
        Help(
            "Columns task and any of prior, min_workers, max_workers; and kind, with --kinds.",
            FILE,
        ),
    ] = None

    def check_first(self, has_classes: bool) -> None:
        """Refuse tables of a new campaign that lack or exclude one another."""
        if self.quality is not None and self.kinds is not None:
            raise ValueError("give --quality or --kinds, not both")
        table = self.quality or self.kinds
        if table is not None and self.answers is not None:
            option = "--quality" if self.quality else "--kinds"
            raise ValueError(f"give --answers or {option}, not both")
        if self.answers is not None and self.gold is None:
            raise ValueError("--answers needs --gold, the labels of their tasks")
        if table is None and self.gold is None and has_classes:
            raise ValueError(
                "give --gold (with --answers to it, if there are any), or --quality, or --kinds "
                "with --tasks"
            )
        if self.kinds is not None and self.tasks is None:
            raise ValueError("--kinds needs --tasks, the kind of every task")
        if table is None and self.answers is None and self.workers is None:
            raise ValueError(
                "--workers must name who is to label, as there are no --answers to gold; where "
                "people sign up by themselves, one name is enough, such as your own to try the "
                "desk"
            )

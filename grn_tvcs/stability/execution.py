"""How units of work are done: by an engine, with a report of progress, kept for another run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from tvcs_core.engines import Job, Serial, results

Progress = Callable[[int, int], None]


class Execution(NamedTuple):
    """An engine, and what it reports and keeps; no result depends on them.

    Attributes
    ----------
    engine
        One of `tvcs_core.engines`, or a pool that `tvcs_core.engines.as_engine` takes.
    progress
        Called with the finished and the total units of work.
    checkpoint_dir
        Folder of finished units, from which an interrupted run can resume.
    """

    engine: Any = Serial()
    progress: Progress | None = None
    checkpoint_dir: Path | None = None

    def within(self, name: str) -> Execution:
        """Return the same with checkpoints in a folder of this name."""
        folder = self.checkpoint_dir
        return self if folder is None else self._replace(checkpoint_dir=folder / name)

    def reporting(self, progress: Progress | None) -> Execution:
        """Return the same with another report of progress."""
        return self._replace(progress=progress)

    def stages(self, *sizes: int) -> list[Execution]:
        """Return one for each of several stages, which report their progress as one total."""
        tell, total = self.progress, sum(sizes)
        if tell is None:
            return [self] * len(sizes)

        def part(start: int, size: int) -> Progress:
            return lambda done, of: tell(start + round(size * done / max(of, 1)), total)

        starts = accumulate(sizes, initial=0)
        return [self.reporting(part(*one)) for one in zip(starts, sizes, strict=False)]

    def results(self, job: Job) -> closing[Any]:
        """Return the job, the index and the result of every unit, in any order; to be closed."""
        return closing(
            results([job], self.engine, checkpoint_dir=self.checkpoint_dir, progress=self.progress)
        )


SERIAL = Execution()

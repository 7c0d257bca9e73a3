"""The results of jobs: run by an engine, stored in a journal, reported as they come."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tvcs_core.engines.adapters import as_engine
from tvcs_core.engines.job import Job, Task
from tvcs_core.engines.journal import Journal


def results(
    jobs: Sequence[Job],
    engine: Any,
    *,
    checkpoint_dir: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Generator[tuple[Job, int, Any], None, None]:
    """Yield job, index and result of every unit of all jobs, in any order.

    Close the generator (`contextlib.closing`) if you may stop early.

    Parameters
    ----------
    jobs
        Jobs with different names. They share one queue, in this order.
    engine
        Runs the units whose results are not in the journal: an engine, or a pool that
        `tvcs_core.engines.as_engine` takes.
    checkpoint_dir
        Folder of the journal. Every result is stored in it before it is yielded, and a stored
        result is not computed again.
    progress
        Called with the numbers of finished and of all units; first with the stored ones, if any.

    Raises
    ------
    DataError
        If the journal belongs to other jobs.
    """
    journals = (
        {}
        if checkpoint_dir is None
        else {job: Journal(checkpoint_dir / job.name, job.identity) for job in jobs}
    )
    report = progress or (lambda done, total: None)
    done, total = 0, sum(job.size for job in jobs)
    todo: list[Task] = []
    for task in (Task(job, index) for job in jobs for index in range(job.size)):
        stored = journals[task.job].read(task.number) if journals else None
        if stored is None:
            todo.append(task)
            continue
        done += 1
        yield task.job, task.number, stored
    if done:
        report(done, total)
    with closing(as_engine(engine).run(todo)) as found:
        for task, result in found:
            if journals:
                journals[task.job].write(task.number, result)
            done += 1
            report(done, total)
            yield task.job, task.number, result

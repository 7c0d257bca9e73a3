"""What an earlier run of `grn-tvcs infer` has left in its folder: results, or finished work."""

from __future__ import annotations

from grn_tvcs.cli.options import InferOptions
from grn_tvcs.network.edge_files import read_record
from tvcs_core import DataError
from tvcs_core.command.options import input_files, recorded
from tvcs_core.files.display import joined
from tvcs_core.files.record import run_record

DONE, INTERRUPTED, NOTHING = "done", "interrupted", "nothing"


def earlier_run(given: InferOptions) -> str:
    """Return what is there to resume: all results, checkpoints of an interrupted run, or nothing.

    Raises
    ------
    ValueError, DataError
        If there are checkpoints, without ``--resume`` or ``--force``; or if they are of another
        method, since the end of this run would remove them. The code that resumes checks the data,
        options and seed of the checkpoints.
    """
    if not given.checkpoints.is_dir():
        is_done = given.resume and _has_results(given)
        return DONE if is_done else NOTHING
    methods = {path.name for path in given.checkpoints.iterdir() if path.is_dir()}
    anew = given.force and not given.resume
    if (others := sorted(methods - {given.method})) and not anew:
        raise DataError(
            f"is of a run with method {joined(others)} (now {given.method}); give --force "
            f"{'in place of --resume ' if given.resume else ''}to begin anew",
            path=given.checkpoints,
        )
    if not (given.resume or given.force):
        raise ValueError(
            f"{given.out} holds finished work of an interrupted run; give --resume to go on if "
            "it was of these data, options and seed, or --force to begin anew"
        )
    return INTERRUPTED if given.resume else NOTHING


def _has_results(given: InferOptions) -> bool:
    """Whether the folder holds the results of just this run."""
    path = given.out / "run.json"
    try:
        before = read_record(path) if path.is_file() else None
    except DataError:  # no text
        before = None
    same = run_record("grn-tvcs infer", recorded(given), seed=given.seed, inputs=input_files(given))
    return before is not None and all(before.get(k) == same[k] for k in same)

"""Checks of the parameters of a plan, each by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from crowd_tvcs.accuracy.model import (
    adding_up_to_one,
    checked_classes,
    checked_confusion,
    checked_prior,
)
from crowd_tvcs.answers.factors import CrowdQuality
from crowd_tvcs.answers.names import in_order
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.arrays import Bools, Floats, Integers
from tvcs_core.arguments import array_of
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.frames import is_frame

if TYPE_CHECKING:
    import pandas as pd

Caps = int | ArrayLike | None
MAX_WHOLE = 2.0**53  # below it every whole number is a float


def checked_caps(name: str, caps: Caps, room: Integers, names: Sequence[str]) -> Integers:
    """One cap per name, none above the room there is."""
    caps = in_order(name, caps, names)
    given = array_of(name, room if caps is None else caps)
    if given.dtype.kind == "f" and (abs(given) < MAX_WHOLE).all():
        whole = given.astype(np.int64)  # as pandas keeps them
        given = whole if (whole == given).all() else given
    if given.dtype.kind not in "iu":
        raise TypeError(f"{name} must be an integer >= 0, or None for no cap, found {caps!r}")
    if given.ndim > 1 or (given.ndim == 1 and given.size != len(names)):
        raise ValueError(
            f"{name} must be one integer or {len(names)} of them, found shape {given.shape}"
        )
    if (given < 0).any():
        i = int(np.argmax(given < 0))
        whose = f" for {names[i]!r}" if given.ndim else ""
        raise ValueError(
            f"{name} must be an integer >= 0, or left out for none, found {given.flat[i]}{whose}"
        )
    out = np.minimum(given, room).astype(np.int64)
    out.setflags(write=False)
    return out


def checked_minimums(given: int | ArrayLike, room: Integers, tasks: Sequence[str]) -> Integers:
    """One minimum per task, none above the number of workers allowed."""
    unbounded = np.full(len(tasks), np.iinfo(np.int64).max)
    out = np.array(
        np.broadcast_to(checked_caps("min_workers_per_task", given, unbounded, tasks), len(tasks))
    )
    over = out - room
    if (over > 0).any():
        j = int(np.argmax(over))
        raise ValueError(
            f"min_workers_per_task of task {tasks[j]!r} is {out[j]}, but {room[j]} workers are "
            f"allowed on it: {over[j]} too few"
        )
    out.setflags(write=False)
    return out


def checked_forced(forced: ArrayLike | None, quality: Quality) -> Bools | None:
    """Pairs that must be, each of them allowed; None if there are none."""
    if forced is None:
        return None
    if is_frame(forced):
        forced = _forced_by_name(forced, quality)
    out = array_of("forced", forced)
    if out.dtype != np.bool_:
        raise TypeError(
            "forced must be booleans, one for every worker (row) and task (column), found "
            f"{out.dtype}"
        )
    if out.shape != quality.shape:
        raise ValueError(f"forced must have shape {quality.shape}, found {out.shape}")
    if quality.allowed is not None and (out & ~quality.allowed).any():
        i, j = np.argwhere(out & ~quality.allowed)[0]
        raise ValueError(
            f"a forced pair must be allowed, but worker {quality.workers[i]!r} may not label task "
            f"{quality.tasks[j]!r}"
        )
    out.setflags(write=False)
    return out if out.any() else None


def _forced_by_name(forced: pd.DataFrame, quality: Quality) -> pd.DataFrame:
    """Return a table of pairs in the order of the workers and tasks."""
    forced = forced.rename(index=str, columns=str)
    workers, tasks = list(quality.workers), list(quality.tasks)
    if sorted(forced.index) != sorted(workers) or sorted(forced.columns) != sorted(tasks):
        raise ValueError(
            "forced must have the workers of quality for rows and its tasks for columns, with True "
            f"for every pair that must be; found rows {joined(list(forced.index), quoted)} and "
            f"columns {joined(list(forced.columns), quoted)}"
        )
    forced = forced.loc[workers, tasks]
    is_known = all(one.kind == "b" for one in forced.dtypes) and not forced.isna().any(axis=None)
    return forced.astype(bool) if is_known else forced  # nullable types are objects to NumPy


def checked_budget(budget: int | None, most: int) -> int:
    """Most answers in all, not above the room there is."""
    if budget is None:
        return most
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer):
        raise TypeError(f"budget must be an integer >= 0, or None for no cap, found {budget!r}")
    if budget < 0:
        raise ValueError(f"budget must be an integer >= 0, or left out for no cap, found {budget}")
    return min(int(budget), most)


def checked_numbers(
    name: str, given: ArrayLike, kind: str, names: Sequence[str], most: float = np.inf
) -> Floats:
    """One number >= 0 per name of a task or worker: at most `most`, or finite."""
    values = array_of(name, in_order(name, given, names), np.float64)
    if values.ndim > 1 or (values.ndim == 1 and values.size != len(names)):
        raise ValueError(
            f"{name} must be one number or {len(names)} of them, found shape {values.shape}"
        )
    out = np.array(np.broadcast_to(values, len(names)))
    wrong = ~((out >= 0.0) & (out <= most) & (out < np.inf))
    if wrong.any():
        i = int(np.argmax(wrong))
        allowed = "a finite number >= 0" if most == np.inf else f"in [0, {most:g}]"
        raise ValueError(f"{name} must be {allowed}, but that of {kind} {names[i]!r} is {out[i]}")
    out.setflags(write=False)
    return out


def common_error_settings(
    given: float, shares: ArrayLike | None, n_classes: int
) -> tuple[tuple[str, object], ...]:
    """Check the chance that a task misleads all workers, and the class shares of misled tasks."""
    if isinstance(given, bool) or not isinstance(given, int | float | np.integer | np.floating):
        raise TypeError(f"common_error must be a number >= 0 and below 1, found {given!r}")
    if not 0.0 <= given < 1.0:
        raise ValueError(f"common_error must be a number >= 0 and below 1, found {given}")
    drawn = None
    if shares is not None:
        drawn = array_of("error_shares", shares, np.float64)
        if drawn.shape != (n_classes,) or not (drawn >= 0.0).all() or (
            abs(drawn.sum() - 1.0) > 1e-6
        ):  # fmt: skip
            raise ValueError(
                f"error_shares must be {n_classes} chances >= 0 that add up to 1, "
                f"found {drawn.tolist()}"
            )
        drawn = adding_up_to_one(drawn)
        drawn.setflags(write=False)
    return (("common_error", float(given)), ("error_shares", drawn))


def class_settings(
    n_classes: int,
    prior: ArrayLike,
    class_prior: ArrayLike | None,
    confusion: ArrayLike | None,
    quality: CrowdQuality,
) -> tuple[tuple[str, object], ...]:
    """Check the number of classes, the priors of tasks, and the confusion matrices of workers."""
    k = checked_classes(n_classes)
    of_one = checked_numbers("prior", prior, "task", quality.tasks, 1.0)
    of_all = None
    if k > 2:
        if (of_one != 0.5).any():
            raise ValueError("prior is for two classes; with more say class_prior")
        of_all = checked_prior(class_prior, len(quality.tasks), k)
        of_one = np.full(len(quality.tasks), np.nan)
        of_one.setflags(write=False)
    elif class_prior is not None:
        raise ValueError("class_prior is for more than two classes; with two say prior")
    matrices = None
    if confusion is not None:
        matrices = checked_confusion(confusion, len(quality.workers), k)
    return (("n_classes", k), ("prior", of_one), ("class_prior", of_all), ("confusion", matrices))

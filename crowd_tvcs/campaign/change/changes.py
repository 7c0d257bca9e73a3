"""The settings of a campaign that are to be changed: checked once, before the store is locked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from crowd_tvcs.campaign.entries import check_name, check_text
from crowd_tvcs.campaign.settings import check_range, count_of
from tvcs_core.arguments import check_type, items_of

RANGES = {
    "money": (0.0, 1e12),
    "min_quality": (0.0, 1.0),
    "target": (0.0, 1.0),
    "min_gain": (0.0, 1.0),
    "lease_seconds": (0.001, 1e9),
}
COUNTS = ("budget", "max_workers_per_task", "max_tasks_per_worker")
NEVER_NONE = ("min_quality", "target", "lease_seconds")
CAPS = ("worker_caps", "task_caps", "task_minimums")


class Changes(TypedDict, total=False):
    """Settings to change, as for `Campaign.change`; settings that are left out stay."""

    budget: int | None
    money: float | None
    max_workers_per_task: int | None
    max_tasks_per_worker: int | None
    min_quality: float
    target: float
    min_gain: float | None
    lease_seconds: float
    new_classes: Sequence[str]
    prior: Sequence[float] | None
    worker_caps: Mapping[str, int | None]
    task_caps: Mapping[str, int | None]
    task_minimums: Mapping[str, int]


def limits_of(wanted: Changes) -> dict[str, Any]:
    """Check the changes; return those of settings of the campaign as a whole.

    Raises
    ------
    TypeError, ValueError
        If a value is none that the setting may have, or nothing is to be changed.
    """
    given: dict[str, Any] = {**wanted}
    if others := sorted(given.keys() - Changes.__annotations__.keys()):
        raise TypeError(f"change() got an unexpected keyword argument {others[0]!r}")
    limits: dict[str, Any] = {}
    for name in COUNTS:
        if name in given:
            limits[name] = count_of(name, given[name])
    for name, (low, high) in RANGES.items():
        if name in given:
            value = given[name]
            is_none = value is None and name not in NEVER_NONE
            limits[name] = None if is_none else check_range(name, value, low, high)
    for name in CAPS:
        _check_caps(name, given.get(name, {}), may_be_none=name != "task_minimums")
    classes = items_of("new_classes", given.get("new_classes", ()))
    wanted["new_classes"] = classes  # which may have been an iterator
    for name in classes:
        check_name("new_classes", name)
    if len(set(classes)) < len(classes):
        raise ValueError(f"new_classes must be different names, found {[*classes]}")
    if given.get("prior") is not None and not classes:
        raise ValueError("prior is for new_classes alone: give them, or leave prior out")
    if not (limits or classes or any(given.get(name) for name in CAPS)):
        raise ValueError(f"nothing to change: give any of {', '.join(Changes.__annotations__)}")
    return limits


def _check_caps(name: str, caps: Mapping[str, int | None], *, may_be_none: bool) -> None:
    check_type(name, caps, Mapping)
    for called, cap in caps.items():
        check_text(f"name in {name}", called)
        if cap is None and not may_be_none:
            raise TypeError(f"{name} of {called!r} must be an integer, found None")
        count_of(f"{name} of {called!r}", cap)

"""The settings of a campaign that are to be changed: checked once, before the store is locked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from crowd_tvcs.campaign.settings import check_name, check_text, count_of, limits_of
from tvcs_core.arguments import check_type, items_of

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


def checked_changes(wanted: Changes) -> dict[str, Any]:
    """Check the changes; return the limits as the store keeps them, all caps, classes and prior.

    Raises
    ------
    TypeError, ValueError
        If a value is none that the setting may have, or nothing is to be changed.
    """
    given: dict[str, Any] = {**wanted}
    if others := sorted(given.keys() - Changes.__annotations__.keys()):
        raise TypeError(f"change() got an unexpected keyword argument {others[0]!r}")
    limits, caps = limits_of(given), {name: given.get(name, {}) for name in CAPS}
    for name in CAPS:
        _check_caps(name, caps[name], may_be_none=name != "task_minimums")
    classes = items_of("new_classes", given.get("new_classes", ()))
    for name in classes:
        check_name("new_classes", name)
    if len(set(classes)) < len(classes):
        raise ValueError(f"new_classes must be different names, found {[*classes]}")
    if given.get("prior") is not None and not classes:
        raise ValueError("prior is for new_classes alone: give them, or leave prior out")
    if not (limits or classes or any(caps.values())):
        raise ValueError(f"nothing to change: give any of {', '.join(Changes.__annotations__)}")
    return {**limits, **caps, "new_classes": classes, "prior": given.get("prior")}


def _check_caps(name: str, caps: Mapping[str, int | None], *, may_be_none: bool) -> None:
    check_type(name, caps, Mapping)
    for called, cap in caps.items():
        check_text(f"name in {name}", called)
        if cap is None and not may_be_none:
            raise TypeError(f"{name} of {called!r} must be an integer, found None")
        count_of(f"{name} of {called!r}", cap)

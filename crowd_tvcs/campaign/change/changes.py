"""The settings of a campaign that are to be changed: checked once, before the store is locked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, Final

from crowd_tvcs.campaign.entries import check_name, check_text
from crowd_tvcs.campaign.settings import check_range, count_of
from tvcs_core.arguments import check_type, items_of


class Keep(Enum):
    """The value of a setting that is left as it is; None would be no limit."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP
Limit = int | None | Keep
RANGES = {
    "money": (0.0, 1e12),
    "min_quality": (0.0, 1.0),
    "target": (0.0, 1.0),
    "min_gain": (0.0, 1.0),
    "lease_seconds": (0.001, 1e9),
}
COUNTS = ("budget", "max_workers_per_task", "max_tasks_per_worker")
NEVER_NONE = ("min_quality", "target", "lease_seconds")


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Settings to change, as for `Campaign.change`; settings that are left out stay.

    Raises
    ------
    TypeError, ValueError
        If a value is none that the setting may have, or nothing is to be changed.
    """

    budget: Limit = KEEP
    money: float | Keep | None = KEEP
    max_workers_per_task: Limit = KEEP
    max_tasks_per_worker: Limit = KEEP
    min_quality: float | Keep = KEEP
    target: float | Keep = KEEP
    min_gain: float | Keep | None = KEEP
    lease_seconds: float | Keep = KEEP
    new_classes: Sequence[str] = ()
    prior: Sequence[float] | None = None
    worker_caps: Mapping[str, int | None] = field(default_factory=dict)
    task_caps: Mapping[str, int | None] = field(default_factory=dict)
    task_minimums: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in COUNTS:
            if getattr(self, name) is not KEEP:
                count_of(name, getattr(self, name))
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if value is not KEEP and (value is not None or name in NEVER_NONE):
                check_range(name, value, low, high)
        for name in ("worker_caps", "task_caps", "task_minimums"):
            _check_caps(name, getattr(self, name), may_be_none=name != "task_minimums")
        object.__setattr__(self, "new_classes", items_of("new_classes", self.new_classes))
        for name in self.new_classes:
            check_name("new_classes", name)
        if len(set(self.new_classes)) < len(self.new_classes):
            raise ValueError(f"new_classes must be different names, found {[*self.new_classes]}")
        if self.prior is not None and not self.new_classes:
            raise ValueError("prior is for new_classes alone: give them, or leave prior out")
        single = (self.new_classes, self.worker_caps, self.task_caps, self.task_minimums)
        if not (self.limits or any(single)):
            names = ", ".join(one.name for one in fields(self))
            raise ValueError(f"nothing to change: give any of {names}")

    @property
    def limits(self) -> dict[str, Any]:
        """The settings of the campaign as a whole that are to be changed, by name."""
        out: dict[str, Any] = {}
        for names, kind in ((COUNTS, int), (RANGES, float)):
            for name in names:
                if (value := getattr(self, name)) is not KEEP:
                    out[name] = None if value is None else kind(value)
        return out


def _check_caps(name: str, caps: Mapping[str, int | None], *, may_be_none: bool) -> None:
    check_type(name, caps, Mapping)
    for called, cap in caps.items():
        check_text(f"name in {name}", called)
        if cap is None and not may_be_none:
            raise TypeError(f"{name} of {called!r} must be an integer, found None")
        count_of(f"{name} of {called!r}", cap)

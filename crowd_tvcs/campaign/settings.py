"""Checks of the settings of a campaign, and of names, caps and times."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from crowd_tvcs.answers.values import describe_fault, find_name_fault
from crowd_tvcs.campaign.store import schema
from crowd_tvcs.campaign.store.rows import Settings
from tvcs_core.arguments import array_of, check_number, check_type, names_of
from tvcs_core.files.display import flaw_of, quoted

MILLION = 1_000_000  # units of money are stored as whole millionths
MAX_NAME_BYTES = 1300
"""Most bytes of a name: no index of PostgreSQL takes two of more than 1,340."""
RANGES = {
    "money": (0.0, 1e12),
    "min_quality": (0.0, 1.0),
    "target": (0.0, 1.0),
    "min_gain": (0.0, 1.0),
    "lease_seconds": (0.001, 1e9),
}
COUNTS = ("budget", "max_workers_per_task", "max_tasks_per_worker")
NEVER_NONE = ("min_quality", "target", "lease_seconds")


def check_text(name: str, value: object, *, or_none: bool = False) -> None:
    """Check a text that every store accepts."""
    check_type(name, value, str, or_none=or_none)
    if isinstance(value, str) and (flaw := flaw_of(value)):
        raise ValueError(f"{name} must be text, found {flaw} in {quoted(value)}")


def check_name(name: str, value: object) -> None:
    """Check a name (`crowd_tvcs.answers.values`) that every store accepts."""
    check_text(name, value)
    if value == "":
        raise ValueError(f"{name} must not be empty")
    if isinstance(value, str) and value != value.strip():
        raise ValueError(f"{name} must not begin or end with blanks, found {value!r}")
    if isinstance(value, str) and len(value.encode()) > MAX_NAME_BYTES:
        raise ValueError(f"{name} must have at most {MAX_NAME_BYTES} bytes, found {quoted(value)}")
    if isinstance(value, str) and (fault := find_name_fault(value)):
        raise ValueError(f"{name} {describe_fault(fault, value, 'name', of_answers=False)}")


def limits_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the limits among some settings; return them as the store keeps them."""
    limits: dict[str, Any] = {name: count_of(name, given[name]) for name in COUNTS if name in given}
    for name, (low, high) in RANGES.items():
        if name in given:
            is_none = given[name] is None and name not in NEVER_NONE
            limits[name] = None if is_none else check_range(name, given[name], low, high)
    if limits.get("money") is not None:
        limits["money"] = round(limits["money"] * MILLION)
    return limits


def classes_of(classes: Sequence[str]) -> list[str]:
    """Check the names of the classes."""
    names = list(names_of("classes", classes))
    if len(names) < 2 or len(set(names)) < len(names) or "" in names:
        raise ValueError(f"classes must be at least two different names, found {names}")
    for name in names:
        check_text("classes", name)
    return names


def prior_of_classes(prior: float | Sequence[float] | None, n_classes: int) -> list[float]:
    """Return one probability per class."""
    import numpy as np

    if prior is None:
        return [1.0 / n_classes] * n_classes
    if isinstance(prior, int | float | np.number):
        check_number("prior", prior)
        if n_classes != 2:
            raise ValueError(f"prior must be one number per class, {n_classes} of them")
        prior = [1 - prior, prior]
    chances = array_of("prior", prior, np.float64).ravel().tolist()
    is_right = len(chances) == n_classes and min(chances) >= 0 and abs(sum(chances) - 1.0) <= 1e-6
    if not is_right:  # nor where one of them is nan
        raise ValueError(
            f"prior must be {n_classes} probabilities that add up to 1, found {chances}"
        )
    return chances


def count_of(name: str, value: int | None, least: int = 0) -> int | None:
    """Check a cap, which is at least `least`; None is none."""
    if value is None:
        return None
    check_number(name, value, whole=True)
    if value < least:
        raise ValueError(f"{name} must be an integer >= {least}, found {value}")
    if value >= schema.UNLIMITED:
        raise ValueError(
            f"{name} must be below {schema.UNLIMITED}, or left out for none, found {value}"
        )
    return int(value)


def check_round(number: int, settings: Settings) -> None:
    """Refuse the number of a round that was not issued."""
    if not 1 <= number <= settings.rounds:
        there = f"are rounds 1 to {settings.rounds}"
        if settings.rounds < 2:
            there = "is only round 1" if settings.rounds else "is no round yet"
        raise ValueError(f"round must be one that was issued, and there {there}, found {number}")


def check_range(name: str, value: float, low: float, high: float) -> float:
    """Check a number."""
    check_number(name, value)
    if not low <= value <= high:  # nor where it is nan
        raise ValueError(f"{name} must be from {low:g} to {high:g}, found {value}")
    return float(value)


def moment_of(now: float | None) -> float:
    """Return a time in seconds since 1970; that of the clock for None."""
    return time.time() if now is None else check_range("now", now, 0.0, 1e12)

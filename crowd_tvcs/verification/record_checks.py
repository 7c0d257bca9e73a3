"""Read the files of `crowd-tvcs assign` strictly: run.json, other JSON, prices.csv.

A record that is incomplete, or has a wrong value or an unknown name, is refused in one line that
names the fault.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn, TypeGuard

import numpy as np
from numpy.typing import NDArray

from crowd_tvcs.answers.columns import open_exactly, rows_by_name
from tvcs_core.files.display import quoted
from tvcs_core.files.errors import DataError

INT64_MAX = 2**63 - 1  # largest count of a file
TABLES = ("workers", "tasks", "forced", "forbidden", "confusion")  # in the order of run.json
OUTPUTS = ("assignment.csv", "report.html", "summary.json")
PRICES, BRANCHES = "prices.csv", "branches.json"  # where there is a bound; where that needs them
ACCURACY = "accuracy.csv"  # of every task, where summary.json has none
PACKAGES = ("python", "tvcs", "numpy", "scipy", "numba", "pandas", "scikit-learn")
SHA256 = re.compile("[0-9a-f]{64}")

Kind = tuple[str, Callable[[Any], bool]]  # what must be, in words, and whether it is


def is_count(value: object) -> bool:
    """Whether this is an integer >= 0, as JSON writes it."""
    return type(value) is int and 0 <= value <= INT64_MAX


def is_number(value: object) -> TypeGuard[float]:
    """Whether this is a finite number."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return -INT64_MAX <= value <= INT64_MAX
    return isinstance(value, float) and math.isfinite(value)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value not in ("", ".", "..") and Path(value).name == value


def _or_null(kind: Kind) -> Kind:
    return f"{kind[0]} or null", lambda value: value is None or kind[1](value)


COUNT: Kind = "an integer >= 0", is_count
FILE: Kind = "the name of a file", _is_name
TEXT: Kind = "a text", lambda value: isinstance(value, str) and value != ""
CHANCE: Kind = "a number in [0, 1]", lambda value: is_number(value) and 0.0 <= value <= 1.0
CHANCES: Kind = (
    "a list of numbers in [0, 1]",
    lambda value: isinstance(value, list) and value != [] and all(map(CHANCE[1], value)),
)
AMOUNT: Kind = "a number >= 0", lambda value: is_number(value) and value >= 0.0
SECONDS: Kind = "a number above 0", lambda value: is_number(value) and value > 0.0

PARAMETERS: dict[str, Kind] = {
    "max_workers_per_task": _or_null(COUNT),
    "max_tasks_per_worker": _or_null(COUNT),
    **{name: _or_null(FILE) for name in TABLES},
    "classes": _or_null(COUNT),
    "class_prior": _or_null(CHANCES),
    "money": _or_null(AMOUNT),
    "budget": _or_null(COUNT),
    "prior": CHANCE,
    "method": TEXT,
    "time_limit": SECONDS,
}
OPTIONAL: dict[str, Kind] = {  # written where they are given
    "common_error": (
        "a number above 0 and below 1",
        lambda value: is_number(value) and 0.0 < value < 1.0,
    ),
    "kinds": FILE,
    "dependence": FILE,
}
FORESIGHT: dict[str, Kind] = {
    "gold_tasks": ("an integer >= 1", lambda value: is_count(value) and value > 0),
    "labels": (
        "integers >= 1 that ascend",
        lambda value: (
            isinstance(value, list)
            and value != []
            and all(map(is_count, value))
            and all(a < b for a, b in zip([0, *value], value, strict=False))
        ),
    ),
    "best": CHANCES,
    "usual": CHANCE,
    "gaps": (
        "a list of numbers in [-1, 1]",
        lambda value: isinstance(value, list) and all(is_number(x) and abs(x) <= 1 for x in value),
    ),
}
LISTED: Kind = "a list of files", lambda value: isinstance(value, list) and value != []
NAMES: Kind = "names and values", lambda value: isinstance(value, dict)
RECORD: dict[str, Kind] = {
    "command": ("crowd-tvcs assign", lambda value: value == "crowd-tvcs assign"),
    "parameters": NAMES,
    "seed": COUNT,
    "inputs": LISTED,
    "versions": NAMES,
    "layout": TEXT,
    "outputs": LISTED,
}
HASHED: dict[str, Kind] = {
    "file": FILE,
    "sha256": (
        "64 hexadecimal digits",
        lambda value: isinstance(value, str) and SHA256.fullmatch(value) is not None,
    ),
}


@dataclass(frozen=True)
class Record:
    """A run.json that is whole.

    Attributes
    ----------
    path
        The file.
    parameters, seed, layout
        As they were recorded.
    inputs, outputs
        SHA-256 of every file that was read (the quality table first), and written.
    paths
        Where every file that was read lay, from the folder.
    """

    path: Path
    parameters: dict[str, Any]
    seed: int
    layout: str
    inputs: dict[str, str]
    outputs: dict[str, str]
    paths: dict[str, str]

    @property
    def quality(self) -> str:
        """Name of the quality table, or of the table of kinds."""
        return next(iter(self.inputs))

    @property
    def has_kinds(self) -> bool:
        """Whether the crowd is given in factors."""
        return "kinds" in self.parameters


def read_record(path: Path, methods: Collection[str] = ()) -> Record:
    """Read and check a run.json of `crowd-tvcs assign`, by one of `methods` if any are named."""
    entries = read_json(path)
    if entries.get("command") != "crowd-tvcs assign":
        what = f"command must be crowd-tvcs assign, found {quoted(entries.get('command'))}"
        raise DataError(what, path=path)
    _require(path, entries, RECORD)
    parameters = entries["parameters"]
    given = {name: kind for name, kind in OPTIONAL.items() if name in parameters}
    _require(path, parameters, PARAMETERS | given, "parameters.")
    if methods and parameters["method"] not in methods:
        _refuse(path, "parameters.method", f"one of {', '.join(methods)}", parameters["method"])
    _require(path, entries["versions"], dict.fromkeys(PACKAGES, TEXT), "versions.")
    inputs = _hashes(path, entries["inputs"], "inputs", {"path": TEXT})
    asked = {name: parameters.get(name) for name in (*TABLES, "dependence")}
    named = {name: file for name, file in asked.items() if file is not None}
    for name, file in named.items():
        if file not in dict(inputs[1:]):
            _refuse(path, f"parameters.{name}", "a file of inputs", file)
    if [file for file, _ in inputs[1:]] != list(named.values()):
        _refuse(path, "inputs", "the quality table and those of parameters", entries["inputs"])
    outputs = dict(_hashes(path, entries["outputs"], "outputs", {}))
    if "kinds" in parameters and inputs[0][0] != parameters["kinds"]:
        _refuse(path, "parameters.kinds", "the first file of inputs", parameters["kinds"])
    wanted: list[list[str]] = [[], [PRICES], [PRICES, BRANCHES]]
    if "kinds" in parameters:
        wanted += [[ACCURACY], [ACCURACY, PRICES]]
    if list(outputs) not in [sorted([*OUTPUTS, *more]) for more in wanted]:
        _refuse(path, "outputs", "the files that are written, sorted", list(outputs))
    paths = {entry["file"]: entry["path"] for entry in entries["inputs"]}
    for n, (file, where) in enumerate(paths.items()):
        if PurePosixPath(where).name != file:
            _refuse(path, f"inputs[{n}].path", f"a path to the file {file}", where)
    return Record(
        path, parameters, entries["seed"], entries["layout"], dict(inputs), outputs, paths
    )


def read_json(path: Path) -> dict[str, Any]:
    """Read an object; a name that is there twice, NaN and infinity are refused."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) < len(pairs):
            names = [name for name, _ in pairs]
            raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r} is there twice")
        return out

    def refuse(text: str) -> NoReturn:
        raise ValueError(f"{text} is no number of JSON")

    try:
        text = path.read_text(encoding="utf-8")
        out = json.loads(text, object_pairs_hook=once, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not JSON: {error}", path=path) from None
    if not isinstance(out, dict):
        raise DataError("must hold names and values", path=path)
    return out


def read_forecast_model(path: Path) -> tuple[Any, dict[str, Any] | None]:
    """Read the common error of plans and the forecast model of a dependence.json."""
    document = read_json(path)
    entries = document.get("forecast_model")
    if entries is not None:
        if not isinstance(entries, dict):
            _refuse(path, "forecast_model", NAMES[0], entries)
        _require(path, entries, FORESIGHT, "forecast_model.")
        for name in ("best", "gaps"):
            if len(entries[name]) != len(entries["labels"]):
                _refuse(
                    path,
                    f"forecast_model.{name}",
                    "as long as forecast_model.labels",
                    entries[name],
                )
    return document.get("plan_error"), entries


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def changed_outputs(folder: Path, record: Record) -> list[str]:
    """List the files that are not the ones that were written, or are missing or too many."""
    out = []
    for name, sha in sorted(record.outputs.items()):
        if (found := digest(folder / name)) != sha:
            out.append(
                f"{name}: is not the file that was written: its SHA-256 begins with {found[:12]}, "
                f"in run.json with {sha[:12]}"
            )
    return out + [
        f"{name}: is there, but not among outputs in run.json"
        for name in (PRICES, BRANCHES)
        if name not in record.outputs and (folder / name).exists()
    ]


def read_prices(
    path: Path, workers: tuple[str, ...], money: float | None, summary: Mapping[str, Any]
) -> tuple[NDArray[np.float64], float, float]:
    """Read the prices of the workers, of the budget and of money; the last is 0 without any."""
    table = open_exactly(path, "worker", "price")
    values = table.numbers(1, [1])[:, 0]
    row_of = rows_by_name(table, 0, "worker", set(workers))
    if (values < 0.0).any():
        r = int(np.argmax(values < 0.0)) + 1
        raise table.error(f"must be a price >= 0, found {quoted(table.rows[r][1])}", r, 1)
    missing = [name for name in workers if name not in row_of]
    if missing:
        raise table.error(f"must have one price per worker, found none of {missing[0]!r}")
    others = []
    for name in ("budget_price", "money_price"):
        price = 0.0 if name == "money_price" and money is None else summary.get(name)
        if not is_number(price) or price < 0.0:
            raise DataError(
                f"{name} must be a number >= 0, found {quoted(price)}",
                path=path.parent / "summary.json",
            )
        others.append(float(price))
    return values[[row_of[name] - 1 for name in workers]], others[0], others[1]


def read_slack(path: Path, summary: Mapping[str, Any]) -> float:
    """Return the accuracy by which tasks of a table may be priced too high; 0 if not given."""
    slack = summary.get("pricing_slack", 0.0)
    if not is_number(slack) or not 0.0 <= slack <= 1.0:
        raise DataError(
            f"pricing_slack must be a number from 0 to 1, found {quoted(slack)}", path=path
        )
    return float(slack)


def _require(path: Path, entries: Mapping[str, Any], kinds: dict[str, Kind], at: str = "") -> None:
    for name, (words, holds) in kinds.items():
        if name not in entries:
            raise DataError(f"{at}{name} is missing", path=path)
        if not holds(entries[name]):
            _refuse(path, at + name, words, entries[name])
    for name in entries:
        if name not in kinds:
            raise DataError(f"{quoted(at + name)} is no field that is written", path=path)


def _refuse(path: Path, name: str, words: str, found: object) -> NoReturn:
    raise DataError(f"{name} must be {words}, found {quoted(found)}", path=path)


def _hashes(
    path: Path, listed: list[Any], name: str, more: dict[str, Kind]
) -> list[tuple[str, str]]:
    for n, entry in enumerate(listed):
        if not isinstance(entry, dict):
            _refuse(path, f"{name}[{n}]", "a file and its sha256", entry)
        _require(path, entry, HASHED | more, f"{name}[{n}].")
    pairs = [(entry["file"], entry["sha256"]) for entry in listed]
    if len(dict(pairs)) < len(pairs):
        _refuse(path, name, "files of different names", [file for file, _ in pairs])
    return pairs

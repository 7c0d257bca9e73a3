"""Read JSON and JSON Lines, with errors that name the record and the field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowd_tvcs.exchange.collecting import Collector
from crowd_tvcs.exchange.fields import Field, SourceLocation, name_of
from tvcs_core.files.display import quoted
from tvcs_core.files.errors import DataError

ABSENT_FIELD = object()
AGAIN = "export it again, and do not edit it"
OF_PICTURES = (
    "write a table of task, worker, label (a row per picture and annotator) and give that to "
    "crowd-tvcs vote"
)


@dataclass(frozen=True)
class Record:
    """Object of a file, with its location."""

    location: SourceLocation
    fields: dict[str, Any]

    def name(self, field: str) -> str:
        """Read a field that must be a name."""
        return name_of(self.field(field)[1], self.location, field)

    def field(self, field: str, hint: str = "") -> Field:
        """Return a required field, for the collector to check."""
        if field not in self.fields:
            raise self.location.error(field, f"is missing{hint or f'; {AGAIN}'}")
        return field, self.fields[field]

    def part(self, field: str) -> Record:
        """Read a field that must be an object."""
        value = self.fields.get(field, ABSENT_FIELD)
        if not isinstance(value, dict):
            what = "is missing" if value is ABSENT_FIELD else "must be an object"
            raise self.location.error(field, f"{what}; {AGAIN}")
        return Record(self.location.part_location(f"in {quoted(field)}"), value)

    def parts(self, field: str) -> list[Record]:
        """Read a field that must be a list of objects; null is an empty list."""
        value = self.fields.get(field)
        values = [] if value is None else value
        if not isinstance(values, list) or not all(isinstance(v, dict) for v in values):
            raise self.location.error(field, f"must be a list of objects; {AGAIN}")
        kind = field.removesuffix("s")
        return [
            Record(self.location.part_location(f"{kind} {k}"), v)
            for k, v in enumerate(values, start=1)
        ]


def read_records(text: str, path: str | Path, remedy: str) -> list[Record]:
    """Read the text of a JSON file that holds a list of objects.

    Raises
    ------
    DataError
        If it is truncated or invalid JSON, or something else. `remedy` names the right export for
        a file of another kind.
    """
    _refuse_others(text, path, remedy)
    value = _parse(text, path)
    if not isinstance(value, list):
        if isinstance(value, dict) and {"shapes", "imagePath"} <= value.keys():
            remedy = f"it is of LabelMe, whose shapes are not read here; {OF_PICTURES}"
        what = f"must hold a list of records, found {_kind(value)}; {remedy}"
        raise DataError(what, path=path)
    out = []
    for k, fields in enumerate(value, start=1):
        if not isinstance(fields, dict):
            raise DataError(f"record {k} must be an object, found {_kind(fields)}", path=path)
        out.append(Record(SourceLocation(str(path), f"record {k}"), fields))
    return out


def read_lines(whole: str, path: str | Path, remedy: str, collector: Collector) -> Iterator[Record]:
    """Read the text of a JSON Lines file, an object per line; blank lines are skipped.

    Raises
    ------
    DataError
        Naming an invalid or truncated line. `remedy` names the right export.
    """
    _refuse_others(whole, path, remedy)
    for line, text in enumerate(whole.split("\n"), start=1):
        if not text.strip():
            continue
        fields = None
        with collector.attempt():
            fields = _parse(text, path, line)
            if not isinstance(fields, dict):
                what = f"must be an object, found {_kind(fields)}; {remedy}"
                raise DataError(what, path=path, line=line)
        if isinstance(fields, dict):
            yield Record(SourceLocation(str(path), line=line), fields)


def parse_cell(text: str, location: SourceLocation, field: str) -> Any:
    """Read JSON that a field holds as text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise location.error(field, f"is not whole JSON; {AGAIN}") from None


def write_lines(path: Path, lines: Iterable[Mapping[str, object]]) -> None:
    """Write JSON Lines, an object per line."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _refuse_others(text: str, path: str | Path, remedy: str) -> None:
    """Refuse a file that does not begin like JSON."""
    begin = text.lstrip()[:1]
    if begin == "<":
        raise DataError(
            "must be JSON, found XML, as CVAT writes it: its boxes and tags are not read here; "
            + OF_PICTURES,
            path=path,
        )
    if is_table(text):
        raise DataError(f"must be JSON, found a table such as CSV; {remedy}", path=path)


def is_table(text: str) -> bool:
    """Return whether a text begins like a table such as CSV, and not like JSON."""
    first = text.lstrip().partition("\n")[0]
    return first[:1] not in ("{", "[", "<", "") and any(mark in first for mark in ",;\t")


def _parse(text: str, path: str | Path, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = error.lineno if line is None else line
        what = f"is not whole JSON: {error.msg}; {AGAIN}"
        if line is None and error.msg == "Extra data":
            what = f"must be one list, found JSON Lines or more behind its end; {AGAIN}"
        raise DataError(what, path=path, line=at) from None
    except RecursionError:
        raise DataError(f"is JSON nested too deeply; {AGAIN}", path=path, line=line) from None
    except ValueError as error:  # a number of more digits than Python reads
        what = f"is JSON that cannot be read: {error}; {AGAIN}"
        raise DataError(what, path=path, line=line) from None


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else quoted(value)

"""JSON and JSON Lines in, with errors that name the record and the field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowd_tvcs.exchange.collecting import Place, name_of
from tvcs_core.files.errors import DataError
from tvcs_core.files.shown import shown
from tvcs_core.files.tables import read_text

MISSING = object()


@dataclass(frozen=True)
class Record:
    """An object of a file, with its place."""

    place: Place
    fields: dict[str, Any]

    def name(self, field: str, hint: str = "") -> str:
        """Read a field that must be a name."""
        if field not in self.fields:
            raise self.place.error(field, f"is missing{hint}")
        return name_of(self.fields[field], self.place, field)

    def part(self, field: str) -> Record:
        """Read a field that must be an object."""
        value = self.fields.get(field, MISSING)
        if not isinstance(value, dict):
            raise self.place.error(field, "is missing" if value is MISSING else "must be an object")
        return Record(self.place.inside(f"in {shown(field)}"), value)

    def parts(self, field: str) -> list[Record]:
        """Read a field that must be a list of objects; null is an empty one."""
        value = self.fields.get(field)
        values = [] if value is None else value
        if not isinstance(values, list) or not all(isinstance(v, dict) for v in values):
            raise self.place.error(field, "must be a list of objects")
        kind = field.removesuffix("s")
        return [Record(self.place.inside(f"{kind} {k}"), v) for k, v in enumerate(values, start=1)]


def read_records(path: str | Path) -> list[Record]:
    """Read a JSON file that holds a list of objects.

    Raises
    ------
    DataError
        If it is cut off or otherwise no JSON, or holds something else.
    """
    value = _parse(read_text(path), path)
    if not isinstance(value, list):
        raise DataError(f"must hold a list of records, found {_kind(value)}", path=path)
    out = []
    for k, fields in enumerate(value, start=1):
        if not isinstance(fields, dict):
            raise DataError(f"record {k} must be an object, found {_kind(fields)}", path=path)
        out.append(Record(Place(str(path), f"record {k}"), fields))
    return out


def read_lines(path: str | Path) -> Iterator[Record]:
    """Read a JSON Lines file, an object per line; blank lines are skipped.

    Raises
    ------
    DataError
        Naming the line that is no object, or cut off.
    """
    for line, text in enumerate(read_text(path).split("\n"), start=1):
        if text.strip():
            fields = _parse(text, path, line)
            if not isinstance(fields, dict):
                raise DataError(f"must be an object, found {_kind(fields)}", path=path, line=line)
            yield Record(Place(str(path), line=line), fields)


def _parse(text: str, path: str | Path, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = error.lineno if line is None else line
        raise DataError(f"is not whole JSON: {error.msg}", path=path, line=at) from None
    except RecursionError:
        raise DataError("is JSON nested too deeply", path=path, line=line) from None
    except ValueError as error:  # a number of more digits than Python reads
        raise DataError(f"is JSON that cannot be read: {error}", path=path, line=line) from None


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else shown(value)

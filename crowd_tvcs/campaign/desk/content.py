"""The content of a task for workers: fields of text, an image, a sound, a film."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import bindparam, delete, select

from crowd_tvcs.answers.columns import KIND, TASK, find, open_table, rows_by_name
from crowd_tvcs.answers.rows import CONTENT_COLUMNS, MEDIA_COLUMNS, TASK_COLUMNS
from crowd_tvcs.answers.values import describe_fault, find_name_fault
from crowd_tvcs.campaign.answer_kinds.kind import Preference, items_of_pair, kind_of
from crowd_tvcs.campaign.desk.media import check_media
from crowd_tvcs.campaign.store.bulk import ids_of, insert_rows
from crowd_tvcs.campaign.store.queries import SETTINGS
from crowd_tvcs.campaign.store.schema import content, task
from crowd_tvcs.campaign.store.statements import Statement
from crowd_tvcs.campaign.store.store import Store
from tvcs_core.files.display import quoted
from tvcs_core.files.errors import DataError

MAX_CONTENT_CHARACTERS = 1_000_000
"""Most characters of the content of one task."""
SIDE = ("text", "image", "audio", "video")
"""The columns of a side of a pair, or of a task that has no sides."""
HIDDEN = (*TASK_COLUMNS, KIND.name)
"""Columns of a table of tasks that are for plans, and that workers do not see."""

_BODY = Statement(
    select(content.c.body)
    .join(task, task.c.id == content.c.task_id)
    .where(task.c.name == bindparam("called"))
)
_BODIES = select(task.c.name, content.c.body).join(content, content.c.task_id == task.c.id)
_FORGET = delete(content).where(content.c.task_id == bindparam("of_task"))


@dataclass(frozen=True)
class Content:
    """The content of a task.

    Attributes
    ----------
    text
        The main text, or ``""``.
    image, audio, video
        A path inside the folder of media, or ``""``.
    text_2, image_2, audio_2, video_2
        The other side of a pair, shown beside the first.
    fields
        Everything else, by name.
    """

    text: str = ""
    image: str = ""
    audio: str = ""
    video: str = ""
    text_2: str = ""
    image_2: str = ""
    audio_2: str = ""
    video_2: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def sides(self) -> list[dict[str, str]]:
        """Its two sides, or the only one: text, image, audio and video of each."""
        both = [{kind: getattr(self, f"{kind}{side}") for kind in SIDE} for side in ("", "_2")]
        return both if any(both[1].values()) else both[:1]

    @property
    def swapped(self) -> Content:
        """The same with its sides swapped."""
        first = {kind: getattr(self, f"{kind}_2") for kind in SIDE}
        second = {f"{kind}_2": getattr(self, kind) for kind in SIDE}
        other = {"alt": "alt_2", "alt_2": "alt"}
        fields = {other.get(name, name): text for name, text in self.fields.items()}
        return Content(**first, **second, fields=fields)

    def as_json(self) -> str:
        """Return it as it is kept."""
        kept = {name: value for name, value in vars(self).items() if value or name[-2:] != "_2"}
        return json.dumps(kept, ensure_ascii=False)


def read_content(path: Path, media: Path | None = None) -> dict[str, Content]:
    """Read the content of tasks: a table, or JSON lines (``.jsonl``, ``.ndjson``).

    The column or key `task` (or `item`) names the task, `text`, `image`, `audio` and `video` are
    its content, those with ``_2`` the other side of a pair, and all others additional fields. Empty
    cells show nothing, nor do the columns `HIDDEN` of a table.

    Parameters
    ----------
    path
        The file.
    media
        The folder in which images, sounds and films are.

    Raises
    ------
    DataError
        Naming file and line: no name, a task twice, nothing to show, more than
        `MAX_CONTENT_CHARACTERS` characters, no folder of media, or a file that is not in it or not
        of a kind that is shown.
    """
    is_json = path.suffix.lower() in (".jsonl", ".ndjson")
    rows = _json_lines(path) if is_json else _table(path)
    out: dict[str, Content] = {}
    for line, name, cells in rows:
        if name in out:
            raise DataError(f"task {quoted(name)} is there twice", path=path, line=line)
        if not cells:
            raise DataError(f"task {quoted(name)} has nothing to show", path=path, line=line)
        if sum(map(len, cells.values())) > MAX_CONTENT_CHARACTERS:
            raise DataError(
                f"task {quoted(name)} has more than {MAX_CONTENT_CHARACTERS} characters",
                path=path,
                line=line,
            )
        for kind in MEDIA_COLUMNS:
            if kind in cells:
                try:
                    check_media(media, cells[kind], kind)
                except ValueError as error:
                    raise DataError(str(error), path=path, line=line, column=kind) from None
        known = {key: cells.pop(key, "") for key in CONTENT_COLUMNS}
        out[name] = Content(**known, fields=cells)
    return out


def content_of_pairs(
    bodies: Mapping[str, Content], tasks: Collection[str], path: Path | None
) -> dict[str, Content]:
    """Return the content of comparisons, given by task, or by item for all tasks that have it.

    Raises
    ------
    DataError
        If an item is in no task or the other one of its pair has no content, or a field differs
        between the items of a pair, which would reveal the items.
    """
    out = {name: one for name, one in bodies.items() if name in tasks}
    items = {name: one for name, one in bodies.items() if name not in tasks}
    used = set()
    for name in tasks if items else ():
        pair = items_of_pair(name)
        described = [one for one in pair if one in items]
        used.update(described)
        if len(described) == 1:
            lacking = pair[1 - pair.index(described[0])]
            raise DataError(f"item {quoted(lacking)} has no row, but is compared", path=path)
        if described:
            out[name] = _beside(items[pair[0]], items[pair[1]], path)
    for name in items:
        if name not in used:
            raise DataError(f"item {quoted(name)} is in no pair of the campaign", path=path)
    return out


def _beside(first: Content, second: Content, path: Path | None) -> Content:
    """Return two items side by side."""
    fields = dict(first.fields)
    for name, text in second.fields.items():
        if name == "alt":
            fields["alt_2"] = text
        elif fields.setdefault(name, text) != text:
            raise DataError(
                f"the field {quoted(name)} differs between the items of a pair, so it would show "
                "who is who; leave it out",
                path=path,
            )
    sides = {kind: getattr(first, kind) for kind in SIDE}
    sides |= {f"{kind}_2": getattr(second, kind) for kind in SIDE}
    return Content(**sides, fields=fields)


def check_tasks(bodies: Mapping[str, Content], known: Collection[str], path: Path | None) -> None:
    """Refuse content of tasks that are not in a campaign."""
    if others := [name for name in bodies if name not in known]:
        many = f" ({len(others)} of {len(bodies)} are not)" if len(others) > 1 else ""
        raise DataError(
            f"task {quoted(others[0])} is not in the campaign{many}; add tasks by campaign add "
            "--tasks FILE and gold by --gold FILE, or leave their rows out",
            path=path,
        )


def set_content(store: Store, bodies: Mapping[str, Content], path: Path) -> int:
    """Replace the content of the tasks; return the number of tasks without content."""
    with store.write() as (connection, _, _):
        known = ids_of(connection, task)
        check_tasks(bodies, known, path)
        listed = [{"task_id": known[name], "body": one.as_json()} for name, one in bodies.items()]
        if listed:
            connection.execute(_FORGET, [{"of_task": row["task_id"]} for row in listed])
            insert_rows(connection, content, listed)
        have = set(connection.scalars(select(content.c.task_id)))
    return len(set(known.values()) - have)


def check_kept_media(store: Store, media: Path | None, given: Collection[str]) -> None:
    """Check the stored media files of tasks, except those that are `given` anew."""
    with store.read() as (connection, _):
        for name, body in connection.execute(_BODIES):
            found = Content(**json.loads(body))
            for kind in MEDIA_COLUMNS:
                if (path := getattr(found, kind)) and name not in given:
                    try:
                        check_media(media, path, kind)
                    except ValueError as error:
                        raise ValueError(
                            f"the {kind} of task {quoted(name)}, as the store keeps it, {error}; "
                            "or give its content anew by --content FILE"
                        ) from None


def content_of(store: Store, name: str) -> Content:
    """Return the content of a task; its name, or those of its items, if it has none."""
    rows, (settings,) = store.look(_BODY.with_(called=name), SETTINGS.with_())
    if rows:
        return Content(**json.loads(rows[0].body))
    if kind_of(settings).name == Preference.name:
        first, second = items_of_pair(name)
        return Content(text=first, text_2=second)
    return Content(text=name)


def text_of(path: Path) -> str:
    """Read a text."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("must be UTF-8", path=path) from None


def _table(path: Path) -> list[tuple[int, str, dict[str, str]]]:
    table = open_table(path)
    (at,) = find(table, [TASK])
    header = [name.lower() if name.lower() in CONTENT_COLUMNS else name for name in table.rows[0]]
    shown = [j for j, name in enumerate(header) if j != at and name and name.lower() not in HIDDEN]
    return [
        (table.lines[r], name, {header[j]: cell for j in shown if (cell := table.rows[r][j])})
        for name, r in rows_by_name(table, at).items()
    ]


def _json_lines(path: Path) -> list[tuple[int, str, dict[str, str]]]:
    out = []
    for number, line in enumerate(text_of(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"is no JSON: {error}", path=path, line=number) from None
        if not isinstance(found, dict):
            raise DataError("every line must be an object {...}", path=path, line=number)
        for key, value in found.items():
            if not isinstance(value, str | int | float) or isinstance(value, bool):
                raise DataError("must be text or a number", path=path, line=number, column=key)
        cells = {key: str(value) for key, value in found.items() if value != ""}
        name = cells.pop("task", "") or cells.pop("item", "")
        if not name:
            raise DataError("must have a task, its name", path=path, line=number)
        if fault := find_name_fault(name):
            raise DataError(
                describe_fault(fault, name, TASK.name, of_answers=False), path=path, line=number
            )
        out.append((number, name, cells))
    return out

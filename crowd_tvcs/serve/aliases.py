"""Aliases of task names, so that workers cannot recognise gold tasks.

A name such as ``gold-7`` in a form, in the URL of an image or in an error would reveal the gold
tasks. So all tasks are shown under keyed hashes of their names then.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import select

from crowd_tvcs.answers.rows import MEDIA_COLUMNS
from crowd_tvcs.campaign import RejectedError
from crowd_tvcs.campaign.desk.content import Content
from crowd_tvcs.campaign.store.schema import task
from crowd_tvcs.campaign.store.store import Store

_TASK = re.compile(r"""task (?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")


class Aliases:
    """Names of the tasks of one campaign as workers see them: hashes under a secret."""

    def __init__(self, store: Store, secret: str) -> None:
        self._store, self._key = store, hashlib.sha256(f"alias {secret}".encode()).digest()
        self._names: dict[str, str] = {}

    def of(self, name: str) -> str:
        """Return the alias of a task."""
        drawn = hashlib.blake2b(name.encode(), key=self._key, digest_size=9).digest()
        return base64.urlsafe_b64encode(drawn).decode()

    def name(self, alias: str) -> str:
        """Return the task of an alias."""
        if alias not in self._names:  # the first one, or a new task
            with self._store.read() as (connection, _):
                names = connection.scalars(select(task.c.name)).all()
            self._names = {self.of(name): name for name in names}
        try:
            return self._names[alias]
        except KeyError:
            raise RejectedError("there is no such task in this campaign") from None

    def shown(self, name: str, content: Content) -> Content:
        """Return the content of a task with files named after its alias."""
        named: dict[str, Any] = {
            kind: f"{self.of(name)}/{kind}{PurePosixPath(getattr(content, kind)).suffix}"
            for kind in MEDIA_COLUMNS
            if getattr(content, kind)
        }
        return replace(content, **named)

    def file(self, path: str) -> tuple[str, str]:
        """Return the task and the kind of a file under such a name."""
        alias, _, rest = path.partition("/")
        kind = rest.partition(".")[0]
        if kind not in MEDIA_COLUMNS:
            raise ValueError("there is no such file")
        return self.name(alias), kind

    @contextmanager
    def unnamed(self) -> Iterator[None]:
        """Remove the names of tasks from refusals."""
        try:
            yield
        except RejectedError as error:
            raise RejectedError(_TASK.sub("this task", str(error))) from None

"""What tests run of some files where nothing is changed."""

import json
from pathlib import Path
from typing import NamedTuple


class Seen(NamedTuple):
    """What a test does without any change: its seconds, and the lines it runs of each file."""

    seconds: float
    lines: dict[str, list[int]]

    def runs(self, file: str, lines: range) -> bool:
        """Whether it runs one of some lines."""
        return any(line in lines for line in self.lines.get(file, ()))


def file_of(test: str) -> str:
    """Return the file of a test."""
    return test.partition("::")[0]


def read(kept: Path) -> dict[str, Seen]:
    """Read what was seen of each test."""
    return {test: Seen(*of) for test, of in json.loads(kept.read_text(encoding="utf-8")).items()}

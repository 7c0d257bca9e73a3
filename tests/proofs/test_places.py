"""Every command that refuses a number in a table names the file, the line and the text it found."""

import re
from pathlib import Path

import pytest

from tests.every_command import COMMANDS, call, lay_out
from tests.proofs.readers import MORE, reader

NUMBER = re.compile(r"(?<![\w.-])-?\d+(\.\d+)?(?![\w.-])")
# Their numbers are names: labels, accounts; or a hash refuses the file before it is read.
NAMES = (
    "quality", "agreement", "models", "workers", "vote", "vote keep", "vote gold", "replay",
    "replay truth", "quality gold", "models gold", "workers gold", "import mturk",
    "import prolific", "import times", "import studio accounts", "assign confusion",
    "assign class prior", "campaign gold", "campaign answers", "verify plan, quality",
    "verify plan, workers",
)  # fmt: skip


def places(content: object) -> list[tuple[int, re.Match]]:
    """The numbers of a text below its head, with their lines from 0."""
    if not isinstance(content, str):
        return []
    lines = enumerate(content.splitlines())
    return [(i, of) for i, line in lines for of in NUMBER.finditer(line)]


def tables() -> list[str]:
    names = []
    for name, entry in {**COMMANDS, **MORE}.items():
        if name in NAMES or callable(entry):
            continue
        if Path(entry[0]).suffix in (".csv", ".tsv", ".txt") and places(entry[1]):
            names.append(name)
    return names


@pytest.mark.parametrize("end", [0, -1], ids=["first", "last"])
@pytest.mark.parametrize("name", tables())
def test_a_number_that_is_none_is_refused_by_its_place(name, end, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    path, words = lay_out(name, tmp_path, reader(name))
    content = path.read_text(encoding="utf-8")
    i, number = places(content)[end]
    lines = content.split("\n")
    lines[i] = lines[i][: number.start()] + "wr!ong" + lines[i][number.end() :]
    path.write_text("\n".join(lines), encoding="utf-8")
    code, _, err = call(words, capfd)
    errors = [line for line in err.splitlines() if line.startswith("error: ")]
    assert code == 2
    assert len(errors) == 1
    assert f"{path.relative_to(tmp_path)}:{i + 1}" in errors[0]
    assert "wr!ong" in errors[0]

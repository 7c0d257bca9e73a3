"""The first block of every page runs in an empty folder, or says which files are the reader's."""

import re
import shlex
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from crowd_tvcs import simulate
from grn_tvcs import datasets
from tests.makers.commands import check_done, crowd_tvcs, grn_tvcs, tvcs

ROOT = Path(__file__).parents[2]
OF_DEVELOPERS = ("architecture", "checks", "decisions", "studies", "reliability", "templates")
PAGES = {
    path.relative_to(ROOT / "docs").with_suffix("").as_posix(): path.read_text("utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md"))
}
COMMANDS = {"tvcs": tvcs, "grn-tvcs": grn_tvcs, "crowd-tvcs": crowd_tvcs}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"[\w./-]+\.(?:csv|tsv|txt|json|db|npz|npy|h5ad|xlsx)")
MARK = re.compile(r"^# (.+?) (?:is|are) yours", re.MULTILINE)
QUICK = ["--calibrate", "off", "--option", "resamples=2"]
# Blocks that are not run here, and where what they say is run.
ELSEWHERE = {
    "campaigns": "answers come from people: tests/crowd/campaign",
    "exchange": "an export of a tool: tests/crowd/exchange",
    "how-to/r": "needs R: test_how_to.py",
    "how-to/workflows": "needs Snakemake: test_how_to.py",
    "large-crowds": "a million tasks: tests/crowd/factors",
    "models": "a crowd of models: tests/crowd/models",
    "serve": "a server: tests/crowd/serve",
    "workers": "an export of a tool: tests/crowd/behaviour",
}


def first_block(text):
    """The language and the lines of the first block that is code; None without any."""
    for language, code in BLOCK.findall(text):
        if language in ("console", "python", "py", "pycon", "bash", "sh", "r"):
            return language, code
    return None


FIRST = {
    name: first_block(text)
    for name, text in PAGES.items()
    if first_block(text) and not name.startswith(OF_DEVELOPERS)
}


def calls(code: str) -> Iterator[list[str]]:
    """The words of every command of a block."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words and words[0] in COMMANDS:
            yield words


def printed(code: str) -> list[str]:
    """The lines that a block shows as printed, in its order."""
    lines = code.replace("\\\n", " ").splitlines()
    return [line for line in lines if line and not line.startswith(("$ ", "#"))]


def marked(code: str) -> set[str]:
    """The files that a block calls the reader's own."""
    return {name for names in MARK.findall(code) for name in re.split(r", | and ", names)}


def named_and_made(code: str) -> tuple[set[str], set[str]]:
    """The files that commands of a block read, and those that they wrote before."""
    read, made = set(), set()
    for words in calls(code):
        outs = {b for a, b in pairwise(words) if a in ("--out", "--table")}
        if words[1:3] == ["campaign", "init"]:
            outs.add(words[3])
        if words[:2] == ["tvcs", "data"]:
            outs.add("data")
        for word in set(words[1:]) - outs:
            is_made = any(word == one or word.startswith(f"{one}/") for one in made)
            if FILE.fullmatch(word) and not is_made:
                read.add(word)
        made |= outs
    return read, made


def test_most_pages_of_users_begin_with_code():
    assert len(FIRST) > 20
    assert set(ELSEWHERE) <= set(FIRST)


@pytest.mark.parametrize("name", [n for n, (kind, _) in FIRST.items() if kind == "console"])
def test_a_file_is_made_by_the_block_or_marked_as_the_readers_own(name):
    code = FIRST[name][1]
    read, _ = named_and_made(code)
    own = marked(code)
    assert read == {one for one in own if FILE.fullmatch(one)}
    assert all(one in code.split("yours", 1)[1] for one in own), "marked, and not used"


def test_a_block_without_a_language_holds_no_command():
    """Else nothing would run it, and nobody could copy it."""
    for name, text in PAGES.items():
        for language, code in BLOCK.findall(text):
            if not language and not name.startswith(OF_DEVELOPERS):
                lines = [line for line in code.splitlines() if line.startswith("$ ")]
                assert not lines, f"{name}: {lines}"


def of_agreement():
    labels = ["bad", "fair", "good"]
    rows = [(f"t{j}", f"w{i}", labels[(i * j + j) % 3]) for j in range(8) for i in range(4)]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv("answers.csv", index=False)


def of_answers():
    Path("tasks.txt").write_text("".join(f"{name}\n" for name in simulate(2, 5).quality.tasks))


def of_crowd_kinds():
    pairs = [(j, i) for j in range(8) for i in range(3)]
    rows = [(f"t{j}", f"w{i}", min(5, 1 + j % 4 + (i + j) // 6)) for j, i in pairs]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv("ratings.csv", index=False)
    gold = [(f"t{j}", 1 + j % 4) for j in range(5)]
    pd.DataFrame(gold, columns=["task", "label"]).to_csv("gold.csv", index=False)
    rows = [(f"w{i}", f"i{j}", f"i{(j + 1 + i) % 8}", "left") for j, i in pairs]
    columns = ["worker", "left", "right", "answer"]
    pd.DataFrame(rows, columns=columns).to_csv("pairs.csv", index=False)
    rows = [(f"t{j}", f"w{i}", ("a;b", "b", "none")[j % 3]) for j, i in pairs]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv("sets.csv", index=False)


def of_levels():
    source = datasets.network30().folder / "timeseries.tsv"
    pd.read_csv(source, sep="\t").iloc[:63, :7].to_csv("levels.csv", index=False)


def of_conditions():
    source = pd.read_csv(datasets.network30().folder / "timeseries.tsv", sep="\t")
    series = [source.iloc[21 * k : 21 * k + 21, :6].assign(series=f"s{k}") for k in range(10)]
    pd.concat(series[:5]).to_csv("control.tsv", sep="\t", index=False)
    pd.concat(series[5:]).to_csv("treated.tsv", sep="\t", index=False)
    both = [part.assign(treatment="treated" if k > 4 else "control") for k, part in
            enumerate(series)]  # fmt: skip
    pd.concat(both).to_csv("all.csv", index=False)


OWN = {
    "agreement": of_agreement,
    "answers": of_answers,
    "compare-conditions": of_conditions,
    "crowd-kinds": of_crowd_kinds,
    "how-to/first-tasks": of_levels,
}


OF_PYTHON = {name for name, (kind, _) in FIRST.items() if kind == "python"}


@pytest.mark.parametrize("name", sorted(OF_PYTHON))
def test_a_first_block_of_python_takes_its_data_from_the_package(name):
    """`tests/test_docs.py` runs all blocks of these pages, where a folder `data` stands ready."""
    assert not re.search(r"""["']data/""", FIRST[name][1])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(set(FIRST) - set(ELSEWHERE) - OF_PYTHON))
def test_the_first_block_runs_in_an_empty_folder(name, tmp_path, monkeypatch, few_networks):
    language, code = FIRST[name]
    monkeypatch.chdir(tmp_path)
    assert bool(marked(code)) == (name in OWN)
    OWN.get(name, lambda: None)()
    if language == "py":
        if "import anndata" in code:
            pytest.importorskip("anndata")
        exec(compile(code, name, "exec"), {})
        return
    ran, shown = 0, []
    for words in calls(code):
        more = QUICK if words[:2] == ["grn-tvcs", "infer"] and "--method" not in words else []
        more = ["--permutations", "34"] if words[1] == "compare" else more
        done = check_done(COMMANDS[words[0]](*words[1:], *more))
        shown += done.output.splitlines()
        ran += 1
    assert ran
    if language == "console":
        assert [line for line in printed(code) if line.rstrip() not in map(str.rstrip, shown)] == []
    shutil.rmtree(tmp_path)


def reads_the_package_alone(code: str) -> bool:
    """Whether all files that the commands of a block read are data of the package."""
    return all(file.startswith("data/") for file in named_and_made(code)[0])


SHOWN = {
    f"{name}, block {k}": code
    for name, text in PAGES.items()
    if not name.startswith(OF_DEVELOPERS)
    for k, (language, code) in enumerate(BLOCK.findall(text))
    if language == "console" and printed(code) and reads_the_package_alone(code)
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_a_later_block_shows_as_printed_is_printed(name, tmp_path, monkeypatch):
    assert "crowds, block 3" in SHOWN
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "data", "data")
    shown = []
    for words in calls(SHOWN[name]):
        done = check_done(COMMANDS[words[0]](*words[1:]))
        shown += map(str.rstrip, done.output.splitlines())
    assert [line for line in printed(SHOWN[name]) if line.rstrip() not in shown] == []

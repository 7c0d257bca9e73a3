"""The ten first tasks: at most three commands each, and each does what its page says."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import datasets, read_network
from tests.makers.commands import check_done, grn_tvcs

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "first-tasks.md"
# The network of these tasks is not judged: few halves, and no networks simulated with the design.
QUICK = ["--calibrate", "off", "--option", "resamples=2"]
SERIES, GENES = 6, 8


def tasks():
    """Return the blocks of each task as pairs of language and lines, by its heading."""
    text = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    blocks = r"^```(\w+)\n(.*?)^```"
    return {
        part.split("\n")[0]: [
            (language, [line for line in code.splitlines() if not line.startswith("# ")])
            for language, code in re.findall(blocks, part, flags=re.MULTILINE | re.DOTALL)
        ]
        for part in parts
    }


TASKS = tasks()
BY_COMMAND = [name for name, [(language, _)] in TASKS.items() if language == "console"]


def run(line):
    program, *words = shlex.split(line.removeprefix("$ "))
    assert program == "grn-tvcs"
    more = (
        QUICK if words[0] == "infer" else ["--permutations", "34"] if words[0] == "compare" else []
    )
    done = check_done(grn_tvcs(*words, *more))
    return done.output


def few(series):
    """Return a table of few genes and these series of network30."""
    whole = datasets.network30().expression
    rows = np.isin(whole.series, list(whole.pieces)[series])
    frame = pd.DataFrame(whole.values[rows][:, :GENES], columns=list(whole.genes[:GENES]))
    labels = {"Time": whole.times[rows], "series": np.array(whole.series)[rows]}
    return frame, pd.DataFrame(labels)


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder with the files that the page names."""
    anndata = pytest.importorskip("anndata")
    monkeypatch.chdir(tmp_path)
    frame, labels = few(slice(0, SERIES))
    pd.concat([labels, frame], axis=1).to_csv("levels.csv", index=False)
    names = [f"s{k}" for k in range(len(frame))]
    turned = frame.set_axis(names).T
    turned.to_csv("counts.tsv", sep="\t", index_label="gene")
    sheet = labels.rename(columns={"Time": "time"}).assign(sample=names)
    sheet.to_csv("sheet.csv", index=False)
    obs = labels.rename(columns={"Time": "hour", "series": "donor"}).set_axis(names)
    symbols = pd.DataFrame(
        {"symbol": [f"abc{k}" for k in range(GENES)]}, index=[f"ENSG{k:05}" for k in range(GENES)]
    )
    anndata.AnnData(frame.to_numpy(), obs=obs, var=symbols).write_h5ad("cells.h5ad")
    for name, series in (("control", slice(0, 4)), ("treated", slice(4, 8))):
        frame, labels = few(series)
        pd.concat([labels, frame], axis=1).to_csv(f"{name}.csv", index=False)
    Path("motifs.tsv").write_text("regulator\ttarget\tweight\nG1\tG2\t1\nG2\tG3\t0.5\n")
    return tmp_path


def test_there_are_ten_tasks_of_at_most_three_commands():
    names = [name for name in TASKS if name[0].isdigit()]
    assert [name.split(".")[0] for name in names] == [str(k) for k in range(1, 11)]
    for name in names:
        [(language, lines)] = TASKS[name]
        commands = [line for line in lines if line.startswith("$ ") or language != "console"]
        commands = [line for line in commands if line and not line.startswith(("from ", "import "))]
        assert 1 <= len(commands) <= 3, name
        assert language != "console" or commands == lines


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BY_COMMAND)
def test_a_task_of_the_command_line_does_what_it_says(name, workplace):
    [(_, lines)] = TASKS[name]
    for line in lines:
        run(line)
    results = workplace / ("differences" if "compare" in lines[0] else "network")
    assert (results / "report.html").exists()
    assert (results / "run.json").exists()
    if "convert" in lines[-1]:
        assert (workplace / "network" / "style.xml").read_text("utf-8").startswith("<?xml")
    if "--gene-column" in lines[-1]:
        assert "abc3" in read_network(workplace / "network" / "edges.tsv").genes


@pytest.mark.filterwarnings("ignore")
def test_pictures_and_data_to_try_run_as_they_stand(workplace):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    for name in ("10. Pictures", "Data to try"):
        [(_, lines)] = TASKS[name]
        exec("\n".join(lines), {})
    assert (workplace / "network.pdf").read_bytes().startswith(b"%PDF")
    assert len(pd.read_csv(workplace / "levels.tsv", sep="\t").columns) == 31


def test_r_reads_the_edges(workplace):
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("no Rscript on the path")
    [(_, lines)] = TASKS["7. R"]
    words = '"network")'
    quick = ", ".join(f'"{word}"' for word in QUICK)
    script = "\n".join(lines).replace(words, f'"network", {quick})')
    bin_folder = str(Path(sys.executable).parent)
    path = os.pathsep.join([bin_folder, os.environ["PATH"]])
    done = subprocess.run(
        [rscript, "-e", script], capture_output=True, text=True, env=os.environ | {"PATH": path}
    )
    assert done.returncode == 0, done.stderr
    assert "regulator" in done.stdout


CLICKS = {
    "how-to/first-tasks.md": ["grn-tvcs check", "grn-tvcs infer"],
    "readers/operator.md": ["tvcs data", "crowd-tvcs assign"],
    "readers/researcher.md": ["tvcs data", "tvcs project", "tvcs verify"],
}


@pytest.mark.parametrize("page", CLICKS)
def test_a_first_task_is_one_click_from_the_first_page(page):
    """The commands of the page's first block, which test_first_blocks.py runs."""
    docs = PAGE.parents[1]
    first = (docs / "index.md").read_text("utf-8").split("| first task | click |")[1]
    [row] = [line for line in first.splitlines() if f"]({page})" in line]
    assert f"| the {len(CLICKS[page])} commands " in row
    block = (docs / page).read_text("utf-8").split("```console\n")[1].split("```")[0]
    lines = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
    assert len(lines) == len(CLICKS[page])
    assert all(map(str.startswith, lines, CLICKS[page]))

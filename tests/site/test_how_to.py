"""The how-to pages keep their word: their commands and scripts run, where the programs are."""

import csv
import json
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import networkx as nx
import pytest

from tests.crowd import tools

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "how-to"
BIN = Path(sys.executable).parent
pytestmark = pytest.mark.slow


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """The data of the project, and its commands on the path."""
    shutil.copytree(ROOT / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(BIN), prepend=":")
    return tmp_path


def blocks(page, language):
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def type_in(lines):
    for line in lines:
        run(*shlex.split(line.removeprefix("$ ")))


def commands(page):
    return [line for block in blocks(page, "console") for line in block.splitlines()]


def program(name):
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} on the path")
    return found


def test_cytoscape_gets_a_network_and_its_style(workplace):
    type_in(commands("cytoscape"))
    graph = nx.read_graphml("network/network.graphml")
    assert graph.number_of_edges() == 60
    assert {"in_degree", "out_degree", "is_regulator"} <= set(next(iter(graph.nodes.values())))
    style = ET.parse("network/style.xml").getroot()
    assert [one.get("name") for one in style.iter("visualStyle")] == ["tvcs"]
    for line in re.findall(r"`(grn-tvcs convert .+?)`", (PAGES / "cytoscape.md").read_text()):
        run(*shlex.split(line))
    assert len(json.loads(Path("network.cyjs").read_text())["elements"]["edges"]) == 60


def test_a_plan_goes_through_label_studio_and_back(workplace):
    _, assign, export, take_in, vote = commands("label-studio")
    type_in([assign])
    with Path("plan/assignment.csv").open(encoding="utf-8") as file:
        tasks = sorted({row["task"] for row in csv.DictReader(file)})
    Path("shown.csv").write_text("task,text\n" + "".join(f"{t},Is {t} a cat?\n" for t in tasks))
    type_in([export])
    source, target = Path("for-label-studio/tasks.json"), Path("export.json")
    tools.label_studio(source, target, lambda task, worker: str(int(task[1:]) % 2))
    assigned = {
        w for one in json.loads(source.read_text()) for w in one["data"]["assigned"].split("|")
    }
    names = sorted(assigned - {""})
    Path("accounts.csv").write_text("account,worker\n" + "".join(f"{n},{n}\n" for n in names))
    type_in([take_in, vote])
    with Path("labels/labels.csv").open(encoding="utf-8") as file:
        labels = {row["task"]: row["label"] for row in csv.DictReader(file)}
    assert labels == {task: str(int(task[1:]) % 2) for task in tasks}


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_scripts_of_r_run(workplace, number):
    rscript = program("Rscript")
    script = blocks("r", "r")[number]
    if "reticulate" in script:
        there = subprocess.run([rscript, "-e", "library(reticulate)"], capture_output=True)
        if there.returncode:
            pytest.skip("R has no reticulate")
    run(rscript, "-e", "options(browser = function(url) stopifnot(file.exists(url)))\n" + script)
    assert Path(["network", "plan", "report.html"][number]).exists()


def test_snakemake_runs_the_rule(workplace):
    snakemake = program("snakemake")
    Path("Snakefile").write_text(blocks("workflows", "py")[0])
    run(snakemake, "--cores", "2", "networks/network30")
    assert Path("networks/network30/run.json").exists()


def test_nextflow_runs_the_process(workplace):
    nextflow = program("nextflow")
    Path("main.nf").write_text(blocks("workflows", "groovy")[0])
    run(nextflow, "run", "main.nf")
    assert Path("networks/network30/run.json").exists()


def test_the_process_does_in_a_folder_of_its_own_what_the_rule_does(workplace):
    """As Nextflow runs it: bash -ue in a folder a task, the table a link with its own name."""
    process, rule = blocks("workflows", "groovy")[0], blocks("workflows", "py")[0]
    assert "input:  tuple val(study), path(table)\n" in process
    assert "output: path study\n" in process
    [script] = re.findall(r'^    script:\n    "(.+)"$', process, re.M)
    [cpus] = re.findall(r"cpus (\d+)", process)
    [tables] = re.findall(r"channel\.fromPath\('(.+?)'\)", process)
    [table] = workplace.glob(tables)
    study, task = table.parent.name, workplace / "work"
    task.mkdir()
    (task / table.name).symlink_to(table)
    known = {"${table}": table.name, "${study}": study, "${task.cpus}": cpus}
    filled = re.sub(r"\$\{.+?\}", lambda word: known[word[0]], script)
    (task / ".command.sh").write_text(f"#!/bin/bash -ue\n{filled}\n")
    done = subprocess.run(["bash", "-ue", ".command.sh"], cwd=task, capture_output=True)
    assert done.returncode == 0, done.stderr
    words = "".join(re.findall(r'^        "(.*)"$', rule, re.M)).removesuffix(" 2> {log}")
    type_in([words.format(input=table, output="of-the-rule", threads=cpus)])
    edges = [(folder / "edges.tsv").read_bytes() for folder in (task / study, Path("of-the-rule"))]
    assert edges[0] == edges[1]

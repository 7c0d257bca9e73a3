"""What other homes of packages get of us: each is run or linted where its program is here."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
MODULE = PACKAGING / "nf-core" / "modules" / "local" / "tvcs" / "infer"
WRAPPER = PACKAGING / "snakemake" / "infer"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table in an otherwise empty folder, and our commands on the path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "study").mkdir()
    source = ROOT / "data" / "network30" / "timeseries.tsv"
    return Path(shutil.copy(source, tmp_path / "study" / "timeseries.tsv")).relative_to(tmp_path)


def test_all_name_this_version():
    recipe = (PACKAGING / "conda" / "recipe.yaml").read_text("utf-8")
    described = (PACKAGING / "r" / "tvcs" / "DESCRIPTION").read_text("utf-8")
    listed = yaml.safe_load((PACKAGING / "scverse" / "meta.yaml").read_text("utf-8"))
    module = yaml.safe_load((MODULE / "environment.yml").read_text("utf-8"))
    wrapper = yaml.safe_load((WRAPPER / "environment.yaml").read_text("utf-8"))
    assert f'version: "{VERSION}"' in recipe
    assert f"Version: {VERSION}\n" in described
    assert listed["version"] == f"v{VERSION}"
    assert module["dependencies"] == [f"conda-forge::tvcs={VERSION}"]
    assert wrapper["dependencies"] == [f"tvcs ={VERSION.rpartition('.')[0]}"]


def test_the_conda_recipe_renders():
    rattler = pytest.importorskip("rattler_build", reason="py-rattler-build is not installed")
    recipe = rattler.Stage0Recipe.from_file(str(PACKAGING / "conda" / "recipe.yaml"))
    [made] = recipe.render(rattler.VariantConfig())
    assert made.recipe.package.name == "tvcs"


def test_the_wrapper_of_snakemake_runs_the_command(table, monkeypatch):
    """With Snakemake's object and its shell stood in for, where it is not installed."""

    def shell(line):
        subprocess.run(["bash", "-c", line], check=True)

    package, module = ModuleType("snakemake"), ModuleType("snakemake.shell")
    module.shell = shell
    monkeypatch.setitem(sys.modules, "snakemake", package)
    monkeypatch.setitem(sys.modules, "snakemake.shell", module)
    given = SimpleNamespace(
        input=[str(table)],
        output=["networks/study"],
        params={"method": "tvcs", "option": "resamples=2", "max_edges": 60, "quiet": True},
        threads=1,
        log_fmt_shell=lambda stdout, stderr: "> log.txt 2>&1",
    )
    runpy.run_path(str(WRAPPER / "wrapper.py"), init_globals={"snakemake": given})
    assert Path("networks/study/run.json").exists()
    assert Path("log.txt").exists()


def test_the_wrapper_runs_in_snakemake(table):
    snakemake = shutil.which("snakemake")
    if snakemake is None:
        pytest.skip("no snakemake on the path")
    rule = (WRAPPER / "test" / "Snakefile").read_text("utf-8")
    Path("Snakefile").write_text(rule.replace("file:..", f"file:{WRAPPER}"))
    line = [snakemake, "--cores", "1", "networks/study"]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Path("networks/study/run.json").exists()


def test_the_process_of_nf_core_makes_what_it_says_it_emits(table):
    """Its script by bash -ue, as Nextflow would run it, with the values of a task."""
    process = (MODULE / "main.nf").read_text("utf-8")
    script = re.search(r'script:.*?"""\n(.*?)"""', process, re.DOTALL)[1]
    known = {
        "expression": str(table),
        "prefix": "study-1",
        "task.cpus": "1",
        "args": "--method tvcs --option resamples=2 --max-edges 60",
    }
    filled = re.sub(r"\$\{([\w.]+)\}", lambda word: known[word[1]], script).replace("\\$", "$")
    lines = "\n".join(line.removeprefix("    ") for line in filled.splitlines())
    done = subprocess.run(["bash", "-ue", "-c", lines], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    emitted = re.findall(r'path\(?\s*"(.+?)"\)?\s*, emit: (\w+)', process)
    for path, _ in emitted:
        assert Path(path.replace("${prefix}", "study-1")).exists(), path
    version = re.search(r'eval\("(.+?)"\), topic: versions', process)[1]
    assert subprocess.check_output(["bash", "-ue", "-c", version], text=True).strip() == VERSION
    described = yaml.safe_load((MODULE / "meta.yml").read_text("utf-8"))
    assert set(described["output"]) == {name for _, name in emitted} | {"versions_tvcs"}
    assert described["topics"]["versions"] == described["output"]["versions_tvcs"]
    assert version in described["topics"]["versions"][0][2]


def test_the_package_of_r_is_checked_where_r_is(tmp_path):
    if shutil.which("R") is None:
        pytest.skip("no R on the path")
    there = subprocess.run(["Rscript", "-e", "library(reticulate)"], capture_output=True)
    if there.returncode:
        pytest.skip("R has no reticulate")
    build = ["R", "CMD", "build", PACKAGING / "r" / "tvcs"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    check = ["R", "CMD", "check", "--no-manual", f"tvcs_{VERSION}.tar.gz"]
    python = os.environ | {"RETICULATE_PYTHON": sys.executable}
    done = subprocess.run(check, cwd=tmp_path, env=python, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert re.findall(r"\b\d+ (?:ERROR|WARNING|NOTE)", done.stdout) == []
    output = (tmp_path / "tvcs.Rcheck" / "tvcs-Ex.Rout").read_text("utf-8")
    assert "stopifnot" in output, "the examples were run"


def test_the_package_of_r_documents_what_it_exports():
    folder = PACKAGING / "r" / "tvcs"
    exported = set(re.findall(r"export\((\w+)\)", (folder / "NAMESPACE").read_text()))
    defined = set(re.findall(r"^(\w+) <- function", (folder / "R" / "tvcs.R").read_text(), re.M))
    named = set(re.findall(r"\\alias\{(\w+)\}", (folder / "man" / "tvcs.Rd").read_text()))
    assert exported == defined == named

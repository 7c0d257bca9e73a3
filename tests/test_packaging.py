"""What users install: names, versions and floors said alike, and no release by mistake."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OTHER_PYTHONS = ("python3.12", "python3.13")
NOT_THERE = (
    r"error sending request|Failed to (fetch|download)|was not found in the package registry"
)
EXTRAS = ("anndata", "excel", "plot", "campaign", "postgresql", "crowdkit", "cluster", "serve")


def script(name):
    """A script of `packaging`, which is no package: its name is that of one on the index."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "packaging" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


release = script("release")
environments = script("environments")


def recipe():
    text = (ROOT / release.RECIPE).read_text("utf-8")
    values = dict(re.findall(r'^  (\w+): "(\S+)"$', text, re.MULTILINE))
    return yaml.safe_load(re.sub(r"\${{ (\w+) }}", lambda m: values.get(m[1], m[1]), text))


def spaced(requirements):
    return {line.replace(">=", " >=") for line in requirements}


def test_the_recipe_of_conda_asks_for_what_the_package_asks_for():
    made = recipe()
    python = PROJECT["requires-python"]
    assert made["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
    assert set(made["requirements"]["run"]) == spaced([*PROJECT["dependencies"], f"python{python}"])
    entries = {f"{name} = {where}" for name, where in PROJECT["scripts"].items()}
    assert set(made["build"]["python"]["entry_points"]) == entries
    assert made["about"]["license_file"] == PROJECT["license-files"]
    assert made["about"]["license"] == PROJECT["license"]
    assert made["about"]["summary"] == PROJECT["description"]


def test_the_citation_names_this_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert str(cited["version"]) == PROJECT["version"]
    assert cited["license"] == PROJECT["license"].split(" AND ")[0]


def test_an_image_compiles_its_kernels_as_the_user_that_will_run_it():
    """A cache is its owner's alone: what root compiled, everybody else would compile anew."""
    lines = (ROOT / "packaging" / "Dockerfile").read_text("utf-8").splitlines()
    at = lines.index("RUN tvcs compile")
    users = [line.split()[1] for line in lines[:at] if line.startswith("USER ")]
    assert users
    assert users[-1] != "root"
    assert not [line for line in lines[at:] if line.startswith(("USER ", "ENV NUMBA_"))]


def test_every_extra_of_users_has_an_environment_and_a_job_of_its_own():
    for_developers = {"test", "check", "bench", "release", "docs"}
    assert set(PROJECT["optional-dependencies"]) - for_developers == set(EXTRAS)
    assert environments.ALL == EXTRAS
    text = (ROOT / "packaging" / "jobs.py").read_text("utf-8")
    assert all(f'    "{extra}": {extra},' in text for extra in EXTRAS)


def test_the_lowest_versions_are_those_of_the_package():
    found = environments.floors()
    assert {"numpy==2.0", "psycopg==3.1.4", "uvicorn==0.32"} <= set(found)
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", line) for line in found)


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    return environments.build(tmp_path_factory.mktemp("built") / "dist")


def test_the_wheel_stays_small(dist):
    [wheel] = dist.glob("*.whl")
    assert wheel.stat().st_size < 2_100_000  # 1.9 MB of it are files, the rest their names


@pytest.mark.skipif(sys.platform == "win32", reason="other names of folders")
def test_the_wheel_of_the_source_distribution_works_where_there_is_no_folder_of_ours(
    dist, tmp_path
):
    """With the libraries of these tests: `dev.py packages` takes the lowest and the newest."""
    [wheel] = dist.glob("*.whl")
    venv.create(tmp_path / "empty")
    python = tmp_path / "empty" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    environments.run([*pip, "install", "--no-deps", "--no-index", "--no-compile", wheel], tmp_path)
    [site] = (tmp_path / "empty").glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(f"{Path(np.__file__).parents[1]}\n")
    job = [python, "-I", ROOT / "packaging" / "jobs.py", "projection", ROOT / "data"]
    environments.run(job, tmp_path)


@pytest.mark.skipif(shutil.which(environments.UV) is None, reason="needs uv")
@pytest.mark.parametrize(
    "name",
    [
        "lowest-extras",
        *EXTRAS,
        *(pytest.param(name, marks=pytest.mark.slow) for name in OTHER_PYTHONS),
    ],
)
def test_what_users_install_is_imported_in_an_empty_environment(name, dist, tmp_path):
    """`dev.py packages` uses it as well; here an index may lack it, or not answer."""
    made = environments.ENVIRONMENTS[name]
    try:
        python = environments.make(made, dist, tmp_path / "made")
    except subprocess.CalledProcessError as error:
        if re.search(NOT_THERE, error.output):
            pytest.skip(f"not to be had from the index: {error.output[-300:]}")
        raise AssertionError(error.output) from None
    if python is None:
        pytest.skip(f"Python {made.python} is not to be had here")
    for job in made.jobs(environments.IMPORTS):
        line = [python, "-I", ROOT / "packaging" / "jobs.py", job, ROOT / "data"]
        environments.run(line, tmp_path)


@pytest.fixture
def tree(tmp_path):
    """A commit that may be released as 1.2.0."""
    (tmp_path / "packaging" / "conda").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.0 - 2026-12-01\n\n- New.\n")
    (tmp_path / "CITATION.cff").write_text("title: x\nversion: 1.2.0\n")
    (tmp_path / release.RECIPE).write_text('context:\n  version: "1.2.0"\n')
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def git(tree, *words):
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=tree, check=True, capture_output=True)


def commit(tree):
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "x")


def test_what_may_be_released_is_not_refused(tree):
    assert release.refusals(tree, "1.2.0") == []


def test_a_tree_that_differs_from_its_commit_is_refused(tree):
    (tree / "new.py").write_text("")
    assert release.refusals(tree, "1.2.0") == [
        "the working tree differs from its commit: ?? new.py"
    ]


def test_a_version_that_was_tagged_is_refused(tree):
    git(tree, "tag", "v1.2.0")
    [message] = release.refusals(tree, "1.2.0")
    assert message == "the tag v1.2.0 is there already: give pyproject.toml a new version"


def test_a_tag_may_be_published_that_names_the_version(tree):
    git(tree, "tag", "v1.2.0")
    assert release.refusals(tree, "1.2.0", "v1.2.0") == []
    [refused] = release.refusals(tree, "1.2.0", "v1.3.0")
    assert refused == "the tag is v1.3.0, pyproject.toml names the version 1.2.0"


@pytest.mark.parametrize("heading", ["## Unreleased", "## 1.2.01", "## 1x2.0", "### 1.2.0"])
def test_a_version_without_a_section_in_the_changelog_is_refused(tree, heading):
    (tree / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n")
    commit(tree)
    assert release.refusals(tree, "1.2.0") == ["CHANGELOG.md has no section '## 1.2.0'"]


def test_another_version_in_the_citation_or_the_recipe_is_refused(tree):
    (tree / "CITATION.cff").write_text("version: 1.1.0\n")
    (tree / release.RECIPE).write_text("")
    commit(tree)
    assert release.refusals(tree, "1.2.0") == [
        "CITATION.cff names the version 1.1.0, pyproject.toml 1.2.0",
        "packaging/conda/recipe.yaml names the version None, pyproject.toml 1.2.0",
    ]


def built(folder, rooms, names):
    """A wheel with these rooms and a source distribution with these files."""
    wheel, source = folder / "tvcs-1.2.0-py3-none-any.whl", folder / "tvcs-1.2.0.tar.gz"
    with zipfile.ZipFile(wheel, "w") as archive:
        for room in [*rooms, "tvcs-1.2.0.dist-info"]:
            archive.writestr(f"{room}/x.py", "")
    with tarfile.open(source, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"tvcs-1.2.0/{name}"))
    return release.contents([wheel, source], "1.2.0")


def test_what_belongs_into_the_files_is_there_and_nothing_else(tmp_path):
    needed = [*release.NEEDED_IN_SOURCE, ".gitignore"]
    assert built(tmp_path, release.PACKAGES, needed) == []
    assert built(tmp_path, [*release.PACKAGES, "tests"], [*needed[1:], ".env"]) == [
        "tvcs-1.2.0-py3-none-any.whl holds tests",
        f"tvcs-1.2.0.tar.gz lacks tvcs-1.2.0/{needed[0]}",
        "tvcs-1.2.0.tar.gz holds tvcs-1.2.0/.env",
    ]

"""A wheel with compiled kernels: nothing is compiled after it was installed."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.slow


def run(*words, **more):
    """Run a program; it must succeed."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this platform."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    kernels = Path(os.environ.get("TVCS_KERNELS", folder / "kernels"))
    if not kernels.exists():
        kernels.mkdir()
        run(sys.executable, "wheels/kernels.py", kernels, "tvcs_core", cwd=ROOT)
    environment = os.environ | {"TVCS_KERNELS": str(kernels)}
    words = ("hatchling", "build", "--target", "wheel", "--directory", folder)
    run(sys.executable, "-m", *words, cwd=ROOT, env=environment)
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def program(wheel, tmp_path_factory):
    """A Python with nothing of ours but the wheel, and the libraries of this environment."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place)
    [site] = place.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site)
    (site / "libraries.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return place / "bin" / "python"


@pytest.fixture
def project(program, tmp_path):
    """`tvcs project` of a table of a size, with an empty cache; what it says and what it kept."""

    def project(size, **environment):
        values = np.random.default_rng(0).normal(size=(size, size))
        np.save(tmp_path / "v.npy", values)
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        clean |= {"TVCS_CACHE_DIR": str(tmp_path / "cache")} | environment
        caps = ("--row-cap", size // 5, "--col-cap", size // 5, "--out", "p.npz", "--force")
        words = (program, "-m", "tvcs_core", "project", "v.npy", *caps)
        done = run(*words, cwd=tmp_path, env=clean)
        return done.stderr, (tmp_path / "p.npz").read_bytes()

    return project


@pytest.mark.parametrize("size", [20, 300])
def test_a_first_projection_compiles_nothing_and_gives_the_same_bytes(project, tmp_path, size):
    said, from_wheel = project(size)
    assert said == ""
    assert not list((tmp_path / "cache").rglob("*.kernel"))
    # A setting of numba that changes nothing: what was built is for none.
    said, compiled = project(size, NUMBA_DEBUG="0")
    is_compiled = size > 100  # smaller ones are projected by Python the first time
    assert ("compiling the kernels once" in said) == is_compiled
    assert bool(list((tmp_path / "cache").rglob("*.kernel"))) == is_compiled
    assert compiled == from_wheel


def test_the_doctor_says_which_kernels_are_used(program, tmp_path):
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    clean |= {"TVCS_CACHE_DIR": str(tmp_path / "cache")}
    said = run(program, "-m", "tvcs_core", "doctor", env=clean, cwd=tmp_path).stdout
    assert "kernels   of the wheel, for x86-64-v" in said
    assert "kernels of the wheel" in said.split("try")[1]
    [made_with] = program.parents[1].glob("lib/*/site-packages/tvcs_core/jit/built/*.json")
    whole = made_with.read_text()
    numpy = json.loads(whole)["numpy"]
    made_with.write_text(whole.replace(f'"numpy": "{numpy}"', '"numpy": "2.0.99"'))
    said = run(program, "-m", "tvcs_core", "doctor", env=clean, cwd=tmp_path).stdout
    made_with.write_text(whole)
    assert f"they were compiled with numpy 2.0.99, here is {numpy}" in said
    assert "kernels compiled in" in said


def test_the_wheel_is_for_this_platform_and_holds_no_tool(wheel):
    assert "-py3-none-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    assert sum(name.endswith(".kernel") for name in names) > 20
    assert not [name for name in names if name.startswith(("wheels/", "tests/"))]

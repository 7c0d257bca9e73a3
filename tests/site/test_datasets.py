"""Data sets by a call: what they hold, and that a wheel has their files."""

import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

import crowd_tvcs
import grn_tvcs
from tvcs_core.files import extras
from tvcs_core.files.extras import carried

ROOT = Path(__file__).parents[2]
SETS = {"network30": "grn_tvcs", "bsubtilis": "grn_tvcs", "crowd40": "crowd_tvcs"}


def test_network30_is_what_its_datasheet_says():
    data = grn_tvcs.datasets.network30()
    assert (len(data.expression.genes), len(data.expression.pieces)) == (30, 10)
    assert len(data.reference.edges()) == 48
    assert data.steady.levels.shape == (61, 30)
    assert data.regulators is None
    assert grn_tvcs.score(data.reference, data.reference).f1 == 1.0


def test_bsubtilis_is_what_its_datasheet_says():
    data = grn_tvcs.datasets.bsubtilis()
    assert len(data.expression.genes) == 149
    assert (len(data.expression.times), data.expression.n_steady) == (163, 106)
    assert len(data.expression.pieces) == 33
    assert len(data.reference.edges()) == 288
    assert len(data.regulators) == 47
    assert set(data.regulators) <= set(data.expression.genes)
    assert "BSD" in (data.folder / "DATASHEET.md").read_text("utf-8")
    assert (data.folder / "LICENSE").exists()


def test_crowd40_is_what_its_datasheet_says():
    data = crowd_tvcs.datasets.crowd40()
    assert data.quality.values.shape == (40, 120)
    assert len(data.gold) == 20
    plan = crowd_tvcs.assign(crowd_tvcs.Plan(data.quality, budget=120), method="fast")
    assert plan.pairs


def test_a_package_has_its_data_sets_as_an_attribute_and_no_other_module():
    assert "datasets" in dir(grn_tvcs)
    with pytest.raises(AttributeError, match="has no attribute 'dataset'"):
        grn_tvcs.dataset  # noqa: B018


def test_the_wheel_has_every_file_of_every_data_set(tmp_path):
    wheel = next(WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))
    names = set(zipfile.ZipFile(wheel).namelist())
    for name, package in SETS.items():
        files = [path for path in (ROOT / "data" / name).iterdir() if path.is_file()]
        assert files
        for path in files:
            assert f"{package}/data/{name}/{path.name}" in names
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    licences = [name for name in names if ".dist-info/licenses/" in name]
    assert len(licences) == len(project["license-files"])


def test_an_installed_package_finds_its_own_and_says_what_is_missing(tmp_path, monkeypatch):
    package = tmp_path / "grn_tvcs"
    (package / "data" / "network30").mkdir(parents=True)
    (package / "data" / "network30" / "DATASHEET.md").write_text("a sheet")

    class Installed:
        __file__ = str(package / "__init__.py")

    monkeypatch.setattr(extras, "import_module", lambda name: Installed)
    assert carried("grn_tvcs", "network30") == package / "data" / "network30"
    with pytest.raises(FileNotFoundError, match="lacks the data set; install it again"):
        carried("grn_tvcs", "bsubtilis")

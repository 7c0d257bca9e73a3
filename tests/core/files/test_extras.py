"""What is said to install an extra works for the way in which tvcs is installed."""

import inspect
import json
from importlib import metadata

import pytest

from tvcs_core.files.display import closest, did_you_mean
from tvcs_core.files.errors import DataError
from tvcs_core.files.extras import DATA_SETS, carried, to_install, write_data_set

IN_FOLDER = "pip install '.[excel]' in the folder of tvcs"
REQUIRES = ["numpy>=2.0", "openpyxl>=3.1; extra == 'excel'", 'h5py>=3.10 ; extra == "anndata"']


@pytest.mark.parametrize(
    ("origin", "requires", "expected"),
    [
        ({"url": "file:///x", "dir_info": {"editable": True}}, REQUIRES, IN_FOLDER),
        ({"url": "file:///x", "dir_info": {}}, REQUIRES, IN_FOLDER),
        ({"url": "file:///x.whl", "archive_info": {}}, REQUIRES, "pip install 'openpyxl>=3.1'"),
        (None, REQUIRES, "pip install 'openpyxl>=3.1'"),
        (None, None, IN_FOLDER),
    ],
)
def test_an_extra_of_a_folder_and_the_packages_of_a_wheel(origin, requires, expected, monkeypatch):
    class Installed:
        def __init__(self):
            self.requires = requires

        def read_text(self, name):
            assert name == "direct_url.json"
            return None if origin is None else json.dumps(origin)

    monkeypatch.setattr(metadata, "distribution", lambda name: Installed())
    assert to_install("excel") == expected


def test_without_an_installation_the_folder_is_named(monkeypatch):
    def gone(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", gone)
    assert to_install("excel") == IN_FOLDER


def test_the_nearest_name_is_asked_for_and_a_far_one_is_not():
    names = ["Time (h)", "donor", "treatment"]
    assert closest("time_H", names) == "Time (h)"
    assert did_you_mean("Doner", names) == "; did you mean 'donor'?"
    assert did_you_mean("xyz", names) == did_you_mean("a", []) == ""


def test_every_data_set_of_the_packages_is_named():
    import crowd_tvcs
    import grn_tvcs

    for package in (grn_tvcs, crowd_tvcs):
        home = package.datasets
        calls = {
            name
            for name, thing in vars(home).items()
            if inspect.isfunction(thing) and thing.__module__ == home.__name__
        }
        assert calls == {name for name, of in DATA_SETS.items() if of == package.__name__}


def test_the_data_sets_are_written_once_and_never_over_what_is_there(tmp_path):
    new = list(write_data_set("crowd40", tmp_path))
    home = carried("crowd_tvcs", "crowd40")
    assert {path.name: path.read_bytes() for path in new} == {
        path.name: path.read_bytes() for path in home.iterdir()
    }
    assert list(write_data_set("crowd40", tmp_path)) == []
    new[0].unlink()
    new[1].write_text("mine")
    with pytest.raises(DataError, match=r"is not the file of the data set crowd40; move it away"):
        list(write_data_set("crowd40", tmp_path))
    assert not new[0].exists()

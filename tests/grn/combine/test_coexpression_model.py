"""The command that learns how closely genes of simulated tables go together."""

import json

import numpy as np
import pytest

from benchmarks import coexpression as command
from grn_tvcs.combine.coexpression import MANY, MEASURES, coexpression
from grn_tvcs.simulation import designs
from grn_tvcs.simulation.kinds import KINDS

TABLES, OF_MANY = 60, 12


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(designs, "QUARTERS", ((5, 8),) * 4)
    monkeypatch.setattr(command, "MANY", 6)


def run(path, *more, seed=3):
    words = {"tables": TABLES, "many": OF_MANY, "seed": seed, "out": path}
    command.main(
        [*(word for key, value in words.items() for word in (f"--{key}", str(value))), *more]
    )
    return path


def test_the_command_gives_the_same_bytes_again_and_other_seeds_others(small, tmp_path, capsys):
    path = run(tmp_path / "one.npz")
    before = path.read_bytes()
    with pytest.raises(SystemExit) as same:
        run(path, "--check")
    assert same.value.code == 0
    assert capsys.readouterr().out.endswith("one.npz: the same bytes\n")
    with pytest.raises(SystemExit) as other:
        run(path, "--check", seed=4)
    assert other.value.code == 1
    assert capsys.readouterr().out.endswith("one.npz: other bytes\n")
    assert path.read_bytes() == before
    assert np.isfinite(coexpression(path).limits).all()


def test_every_table_is_of_a_network_and_none_has_knock_outs():
    jobs = command.jobs_of(200, 50, 0)
    assert [number for number, _, _ in jobs] == list(range(250))
    assert all(design.n_genes > MANY and design.n_series for _, design, _ in jobs[200:])
    assert command.jobs_of(200, 0, 0) == jobs[:200]
    assert {kind for _, _, kind in jobs} == set(KINDS)
    assert not any(design.knocked_out or design.knocked_down for _, design, _ in jobs)


def test_the_file_that_comes_along_says_what_made_it():
    with np.load(command.PATH) as file:
        told = json.loads(str(file["made"]))
    assert told["command"] == "python -m benchmarks.coexpression"
    parameters = {"tables": command.TABLES, "many": command.TABLES_OF_MANY}
    assert (told["seed"], told["parameters"]) == (0, parameters)
    assert coexpression().means.shape[1] == len(MEASURES)

"""The comparison of two checkouts runs what there is, and sees what differs."""

import sqlite3
from pathlib import Path

import numpy as np

import crowd_tvcs.cli.main
import grn_tvcs.cli.main
import tvcs_core.cli
from benchmarks import same
from grn_tvcs.cli.method_options import method_options

APPS = {
    "tvcs": tvcs_core.cli.app,
    "grn-tvcs": grn_tvcs.cli.main.app,
    "crowd-tvcs": crowd_tvcs.cli.main.app,
}
LEFT_OUT = {
    "tvcs doctor": "describes the machine",
    "tvcs compile": "prints times, and writes kernels alone",
    "tvcs data": "writes files of the package as they are",
    "crowd-tvcs import": "reads what another program exported",
    "crowd-tvcs campaign import": "answers a round, whose pairs are not known beforehand",
    "crowd-tvcs campaign submit": "the same",
    "crowd-tvcs campaign add": "adds to a campaign as init begins one",
    "crowd-tvcs campaign reopen": "takes back what stop has closed",
    "crowd-tvcs campaign skip": "of a task that next names, which is not known beforehand",
    "crowd-tvcs campaign undo": "takes back an answer, likewise",
    "crowd-tvcs campaign change": "changes limits, which status shows",
    "crowd-tvcs campaign settle": "of a task with answers, likewise",
    "crowd-tvcs campaign payout": "lists the pay of answers, likewise",
    "crowd-tvcs campaign copy": "writes the rows of another store",
    "crowd-tvcs serve start": "serves until it is interrupted",
    "crowd-tvcs serve invite": "signs with a secret that is drawn",
    "crowd-tvcs serve links": "makes links of random bits",
    "crowd-tvcs serve revoke": "takes such links back",
    "crowd-tvcs sync label-studio": "needs a server, and people in it",
    "crowd-tvcs sync argilla": "the same",
}


def names(app, before: str) -> set[str]:
    """Every command of an app, with what stands before it."""
    found = {
        f"{before} {one.name or one.callback.__name__.replace('_', '-')}"
        for one in app.registered_commands
    }
    return found.union(
        *(names(g.typer_instance, f"{before} {g.name}") for g in app.registered_groups)
    )


def test_every_command_and_every_method_is_run():
    lines = list(same.commands())
    every = set().union(*(names(app, program) for program, app in APPS.items()))
    run = {name for name in every if any(line.startswith(f"{name} ") for line in lines)}
    assert every - run == set(LEFT_OUT)
    for program, methods in (("crowd-tvcs assign", same.PLANS), ("grn-tvcs infer", same.NETWORKS)):
        for method in methods:
            assert any(x.startswith(program) and f"--method {method} " in x for x in lines)


def test_what_makes_a_method_quick_is_an_option_of_it():
    for method, given in same.FEWER.items():
        assert method_options(method, [given], None)


def write(folder: Path, value: float, *, expires: float) -> None:
    folder.mkdir()
    (folder / "edges.tsv").write_text(f"a\tb\t{value}\n")
    np.savez(folder / "kept.npz", support=np.array([True]), duals=np.array([value]))
    store = sqlite3.connect(folder / "c.db")
    store.execute("CREATE TABLE pair (task TEXT, expires REAL, value REAL)")
    store.execute("INSERT INTO pair VALUES ('t', ?, ?)", (expires, value))
    store.commit()
    store.close()


def test_every_difference_of_a_digit_is_named_and_moments_are_none(tmp_path):
    write(tmp_path / "a", 0.1, expires=1795307144.25)
    write(tmp_path / "b", 0.1, expires=1795307999.75)
    assert same.differences(tmp_path / "a", tmp_path / "b") == []
    write(tmp_path / "c", np.nextafter(0.1, 1.0), expires=1795307144.25)
    (tmp_path / "c" / "more.txt").write_text("")
    assert same.differences(tmp_path / "a", tmp_path / "c") == [
        "only there: more.txt",
        "differs: c.db",
        "differs: edges.tsv",
        "differs: kept.npz",
    ]

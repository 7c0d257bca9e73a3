"""Compile the kernels of the usual commands ahead of their first use, as ``tvcs compile`` does."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from tvcs_core.files.errors import RunError

CAPS = "--max-workers-per-task 5 --max-tasks-per-worker 20 --budget 480"
# What each program runs, in order, in an empty folder that holds the tables of `write_tables`.
COMMANDS = {
    "tvcs_core": [
        # A large one first: a small one would be projected by Python while no kernel is kept.
        "project loose.npy --row-cap 60 --col-cap 60 --out b.npz",
        "project small.npy --row-cap 4 --col-cap 5 --out a.npz",
        "project turned.npy --row-cap 4 --col-cap 5 --out e.npz",
        "project loose.npy --row-cap 60 --col-cap 60 --total 9000 --out c.npz",
        "project ties.npy --row-cap 30 --col-cap 60 --total 9000 --out d.npz",
        "verify b.npz",
    ],
    "grn_tvcs": [
        "simulate --genes 30 --out s",
        "infer s/timeseries.tsv --out n --max-in-degree 4 --max-edges 60",
        "infer s/timeseries.tsv --out m --method tvcs",
    ],
    "crowd_tvcs": [
        "simulate --out c",
        f"assign c/quality.csv --out p {CAPS}",
        f"assign c/quality.csv --out q {CAPS} --method best",
    ],
}


def precompile(cache: Path) -> Iterator[tuple[str, float]]:
    """Run every command in a process of its own; yield it and the seconds that it took.

    Parameters
    ----------
    cache
        The folder in which the folders of compiled kernels are.

    Raises
    ------
    RunError
        If a command fails; it ends with the error of the command.
    """
    environment = os.environ | {"TVCS_CACHE_DIR": str(cache)}  # commands run in another folder
    with tempfile.TemporaryDirectory(prefix="tvcs-compile-") as place:
        write_tables(Path(place))
        for package in filter(find_spec, COMMANDS):
            for words in COMMANDS[package]:
                start = perf_counter()
                call = [sys.executable, "-m", package, *words.split()]
                done = subprocess.run(
                    call, cwd=place, env=environment, capture_output=True, text=True
                )
                if done.returncode:
                    last = done.stderr.strip().rpartition("\n")[2]
                    raise RunError(f"`python -m {package} {words}` failed: {last}")
                yield f"{package} {words.split()[0]}", perf_counter() - start


def write_tables(place: Path) -> None:
    """Write tables that take every way of the projection: small (2), the scan, the simplex."""
    import numpy as np

    rng = np.random.default_rng(0)
    small = rng.normal(size=(20, 20))
    np.save(place / "small.npy", small)
    np.save(place / "turned.npy", np.asfortranarray(small))
    np.save(place / "loose.npy", rng.normal(size=(300, 300)))
    np.save(place / "ties.npy", rng.integers(1, 11, (300, 300)).astype(float))

"""Compile what the usual commands need, for each kind of processor: `FOLDER [PACKAGE ...]`.

Every kind is compiled in processes of its own, which numba is told the kind by their environment.
A kernel that no command here calls is compiled by the user at its first use.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tvcs_core.jit import built

ROOT = Path(__file__).resolve().parents[1]
NETWORK, CROWD = ROOT / "data" / "network30", ROOT / "data" / "crowd40"
CAPS = "--max-workers-per-task 5 --max-tasks-per-worker 20 --budget 480"
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
        f"infer {NETWORK}/timeseries.tsv --out n --max-in-degree 4 --max-edges 60",
        f"infer {NETWORK}/timeseries.tsv --out m --max-edges auto --method tvcs",
        "simulate --genes 10 --out s",
    ],
    "crowd_tvcs": [
        f"assign {CROWD}/quality.csv --out p {CAPS}",
        f"assign {CROWD}/quality.csv --out q {CAPS} --method best",
    ],
}


def main() -> None:
    """Compile all kinds into the folder that the command line names."""
    os.umask(0o022)  # for everybody to read
    out, packages = Path(sys.argv[1]), sys.argv[2:] or list(COMMANDS)
    for kind in built.KINDS:
        with tempfile.TemporaryDirectory() as cache:
            compile_for(kind, packages, cache)
            for made in Path(cache).glob("kernels-*"):
                put(made, out / kind / stamp(made.name.split("-")[1]))
    (out / built.MADE_WITH).write_text(json.dumps(built.made_here(), indent=1), "utf-8")


def put(made: Path, place: Path) -> None:
    """Copy kernels out of a cache, which is its owner's alone, for everybody to read."""
    shutil.copytree(made, place)
    for path in (place, *place.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def compile_for(kind: str, packages: list[str], cache: str) -> None:
    """Run the commands with an empty cache, as on a processor of this kind."""
    target = {"NUMBA_CPU_NAME": kind, "NUMBA_CPU_FEATURES": "", "TVCS_CACHE_DIR": cache}
    with tempfile.TemporaryDirectory() as place:
        write_tables(Path(place))
        for package in packages:
            for words in COMMANDS[package]:
                print(f"{kind}: {package} {words}", flush=True)
                call = [sys.executable, "-m", package, *words.split()]
                subprocess.run(call, check=True, cwd=place, env=os.environ | target)


def write_tables(place: Path) -> None:
    """Tables that take the paths of the projection: small (2), the scan, the simplex, ties."""
    rng = np.random.default_rng(0)
    small = rng.normal(size=(20, 20))
    np.save(place / "small.npy", small)
    np.save(place / "turned.npy", np.asfortranarray(small))
    np.save(place / "loose.npy", rng.normal(size=(300, 300)))
    np.save(place / "ties.npy", rng.integers(1, 11, (300, 300)).astype(float))


def stamp(package: str) -> str:
    """Import a package, whose sources count, and return what its folder is named after."""
    __import__(package)
    return built.stamp(package)


if __name__ == "__main__":
    main()

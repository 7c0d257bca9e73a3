"""Install what users get into empty environments and use it there: `[NAME ...]`, `--list`.

Builds the source distribution, and the wheel from it as an index would; an environment holds one
of them, its dependencies and nothing else, and sees nothing of this folder but `data`. Needs uv
(extra `release`), which has every version of Python or gets it where it may.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.15")  # those that numba has wheels for
OLDEST = PYTHONS[0]
ALL = ("anndata", "excel", "plot", "campaign", "postgresql", "crowdkit", "cluster", "serve")
WITHOUT_EXTRAS = ("projection", "network", "crowd")
IMPORTS = ("libraries", "modules")
JOBS = (*IMPORTS, *WITHOUT_EXTRAS, *ALL)
LIMIT = 3600  # seconds for one step: kernels are compiled on the way
SHOWN = ("numpy", "scipy", "pandas", "scikit-learn", "networkx", "numba", "typer", "rich")
UV = (
    shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.defpath])) or "uv"
)
NOT_TO_BE_HAD = 3  # of a Python: the environment was not made


@dataclass(frozen=True)
class Environment:
    """An empty environment, what is installed in it and what is done there."""

    python: str = OLDEST
    extras: tuple[str, ...] = ()
    lowest: bool = False  # the lowest version of every dependency that pyproject.toml allows
    source: bool = False  # from the source distribution instead of the wheel

    def jobs(self, only: Container[str] = JOBS) -> list[str]:
        """What is run: that of its extras, else what needs none; of one extra its libraries."""
        imports = IMPORTS[: 1 if len(self.extras) == 1 else 2]
        return [job for job in (*imports, *(self.extras or WITHOUT_EXTRAS)) if job in only]


ENVIRONMENTS = {
    "newest": Environment(),
    "lowest": Environment(lowest=True),
    "sdist": Environment(source=True),
    **{f"python{version}": Environment(version) for version in PYTHONS[1:]},
    **{extra: Environment(extras=(extra,)) for extra in ALL},
    "lowest-extras": Environment(extras=ALL, lowest=True),
}


def main() -> int:
    """Make what the command line names, all without; 1 if anything failed in one of them."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="environments; all without")
    parser.add_argument("--list", action="store_true", help="show the names and end")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=JOBS, metavar="JOB")
    parser.add_argument("--dist", type=Path, help="a folder of what was built, not to build anew")
    given = parser.parse_args()
    if given.list:
        for name, what in ENVIRONMENTS.items():
            print(f"{name:14} Python {what.python}: {', '.join(what.jobs())}")
        return 0
    unknown = set(given.names) - set(ENVIRONMENTS)
    if unknown:
        parser.error(f"no environment is called {', '.join(sorted(unknown))}; see --list")
    names = [name for name in given.names or ENVIRONMENTS if ENVIRONMENTS[name].jobs(given.jobs)]
    if not names:
        parser.error("none of these environments does any of these jobs; see --list")
    with tempfile.TemporaryDirectory(prefix="tvcs-packages-") as folder:
        place = Path(folder)
        dist = given.dist or build(place / "dist")
        results = {name: tried(name, ENVIRONMENTS[name], given.jobs, dist, place) for name in names}
    missing = [name for name, result in results.items() if result == NOT_TO_BE_HAD]
    failed = [name for name, result in results.items() if result == 1]
    count = len(results) - len(missing) - len(failed)
    print(f"{count} of {len(results)} environments work")
    for word, names in (("failed", failed), ("no such Python here", missing)):
        if names:
            print(f"{word}: {', '.join(names)}")
    return 1 if failed else 0


def build(dist: Path) -> Path:
    """Build the source distribution, and of its contents the wheel."""
    hatch = [sys.executable, "-m", "hatchling", "build", "--directory", dist, "--target"]
    run([*hatch, "sdist"], ROOT)
    [sdist] = dist.glob("*.tar.gz")
    unpacked = dist / "unpacked"
    run([sys.executable, "-m", "tarfile", "--extract", sdist, unpacked], ROOT)
    [folder] = unpacked.iterdir()
    run([*hatch, "wheel"], folder)
    return dist


def tried(name: str, what: Environment, only: Container[str], dist: Path, place: Path) -> int:
    """Make one environment and do those of its jobs; 0, 1 or `NOT_TO_BE_HAD`."""
    start, jobs = time.perf_counter(), what.jobs(only)
    try:
        python = make(what, dist, place / name)
        if python is None:
            print(f"{name}: Python {what.python} is not to be had here", flush=True)
            return NOT_TO_BE_HAD
        versions = versions_in(python)
        for job in jobs:
            run([python, "-I", HERE / "jobs.py", job, ROOT / "data"], place, kernels=place / "jit")
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(f"{name}: failed: {error}\n{error.output}", flush=True)
        return 1
    seconds = time.perf_counter() - start
    print(f"{name}: {', '.join(jobs)} in {seconds:.0f} s with {versions}", flush=True)
    return 0


def make(what: Environment, dist: Path, folder: Path) -> Path | None:
    """Make an empty environment and install there; its Python, None where that is not to be had."""
    found = python_for(what.python)
    if found is None:
        return None
    uv("venv", "--quiet", "--python", found, folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    [file] = dist.glob("*.tar.gz" if what.source else "*.whl")
    wanted = f"tvcs[{','.join(what.extras)}] @ {file.as_uri()}" if what.extras else str(file)
    lowest = folder / "lowest.txt"
    lowest.write_text("\n".join(floors()) if what.lowest else "", "utf-8")
    uv("pip", "install", "--quiet", "--python", python, "--constraints", lowest, wanted)
    return python


def floors() -> list[str]:
    """Return the lowest version of every dependency, as pip takes constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(line for extra in ALL for line in groups[extra])]
    return sorted({re.sub(r"\[\w+\]", "", line).replace(">=", "==") for line in wanted})


def python_for(version: str) -> str | None:
    """Return a Python of this version: of this machine, of pyenv, or got by uv; None if none."""
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    found = subprocess.run([UV, "python", "find", version], capture_output=True, text=True)
    if found.returncode == 0:
        return found.stdout.strip()
    if kept:
        return str(kept[-1])
    got = subprocess.run([UV, "python", "install", version], capture_output=True)
    return version if got.returncode == 0 else None


def versions_in(python: Path) -> str:
    """Name the versions that were installed of what tvcs needs without extras."""
    lines = subprocess.run(
        [UV, "pip", "freeze", "--quiet", "--python", python],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    return ", ".join(line for line in lines if line.split("==")[0] in SHOWN)


def uv(*words: object) -> None:
    """Run uv; what it says is shown if it fails."""
    run([UV, *words], ROOT)


def run(line: list[object], cwd: Path, kernels: Path | None = None) -> None:
    """Run a step that knows nothing of this folder or of the user's kernels."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    if kernels:
        environment["TVCS_CACHE_DIR"] = str(kernels)
    subprocess.run(
        [str(word) for word in line], cwd=cwd, env=environment, timeout=LIMIT, check=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

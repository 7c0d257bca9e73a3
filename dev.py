#!/usr/bin/env python3
"""Set up and run everything with nothing but Python: `python3 dev.py demo | test | check | ...`.

Makes `.venv` beside this file, installs the project there (with uv where it is present, else
with pip) and runs the command in it. Standard library only.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - this file must say so itself on an old Python
    sys.exit(f"tvcs needs Python 3.11 or newer, found {sys.version.split()[0]}")

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PACKAGES = ["tvcs_core", "grn_tvcs", "crowd_tvcs"]
STAMP = VENV / ".tvcs-installed.json"
MOST_PROCESSES = 4  # of tests: each needs up to 1 GB


def main() -> int:
    """Run the command that was asked for; its exit code is ours."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, function in COMMANDS.items():
        commands.add_parser(name, help=function.__doc__.splitlines()[0], add_help=False)
    arguments, rest = parser.parse_known_args()
    try:
        return COMMANDS[arguments.command](rest)
    except KeyboardInterrupt:
        return 130


def demo(_: list[str]) -> int:
    """Infer the bundled network and assign the bundled crowd."""
    is_new = install()
    network, crowd = "data/network30", "data/crowd40"
    edges, plan = "out/demo-network", "out/demo-crowd"
    infer = (
        f"grn-tvcs infer {network}/timeseries.tsv --out {edges} "
        "--max-in-degree 4 --max-edges 60 --seed 0 --force"
    )
    assign = (
        f"crowd-tvcs assign {crowd}/quality.csv --out {plan} --max-workers-per-task 5 "
        "--max-tasks-per-worker 20 --budget 480 --seed 0 --force"
    )
    if is_new:
        compile_kernels(infer, assign)
    start = time.perf_counter()
    steps = [infer, f"grn-tvcs score {edges}/edges.tsv {network}/goldstandard.tsv", assign]
    for step in steps:
        print(f"\n$ {step}", flush=True)
        code = run(step.split())
        if code:
            return code
    print(
        f"""
Both jobs took {time.perf_counter() - start:.1f} s. The results, from the folder of this file:

  out/demo-network/report.html   the network: who regulates whom, within the caps
  out/demo-network/edges.tsv     every candidate edge, surest first; selected = 1 within the caps
  out/demo-crowd/report.html     the plan: expected accuracy, load of each worker, weakest tasks
  out/demo-crowd/assignment.csv  which worker labels which task

Each folder also holds run.json, which says how to repeat the run. Open the reports in a browser;
they need no network. Next: README.md."""
    )
    return 0


def test(rest: list[str]) -> int:
    """Run the tests in a process a core and one more; what follows goes to pytest (-n0: in one).

    A third of the time of a process goes by waiting for browsers, servers and databases.
    """
    install("test")
    return run(["python", "-m", "pytest", "-n", str(min(cores() + 1, MOST_PROCESSES)), *rest])


def prove(rest: list[str]) -> int:
    """Run the long proofs: many thousand instances, kills, damage."""
    install("test", "bench", "docs")
    return run(["python", "-m", "pytest", "-m", "slow", "-o", "faulthandler_timeout=0", *rest])


def check(_: list[str]) -> int:
    """Check lint, format and types."""
    install("test", "check", "bench")
    checks = [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]]
    codes = [run(["python", "-m", *words]) for words in checks]
    return next((code for code in codes if code), 0)  # below 0 where a check was killed


def bench(rest: list[str]) -> int:
    """Run the speed benchmarks; --quick: the small sizes of each."""
    install("test", "bench")
    return run(["python", "-m", "benchmarks.speed", *rest])


def docs(_: list[str]) -> int:
    """Build the site into out/site/html, warnings are errors, and look for dead links in it."""
    install("docs")
    html = "out/site/html"
    shutil.rmtree(ROOT / html, ignore_errors=True)  # pages of the code are not always written anew
    words = ["-W", "--keep-going", "-n", "-q", "-c", "docs", "-d", "out/site/trees", ".", html]
    code = run(["python", "-m", "sphinx", *words])
    return code or run(["python", "docs/extensions/links.py", html])


def packages(rest: list[str]) -> int:
    """Build what users install and use it in empty environments; NAME ..., --list."""
    install("release")
    return run(["python", "packaging/environments.py", *rest])


def release(rest: list[str]) -> int:
    """Check that this commit may be released, build it, use it, and say what to upload."""
    install("release")
    return run(["python", "packaging/release.py", *rest])


def same(rest: list[str]) -> int:
    """Compare all results with those of another checkout, byte by byte."""
    install("test")
    return run(["python", "-m", "benchmarks.same", *rest])


COMMANDS = {
    "demo": demo,
    "test": test,
    "check": check,
    "bench": bench,
    "prove": prove,
    "same": same,
    "docs": docs,
    "packages": packages,
    "release": release,
}


def compile_kernels(*commands: str) -> None:
    """Run commands side by side and forget what they do: each compiles what it needs, once."""
    print("compiling the kernels (once on this machine, up to a minute)", flush=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen(**process(command.split()), **quiet) for command in commands]
    for job in started:
        job.wait()


def run(words: list[str]) -> int:
    """Run a program of the environment in the project's folder; its exit code."""
    return subprocess.run(**process(words)).returncode


def cores() -> int:
    """How many cores this process may use."""
    mine = getattr(os, "sched_getaffinity", None)
    return len(mine(0)) if mine else os.cpu_count() or 1


def process(words: list[str]) -> dict:
    """How to start a program of the environment in the project's folder."""
    environment = dict(os.environ, PATH=f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}")
    environment["VIRTUAL_ENV"] = str(VENV)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # imports are several times slower without
    program = shutil.which(words[0], path=str(BIN)) or words[0]
    return {"args": [program, *words[1:]], "cwd": ROOT, "env": environment}


def install(*extras: str) -> bool:
    """Make `.venv` and install the project with `extras`; False if that has been done already."""
    pyproject = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    wanted = {"pyproject": pyproject, "python": sys.version, "root": str(ROOT)}
    done = json.loads(STAMP.read_text()) if STAMP.exists() else {}
    have = set(done.pop("extras", []))
    if done == wanted and set(extras) <= have:
        return False
    if done != wanted:
        have = set()
    uv = shutil.which("uv")
    print(f"setting up {VENV} with {'uv' if uv else 'pip'} (once; needs a network)", flush=True)
    python = BIN / ("python.exe" if os.name == "nt" else "python")
    if not python.exists():
        shutil.rmtree(VENV, ignore_errors=True)
        words = ["venv", "--quiet", "--seed", "--python", sys.executable, str(VENV)]
        make = [uv, *words] if uv else None
        must(make or [sys.executable, "-m", "venv", str(VENV)])
    names = ",".join(sorted(have | set(extras)))
    project = f"{ROOT}[{names}]" if names else str(ROOT)
    if uv:
        pip = [uv, "pip", "install", "--quiet", "--python", str(python), "--compile-bytecode"]
    else:
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    must([*pip, "--editable", project])
    packages = [str(ROOT / p) for p in PACKAGES]
    must([str(python), "-m", "compileall", "-q", *packages])
    STAMP.write_text(json.dumps(wanted | {"extras": sorted(have | set(extras))}))
    return True


def must(words: list[str]) -> None:
    """Run a step of the set-up; what it says is shown if it fails, with a sentence."""
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    code = done.returncode
    if code:
        sys.stdout.write(done.stdout.decode(errors="replace"))
        hint = ""
        if words[1:3] == ["-m", "venv"]:
            hint = " (on Debian and Ubuntu: apt-get install python3-venv)"
        sys.exit(f"setting up failed with exit code {code} at: {' '.join(words)}{hint}")


if __name__ == "__main__":
    sys.exit(main())

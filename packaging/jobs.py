"""What must work where tvcs was installed: `JOB DATA`, run by the Python it was installed for.

Every job works in an empty folder of its own, by the commands that were installed; DATA is the
folder `data` of the project. A job is named after the extra that it needs; the first
five need none.
"""

import importlib
import json
import os
import pkgutil
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
PROGRAMS = Path(sysconfig.get_path("scripts"))
DATA = Path(sys.argv[2]).resolve()
NETWORK, CROWD = DATA / "network30", DATA / "crowd40"
CAPS = "--max-workers-per-task 5 --max-tasks-per-worker 20 --budget 480"
PATIENCE = 120  # seconds for a server to come up on a machine with other work


def libraries() -> None:
    """Import what the extras that are here ask for."""
    for module, name in sorted(installed()):
        if name in asked_for(by_extras=True):
            importlib.import_module(module)


def modules() -> None:
    """Import every module; one that needs an extra may be without it, not without another."""
    absent = set()
    for name in ("tvcs_core", "grn_tvcs", "crowd_tvcs"):
        room = importlib.import_module(name)
        for module in pkgutil.walk_packages(room.__path__, f"{name}."):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                absent.add(error.name)
    of_extras = asked_for(by_extras=True)
    lacking = asked_for() - {library for _, library in installed()}
    wrong = lacking - of_extras or (set() if lacking else absent)
    if wrong:
        sys.exit(f"not here: {', '.join(sorted(wrong))}")


def asked_for(by_extras: bool = False) -> set[str]:
    """Return what tvcs asks for, by extras that have a job, or by these and without."""
    lines = [re.fullmatch(r"([\w-]+)(.*?)(; extra == '(\w+)')?", x) for x in requires("tvcs")]
    wanted = set(JOBS) if by_extras else {None, *JOBS}
    return {plain(line[1]) for line in lines if line[4] in wanted}


def installed() -> set[tuple[str, str]]:
    """Return the modules that are here of what tvcs asks for, and whose they are."""
    found = packages_distributions().items()
    pairs = {(module, plain(name)) for module, names in found for name in names}
    return {(m, name) for m, name in pairs if name in asked_for() and m.isidentifier()}


def plain(name: str) -> str:
    """Return the name of a library as an index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def projection() -> None:
    """Say the version, look at the installation, project a table and prove it."""
    import numpy as np

    from tvcs_core.files.record import tvcs_version

    for program in ("tvcs", "grn-tvcs", "crowd-tvcs"):
        assert call(program, "--version").stdout.split() == [program, tvcs_version()]
        assert f"Usage: {program} " in call(program, "--help").stdout
    assert "a table of 20 x 20" in call("tvcs", "doctor").stdout
    np.save("small.npy", np.random.default_rng(0).normal(size=(20, 20)))
    call("tvcs", "project small.npy --row-cap 4 --col-cap 5 --out p.npz")
    call("tvcs", "verify p.npz")


def network() -> None:
    """Infer a network and score it."""
    infer = f"infer {NETWORK}/timeseries.tsv --out n --max-in-degree 4 --max-edges 60"
    call("grn-tvcs", infer)
    assert json.loads(Path("n/run.json").read_text("utf-8"))["command"] == "grn-tvcs infer"
    call("grn-tvcs", f"score n/edges.tsv {NETWORK}/goldstandard.tsv")


def crowd() -> None:
    """Plan who labels what, and vote."""
    call("crowd-tvcs", f"assign {CROWD}/quality.csv --out c {CAPS}")
    call("crowd-tvcs", f"vote {CROWD}/answers.csv --gold {CROWD}/gold.csv --out labels.csv")


def anndata() -> None:
    """Read samples from an `.h5ad` file."""
    import h5py
    import numpy as np

    with h5py.File("x.h5ad", "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        file["X"] = np.random.default_rng(0).normal(size=(8, 3))
        file["X"].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
        for name, labels in (("obs", [f"s{k}" for k in range(8)]), ("var", ["a", "b", "c"])):
            group = file.create_group(name)
            columns = ["time"] if name == "obs" else []
            group.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0"})
            group.attrs.update({"_index": "_index", "column-order": columns})
            group.create_dataset("_index", data=labels, dtype=h5py.string_dtype())
            group["_index"].attrs.update(
                {"encoding-type": "string-array", "encoding-version": "0.2.0"}
            )
        file["obs/time"] = np.arange(8.0)
        file["obs/time"].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
    call("grn-tvcs", "check x.h5ad")


def excel() -> None:
    """Read samples from an `.xlsx` file."""
    from openpyxl import Workbook

    book = Workbook()
    for row in [["Time", "a", "b", "c"], *[[k, k % 3, k * k, 7 - k] for k in range(8)]]:
        book.active.append(row)
    book.save("x.xlsx")
    call("grn-tvcs", "check x.xlsx")


def plot() -> None:
    """Draw the network of a data set that comes with the package."""
    import matplotlib

    matplotlib.use("agg")
    from grn_tvcs import datasets

    ax = datasets.network30().reference.plot(max_edges=20)
    ax.figure.savefig("network.png")
    assert Path("network.png").stat().st_size > 1000


def campaign() -> None:
    """Begin a campaign in SQLite, plan a round and look at it."""
    start_campaign()
    call("crowd-tvcs", "campaign plan c.db --labels 40 --out round.csv")
    call("crowd-tvcs", "campaign status c.db")


def postgresql() -> None:
    """Reach for a database that is not there: the driver says so, and nothing else is missing."""
    import psycopg

    assert psycopg.pq.version() > 0  # libpq is there
    status = "campaign status postgresql+psycopg://nobody@127.0.0.1:1/none"
    said = call("crowd-tvcs", status, code=1).stderr
    assert "onnection refused" in said, said
    assert len(said.splitlines()) == 1, said


def crowdkit() -> None:
    """Vote by an aggregator of crowd-kit."""
    call("crowd-tvcs", f"vote {CROWD}/answers.csv --method DawidSkene --out labels.csv")


def cluster() -> None:
    """Infer on a Dask scheduler and a worker, and get the network of one process."""
    infer = f"infer {NETWORK}/timeseries.tsv --max-edges 20 --method tvcs --option resamples=4"
    call("grn-tvcs", f"{infer} --out here")
    place = "--scheduler-file s.json --no-dashboard"
    where = "--host 127.0.0.1 --port 0"
    with (
        server("-m", "dask", "scheduler", *place.split(), *where.split()),
        server("-m", "dask", "worker", *place.split(), "--nthreads", "1"),
    ):
        wait_for(Path("s.json").exists)
        call("grn-tvcs", f"{infer} --out there --cluster s.json")
    assert Path("here/edges.tsv").read_bytes() == Path("there/edges.tsv").read_bytes()


def serve() -> None:
    """Open the page of a worker at the desk."""
    # The link gives a cookie and leads on to the page.
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())

    def page() -> bytes | None:
        link = re.search(r"http://\S+/w/\S+", log.read_text("utf-8"))
        try:
            return browser.open(link[0]).read() if link else None
        except urllib.error.HTTPError:
            raise
        except urllib.error.URLError:  # the link is printed before the desk listens
            return None

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]  # free again in a moment
    with server("-m", "crowd_tvcs", "serve", "--demo", "--port", str(port)) as log:
        assert b"<form" in wait_for(page)


JOBS = {
    "libraries": libraries,
    "modules": modules,
    "projection": projection,
    "network": network,
    "crowd": crowd,
    "anndata": anndata,
    "excel": excel,
    "plot": plot,
    "campaign": campaign,
    "postgresql": postgresql,
    "crowdkit": crowdkit,
    "cluster": cluster,
    "serve": serve,
}


def start_campaign() -> None:
    """Make a campaign of the crowd that comes along."""
    Path("tasks.csv").write_text("task\n" + "".join(f"t{k:03d}\n" for k in range(1, 31)), "utf-8")
    known = f"--gold {CROWD}/gold.csv --answers {CROWD}/answers.csv --tasks tasks.csv"
    call("crowd-tvcs", f"campaign init c.db {known} --budget 100 --max-workers-per-task 5")


def call(program: str, words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command that was installed; another exit code, or a traceback, ends the job."""
    line = [str(PROGRAMS / program), *words.split()]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode != code or "Traceback" in done.stderr:
        sys.exit(f"{program} {words}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


@contextmanager
def server(*words: str) -> Iterator[Path]:
    """Run a server of this Python meanwhile; gives the file of what it says."""
    with tempfile.NamedTemporaryFile("w", dir=".", suffix=".log", delete=False) as log:
        started = subprocess.Popen([sys.executable, "-u", *words], stdout=log, stderr=log)
    try:
        yield Path(log.name)
    finally:
        started.send_signal(signal.SIGINT)
        try:
            started.wait(30)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def wait_for(condition: Callable[[], T | None]) -> T:
    """Wait until something holds, and return it."""
    for _ in range(10 * PATIENCE):
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    logs = "".join(path.read_text("utf-8") for path in Path().glob("*.log"))
    sys.exit(f"nothing came up in {PATIENCE} s\n{logs}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        os.chdir(place)
        JOBS[sys.argv[1]]()
        os.chdir(DATA)

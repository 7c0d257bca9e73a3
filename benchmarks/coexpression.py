"""Learn how closely genes of simulated tables go together, from our own simulator alone.

    python -m benchmarks.coexpression [--tables 3000] [--processes 2] [--check]

Draws tables of networks of all kinds with designs of all kinds, those that the model of evidence
learns from less knock-outs, which are not asked, and learns what `grn_tvcs.combine.coexpression`
holds a user's table against. The same arguments give the same bytes on the same machine and
versions, however many processes there are. Nothing here reads data that anyone measured. `--check`
writes nothing and says in what FILE differs from what would be made.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.universal import differences
from benchmarks.universal_known import Job, in_processes, made_with
from grn_tvcs.combine.coexpression import (
    PATH,
    learn_coexpression,
    measures,
    write_coexpression,
)
from grn_tvcs.simulation.designs import universal_designs
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.simulation.kinds import KINDS, NULLS
from tvcs_core.engines.blas import one_blas_thread
from tvcs_core.streams import stream

TABLES = 3000


def main(words: Sequence[str] | None = None) -> None:
    """Make the file, or hold one against what would be made."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=PATH, metavar="FILE")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(words)
    if not given.check:
        make(given.out, given.tables, given.seed, given.processes)
        return
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.npz"
        make(made, given.tables, given.seed, given.processes)
        found = differences(given.out, made)
    print(f"{given.out}: {', '.join(found) or 'the same bytes'}")
    sys.exit(1 if found else 0)


def make(path: Path, tables: int, seed: int, processes: int) -> None:
    """Write what so many tables teach to `path`."""
    jobs = jobs_of(tables, seed)
    found = np.array(list(in_processes(partial(measured, seed), jobs, processes)))
    with one_blas_thread():
        learned = learn_coexpression(found, [design for _, design, _ in jobs])
    record = made_with(tables=tables, seed=seed) | {"command": "python -m benchmarks.coexpression"}
    write_coexpression(path, learned, json.dumps(record, sort_keys=True))


def jobs_of(tables: int, seed: int) -> list[Job]:
    """Number, design and kind of every table; each is of some network."""
    designs = universal_designs(tables, stream(seed, "coexpression"))
    kinds = tuple(KINDS)
    return [
        (number, replace(design, knocked_out=0.0, knocked_down=0.0),
         kinds[number % len(kinds)] if kind in NULLS else kind)
        for number, (design, kind) in enumerate(designs)
    ]  # fmt: skip


def measured(seed: int, job: Job) -> np.ndarray:
    """Draw one table and measure how closely its genes go together."""
    number, design, kind = job
    return measures(
        draw_example(design, kind, stream(seed, "coexpression", str(number))).expression
    )


if __name__ == "__main__":
    main()

"""Learn how closely genes of simulated tables go together, from our own simulator alone.

    python -m benchmarks.coexpression [--tables 3000] [--many 2400] [--check]

Draws tables of networks of all kinds with designs of all kinds, those that the model of evidence
learns from less knock-outs, which are not asked, and after them tables of many genes in series for
the limits of these. They are what `grn_tvcs.combine.coexpression` holds a user's table against:
five minutes of processor. The same arguments give the same bytes on the same machine and versions.
Nothing here reads data that anyone measured. `--check` writes nothing and says whether FILE is what
would be made.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.learning.coexpression import LARGE_NETWORK_GENES, learn_coexpression
from benchmarks.learning.designs import universal_designs
from benchmarks.learning.files import write_coexpression
from grn_tvcs.combine.coexpression import (
    PATH,
    coexpression_measures,
)
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example
from grn_tvcs.simulation.kinds import KINDS, NULLS
from tvcs_core.engines.blas import one_blas_thread
from tvcs_core.files.record import run_record
from tvcs_core.streams import stream

TABLES, TABLES_OF_MANY = 3000, 2400
DRAWN_FOR_ONE = 3  # designs, of which more than a third have many genes and series

Job = tuple[int, Design, str]


def main(words: Sequence[str] | None = None) -> None:
    """Make the file, or hold one against what would be made."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--many", type=int, default=TABLES_OF_MANY)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=PATH, metavar="FILE")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(words)
    if not given.check:
        make(given.out, given.tables, given.many, given.seed)
        return
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.npz"
        make(made, given.tables, given.many, given.seed)
        is_same = made.read_bytes() == given.out.read_bytes()
    print(f"{given.out}: {'the same bytes' if is_same else 'other bytes'}")
    sys.exit(0 if is_same else 1)


def make(path: Path, tables: int, many: int, seed: int) -> None:
    """Write what so many tables, and so many more of many genes, teach to `path`."""
    jobs = jobs_of(tables, many, seed)
    with one_blas_thread():
        found = np.array([measured(seed, job) for job in jobs])
        learned = learn_coexpression(found, [design for _, design, _ in jobs], tables)
    parameters = {"tables": tables, "many": many}
    record = run_record("python -m benchmarks.coexpression", parameters, seed=seed)
    made = {key: record[key] for key in ("command", "parameters", "seed", "versions")}
    write_coexpression(path, learned, json.dumps(made, sort_keys=True))


def jobs_of(tables: int, many: int, seed: int) -> list[Job]:
    """Number, design and kind of every table; each is of some network."""
    designs = universal_designs(tables, stream(seed, "coexpression"))
    drawn = universal_designs(DRAWN_FOR_ONE * many, stream(seed, "coexpression", "many"))
    designs += [one for one in drawn if one[0].n_series and one[0].n_genes > LARGE_NETWORK_GENES][
        :many
    ]
    kinds = tuple(KINDS)
    return [
        (number, replace(design, knocked_out=0.0, knocked_down=0.0),
         kinds[number % len(kinds)] if kind in NULLS else kind)
        for number, (design, kind) in enumerate(designs)
    ]  # fmt: skip


def measured(seed: int, job: Job) -> np.ndarray:
    """Draw one table and measure how closely its genes go together."""
    number, design, kind = job
    return coexpression_measures(
        draw_example(design, kind, stream(seed, "coexpression", str(number))).expression
    )


if __name__ == "__main__":
    main()

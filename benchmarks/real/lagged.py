"""What is each rule of the lagged regression worth, on tables nothing was chosen on? -> a table.

    python -m benchmarks.real.lagged [FOLDER] [--tables N] [--seed N]

One rule of ``tvcs`` at a time is left out, on the tables of `parts` that have series and edges, the
real sets of FOLDER among them (those of at most 1,000 genes). Figures are changes of
log2(AUPR / chance), means over the tables of a family; the dearest rule comes first.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from benchmarks.study import one_thread

one_thread()

import numpy as np  # noqa: E402

from benchmarks.pages import table  # noqa: E402
from benchmarks.peers.areas import average_precision  # noqa: E402
from benchmarks.real.parts import all_tables, lines_of_change, options  # noqa: E402
from benchmarks.real.sets import Table  # noqa: E402
from grn_tvcs import infer  # noqa: E402
from grn_tvcs.stability import draws, stability  # noqa: E402

MOST_GENES = 1000


def _any_halves(n_blocks: int, n: int, rng: np.random.Generator) -> np.ndarray:
    sides = np.zeros((n, n_blocks), dtype=bool)
    sides[:, : n_blocks // 2] = True
    return rng.permuted(sides, axis=1)


def _independent(rows: int, n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random((rows, n))


# Options of ``tvcs``, and what is replaced in its modules.
VARIANTS: dict[str, tuple[dict[str, Any], tuple[tuple[Any, str, Any], ...]]] = {
    "all rules": ({}, ()),
    "OMP alone": ({"parts": "omp"}, ()),
    "GradMP alone": ({"parts": "tvcs"}, ()),
    "no hub prior": ({"hub_power": 0.0}, ()),
    "edges that would be added not counted": ({"added_share": 0.0}, ()),
    "one memory, .5": ({"memory": (0.5, 0.5)}, ()),
    "columns of equal weight": ({"column_weights": (1.0, 1.0)}, ()),
    "one cap on in-degrees, 2": ({"in_degrees": (2, 2)}, ()),
    "one cap on edges, 2 per gene": ({"edges_per_gene": (2.0, 2.0)}, ()),
    "2 iterations of GradMP": ({"iterations": 2}, ()),
    "halves not spread": ({}, ((draws, "even_halves", _any_halves),)),
    "draws not spread": ({}, ((draws, "spread", _independent),)),
    "series never cut into blocks": ({}, ((stability, "MIN_SEGMENTS", 1),)),
}


@contextmanager
def replaced(parts: tuple[tuple[Any, str, Any], ...]) -> Iterator[None]:
    """Replace attributes of modules."""
    patches = [mock.patch.object(*part) for part in parts]
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in patches:
            patch.stop()


def gain(made: Table, variant: str) -> float:
    """Return the mean log2 of AUPR relative to chance over the gold standards of a table."""
    chosen, parts = VARIANTS[variant]
    with replaced(parts):
        network = infer(
            made.expression.of_series(), "tvcs", regulators=made.rules.regulators, rng=0, **chosen
        )
    found = []
    for gold in made.golds:
        truth = gold.is_edge[gold.judged]
        found.append(average_precision(truth, network.scores[gold.judged]) / truth.mean())
    return float(np.log2(found).mean())


def main() -> int:
    """Run the study."""
    given = options(__doc__).parse_args()
    warnings.simplefilter("ignore")
    found: dict[str, dict[str, list[float]]] = {variant: {} for variant in VARIANTS}
    for _, draw in all_tables(given):
        made = draw()
        is_empty = not any(gold.is_edge[gold.judged].any() for gold in made.golds)
        if is_empty or not made.expression.series or len(made.expression.genes) > MOST_GENES:
            continue
        for variant in VARIANTS:
            found[variant].setdefault(made.family, []).append(gain(made, variant))
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    means = {
        variant: {family: float(np.mean(values)) for family, values in families.items()}
        for variant, families in found.items()
    }
    heads = "left out", "most lost", "most gained", "families that lose", "that gain", "mean"
    print(table(heads, lines_of_change(means), words=3))
    return 0


if __name__ == "__main__":
    sys.exit(main())

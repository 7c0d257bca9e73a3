"""The measurements of speed: peers solve the same problem, and the sections run."""

from importlib.util import find_spec

import numpy as np
import pytest

from benchmarks.speed import projection, solvers
from benchmarks.speed.matrices import FAMILIES, draw_caps, scaled
from benchmarks.speed.peers import flow_of_matrix
from tvcs_core import TVCS, project

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(find_spec("ortools") is None, reason="the extra bench is not installed"),
]


@pytest.mark.parametrize("kind", ["uniform", "varied"])
@pytest.mark.parametrize("total", [0.8, None])
def test_the_peers_keep_what_we_keep(kind, total, rng):
    V = scaled(FAMILIES["noisy products"](rng, 12, 15))
    rows, cols, total = draw_caps(rng, 12, 15, 4.0, 3.0, kind, total)
    ours = project(V, TVCS.matrix(V.shape, row_caps=rows, col_caps=cols, total=total))
    *_, kept = flow_of_matrix(V**2, rows, cols, total)
    assert kept == pytest.approx(ours.objective)
    for peer in (solvers.by_highs, solvers.by_ortools):
        assert np.array_equal(peer(V, ours.constraint), ours.matrix)


def test_a_peer_that_keeps_more_or_less_ends_the_run():
    projection.check(1.0, 1.0 + 1e-12)
    for theirs in (0.99, 1.01):
        with pytest.raises(AssertionError, match=r"kept 1\.0, OR-Tools"):
            projection.check(1.0, theirs)


def test_every_section_of_the_projection_runs():
    """They call kernels and solvers below the public names, whose arguments may change."""
    out = []
    projection.tiny(out, calls=10)
    projection.grid(out, [(6, 8)], (0.2,))
    projection.closed_forms(out, [(6, 9)])
    projection.lists(out, 100, 80, 200)
    projection.list_shapes(out, 6_000)
    projection.growth(out, (8, 12))
    assert sum(line.startswith("\n## ") for line in out) == 6
    tables = [line.splitlines() for line in out if line.startswith("| ")]
    assert [len(rows) - 2 for rows in tables] == [4, 4, 5, 4, 9, 6]

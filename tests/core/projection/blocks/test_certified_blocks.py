"""What `certify_blocks` says of a projection that is made by hand, number by number."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tvcs_core import TVCS, DataError, certify_blocks, project_blocks

V = np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, 2.0]])
BLOCKS = [V[:1], V[1:]]
CAPS = TVCS.matrix((3, 3), row_caps=1, col_caps=[1, 1, 2], total=3)


@pytest.fixture(scope="module")
def found():
    """The diagonal: 9 + 4 + 4."""
    return project_blocks(BLOCKS, CAPS)


def priced(found, u, w, price):
    duals = {"row_duals": np.array(u, float), "col_duals": np.array(w, float)}
    return replace(found, total_dual=price, **duals)


@pytest.mark.parametrize(
    ("u", "w", "price", "bound"),
    [
        ([9, 4, 4], [0, 0, 0], 0.0, 17),
        ([0, 0, 0], [0, 0, 0], 0.0, 9 + 1 + 4 + 1 + 4),
        ([1, 0, 0.5], [0, 2, 1], 1.5, 1 + 0.5 + 2 + 2 * 1 + 1.5 * 3 + 6.5 + 0.5 + 1),
    ],
)
def test_the_bound_is_that_of_the_prices(found, u, w, price, bound):
    certificate = certify_blocks(priced(found, u, w, price), BLOCKS)
    assert not certificate.violations
    assert (certificate.objective, certificate.bound) == (17, pytest.approx(bound, rel=1e-15))
    assert certificate.optimal == (bound == 17)
    assert not certificate.exact


@pytest.mark.parametrize(
    ("u", "price"),
    [([-0.5, 1, 1], 0.0), ([1, 1, 1], -0.5), ([np.inf, 1, 1], 0.0), ([1, np.nan, 1], 0.0)],
)
def test_a_price_is_finite_and_not_below_0(found, u, price):
    certificate = certify_blocks(priced(found, u, [0, 0, 0], price), BLOCKS)
    assert certificate.violations == ("a price is negative or no finite number",)
    assert (certificate.objective, certificate.bound, certificate.exact) == (0.0, math.inf, False)


@pytest.mark.parametrize(
    ("rows", "cols"),
    [
        ([-1, 1, 2], [0, 1, 2]),
        ([0, 1, 3], [0, 1, 2]),
        ([0, 1, 2], [-1, 1, 2]),
        ([0, 1, 2], [0, 1, 3]),
        ([1, 0, 2], [1, 0, 2]),
    ],
)
def test_the_support_lists_places_of_the_shape_in_order(found, rows, cols):
    wrong = replace(found, rows=np.array(rows), cols=np.array(cols))
    assert certify_blocks(wrong, BLOCKS).violations == (
        "the support must list entries row by row, each once",
    )


def test_a_place_that_is_listed_twice_is_no_support(found):
    two = replace(CAPS, row_caps=np.array([2, 1, 1]), col_caps=np.array([2, 1, 1]))
    twice = replace(found, constraint=two, rows=np.array([0, 0, 1]), cols=np.array([0, 0, 1]))
    assert len(certify_blocks(twice, BLOCKS).violations) == 1
    assert "each once" in certify_blocks(twice, BLOCKS).violations[0]


@pytest.mark.parametrize(
    ("caps", "says"),
    [
        ({"row_caps": [1, 0, 1]}, "row 1 keeps 1, its cap is 0"),
        ({"col_caps": [0, 1, 2]}, "column 0 keeps 1, its cap is 0"),
        ({"col_caps": [1, 1, 0]}, "column 2 keeps 1, its cap is 0"),
        ({"total": 2}, "3 entries are kept, the total cap is 2"),
    ],
)
def test_a_cap_that_is_not_kept_is_named(found, caps, says):
    assert certify_blocks(
        replace(found, constraint=TVCS.matrix((3, 3), **caps)), BLOCKS
    ).violations == (says,)


def test_values_of_another_table_are_counted_in_their_block(found):
    wrong = replace(found, values=np.array([3.0, 1.0, 1.0]))
    assert certify_blocks(wrong, BLOCKS).violations == (
        "block 1: 2 values of the projection are not those of the block",
    )


@pytest.mark.parametrize("shape", [(2, 5), (5, 2)])
def test_all_places_of_a_shape_that_is_not_square_are_inside(shape):
    W = 1.0 + np.arange(10.0).reshape(shape)
    blocks = [W[:1], W[1:]]
    found = project_blocks(blocks, TVCS.matrix(shape))
    assert found.rows.size == 10
    assert certify_blocks(found, blocks).optimal
    rows, cols = shape
    for name, at in (("rows", rows), ("cols", cols)):
        beyond = getattr(found, name).copy()
        beyond[-1] = at
        [message] = certify_blocks(replace(found, **{name: beyond}), blocks).violations
        assert "must list entries row by row" in message


def test_blocks_of_another_shape_are_refused(found):
    with pytest.raises(DataError, match=r"the blocks have shape \(2, 3\), the projection \(3, 3\)"):
        certify_blocks(found, [V[:1], V[1:2]])

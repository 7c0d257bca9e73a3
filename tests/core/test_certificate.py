from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from pytest import approx
from scipy import sparse

from tests.strategies import matrices
from tvcs_core import TVCS, certify, project
from tvcs_core.certificate import Certificate


@pytest.fixture
def projection(rng):
    V = rng.standard_normal((6, 5))
    return project(V, TVCS.matrix((6, 5), row_caps=2, col_caps=2, total=7))


def test_a_sound_projection_is_optimal(projection):
    certificate = certify(projection)
    assert certificate.optimal
    assert not certificate.violations
    assert certificate.objective == approx(projection.objective, rel=1e-14)


def test_every_kind_of_violation_is_named(projection):
    everything = np.ones((6, 5), dtype=bool)
    found = certify(replace(projection, support=everything, matrix=projection.values))
    assert not found.feasible
    assert "row 0 keeps 5, its cap is 2" in found.violations
    assert "column 0 keeps 6, its cap is 2" in found.violations
    assert "30 entries are kept, the total cap is 7" in found.violations


def test_a_forbidden_entry_is_named(rng):
    V = rng.standard_normal((3, 3))
    sound = project(V, TVCS.matrix((3, 3), allowed=~np.eye(3, dtype=bool)))
    found = certify(replace(sound, support=np.ones((3, 3), bool), matrix=V))
    assert "the entry in row 1, column 1 is not allowed but kept" in found.violations


def test_a_value_that_is_not_that_of_v_is_named(projection):
    found = certify(replace(projection, matrix=projection.matrix * 1.01))
    assert not found.feasible
    assert "must be" in found.violations[0]


@pytest.mark.parametrize("price", [-1.0, np.nan])
def test_a_price_that_is_negative_or_no_number_proves_nothing(projection, price):
    for others in (0 * projection.row_duals + price, projection.row_duals + 1.0):
        others[0] = price
        found = certify(replace(projection, row_duals=others))
        assert found.violations == ("a price is negative or not a number",)
        assert not found.optimal
        assert not found.exact


def test_prices_too_low_or_too_high_leave_a_gap(projection):
    for factor in (0.0, 3.0):
        found = certify(replace(projection, total_dual=projection.total_dual * factor))
        assert found.feasible
        assert not found.optimal
        assert found.gap > 0


def test_a_worse_support_leaves_a_gap(projection):
    support = projection.support.copy()
    support[np.unravel_index(np.argmax(support), support.shape)] = False
    found = certify(
        replace(projection, support=support, matrix=np.where(support, projection.values, 0.0))
    )
    assert found.feasible
    assert not found.optimal


@given(matrices(max_side=4))
def test_the_bound_is_the_sum_of_its_terms_in_exact_arithmetic(problem):
    V, constraint = problem
    projection = project(V, constraint)
    u, w = ([Fraction(p) for p in d] for d in (projection.row_duals, projection.col_duals))
    total_dual = Fraction(projection.total_dual)
    bound = sum(p * int(c) for p, c in zip(u, constraint.row_caps, strict=True))
    bound += sum(p * int(c) for p, c in zip(w, constraint.col_caps, strict=True))
    bound += total_dual * constraint.total
    rounding = 0.0  # an entry in a group with cap 0 adds nothing, its square may exceed the price
    for (r, c), v in np.ndenumerate(V):
        if constraint.allowed is not None and not constraint.allowed[r, c]:
            continue
        lower, upper = constraint.bounds or (-np.inf, np.inf)
        nearest = Fraction(float(np.clip(v, lower, upper)))
        gain = nearest * (2 * Fraction(float(v)) - nearest)
        bound += max(Fraction(0), gain - u[r] - w[c] - total_dual)
        is_closed = not (constraint.row_caps[r] and constraint.col_caps[c] and constraint.total)
        rounding += 2.0**-52 * float(gain) * is_closed
    assert certify(projection).bound == approx(float(bound), rel=1e-12, abs=1e-300 + rounding)


def test_one_entry_above_the_total_is_one_too_many():
    V = np.arange(1.0, 7.0).reshape(2, 3)
    sound = project(V, TVCS.matrix((2, 3), total=3))
    support = sound.support.copy()
    support[0, np.flatnonzero(~support[0])[0]] = True
    found = certify(replace(sound, support=support, matrix=np.where(support, V, 0.0)))
    assert found.violations == ("4 entries are kept, the total cap is 3",)


@pytest.mark.parametrize(("excess", "proved"), [(1e-10, True), (1e-8, False)])
def test_a_gap_of_a_billionth_is_rounding_and_ten_times_that_is_not(rng, excess, proved):
    sound = project(rng.standard_normal((6, 5)), TVCS.matrix((6, 5), total=7))
    assert sound.gap <= 1e-15
    # A price below the best entry left out, by what costs that much.
    less = np.square(sound.values[~sound.support]).max() - excess * sound.objective
    found = certify(replace(sound, total_dual=float(less)))
    assert not found.exact
    assert found.gap == approx(excess * sound.objective, rel=1e-3)
    assert found.optimal is proved


def test_sums_are_exact_for_integers_of_20_bits_and_rounded_beyond():
    def of(largest):
        V = np.array([[1.0, largest], [2.0, 3.0]])
        return certify(project(V, TVCS.matrix((2, 2), row_caps=1)))

    assert of(2.0**20 - 1).exact
    assert not of(2.0**20 + 1).exact
    assert of(2.0**20 + 1).optimal


def test_large_integers_are_proved_within_rounding_and_not_refused_as_inexact(rng):
    V = rng.integers(2**29, 2**30, (40, 50)) * 2.0 + 1
    certificate = certify(project(V, TVCS.matrix((40, 50), row_caps=9, col_caps=7, total=200)))
    assert not certificate.exact
    assert certificate.optimal


def test_an_entry_in_no_group_is_charged_no_groups_price():
    # The last groups have a price, and two entries are in none of one view.
    constraint = TVCS.groups([0, 0, 0, -1], [0, 0, -1, 0], row_caps=[1], col_caps=[1], total=2)
    projection = project([5.0, 4.0, 4.0, 3.0], constraint)
    certificate = certify(
        replace(projection, row_duals=np.array([9.0]), col_duals=np.array([4.0]), total_dual=0.0)
    )
    # The caps; then 25 - 13, 16 - 13, 16 - 9 (in no column) and 9 - 4 (in no row).
    assert certificate.bound == 9 + 4 + 12 + 3 + 7 + 5


def test_sums_too_large_for_a_float_do_not_hide_a_difference_of_one():
    V = np.full((1, 2**12), 2.0**20 - 2)
    V[0, 0] = 2.0**20 - 1
    V[0, 1] = 1.0
    sound = project(np.repeat(V, 2**8, axis=0), TVCS.matrix((2**8, 2**12)))
    assert certify(sound).optimal
    support = sound.support.copy()
    support[0, 1] = False  # gains 1 of some 2**60
    worse = certify(replace(sound, support=support, matrix=np.where(support, sound.values, 0.0)))
    assert worse.exact
    assert worse.gap > 0
    assert not worse.optimal


def test_squares_too_small_for_a_float_prove_nothing():
    V = np.array([1e-200, 2e-200, np.pi * 1e-200])
    for values in (V[:2], V):
        sound = project(values, TVCS.groups([0] * values.size, None, total=1))
        first = np.arange(values.size) == 0
        worse = replace(sound, support=first, matrix=np.where(first, values, 0.0))
        assert not certify(worse).optimal


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_what_a_sparse_v_does_not_store_may_not_be_kept(kind):
    V = sparse.coo_array(([3.0, 2.0], ([0, 1], [1, 0])), shape=(2, 3)).asformat(kind)
    sound = project(V, TVCS.matrix((2, 3), row_caps=1))
    assert certify(sound).optimal
    more = sparse.coo_array(([True, True, True], ([0, 1, 1], [1, 0, 2])), shape=(2, 3))
    found = certify(replace(sound, support=more.asformat(kind)))
    assert "the entry in row 1, column 2 is not allowed but kept" in found.violations
    other = sparse.coo_array(([3.0, 2.0, 7.0], ([0, 1, 0], [1, 0, 0])), shape=(2, 3))
    found = certify(replace(sound, matrix=other.asformat(kind)))
    assert found.violations == ("the entry in row 0, column 0 must be 0.0, found 7.0",)


def test_a_sparse_v_may_store_an_entry_in_parts():
    V = sparse.csr_array(np.array([[0.0, 3.0], [2.0, 0.0]]))
    sound = project(V, TVCS.matrix((2, 2), row_caps=1))
    parts = sparse.csr_array(([1.0, 2.0, 2.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    assert certify(replace(sound, values=parts)).optimal


def test_zeros_do_not_keep_integers_from_exact_sums():
    assert certify(project([[0.0, 3.0], [0.5, 0.0]], TVCS.matrix((2, 2), row_caps=1))).exact


def kept_alone(v, price):
    """One entry that is kept under a total of 1, at a price."""
    return replace(project([[v]], TVCS.matrix((1, 1), total=1)), total_dual=price)


def test_a_price_is_compared_with_the_square_and_not_with_what_it_is_rounded_to():
    above, below = 0.3, 0.7  # squares that are rounded up, and down
    assert Fraction(above * above) > Fraction(above) ** 2
    assert Fraction(below * below) < Fraction(below) ** 2
    too_high = certify(kept_alone(above, above * above))
    assert (too_high.objective, too_high.bound) == (above * above, np.nextafter(above * above, 1))
    fits = certify(kept_alone(below, below * below))
    assert fits.bound == fits.objective


def test_a_price_for_what_is_left_of_a_cap_shows_however_small_it_is():
    sound = project([[0.1, 0.0, 0.0], [0.0, 0.3, 0.7]], TVCS.matrix((2, 3), row_caps=2))
    assert certify(sound).bound == certify(sound).objective
    priced = certify(replace(sound, row_duals=np.array([1e-30, 0.0])))
    assert priced.bound == np.nextafter(priced.objective, 1)
    full = certify(replace(sound, row_duals=np.array([0.0, 1e-30])))
    assert full.bound == full.objective


def test_the_bound_of_too_large_a_support_is_below_what_it_keeps():
    sound = project([0.1, 0.3], TVCS.groups([0, 0], None, total=1))
    both = replace(sound, support=np.array([True, True]), matrix=sound.values, total_dual=0.01)
    found = certify(both)
    assert (found.objective, found.bound) == (approx(0.1), approx(0.09))


def test_a_gap_among_numbers_that_underflow_is_counted():
    sound = project([1e-155, 2e-155], TVCS.groups([0, 0], None, total=1))
    first = np.array([True, False])
    worse = replace(sound, support=first, matrix=np.where(first, sound.values, 0.0))
    found = certify(replace(worse, row_duals=np.zeros(1), total_dual=4e-310))
    assert found.bound == approx(4e-310, rel=1e-6, abs=0.0)


def test_prices_alone_are_summed_exactly_too():
    nothing = certify(kept_alone(0.0, 1.0))
    assert (nothing.objective, nothing.bound, nothing.exact) == (0.0, 1.0, True)


@pytest.mark.parametrize(
    ("v", "price", "exact"),
    [
        (0.5, 0.25, True),
        (0.5, 0.125, False),  # below the square of the unit of the values
        (2.0, 4.0, True),
        (2.0, 2.0, False),
        (1.0, 2.0**59, True),
        (1.0, 2.0**60, False),  # 61 bits
        (0.5, 2.0**57, True),
        (0.5, 2.0**58, False),
    ],
)
def test_prices_are_summed_exactly_in_60_bits_of_the_unit_of_squares(v, price, exact):
    found = certify(kept_alone(v, price))
    assert (found.bound, found.exact) == (max(price, v * v), exact)


def unpriced(V, constraint, support):
    """A projection on a support, with prices of 0."""
    found = project(V, constraint)
    prices = {"row_duals": 0 * found.row_duals, "col_duals": 0 * found.col_duals, "total_dual": 0.0}
    return replace(found, support=support, matrix=np.where(support, V, 0.0), **prices)


def test_any_gap_of_exact_sums_and_a_billionth_of_others_is_no_proof():
    assert Certificate((), 2.0, 2.0, True).optimal
    assert not Certificate((), 2.0, 2.5, True).optimal
    assert Certificate((), 2.0, 2.0 + 1e-9, False).optimal
    assert not Certificate((), 2.0, 2.0 + 1e-8, False).optimal
    assert not Certificate(("a cap",), 2.0, 2.0, True).optimal


@pytest.mark.parametrize("unit", [2.0**-9, 0.5, 1.0, 4.0])
def test_sums_in_any_unit_are_those_of_the_values(unit):
    V = unit * np.array([[1.0, 3.0, 2.0], [5.0, 4.0, 1.0]])
    found = project(V, TVCS.matrix(V.shape, row_caps=1, col_caps=1))
    certificate = certify(found)
    assert certificate.exact
    assert (certificate.objective, certificate.bound) == (34 * unit**2, 34 * unit**2)
    assert certify(unpriced(V, found.constraint, found.support)).bound == 56 * unit**2


@pytest.mark.parametrize("closed", [0, 1, 2])
@pytest.mark.parametrize("side", ["row_caps", "col_caps"])
def test_a_line_that_is_closed_needs_no_price(closed, side):
    """Not even where its entries are too small to be seen in the sum of the bound."""
    caps = np.ones(3, dtype=int)
    caps[closed] = 0
    V = np.zeros((3, 3))
    V[np.arange(3), np.arange(3)] = 1e10
    line = np.s_[closed] if side == "row_caps" else np.s_[:, closed]
    V[line] = 3e-33
    constraint = TVCS.matrix((3, 3), **{side: caps})
    support = V == 1e10
    certificate = certify(unpriced(V, constraint, support))
    assert not certificate.exact
    assert certificate.bound == certificate.objective == 2e20
    opened = unpriced(V, TVCS.matrix((3, 3), **{side: 3}), support)
    assert certify(opened).bound > 2e20


def test_where_nothing_may_be_kept_nothing_is_lost_however_small():
    V = np.array([[1e-160, 3e-190]])
    closed = unpriced(V, TVCS.matrix(V.shape, total=0), np.zeros(V.shape, bool))
    assert (certify(closed).objective, certify(closed).bound) == (0.0, 0.0)
    opened = unpriced(V, TVCS.matrix(V.shape, total=1), np.zeros(V.shape, bool))
    assert certify(opened).bound > 0.0


def test_what_a_sparse_v_does_not_hold_is_not_kept_although_the_matrix_holds_it():
    V = sparse.csr_array(np.array([[2.0, 0.0], [0.0, 1.0]]))
    sound = project(V, TVCS.matrix((2, 2), total=3))
    at = (np.array([0, 0, 1]), np.array([0, 1, 1]))
    support = sparse.csr_array((np.ones(3, bool), at), shape=(2, 2))
    matrix = sparse.csr_array((np.array([2.0, 0.0, 1.0]), at), shape=(2, 2))
    found = certify(replace(sound, support=support, matrix=matrix))
    assert found.violations == ("the entry in row 0, column 1 is not allowed but kept",)

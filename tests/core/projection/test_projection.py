from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy import sparse

from tests import reference
from tests.strategies import groups, matrices
from tvcs_core import TVCS, DataError, Projection, certify, project, project_many


@given(matrices(max_side=4, max_size=12) | groups(max_size=10))
def test_project_keeps_as_much_as_the_best_support_by_enumeration(problem):
    V, constraint = problem
    projection = project(V, constraint)
    assert reference.is_feasible(projection.support, constraint)
    best = reference.best_by_enumeration(V, constraint)
    assert projection.objective == approx(best, rel=1e-9, abs=0)


@given(matrices())
def test_every_projection_proves_itself_and_the_checker_agrees(problem):
    V, constraint = problem
    projection = project(V, constraint)
    assert projection.relative_gap <= 1e-9
    certificate = certify(projection)
    assert certificate.feasible, certificate.violations
    assert certificate.optimal
    assert certificate.objective == approx(projection.objective, rel=1e-12, abs=0)
    if certificate.exact:
        assert projection.gap == 0.0


@given(matrices())
def test_what_is_kept_is_the_value_in_the_box_and_the_rest_is_zero(problem):
    V, constraint = problem
    projection = project(V, constraint)
    nearest = V if constraint.bounds is None else np.clip(V, *constraint.bounds)
    assert (projection.matrix == np.where(projection.support, nearest, 0.0)).all()


@given(matrices(), st.randoms(use_true_random=False))
def test_permuting_rows_and_columns_keeps_as_much(problem, random):
    V, constraint = problem
    rows = random.sample(range(V.shape[0]), V.shape[0])
    cols = random.sample(range(V.shape[1]), V.shape[1])
    allowed = constraint.allowed
    permuted = replace(
        constraint,
        row_caps=constraint.row_caps[rows],
        col_caps=constraint.col_caps[cols],
        allowed=None if allowed is None else allowed[np.ix_(rows, cols)],
    )
    here, there = project(V, constraint), project(V[np.ix_(rows, cols)], permuted)
    assert there.objective == approx(here.objective, rel=1e-12, abs=0)


@given(matrices())
def test_projecting_twice_changes_nothing(problem):
    V, constraint = problem
    once = project(V, constraint).matrix
    assert (project(once, constraint).matrix == once).all()


@given(matrices(), st.integers(0, 5))
def test_raising_a_cap_never_keeps_less(problem, row):
    V, constraint = problem
    more = constraint.row_caps.copy()
    more[row % more.size] += 1
    relaxed = replace(constraint, row_caps=np.minimum(more, V.shape[1]))
    tight = project(V, constraint)
    assert project(V, relaxed).objective >= tight.objective * (1 - 1e-12)


@given(matrices())
def test_the_price_of_a_cap_bounds_what_one_more_unit_of_it_brings(problem):
    V, constraint = problem
    if constraint.total == V.size:
        return
    tight = project(V, constraint)
    relaxed = project(V, replace(constraint, total=constraint.total + 1))
    assert relaxed.objective <= (tight.bound + tight.total_dual) * (1 + 1e-9)


def test_caps_beyond_the_groups_return_v_itself(rng):
    V = rng.standard_normal((5, 7)) * 10.0 ** rng.integers(-12, 12, (5, 7))
    assert (project(V, TVCS.matrix((5, 7), row_caps=9, total=99)).matrix == V).all()


@pytest.mark.parametrize("caps", [{"total": 0}, {"row_caps": 0}, {"col_caps": 0}])
def test_caps_of_zero_return_zero(rng, caps):
    projection = project(rng.standard_normal((5, 7)), TVCS.matrix((5, 7), **caps))
    assert not projection.support.any()
    assert projection.objective == projection.gap == projection.relative_gap == 0.0


def test_zeros_are_never_kept():
    projection = project(np.zeros((3, 3)), TVCS.matrix((3, 3), total=2))
    assert not projection.support.any()
    assert projection.bound == 0.0


def test_an_empty_box_leaves_nothing_to_keep(rng):
    constraint = TVCS.matrix((3, 3), bounds=(0.0, np.inf))
    projection = project(-np.abs(rng.standard_normal((3, 3))), constraint)
    assert not projection.matrix.any()
    assert not projection.support.any()


@given(matrices())
def test_a_sparse_matrix_gives_what_the_dense_one_gives_with_the_rest_forbidden(problem):
    V, constraint = problem
    candidates = sparse.coo_array(V)
    projection = project(candidates, constraint)
    assert sparse.issparse(projection.matrix)
    assert sparse.issparse(projection.support)
    dense = project(V, constraint)
    assert projection.objective == approx(dense.objective, rel=1e-12, abs=0)
    assert reference.is_feasible(projection.support.toarray(), constraint)
    assert certify(projection).optimal


def test_repeated_entries_of_a_sparse_matrix_are_added():
    V = sparse.coo_array(([1.0, 2.0, 1.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    projection = project(V, TVCS.matrix((2, 2), total=1))
    assert projection.matrix.toarray().tolist() == [[3.0, 0.0], [0.0, 0.0]]
    assert V.nnz == 3  # the caller's matrix is left alone


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
def test_repeated_entries_are_added_in_compressed_formats_too(kind):
    V = kind((np.array([2.0, 2.5, 1.5, 1.0]), np.array([1, 0, 1, 0]), np.array([0, 3, 4])), (2, 2))
    assert V.nnz == 4
    projection = project(V, TVCS.matrix((2, 2), total=1))
    expected = np.where(V.toarray() == 3.5, 3.5, 0.0)
    assert projection.matrix.toarray().tolist() == expected.tolist()
    assert projection.objective == 12.25
    assert V.nnz == 4  # the caller's matrix is left alone


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint64, np.bool_])
def test_other_real_types_are_read_exactly(rng, dtype):
    V = rng.integers(0, 2, (4, 4)).astype(dtype)
    constraint = TVCS.matrix((4, 4), row_caps=1)
    assert (project(V, constraint).matrix == project(V.astype(float), constraint).matrix).all()


def test_arrays_that_are_read_only_or_not_contiguous_are_read_as_they_are(rng):
    V = rng.standard_normal((6, 8))
    constraint = TVCS.matrix((6, 4), row_caps=2, col_caps=3)
    view = V[:, ::2]
    frozen = view.copy()
    frozen.setflags(write=False)
    expected = project(view.copy(), constraint).matrix
    assert (project(view, constraint).matrix == expected).all()
    assert (project(frozen, constraint).matrix == expected).all()
    assert (project(np.asfortranarray(view), constraint).matrix == expected).all()


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e-150, 1e149])
def test_the_support_does_not_depend_on_the_scale(rng, scale):
    V = rng.integers(1, 50, (5, 5)).astype(float)
    constraint = TVCS.matrix((5, 5), row_caps=2, col_caps=2)
    exact = np.ldexp(V, int(np.log2(scale)))
    assert (project(exact, constraint).support == project(V, constraint).support).all()


@pytest.mark.parametrize("exponent", [-535, -515, -300, 300, 495])
@pytest.mark.parametrize("larger", [0, 1])
def test_squares_do_not_lose_digits_at_any_scale(exponent, larger):
    V = np.ones((1, 2))
    V[0, larger] += 2.0**-40
    constraint = TVCS.matrix((1, 2), total=1)
    projection = project(np.ldexp(V, exponent), constraint)
    assert projection.support[0, larger]
    assert projection.objective == np.ldexp(project(V, constraint).objective, 2 * exponent)


@pytest.mark.parametrize("exponent", [-519, -400, 400])
def test_what_is_kept_is_rounded_once_at_any_scale(rng, exponent):
    V, constraint = rng.random((20, 30)), TVCS.matrix((20, 30), row_caps=20, total=300)
    projection, small = project(np.ldexp(V, exponent), constraint), project(V, constraint)
    assert (projection.support == small.support).all()
    assert projection.objective == np.ldexp(small.objective, 2 * exponent)


def test_a_huge_value_that_may_not_be_kept_does_not_drown_the_others():
    V = [[1e100, 1e-100], [2e-100, 1e140]]
    for constraint in (
        TVCS.matrix((2, 2), total=1, allowed=[[False, True], [True, False]]),
        TVCS.matrix((2, 2), total=1, bounds=([[0, 0], [0, 0]], [[0, 1], [1, 0]])),
    ):
        projection = project(V, constraint)
        assert projection.support.tolist() == [[False, False], [True, False]]
        assert projection.objective == approx(4e-200)
        assert certify(projection).optimal


def test_a_group_that_may_keep_nothing_and_outweighs_all_float64_can_hold_is_refused():
    V = [[1e140, 0.0], [1e-60, 2e-60]]
    with pytest.raises(ValueError, match="at least 1e-135 of those in groups with cap 0"):
        project(V, TVCS.matrix((2, 2), row_caps=[0, 1]))
    nearer = project([[1e140, 0.0], [1e10, 2e10]], TVCS.matrix((2, 2), row_caps=[0, 1]))
    assert nearer.objective == approx(4e20)
    assert certify(nearer).optimal
    open_ones = project(V, TVCS.matrix((2, 2), row_caps=[1, 1]))
    assert open_ones.objective == 1e280


def test_a_box_that_leaves_little_of_a_huge_value_leaves_what_that_gains():
    V = np.array([[1e140, 1e-70]])
    projection = project(V, TVCS.matrix((1, 2), total=1, bounds=(0, [[1e-250, 1.0]])))
    assert projection.support.tolist() == [[True, False]]
    assert projection.objective == approx(2e-110)
    assert certify(projection).optimal


@pytest.mark.parametrize(
    ("V", "message"),
    [
        (np.full((2, 2), np.nan), r"V must be finite, found NaN at \[0, 0\]"),
        ([[1, np.inf], [0, 0]], r"V must be finite, found inf at \[0, 1\]"),
        ([[1, 2], [-np.inf, np.nan]], r"V must be finite, found -inf at \[1, 0\]"),
        (np.full((2, 2), 1e200), "V must be at most 3.3e[+]150 in size"),
        (np.full((2, 2), 2**60), r"integers must be at most 2\*\*53"),
        (np.ones((2, 3)), r"V must have the constraint's shape \(2, 2\), found \(2, 3\)"),
        (np.ones((2, 2), complex), "V must be real numbers, found complex128"),
        (np.ma.array(np.eye(2), mask=np.eye(2)), "V must have no masked values, found 2; fill"),
        (np.array([["a", "b"], ["c", "d"]]), "V must be real numbers, found <U1"),
        (np.array([[None, 1], [2, 3]]), "found object; convert them, as by V.astype"),
        (None, r"V must be an array of shape \(2, 2\), found NoneType"),
        (sparse.csr_array(np.full((2, 2), np.nan)), r"V must be finite, found NaN at \[0, 0\]"),
        (sparse.coo_array([[0, 0], [0, np.nan]]), r"V must be finite, found NaN at \[1, 1\]"),
    ],
)
def test_a_wrong_v_is_refused(V, message):
    with pytest.raises((ValueError, TypeError), match=message):
        project(V, TVCS.matrix((2, 2)))


@pytest.mark.parametrize("method", ["lp", "pgd", "pdhg"])
def test_the_other_methods_keep_the_caps_and_measure_their_gap(rng, method):
    V = rng.standard_normal((4, 3)) * 1e20
    constraint = TVCS.matrix((4, 3), row_caps=1, col_caps=[1, 2, 1], total=3)
    best, other = project(V, constraint), project(V, constraint, method=method)
    assert reference.is_feasible(other.support, constraint)
    assert other.objective <= best.objective <= other.bound
    assert certify(other).feasible
    if method != "pgd":
        assert (other.support == best.support).all()


def test_an_unknown_method_is_refused_with_the_list_of_methods():
    with pytest.raises(ValueError, match=r"method must be one of exact, .*found 'best'"):
        project([[1.0]], TVCS.matrix((1, 1)), method="best")


@given(problem=matrices() | groups())
def test_a_saved_projection_loads_as_it_was(problem, tmp_path_factory):
    V, constraint = problem
    projection = project(V, constraint)
    path = tmp_path_factory.mktemp("saved") / "p.npz"
    projection.save(path)
    loaded = Projection.load(path)
    assert (loaded.matrix == projection.matrix).all()
    assert (loaded.support == projection.support).all()
    assert (loaded.objective, loaded.gap) == (projection.objective, projection.gap)
    assert certify(loaded).optimal


@pytest.mark.parametrize("path", [None, 1.5])
def test_a_path_of_another_kind_is_refused(path):
    with pytest.raises(TypeError, match="path must be that of a file, found"):
        Projection.load(path)


def test_a_saved_sparse_projection_loads_as_it_was(tmp_path, rng):
    V = sparse.random_array((9, 7), density=0.4, rng=rng)
    projection = project(V, TVCS.matrix((9, 7), row_caps=1, col_caps=1))
    projection.save(tmp_path / "p.npz")
    loaded = Projection.load(tmp_path / "p.npz")
    assert (loaded.matrix.toarray() == projection.matrix.toarray()).all()
    assert loaded.objective == projection.objective


def test_a_file_changed_by_hand_is_found_out(tmp_path, rng):
    V = rng.standard_normal((4, 4))
    project(V, TVCS.matrix((4, 4), row_caps=1, col_caps=1)).save(tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as file:
        arrays = dict(file)
    for change in ({"support": np.ones((4, 4), bool)}, {"row_duals": arrays["row_duals"] * 0}):
        with (tmp_path / "q.npz").open("wb") as file:
            np.savez(file, **(arrays | change))
        certificate = certify(Projection.load(tmp_path / "q.npz"))
        assert not certificate.optimal


def test_a_sparse_v_is_a_matrix():
    with pytest.raises(
        ValueError, match=r"a matrix or an array, found a sparse one of shape \(3,\)"
    ):
        project(sparse.coo_array(np.ones(3)), TVCS.groups([0, 0, 1], None))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": np.array("tvcs-projection-9")}, "its format is tvcs-projection-9, not"),
        ({"support": np.ones((4, 4))}, "its support does not fit its values"),
        ({"support": np.ones((4, 3), bool)}, "its support does not fit its values"),
        ({"row_duals": np.full(4, -1.0)}, "its row_duals must be numbers >= 0"),
        ({"col_duals": np.full(4, np.nan)}, "its col_duals must be numbers >= 0"),
        ({"total_dual": np.array(-1e-300)}, "its total_dual must be numbers >= 0"),
        ({"row_duals": np.zeros(3)}, r"its row_duals must be numbers >= 0 of shape \(4,\)"),
        (
            {"shape": np.array([2**40, 4])},
            r"its shape \(1099511627776, 4\) is not that of its caps",
        ),
        (
            {"shape": np.array([4, 4, 4])},
            r"its shape \(4, 4, 4\) is not that of its caps, \(4,\) and",
        ),
        ({"row_caps": np.array(1)}, r"its shape \(4, 4\) is not that of its caps, \(\) and \(4,\)"),
    ],
)
def test_a_file_that_says_what_no_projection_says_is_refused(tmp_path, rng, change, message):
    path = tmp_path / "p.npz"
    project(rng.standard_normal((4, 4)), TVCS.matrix((4, 4), row_caps=1, col_caps=1)).save(path)
    with np.load(path) as file:
        arrays = dict(file) | change
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(DataError, match=rf"p\.npz: is not a saved projection \({message}"):
        Projection.load(path)


def test_a_sparse_file_that_keeps_what_is_no_candidate_is_refused(tmp_path):
    path = tmp_path / "p.npz"
    V = sparse.coo_array(([3.0, 2.0], ([0, 1], [1, 0])), shape=(2, 3))
    project(V, TVCS.matrix((2, 3), row_caps=1)).save(path)
    with np.load(path) as file:
        arrays = dict(file) | {"support_col": np.array([1, 2])}
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(DataError, match="its support does not fit its values"):
        Projection.load(path)


@pytest.mark.parametrize("content", [b"", b"not a file of numpy", b"PK\x03\x04damaged"])
def test_a_file_that_is_no_projection_is_refused(tmp_path, content):
    (tmp_path / "p.npz").write_bytes(content)
    with pytest.raises(DataError, match=r"p\.npz"):
        Projection.load(tmp_path / "p.npz")


def test_a_truncated_file_is_refused(tmp_path, rng):
    path = tmp_path / "p.npz"
    project(rng.standard_normal((4, 4)), TVCS.matrix((4, 4))).save(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"p\.npz"):
        Projection.load(path)


def test_projecting_many_in_threads_gives_what_projecting_each_gives(rng):
    stack = rng.integers(-4, 5, (40, 30, 20)).astype(float)
    constraint = TVCS.matrix((30, 20), row_caps=3, col_caps=rng.integers(0, 8, 20), total=60)
    for together, alone in zip(
        project_many(stack, constraint, threads=4),
        (project(V, constraint) for V in stack),
        strict=True,
    ):
        assert (together.support == alone.support).all()
        assert together.gap == 0.0


def test_no_flipped_bit_of_a_saved_projection_passes_for_another(tmp_path, rng):
    path = tmp_path / "p.npz"
    project(rng.standard_normal((4, 4)), TVCS.matrix((4, 4), total=5)).save(path)
    whole = path.read_bytes()
    for bit in rng.integers(0, 8 * len(whole), 200):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(damaged)
        try:
            loaded = Projection.load(path)
        except DataError:
            continue
        assert certify(loaded).optimal  # the bit was in what no one reads


@pytest.mark.parametrize("kind", ["lil", "dok", "dia", "bsr", "csc", "coo"])
def test_integers_of_every_sparse_kind_are_projected(kind):
    dense = np.array([[0, 3, 0, 1], [2, 0, 0, 0], [0, 0, 5, 0]])
    V = sparse.csr_array(dense).asformat(kind)
    tvcs = TVCS.matrix(dense.shape, row_caps=1, col_caps=1, total=2)
    assert project(V, tvcs).objective == project(dense, tvcs).objective == 34.0
    V = V.tolil()
    V[2, 1] = 2**53 + 1
    with pytest.raises(ValueError, match="integers must be at most"):
        project(V.asformat(kind), tvcs)

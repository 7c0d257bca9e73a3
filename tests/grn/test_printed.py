"""`print` of networks and expression; arguments of other libraries."""

import numpy as np
import pytest

from grn_tvcs import Network, infer, simulate
from grn_tvcs.inference.infer import FOREIGN
from grn_tvcs.methods.table import METHODS


@pytest.fixture(scope="module")
def expression():
    return simulate(10, 4, 9, n_edges=12, rng=0).expression


def test_a_network_and_an_expression_print_as_five_lines(expression):
    network = infer(expression, "genie3", rng=3, trees=5, max_edges=7)
    lines = str(network).splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("Network of 10 genes: 7 edges selected of ")
    assert lines[1] == "method: genie3, seed 3"
    edge = network.edges(selected_only=True)[0]
    assert edge.regulator in lines[4]
    assert lines[4].endswith("and 2 more")
    lines = str(expression).splitlines()
    assert len(lines) == 5
    assert lines[0] == "Expression of 10 genes: 36 samples in 4 series"
    bare = str(Network.of(("A", "B\n"), np.zeros((2, 2)))).splitlines()
    assert len(bare) == 5
    assert bare[4] == "top edges: none"


def test_top_edges_are_printed_by_sign_and_without_a_head_where_they_are_undirected():
    scores, signs, is_undirected = np.zeros((5, 5)), np.zeros((5, 5), np.int8), np.eye(5) > 1
    scores[0, 1:] = 4, 3, 2, 1
    signs[0, 1:] = 1, -1, 0, 1
    is_undirected[0, 4] = is_undirected[4, 0] = True
    network = Network.of(tuple("ABCDE"), scores, signs, undirected=is_undirected)
    assert str(network).splitlines()[4] == "top edges: A -> B, A -| C, A -o D, A -- E"


def test_calibrate_off_is_calibrate_0(expression):
    off, none = (infer(expression, rng=0, resamples=2, calibrate=c) for c in ("off", 0))
    np.testing.assert_array_equal(off.scores, none.scores)
    with pytest.raises(ValueError, match="calibrate must be an integer >= 0 or 'off', found 'no'"):
        infer(expression, calibrate="no")


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("seed", "give rng"), ("random_state", "give rng"), ("n_jobs", "give threads"),
        ("tf_names", "give regulators"), ("limit", "give max_edges"), ("n_estimators", "trees"),
        ("knockouts", "give steady"), ("other", "its options: trees"),
        ("workers", "give engine"), ("client_or_address", "give engine"),
        ("time", "give time_column"), ("seris_column", "did you mean .series_column"),
    ],
)  # fmt: skip
def test_arguments_of_other_libraries_are_refused_with_the_right_one(expression, name, right):
    with pytest.raises(TypeError, match=f"genie3 does not take '{name}'; .*{right}"):
        infer(expression, "genie3", **{name: 1})


def test_no_option_of_a_method_is_taken_for_one_of_another_library():
    for method in METHODS.values():
        assert not set(FOREIGN) & set(method.keywords), method.name

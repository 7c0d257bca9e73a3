"""Lists of prior edges: what a file may hold, and what of it counts."""

import numpy as np
import pytest

from grn_tvcs import Prior, read_prior
from grn_tvcs.network.programs.scored_edges import open_scored_edges, scores_and_signs
from tvcs_core import DataError

GENES = ("A", "B", "C", "D")


def edges(prior):
    """Weight and sign of every listed edge, by name."""
    return {
        prior.genes[i] + prior.genes[j]: (float(prior.weights[i, j]), int(prior.signs[i, j]))
        for i, j in np.argwhere(prior.weights)
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A\tB\nB\tC\n", {"AB": (1, 0), "BC": (1, 0)}),
        ("A\tB\t.5\nB\tC\t1\n", {"AB": (0.5, 0), "BC": (1, 0)}),
        ("A\tB\t+\nB\tC\t-\nC\tD\t?\n", {"AB": (1, 1), "BC": (1, -1), "CD": (1, 0)}),
        ("A\tB\t.5\t+\nB\tC\t1\t-1\nC\tD\t1\t1\nD\tA\t1\t0\n",
         {"AB": (0.5, 1), "BC": (1, -1), "CD": (1, 1), "DA": (1, 0)}),
        ("TF,target,importance\nA,B,0.25\n", {"AB": (0.25, 0)}),
        ("target;sign;source;weight\nB;-;A;.5\n", {"AB": (0.5, -1)}),
        ("source\ttarget\tweight\nA\tB\t-1\nB\tC\t0.5\n", {"AB": (1, -1), "BC": (0.5, 1)}),
        ("A\tB\t0\nB\tC\t1\n", {"BC": (1, 0)}),
        (b"\xef\xbb\xbfregulator,target\r\nA,B\r\n", {"AB": (1, 0)}),
    ],
)  # fmt: skip
def test_columns_are_found_by_name_or_place(write, text, found):
    prior = read_prior(write(text), GENES)
    assert edges(prior) == found
    assert prior.n_listed == prior.n_edges == len(found)


@pytest.mark.parametrize("name", ["pvalue", "probability", "confidence"])
def test_a_column_that_may_be_meant_as_weights_is_not_left_out_silently(write, name):
    with pytest.warns(UserWarning, match=f"every edge has the score 1; not read: {name}"):
        prior = read_prior(write(f"regulator\ttarget\t{name}\nA\tB\t.01\n"), GENES)
    assert edges(prior) == {"AB": (1, 0)}


def test_what_does_not_count_is_warned_of_by_its_reason(write):
    rows = ["A\tB\t.5\t+", "A\tB\t.75\t-", "A\tB\t.25\t+", "C\tC\t1\t?", "B\tC\t1\t+", "B\tC\t1\t-"]
    rows += [f"X{k}\tA\t1\t+" for k in range(5)]
    with pytest.warns(UserWarning, match="left out") as seen:
        prior = read_prior(write("\n".join(rows)), GENES)
    assert edges(prior) == {"AB": (0.75, -1), "BC": (1, 0)}  # as sure of + as of -: not known
    assert (prior.n_listed, prior.n_edges) == (8, 2)
    assert [str(one.message).partition("x.tsv: ")[2] for one in seen] == [
        "left out 1 edge of a gene on itself: C",
        "left out 5 edges with a gene that is not in the table: X0 -> A, X1 -> A, X2 -> A, "
        "X3 -> A, X4 -> A",
        "left out 3 edges listed again, of which the larger weight counts: A -> B, A -> B, B -> C",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A\tB\t.5\nB\tC\t35.5\n", ":2, column 3: a weight must be above 0 and at most 1"),
        ("A\tB\t1\t+\nB\tC\t-.5\t+\n", ":2, column 3: a weight .*found '-.5'"),
        ("TF\ttarget\tweight\nA\tB\tmuch\n", ":2, column 'weight': must be a number"),
        ("TF\ttarget\tweight\nA\tB\tnan\n", ":2, column 'weight': must be a finite number"),
        ("A\tB\t1\tup\n", r":1, column 4: must be one of \+ - \? 1 -1 0, or a word .*, found 'up'"),
        ("A\tB\nA\tB\tC\n", ":2: must have 2 cells"),
        ("A\n", "must have columns regulator and target"),
        ("TF\ttf\ttarget\nA\tB\tC\n", "must have one column of the regulator, found TF, tf"),
        ("A\tA\nX\tB\n", "must have a prior edge between two .* the table has A, B"),
        ("A\tB\t0\n", "must have a prior edge"),
        ("", "the file is empty"),
        ("A\tB\n".encode("utf-16-le"), "must be"),
    ],
)  # fmt: skip
def test_a_list_that_cannot_be_meant_is_refused_with_its_place(write, text, message):
    with pytest.raises(DataError, match=message):
        read_prior(write(text), GENES)


def test_genes_can_be_put_in_another_order(write):
    prior = read_prior(write("A\tB\t.5\t+\nC\tD\t1\t-\n"), GENES)
    turned = prior.of(GENES[::-1])
    assert turned.genes == GENES[::-1]
    assert edges(turned) == edges(prior)
    with pytest.raises(ValueError, match="these are in one of them only: D, E"):
        prior.of("ABCE")


@pytest.mark.parametrize(
    ("weights", "signs", "message"),
    [
        (np.ones((2, 3)), None, "weights must have the shape"),
        ([[0, 2], [0, 0]], None, "from 0 to 1"),
        ([[0, np.nan], [0, 0]], None, "from 0 to 1"),
        ([[0, 0], [0, 1]], None, "a gene has no edge to itself, but 'B' has one"),
        ([[0, 1], [0, 0]], [[0, 1], [1, 0]], "0 where no edge is listed"),
        ([[0, 1], [0, 0]], [[0, 2], [0, 0]], "signs must be 1, -1 or 0"),
    ],
)
def test_a_prior_is_checked_when_it_is_made(weights, signs, message):
    with pytest.raises(ValueError, match=message):
        Prior(("A", "B"), weights, signs)


@pytest.mark.parametrize("head", ["", "TF\ttarget\tweight\n"])
def test_of_two_weights_that_cannot_be_the_first_is_named(write, head):
    line = 3 if head else 2
    with pytest.raises(DataError, match=rf":{line}, column .*at most 1, found '1.5'"):
        read_prior(write(f"{head}A\tB\t1\nB\tC\t1.5\nC\tD\t7\n"), GENES)
    with pytest.raises(DataError, match=r":2, column .*at most 1, found '-0.5'"):
        read_prior(write("A\tB\t1\t+\nB\tC\t-0.5\t+\nC\tD\t-0.7\t+\n"), GENES)


@pytest.mark.parametrize(
    ("score", "sign", "found"),
    [
        ("2", "+", (2, 1)), ("2", "-", (2, -1)), ("2", "?", (2, 0)),
        ("0", "+", (0, 1)), ("0", "-", (0, -1)), ("-2", "-", (2, -1)), ("-2", "?", (2, 0)),
        ("-2", "+", None),
    ],
)  # fmt: skip
def test_a_column_of_signs_counts_before_a_score_below_0(write, score, sign, found):
    edges = open_scored_edges(write(f"TF\ttarget\tweight\tsign\nB\tC\t{score}\t{sign}\n"))
    if found is None:
        with pytest.raises(DataError, match=r":2, .*says activation, but the score is below 0"):
            scores_and_signs(edges)
        return
    scores, signs, unknown = scores_and_signs(edges)
    assert (scores[0], signs[0]) == found
    assert unknown == []

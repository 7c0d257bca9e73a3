import numpy as np
import pytest

from grn_tvcs import Expression, SteadyStates, infer, read_steady_states
from tvcs_core import DataError

GENES = ("A", "B", "C")


@pytest.fixture
def series():
    return Expression(np.full((2, 3), 0.5), [0, 1], ("1", "1"), GENES)


@pytest.fixture
def write(tmp_path):
    def write(text, name="x.tsv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_a_gene_that_falls_when_another_is_knocked_out_is_activated_by_it(series):
    levels = [[0.0, 0.1, 0.5], [0.5, 0.0, 0.9], [0.5, 0.5, 0.0], [0.52, 0.48, 0.51]]
    states = SteadyStates(levels, ("A", "B", "C", ""), [True, True, True, False], GENES)
    effects = states.effects(series, 0.5)
    assert effects[0, 1] > 0  # A activates B
    assert effects[1, 2] < 0  # B represses C
    assert not effects.diagonal().any()
    assert effects[2, 0] == effects[1, 0] == 0


def test_a_knock_down_counts_for_its_weight(series):
    levels = [[0.1, 0.2, 0.5], [0.1, 0.2, 0.5], [0.51, 0.48, 0.5], [0.49, 0.52, 0.48]]
    both = SteadyStates(levels, ("A", "A", "", ""), [False, True, False, False], GENES)
    out = SteadyStates(levels, ("", "A", "", ""), [False, True, False, False], GENES)
    assert both.effects(series, 0.5)[0] == pytest.approx(1.5 * out.effects(series, 0.5)[0])


def test_tables_are_read_in_the_order_of_genes_or_by_name(write):
    dream = read_steady_states(
        knockouts=write("A\tB\n0\t1\n2\t0\n", "ko.tsv"), wildtype=write("B\tA\n9\t8\n")
    )
    assert dream.changed == ("A", "B", "")
    assert dream.levels.tolist() == [[0, 1], [2, 0], [8, 9]]
    named = read_steady_states(knockdowns=write("gene,B,A\nB,5,6\n"))
    assert (named.changed, named.genes) == (("B",), ("B", "A"))
    assert not named.is_knockout.any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A\tB\n1\t2\n", "one row for each of the 2 genes"),
        ("g\tA\nB\t1\n", "must be one of the genes, found 'B'"),
        ("A\tB\n1\tx\n2\t3\n", "x.tsv:2, column 'B': must be a number"),
        ("A\tA\n1\t2\n2\t3\n", "found twice: A"),
        ("A\tB\n", "must have experiments"),
    ],
)
def test_a_bad_table_is_refused_with_its_place(write, text, message):
    with pytest.raises(DataError, match=message):
        read_steady_states(knockouts=write(text))


def test_other_genes_than_those_of_the_series_are_refused(rng):
    data = Expression(rng.uniform(size=(9, 3)), np.arange(9), ("1",) * 9, GENES)
    states = SteadyStates([[1.0, 2.0]], ("A",), [True], ("A", "D"))
    with pytest.raises(ValueError, match="in one of them only: B, C, D"):
        infer(data, steady=states, rng=0)
    with pytest.raises(TypeError, match="pcc cannot use steady states"):
        infer(data, "pcc", steady=states)


def test_knock_outs_put_the_true_regulator_first(rng):
    x = rng.uniform(0.4, 0.6, (40, 3))
    data = Expression(x, np.tile(np.arange(10), 4), tuple(np.repeat(list("1234"), 10)), GENES)
    levels = [[0, 0.1, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0], [0.5, 0.5, 0.5]]
    states = SteadyStates(levels, ("A", "B", "C", ""), [True] * 3 + [False], GENES)
    first = infer(data, steady=states, resamples=4, rng=0).edges()[0]
    assert (first.regulator, first.target, first.sign) == ("A", "B", "+")
    # The order of experiments and of genes changes nothing.
    turned = SteadyStates(
        np.array(levels)[::-1, ::-1], ("", "C", "B", "A"), [False] + [True] * 3, GENES[::-1]
    )
    one, two = (infer(data, steady=s, resamples=4, rng=0).edges() for s in (states, turned))
    assert one == two

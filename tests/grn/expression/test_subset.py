"""Some genes of a table: by name, or the most variable."""

import numpy as np
import pytest

from grn_tvcs import Expression, SteadyStates
from grn_tvcs.expression import most_variable, subset_genes
from grn_tvcs.expression.scales import on_scale


def table(values, **more):
    n = len(values)
    genes = tuple(f"G{j}" for j in range(np.shape(values)[1]))
    return Expression(values, np.arange(float(n)), ("a",) * n, genes, **more)


def test_the_samples_of_some_genes_stay_as_they_are(rng):
    data = table(rng.uniform(size=(9, 5)), steady_values=rng.uniform(size=(3, 5)))
    part = subset_genes(data, ["G4", "G1"])
    assert part.genes == ("G1", "G4")
    assert np.array_equal(part.values, data.values[:, [1, 4]])
    assert np.array_equal(part.steady_values, data.steady_values[:, [1, 4]])
    assert part.times.tolist() == data.times.tolist()


def test_all_genes_are_the_same_table(rng):
    data = table(rng.uniform(size=(9, 3)))
    assert subset_genes(data, data.genes) is data


def test_counts_are_divided_by_the_size_of_all_genes(rng):
    counts = rng.poisson(200, (9, 120)) * rng.integers(1, 5, (9, 1))
    data = table(counts, scale="counts")
    part = on_scale(subset_genes(data, data.genes[:3]))
    assert np.allclose(part.values, on_scale(data).values[:, :3])
    assert part.scale == "levels"


@pytest.mark.parametrize(
    ("names", "message"),
    [(["G1", "zz"], "no genes of the table: zz"), (["G1"], "at least 2 genes"), ([], "at least 2")],
)
def test_names_that_leave_no_table_are_refused(names, message):
    with pytest.raises(ValueError, match=message):
        subset_genes(table(np.eye(4)), names)


def test_the_most_variable_genes_come_first_whatever_the_unit(rng):
    spread = np.array([0.1, 1.0, 0.4, 0.0, 0.7])
    levels = np.exp(rng.normal(size=(40, 5)) * spread)
    levels[:, 3] = 1.0
    for unit in (1.0, 1e-3, 1e6):
        assert most_variable(table(levels * unit, scale="levels"), 5) == [
            "G1", "G4", "G2", "G0", "G3",
        ]  # fmt: skip


def test_the_noise_of_a_gene_that_is_hardly_there_is_no_variance(rng):
    levels = 100 * np.exp(0.3 * rng.normal(size=(40, 4)))
    levels[:, 2] = rng.uniform(0, 0.5, 40)
    assert most_variable(table(levels, scale="levels"), 4)[-1] == "G2"


def test_logarithms_are_taken_as_they_are_and_equal_ones_go_by_name():
    values = np.tile([[-1.0, 2.0, 1.0], [1.0, -2.0, -1.0]], (3, 1))
    assert most_variable(table(values, scale="log"), 3) == ["G1", "G0", "G2"]
    assert most_variable(table(np.zeros((4, 3)), scale="levels"), 2) == ["G0", "G1"]
    with pytest.raises(ValueError, match=">= 2, found 1"):
        most_variable(table(values, scale="log"), 1)


def test_steady_states_of_some_genes_keep_their_experiments_alone():
    levels = np.arange(16.0).reshape(4, 4)
    steady = SteadyStates(levels, ("a", "", "c", "b"), [True, False, True, False], tuple("abcd"))
    part = steady.restrict_to({"b", "c"})
    assert part.genes == ("b", "c")
    assert part.changed == ("", "c", "b")
    assert part.is_knockout.tolist() == [False, True, False]
    assert part.levels.tolist() == [[5, 6], [9, 10], [13, 14]]

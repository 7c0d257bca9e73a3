import numpy as np
import pytest

from grn_tvcs import METHODS, Expression, infer, read_expression, read_reference, score, simulate
from grn_tvcs.methods.tvcs import _blocks
from grn_tvcs.model import StepLoss, log_levels, mean_of_past, transitions
from tvcs_core import TVCS, Problem, solve


@pytest.fixture(scope="module")
def made():
    return simulate(12, 6, 11, n_edges=15, noise=0.03, rng=4)


def taken(expression, order, series=None):
    """The same measurements with genes, and perhaps series, in another order."""
    rows = np.arange(len(expression.times))
    if series is not None:
        pieces = list(expression.pieces().values())
        rows = np.concatenate([rows[pieces[s]] for s in series])
    return Expression(
        expression.values[np.ix_(rows, order)],
        expression.times[rows],
        tuple(expression.series[i] for i in rows),
        tuple(expression.genes[j] for j in order),
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_genes_and_series_changes_nothing(made, method):
    order = np.random.default_rng(0).permutation(12)
    turned = taken(made.expression, order, series=[3, 1, 0, 5, 2, 4])
    a, b = infer(made.expression, method, rng=1), infer(turned, method, rng=1)
    assert a.edges() == b.edges()


@pytest.mark.parametrize("method", METHODS)
def test_a_method_keeps_the_contract(made, method):
    regulators = ["G1", "G2", "G3", "G4", "G5"]
    network = infer(
        made.expression, method, max_in_degree=2, max_out_degree=3, regulators=regulators, rng=0
    )
    assert network.genes == tuple(sorted(made.expression.genes))
    assert network.in_degrees.max() <= 2
    assert network.out_degrees.max() <= 3
    sources = {edge.regulator for edge in network.edges()}
    assert sources <= set(regulators)
    assert network.edges()
    assert all(float(f"{edge.score:.6g}") == edge.score for edge in network.edges())


def test_the_same_seed_gives_the_same_network_and_another_one_another(made):
    first, again, other = (infer(made.expression, rng=seed).edges() for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_units_of_a_gene_do_not_matter(made):
    values = made.expression.values * np.linspace(1, 2**10, 12)
    scaled = Expression(
        values, made.expression.times, made.expression.series, made.expression.genes
    )
    a, b = infer(made.expression, rng=0), infer(scaled, rng=0)
    assert np.allclose(a.scores, b.scores, rtol=1e-4, atol=1e-7)


def test_two_edges_per_gene_are_selected_where_no_cap_is_given(made):
    assert infer(made.expression, rng=0).selected.sum() == 24
    assert infer(made.expression, max_in_degree=1, rng=0).selected.sum() <= 12


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_gene_is_named_and_is_no_target(made, method):
    values = np.array(made.expression.values)
    values[:, 3] = 0.5
    flat = Expression(values, made.expression.times, made.expression.series, made.expression.genes)
    with pytest.warns(UserWarning, match="constant genes get no regulators: G4"):
        network = infer(flat, method, rng=0)
    assert network.in_degrees[network.genes.index("G4")] == 0
    assert not network.scores[:, network.genes.index("G4")].any()


@pytest.mark.parametrize("n_points", [2, 3, 4])
def test_very_short_series_work(n_points):
    made = simulate(5, 1, n_points, n_edges=4, rng=0)
    for method in METHODS:
        assert np.isfinite(infer(made.expression, method, rng=0).scores).all()


def test_one_long_series_is_cut_into_blocks():
    steps = transitions(simulate(5, 1, 21, n_edges=4, rng=0).expression)
    blocks = _blocks(steps)
    assert blocks.tolist() == sorted(blocks.tolist())
    assert set(blocks) == set(range(8))


def test_negative_levels_are_taken_as_logarithms():
    x = np.array([[1.0, -2.0], [3.0, 4.0]])
    assert np.array_equal(log_levels(x), x)
    assert log_levels(np.array([[2.0], [0.0]])) == pytest.approx(np.log([[1.1], [0.1]]))


def test_the_past_is_weighted_by_halves():
    assert mean_of_past(np.array([[1.0], [3.0], [5.0]]))[:, 0].tolist() == [1, 2, 3.5]


def test_the_default_beats_chance_and_the_papers_plain_model():
    made = [simulate(20, 8, 15, noise=0.03, rng=seed) for seed in range(3)]
    found = {
        method: np.mean([score(infer(m.expression, method, rng=0), m.network).aupr for m in made])
        for method in ("tvcs", "tvcs-plain")
    }
    chance = np.mean([score(m.network, m.network).aupr_by_chance for m in made])
    assert found["tvcs"] > 3 * chance
    assert found["tvcs"] > found["tvcs-plain"]


def test_the_default_beats_chance_on_the_bundled_network(bundled):
    expression = read_expression(bundled / "timeseries.tsv")
    reference = read_reference(bundled / "goldstandard.tsv", expression.genes)
    found = score(infer(expression, rng=0), reference)
    assert found.aupr > 3 * found.aupr_by_chance
    assert found.auroc > 0.7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "magic"}, "method must be one of tvcs, .*, found 'magic'"),
        ({"max_edges": -2}, "max_edges must be >= 0"),
        ({"regulators": "G1"}, "must be a list of names"),
        ({"regulators": ["x"]}, "the regulators are x; the genes are G1, G10"),
    ],
)
def test_bad_arguments_are_refused(made, arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        infer(made.expression, **arguments)


class TestStepLoss:
    """The covariance form against regressions on the rows themselves."""

    @pytest.fixture
    def case(self, rng):
        steps = transitions(simulate(6, 3, 11, n_edges=8, rng=1).expression)
        weights = rng.uniform(0.6, 1.0, 6)
        loss = StepLoss(steps, np.ones(30, dtype=bool), weights)
        support = rng.uniform(size=(6, 6)) < 0.5
        np.fill_diagonal(support, False)
        return steps, weights, loss, support

    @staticmethod
    def rows_of(steps, weights, target):
        """Response and inputs of one target, own level and intercept regressed out, scaled."""
        own = np.column_stack([np.ones(30), steps.own[:, target]])

        def rest(x):
            x = x - own @ np.linalg.lstsq(own, x, rcond=None)[0]
            return x / np.sqrt(np.mean(x * x, axis=0))

        return rest(steps.past) * weights, rest(steps.following[:, target])

    def test_minimum_is_that_of_least_squares_on_rows(self, case):
        steps, weights, loss, support = case
        W, _ = loss.gains(support)
        assert np.allclose(W, loss.minimize_on(support))
        for i in range(6):
            X, y = self.rows_of(steps, weights, i)
            on = np.flatnonzero(support[:, i])
            assert np.allclose(W[on, i], np.linalg.lstsq(X[:, on], y, rcond=None)[0], atol=1e-4)
            assert not W[~support[:, i], i].any()

    def test_gain_is_what_dropping_the_edge_costs(self, case):
        steps, weights, loss, support = case
        _, gains = loss.gains(support)

        def unexplained(i, on):
            X, y = self.rows_of(steps, weights, i)
            return np.mean((y - X[:, on] @ np.linalg.lstsq(X[:, on], y, rcond=None)[0]) ** 2)

        for i in range(6):
            on = np.flatnonzero(support[:, i])
            for j in on:
                cost = unexplained(i, on[on != j]) - unexplained(i, on)
                assert gains[j, i] == pytest.approx(cost, abs=1e-4)

    def test_a_refitted_solution_is_the_best_on_its_support(self, case):
        _, _, loss, _ = case
        constraint = TVCS.matrix((6, 6), col_caps=2, total=8, allowed=~np.eye(6, dtype=bool))
        solution = solve(Problem(loss, constraint), "gradmp", refit=True, max_iter=5)
        assert constraint.is_feasible(solution.support)
        assert np.allclose(solution.matrix, loss.minimize_on(solution.support))

    def test_value_is_half_the_unexplained_variance_and_gradient_its_slope(self, case, rng):
        steps, weights, loss, _ = case
        W = rng.normal(size=(6, 6)) * ~np.eye(6, dtype=bool)
        slow = 0.0
        for i in range(6):
            X, y = self.rows_of(steps, weights, i)
            slow += 0.5 * np.mean((y - X @ W[:, i]) ** 2)
        assert loss.value(W) == pytest.approx(slow)
        direction = rng.normal(size=(6, 6)) * ~np.eye(6, dtype=bool)
        slope = (loss.value(W + 1e-5 * direction) - loss.value(W - 1e-5 * direction)) / 2e-5
        assert np.vdot(loss.gradient(W), direction) == pytest.approx(slope, rel=1e-6)

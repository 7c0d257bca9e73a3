"""Every baseline against plain loops from its paper, or against another's program."""

import itertools
from math import log, sqrt

import numpy as np
import pytest
from scipy.stats import spearmanr

from grn_tvcs import METHODS, Expression, Rules, infer
from grn_tvcs.evidence.forests import streams_by_name
from grn_tvcs.evidence.mutual_information import mutual_information
from grn_tvcs.evidence.random_forest import importances
from grn_tvcs.evidence.rate_trees import decay_rates
from grn_tvcs.methods.tigress import least_angle_entries
from tests.reference import rank_correlation

BASELINES = ("pcc", "aracne", "clr", "mrnet", "pidc", "genie3", "dyngenie3", "tigress")
UNDIRECTED = ("pcc", "aracne", "clr", "mrnet", "pidc")
N = 8


@pytest.fixture(scope="module")
def expression():
    """Five series of a stable linear process: eight genes, some of which drive each other."""
    rng = np.random.default_rng(3)
    push = rng.normal(size=(N, N)) * (rng.uniform(size=(N, N)) < 0.2)
    values = []
    for _ in range(5):
        x = rng.uniform(size=N)
        for _ in range(9):
            values.append(x)
            x = 0.6 * x + 0.3 * np.tanh(x @ push) + 0.1 * rng.uniform(size=N)
    series = np.repeat(list("12345"), 9)
    genes = tuple(f"G{j}" for j in range(N))
    return Expression(np.array(values), np.tile(np.arange(9) * 2.0, 5), tuple(series), genes)


def run(method, expression, rules=None, **options):
    rng = np.random.default_rng(5)
    return METHODS[method](expression, Rules() if rules is None else rules, rng, **options)


def changed(expression, values):
    return Expression(values, expression.times, expression.series, expression.genes)


@pytest.fixture(scope="module")
def information(expression):
    """Mutual information of every pair, one at a time."""
    table = np.zeros((N, N))
    for i, j in itertools.permutations(range(N), 2):
        rho = spearmanr(expression.values[:, i], expression.values[:, j]).statistic
        table[i, j] = -0.5 * log(1 - min(rho**2, 0.999999))
    return table


class TestInformation:
    def test_is_that_of_spearmans_correlation(self, expression, information):
        found = mutual_information(rank_correlation(expression.values))
        assert found == pytest.approx(information)

    def test_does_not_change_a_bit_with_the_order_of_samples(self, expression, rng):
        turned = rng.permutation(expression.values)
        assert np.array_equal(rank_correlation(turned), rank_correlation(expression.values))

    def test_sees_monotone_scales_as_equal(self, expression):
        found = rank_correlation(np.exp(expression.values))
        assert np.array_equal(found, rank_correlation(expression.values))

    def test_of_gaussian_genes_is_near_that_of_scikit_learns_neighbours(self, rng):
        from sklearn.feature_selection import mutual_info_regression

        x = rng.normal(size=(3000, 1))
        values = np.column_stack([x, x + rng.normal(size=(3000, 1))])
        exact = 0.5 * log(2)  # correlation sqrt(1/2)
        ours = mutual_information(rank_correlation(values))[0, 1]
        theirs = mutual_info_regression(values[:, :1], values[:, 1], random_state=0)[0]
        assert ours == pytest.approx(exact, abs=0.05)
        assert ours == pytest.approx(theirs, abs=0.06)

    def test_with_copies_ties_and_constants_is_finite(self):
        x = np.array([[0.0, 0, 1, 5], [0, 0, 1, 5], [1, 1, 0, 5], [1, 1, 2, 5]])
        found = mutual_information(rank_correlation(x))
        assert found[0, 1] == pytest.approx(-0.5 * log(1e-6))
        assert not found[3].any()


def test_pcc_is_the_size_of_pearsons_correlation(expression):
    slow = np.abs(np.corrcoef(expression.values.T)) - np.eye(N)
    assert run("pcc", expression).scores == pytest.approx(slow, abs=1e-12)


def test_aracne_removes_the_weakest_pair_of_every_triple(expression, information):
    slow = information.copy()
    for i, j, k in itertools.combinations(range(N), 3):
        weakest = min([(i, j), (i, k), (j, k)], key=lambda pair: information[pair])
        slow[weakest] = slow[weakest[::-1]] = 0
    network = run("aracne", expression)
    assert network.scores == pytest.approx(slow)
    assert np.array_equal(network.selected, slow > 0)
    assert 0 < network.selected.sum() < N * (N - 1)


def test_aracne_with_a_large_tolerance_keeps_all_pairs(expression, information):
    assert run("aracne", expression, tolerance=9.0).scores == pytest.approx(information)


def test_tigress_selects_some_of_the_edges_that_it_ranks(expression):
    network = run("tigress", expression)
    assert 0 < network.selected.sum() < (network.scores > 0).sum()


def test_aracne_keeps_all_pairs_of_a_tie():
    """Three genes as near to each other: no pair is weaker than both others."""
    x = np.array([[0.0, 0, 1], [0, 1, 0], [1, 0, 0], [5, 5, 5]])
    made = Expression(x, np.arange(4.0), ("1",) * 4, ("A", "B", "C"))
    assert run("aracne", made).selected.sum() == 6


def test_clr_is_the_root_of_both_squared_z(expression, information):
    slow = np.zeros((N, N))
    for i, j in itertools.permutations(range(N), 2):
        z = []
        for gene in (i, j):
            others = [information[gene, k] for k in range(N) if k != gene]
            mean = sum(others) / len(others)
            sd = sqrt(sum((value - mean) ** 2 for value in others) / (len(others) - 1))
            z.append(max(0, (information[i, j] - mean) / sd))
        slow[i, j] = sqrt(z[0] ** 2 + z[1] ** 2)
    assert run("clr", expression).scores == pytest.approx(slow)


def test_mrnet_takes_the_most_relevant_and_least_redundant(expression, information):
    chosen = np.zeros((N, N))
    for target in range(N):
        taken = []
        while len(taken) < N - 1:
            gains = {}
            for j in set(range(N)) - {target, *taken}:
                overlap = [information[j, k] for k in taken]
                gains[j] = information[j, target] - sum(overlap) / max(len(overlap), 1)
            best = max(gains, key=gains.__getitem__)
            if gains[best] <= 0:
                break
            chosen[best, target] = gains[best]
            taken.append(best)
    found = run("mrnet", expression).scores
    assert found == pytest.approx(np.maximum(chosen, chosen.T))
    assert (found == 0).sum() > N


class TestForest:
    def test_importance_is_the_decrease_of_variance_at_each_split(self, rng):
        x, y = rng.normal(size=(30, 4)), rng.normal(size=30)
        found = importances(x, y, np.random.default_rng(1), trees=3)
        seed = int(np.random.default_rng(1).integers(2**32))
        assert found == pytest.approx(self.by_loops(x, y, seed, 3))

    @staticmethod
    def by_loops(x, y, seed, n_trees):
        from sklearn.ensemble import RandomForestRegressor

        forest = RandomForestRegressor(n_trees, max_features="sqrt", random_state=seed).fit(x, y)
        total = np.zeros(x.shape[1])
        for tree in (estimator.tree_ for estimator in forest.estimators_):
            n, variance = tree.weighted_n_node_samples, tree.impurity
            for v in range(tree.node_count):
                left, right = tree.children_left[v], tree.children_right[v]
                if left >= 0:
                    after = n[left] * variance[left] + n[right] * variance[right]
                    total[tree.feature[v]] += (n[v] * variance[v] - after) / n[0]
        return total / n_trees

    @pytest.mark.parametrize("method", ["genie3", "dyngenie3"])
    def test_one_or_two_threads_give_the_same_bytes(self, expression, method):
        one, two = (run(method, expression, trees=5, threads=threads).scores for threads in (1, 2))
        assert one.tobytes() == two.tobytes()

    @pytest.mark.parametrize("method", ["genie3", "dyngenie3"])
    def test_progress_counts_the_genes_and_changes_nothing(self, expression, method):
        seen = []
        result = run(method, expression, trees=2, progress=lambda *done: seen.append(done))
        assert seen == [(i, N) for i in range(1, N + 1)]
        assert np.array_equal(result.scores, run(method, expression, trees=2).scores)

    def test_genie3_predicts_scaled_levels_from_all_others(self, expression):
        found = run("genie3", expression, trees=4).scores
        x = expression.values
        for i, stream in enumerate(streams_by_name(expression.genes, np.random.default_rng(5))):
            others = [j for j in range(N) if j != i]
            seed = int(stream.integers(2**32))
            slow = self.by_loops(x[:, others], x[:, i] / np.std(x[:, i]), seed, 4)
            assert found[others, i] == pytest.approx(slow)

    def test_dyngenie3_predicts_change_and_decay_from_all_genes(self, expression):
        found = run("dyngenie3", expression, trees=4).scores
        alphas = decay_rates(expression)
        for i, stream in enumerate(streams_by_name(expression.genes, np.random.default_rng(5))):
            x, y = [], []
            for rows in expression.pieces.values():
                for t in range(rows.start, rows.stop - 1):
                    now, then = expression.values[t, i], expression.values[t + 1, i]
                    dt = expression.times[t + 1] - expression.times[t]
                    x.append(expression.values[t])
                    y.append((then - now) / dt + alphas[i] * now)
            slow = self.by_loops(np.array(x), np.array(y), int(stream.integers(2**32)), 4)
            slow[i] = 0
            assert found[:, i] == pytest.approx(slow / slow.sum())

    def test_only_regulators_are_inputs(self, expression):
        rules = Rules(regulators=frozenset(expression.genes[:3]))
        for method in ("genie3", "dyngenie3", "tigress"):
            scores = run(method, expression, rules).scores
            assert not scores[3:].any()
            assert scores[:3, 3:].sum(axis=0).min() > 0.5

    def test_the_regulator_of_a_switch_comes_first(self, rng):
        x = rng.uniform(size=(60, 5))
        x[:, 4] = np.where(x[:, 2] > 0.5, 1.0, 0.2) + 0.05 * rng.normal(size=60)
        made = Expression(x, np.arange(60.0), ("1",) * 60, tuple("ABCDE"))
        assert run("genie3", made).scores[:, 4].argmax() == 2


class TestDecayRates:
    def test_of_an_exponential_decay_is_its_rate(self):
        times = np.arange(6.0)
        x = np.column_stack([np.exp(-0.3 * times), np.exp(-0.1 * times), np.zeros(6)])
        made = Expression(x, times, ("1",) * 6, ("A", "B", "C"))
        assert decay_rates(made) == pytest.approx([0.3, 0.1, 0])

    def test_is_that_of_plain_loops(self, expression):
        least = expression.values.min()
        for j in range(N):
            rates = []
            for rows in expression.pieces.values():
                x, t = list(expression.values[rows, j]), expression.times[rows]
                high, low = max(max(x) - least, 1e-6), max(min(x) - least, 1e-6)
                time = abs(t[x.index(max(x))] - t[x.index(min(x))])
                rates.append((log(high) - log(low)) / time if max(x) > min(x) else 0)
            assert decay_rates(expression)[j] == pytest.approx(max(rates))


class TestTigress:
    @staticmethod
    def order_of_efron(X, y, steps):
        """Least angle regression, equations 2.4 to 2.13 of Efron et al. (2004), in sample space."""
        fit, taken = np.zeros(len(y)), []
        for _ in range(steps):
            c = X.T @ (y - fit)  # 2.8
            C = np.abs(c).max()  # 2.9
            if not taken:
                taken.append(int(np.abs(c).argmax()))
            signed = X[:, taken] * np.sign(c[taken])  # 2.4
            inverse = np.linalg.inv(signed.T @ signed)
            A = inverse.sum() ** -0.5  # 2.5
            u = signed @ (A * inverse.sum(axis=1))  # 2.6: the equiangular vector
            a = X.T @ u  # 2.11
            ways = {}
            for j in set(range(X.shape[1])) - set(taken):
                both = [(C - c[j]) / (A - a[j]), (C + c[j]) / (A + a[j])]
                ways[j] = min(way for way in both if way > 0)  # 2.13
            if not ways:
                break
            nearest = min(ways, key=ways.__getitem__)
            fit = fit + ways[nearest] * u  # 2.12
            taken.append(nearest)
        return taken[:steps]

    @staticmethod
    def entries_of(x, target, steps):
        entries = least_angle_entries(x, x, ~np.eye(x.shape[1], dtype=bool), steps)
        return [int(entering[targets == target][0]) for entering, targets, _ in entries]

    @pytest.mark.parametrize("seed", range(10))
    def test_regulators_enter_in_the_order_of_the_paper_on_least_angle_regression(self, seed):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(20, 7)) @ rng.normal(size=(7, 7)) * rng.uniform(0.2, 1, 7)
        x -= x.mean(axis=0)
        for target in range(7):
            others = [j for j in range(7) if j != target]
            slow = self.order_of_efron(x[:, others], x[:, target], 5)
            assert self.entries_of(x, target, 5) == [others[j] for j in slow]

    def test_regulators_enter_in_the_order_of_scikit_learn(self, rng):
        """On near orthogonal columns: scikit-learn turns signs where a coefficient passes 0."""
        from sklearn.linear_model import lars_path

        x = rng.normal(size=(400, 9))
        x[:, 8] = x[:, :8] @ (0.6 ** np.arange(8)) + rng.normal(size=400)
        x -= x.mean(axis=0)
        slow = lars_path(x[:, :8], x[:, 8], method="lar", max_iter=5)[1]
        assert self.entries_of(x, 8, 5) == [int(j) for j in slow]

    def test_the_score_is_the_mean_frequency_over_all_steps(self, expression):
        found = run("tigress", expression, splits=3)
        rng = np.random.default_rng(5)
        weights = [s.uniform(0.2, 1, 3) for s in streams_by_name(expression.genes, rng)]
        x = (expression.values - expression.values.mean(axis=0)) / expression.values.std(axis=0)
        often = np.zeros((5, N, N))  # [l, j, i]: j among the first l + 1 for i
        for run_number in range(3):
            order = rng.permutation(len(x))
            for rows in (order[: len(x) // 2], order[len(x) // 2 :]):
                half = x[rows] - x[rows].mean(axis=0)
                for i in range(N):
                    others = [j for j in range(N) if j != i]
                    inputs = np.array([half[:, j] * weights[j][run_number] for j in others]).T
                    taken = self.order_of_efron(inputs, half[:, i], 5)
                    for step, j in itertools.product(range(5), taken):
                        often[step, others[j], i] += taken.index(j) <= step
        frequency = often / 6
        assert found.scores == pytest.approx(frequency.mean(axis=0))
        assert np.array_equal(found.selected, frequency[-1] >= 0.6)

    def test_a_copy_of_a_regulator_waits_and_a_fitted_target_stops(self, rng):
        a, b = (v - v.mean() for v in rng.normal(size=(2, 12)))
        x = np.column_stack([a, 0.5 * a, b, 2 * a - b])
        entries = least_angle_entries(x, x, ~np.eye(4, dtype=bool), 4)
        taken = [int(entering[targets == 3][0]) for entering, targets, _ in entries[:2]]
        assert taken == [0, 2]
        assert len(entries) == 2


@pytest.mark.parametrize("method", sorted(set(BASELINES) - {"dyngenie3"}))
def test_the_unit_of_a_gene_does_not_matter(expression, method):
    """Powers of two, so that rounding is the same; dynGENIE3 counts 1e-6 as the least level."""
    scaled = changed(expression, expression.values * 2.0 ** np.arange(N))
    assert run(method, scaled).scores == pytest.approx(run(method, expression).scores)


@pytest.mark.parametrize("method", BASELINES)
class TestEveryBaseline:
    def test_scores_are_equal_both_ways_where_there_is_no_direction(self, expression, method):
        scores = run(method, expression).scores
        assert np.array_equal(scores, scores.T) == (method in UNDIRECTED)

    def test_three_samples_ties_and_a_constant_gene_give_finite_scores(self, method):
        values = [[0.0, 1, 1, 3], [0, 1, 2, 3], [1, 0, 2, 3]]
        made = Expression(np.array(values), np.arange(3.0), ("1",) * 3, tuple("ABCD"))
        network = run(method, made)
        assert np.isfinite(network.scores).all()
        assert not network.scores[3].any()
        assert not network.scores[:, 3].any()

    def test_two_equal_samples_and_two_genes_give_no_edge(self, method):
        made = Expression(np.ones((2, 2)), np.arange(2.0), ("1", "1"), ("A", "B"))
        assert not run(method, made).scores.any()


def test_what_tigress_keeps_of_a_unit_does_not_grow_with_the_regulators(tmp_path, rng):
    n, steps, runs = 150, 5, 8  # of a unit
    genes = tuple(f"G{j}" for j in range(n))
    made = Expression(rng.uniform(size=(20, n)), np.arange(20.0), ("1",) * 20, genes)
    run("tigress", made, splits=4, steps=steps, checkpoint_dir=tmp_path)
    [unit] = (tmp_path / "splits").glob("unit-*")
    assert unit.stat().st_size <= 20 * steps * runs * n + 1000 < 24 * n**2


@pytest.mark.parametrize("method", ["genie3", "dyngenie3", "tigress"])
def test_the_order_of_samples_in_the_file_does_not_matter(expression, method):
    rows = np.concatenate([np.arange(p.start, p.stop) for p in expression.pieces.values()][::-1])
    turned = Expression(
        expression.values[rows], expression.times[rows],
        tuple(expression.series[i] for i in rows), expression.genes,
    )  # fmt: skip
    assert infer(turned, method, rng=2).edges() == infer(expression, method, rng=2).edges()


def test_the_stream_of_a_gene_depends_on_its_name_and_the_seed_alone():
    def draws(genes, seed):
        return [s.random() for s in streams_by_name(genes, np.random.default_rng(seed))]

    assert draws(["A", "B"], 0) == draws(["B", "NEW", "A"], 0)[::-2]
    assert draws(["A", "B"], 0) != draws(["A", "B"], 1)
    assert len(set(draws(["A", "B", "C"], 0))) == 3

import csv
import json

import numpy as np
import pytest
from scipy import stats

from grn_tvcs import Expression, Rules, infer, read_network, simulate, write_edges, write_expression
from grn_tvcs.stability.draws import SubsamplingPlan
from grn_tvcs.stability.model import StepLoss, transitions
from grn_tvcs.stability.significance import ALPHA, noise_limit
from grn_tvcs.stability.stability import MIN_STEPS, STABLE, Draws, why_no_stability
from tests.makers.commands import check_done, grn_tvcs
from tests.makers.processes import run_python


def noise(kind, n_genes, n_series, n_points, seed=0):
    """Genes that know nothing of each other."""
    rng = np.random.default_rng([seed, n_genes, n_series, n_points])
    shape = n_series, n_points, n_genes
    if kind == "white":
        values = rng.uniform(0.5, 1.0, shape)
    elif kind == "walk":
        values = np.exp(0.3 * np.cumsum(rng.normal(size=shape), axis=1) - 2)
    else:
        course = np.exp(0.3 * np.cumsum(rng.normal(size=(1, *shape[1:])), axis=1) - 2)
        values = course * np.exp(0.1 * rng.normal(size=shape))
    series = np.repeat([f"s{k}" for k in range(n_series)], n_points)
    times = np.tile(np.arange(n_points), n_series)
    genes = tuple(f"G{i}" for i in range(n_genes))
    return Expression(values.reshape(-1, n_genes), times, tuple(series), genes, scale="levels")


FEW = {"resamples": 20, "calibrate": 0}  # how chances are calibrated is nothing to stability
DESIGNS = [(1, 6, 10), (1, 12, 30), (1, 25, 10), (1, 40, 30), (2, 6, 30), (2, 13, 10), (2, 20, 30),
           (3, 9, 10), (4, 4, 30), (4, 10, 10), (6, 6, 30), (10, 4, 10)]  # fmt: skip


@pytest.mark.filterwarnings("ignore:5 steps from sample to sample are too few")
@pytest.mark.parametrize(("n_series", "n_points", "n_genes"), DESIGNS)
@pytest.mark.parametrize("kind", ["white", "walk", "replicates"])
def test_noise_has_no_sure_edge(kind, n_series, n_points, n_genes):
    data = noise(kind, n_genes, n_series, n_points)
    found = infer(data, rng=0, **FEW).stability
    few = n_series * (n_points - 1) < MIN_STEPS
    assert np.isnan(found).all() if few else found.max() < STABLE
    assert (why_no_stability(data) is not None) == few


def test_many_cells_of_noise_in_one_series_have_no_sure_edge():
    for kind in ("white", "walk"):
        assert infer(noise(kind, 10, 1, 300), rng=0, **FEW).stability.max() < STABLE


def test_strong_effects_are_sure_and_sure_edges_are_true():
    n_sure = n_true = 0
    for seed in range(3):
        made = simulate(20, 10, 21, noise_level=0.03, rng=seed)
        network = infer(made.expression, rng=0, **FEW)
        order = [made.network.genes.index(gene) for gene in network.genes]
        is_sure = network.stability >= STABLE
        n_sure += int(is_sure.sum())
        n_true += int((is_sure & made.network.selected[np.ix_(order, order)]).sum())
    assert n_sure >= 5
    assert n_true >= 0.9 * n_sure


def test_what_stands_out_does_so_in_both_halves_which_share_no_step(monkeypatch):
    data = simulate(8, 6, 9, n_edges=9, rng=2).expression
    steps = transitions(data, 0.2)
    plan = SubsamplingPlan(("tvcs", "omp"), 2, (0.5, 0.5), (0.6, 1.0), (2, 2), (2.0, 2.0), 5)
    pairs = ~np.eye(8, dtype=bool)
    draws = Draws(steps, np.arange(8), pairs, Rules(), data.genes, plan)
    monkeypatch.setattr("grn_tvcs.stability.stability.noise_limit", lambda *_: 6.0)
    seen = 0
    for seed in range(5):
        added = np.zeros(draws.shape, np.int64)
        (pair,) = draws.with_pairs(np.random.default_rng(seed)).pairs
        for (one, in_one), (two, in_two) in draws.pair(pair, added):
            # Half of the steps, half of 6.
            sure = [set(part.edges.places[part.t_squared > 3.0]) for part in (one, two)]
            assert set(one.edges.places[in_one]) == sure[0] & sure[1]
            assert set(two.edges.places[in_two]) == sure[0] & sure[1]
            seen += int(in_one.sum())
    assert seen


class TestNoiseLimit:
    @staticmethod
    def loss(data):
        steps = transitions(data, 0.2)
        inputs = np.arange(len(data.genes))
        past = steps.past(inputs, 0.5)
        return StepLoss(past, steps.own, steps.following, steps.intercepts, np.ones(inputs.size))

    def test_it_is_students_t_where_steps_are_independent(self):
        limit = noise_limit(self.loss(noise("white", 30, 10, 21)), ~np.eye(30, dtype=bool))
        plain = stats.t.isf(ALPHA / (2 * 870), 197) ** 2
        assert plain <= limit < 1.3 * plain

    def test_replicates_count_as_what_they_tell(self):
        one, ten = (self.loss(noise("replicates", 30, n, 21)) for n in (1, 10))
        pairs = ~np.eye(30, dtype=bool)
        assert np.median(ten.alone[pairs]) > 3 * np.median(one.alone[pairs])
        assert noise_limit(ten, pairs) > 3 * stats.t.isf(ALPHA / (2 * 870), 197) ** 2

    def test_nothing_stands_out_where_nothing_is_left(self):
        assert noise_limit(self.loss(noise("white", 5, 1, 6)), np.zeros((5, 5), bool)) == np.inf
        assert noise_limit(self.loss(noise("white", 5, 1, 4)), ~np.eye(5, dtype=bool)) == np.inf


def test_halves_that_may_share_samples_are_no_halves():
    times = [0, 1, 0, 1, 0, 1, *range(30)]
    series = ["a", "a", "b", "b", "c", "c", *["d"] * 30]
    values = np.random.default_rng(0).uniform(size=(36, 5))
    data = Expression(values, times, tuple(series), tuple("ABCDE"))
    assert "half of the series may have only 2 of 32 steps" in why_no_stability(data)
    assert np.isnan(infer(data, resamples=4, rng=0).stability).all()


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """One series of 12 points."""
    path = tmp_path_factory.mktemp("short") / "x.tsv"
    write_expression(simulate(8, 1, 12, n_edges=9, rng=2).expression, path)
    return path


def test_too_few_data_give_no_stability_and_a_note(short, tmp_path):
    out = tmp_path / "out"
    words = ["infer", str(short), "--out", str(out), "--method", "tvcs", "--option", "resamples=6"]
    done = check_done(grn_tvcs(*words))
    why = "11 steps from sample to sample are too few to be halved; 24 are needed (13 more"
    assert f"no edge gets a stability: {why}" in done.stderr
    with (out / "edges.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert {row["stability"] for row in rows} == {""}
    genes = json.loads((out / "run.json").read_text())["genes"]
    again = read_network(out / "edges.tsv", genes)
    assert np.isnan(again.stability).all()
    write_edges(again, tmp_path / "again.tsv")
    assert (tmp_path / "again.tsv").read_bytes() == (out / "edges.tsv").read_bytes()
    page = (out / "report.html").read_text()
    assert f"No edge has a stability: {why}" in page
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert set(data["edges"]["stability"]) == {None}
    checked = grn_tvcs("check", short)
    assert why in checked.stdout


def test_the_report_says_how_many_selected_edges_are_sure(tmp_path):
    made = simulate(10, 10, 21, n_edges=12, noise_level=0.02, rng=1)
    write_expression(made.expression, tmp_path / "x.tsv")
    words = ["infer", str(tmp_path / "x.tsv"), "--out", str(tmp_path / "out")]
    assert grn_tvcs(*words, "--option", "resamples=20").exit_code == 0
    genes = json.loads((tmp_path / "out" / "run.json").read_text())["genes"]
    network = read_network(tmp_path / "out" / "edges.tsv", genes)
    n_sure = int(((network.stability >= STABLE) & network.selected).sum())
    page = (tmp_path / "out" / "report.html").read_text()
    assert f"edges from {STABLE} are called stable ({n_sure} of the selected edges)" in page


def test_halves_need_no_scipy_stats():
    """Whose import alone takes longer than the halves of 300 genes."""
    script = (
        "import sys\nsys.modules['scipy.stats'] = None\nfrom grn_tvcs import infer, simulate\n"
        "data = simulate(8, 8, 9, n_edges=9, rng=2).expression\n"
        "print(infer(data, 'tvcs', resamples=2, rng=0).stability.size)"
    )
    done = run_python(script, check=False)
    assert done.stdout == "64\n", done.stderr

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from grn_tvcs import METHODS, Expression, SteadyStates, infer, read_reference, score, simulate
from grn_tvcs.network.rules import BY_VERDICT, Rules
from grn_tvcs.network.rules import FEW as FEW_EDGES


@pytest.fixture(scope="module")
def made():
    return simulate(12, 6, 11, n_edges=15, rng=4)


def taken(expression, order, series=None):
    """The same measurements with genes, and perhaps series, in another order."""
    rows = np.arange(len(expression.times))
    if series is not None:
        pieces = list(expression.pieces.values())
        rows = np.concatenate([rows[pieces[s]] for s in series])
    return Expression(
        expression.values[np.ix_(rows, order)],
        expression.times[rows],
        tuple(expression.series[i] for i in rows),
        tuple(expression.genes[j] for j in order),
    )


FEW = {
    "combined": {"resamples": 10, "calibrate": 1},
    "tvcs": {"resamples": 10},
}  # fmt: skip

MANY = (0, 5, 60, None)


def given(method, made):
    """Few halves; and knock-outs for the method that ranks by nothing else."""
    if method != "knock-outs":
        return FEW.get(method, {})
    genes = made.expression.genes
    return {"steady": SteadyStates(made.knockouts, genes, [True] * len(genes), genes)}


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_genes_and_series_changes_nothing(made, method):
    order = np.random.default_rng(0).permutation(12)
    turned = taken(made.expression, order, series=[3, 1, 0, 5, 2, 4])
    a, b = (infer(e, method, rng=1, **given(method, made)) for e in (made.expression, turned))
    assert a.edges() == b.edges()


@pytest.mark.parametrize("method", METHODS)
def test_a_method_keeps_the_contract(made, method):
    regulators = ["G1", "G2", "G3", "G4", "G5"]
    network = infer(
        made.expression,
        method,
        max_in_degree=2,
        max_out_degree=3,
        regulators=regulators,
        rng=0,
        **given(method, made),
    )
    assert network.genes == tuple(sorted(made.expression.genes))
    assert network.in_degrees.max() <= 2
    assert network.out_degrees.max() <= 3
    sources = {edge.regulator for edge in network.edges()}
    assert sources <= set(regulators)
    assert network.edges()
    assert all(float(f"{edge.score:.6g}") == edge.score for edge in network.edges())


def test_the_same_seed_gives_the_same_network_and_another_one_another(made):
    first, again, other = (
        infer(made.expression, "tvcs", resamples=10, rng=seed).edges() for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_units_of_a_gene_do_not_matter(made):
    values = made.expression.values * np.linspace(1, 2**10, 12)
    scaled = Expression(
        values, made.expression.times, made.expression.series, made.expression.genes
    )
    a, b = (infer(e, "tvcs", resamples=10, rng=0) for e in (made.expression, scaled))
    assert np.allclose(a.scores, b.scores, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("caps", [{}, {"max_in_degree": 1}, {"max_out_degree": 2}])
def test_without_a_number_of_edges_few_are_selected_where_there_is_no_chance(made, caps):
    found = infer(made.expression, "tvcs", resamples=4, rng=0, **caps)
    assert found.selected.sum() == 1  # of 12 genes
    assert found.provenance.rules.chosen_by == FEW_EDGES
    assert found.provenance.rules.why_so_many(1).startswith("The number of true edges is unknown")
    some = infer(made.expression, "pcc", targets=["G1", "G2"], **caps)
    assert some.selected.sum() == 1
    given = infer(made.expression, "tvcs", resamples=4, rng=0, max_edges=9, **caps)
    assert given.selected.sum() == 9
    assert given.provenance.rules.why_so_many(9) == ""


@pytest.mark.parametrize("method", ["combined", "tvcs"])
def test_a_number_of_edges_changes_no_score_confidence_or_verdict(made, method):
    found = {n: infer(made.expression, method, rng=0, max_edges=n, **FEW[method]) for n in MANY}
    for n, network in found.items():
        assert network.n_selected <= (132 if n is None else n)
        assert network.verdict == found[None].verdict
        for name in ("scores", "signs", "stability", "confidence", "evidence"):
            one, other = getattr(network, name), getattr(found[None], name)
            assert (one is other is None) or one.tobytes() == other.tobytes()
    assert found[5].n_selected == 5


def test_the_sentence_on_the_number_of_edges_says_what_the_caps_leave(made):
    found = infer(made.expression, "pcc", max_in_degree=0)
    assert found.n_selected == 0
    assert found.provenance.rules.why_so_many(found.n_selected) == (
        "The number of true edges is unknown. The number sought, 1, is one for every 10 genes "
        "whose regulators are sought, but the caps leave 0: candidates to test, not findings."
    )


@pytest.mark.parametrize("caps", [{}, {"max_in_degree": 1}])
def test_without_a_number_of_edges_that_of_the_verdict_is_taken(made, caps):
    found = infer(made.expression, resamples=10, calibrate=1, rng=0, **caps)
    assert found.verdict.is_known
    expected = found.select_under_caps(replace(Rules(**caps), max_edges=found.verdict.n_edges))
    assert np.array_equal(found.selected, expected.selected)
    assert found.provenance.rules.chosen_by == BY_VERDICT


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_gene_is_named_and_is_no_target(made, method):
    values = np.array(made.expression.values)
    values[:, 3] = 0.5
    flat = Expression(values, made.expression.times, made.expression.series, made.expression.genes)
    with pytest.warns(UserWarning, match="constant genes get no regulators: G4"):
        network = infer(flat, method, rng=0, **given(method, made))
    assert network.in_degrees[network.genes.index("G4")] == 0
    assert not network.scores[:, network.genes.index("G4")].any()


@pytest.mark.parametrize("n_points", [2, 3, 4])
def test_very_short_series_work(n_points):
    made = simulate(5, 1, n_points, n_edges=4, rng=0)
    for method in METHODS:
        options = given(method, made)
        if "calibrate" in options:  # that is refused
            options = options | {"calibrate": 0}
        with pytest.warns(UserWarning, match=f"^{n_points - 1} steps? from sample to sample"):
            network = infer(made.expression, method, rng=0, **options)
        assert np.isfinite(network.scores).all()


def test_the_default_beats_chance_and_the_papers_plain_model():
    made = [simulate(20, 8, 15, rng=seed) for seed in range(3)]
    found = {
        method: np.mean([score(infer(m.expression, method, rng=0), m.network).aupr for m in made])
        for method in ("tvcs", "tvcs-plain")
    }
    chance = np.mean([score(m.network, m.network).aupr_by_chance for m in made])
    assert found["tvcs"] > 3 * chance
    assert found["tvcs"] > found["tvcs-plain"]


def test_the_default_beats_chance_on_the_bundled_network(bundled):
    expression = Expression.of(bundled / "timeseries.tsv")
    reference = read_reference(bundled / "goldstandard.tsv", expression.genes)
    found = score(infer(expression, rng=0), reference)
    assert found.aupr > 3 * found.aupr_by_chance
    assert found.auroc > 0.7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "magic"}, "method must be one of combined, tvcs, .*, found 'magic'"),
        ({"max_edges": -2}, "max_edges must be >= 0"),
        ({"regulators": "G1"}, "must be a list of names"),
        ({"regulators": ["x"]}, "the regulators are x; the genes are G1, G10"),
    ],
)
def test_bad_arguments_are_refused(made, arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        infer(made.expression, **arguments)


def test_an_unknown_option_is_refused_with_what_there_is(made):
    with pytest.raises(TypeError, match="tvcs does not take 'sample'; its options: parts, resampl"):
        infer(made.expression, "tvcs", sample=3)
    with pytest.raises(TypeError, match="pcc does not take 'resamples'; its options: none"):
        infer(made.expression, "pcc", resamples=3)
    assert METHODS["tvcs"].options["parts"] == "both"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"parts": "half"}, "parts must be one of both, tvcs, omp, found 'half'"),
        ({"resamples": 0}, "resamples must be >= 1"),
        ({"memory": (0.7, 0.3)}, "memory must be two numbers, the lower one first"),
        ({"hub_power": -1}, "must be >= 0"),
        ({"hub_power": np.nan}, "hub_power must be finite, found nan"),
        ({"resamples": "6"}, "resamples must be an integer, found '6'"),
        ({"resamples": 6.5}, "resamples must be an integer, found 6.5"),
        ({"iterations": True}, "iterations must be an integer, found True"),
        ({"memory": 0.5}, "memory must be a list of two numbers, found 0.5"),
        ({"memory": (0.1, 0.2, 0.3)}, "memory must be two numbers, found 3"),
        ({"in_degrees": (1.5, 3)}, "in_degrees must be an integer, found 1.5"),
    ],
)
def test_an_option_out_of_range_or_of_another_kind_is_refused(made, option, message):
    with pytest.raises((ValueError, TypeError), match=message):
        infer(made.expression, "tvcs", **option)


@pytest.mark.parametrize("kind", [np.array, list, pd.Series])
def test_a_mask_in_place_of_names_is_refused_with_the_remedy(made, kind):
    mask = kind([True, False] * (len(made.expression.genes) // 2))
    for role in ("regulators", "targets"):
        with pytest.raises(TypeError, match=f"{role} must be a list of names.*True or False; give"):
            infer(made.expression, "pcc", **{role: mask})


def test_tables_without_a_pair_that_may_be_an_edge_have_an_empty_network(made):
    still = replace(made.expression, values=np.ones_like(made.expression.values))
    one = replace(made.expression, values=made.expression.values[:, :1], genes=("G1",))
    for table in (still, one):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = infer(table, "tvcs", resamples=2, rng=0)
        assert set(found.genes) == set(table.genes)
        assert not found.scores.any()


def test_each_part_alone_and_both_find_edges_within_the_caps(made):
    for parts in ("tvcs", "omp", "both"):
        network = infer(made.expression, "tvcs", parts=parts, resamples=10, max_in_degree=1, rng=0)
        assert network.in_degrees.max() == 1


def test_caps_of_regulators_find_genes_of_another_case(made):
    with pytest.warns(UserWarning, match=r"with a cap: 2 of 2 names .* \(g1 is G1\)"):
        found = infer(made.expression, "pcc", max_out_degree={"g1": 0, "G2": 1}, max_edges=30)
    exact = infer(made.expression, "pcc", max_out_degree={"G1": 0, "G2": 1}, max_edges=30)
    assert found.edges() == exact.edges()
    assert found.out_degrees[found.genes.index("G1")] == 0


def test_out_degree_caps_may_be_given_gene_by_gene(made):
    caps = {"G1": 0, "G2": 1, "nobody": 3}
    with pytest.warns(UserWarning, match="1 of 3 regulators with a cap are no genes: nobody"):
        network = infer(made.expression, resamples=10, max_out_degree=caps, max_edges=40, rng=0)
    out = dict(zip(network.genes, network.out_degrees, strict=True))
    assert out["G1"] == 0
    assert out["G2"] <= 1
    assert max(out.values()) > 1
    with pytest.raises(ValueError, match="the caps are for nobody; the genes are G1"):
        infer(made.expression, max_out_degree={"nobody": 3})
    with pytest.raises(ValueError, match=r"max_out_degree\['G1'\] must be >= 0, found -1"):
        infer(made.expression, max_out_degree={"G1": -1})


def test_progress_counts_the_halves(made):
    seen = []
    tell = lambda done, of: seen.append((done, of))  # noqa: E731
    infer(made.expression, "tvcs", rng=0, resamples=6, progress=tell)
    assert seen == [(2, 6), (4, 6), (6, 6)]


def test_stability_is_the_part_of_all_pairs_of_halves_where_an_edge_stood_out(made, monkeypatch):
    words = {"method": "tvcs", "resamples": 10, "in_degrees": (2, 2), "parts": "omp", "rng": 0}
    plain = infer(made.expression, **words)
    found = []
    for limit in (0.0, 5.0, np.inf):
        monkeypatch.setattr(
            "grn_tvcs.stability.stability.noise_limit", lambda *_, limit=limit: limit
        )
        found.append(infer(made.expression, **words).stability)
        assert infer(made.expression, **words).edges() == plain.edges()
    assert (found[0].sum(axis=0) <= 2.0 + 1e-9).all()  # two are chosen in every half
    assert (found[1] <= found[0]).all()
    assert 0 < found[1].sum() < found[0].sum()
    assert not found[2].any()
    assert set(np.round(found[0] * 5, 6).ravel()) <= set(range(6))  # five pairs
    assert infer(made.expression, "pcc").stability is None

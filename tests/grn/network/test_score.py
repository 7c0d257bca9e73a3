import json
from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, matthews_corrcoef, roc_auc_score

from grn_tvcs import Network, score
from grn_tvcs.network.scores import CUTS, PAIRS
from tests.makers.commands import grn_tvcs
from tests.makers.networks import over_all_genes, random_network, random_reference


def random_pair(seed, n=7):
    """A ranking with many ties and a reference, over the same genes."""
    rng = np.random.default_rng(seed)
    genes = tuple(f"G{i}" for i in range(n))
    scores = rng.integers(0, 4, (n, n)) / 3 * ~np.eye(n, dtype=bool)
    truth = rng.uniform(size=(n, n)) < 0.3
    np.fill_diagonal(truth, False)
    return Network.of(genes, scores).select_top(12), Network.of(genes, truth.astype(float))


def slow_scores(network, reference, which, cut):
    """Every number by plain loops over names of genes."""
    edges = {(e.regulator, e.target): e for e in network.edges()}
    true = {(e.regulator, e.target): e.sign for e in reference.edges(selected_only=True)}
    pairs = list(permutations(network.genes, 2))
    if which == "linked":
        pairs = [p for p in pairs if p in true or p[::-1] in true]
    scores = {p: edges[p].score if p in edges else 0.0 for p in pairs}
    selected = [p for p in pairs if p in edges and edges[p].selected]
    if cut == "top-n":
        ranking = sorted(filter(scores.get, pairs), key=lambda p: (-scores[p], p))
        selected = ranking[: len(true)]
    found = [p for p in selected if p in true]
    tp, fp, fn = len(found), len(selected) - len(found), len(true) - len(found)
    tn = len(pairs) - tp - fp - fn
    sn, sp = tp / (tp + fn), tn / (tn + fp)
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    of_true, of_false = ([scores[p] for p in pairs if (p in true) == is_in] for is_in in (1, 0))
    precision = [
        sum(t >= least for t in of_true) / sum(s >= least for s in scores.values())
        for least in of_true
    ]
    known = [(edges[p].sign, true[p]) for p in found if "?" not in (edges[p].sign, true[p])]
    return {
        "sn": sn, "sp": sp, "acc": (tp + tn) / len(pairs), "auc": (sn + sp) / 2,
        "f": 2 / (1 / sn + 1 / sp) if sn and sp else 0.0, "f1": 2 * tp / (2 * tp + fp + fn),
        "mcc": (tp * tn - fp * fn) / product**0.5 if product else 0.0,
        "auroc": np.mean([(t > f) + 0.5 * (t == f) for t in of_true for f in of_false]),
        "aupr": np.mean(precision), "early_precision": slow_early_precision(scores, true),
        "aupr_by_chance": len(true) / len(pairs), "n_pairs": len(pairs), "n_edges": len(true),
        "n_selected": len(selected), "n_found": tp, "n_signs": len(known),
        "n_signs_right": sum(one == other for one, other in known),
    }  # fmt: skip


def slow_early_precision(scores, true):
    """Precision of the first pairs, on average over the orders that the ties leave open."""
    room, hits = len(true), 0.0
    for value in sorted({*scores.values()} - {0}, reverse=True):
        tied = [pair in true for pair, score in scores.items() if score == value]
        hits += min(room, len(tied)) * sum(tied) / len(tied)
        room -= min(room, len(tied))
    return hits / (len(true) - room)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("pairs", PAIRS)
def test_scores_are_those_of_plain_loops(pairs, cut):
    for seed in range(30):
        network, reference = random_network(seed), random_reference(seed)
        found = vars(score(network, reference, pairs=pairs, cut=cut))
        assert (found["pairs"], found["cut"]) == (pairs, cut)
        for name, value in slow_scores(network, reference, pairs, cut).items():
            assert found[name] == pytest.approx(value), name
        squares = over_all_genes(network), over_all_genes(reference)
        assert vars(score(*squares, pairs=pairs, cut=cut)) == found  # to the last bit


@pytest.mark.parametrize("pairs", PAIRS)
def test_the_top_n_cut_takes_as_many_pairs_as_there_are_edges(pairs):
    """So missed and wrong edges are as many, and MCC is SN + SP - 1, as in the paper's table."""
    network, reference = random_pair(2)
    network = Network.of(network.genes, network.scores + 0.01 * ~np.eye(7, dtype=bool))
    found = score(network, reference, pairs=pairs, cut="top-n")
    assert found.n_selected == found.n_edges == reference.selected.sum()
    assert found.mcc == pytest.approx(found.sn + found.sp - 1)
    if pairs == "all":
        assert found.n_found == score(network.select_top(found.n_edges), reference).n_found


def test_the_cut_changes_the_graph_and_not_the_ranking():
    network, reference = random_pair(4)
    rows = [score(network, reference, cut=cut) for cut in CUTS]
    assert [row.cut for row in rows] == ["caps", "top-n", "own"]
    assert len({(row.auroc, row.aupr, row.early_precision) for row in rows}) == 1
    assert rows[0].n_selected == rows[2].n_selected == 12
    assert rows[1].n_selected == rows[1].n_edges


def test_no_more_pairs_than_have_a_score_are_early():
    truth = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    scores = np.array([[0, 5, 0], [2, 0, 0], [0, 0, 0]])
    reference, network = (Network.of(tuple("ABC"), table) for table in (truth, scores))
    assert score(network, reference).early_precision == 0.5
    assert score(network, reference, cut="top-n").n_selected == 2
    nothing = Network.of(tuple("ABC"), np.zeros((3, 3)))
    assert np.isnan(score(nothing, reference).early_precision)


def test_linked_pairs_are_both_orders_of_each_edge():
    truth = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    backwards = Network.of(tuple("ABC"), truth.T)
    found = score(backwards, Network.of(tuple("ABC"), truth), pairs="linked")
    assert (found.n_pairs, found.n_edges, found.n_found) == (2, 1, 0)
    assert (found.auroc, found.aupr_by_chance) == (0, 0.5)


@pytest.mark.filterwarnings("always")
def test_the_command_scores_other_pairs_and_cuts(tmp_path):
    lines = ["regulator\ttarget\tscore\tsign\trank\tselected"]
    lines += ["A\tB\t3\t+\t1\t1", "B\tA\t2\t+\t2\t0", "C\tB\t1\t?\t3\t0", "C\tC\t1\t?\t3\t0"]
    (tmp_path / "edges.tsv").write_text("\n".join(lines) + "\n")
    (tmp_path / "true.tsv").write_text("A\tB\nC\tA\nC\tA\n")
    (tmp_path / "genes.txt").write_text("A\nB\nC\n")
    words = ["score", tmp_path / "edges.tsv", tmp_path / "true.tsv", "--genes"]
    words = [str(word) for word in [*words, tmp_path / "genes.txt", "--json"]]
    rows = {}
    for cut in CUTS:
        done = grn_tvcs(*words, "--cut", cut, "--pairs", "linked")
        assert done.exit_code == 0, done.stderr
        assert "left out 1 edge of a gene on itself: C" in done.stderr
        assert "left out 1 edge listed before: C -> A" in done.stderr
        rows[cut] = json.loads(done.stdout)
    assert {row["n_pairs"] for row in rows.values()} == {4}
    assert [rows[cut]["n_selected"] for cut in CUTS] == [1, 2, 2]
    assert [(row["pairs"], row["cut"]) for row in rows.values()] == [("linked", c) for c in CUTS]
    whole = json.loads(grn_tvcs(*words, "--cut", "own").stdout)
    assert (whole["n_pairs"], whole["n_selected"], whole["EP"]) == (6, 3, 0.5)
    for option in ("--cut", "--pairs"):
        done = grn_tvcs(*words, option, "half")
        assert done.exit_code == 2
        assert f"{option} must be one of" in done.stderr


def test_areas_mcc_and_f1_are_those_of_scikit_learn():
    network, reference = random_pair(0, n=20)
    off = ~np.eye(20, dtype=bool)
    truth, ranking = reference.selected[off], network.scores[off]
    found = score(network, reference)
    assert found.auroc == pytest.approx(roc_auc_score(truth, ranking))
    assert found.aupr == pytest.approx(average_precision_score(truth, ranking))
    assert found.mcc == pytest.approx(matthews_corrcoef(truth, network.selected[off]))
    assert found.f1 == pytest.approx(f1_score(truth, network.selected[off]))


def test_the_order_of_genes_changes_no_score():
    network, reference = random_pair(3)
    order = np.random.default_rng(0).permutation(7)
    turned = Network.of(
        tuple(network.genes[i] for i in order),
        network.scores[np.ix_(order, order)],
        selected=network.selected[np.ix_(order, order)],
    )
    assert score(turned, reference) == score(network, reference)


def test_a_perfect_network_gets_ones():
    _, reference = random_pair(1)
    found = score(reference, reference)
    assert (found.sn, found.sp, found.acc, found.f, found.mcc, found.auc) == (1,) * 6
    assert (found.auroc, found.aupr) == (1, 1)


def test_an_empty_network_ranks_by_chance():
    _, reference = random_pair(1)
    found = score(Network.of(reference.genes, np.zeros((7, 7))), reference)
    assert (found.sn, found.sp, found.f, found.f1, found.mcc, found.auroc) == (0, 1, 0, 0, 0, 0.5)
    assert found.aupr == pytest.approx(found.aupr_by_chance)


def test_a_reference_of_all_pairs_has_no_specificity():
    full = Network.of(("A", "B"), 1.0 - np.eye(2))
    with pytest.warns(UserWarning, match="the reference names every pair"):
        found = score(full, full)
    assert found.sn == 1
    assert np.isnan(found.sp)
    assert np.isnan(found.auroc)


def test_a_ranking_in_place_of_the_reference_is_warned_of():
    network, reference = random_pair(0)
    with pytest.warns(UserWarning, match="network comes first and the reference second"):
        score(reference, network)
    ranked = Network.of(network.genes, network.scores + network.scores.T)
    score(network, ranked)  # two rankings, and two plain sets of edges, may be compared
    score(reference, reference)


def test_other_genes_or_no_edges_are_refused():
    network, reference = random_pair(0)
    with pytest.raises(ValueError, match="same genes"):
        score(network, Network.of(("A", "B"), 1.0 - np.eye(2)))
    with pytest.raises(ValueError, match="must have an edge"):
        score(network, Network.of(reference.genes, np.zeros((7, 7))))


def test_signs_are_judged_where_both_know_them():
    genes, edges = tuple("ABCD"), [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    scores = np.zeros((4, 4))
    scores[tuple(np.array(edges).T)] = 1.0
    ours, theirs = np.zeros((4, 4), np.int8), np.zeros((4, 4), np.int8)
    for edge, mine, true in zip(edges, (1, -1, 1, 0, 1), (1, -1, -1, 1, 0), strict=True):
        ours[edge], theirs[edge] = mine, true
    order = [2, 0, 3, 1]  # the reference names its genes in another order
    theirs, true = (part[np.ix_(order, order)] for part in (theirs, scores))
    reference = Network.of(tuple(genes[k] for k in order), true, theirs)
    found = score(Network.of(genes, scores, ours), reference)
    assert (found.n_found, found.n_signs, found.n_signs_right) == (5, 3, 2)
    without = score(Network.of(genes, scores), reference)
    assert (without.n_signs, without.n_signs_right) == (0, 0)

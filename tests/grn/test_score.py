import itertools

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, matthews_corrcoef, roc_auc_score

from grn_tvcs import Network, score


def random_pair(seed, n=7):
    """A ranking with many ties and a reference, over the same genes."""
    rng = np.random.default_rng(seed)
    genes = tuple(f"G{i}" for i in range(n))
    scores = rng.integers(0, 4, (n, n)) / 3 * ~np.eye(n, dtype=bool)
    truth = rng.uniform(size=(n, n)) < 0.3
    np.fill_diagonal(truth, False)
    return Network(genes, scores).top(12), Network(genes, truth.astype(float))


def slow_scores(network, reference):
    """Every number by plain loops over pairs."""
    n = len(network.genes)
    pairs = [(i, j) for i, j in itertools.product(range(n), repeat=2) if i != j]
    tp = sum(bool(network.selected[p] and reference.selected[p]) for p in pairs)
    fp = sum(bool(network.selected[p] and not reference.selected[p]) for p in pairs)
    fn = sum(bool(not network.selected[p] and reference.selected[p]) for p in pairs)
    tn = len(pairs) - tp - fp - fn
    true = [network.scores[p] for p in pairs if reference.selected[p]]
    false = [network.scores[p] for p in pairs if not reference.selected[p]]
    won = sum((t > f) + 0.5 * (t == f) for t in true for f in false)
    precision = [
        sum(t >= cut for t in true) / (sum(t >= cut for t in true) + sum(f >= cut for f in false))
        for cut in true
    ]
    sn, sp = tp / (tp + fn), tn / (tn + fp)
    return {
        "sn": sn,
        "sp": sp,
        "acc": (tp + tn) / len(pairs),
        "f": 2 / (1 / sn + 1 / sp) if sn and sp else 0.0,
        "mcc": (tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5,
        "auc": (sn + sp) / 2,
        "auroc": won / (len(true) * len(false)),
        "aupr": sum(precision) / len(true),
    }


@pytest.mark.parametrize("seed", range(20))
def test_scores_are_those_of_plain_loops(seed):
    network, reference = random_pair(seed)
    fast = score(network, reference)
    for name, value in slow_scores(network, reference).items():
        assert getattr(fast, name) == pytest.approx(value), name


def test_areas_and_mcc_are_those_of_scikit_learn():
    network, reference = random_pair(0, n=20)
    off = ~np.eye(20, dtype=bool)
    truth, ranking = reference.selected[off], network.scores[off]
    found = score(network, reference)
    assert found.auroc == pytest.approx(roc_auc_score(truth, ranking))
    assert found.aupr == pytest.approx(average_precision_score(truth, ranking))
    assert found.mcc == pytest.approx(matthews_corrcoef(truth, network.selected[off]))


def test_the_order_of_genes_changes_no_score():
    network, reference = random_pair(3)
    order = np.random.default_rng(0).permutation(7)
    turned = Network(
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
    found = score(Network(reference.genes, np.zeros((7, 7))), reference)
    assert (found.sn, found.sp, found.f, found.mcc, found.auroc) == (0, 1, 0, 0, 0.5)
    assert found.aupr == pytest.approx(found.aupr_by_chance)


def test_a_reference_of_all_pairs_has_no_specificity():
    full = Network(("A", "B"), 1.0 - np.eye(2))
    found = score(full, full)
    assert found.sn == 1
    assert np.isnan(found.sp)
    assert np.isnan(found.auroc)


def test_other_genes_or_no_edges_are_refused():
    network, reference = random_pair(0)
    with pytest.raises(ValueError, match="same genes"):
        score(network, Network(("A", "B"), 1.0 - np.eye(2)))
    with pytest.raises(ValueError, match="must have an edge"):
        score(network, Network(reference.genes, np.zeros((7, 7))))

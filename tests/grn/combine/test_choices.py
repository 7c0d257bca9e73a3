"""How far a choice among the parts would reach: what is added up, and means over kinds."""

import numpy as np
import pytest

from benchmarks import choices
from grn_tvcs import score
from grn_tvcs.combine.evidence_scores import LAGGED, LEVELS, RANK, SHORT
from grn_tvcs.inference.infer import infer
from grn_tvcs.network.network import Network
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import draw_example


def test_each_part_stands_alone_and_sums_are_of_those_that_are_added():
    found = choices.sums([RANK, LAGGED, SHORT, LEVELS])
    assert len(found) == len(set(found)) == 4 + 3 + 1
    assert (RANK,) in found
    assert not any(RANK in one for one in found if len(one) > 1)


def test_rankings_are_judged_as_score_does():
    made = draw_example(Design(6, 6, 2, 8), "flat", 1)
    found = choices.rankings(made, Design(6, 6, 2, 8))
    truth = Network.of(made.expression.genes, made.is_edge.astype(float))
    network = infer(made.expression, "tvcs", rng=0)
    assert found[("tvcs",)] == pytest.approx(score(network, truth).aupr)
    assert found[("chance",)] == pytest.approx(made.is_edge.sum() / 30)
    assert {one for one in found if len(one) == 1} >= {("combined",), (LAGGED,), (RANK,)}


def test_the_best_of_each_table_is_at_least_the_best_of_all_and_kinds_weigh_the_same():
    def of(chance, tvcs, learned, lagged, short, both):
        return {
            ("chance",): chance, ("tvcs",): tvcs, ("combined",): learned, (LAGGED,): lagged,
            (SHORT,): short, (LAGGED, SHORT): both,
        }  # fmt: skip

    kinds = [
        [of(0.1, 0.5, 0.7, 0.4, 0.6, 0.5), of(0.1, 0.5, 0.5, 0.8, 0.2, 0.5)],
        [of(0.3, 0.5, 0.4, 0.5, 0.7, 0.9)],
    ]
    cells = dict(zip(choices.HEADS[1:], choices.cells_of(kinds), strict=True))
    assert cells == {
        "tables": "3", "chance": "0.200", "tvcs": "0.500", "combined": "0.500 (1.00)",
        "best part of all": "0.550 (1.10)", "best sum of all": "0.700 (1.40)",
        "best part of each": "0.700 (1.40)", "best sum of each": "0.800 (1.60)",
        "any of each": "0.825 (1.65)",
    }  # fmt: skip


def test_only_networks_without_hubs_count():
    design = Design(12, 12, 1, 4)
    assert choices.is_hub_poor(draw_example(design, "flat", 0))
    assert not choices.is_hub_poor(draw_example(design, "star", 0))
    assert np.size(choices.of_kind(design, "star", 1, 0)) == 0

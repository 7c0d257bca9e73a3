"""A few small networks with their evidence, and what is learned from them."""

from typing import NamedTuple

import numpy as np
import pytest

from benchmarks.learning import nets, training
from benchmarks.learning.training import TrainingNetwork, fit, fit_nets, fit_nulls, rounded
from benchmarks.learning.traits import fit_trait_distribution
from grn_tvcs.combine.combiner import Combiner
from grn_tvcs.combine.domain_check import traits
from grn_tvcs.combine.evidence_scores import EvidenceScores, compute_evidence
from grn_tvcs.combine.features import pair_features
from grn_tvcs.combine.nulls import effect_of_changes, null_features
from grn_tvcs.combine.trees import Trees
from grn_tvcs.simulation.designs import Design
from grn_tvcs.simulation.examples import Example, draw_example, draw_null
from grn_tvcs.simulation.kinds import KINDS, NULLS

RESAMPLES = 6
SERIES = Design(8, 8, 3, 7)
DESIGNS = (
    SERIES,
    Design(9, 9, 6, 11, is_perturbation_known=True, knocked_out=1.0, knocked_down=1.0),
    Design(8, 4, 1, 12),
    Design(7, 7, 0, 3, n_steady=25),
    Design(10, 10, 3, 7, knocked_out=0.5),
    Design(6, 6, 2, 9, n_steady=10),
    Design(8, 8, 0, 3, n_steady=20, knocked_out=1.0),
    Design(12, 5, 4, 6),
)


class Known(NamedTuple):
    """A design, the network drawn with it, and the evidence."""

    design: Design
    example: Example
    parts: EvidenceScores


def evidence_on(example: Example, seed: int = 0, **more) -> EvidenceScores:
    """All sources of evidence on an example."""
    rng = np.random.default_rng(seed)
    given = {"resamples": RESAMPLES} | more
    return compute_evidence(example.expression, example.rules, rng, example.steady, **given)


@pytest.fixture(scope="session")
def known():
    kinds = tuple(KINDS)
    examples = [draw_example(d, kinds[k % len(kinds)], k) for k, d in enumerate(DESIGNS)]
    return [
        Known(d, example, evidence_on(example))
        for d, example in zip(DESIGNS, examples, strict=True)
    ]


@pytest.fixture(scope="session")
def networks(known):
    return [
        TrainingNetwork(
            pair_features(one.parts), one.parts.inputs, one.example.is_edge[one.parts.inputs]
        )
        for one in known
    ]


@pytest.fixture(scope="session")
def combiner(networks):
    """Learned with few rounds: no matter how well."""
    with pytest.MonkeyPatch.context() as patch:
        for stage in ("FIRST_TREES", "SECOND_TREES"):
            patch.setattr(training, stage, getattr(training, stage) | {"max_iter": 15})
        patch.setattr(training, "STAGE_TREES", training.STAGE_TREES | {"min_samples_leaf": 10})
        patch.setattr(nets, "BATCH", 32)
        trees = fit(networks)
        return rounded(Combiner(trees.names, trees.stages, (fit_nets(networks),)))


@pytest.fixture(scope="session")
def trait_distribution(known):
    return fit_trait_distribution(
        [(traits(k.example.expression, k.example.steady), k.design) for k in known]
    )


@pytest.fixture(scope="session")
def nulls(known) -> Trees:
    """Learned on the tables of the networks, each four times, and on as many without edges."""
    rows = [_null_row(k.example, k.design) for k in known] * 4
    for number, design in enumerate(DESIGNS * 4):
        rows.append(_null_row(draw_null(design, NULLS[number % len(NULLS)], number), design))
    return fit_nulls(np.array(rows), np.arange(len(rows)) >= len(rows) // 2)


def _null_row(made: Example, design: Design):
    effect = effect_of_changes(made.steady, made.expression)
    return null_features(traits(made.expression, made.steady), design, effect)

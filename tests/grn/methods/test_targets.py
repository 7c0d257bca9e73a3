"""Only some genes as targets: no edge ends elsewhere, and "tvcs" works for them alone."""

import numpy as np
import pytest

from grn_tvcs import METHODS, infer, simulate
from grn_tvcs.stability import stability

FEW = {
    "combined": {"resamples": 4, "calibrate": 0}, "tvcs": {"resamples": 4},
    "genie3": {"trees": 3}, "dyngenie3": {"trees": 3},
    "tigress": {"splits": 4},
}  # fmt: skip
WITHOUT_KNOCKOUTS = [name for name in METHODS if name != "knock-outs"]


@pytest.fixture(scope="module")
def expression():
    return simulate(12, 6, 9, n_edges=14, rng=5).expression


@pytest.mark.parametrize("method", WITHOUT_KNOCKOUTS)
@pytest.mark.parametrize("targets", [("G2", "G7", "G11"), ("G3",)])
def test_edges_end_at_targets_alone(expression, method, targets):
    network = infer(
        expression, method, targets=targets, regulators=("G1", "G3", "G7"), rng=0,
        **FEW.get(method, {}),
    )  # fmt: skip
    is_target = np.isin(network.genes, targets)
    assert not network.scores[:, ~is_target].any()
    assert network.scores[:, is_target].any()
    assert network.pairs.shape == (3, len(targets))
    assert network.selected.sum() <= 2 * len(targets)


def test_tvcs_regresses_the_targets_alone(expression, monkeypatch):
    shapes = []
    whole = stability.StepLoss.__init__

    def spied(self, past, own, *more):
        shapes.append((past.shape[1], own.shape[1]))
        whole(self, past, own, *more)

    monkeypatch.setattr(stability.StepLoss, "__init__", spied)
    infer(expression, "tvcs", targets=("G2", "G5"), rng=0, resamples=2)
    assert set(shapes) == {(12, 2)}


def test_all_genes_as_targets_are_no_restriction(expression):
    plain = infer(expression, "tvcs", rng=0, resamples=4)
    named = infer(expression, "tvcs", targets=expression.genes, rng=0, resamples=4)
    assert plain.edges() == named.edges()


def test_other_targets_are_other_work(expression, tmp_path):
    # G2 and G5 are no inputs, so which pairs may be edges looks the same for both.
    for target in ("G2", "G5"):
        fresh = infer(
            expression, "tvcs", targets=(target,), regulators=("G1", "G4"), rng=0, resamples=4
        )
        with pytest.raises(KeyboardInterrupt):
            infer(
                expression, "tvcs", targets=(target,), regulators=("G1", "G4"), rng=0,
                resamples=4, checkpoint_dir=tmp_path / target, progress=_stop_after_one,
            )  # fmt: skip
        other = "G5" if target == "G2" else "G2"
        with pytest.raises(ValueError, match="other regulators or targets; give --force"):
            infer(
                expression, "tvcs", targets=(other,), regulators=("G1", "G4"), rng=0, resamples=4,
                checkpoint_dir=tmp_path / target,
            )  # fmt: skip
        again = infer(
            expression, "tvcs", targets=(target,), regulators=("G1", "G4"), rng=0, resamples=4,
            checkpoint_dir=tmp_path / target,
        )  # fmt: skip
        assert again.edges() == fresh.edges()


def _stop_after_one(done, total):
    if done:
        raise KeyboardInterrupt


def test_unknown_targets_are_named(expression):
    with pytest.warns(UserWarning, match="1 of 2 targets are no genes: zz"):
        infer(expression, "pcc", targets=("G2", "zz"))
    with pytest.raises(ValueError, match=r"none of the targets is among the genes.*zz"):
        infer(expression, "pcc", targets=("zz",))
    with pytest.raises(TypeError, match="targets must be a list of names"):
        infer(expression, "pcc", targets="G2")

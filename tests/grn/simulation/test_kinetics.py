"""The kinetic model and its kernels against plain sums, scipy's solver and the laws of the SDE."""

import itertools

import numpy as np
import pytest
from pytest import approx
from scipy.integrate import solve_ivp

from grn_tvcs import Network
from grn_tvcs.simulation.kernels import (
    activations,
    integrate_ode,
    integrate_sde,
    integrate_to_steady_state,
)
from grn_tvcs.simulation.kinetics import (
    EFFECT,
    MAX_MODULES,
    Gene,
    Kinetics,
    Module,
    _alphas,
    draw_kinetics,
    truncated,
)


def network(n, edges, signs=None):
    scores = np.zeros((n, n))
    marks = np.zeros((n, n), dtype=np.int8)
    for k, (i, j) in enumerate(edges):
        scores[i, j] = 1
        marks[i, j] = 0 if signs is None else signs[k]
    return Network.of(tuple(f"G{i}" for i in range(n)), scores, marks)


def dense(n, seed, share=0.5):
    rng = np.random.default_rng(seed)
    edges = [(i, j) for i in range(n) for j in range(n) if i != j and rng.random() < share]
    return network(n, edges, rng.choice([-1, 0, 1], len(edges)))


def plain_activation(gene, protein):
    """Sum over all states of all modules, as the paper prints it."""
    means = []
    for module in gene.modules:
        chi = [
            (protein[j] / k) ** n
            for j, k, n in zip(module.regulators, module.dissociation, module.hill, strict=True)
        ]
        on, off = chi[: module.n_activators], chi[module.n_activators :]
        if module.is_complex:
            below = 1 + np.prod(on) + (np.prod(chi) if off else 0)
        else:
            below = np.prod([1 + c for c in chi])
        means.append(np.prod(on) / below)
    total = 0.0
    for state in itertools.product((0, 1), repeat=len(means)):
        place = sum(bit << m for m, bit in enumerate(state))
        chance = np.prod([mu if bit else 1 - mu for bit, mu in zip(state, means, strict=True)])
        total += gene.alphas[place] * chance
    return total


@pytest.mark.parametrize("seed", range(20))
def test_activation_is_the_plain_sum_over_module_states(seed):
    kinetics = draw_kinetics(dense(9, seed), seed)
    rng = np.random.default_rng(seed)
    out = np.empty(9)
    for protein in (rng.random(9), np.zeros(9), 1e-3 * rng.random(9)):
        activations(protein, kinetics.alphas, kinetics.arrays(), out)
        expected = [plain_activation(gene, protein) for gene in kinetics.genes]
        assert out == approx(np.array(expected), abs=1e-12)


def test_large_powers_do_not_overflow():
    for is_complex in (True, False):
        module = Module((0, 1), (0.01, 0.01), (400.0, 400.0), 1, is_complex, 1)
        gene = Gene((module,), np.array([0.0, 1.0]), (20.0, 20.0))
        free = Gene((), np.ones(1), (20.0, 20.0))
        kinetics = Kinetics(("A", "B", "C"), (free, free, gene))
        out = np.empty(3)
        activations(np.array([1.0, 1.0, 0.0]), kinetics.alphas, kinetics.arrays(), out)
        assert np.isfinite(out).all()
        activations(np.array([1.0, 0.0, 0.0]), kinetics.alphas, kinetics.arrays(), out)
        assert out[2] == approx(1)


def plain_rates(kinetics, transcription):
    decay = np.log(2) / np.array([gene.half_lives for gene in kinetics.genes]).T

    def right_side(_, flat):
        x, y = flat.reshape(2, -1)
        f = np.array([plain_activation(gene, y) for gene in kinetics.genes])
        return np.concatenate([decay[0] * (transcription * f - x), decay[1] * (x - y)])

    return right_side


@pytest.mark.parametrize("seed", range(3))
def test_the_differential_equation_is_solved_as_scipy_does(seed):
    kinetics = draw_kinetics(dense(6, seed, 0.3), seed)
    transcription = np.array([0.0, 0.5, 1.0, 1.0, 1.0, 1.0])
    state = np.random.default_rng(seed).random((2, 6))
    right_side = plain_rates(kinetics, transcription)
    expected = solve_ivp(
        right_side, (0, 130), state.ravel(), method="LSODA", rtol=1e-9, atol=1e-11
    ).y[:, -1]
    integrate_ode(state, kinetics.alphas, transcription, kinetics.arrays(), 130.0, 1.0)
    assert state.ravel() == approx(expected, abs=2e-5)


def test_in_steady_state_nothing_changes():
    kinetics = draw_kinetics(network(5, [(0, 1), (1, 2), (0, 3)], [1, -1, 1]), 0)
    state = np.zeros((2, 5))
    time = integrate_to_steady_state(
        state, kinetics.alphas, np.ones(5), kinetics.arrays(), 10.0, 2000.0, 1e-9, 1e-8
    )
    assert 100 < time < 2000
    assert plain_rates(kinetics, np.ones(5))(0, state.ravel()) == approx(0, abs=1e-8)


def alone(activation, n):
    """Many copies of one gene without regulators."""
    gene = Gene((), np.array([activation]), (40.0, 40.0))
    return Kinetics(tuple(map(str, range(n))), (gene,) * n)


def test_noise_in_the_dynamics_has_the_mean_and_deviation_of_its_law():
    """mRNA: mean a + c^2/4 (Stratonovich), variance c^2 (a + mean) / 2, where a is f."""
    kinetics = alone(0.5, 5000)
    strength = 0.1
    state = np.full((2, 5000), 0.5)
    rng = np.random.default_rng(0)
    for _ in range(8):
        normals = rng.standard_normal((50, 2, 5000))
        integrate_sde(state, kinetics.alphas, np.ones(5000), kinetics.arrays(), strength, normals)
    mean = 0.5 + strength**2 / 4
    sd = np.sqrt(strength**2 * (0.5 + mean) / 2)
    assert state[0].mean() == approx(mean, abs=4 * sd / np.sqrt(5000))
    assert state[0].std() == approx(sd, rel=0.04)


def test_without_noise_the_noisy_steps_follow_the_equation():
    kinetics = draw_kinetics(dense(6, 1, 0.3), 1)
    calm = np.full((2, 6), 0.3)
    noisy = calm.copy()
    integrate_ode(calm, kinetics.alphas, np.ones(6), kinetics.arrays(), 100.0, 1.0)
    integrate_sde(noisy, kinetics.alphas, np.ones(6), kinetics.arrays(), 0.0, np.ones((100, 2, 6)))
    assert noisy == approx(calm, abs=0.01)


def test_levels_under_strong_noise_stay_positive_and_finite():
    kinetics = draw_kinetics(dense(8, 2), 2)
    state = np.zeros((2, 8))
    normals = np.random.default_rng(0).standard_normal((2000, 2, 8))
    integrate_sde(state, kinetics.alphas, np.ones(8), kinetics.arrays(), 1.0, normals)
    assert np.isfinite(state).all()
    assert (state >= 0).all()


def test_without_transcription_mrna_runs_out_and_does_not_come_back():
    kinetics = alone(1.0, 50)
    state = np.ones((2, 50))
    normals = np.random.default_rng(0).standard_normal((4000, 2, 50))
    integrate_sde(state, kinetics.alphas, np.zeros(50), kinetics.arrays(), 0.05, normals)
    assert (state[0] == 0).all()


@pytest.mark.parametrize("seed", range(10))
def test_the_model_keeps_the_signs_of_the_topology_and_its_ranges(seed):
    topology = dense(12, seed)
    kinetics = draw_kinetics(topology, seed)
    found = kinetics.network
    assert np.array_equal(found.scores, topology.scores)
    known = topology.signs != 0
    assert np.array_equal(found.signs[known], topology.signs[known])
    for gene in kinetics.genes:
        assert 5 <= min(gene.half_lives) <= max(gene.half_lives) <= 50
        assert gene.alphas.size == 2 ** len(gene.modules)
        assert (gene.alphas >= 0).all()
        assert (gene.alphas <= 1).all()
        up = sum(1 << m for m, module in enumerate(gene.modules) if module.sign > 0)
        down = gene.alphas.size - 1 - up
        assert gene.alphas[up] == approx(1)
        assert not down or gene.alphas[down] <= 0.25 + 1e-12
        for module in gene.modules:
            assert module.n_activators >= 1
            assert all(1 <= n <= 10 for n in module.hill)
            assert all(0.01 <= k <= 1 for k in module.dissociation)


def test_a_gene_is_drawn_from_its_own_name_and_regulators():
    few = draw_kinetics(network(4, [(0, 1), (0, 2)], [1, 1]), 7)
    more = draw_kinetics(network(4, [(0, 1), (0, 2), (3, 2), (1, 3)], [1, 1, -1, 1]), 7)
    assert few.genes[1].modules == more.genes[1].modules
    assert few.genes[1].alphas.tolist() == more.genes[1].alphas.tolist()
    assert few.genes[0].half_lives == more.genes[0].half_lives


def test_a_gene_with_very_many_regulators_has_a_bounded_number_of_states():
    kinetics = draw_kinetics(network(301, [(i, 0) for i in range(1, 301)]), 0)
    assert len(kinetics.genes[0].modules) == MAX_MODULES
    state = np.zeros((2, 301))
    integrate_to_steady_state(
        state, kinetics.alphas, np.ones(301), kinetics.arrays(), 10.0, 500.0, 1e-5, 1e-3
    )
    assert np.isfinite(state).all()


@pytest.mark.parametrize(
    "signs", [(1,), (-1,), (1, 1), (-1, -1), (1, -1), (-1, -1, -1), (1, -1, -1)]
)
def test_the_activation_without_and_with_all_modules_is_as_the_paper_says(signs):
    """Alone only the weakest module is changed, so that all switch the gene on, or almost off."""
    rngs = [np.random.default_rng([seed, *np.array(signs) + 1]) for seed in range(300)]
    effects = np.array([[s * truncated(rng, *EFFECT) for s in signs] for rng in rngs])
    rngs = [np.random.default_rng([seed, *np.array(signs) + 1]) for seed in range(300)]
    alphas = np.array([_alphas(list(signs), rng) for rng in rngs])
    basal = alphas[:, 0]
    mean, spread = {2: (0.04, 0.03), -2: (1, 0), 0: (0.5, 1 / 12)}[min(signs) + max(signs)]
    assert basal.mean() == approx(mean, abs=0.02)
    assert basal.std() == approx(spread, abs=0.012)
    for sign in {*signs}:
        mine = [k for k, one in enumerate(signs) if one == sign]
        at = sum(1 << k for k in mine)
        if sign > 0:
            assert alphas[:, at] == approx(np.ones(300))
        else:
            assert alphas[:, at].max() <= 0.25
        weakest = np.abs(effects[:, mine]).argmin(axis=1)
        for place, k in enumerate(mine):
            alone = np.clip(basal + effects[:, k], 0, 1)
            assert alphas[weakest != place, 1 << k] == approx(alone[weakest != place])

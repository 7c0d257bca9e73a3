"""Kernels of the kinetic model: rates of change, and integration without and with noise.

`model` is a `KineticModel`, made by `kinetics.Kinetics.arrays`. `state` is (2, genes): mRNA and
protein. The largest production of a gene equals its decay at level 1, so levels stay near [0, 1].
`transcription` is the remaining fraction of production (0 for a knock-out). `alphas` are separate
from the model, because perturbations change them.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tvcs_core.jit import kernel

RELATIVE, ABSOLUTE = 1e-6, 1e-8  # tolerances of one step of the ODE solver

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class KineticModel(NamedTuple):
    """The kinetic model of a network as arrays.

    Attributes
    ----------
    modules
        (genes + 1,): first module of each gene.
    inputs
        (modules + 1,): first input of each module.
    states
        (genes + 1,): first module state of each gene in `alphas`.
    regulator
        (inputs,): the gene of the regulating protein.
    dissociation, hill
        (inputs,): the constants k and n.
    is_activator
        (inputs,): whether it activates its module.
    is_complex
        (modules,): whether its inputs bind as one complex or independently.
    decay
        (2, genes): rates of mRNA and protein, per unit of time.
    """

    modules: Integers
    inputs: Integers
    states: Integers
    regulator: Integers
    dissociation: Floats
    hill: Floats
    is_activator: Bools
    is_complex: Bools
    decay: Floats


@kernel
def module_activation(m, protein, model):
    """Return the mean activation of module `m`, computed from logarithms to avoid overflow."""
    inputs, regulator, is_activator = model.inputs, model.regulator, model.is_activator
    activators = 0.0
    deactivators = 0.0
    has_deactivator = False
    product = 1.0
    for k in range(inputs[m], inputs[m + 1]):
        power = model.hill[k] * np.log(protein[regulator[k]] / model.dissociation[k])
        if not model.is_complex[m]:
            product /= 1.0 + np.exp(-power if is_activator[k] else power)
        elif is_activator[k]:
            activators += power
        else:
            deactivators += power
            has_deactivator = True
    if not model.is_complex[m]:
        return product
    if has_deactivator:
        return 1.0 / (np.exp(-activators) + 1.0 + np.exp(deactivators))
    return 1.0 / (np.exp(-activators) + 1.0)


@kernel
def activations(protein, alphas, model, out):
    """Fill `out` with the activation of every gene, the mean of its alphas over module states.

    Modules are averaged out one by one, from the highest bit of the state down, which costs 2^M
    operations instead of the M 2^M of the plain sum.
    """
    modules, states = model.modules, model.states
    widest = 1
    for g in range(out.size):
        widest = max(widest, states[g + 1] - states[g])
    left = np.empty(widest)
    for g in range(out.size):
        size = states[g + 1] - states[g]
        for s in range(size):
            left[s] = alphas[states[g] + s]
        for m in range(modules[g + 1] - 1, modules[g] - 1, -1):
            mean = module_activation(m, protein, model)
            size //= 2
            for s in range(size):
                left[s] += mean * (left[s + size] - left[s])
        out[g] = left[0]


@kernel
def rates(state, alphas, transcription, model, out):
    """Fill `out` with the rates of change of mRNA and protein."""
    decay = model.decay
    activations(state[1], alphas, model, out[0])
    for g in range(state.shape[1]):
        out[0, g] = decay[0, g] * (transcription[g] * out[0, g] - state[0, g])
        out[1, g] = decay[1, g] * (state[0, g] - state[1, g])


@kernel
def integrate_ode(state, alphas, transcription, model, duration, step):
    """Advance `state` by `duration` (Dormand and Prince, 1980); return the next step size."""
    a = np.zeros((7, 6))
    a[1, 0] = 1 / 5
    a[2, 0], a[2, 1] = 3 / 40, 9 / 40
    a[3, 0], a[3, 1], a[3, 2] = 44 / 45, -56 / 15, 32 / 9
    a[4, 0], a[4, 1], a[4, 2], a[4, 3] = 19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729
    a[5, 0], a[5, 1], a[5, 2] = 9017 / 3168, -355 / 33, 46732 / 5247
    a[5, 3], a[5, 4] = 49 / 176, -5103 / 18656
    a[6, 0], a[6, 2], a[6, 3] = 35 / 384, 500 / 1113, 125 / 192
    a[6, 4], a[6, 5] = -2187 / 6784, 11 / 84
    e = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
    n = state.shape[1]
    slopes = np.empty((7, 2, n))
    trial = np.empty((2, n))
    done = 0.0
    rates(state, alphas, transcription, model, slopes[0])
    while done < duration:
        h = min(step, duration - done)
        for stage in range(1, 7):
            for part in range(2):
                for g in range(n):
                    move = 0.0
                    for s in range(stage):
                        move += a[stage, s] * slopes[s, part, g]
                    trial[part, g] = max(0.0, state[part, g] + h * move)
            rates(trial, alphas, transcription, model, slopes[stage])
        worst = 1e-4
        for part in range(2):
            for g in range(n):
                error = 0.0
                for s in range(7):
                    error += e[s] * slopes[s, part, g]
                worst = max(worst, abs(h * error) / (ABSOLUTE + RELATIVE * trial[part, g]))
        if worst <= 1.0:
            done = duration if h == duration - done else done + h
            state[:] = trial
            slopes[0] = slopes[6]
        if worst > 1.0 or h == step:
            step = h * min(5.0, max(0.2, 0.9 * worst**-0.2))
    return step


@kernel
def integrate_to_steady_state(state, alphas, transcription, model, every, most, absolute, relative):
    """Advance `state` until no level changes within `every`; return the time taken."""
    before = np.empty_like(state)
    time = 0.0
    step = 1.0
    while time < most:
        before[:] = state
        step = integrate_ode(state, alphas, transcription, model, every, step)
        time += every
        settled = True
        for part in range(2):
            for g in range(state.shape[1]):
                change = abs(state[part, g] - before[part, g])
                if change > absolute + relative * abs(before[part, g]):
                    settled = False
        if settled:
            break
    return time


@kernel
def integrate_sde(state, alphas, transcription, model, strength, normals):
    """Advance `state` with noise by one unit of time per row of `normals`, (steps, 2, genes).

    Stratonovich's dX = (V - D) dt + strength sqrt(V + D) dW, with production V and decay D, by
    Milstein's scheme with a finite difference for the derivative of the noise (Kloeden and Platen,
    1992, 11.1).
    """
    decay = model.decay
    made = np.empty_like(state)
    for t in range(normals.shape[0]):
        activations(state[1], alphas, model, made[0])
        for g in range(state.shape[1]):
            made[0, g] *= decay[0, g] * transcription[g]
            made[1, g] = decay[1, g] * state[0, g]
        for part in range(2):
            for g in range(state.shape[1]):
                lost = decay[part, g] * state[part, g]
                mean = state[part, g] + made[part, g] - lost
                spread = strength * math.sqrt(made[part, g] + lost)
                support = max(0.0, mean + spread)
                spread_there = strength * math.sqrt(made[part, g] + decay[part, g] * support)
                z = normals[t, part, g]
                moved = mean + spread * z + 0.5 * (spread_there - spread) * z * z
                state[part, g] = max(0.0, moved)

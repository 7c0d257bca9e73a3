"""
Sparse regression under caps
============================

A matrix of coefficients with at most two nonzero entries a row is found again from linear
measurements. With few samples the caps of rows make the difference.
"""

import matplotlib.pyplot as plt
import numpy as np

from tvcs_core import TVCS, LeastSquares, Problem, project, solve

rng = np.random.default_rng(3)
shape = (10, 10)
rows = TVCS.matrix(shape, row_caps=2)
W = project(rng.standard_normal(shape), rows).matrix
total = TVCS.matrix(shape, total=20)

# %%
# How many of the twenty places are found, by the number of samples:
samples = [30, 50, 70, 90, 120]
found = {"caps of rows": [], "a total alone": []}
for n in samples:
    X = rng.standard_normal((n, *shape))
    y = np.einsum("nij,ij->n", X, W)
    for name, constraint in (("caps of rows", rows), ("a total alone", total)):
        solution = solve(Problem(LeastSquares(X, y), constraint), "gradmp")
        found[name].append((solution.support & (W != 0)).sum() / 20)

figure, ax = plt.subplots(figsize=(6, 4))
for name, share in found.items():
    ax.plot(samples, share, marker="o", label=name)
ax.set(xlabel="samples", ylabel="share of the places found", ylim=(0, 1.05))
ax.legend()

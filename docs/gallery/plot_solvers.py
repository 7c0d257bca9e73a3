"""
Solvers on one problem
======================

All solvers start from zero and project onto the same caps. `Solution.history` has the loss after
every iteration.
"""

import matplotlib.pyplot as plt
import numpy as np

from tvcs_core import TVCS, LeastSquares, Problem, project, solve

rng = np.random.default_rng(4)
shape = (12, 12)
constraint = TVCS.matrix(shape, row_caps=3, col_caps=3, total=30)
W = project(rng.standard_normal(shape), constraint).matrix
X = rng.standard_normal((150, *shape))
y = np.einsum("nij,ij->n", X, W) + 0.05 * rng.standard_normal(150)
problem = Problem(LeastSquares(X, y), constraint)

figure, ax = plt.subplots(figsize=(6, 4))
for method in ("iht", "htp", "gradmp"):
    solution = solve(problem, method)
    ax.semilogy(solution.history, marker=".", label=f"{method}: {solution.reason}")
ax.set(xlabel="iteration", ylabel="loss")
ax.legend()

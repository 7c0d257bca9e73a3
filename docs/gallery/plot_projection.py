"""
Keep the best entries of a matrix
=================================

Every row may keep two entries, every column two, the whole matrix twelve. The projection keeps
those with the largest sum of squares, and its prices say what one more entry would be worth.
"""

import matplotlib.pyplot as plt
import numpy as np

from tvcs_core import TVCS, certify, project

V = np.random.default_rng(1).standard_normal((8, 10))
projection = project(V, TVCS.matrix(V.shape, row_caps=2, col_caps=2, total=12))
print("optimal, by separate code:", certify(projection).optimal)

# %%
# White entries are dropped. The bars are the prices of the rows: a row without a price has a cap
# that does not bind.
figure, (left, right) = plt.subplots(1, 2, width_ratios=(3, 1), figsize=(8, 4))
left.imshow(np.where(projection.support, V, np.nan), cmap="coolwarm", vmin=-3, vmax=3)
left.set(title="kept entries", xlabel="columns", ylabel="rows")
right.barh(range(8), projection.row_duals)
right.invert_yaxis()
right.set(title="price of the row's cap")
figure.tight_layout()

"""
What one more entry is worth
============================

The price of the total cap is the slope of the best objective: it falls as the cap grows, and is
zero once the caps of rows and columns decide alone.
"""

import matplotlib.pyplot as plt
import numpy as np

from tvcs_core import TVCS, project

V = np.random.default_rng(2).standard_normal((30, 30))
totals = np.arange(10, 121, 10)
found = [project(V, TVCS.matrix(V.shape, row_caps=3, col_caps=4, total=int(t))) for t in totals]

figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(6, 5))
above.plot(totals, [one.objective for one in found], marker="o")
above.set(ylabel="sum of squares kept")
below.step(totals, [one.total_dual for one in found], where="post")
below.set(xlabel="entries allowed in total", ylabel="price of the total")
figure.tight_layout()

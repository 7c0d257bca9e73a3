"""
Time courses of a simulated network
===================================

`simulate` draws a network and the experiments on it. A perturbation acts in the first half of a
series and ends there.
"""

import matplotlib.pyplot as plt

from grn_tvcs import simulate

simulation = simulate(12, 2, rng=5)
print(len(simulation.network.edges()), "true edges")

# %%
# The levels of all genes in the first series:
expression = simulation.expression
rows = next(iter(expression.pieces.values()))
figure, ax = plt.subplots(figsize=(7, 4))
ax.plot(expression.times[rows], expression.values[rows])
ax.set(xlabel="time", ylabel="level")

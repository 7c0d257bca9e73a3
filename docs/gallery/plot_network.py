"""
A gene network from time courses
================================

Thirty simulated genes, ten time courses. Every gene may have four regulators, the network forty
edges.
"""

from grn_tvcs import infer
from grn_tvcs.datasets import network30

data = network30()
network = infer(data.expression, max_in_degree=4, max_edges=40, rng=0)
print(network)

# %%
# Arrows activate, bars repress. Thick edges are supported by the data.
ax = network.plot(max_edges=40)
ax.figure.set_size_inches(7, 6)

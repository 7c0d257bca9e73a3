"""
Methods compared on known edges
===============================

Each method ranks all pairs of genes of one simulated network; the areas under the curves of
precision and recall say how well. One network is too few to judge a method by.
"""

import matplotlib.pyplot as plt

from grn_tvcs import infer, score
from grn_tvcs.datasets import network30

data = network30()
methods = ("pcc", "clr", "tvcs")
scores = {
    name: score(infer(data.expression, name, max_edges=48, rng=0), data.reference)
    for name in methods
}

figure, ax = plt.subplots(figsize=(6, 3.5))
ax.bar(methods, [scores[name].aupr for name in methods])
chance = scores["pcc"].aupr_by_chance
ax.axhline(chance, color="grey", linestyle="--", label=f"a random ranking: {chance:.2f}")
ax.set(ylabel="area under precision and recall")
ax.legend()

"""
Skills from gold answers
========================

Workers answer tasks whose label is known. Few answers say little: the estimate is drawn towards
the mean of the crowd, the more so the fewer answers there are.
"""

import matplotlib.pyplot as plt
import numpy as np

from crowd_tvcs import Answers, Gold, estimate_quality, simulate

crowd = simulate(30, 100, family="worker", n_gold=20, rng=6)
labels = dict(zip(crowd.gold, crowd.gold_labels.astype(str), strict=True))
workers = crowd.quality.workers
given = [
    (task, worker, str(crowd.gold_answers[i, j]))
    for i, worker in enumerate(workers)
    for j, task in enumerate(crowd.gold)
]
skill = estimate_quality(Answers.of(given), Gold(labels))

# %%
# The bars are intervals of 90 %: nine in ten should cross the diagonal.
order = [workers.index(worker) for worker in skill.workers]
true = crowd.quality.values.mean(axis=1)[order]
figure, ax = plt.subplots(figsize=(5, 5))
bars = np.abs(np.array([skill.low, skill.high]) - skill.mean)
ax.errorbar(true, skill.mean, bars, fmt="o", linewidth=1)
ax.plot([0.4, 1], [0.4, 1], color="grey", linewidth=1)
ax.set(xlabel="true accuracy", ylabel="estimated from 20 gold answers")
inside = (skill.low <= true) & (true <= skill.high)
print(f"{inside.sum()} of {len(true)} intervals hold the truth")

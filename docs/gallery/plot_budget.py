"""
What a budget buys
==================

The expected accuracy of the best plans by the number of answers: each further answer is worth
less than the one before.
"""

import matplotlib.pyplot as plt

from crowd_tvcs import Plan, assign
from crowd_tvcs.datasets import crowd40

quality = crowd40().quality
budgets = [120, 200, 300, 400, 500, 600]
found = [
    assign(Plan(quality, max_workers_per_task=5, max_tasks_per_worker=20, budget=budget), "fast")
    for budget in budgets
]

figure, ax = plt.subplots(figsize=(6, 4))
ax.plot(budgets, [one.expected_accuracy for one in found], marker="o")
ax.set(xlabel="answers in budget", ylabel="expected accuracy of a label")

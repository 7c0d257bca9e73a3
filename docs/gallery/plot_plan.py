"""
A plan of a crowd
=================

Forty workers, 120 tasks, 480 answers in budget. The plan leaves out workers who would add little,
and gives no task more than five.
"""

import matplotlib.pyplot as plt

from crowd_tvcs import Plan, assign
from crowd_tvcs.datasets import crowd40

quality = crowd40().quality
plan = Plan(quality, max_workers_per_task=5, max_tasks_per_worker=20, budget=480)
found = assign(plan, "best", rng=0)
print(f"expected accuracy {found.expected_accuracy:.4f}, at most {found.bound:.4f} can be had")

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.5))
left.bar(range(40), sorted(found.loads, reverse=True))
left.set(xlabel="workers, the busiest first", ylabel="tasks")
right.hist(found.task_accuracy, bins=20)
right.set(xlabel="expected accuracy of the vote", ylabel="tasks")
figure.tight_layout()

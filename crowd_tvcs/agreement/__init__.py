"""Agreement of workers: over all tasks, on each task, and in each pair of workers.

No gold is used: correctness and votes do not belong here.
"""

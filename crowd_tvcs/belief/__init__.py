"""Beliefs: the posterior of a task by its answers, and the change that further labels would make.

Every constant and every formula of beliefs has its home here. A file holds a formula twice, for
arrays of many tasks and in plain Python for one task (`..._of_task`): a single claim has no time
for arrays, and calls of the array code cost 2.8 times as much. Probabilities are checked where they
come in, so NaN is never allowed here. Parameters are fitted to gold in `skills`, not here.
"""

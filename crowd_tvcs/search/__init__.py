"""The search for the best assignment: Lagrangian relaxation, columns, exchanges, branching.

What a plan may hold is in `plan`; which search a method runs is in `methods`.
"""

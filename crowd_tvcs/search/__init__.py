"""The search for the best assignment: Lagrangian relaxation, columns, exchanges, branching.

Constraints of a plan are in `plan`; the search that a method runs is in `methods`.
"""

"""Combination of all sources of evidence into one ranking, with edge probabilities.

`evidence` computes the score of each source. `methods` and `network` turn the probabilities into a
network under caps.
"""

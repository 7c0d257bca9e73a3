"""Inference of a network: the inputs of a method before it, and its results after it.

Scores of pairs are made by `grn_tvcs.methods`.
"""

"""Partial information decomposition over triples of genes: scores of pairs, and their kernels.

Information of pairs alone is in `evidence.mutual_information`.
"""

"""Votes without gold and with little of it, beside peers.

The study of votes with plenty of gold is `benchmarks.crowd.confidence`.
"""

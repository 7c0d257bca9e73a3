"""Study of other answers than one of K classes: simulated crowds, and public sets of scales.

Votes on unordered classes are not measured here, but in `benchmarks.crowd`.
"""

"""Sources of evidence: one file each, with a score for every pair, ``[regulator, target]``.

Methods combine the scores into a network under caps.
"""

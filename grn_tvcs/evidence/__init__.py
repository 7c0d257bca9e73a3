"""The parts of evidence: one file a part, each a score for every pair, ``[regulator, target]``.

What becomes of a score, a network under caps, is no part's business: methods stand on these, and
whatever combines parts takes them from here.
"""

"""One ranking from all parts of evidence, and the chance that an edge is true.

What a part scores is in `evidence`; what becomes of the chances, a network under caps, is in
`methods` and `network`.
"""

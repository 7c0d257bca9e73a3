"""Networks: edges with scores, the rules they keep, their files, how they compare with others.

How edges are found is not known here.
"""

"""A plan: the question (qualities, caps, demands, costs) and the answer (an assignment).

How the answer is found is in `search` and `methods`.
"""

"""How the pairs of a round are chosen, before it is issued: in factors, and what plans share.

What a round of a table of workers x tasks is, and how rounds are written down, is in the folder
above.
"""

"""Studies behind the numbers of the docs, measurements of speed, comparison of two checkouts.

What a user of the packages calls does not belong here.
"""

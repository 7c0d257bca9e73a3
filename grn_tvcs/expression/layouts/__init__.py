"""Layouts that others write: one file each, all of which end in a table of samples x genes.

What the columns of that table mean is not here.
"""

"""Files in and out: tables, matrices, folders, run records, pages, and the errors that name them.

What the columns of a table mean is not known here, nor how a command ends.
"""

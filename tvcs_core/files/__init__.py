"""File input and output: tables, matrices, result folders, run records, pages and their errors.

The meaning of columns and the exit codes of commands do not belong here.
"""

"""Formats that others write, one file each: most return a sheet, those of cells expression.

What the columns of a sheet mean is not here.
"""

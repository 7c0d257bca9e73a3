"""Formats that others write, one file each: most return a sheet, those of cells expression.

They do not interpret the columns of a sheet.
"""

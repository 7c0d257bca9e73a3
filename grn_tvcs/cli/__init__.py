"""The commands of `grn-tvcs`: one file each, and shared options.

A command reads, calls one function, prints and writes.
"""

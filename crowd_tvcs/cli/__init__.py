"""The commands of `crowd-tvcs`: one file each, and shared options.

A command reads its input, calls the library, prints and writes. It computes nothing itself.
"""

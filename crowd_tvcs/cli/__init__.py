"""The commands of `crowd-tvcs`: one file each, and what they share.

What a command computes is not here: it reads, calls, tells and writes.
"""

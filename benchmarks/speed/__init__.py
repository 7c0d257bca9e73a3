"""Time and memory, peers in the same run; each module can be run by itself.

How good an answer is does not belong here.
"""

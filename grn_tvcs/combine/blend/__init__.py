"""Blend of rankings for tables outside the domain of the learned combination, and its texts.

Which tables these are is decided in the rest of `combine` and by the method.
"""

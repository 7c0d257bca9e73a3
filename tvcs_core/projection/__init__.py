"""The projection onto a TVCS: checked input, exact solution, gap, and files.

The check of a projection does not belong here: `tvcs_core.certificate` shares no code with it.
"""

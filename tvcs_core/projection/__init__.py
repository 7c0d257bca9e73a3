"""The projection onto a TVCS: V checked at the door, the exact solution, and its file.

The check of a projection is not here: `tvcs_core.certificate` shares no code with this room.
"""

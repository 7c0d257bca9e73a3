"""The path under which docs have named `crowd_tvcs.skills.vote`."""

from crowd_tvcs.skills.vote import vote

__all__ = ["vote"]

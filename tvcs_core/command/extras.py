"""The path under which commands know `tvcs_core.files.extras`."""

from tvcs_core.files.extras import to_install

__all__ = ["to_install"]

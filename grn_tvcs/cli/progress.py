"""The path under which commands know `tvcs_core.command.progress`."""

from tvcs_core.command.progress import Progress, span

__all__ = ["Progress", "span"]

"""Available memory of the machine."""

from __future__ import annotations

from pathlib import Path

MEMINFO = Path("/proc/meminfo")


def available_memory() -> int | None:
    """Return the bytes of memory that are free or can be freed; None if the system has no count."""
    try:
        lines = MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in lines)
    return 1024 * int(fields["MemAvailable"].split()[0]) if "MemAvailable" in fields else None

"""How much memory the machine has left."""

from __future__ import annotations

from pathlib import Path

MEMINFO = Path("/proc/meminfo")


def available_memory() -> int | None:
    """Bytes of memory that are free or can be freed; None where the system does not say."""
    try:
        lines = MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    known = dict(line.split(":", 1) for line in lines)
    return 1024 * int(known["MemAvailable"].split()[0]) if "MemAvailable" in known else None

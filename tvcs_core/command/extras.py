"""How to get the packages that only some users need."""

from __future__ import annotations


def to_install(extra: str) -> str:
    """Return the words that install an extra: tvcs is on no package index yet."""
    return f"pip install '.[{extra}]' in the folder of tvcs"

"""Which notebooks the site runs, and where it keeps what they print."""

import hashlib
import json
import shutil
from pathlib import Path

# What a notebook reads beside itself: with other sources it may print something else.
SOURCES = {
    "tvcs_core": "*.py",
    "grn_tvcs": "*.*",
    "crowd_tvcs": "*.*",
    "data": "*.*",
    "benchmarks/results": "*.*",
}


def with_output(root: Path) -> list[Path]:
    """Return the notebooks that are kept with what they print: these are shown as they are."""
    return [path for path in sorted((root / "notebooks").glob("*.ipynb")) if _has_output(path)]


def cache_of(root: Path) -> Path:
    """Return the folder for what the others print with the sources as they are now.

    The folders of other sources are removed, so that the next build runs the notebooks again.
    """
    folder = root / "out" / "site" / "notebooks"
    wanted = folder / _fingerprint(root)
    for other in folder.glob("*"):
        if other != wanted:
            shutil.rmtree(other)
    return wanted


def _has_output(path: Path) -> bool:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return any(cell.get("outputs") for cell in cells)


def _fingerprint(root: Path) -> str:
    seen = hashlib.sha256()
    for top, pattern in SOURCES.items():
        for path in sorted((root / top).rglob(pattern)):
            if path.is_file() and "__pycache__" not in path.parts:
                seen.update(path.relative_to(root).as_posix().encode() + b"\0")
                seen.update(hashlib.sha256(path.read_bytes()).digest())
    return seen.hexdigest()[:16]

"""Which notebooks the site runs, and where it keeps what they print."""

import hashlib
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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


def to_read_again(cache: Path, names: Iterable[str]) -> list[str]:
    """Return the pages that Sphinx must read again, where nothing was printed with these sources.

    Sphinx keeps what it has read, and a notebook that is the same file prints the same to it.
    """
    return [] if cache.exists() else [name for name in names if name.startswith("notebooks/")]


def setup(app: Any) -> dict[str, bool]:
    """Have notebooks read again when the sources have changed."""
    app.connect(
        "env-get-outdated",
        lambda app, env, *_: to_read_again(
            Path(app.config.nb_execution_cache_path), env.found_docs
        ),
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}


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

"""What the long proofs counted: printed, and kept where `TVCS_COUNTS` names a file."""

import json
import os
import subprocess
from pathlib import Path

KEPT = Path(__file__).with_name("counts.json")
COMMIT = "commit"


def note(proof: str, case: str, **counts: int) -> None:
    """Print counts; with ``TVCS_COUNTS=FILE`` they replace those of this case in the file.

    There they have the commit that this tree is of.
    """
    print(f"{proof}, {case}: " + ", ".join(f"{n} {word}" for word, n in counts.items()))
    if place := os.environ.get("TVCS_COUNTS"):
        path = Path(place)
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        kept.setdefault(proof, {})[case] = {COMMIT: commit_here()} | counts
        text = json.dumps(kept, indent=1, sort_keys=True)
        path.write_text(text + "\n", encoding="utf-8")


def commit_here() -> str:
    """The commit that this tree is of, in short."""
    words = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(words, cwd=KEPT.parent, capture_output=True, text=True, check=True)
    return done.stdout.strip()

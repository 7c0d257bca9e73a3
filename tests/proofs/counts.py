"""What the long proofs counted: printed, and kept where `TVCS_COUNTS` names a file."""

import json
import os
from pathlib import Path

KEPT = Path(__file__).with_name("counts.json")


def note(proof: str, case: str, **counts: int) -> None:
    """Print counts; with ``TVCS_COUNTS=FILE`` they replace those of this case in the file."""
    print(f"{proof}, {case}: " + ", ".join(f"{n} {word}" for word, n in counts.items()))
    if place := os.environ.get("TVCS_COUNTS"):
        path = Path(place)
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        kept.setdefault(proof, {})[case] = counts
        text = json.dumps(kept, indent=1, sort_keys=True)
        path.write_text(text + "\n", encoding="utf-8")

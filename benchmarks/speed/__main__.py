"""Run every measurement of speed, one after the other: `python -m benchmarks.speed [--quick]`."""

from __future__ import annotations

import argparse
import subprocess
import sys

MODULES = (
    "blocks", "campaign", "cost", "families", "history", "inference", "network_report",
    "projection", "serve", "solvers", "workers",
)  # fmt: skip


def main() -> int:
    """Give each a process of its own; the largest of their exit codes is ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, a few minutes in all")
    words = ["--quick"] if parser.parse_args().quick else []
    lines = [[sys.executable, "-m", f"benchmarks.speed.{name}", *words] for name in MODULES]
    return max(subprocess.run(line).returncode for line in lines)


if __name__ == "__main__":
    sys.exit(main())

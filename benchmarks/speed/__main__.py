"""Run every measurement of speed: `python -m benchmarks.speed [--quick]`."""

from __future__ import annotations

import subprocess
import sys

MODULES = ("campaign", "inference", "projection", "solvers")


def main() -> int:
    """Run one after the other, each in a process of its own; the largest exit code is ours."""
    lines = [[sys.executable, "-m", f"benchmarks.speed.{name}", *sys.argv[1:]] for name in MODULES]
    return max(subprocess.run(line).returncode for line in lines)


if __name__ == "__main__":
    sys.exit(main())

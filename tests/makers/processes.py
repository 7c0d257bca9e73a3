"""Programs of tests that need a Python of their own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from subprocess import CompletedProcess
from typing import Any


def run_python(
    code: str, *words: Any, env: Mapping[str, str] | None = None, check: bool = True, **more: Any
) -> CompletedProcess[str]:
    """Run `code` in a new process with what `env` adds to the environment; it must end with 0."""
    command = [sys.executable, "-c", code, *map(str, words)]
    around = os.environ | (env or {})
    done = subprocess.run(command, env=around, capture_output=True, text=True, **more)
    assert not check or done.returncode == 0, done.stderr
    return done

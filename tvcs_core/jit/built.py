"""Kernels that were compiled when the package was built, each for a kind of processor.

A wheel for a platform may hold them in ``built``, a folder beside this file. They are used on
every processor that can do what the kind can, and with exactly the versions they were compiled
with; anywhere else kernels are compiled at their first use, as they are from a source tree.
"""

import functools
import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tvcs_core.jit.folder import cache_folder, compilers, has_plain_sources, package_of, stamp_of

PLACE = Path(__file__).parent / "built"
MADE_WITH = "made_with.json"

# LLVM's name of a kind, the best first, and what a processor of it can do (psABI of x86-64).
_V2 = ["cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"]
KINDS = {
    "x86-64-v3": [*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"],
    "x86-64-v2": _V2,
}

NONE = "there are none"
SECRET = "this user may not read them"

_uses = 0


@dataclass(frozen=True)
class Built:
    """The kernels of one package for one kind of processor."""

    folder: Path
    kind: str

    def magic(self, codegen: Any) -> tuple[str, ...]:
        """What numba calls the target that they were compiled for."""
        return codegen.magic_tuple()[0], self.kind, ""


def built_for(function: Callable[..., Any]) -> Built | None:
    """Return the built kernels that `function` may be one of, None where they cannot be used."""
    return built_kernels(package_of(function)) if has_plain_sources(function) else None


@functools.cache
def built_kernels(package: str = "tvcs_core") -> Built | None:
    """Return those of `package` that fit this processor, these versions and these sources."""
    return None if why_not(package) else Built(_folder(package, _kind()), _kind())


def why_not(package: str = "tvcs_core") -> str:
    """Say why no built kernels of `package` are used; nothing if they are."""
    try:
        made_with = json.loads((PLACE / MADE_WITH).read_text("utf-8"))
    except PermissionError:
        return SECRET
    except (OSError, ValueError):
        return NONE
    for name, found in made_here().items():
        if found != made_with.get(name):
            return f"they were compiled with {name} {made_with.get(name)}, here is {found}"
    settings = sorted(name for name in os.environ if name.startswith("NUMBA_"))
    if settings:
        return f"{settings[0]} is set"
    if not _kind():
        return f"this processor is none of {', '.join(KINDS)}"
    folder = _folder(package, _kind())
    try:
        for name in os.listdir(folder)[:1]:  # all have the rights of one
            (folder / name).open("rb").close()
    except PermissionError:
        return SECRET
    except OSError:
        return "the sources of the kernels were changed"
    return ""


def has_kept(modules: str) -> bool:
    """Whether kernels of these modules, named by how they begin, need not be compiled here."""
    package = modules.partition(".")[0]
    folder = cache_folder(package)
    is_kept = folder is not None and any(folder.glob(f"{modules}.*.kernel"))
    return is_kept or built_kernels(package) is not None


def uses() -> int:
    """Return how many kernels this process has taken from there."""
    return _uses


def count_use(is_used: bool) -> None:
    """Count a kernel that was asked for, if it was there."""
    global _uses
    _uses += is_used


def made_here() -> dict[str, str]:
    """Return what must be equal here and where the kernels were compiled, beside their sources."""
    here = {"Python": str(sys.implementation.cache_tag), "system": sys.platform}
    return {**here, "machine": platform.machine(), **compilers()}


def stamp(package: str) -> str:
    """Return the name of the folder of a package's kernels: what their code depends on."""
    return f"{package}-{stamp_of(package, list(made_here().values()))}"


def _folder(package: str, kind: str) -> Path:
    return PLACE / kind / stamp(package)


@functools.cache
def _kind() -> str:
    """Return the best kind that this processor is of; nothing if it is of none."""
    from llvmlite import binding

    able = dict(binding.get_host_cpu_features())
    return next((kind for kind, needed in KINDS.items() if all(map(able.get, needed))), "")

"""The checks of `tvcs doctor`."""

from collections.abc import Iterator
from pathlib import Path

NOT_KEPT = "no kernel can be kept: set TVCS_CACHE_DIR to a folder of your own"


def facts() -> Iterator[tuple[str, str]]:
    """Yield names and values of the facts that `tvcs doctor` prints."""
    import os
    import platform
    import sys

    from tvcs_core.files.record import PACKAGES, run_record
    from tvcs_core.jit.folder import cache_folder, read_sealed

    versions = run_record("tvcs doctor", {}, seed=None)["versions"]
    yield "tvcs", f"{versions['tvcs']} in {Path(__file__).parent}"
    yield "python", f"{versions['python']} at {sys.executable}"
    yield "packages", ", ".join(f"{name} {versions[name]}" for name in PACKAGES[1:])
    yield "system", f"{platform.system()} {platform.release()} on {platform.machine()}"
    yield "cores", f"{_cores()} of {os.cpu_count()}; a projection uses one"
    yield "memory", _memory()
    folder = cache_folder()
    if folder is None:
        yield "cache", "none: kernels are compiled in every run"
        return
    files = list(folder.glob("*.kernel"))
    sealed = sum(read_sealed(path) is not None for path in files)
    yield "cache", f"{folder}{'' if os.access(folder, os.W_OK) else ' (cannot be written)'}"
    yield "kernels", f"{sealed} compiled and sealed" if sealed else "compiled at their first use"
    if sealed < len(files):
        yield "", f"{len(files) - sealed} were damaged and have been deleted"


def surprises() -> Iterator[str]:
    """Yield warnings: slow starts, settings of numba, cache folders that cannot be used."""
    import os
    import sys

    from tvcs_core.jit.folder import fingerprint, settings

    stamp = fingerprint("tvcs_core")
    if stamp is None:
        yield "no kernel cache: the sources cannot be read or changed since this command began"
    else:
        yield from _unused_places(stamp)
    try:
        import tvcs_core.jit.linking  # noqa: F401
    except ImportError as error:
        yield f"{error}: the first use of kernels takes longer"
    debug = {name: value for name, value in os.environ.items() if name == "TVCS_DEBUG"}
    for name, value in (settings() | debug).items():
        yield f"{name}={value} is set"
    if sys.flags.dont_write_bytecode and not _has_bytecode():
        yield "Python may not write byte-code (PYTHONDONTWRITEBYTECODE): every start is slower"
    cores = _cores()
    if cores < (os.cpu_count() or 1):
        yield f"this process may use {cores} of {os.cpu_count()} cores"


def try_projection() -> tuple[str, list[str]]:
    """Project a small table; describe the run, and list defects of the installation."""
    import os
    from time import perf_counter

    import numpy as np

    from tvcs_core import TVCS, certify
    from tvcs_core import project as project_onto
    from tvcs_core.jit import compiling_seconds
    from tvcs_core.jit.folder import cache_folder
    from tvcs_core.projection import first

    V, trouble = np.add.outer(np.arange(20), np.arange(20)), []
    began, before = perf_counter(), compiling_seconds()
    first.stop()
    projection = project_onto(V, TVCS.matrix(V.shape, row_caps=4, col_caps=5, total=70))
    seconds, compiling = perf_counter() - began, compiling_seconds() - before
    if projection.gap or not certify(projection).optimal:
        trouble.append("the projection of a table of 20 x 20 is not proved: trust no result")
    folder = cache_folder()
    if folder is None or not os.access(folder, os.W_OK):
        trouble.append(NOT_KEPT)
    how = f"kernels compiled in {compiling:.1f} s" if compiling else "kernels from the cache"
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        how = "kernels not compiled"
    return f"a table of 20 x 20 in {seconds:.2f} s, {how}", trouble


def _unused_places(stamp: str) -> Iterator[str]:
    from tvcs_core.jit.folder import cache_places, open_folder

    for place in cache_places():
        try:
            open_folder(place, "tvcs_core", stamp)
        except OSError as error:
            yield f"no kernel cache in {place}: {error.strerror or error}"
        else:
            return


def _has_bytecode() -> bool:
    from importlib.util import cache_from_source

    return Path(cache_from_source(__file__)).exists()


def _cores() -> int:
    import os

    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> str:
    import os

    from tvcs_core.files.memory import available_memory

    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return "not known"
    left = available_memory()
    available = "" if left is None else f", {left / 2**30:.1f} GiB available"
    return f"{whole / 2**30:.1f} GiB{available}"

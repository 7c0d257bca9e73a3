"""The folder of compiled kernels: what it is named after, who may write to it, sealed files.

numba's own cache answers with old code after a kernel of another file was edited, crashes on a
damaged file and fails if no folder is writable. Here

- the folder's name holds a hash of all sources that kernels are made of and of the versions:
  another code, another folder;
- each file starts with the SHA-256 of the rest, and is deleted unread where they differ;
- a folder that someone else owns or may write is not used, and if there is none left kernels
  are compiled without a cache.

It is looked for in ``TVCS_CACHE_DIR``, the user's cache folder and the temporary one.
"""

import contextlib
import errno
import functools
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

KEPT_FOLDERS = 8  # of one package: other versions and edits of the sources

# Variables of numba that change no machine code of a serial kernel (numba's reference manual,
# "Environment variables"): threads, numba's own cache, warnings and error messages. One that
# prints what is compiled is not among them: it prints nothing of a kernel from the cache.
CODE_IS_EQUAL = {
    *("NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER", "NUMBA_THREADING_LAYER_PRIORITY"),
    *("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES", "NUMBA_DEBUG_CACHE"),
    *("NUMBA_FUNCTION_CACHE_SIZE", "NUMBA_DISABLE_PERFORMANCE_WARNINGS"),
    *("NUMBA_FULL_TRACEBACKS", "NUMBA_SHOW_HELP", "NUMBA_COLOR_SCHEME", "NUMBA_GDB_BINARY"),
    "NUMBA_DISABLE_CUDA",
}

_STARTED = time.time()
_IMPORT = re.compile(r"^[ \t]*(?:from|import) [^(\n]*(?:\([^)]*\))?", re.MULTILINE)


def read_sealed(path: Path) -> bytes | None:
    """Read a file of `write_sealed`; None if there is none or it is damaged.

    A damaged file is deleted. Nothing of it is used, least of all unpickled.
    """
    with contextlib.suppress(OSError):
        raw = path.read_bytes()
        if raw[:32] == _seal(path, raw[32:]):
            return raw[32:]
        path.unlink()
    return None


def write_sealed(path: Path, payload: bytes) -> None:
    """Write `payload` with its seal, whole or not at all: two processes may do so at once."""
    handle, name = tempfile.mkstemp(prefix=".partial-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_seal(path, payload) + payload)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _seal(path: Path, payload: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + b"\0" + payload).digest()


def folder_for(function: Callable[..., Any]) -> Path | None:
    """Return the folder for a kernel, None if `sources` does not hold all that it depends on."""
    is_plain = function.__closure__ is None and "<" not in function.__qualname__
    if is_plain and "kernels" in function.__module__:
        return cache_folder(function.__module__.partition(".")[0])
    return None


def has_kept(modules: str) -> bool:
    """Whether the cache holds a kernel of these modules, named by how they begin."""
    folder = cache_folder(modules.partition(".")[0])
    return folder is not None and any(folder.glob(f"{modules}.*.kernel"))


@functools.cache
def cache_folder(package: str = "tvcs_core") -> Path | None:
    """Return the folder of the compiled kernels of `package`, None if there is none to trust.

    None as well if a source was changed since this process began: the imported code may then be
    older than the name of the folder.
    """
    stamp = fingerprint(package)
    for place in cache_places() if stamp else ():
        with contextlib.suppress(OSError):
            return open_folder(place, package, str(stamp))
    return None


def open_folder(place: Path, package: str, stamp: str, what: str = "kernels") -> Path:
    """Make the folder of `package` in `place`, or find it there; `what` it holds names it too.

    Raises
    ------
    OSError
        If it cannot be made, or if others can write to it.
    """
    prefix = f"{what}-{package}-"
    folder = place / f"{prefix}{stamp}"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not folder.exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        _forget_old(place, prefix)
    if not _is_ours_alone(folder):
        raise PermissionError(errno.EPERM, "belongs to others or can be written by them", folder)
    return folder


def cache_places() -> Iterator[Path]:
    """Yield where the folder may be, best first."""
    chosen = os.environ.get("TVCS_CACHE_DIR")
    if chosen:
        yield Path(chosen).absolute()
    cache = _user_cache()
    if cache is not None:
        yield cache / "tvcs"
    with contextlib.suppress(OSError):
        user = f"tvcs-{os.getuid()}" if os.name == "posix" else "tvcs"
        yield Path(tempfile.gettempdir()) / user


def _user_cache() -> Path | None:
    chosen = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", "")
    if os.path.isabs(chosen):
        return Path(chosen)
    home = Path(os.path.expanduser("~"))
    if os.name == "nt" or not home.is_absolute() or not home.is_dir():
        return None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def _is_ours_alone(folder: Path) -> bool:
    """Whether no one else can write to `folder` or put another in its place."""
    if os.name != "posix":
        return True
    me = os.getuid()
    here, above = folder.lstat(), folder.parent.stat()
    if not stat.S_ISDIR(here.st_mode) or here.st_uid != me or here.st_mode & 0o077:
        return False
    for_all = above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX
    return above.st_uid in (me, 0) and not for_all


def _forget_old(place: Path, prefix: str) -> None:
    """Delete all but the `KEPT_FOLDERS` written to last; another process may be at it as well."""
    with contextlib.suppress(OSError):
        folders = sorted(place.glob(f"{prefix}*"), key=lambda p: -p.lstat().st_mtime)
        for folder in folders[KEPT_FOLDERS:]:
            shutil.rmtree(folder, ignore_errors=True)


def fingerprint(package: str) -> str | None:
    """Return a hash of the sources and versions of compiled code; None if not knowable.

    The code depends on its signature and the processor too: these are in a file's name.
    """
    import llvmlite
    import numba
    import numpy as np

    versions = [module.__version__ for module in (numba, llvmlite, np)]  # a patch may matter
    facts = [sys.version, sys.platform, *versions, *(f"{k}={v}" for k, v in settings().items())]
    digest = hashlib.sha256("\n".join(facts).encode())
    try:
        for name, path in sorted(sources(package).items()):
            changed = path.stat()
            if max(changed.st_mtime, changed.st_ctime) > _STARTED:
                return None
            digest.update(f"\0{name}\0".encode() + path.read_bytes())
    except (OSError, KeyError, AttributeError):  # no source files, or no package
        return None
    return digest.hexdigest()[:16]


def settings() -> dict[str, str]:
    """Return the environment variables of numba that may change code or what compiling prints."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith("NUMBA_") and name not in CODE_IS_EQUAL and "_CUDA_" not in name
    }


def sources(package: str) -> dict[str, Path]:
    """Return the files of kernels, by their names, and all of ours that these import."""
    roots = {Path(sys.modules[name].__path__[0]) for name in (package, "tvcs_core")}
    files = {_module(path, root): path for root in roots for path in root.rglob("*.py")}
    found: dict[str, Path] = {}
    todo = {name for name in files if "kernels" in name}
    while todo:
        name = todo.pop()
        found[name] = files[name]
        for statement in _IMPORT.findall(files[name].read_text("utf-8", "replace")):
            words = re.findall(r"[\w.]+", statement)
            named = {*words, *(f"{words[1]}.{word}" for word in words)}
            todo |= named & files.keys() - found.keys()
    return found


def _module(path: Path, root: Path) -> str:
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")

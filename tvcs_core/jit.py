"""The one decorator for kernels: serial `njit` without the GIL, compiled once per machine.

numba is imported at the first call of a kernel and not before, so ``import tvcs_core`` does
not wait for it. What it compiles is kept in a folder of our own, one file per kernel and
signature, because numba's own cache answers with old code after a kernel of another file was
edited, crashes on a damaged file and fails where no folder is writable. Here

- the folder's name holds a hash of all kernel sources of the package (and of ours), of the
  versions and of the processor: another code, another folder;
- each file starts with the SHA-256 of the rest, and is deleted unread where they differ;
- a folder that someone else owns or may write is not used, and where there is none left, or
  numba has changed, kernels are compiled without a cache.

The folder is looked for in ``TVCS_CACHE_DIR``, the user's cache folder and the temporary one.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import pickle
import platform
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

KEPT_FOLDERS = 8  # of one package: other versions and edits of the sources
SAY_AFTER = 0.5  # seconds of compiling

_STARTED = time.time()
_LOCK = threading.Lock()


def kernel(function: Callable[..., Any]) -> Kernel:
    """Compile `function` at its first call; it must be called with one signature only.

    It may call kernels of its own package and of tvcs_core; the files of both must import
    nothing else of ours, for the cache is as fresh as the files that import this decorator.
    """
    return Kernel(function)


class Kernel:
    """A function that numba compiles when it is first called, from Python or from a kernel.

    Attributes
    ----------
    py_func
        The function as it was written.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._compiled: Any = None
        self._part: Any = None

    def __call__(self, *args: Any) -> Any:
        """Run it, compiled."""
        return (self._compiled or self.dispatcher)(*args)

    @property
    def dispatcher(self) -> Any:
        """What numba made of it; the plain function under ``NUMBA_DISABLE_JIT=1``."""
        part = self.part
        with _LOCK:
            if self._compiled is None:
                self._compiled = _entry(part)
        return self._compiled

    @property
    def part(self) -> Any:
        """What kernels that call this one link in; the plain function under the same setting."""
        with _LOCK:
            if self._part is None:
                self._part = _part(self.py_func)
        return self._part

    @property
    def signatures(self) -> list[Any]:
        """The argument types it was called with so far."""
        of_both = (getattr(x, "signatures", ()) for x in (self._part, self._compiled))
        return list(dict.fromkeys(types for found in of_both for types in found))

    @property
    def _numba_type_(self) -> Any:
        """What a kernel that calls this one sees (numba asks by this name)."""
        return self.part._numba_type_


def _part(function: Callable[..., Any]) -> Any:
    from numba import njit

    plain = njit(nogil=True)(function)
    if plain is function:  # NUMBA_DISABLE_JIT=1
        return function
    try:
        from tvcs_core.linking import part_of

        return part_of(function)
    except (ImportError, AttributeError):  # another numba than it was tested with
        return plain


def _entry(part: Any) -> Any:
    if not hasattr(part, "py_func"):
        return part
    entry = part
    if hasattr(type(part._compiler), "is_part"):
        from tvcs_core.linking import entry_to

        entry = entry_to(part)
    entry._cache = SealedCache(part.py_func)
    return entry


class SealedCache:
    """The compiled signatures of one function, in the place of numba's own cache.

    numba calls `load_overload` before it compiles and `save_overload` after; whatever goes
    wrong in here, it just compiles.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._package = function.__module__.partition(".")[0]
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._line = function.__code__.co_firstlineno
        self._is_plain = function.__closure__ is None and "<" not in self._name
        self._missed_at = 0.0

    @property
    def cache_path(self) -> str | None:
        """The folder, for numba's statistics."""
        folder = cache_folder(self._package) if self._is_plain else None
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load what was compiled for `sig`; None if it must be compiled."""
        path = self._path(sig)
        try:
            payload = None if path is None else read_sealed(path)
            if payload is not None:
                target_context.refresh()
                return _rebuild(target_context, payload)
        except Exception:
            # Sealed by us and still not what this numba can use: as good as damaged.
            assert path is not None
            _delete(path)
        self._missed_at = time.perf_counter()
        return None

    def save_overload(self, sig: Any, compiled: Any) -> None:
        """Keep what was compiled for `sig`, if there is where to."""
        path = self._path(sig)
        _NOTICE.add(self._missed_at, None if path is None else path.parent)
        if path is None:
            return
        try:
            if not (compiled.lifted or compiled.library.has_dynamic_globals):
                write_sealed(path, _reduce(compiled))
        except Exception:
            return

    def enable(self) -> None:
        """Do nothing: a kernel is always cached."""

    def disable(self) -> None:
        """Do nothing: a kernel is always cached."""

    def flush(self) -> None:
        """Do nothing: a file is replaced when it is written anew."""

    def _path(self, sig: Any) -> Path | None:
        folder = cache_folder(self._package) if self._is_plain else None
        if folder is None:
            return None
        digest = hashlib.sha256(f"{self._line} {sig!r}".encode()).hexdigest()
        return folder / f"{self._name}-{digest[:16]}.kernel"


def _reduce(compiled: Any) -> bytes:
    from numba.core.serialize import dumps

    return bytes(dumps(compiled._reduce()))


def _rebuild(target_context: Any, payload: bytes) -> Any:
    from numba.core.compiler import CompileResult

    return CompileResult._rebuild(target_context, *pickle.loads(payload))


def read_sealed(path: Path) -> bytes | None:
    """Read what `write_sealed` wrote; None if there is no such file or it is damaged.

    A damaged file is deleted. Nothing of it is used, least of all unpickled.
    """
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    seal, payload = raw[:32], raw[32:]
    if seal != _seal(path, payload):
        _delete(path)
        return None
    return payload


def write_sealed(path: Path, payload: bytes) -> None:
    """Write `payload` with its seal, whole or not at all: two processes may do so at once."""
    handle, name = tempfile.mkstemp(prefix=".partial-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_seal(path, payload) + payload)
        os.replace(name, path)
    except BaseException:
        _delete(Path(name))
        raise


def _seal(path: Path, payload: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + b"\0" + payload).digest()


def _delete(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


@functools.cache
def cache_folder(package: str = "tvcs_core") -> Path | None:
    """Folder for the compiled kernels of `package`, or None where there is none to trust.

    None as well if a source was changed since this process began: what was imported may then
    be older than what the folder's name says.
    """
    stamp = fingerprint(package)
    if stamp is None:
        return None
    for place in cache_places():
        with contextlib.suppress(OSError):
            return open_folder(place, package, stamp)
    return None


def open_folder(place: Path, package: str, stamp: str) -> Path:
    """Make the folder of `package` in `place`, or find it there.

    Raises
    ------
    OSError
        If it cannot be made, or if others can write to it.
    """
    prefix = f"kernels-{package}-"
    folder = place / f"{prefix}{stamp}"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not folder.exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        _forget_old(place, prefix)
    if not _is_ours_alone(folder):
        raise PermissionError(errno.EPERM, "belongs to others or can be written by them", folder)
    return folder


def cache_places() -> Iterator[Path]:
    """Where the folder may be, best first."""
    chosen = os.environ.get("TVCS_CACHE_DIR")
    if chosen:
        yield Path(chosen).absolute()
    cache = _user_cache()
    if cache is not None:
        yield cache / "tvcs"
    try:
        temporary = Path(tempfile.gettempdir())
    except OSError:
        return
    yield temporary / (f"tvcs-{os.getuid()}" if os.name == "posix" else "tvcs")


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
    """Hash of all that compiled code depends on but its own signature; None if not knowable."""
    import llvmlite
    import llvmlite.binding as llvm
    import numba
    import numpy as np

    facts = [sys.implementation.name, platform.python_version(), platform.machine(), sys.platform]
    facts += [numba.__version__, llvmlite.__version__, np.__version__]
    facts += [f"{k}={v}" for k, v in sorted(os.environ.items()) if k.startswith("NUMBA_")]
    digest = hashlib.sha256()
    try:
        facts += [llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
        digest.update("\n".join(facts).encode())
        for root in sorted({_root(package), _root("tvcs_core")}):
            for path in _kernel_files(root):
                changed = path.stat()
                if max(changed.st_mtime, changed.st_ctime) > _STARTED:
                    return None
                digest.update(f"\0{path.relative_to(root.parent).as_posix()}\0".encode())
                digest.update(path.read_bytes())
    except (OSError, RuntimeError):
        return None
    return digest.hexdigest()[:16]


def _root(package: str) -> Path:
    """The folder of a package, or the file of a single module."""
    file = getattr(sys.modules.get(package), "__file__", None)
    if file is None:
        raise OSError(f"{package} has no source file")
    path = Path(file)
    return path.parent if path.name == "__init__.py" else path


def _kernel_files(root: Path) -> list[Path]:
    """Our file and those that name it: rule 5 of the layers keeps all kernels in them."""
    files = sorted(root.rglob("*.py")) if root.is_dir() else [root]
    return [p for p in files if p.samefile(__file__) or b"tvcs_core.jit" in p.read_bytes()]


class _Notice:
    """Says once that kernels are being compiled, when that has taken half a second."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._until = 0.0
        self._said = False

    def add(self, since: float, folder: Path | None) -> None:
        now = time.perf_counter()
        self.seconds += now - max(since, self._until)
        self._until = now
        if self.seconds > SAY_AFTER and not self._said:
            self._said = True
            how = f"once, kept in {folder}" if folder else "without a cache, see `tvcs doctor`"
            print(f"tvcs: compiling the kernels {how}", file=sys.stderr, flush=True)


_NOTICE = _Notice()


def compiling_seconds() -> float:
    """How long this process has been compiling kernels so far."""
    return _NOTICE.seconds

"""Lazy loading: names of a package, and functions, that are imported at their first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar


@dataclass(frozen=True)
class LazyFunction:
    """A function with its name and a hint, imported when it is first called.

    A command can list all such functions in its help without importing any. The function called
    ``a-b`` is ``package.a_b.a_b``.

    Attributes
    ----------
    name
        Name that users type, such as ``"tvcs-plain"``.
    hint
        A few words that help to choose; may be empty.
    """

    package: ClassVar[str]
    name: str
    hint: str = ""

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function, imported at the first access."""
        name = self.name.replace("-", "_")
        return load(f"{self.package}.{name}", name)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function, for `inspect.signature`."""
        return self.function

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function."""
        return self.function(*args, **options)


def load(module: str, name: str) -> Callable[..., Any]:
    """Import a module and return one of its functions by name."""
    return getattr(import_module(module), name)


def choices(of: Iterable[LazyFunction]) -> str:
    """Join names and hints for a help text: ``best (with a bound), fast or random``."""
    *most, last = [f"{one.name} ({one.hint})" if one.hint else one.name for one in of]
    return f"{', '.join(most)} or {last}" if most else last


def lazy_exports(
    package: str, homes: Mapping[str, str], modules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that imports its names lazily (PEP 562).

    ``__version__`` is that of the distribution.
    No name may equal that of a module of the package: importing the module would hide it.

    Parameters
    ----------
    package
        ``__name__`` of the package.
    homes
        Maps each module of the package to its exported names, separated by spaces.
    modules
        Modules of the package that are attributes themselves.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name == "__version__":
            return import_module("tvcs_core.files.record").tvcs_version()
        if name in modules:
            return import_module(f"{package}.{name}")
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of, *modules})

    return get, names

"""Names of a package that are loaded when they are first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar


@dataclass(frozen=True)
class Listed:
    """A function with what is said of it; it is loaded when it is first called.

    So a command can name all that there are in its help and load none of them. The function is
    the one called `name`, in the module of `package` called so too; there - is written _.

    Attributes
    ----------
    name
        What users call it, such as ``"tvcs-plain"``.
    hint
        A few words for who has to choose; may be empty.
    """

    package: ClassVar[str]
    name: str
    hint: str = ""

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        name = self.name.replace("-", "_")
        return load(f"{self.package}.{name}", name)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The same, for `inspect.signature`."""
        return self.function

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function."""
        return self.function(*args, **options)


def load(module: str, name: str) -> Callable[..., Any]:
    """Return a function by the names of its module and itself, loaded when it is asked for."""
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def choices(of: Iterable[Listed]) -> str:
    """Name all with their hints: ``best (with a bound), fast or random``."""
    *most, last = [f"{one.name} ({one.hint})" if one.hint else one.name for one in of]
    return f"{', '.join(most)} or {last}" if most else last


def on_demand(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make `__getattr__` and `__dir__` of a package (PEP 562).

    No name may be that of a module of the package: importing the module would hide it.

    Parameters
    ----------
    package
        Its ``__name__``.
    homes
        Which names each of its modules holds, separated by spaces.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return get, names

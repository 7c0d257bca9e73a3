"""The directive `public`: every public name of a module, made from the code and its docstrings.

The names of a package are those of its `__all__`. A module without one opens the functions and
classes that it defines and whose names have no underscore.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

PACKAGES = ("tvcs_core", "grn_tvcs", "crowd_tvcs")
MARK = ".. public::"


def public_names(module: str) -> list[str]:
    """Return the names that a module opens to its users, in alphabetical order."""
    home = import_module(module)
    names = getattr(home, "__all__", None)
    if names is None:
        names = [
            name
            for name, thing in vars(home).items()
            if not name.startswith("_")
            and (inspect.isfunction(thing) or inspect.isclass(thing))
            and thing.__module__ == module
        ]
    return sorted(names, key=str.lower)


def shown(root: Path) -> dict[str, list[str]]:
    """Return the names of each module that the pages of the reference show."""
    found: dict[str, list[str]] = {}
    for page in sorted((root / "docs" / "reference").glob("*.md")):
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(MARK):
                module, *names = line.removeprefix(MARK).split()
                found.setdefault(module, []).extend(names or public_names(module))
    return found


def entries(module: str, names: list[str]) -> list[str]:
    """Return what `public` stands for: reStructuredText with one directive for each name.

    Without `names` that is the whole module, and its place in the index of modules.
    """
    lines = [f".. py:{'currentmodule' if names else 'module'}:: {module}", ""]
    for name in names or public_names(module):
        lines += [*_entry(module, name, getattr(import_module(module), name)), ""]
    return lines


def _entry(module: str, name: str, thing: Any) -> list[str]:
    if inspect.isclass(thing):
        return [f".. autoclass:: {module}.{name}", "   :members:"]
    if callable(thing):
        return [f".. autofunction:: {module}.{name}"]
    return [f".. py:data:: {name}", "", f"   {', '.join(f'``{key}``' for key in thing)}"]


def homes(root: Path) -> dict[str, str]:
    """Return where the reference shows each class and function, by the module that defines it."""
    found: dict[str, str] = {}
    for module, names in shown(root).items():
        for name in names:
            thing = getattr(import_module(module), name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found.setdefault(f"{thing.__module__}.{thing.__qualname__}", f"{module}.{name}")
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive, and lead from where a name is defined to where it is shown."""
    from docutils.statemachine import StringList
    from sphinx.util.docutils import SphinxDirective

    class Public(SphinxDirective):
        required_arguments = 1
        optional_arguments = 20

        def run(self) -> list[nodes.Node]:
            self.env.note_reread()
            module, *names = self.arguments
            lines = entries(module, names)
            return self.parse_text_to_nodes(StringList(lines, source=f"public names of {module}"))

    places = homes(Path(app.srcdir))

    def lead(app: Sphinx, env: Any, node: Any, content: Any) -> Any:
        target = places.get(node.get("reftarget"))
        if target is None or node.get("refdomain") != "py":
            return None
        domain = env.get_domain("py")
        return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, content)

    app.add_directive("public", Public)
    app.connect("missing-reference", lead)
    app.connect("autodoc-process-signature", _as_written)
    app.connect("autodoc-skip-member", _is_not_ours)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _as_written(app: Any, what: str, name: str, thing: Any, options: Any, *signature: Any) -> Any:
    """Show types by the names that stand in the code: `ArrayLike`, not what NumPy makes of it."""
    from sphinx.util.inspect import stringify_signature

    if what not in ("function", "method", "class"):
        return None
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return None
    given = list(found.parameters.values())
    if what == "method" and given and given[0].name in ("self", "cls"):
        given = given[1:]
    found = found.replace(parameters=[one for one in given if not one.name.startswith("_")])
    if what == "class":
        found = found.replace(return_annotation=inspect.Signature.empty)
    text = stringify_signature(found)
    arguments, arrow, returned = text.rpartition(" -> ")
    return (arguments, returned) if arrow else (text, None)


def _is_not_ours(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> Any:
    """Leave out what a class has from elsewhere, as scikit-learn's requests of metadata."""
    home = getattr(thing, "__module__", None) or PACKAGES[0]
    return True if home.split(".")[0] not in PACKAGES else None

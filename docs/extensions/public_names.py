"""The directive `public`: a table of public names, each with a page of its own.

The names of a package are those of its `__all__`. A module without one opens the functions and
classes that it defines and whose names have no underscore. The pages are made from the code, its
docstrings and the examples of `docs/reference/examples/`, before the site is built.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

PACKAGES = ("tvcs_core", "grn_tvcs", "crowd_tvcs")
MARK = ".. public::"
PAGES = Path("docs/reference/names")  # made anew by every build, and ignored by git
EXAMPLES = Path("docs/reference/examples")
SHORT = {
    "np": "numpy",
    "pd": "pandas",
    "sparse": "scipy.sparse",
    "NDArray": "numpy.typing.NDArray",
    "ArrayLike": "numpy.typing.ArrayLike",
    "Path": "pathlib.Path",
    "Callable": "collections.abc.Callable",
    "Collection": "collections.abc.Collection",
    "Iterable": "collections.abc.Iterable",
    "Mapping": "collections.abc.Mapping",
    "Sequence": "collections.abc.Sequence",
}
"""Names of others as our signatures write them, and as their own pages do."""


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
    """Return what `public` stands for: reStructuredText with a row and a page for each name.

    Without `names` that is the whole module, and its place in the index of modules.
    """
    found = names or public_names(module)
    places = [f"/{PAGES.as_posix()}/{module}.{name}" for name in found]
    lines = [] if names else [f".. py:module:: {module}", ""]
    lines += [".. list-table::", "   :widths: 30 70", "   :class: names", ""]
    for name, place in zip(found, places, strict=True):
        lines += [f"   * - :doc:`{name} <{place}>`"]
        lines += [f"     - {first_sentence(getattr(import_module(module), name))}"]
    return [*lines, "", ".. toctree::", "   :hidden:", "", *(f"   {one}" for one in places), ""]


def first_sentence(thing: Any) -> str:
    """Return the first paragraph of a docstring, or the keys of a table of things."""
    if not callable(thing):
        return "A table: " + ", ".join(f"``{key}``" for key in thing)
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def page(module: str, name: str, example: str = "") -> str:
    """Return the page of a name, as reStructuredText."""
    title = f"{module}.{name}"
    lines = [title, "=" * len(title), "", f".. py:currentmodule:: {module}", ""]
    lines += [*_entry(module, name, getattr(import_module(module), name)), ""]
    if example:
        lines += [".. rubric:: Examples", "", *example.strip().splitlines(), ""]
    return "\n".join(lines)


def examples(root: Path) -> dict[str, str]:
    """Return the examples of public names that stand beside those of their docstrings."""
    found: dict[str, str] = {}
    for file in sorted((root / EXAMPLES).glob("*.txt")):
        text = file.read_text(encoding="utf-8")
        _, *parts = re.split(r"^(\w[\w.]+)\n~+\n", text, flags=re.MULTILINE)
        found |= dict(zip(parts[::2], parts[1::2], strict=True))
    return found


def write_pages(root: Path) -> None:
    """Write the page of every name that the reference shows, and delete those of no name."""
    (root / PAGES).mkdir(exist_ok=True)
    more = examples(root)
    wanted = {
        root / PAGES / f"{module}.{name}.rst": page(module, name, more.get(f"{module}.{name}", ""))
        for module, names in shown(root).items()
        for name in names
    }
    for old in set((root / PAGES).glob("*.rst")) - set(wanted):
        old.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _entry(module: str, name: str, thing: Any) -> list[str]:
    if inspect.isclass(thing):
        parts = thing.__mro__[1:-1]
        more = ["   :inherited-members:"] if parts and all(map(_is_part, parts)) else []
        return [f".. autoclass:: {module}.{name}", "   :members:", *more]
    if callable(thing):
        return [f".. autofunction:: {module}.{name}"]
    return [f".. py:data:: {name}", "", f"   {', '.join(f'``{key}``' for key in thing)}"]


def _is_part(base: type) -> bool:
    """Whether a base is ours and has no page, so that its methods are on those of its classes."""
    package = base.__module__.partition(".")[0]
    return package in PACKAGES and not hasattr(import_module(package), base.__name__)


def homes(root: Path) -> dict[str, str]:
    """Return where the reference shows each class and function, by the module that defines it."""
    found: dict[str, str] = {}
    for module, names in shown(root).items():
        for name in names:
            thing = getattr(import_module(module), name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found.setdefault(f"{thing.__module__}.{thing.__qualname__}", f"{module}.{name}")
    return found


def qualified(root: Path) -> dict[str, set[str]]:
    """Return the full names that the reference has for each name that it shows more than once."""
    found: dict[str, set[str]] = {}
    for module, names in shown(root).items():
        for name in names:
            found.setdefault(name, set()).add(f"{module}.{name}")
    return {name: full for name, full in found.items() if len(full) > 1}


def other_modules(root: Path) -> dict[str, set[str]]:
    """Return the modules under which the reference shows names, by the module that defines them."""
    found: dict[str, set[str]] = {}
    for home, place in homes(root).items():
        found.setdefault(home.rpartition(".")[0], set()).add(place.rpartition(".")[0])
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive, and lead from where a name is defined to where it is shown."""
    from docutils.statemachine import StringList
    from sphinx.addnodes import desc_signature, pending_xref
    from sphinx.ext.intersphinx import missing_reference
    from sphinx.util.docutils import SphinxDirective

    class Public(SphinxDirective):
        required_arguments = 1
        optional_arguments = 20

        def run(self) -> list[nodes.Node]:
            self.env.note_reread()
            module, *names = self.arguments
            lines = entries(module, names)
            return self.parse_text_to_nodes(StringList(lines, source=f"public names of {module}"))

    places, among = homes(Path(app.srcdir)), qualified(Path(app.srcdir))
    modules = other_modules(Path(app.srcdir))
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir)))

    def lead(app: Sphinx, env: Any, node: Any, content: Any) -> Any:
        if node.get("refdomain") != "py":
            return None
        target = places.get(node["reftarget"])
        if target is None:
            first, dot, rest = node["reftarget"].partition(".")
            node["reftarget"] = f"{SHORT.get(first, first)}{dot}{rest}"
            return missing_reference(app, env, node, content)
        domain = env.get_domain("py")
        return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, content)

    def settle(app: Sphinx, doctree: nodes.document) -> None:
        """Choose between equal names by the package, and give an entry every address in use.

        Pages of source code link back to one module, whichever entry of that source was read first.
        """
        for node in doctree.findall(pending_xref):
            package = (node.get("py:module") or "").partition(".")[0]
            full = [
                one for one in among.get(node["reftarget"], ()) if one.startswith(f"{package}.")
            ]
            if package and len(full) == 1:
                node["reftarget"] = full[0]
        for node in doctree.findall(desc_signature):
            module, name = node.get("module"), node.get("fullname")
            thing = getattr(import_module(module), name.partition(".")[0], None) if module else None
            for other in modules.get(getattr(thing, "__module__", ""), ()):
                if f"{other}.{name}" not in node["ids"]:
                    node["ids"].append(f"{other}.{name}")

    app.add_directive("public", Public)
    app.connect("doctree-read", settle)
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

"""Who may import whom: the levels of every package (CONTRIBUTING, docs/architecture.md)."""

import ast
import importlib
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import networkx as nx

import crowd_tvcs
import grn_tvcs

ROOT = Path(__file__).parents[1]
# The rooms of each package, the lowest level first: a room imports itself and lower levels.
LEVELS = {
    "tvcs_core": [
        ["files", "lazy"],
        ["arguments"],
        ["streams"],
        ["command", "jit"],
        ["engines"],
        ["constraint", "loss"],
        ["projection.kernels"],
        ["projection.exact"],
        ["projection"],
        ["projection.blocks"],
        ["problem", "certificate"],
        ["solvers"],
        ["estimators"],
        ["doctor", "precompile"],
        ["cli"],
    ],
    "grn_tvcs": [
        ["expression"],
        ["network"],
        ["stability", "simulation"],
        ["evidence"],
        ["combine"],
        ["methods"],
        ["inference"],
        ["comparison", "datasets"],
        ["report", "tl"],
        ["cli"],
    ],
    "crowd_tvcs": [
        ["arrays"],
        ["answers", "accuracy.kernels"],
        ["accuracy", "datasets"],
        ["agreement", "belief", "exchange", "plan", "simulation"],
        ["search.kernels"],
        ["search", "skills", "answer_kinds"],
        ["factors"],
        ["verification", "methods", "routing", "behaviour"],
        ["campaign.store"],
        ["campaign", "models", "what_if"],
        ["report"],
        ["serve", "sync"],
        ["cli"],
    ],
}
# What the domains may import from the core, beside the names of its `__all__`.
OPEN_TO_DOMAINS = ("files", "command", "jit", "engines", "lazy", "streams", "arguments")
# Folders of like things, each file with one record in a table: one more of them is welcome.
OF_LIKE_FILES = {"methods", "formats", "solvers"}
# Command lines may be heavier, and scikit-learn's face of the core is loaded on demand.
ON_DEMAND = {
    "tvcs_core.cli",
    "tvcs_core.command.help",
    "tvcs_core.command.options",
    "tvcs_core.command.progress",
    "tvcs_core.engines.blas",
    "tvcs_core.engines.cluster",
    "tvcs_core.engines.on_worker",
    "tvcs_core.engines.workers",
    "tvcs_core.estimators",
    "tvcs_core.estimators.classifier",
    "tvcs_core.estimators.linear",
    "tvcs_core.estimators.path",
    "tvcs_core.estimators.regressor",
    "tvcs_core.files.page",
    "tvcs_core.files.workbook",
}
FOR_KERNELS = {"__future__", "numpy", "numpy.typing", "numba", "math", "typing"}


def name_of(path: Path) -> str:
    """The dotted name of a module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


PATHS = {
    name_of(path): path for package in LEVELS for path in sorted((ROOT / package).rglob("*.py"))
}

STUDIES = {name_of(path): path for path in sorted((ROOT / "benchmarks").rglob("*.py"))}
MODULES = PATHS | STUDIES
STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)  # no expression holds an import


def is_for_types(node: ast.AST) -> bool:
    """Whether this is `if TYPE_CHECKING:`, whose imports never run."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


@cache
def tree_of(module: str) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def imports(module: str, *, for_types: bool = False) -> frozenset[str]:
    """Every module that a module imports when it runs, also within functions; or for types too."""
    found, nodes = set(), [tree_of(module)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else node.module for name in whole}
        elif for_types or not is_for_types(node):
            nodes += [part for part in ast.iter_child_nodes(node) if isinstance(part, STATEMENTS)]
    return frozenset(found)


def ours(names: Iterable[str]) -> set[str]:
    """Those of our three packages."""
    return {name for name in names if name.split(".")[0] in LEVELS}


def is_in(module: str, room: str) -> bool:
    """Whether a module is a room or stands in it."""
    return module == room or module.startswith(f"{room}.")


def is_in_any(module: str, rooms: Iterable[str]) -> bool:
    """Whether a module is one of some rooms or stands in one."""
    return any(is_in(module, room) for room in rooms)


def room_of(module: str) -> tuple[int, str]:
    """Level and name of the room that a module stands in, the innermost."""
    package, _, rest = module.partition(".")
    rooms = [
        (level, room)
        for level, rooms in enumerate(LEVELS[package])
        for room in rooms
        if is_in(rest, room)
    ]
    assert rooms, f"{module} stands in no room of tests/test_layers.py"
    return max(rooms, key=lambda found: len(found[1]))


def imports_of_higher_levels(module: str) -> list[str]:
    """Imports of a module's own package that stand neither in its room nor below it."""
    package = module.split(".")[0]
    level, room = room_of(module)
    found = []
    for other in ours(imports(module)) - {package}:
        if is_in(other, package):
            above, target = room_of(other)
            if room != target and above >= level:
                found.append(f"{module} imports {other}")
    return found


def test_a_room_imports_itself_and_lower_levels():
    rooms = [m for m in PATHS if "." in m and not m.endswith(".__main__")]
    assert [found for module in rooms for found in imports_of_higher_levels(module)] == []


def test_every_room_is_there():
    for package, levels in LEVELS.items():
        for room in (room for level in levels for room in level):
            assert f"{package}.{room}" in PATHS, f"{package}.{room} is on the list only"


def test_no_circle_of_imports_not_even_for_types_or_within_functions():
    graph = nx.DiGraph()
    for module in MODULES:
        graph.add_edges_from((module, name) for name in imports(module, for_types=True) - {module})
    circles = nx.strongly_connected_components(graph)
    assert [sorted(modules) for modules in circles if len(modules) > 1] == []


def test_the_domains_import_of_the_core_what_it_opens_to_them():
    opened = ["tvcs_core", *(f"tvcs_core.{room}" for room in OPEN_TO_DOMAINS)]
    offenders = []
    for module in PATHS:
        package = module.split(".")[0]
        others = {name for name in ours(imports(module)) if not is_in(name, package)}
        if package != "tvcs_core":
            others = {n for n in others if n != opened[0] and not is_in_any(n, opened[1:])}
        offenders += [f"{module} imports {name}" for name in others]
    assert offenders == []


def test_the_core_is_light():
    allowed = {"numpy", "scipy", "numba", "llvmlite", *LEVELS, *sys.stdlib_module_names}
    offenders = []
    for module in PATHS:
        if is_in(module, "tvcs_core") and module not in ON_DEMAND:
            outside = {name.split(".")[0] for name in imports(module)} - allowed
            offenders += [f"{module} imports {name}" for name in outside]
    assert offenders == []


KERNELS = [module for module in PATHS if ".kernels" in module]


def test_a_kernel_imports_kernels_and_arrays_alone():
    offenders = []
    for module in KERNELS:
        allowed = {*FOR_KERNELS, "tvcs_core.jit", "tvcs_core.jit.kernel"}
        for name in imports(module) - allowed:
            if not (is_in(name, module.split(".")[0]) and ".kernels" in name):
                offenders.append(f"{module} imports {name}")
    assert offenders == []


def test_a_kernel_has_at_most_nine_arguments():
    """Arguments that travel together are a record: of many, two are soon swapped."""
    offenders = []
    for module in KERNELS:
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.FunctionDef) and len(node.args.args) > 9:
                offenders.append(f"{module}.{node.name}")
    assert offenders == []


def test_what_prices_again_uses_numpy_alone():
    allowed = {"numpy", "numpy.typing", "collections.abc", *sys.stdlib_module_names}
    pricing = [module for module in PATHS if "verification.pricing" in module]
    assert pricing
    for module in pricing:
        outside = imports(module) - allowed
        assert {name for name in outside if "verification.pricing" not in name} == set(), module


def test_a_method_knows_no_other_method_and_no_judge():
    methods = [f"grn_tvcs.methods.{name.replace('-', '_')}" for name in grn_tvcs.METHODS]
    methods += [f"crowd_tvcs.methods.{name}" for name in crowd_tvcs.METHODS]
    forbidden = {"methods", "scores", "report", "cli"}
    offenders = [
        f"{module} imports {name}"
        for module in methods
        for name in ours(imports(module))
        if set(name.split(".")[1:]) & forbidden
    ]
    assert offenders == []


def test_of_what_infers_only_what_learns_from_networks_looks_into_the_simulator():
    above = {"simulation", "comparison", "datasets", "tl", "cli"}
    rooms = {name for level in LEVELS["grn_tvcs"] for name in level} - above
    found = {
        module
        for module in PATHS
        if any(is_in(module, f"grn_tvcs.{room}") for room in rooms)
        and any(is_in(name, "grn_tvcs.simulation") for name in imports(module))
    }
    found -= {"grn_tvcs.methods.combined"}
    assert found
    assert all(is_in(module, "grn_tvcs.combine") for module in found)


def test_the_combiner_needs_no_scikit_learn():
    modules = [module for module in PATHS if is_in(module, "grn_tvcs.combine")]
    assert modules
    assert not {m for m in modules if any(is_in(name, "sklearn") for name in imports(m))}


def test_one_module_draws_with_matplotlib_and_imports_it_when_it_does():
    drawing = {m for m in PATHS if any("matplotlib" in name for name in imports(m))}
    assert drawing == {"grn_tvcs.report.picture"}  # `test_light.py` loads it without


def test_no_module_is_called_by_a_name_that_says_nothing():
    assert not {p.stem for p in PATHS.values()} & {"utils", "helpers", "common", "misc"}


def test_a_folder_holds_at_most_sixteen_files_unless_they_are_of_a_kind():
    files = Counter()
    for top in (*LEVELS, "benchmarks", "tests"):
        files.update(p.parent for p in (ROOT / top).rglob("*.py") if p.name != "__init__.py")
    counted = {folder: n for folder, n in files.items() if folder.name not in OF_LIKE_FILES}
    assert {folder: n for folder, n in counted.items() if n > 16} == {}


def test_a_room_says_what_it_is_for_and_what_does_not_belong_in_it():
    rooms = [m for m, path in PATHS.items() if path.name == "__init__.py" and "." in m]
    silent = []
    for module in rooms:
        first, _, rest = (ast.get_docstring(tree_of(module)) or "").partition("\n\n")
        if not (first.endswith(".") and rest):
            silent.append(module)
    assert silent == []


def test_no_public_name_is_hidden_by_a_module():
    for package in LEVELS:
        names = set(importlib.import_module(package).__all__)
        assert names & {path.stem for path in (ROOT / package).iterdir()} == set(), package

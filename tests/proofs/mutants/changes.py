"""Every small change of a module that is tried: what is there, what takes its place, and where."""

import ast
import builtins
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
PAIRS = (
    ("min", "max"), ("minimum", "maximum"), ("fmin", "fmax"), ("argmin", "argmax"), ("any", "all"),
    ("floor", "ceil"), ("zeros", "ones"),
)  # fmt: skip
EXCHANGED = dict(PAIRS) | {b: a for a, b in PAIRS}
# Checks of what never happens, which ruff asks for; numba's options; types.
PASSED_BY = {"strict", "cache", "nogil", "slots", "frozen", "kw_only", "repr", "eq", "init"}
WITH_BODIES = ast.If | ast.While | ast.For | ast.With
LONG = 90


@dataclass
class Mutant:
    """One change of one module.

    Attributes
    ----------
    name
        Function, what was there and what is there now; the same while that text stays.
    line
        Where it is.
    lines
        First and last line of the statement, or of its head: who runs one of them runs the change.
    within
        Whether it stands in the body of a function, so that it can be made after the import.
    """

    name: str
    line: int
    lines: tuple[int, int]
    within: bool
    _owner: ast.AST
    _field: str
    _index: int | None
    _new: Any
    _tree: ast.Module

    def code(self, path: str) -> Any:
        """The code of the whole module with this change."""
        before = self._put(self._new)
        try:
            return compile(ast.fix_missing_locations(self._tree), path, "exec", dont_inherit=True)
        finally:
            self._put(before)

    def source(self) -> str:
        """Return the text of the whole module with this change, without its comments."""
        before = self._put(self._new)
        try:
            return ast.unparse(self._tree)
        finally:
            self._put(before)

    def _put(self, new: Any) -> Any:
        if self._index is None:
            before = getattr(self._owner, self._field)
            setattr(self._owner, self._field, new)
        else:
            values = getattr(self._owner, self._field)
            before, values[self._index] = values[self._index], new
        return before


@dataclass
class Place:
    """Where the walk through a module stands."""

    node: ast.AST
    owner: Any
    field: str
    index: int | None
    above: tuple[ast.AST, ...]
    functions: tuple[str, ...]
    within: bool
    known: set[str]


def mutants(source: str) -> list[Mutant]:
    """Every change of a module, in the order of its lines."""
    tree = ast.parse(source)
    found: list[Mutant] = []
    seen: Counter[str] = Counter()
    for place in _places(tree):
        for owner, field, index, new in _changes(place):
            mutant = Mutant("", 0, (0, 0), place.within, owner, field, index, new, tree)
            before = _text(place)
            kept = mutant._put(new)
            after = _text(place)
            mutant._put(kept)
            where = ".".join(place.functions) or "(module)"
            name = f"{where}: {before} -> {after}"
            seen[name] += 1
            mutant.name = name if seen[name] == 1 else f"{name} #{seen[name]}"
            mutant.lines = _head(place)
            mutant.line = getattr(place.node, "lineno", mutant.lines[0])
            found.append(mutant)
    return found


def _places(tree: ast.Module) -> Iterator[Place]:
    """Every node that runs, with what stands above it."""
    waiting = [Place(tree, tree, "", None, (), (), False, set())]
    while waiting:
        place = waiting.pop()
        if _is_left_out(place):
            continue
        yield place
        node, functions, known = place.node, place.functions, place.known
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            functions = (*functions, node.name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            known = {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
        children = []
        for field, value in ast.iter_fields(node):
            if field in ("decorator_list", "annotation", "returns", "type_params"):
                continue
            within = place.within or (
                field == "body" and isinstance(node, ast.FunctionDef | ast.Lambda)
            )
            above = (*place.above, node)
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST):
                    children.append(
                        Place(child, node, field, index, above, functions, within, known)
                    )
        waiting += reversed(children)


def _is_left_out(place: Place) -> bool:
    """What says something and does nothing: types, docstrings, names for the outside."""
    node = place.node
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        return True
    if isinstance(node, ast.Assign) and not place.functions:
        named = ast.unparse(node.targets[0])
        return named == "__all__" or any(isinstance(x, ast.BitOr) for x in ast.walk(node.value))
    if isinstance(node, ast.keyword):
        return node.arg in PASSED_BY
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


Change = tuple[ast.AST, str, int | None, Any]


def _changes(place: Place) -> Iterator[Change]:
    """The changes of one node."""
    node = place.node
    here = (place.owner, place.field, place.index)
    if isinstance(node, ast.Compare):
        for k, op in enumerate(node.ops):
            yield from ((node, "ops", k, new()) for new in COMPARED[type(op)])
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in COMPUTED:
        yield node, "op", None, COMPUTED[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        yield node, "op", None, ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        yield (*here, node.operand)
    elif isinstance(node, ast.Constant):
        yield from ((node, "value", None, new) for new in _constants(node.value))
    elif isinstance(node, ast.Name) and node.id in EXCHANGED and hasattr(builtins, node.id):
        yield node, "id", None, EXCHANGED[node.id]
    elif isinstance(node, ast.Attribute) and node.attr in EXCHANGED:
        yield node, "attr", None, EXCHANGED[node.attr]
    elif isinstance(node, ast.Break | ast.Continue):
        yield (*here, ast.Continue() if isinstance(node, ast.Break) else ast.Break())
    elif isinstance(node, ast.Return) and not _is_none(node.value):
        yield node, "value", None, ast.Constant(None)
    yield from _conditions(node)
    if _can_be_dropped(place):
        yield (*here, ast.Pass())


def _constants(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    return [value + 1, value - 1] if isinstance(value, int | float) else []


def _is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _conditions(node: ast.AST) -> Iterator[Change]:
    """A condition without an operator of its own, turned round."""
    plain = ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.NamedExpr
    if isinstance(node, ast.If | ast.While | ast.IfExp) and isinstance(node.test, plain):
        yield node, "test", None, ast.UnaryOp(ast.Not(), node.test)
    if isinstance(node, ast.comprehension):
        for k, test in enumerate(node.ifs):
            if isinstance(test, plain):
                yield node, "ifs", k, ast.UnaryOp(ast.Not(), test)


def _can_be_dropped(place: Place) -> bool:
    """Whether a statement can go without an undefined name that everybody would notice."""
    node = place.node
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {x.id for t in targets for x in ast.walk(t) if isinstance(x, ast.Name)}
        plain = all(isinstance(t, ast.Name | ast.Tuple) for t in targets)
        had = names <= place.known if plain else True
        place.known |= names if plain else set()
        return place.within and had and getattr(node, "value", None) is not None
    return isinstance(node, ast.Raise | ast.Delete | ast.AugAssign | ast.Expr)


def _head(place: Place) -> tuple[int, int]:
    """First and last line of the innermost statement, of its head where it holds others."""
    for node in (place.node, *reversed(place.above)):
        if isinstance(node, ast.stmt | ast.ExceptHandler):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno
            return node.lineno, max(node.lineno, last or node.lineno)
    return 1, 1


def _text(place: Place) -> str:
    """The largest piece of code around a place that is short, as it stands now."""
    now = getattr(place.owner, place.field, place.node)
    chain = [*place.above, now if place.index is None else now[place.index]]
    text = ""
    for node in reversed(chain):
        if not isinstance(node, ast.expr | ast.stmt | ast.keyword | ast.comprehension | ast.slice):
            break
        new = _head_of(node) if isinstance(node, WITH_BODIES) else ast.unparse(node)
        if text and (len(new) > LONG or isinstance(node, ast.Lambda)):
            break
        text = " ".join(new.split())
        if isinstance(node, ast.stmt):
            break
    return text if len(text) <= 2 * LONG else f"{text[: 2 * LONG]}..."


def _head_of(node: Any) -> str:
    """The first line of a statement that holds others."""
    bare = copy.copy(node)
    bare.body = [ast.Pass()]
    for field in {"orelse", "finalbody", "handlers"} & set(bare._fields):
        setattr(bare, field, [])
    return ast.unparse(bare).split("\n")[0].removesuffix(":")

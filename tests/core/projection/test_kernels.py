"""What a kernel may look like: arguments that travel together have a name, and it fits a screen."""

import ast
from pathlib import Path

import tvcs_core

FILES = sorted(Path(tvcs_core.__file__).parent.rglob("kernels/**/*.py"))
PARSED = [(path.stem, node) for path in FILES for node in ast.parse(path.read_text("utf-8")).body]
KERNELS = {
    f"{file}.{node.name}": node for file, node in PARSED if isinstance(node, ast.FunctionDef)
}
RECORDS = {node.name: node for _, node in PARSED if isinstance(node, ast.ClassDef)}
MOST_LINES = 60


def names_before(kernel, kind):
    """Return the names whose attributes or whose items a kernel reads."""
    found = [node for node in ast.walk(kernel) if isinstance(node, kind)]
    return [(node.value.id, node) for node in found if isinstance(node.value, ast.Name)]


def test_a_kernel_fits_a_screen():
    assert len(KERNELS) > 40
    long = {
        name for name, node in KERNELS.items() if node.end_lineno - node.lineno + 1 > MOST_LINES
    }
    assert long == set()


def test_a_record_is_read_by_name():
    """Nothing that has fields is indexed as well."""
    assert len(RECORDS) > 10
    fields = set()
    for record in RECORDS.values():
        assert [base.id for base in record.bases] == ["NamedTuple"]
        fields |= {x.target.id for x in record.body if isinstance(x, ast.AnnAssign)}
    wrong = []
    for name, kernel in KERNELS.items():
        attributes = names_before(kernel, ast.Attribute)
        records = {before for before, node in attributes if node.attr in fields}
        indexed = {before for before, _ in names_before(kernel, ast.Subscript)}
        wrong += [f"{name}: {one}" for one in records & indexed]
    assert wrong == []

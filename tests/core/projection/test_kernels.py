"""What a kernel may look like: arguments that travel together have a name, and it fits a screen."""

import ast
from functools import cache
from pathlib import Path

import pytest

import tvcs_core

FILES = sorted(Path(tvcs_core.__file__).parent.rglob("kernels/**/*.py"))
KERNELS = [
    pytest.param(node, id=f"{path.stem}.{node.name}")
    for path in FILES
    for node in ast.parse(path.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef)
]
MOST_ARGUMENTS = 9
MOST_LINES = 60


@pytest.mark.parametrize("function", KERNELS)
def test_a_kernel_has_few_arguments_and_fits_a_screen(function):
    assert len(function.args.args) <= MOST_ARGUMENTS
    assert function.end_lineno - function.lineno + 1 <= MOST_LINES


@cache
def records():
    """Names of the fields of every record, by its class; all files are parsed for it."""
    found = {}
    for path in FILES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                assert [base.id for base in node.bases] == ["NamedTuple"]
                found[node.name] = [x.target.id for x in node.body if isinstance(x, ast.AnnAssign)]
    return found


@pytest.mark.parametrize("function", KERNELS)
def test_a_record_is_read_by_name(function):
    """Nothing that has fields is indexed as well."""
    fields = {field for names in records().values() for field in names}
    taken_apart = {
        node.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.attr in fields
    }
    indexed = {
        node.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
    }
    assert not taken_apart & indexed


def test_there_are_kernels_and_records():
    assert len(KERNELS) > 40
    assert len(records()) > 10

"""What is compiled on the way to a kernel, and that numba is left as it was for others."""

import gc
import sys

import numpy as np
import pytest
from numba import njit
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.runtime import _nrt_python, rtsys

from tests.makers.marks import needs_jit
from tvcs_core.jit import Kernel, kernel
from tvcs_core.jit.linking import EntryLibrary, PartLibrary

pytestmark = needs_jit


def widest(a, b):
    """Calls functions that numba compiles of its own: `max`, `min`, `np.empty`, `np.full`."""
    out, other = np.empty(3), np.full(3, a)
    for i in range(3):
        out[i] = max(a, b) - min(a, b) + other[i]
    return out.sum()


def shifted(x):
    return max(x, -x) + 1.0


def squares_of(values):
    squares = [v * v for v in values]
    return squares[0] + (lambda x: x + 1.0)(squares[1])


@pytest.fixture
def machine_code(monkeypatch):
    """The names of all that is optimised and turned into machine code."""
    names, finish = [], JITCodeLibrary._optimize_final_module

    def count(library):
        names.append(library.name)
        finish(library)

    monkeypatch.setattr(JITCodeLibrary, "_optimize_final_module", count)
    return names


def test_only_the_entry_becomes_machine_code(machine_code):
    assert Kernel(widest)(2.0, 5.0) == 15.0
    once_in_a_process = {"nrt", "_call_allocator"}
    assert [name for name in machine_code if name not in once_in_a_process] == ["widest"]


def test_other_functions_of_the_process_compile_and_run_as_ever():
    assert Kernel(widest)(2.0, 5.0) == njit(widest)(2.0, 5.0) == 15.0
    assert njit(shifted)(2.0) == 3.0


def middle(values):
    """Calls what numba compiles by functions of its own in between."""
    return np.median(values)


@pytest.mark.slow
def test_functions_that_numba_nests_are_the_same_in_a_kernel_and_beside_it():
    values = np.array([3.0, 1.0, 2.0, 3.0])
    assert Kernel(middle)(values) == njit(middle)(values) == 2.5


def test_numba_that_keeps_nothing_to_begin_anew_compiles_too(monkeypatch):
    """Before 0.63 its libraries have no list of what must run when code is loaded."""
    usual = CodeLibrary.__init__

    def older(library, codegen, name):
        usual(library, codegen, name)
        if type(library) is EntryLibrary:  # this numba itself needs the list of all others
            del library._reload_init

    monkeypatch.setattr(CodeLibrary, "__init__", older)
    assert Kernel(shifted)(2.0) == 3.0


def test_a_kernel_with_inner_functions_has_all_passes():
    assert Kernel(squares_of)(np.array([2.0, 3.0])) == 14.0


def test_code_of_a_part_is_whole_for_a_library_that_is_no_entry():
    run = Kernel(widest)
    run(2.0, 5.0)
    part = run._part_and_entry()[0]
    [compiled] = part.overloads.values()
    assert isinstance(compiled.library, PartLibrary)

    def missing(module):
        return {f.name for f in module.functions if f.is_declaration and f.name.startswith("_ZN")}

    assert missing(compiled.library.own_module())
    assert not missing(compiled.library._get_module_for_linking())


def total_of(values):
    total = 0.0
    for i in range(values.size):
        total += values[i : i + 1][0]
    return total


def doubled(values):
    out = np.empty(values.size)
    for i in range(values.size):
        out[i] = 2.0 * values[i]
    return out


def moved_up(values):
    values[1:] = values[:-1]
    return values[0] + values[3]


def first_above_1(values):
    return values[values > 1.0][0]


def first_of_places(values):
    return values[np.array([2, 1])][0]


def code_of(run):
    """What a part was lowered to, before it is optimised."""
    [compiled] = run._part_and_entry()[0].overloads.values()
    return str(compiled.library.own_module())


def test_only_a_function_that_owns_arrays_counts_references():
    borrowing, owning = Kernel(total_of), Kernel(doubled)
    values = np.array([1.0, 2.0, 4.0])
    assert borrowing(values) == 7.0
    assert owning(values).tolist() == [2.0, 4.0, 8.0]
    assert "NRT_" not in code_of(borrowing)
    assert "NRT_decref" in code_of(owning)


@pytest.mark.parametrize(
    ("function", "expected"), [(moved_up, 5.0), (first_above_1, 2.0), (first_of_places, 4.0)]
)
def test_what_takes_memory_unseen_is_lowered_as_usual(function, expected):
    """To move what overlaps takes a copy; a mask and a list of places make an array."""
    run = Kernel(function)
    assert run(np.array([1.0, 2.0, 4.0, 8.0])) == expected
    assert "NRT_Allocate" in code_of(run) or "NRT_decref" in code_of(run)


def one_by_one(values):
    for i in range(values.size):
        yield values[i]


OneByOne = Kernel(one_by_one)


def sum_one_by_one(n):
    ones = OneByOne(np.ones(n))
    other = np.full(n, 7.0)  # takes the memory of what nobody holds
    total = 0.0
    for value in ones:
        total += value
    return total + other[0]


def test_a_generator_holds_its_array():
    assert Kernel(sum_one_by_one)(1000) == 1007.0


def first_half(values):
    return values[: values.size // 2]


def sum_of_copies(values, times):
    total = 0.0
    for _ in range(times):
        total += Handed(values)[0] + Made(values)[0]
    return total


Handed, Made = Kernel(first_half), Kernel(doubled)


@pytest.fixture
def counted():
    """Allocations of compiled code are counted."""
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


def test_an_array_that_is_handed_on_lives_as_long_as_it_is_used_and_no_longer(counted):
    run, values = Kernel(sum_of_copies), np.arange(1000.0) + 1.0
    before = sys.getrefcount(values)
    part = Handed(values)
    assert part.tolist() == (np.arange(500.0) + 1.0).tolist()
    del part
    held = rtsys.get_allocation_stats()
    assert run(values, 100) == 300.0
    after = rtsys.get_allocation_stats()
    assert after.mi_alloc - held.mi_alloc >= 100
    assert after.mi_alloc - held.mi_alloc == after.mi_free - held.mi_free
    assert sys.getrefcount(values) == before


def plus_and_times(values, other):
    return np.exp(values + 2.0 * other).sum() - (values * other)[0]


def test_arithmetic_on_whole_arrays_is_as_in_numba():
    values, other = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25, 0.125])
    assert Kernel(plus_and_times)(values, other) == njit(plus_and_times)(values, other)
    assert Kernel(plus_and_times).py_func(values, other) == pytest.approx(
        njit(plus_and_times)(values, other), rel=1e-15
    )


@pytest.mark.parametrize("is_on", [True, False])
def test_garbage_is_not_looked_for_while_an_entry_is_compiled(monkeypatch, is_on):
    seen = []
    add = JITCodeLibrary.add_ir_module

    def noting(library, module):
        seen.append(gc.isenabled())
        return add(library, module)

    monkeypatch.setattr(JITCodeLibrary, "add_ir_module", noting)
    if not is_on:
        gc.disable()
    try:

        @kernel
        def doubled(x):
            return x + x

        assert doubled(2.0) == 4.0
        assert gc.isenabled() == is_on
    finally:
        gc.enable()
    assert set(seen) == {False}


def test_a_kernel_that_assigns_a_slice_compiles_no_functions_on_text():
    from numba.core.event import install_recorder

    @Kernel
    def write(values, out):
        out[1:] = values

    with install_recorder("numba:compile") as recorder:
        out = np.zeros(3)
        write(np.ones(2), out)
    compiled = [event.data["dispatcher"].py_func.__module__ for _, event in recorder.buffer]
    assert compiled
    assert "numba.cpython.unicode" not in compiled
    assert out.tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match="slice"):
        write(np.ones(3), out)

"""Kernels that call kernels, compiled once each.

numba turns every jitted function into machine code with two wrappers, even if only other jitted
functions call it, and optimises it once more in each caller, and in the callers of that. Here a
kernel is only lowered (a *part*); a kernel that Python calls (an *entry*) is the part and all that
it calls, linked and optimised together, with a wrapper. That halves the time of the first use.
The functions of numba's own that a kernel calls, such as `max` and `np.empty`, are parts as well.

A good half of that time numba is not compiling but looking after it in Python. Kernels leave out
needless passes and counts: see `NEEDLESS`, `ArrayRewrites` and `BorrowingLowering`.
"""

import contextlib
import gc
from collections.abc import Iterator
from copy import copy
from typing import Any

import numba
import numpy as np
from numba import njit, types
from numba.core import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.environment import Environment
from numba.core.errors import NumbaError
from numba.core.funcdesc import FunctionDescriptor
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.typing.templates import _OverloadFunctionTemplate
from numba.extending import overload
from numba.np import arrayobj

TESTED = ((0, 61), (0, 68))  # oldest and newest numba whose inner parts are known to be these

if not TESTED[0] <= tuple(int(n) for n in numba.__version__.split(".")[:2]) <= TESTED[1]:
    raise ImportError(f"numba {numba.__version__} is not one that this was tested with")

OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}

# Passes for blocks of `with`, inner functions, `literally`, arguments that are None, exceptions
# with values in them, parallel loops and the like.
NEEDLESS = {
    "WithLifting",
    "InlineClosureLikes",
    "RewriteSemanticConstants",
    "DeadBranchPrune",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "RewriteDynamicRaises",
    "InlineOverloads",
    "NoPythonSupportedFeatureValidation",
    "DumpParforDiagnostics",
}


class EntryLibrary(JITCodeLibrary):
    """Code of one function and all that it calls, which is optimised as a whole and only then."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class PartLibrary(EntryLibrary):
    """Code of one function that is linked into an entry and optimised there."""

    def finalize(self) -> None:
        """Leave linking and optimising to the entry."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def needed(self) -> list[Any]:
        """Return this library and all that its code calls, each after all that call it.

        LLVM links in only functions that existing code calls.
        """
        found: dict[Any, None] = {}

        def look(library: Any) -> None:
            for called in library._linking_libraries if isinstance(library, PartLibrary) else ():
                if called not in found:
                    look(called)
            found[library] = None

        look(self)
        return list(found)[::-1]

    def own_module(self) -> Any:
        """Return the code of the function without its callees, for linking."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """Return the code with its callees: a library that is no entry has no more."""
        module = self.own_module().clone()
        for library in self.needed()[1:]:
            module.link_in(module_of(library), preserve=True)
        return module


def module_of(library: Any) -> Any:
    """Return the code of a library as an entry links it."""
    is_part = isinstance(library, PartLibrary)
    return library.own_module() if is_part else library._get_module_for_linking()


class PartPipeline(Compiler):
    """numba's pipeline, with a `PartLibrary` to lower into."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        codegen = self.state.targetctx.codegen()
        self.state.library = PartLibrary(codegen, "part")


@register_pass(mutates_CFG=True, analysis_only=False)
class ArrayRewrites(NopythonRewrites):
    """Fuses arithmetic on whole arrays into one loop, if there is any."""

    _name = "array_rewrites"

    def run_pass(self, state: Any) -> bool:
        """Leave functions alone that have none: to look for it twice takes longer than to ask."""
        if not any(is_arithmetic(value, made, state) for value, made in typed(state)):
            return False
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class BorrowingLowering(NativeLowering):
    """Lowers functions that own no array without counting references.

    All their arrays are arguments, parts of these, or views of them, which the caller holds.
    """

    _name = "borrowing_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower as usual, but for the context.

        Some operations take memory unseen, such as a copy of overlapping arrays: numba refuses that
        without counts, and the function is lowered as usual.
        """
        context = state.targetctx
        if owns_nothing(state):
            state.targetctx = context.subtarget(enable_nrt=False)
            try:
                return bool(super().run_pass(state))
            except NumbaError:
                pass
            finally:
                state.targetctx = context
        return bool(super().run_pass(state))


IN_PLACE_OF: dict[str, type[Any]] = {
    "NopythonRewrites": ArrayRewrites,
    "NativeLowering": BorrowingLowering,
}


def typed(state: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every operation of a function that was typed as a call, and the type of its result."""
    for value, signature in state.calltypes.items():
        if isinstance(value, ir.Expr) and signature is not None:
            yield value, signature.return_type


def is_arithmetic(value: Any, made: Any, state: Any) -> bool:
    """Whether an operation is arithmetic on whole arrays."""
    if not isinstance(made, types.Array):
        return False
    if value.op == "call":
        function = state.typemap.get(value.func.name)
        return isinstance(getattr(function, "typing_key", None), np.ufunc)
    return value.op in ("unary", "binop", "inplace_binop")


def owns_nothing(state: Any) -> bool:
    """Whether a function neither makes nor returns an array, nor gets one from a call.

    Nor anything else of which references are counted.
    """
    if holds_arrays(state.return_type) or isinstance(state.return_type, types.Generator):
        return False  # a generator holds its arguments after its caller let them go
    models = state.targetctx.data_model_manager
    if any(
        models[kind].contains_nrt_meminfo() and not holds_arrays(kind)
        for kind in set(state.typemap.values())
    ):
        return False
    return all(is_borrowed(value, state) for value, made in typed(state) if holds_arrays(made))


def is_borrowed(value: Any, state: Any) -> bool:
    """Whether an array, or a record of arrays, comes from an existing one."""
    if value.op == "call":
        return isinstance(state.typemap.get(value.func.name), types.NamedTupleClass)
    return value.op in ("getitem", "static_getitem")


def holds_arrays(kind: Any) -> bool:
    """Whether a type is that of an array, or of a tuple with arrays in it."""
    parts: Any = getattr(kind, "types", ()) if isinstance(kind, types.BaseTuple) else ()
    return isinstance(kind, types.Array) or any(map(holds_arrays, parts))


class KernelPipeline(PartPipeline):
    """The pipeline for kernels: without passes that no kernel needs, such as for closures."""

    def define_pipelines(self) -> list[Any]:
        """Return the usual ones with fewer passes, and nothing done again after each."""
        usual = super().define_pipelines()
        if has_inner_function(self.state.func_id.func):
            return usual
        for passes in usual:
            passes.passes[:] = [
                (IN_PLACE_OF.get(step.__name__, step), what)
                for step, what in passes.passes
                if step.__name__ not in NEEDLESS
            ]
            # Passes that need the control flow or the life of variables anew ask for it.
            passes._ENFORCING = False
        return usual


def has_inner_function(function: Any) -> bool:
    """Whether a function has a lambda, a comprehension or another function in it."""
    return any(hasattr(constant, "co_code") for constant in function.__code__.co_consts)


class PartCompiler(_FunctionCompiler):
    """Compiles a function to a part that other kernels can link in, and no further."""

    def _customize_flags(self, flags: Any) -> Any:
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return flags

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        with overloads_as_parts():
            compiled = super()._compile_core(args, return_type)
        # numba finds the code of a callee by its entry point: any builtin that is its own does
        compiled = compiled._replace(entry_point=[].append)
        context = compiled.target_context
        context.insert_user_function(compiled.entry_point, compiled.fndesc, [compiled.library])
        return compiled


class EntryCompiler(_FunctionCompiler):
    """Links a part with all that it calls to a function for Python."""

    part: Any

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        with uncollected():
            return self._linked(args)

    def _linked(self, args: Any) -> Any:
        self.part.compile(tuple(args))
        compiled = self.part.overloads[tuple(args)]
        context, fndesc = compiled.target_context, entry_of(compiled.fndesc)
        environment = Environment.from_fndesc(fndesc)
        library = EntryLibrary(context.codegen(), fndesc.qualname)
        library.enable_object_caching()
        context.create_cpython_wrapper(
            library, fndesc, environment, compiled.call_helper, release_gil=True
        )
        inits: set[str] = set()
        for needed in compiled.library.needed():
            inits.update(getattr(needed, "_reload_init", ()))  # numba 0.61 and 0.62 have none
            library._final_module.link_in(module_of(needed), preserve=True)
        entry_point = context.get_executable(library, fndesc, environment)
        context.codegen().set_env(compiled.fndesc.env_name, compiled.environment)
        return compiled._replace(
            fndesc=fndesc,
            environment=environment,
            library=library,
            entry_point=entry_point,
            metadata={},
            reload_init=list(inits | getattr(library, "_reload_init", set())),
        )


def entry_of(part: FunctionDescriptor) -> FunctionDescriptor:
    """Return the same with another name for what the wrapper takes from Python, such as types.

    numba keeps that by name, once in a process, and beside all code that refers to it. Under the
    name of the part it would be as the first kernel found it that was kept with the part in it:
    without the needs of the wrapper, which a later process then does not find.
    """
    fndesc = copy(part)
    fndesc.env_name = f"{part.env_name}.entry"
    return fndesc


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage within the block.

    numba makes half a million objects, most of which stay: to go through them again and again took
    1.2 s of 13.6 (20 x 20, 816 collections; 3 and .3 s are left).
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def overloads_as_parts() -> Iterator[None]:
    """Within the block numba's own functions become parts too, and `raise_shapes_differ` is used.

    numba compiles under one lock, so nobody else does meanwhile. A function compiled here is found
    again by its flags: those of a part, or of numba's own functions in between. A library that is
    no entry gets the code whole.
    """
    overloads: Any = _OverloadFunctionTemplate
    decorator = overloads._get_jit_decorator

    def decorator_of_parts(template: Any) -> Any:
        jit = decorator(template)
        return lambda **options: lambda function: as_part(jit(**options)(function))

    raising = vars(arrayobj).get("raise_with_shape_context", raise_shapes_differ)  # 0.61: none
    overloads._get_jit_decorator = decorator_of_parts
    arrayobj.raise_with_shape_context = raise_shapes_differ
    try:
        yield
    finally:
        overloads._get_jit_decorator = decorator
        arrayobj.raise_with_shape_context = raising


def raise_shapes_differ(source: Any, target: Any) -> None:
    """Raise a ValueError in a kernel that assigns an array to a slice of another shape.

    That of numba writes both shapes: 40 functions on text, half of all that `infer` compiled.
    """


@overload(raise_shapes_differ)
def _raise_shapes_differ(source: Any, target: Any) -> Any:
    def raise_it(source: Any, target: Any) -> None:
        raise ValueError("an array must have the shape of the slice that it is assigned to")

    return raise_it


def as_part(dispatcher: Any, pipeline: type[Compiler] = PartPipeline) -> Any:
    """Return the dispatcher, which compiles no further than to a part from now on."""
    dispatcher._compiler.__class__ = PartCompiler
    dispatcher._compiler.pipeline_class = pipeline
    return dispatcher


def linked(function: Any) -> tuple[Any, Any]:
    """Return the dispatcher that kernels call and the one that Python calls."""
    part = as_part(njit(**OPTIONS)(function), KernelPipeline)
    entry = njit(**OPTIONS)(function)
    entry._compiler.__class__ = EntryCompiler
    entry._compiler.part = part
    return part, entry

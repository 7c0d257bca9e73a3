"""Kernels that call kernels, compiled once each.

numba turns every jitted function into machine code with two wrappers, even if only other jitted
functions call it, and optimises it once more in each caller, and in the callers of that. Here a
kernel is only lowered (a *part*); a kernel that Python calls (an *entry*) is the part and all that
it calls, linked and optimised together, with a wrapper. That halves the time of the first use.
"""

from typing import Any

import numba
from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]

TESTED = ((0, 61), (0, 68))  # oldest and newest numba whose inner parts are known to be these

if not TESTED[0] <= tuple(int(n) for n in numba.__version__.split(".")[:2]) <= TESTED[1]:
    raise ImportError(f"numba {numba.__version__} is not one that this was tested with")

OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}


class PartLibrary(JITCodeLibrary):
    """Code that is linked into an entry and optimised there."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Leave that to the entry."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class PartPipeline(Compiler):
    """numba's pipeline, with a `PartLibrary` to lower into."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        codegen = self.state.targetctx.codegen()
        self.state.library = PartLibrary(codegen, "part")


class PartCompiler(_FunctionCompiler):
    """Compiles a function to what other kernels can link in, and no further."""

    def _customize_flags(self, flags: Any) -> Any:
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return flags

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        compiled = super()._compile_core(args, return_type)
        # numba finds the code of a callee by its entry point: any builtin that is its own does
        compiled = compiled._replace(entry_point=[].append)
        context = compiled.target_context
        context.insert_user_function(compiled.entry_point, compiled.fndesc, [compiled.library])
        return compiled


class EntryCompiler(_FunctionCompiler):
    """Links a part with all that it calls to what Python can call."""

    part: Any

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        self.part.compile(tuple(args))
        compiled = self.part.overloads[tuple(args)]
        context, fndesc = compiled.target_context, compiled.fndesc
        library = context.codegen().create_library(fndesc.qualname)
        library.enable_object_caching()
        library.add_linking_library(compiled.library)
        context.create_cpython_wrapper(
            library, fndesc, compiled.environment, compiled.call_helper, release_gil=True
        )
        entry_point = context.get_executable(library, fndesc, compiled.environment)
        return compiled._replace(
            library=library,
            entry_point=entry_point,
            metadata={},
            reload_init=list(getattr(library, "_reload_init", ())),  # numba 0.61 has none
        )


def linked(function: Any) -> tuple[Any, Any]:
    """Return the dispatcher that kernels call and the one that Python calls."""
    part = njit(pipeline_class=PartPipeline, **OPTIONS)(function)
    part._compiler.__class__ = PartCompiler
    entry = njit(**OPTIONS)(function)
    entry._compiler.__class__ = EntryCompiler
    entry._compiler.part = part
    return part, entry

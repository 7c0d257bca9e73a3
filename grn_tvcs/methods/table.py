"""The methods of network inference: what is said of each, and what it needs.

To import it loads no method; each is found by its name when it is run.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tvcs_core.lazy import Listed

if TYPE_CHECKING:
    from grn_tvcs.expression.expression import Expression
    from grn_tvcs.expression.steady_states import SteadyStates
    from grn_tvcs.network.network import Network

DEFAULT = "combined"
OWN_INTERCEPT = "each perturbed part of a series has an intercept of its own"
NO_OPTIONS = ("steady", "prior", "threads", "engine", "progress", "keep")  # data, how to work


@dataclass(frozen=True)
class Method(Listed):
    """A method and all that is said of it: in help, errors, reports and docs.

    Attributes
    ----------
    selects
        Whether it selects edges itself, beside the caps.
    perturbation
        What it does where a perturbation is known, in words; empty for nothing.
    needs_series
        Whether samples at rest alone say nothing to it.
    uses_rest
        Whether samples at rest are of use to it, alone or beside series.
    is_symmetric
        Whether both directions of a pair have the same score.
    has_confidence
        Whether it says how likely each edge is true: its network has a `confidence`, or a
        `verdict` that says why not.
    takes_logs
        Whether it puts levels and counts on a log scale.
    """

    package = "grn_tvcs.methods"

    selects: bool = False
    perturbation: str = ""
    needs_series: bool = False
    uses_rest: bool = True
    is_symmetric: bool = False
    has_confidence: bool = False
    takes_logs: bool = False

    @property
    def keywords(self) -> dict[str, Any]:
        """Its keyword-only arguments and their defaults."""
        parameters = inspect.signature(self.function).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}

    @property
    def options(self) -> dict[str, Any]:
        """What a user may set, and the defaults."""
        return {name: value for name, value in self.keywords.items() if name not in NO_OPTIONS}

    @property
    def takes_steady_states(self) -> bool:
        """Whether knock-outs, knock-downs and wild type are of use to it."""
        return "steady" in self.keywords

    @property
    def takes_prior(self) -> bool:
        """Whether prior edges are of use to it."""
        return "prior" in self.keywords

    @property
    def about(self) -> list[str]:
        """What it does: the paragraphs at the top of its file."""
        text = sys.modules[self.function.__module__].__doc__ or ""
        return [" ".join(part.split()) for part in text.strip().split("\n\n")]

    def described(
        self, network: Network, expression: Expression, steady: SteadyStates | None = None
    ) -> str:
        """Say how it scored pairs, in the words and with the citations of a journal.

        Its file has one text, ``DESCRIBED``; or a function ``described`` where that depends on
        what was run. Of a method of somebody's own that has neither, its name is said.
        """
        module = sys.modules[self.function.__module__]
        if hasattr(module, "described"):
            return str(module.described(network, expression, steady))
        return str(getattr(module, "DESCRIBED", f"Pairs were scored by the method {self.name}."))


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("combined", perturbation=OWN_INTERCEPT, has_confidence=True, takes_logs=True),
        Method(
            "tvcs", perturbation=OWN_INTERCEPT, needs_series=True, uses_rest=False, takes_logs=True
        ),
        Method("tvcs-plain", "the paper's model as printed", needs_series=True, uses_rest=False),
        Method("pcc", is_symmetric=True),
        Method("aracne", selects=True, is_symmetric=True),
        Method("clr", is_symmetric=True),
        Method("mrnet", is_symmetric=True),
        Method("genie3"),
        Method("dyngenie3", needs_series=True),
        Method("tigress", selects=True),
        Method("spearman", is_symmetric=True),
        Method("partial-correlation", is_symmetric=True, takes_logs=True),
        Method("lagged-correlation", needs_series=True, uses_rest=False, takes_logs=True),
        Method("knock-outs", needs_series=True, uses_rest=False, takes_logs=True),
        Method(
            "ensemble",
            "tvcs without hub prior + genie3 + partial correlation",
            perturbation=OWN_INTERCEPT,
            needs_series=True,
            takes_logs=True,
        ),
    )
}

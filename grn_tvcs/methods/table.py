"""The table of methods, with their properties.

Importing it loads no method; each is imported when it runs.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tvcs_core.lazy import LazyFunction

if TYPE_CHECKING:
    import numpy as np

    from grn_tvcs.expression.expression import Expression
    from grn_tvcs.expression.steady_states import SteadyStates
    from grn_tvcs.network.network import Network
    from grn_tvcs.network.rules import Rules

DEFAULT = "combined"
OWN_INTERCEPT = "each perturbed part of a series has an intercept of its own"
NO_OPTIONS = ("steady", "prior", "execution")  # data, how to work


@dataclass(frozen=True)
class Method(LazyFunction):
    """A method and its properties, for help, errors, reports and docs.

    Attributes
    ----------
    selects
        Whether it selects edges itself, apart from the caps.
    perturbation
        Use of a known perturbation, in words; empty for none.
    needs_series
        Whether it cannot use steady-state samples alone.
    uses_steady_samples
        Whether it uses steady-state samples, alone or with series.
    is_lagged
        Whether its scores stand on lags and perturbed genes alone, so both ways may be true.
    is_symmetric
        Whether both directions of a pair have the same score.
    has_confidence
        Whether it estimates the probability of each edge: its network has a `confidence`, or a
        `verdict` that gives the reason.
    takes_logs
        Whether it transforms levels and counts to a log scale.
    """

    package = "grn_tvcs.methods"

    selects: bool = False
    perturbation: str = ""
    needs_series: bool = False
    uses_steady_samples: bool = True
    is_lagged: bool = False
    is_symmetric: bool = False
    has_confidence: bool = False
    takes_logs: bool = False

    @property
    def keywords(self) -> dict[str, Any]:
        """The keyword-only arguments and their defaults."""
        parameters = inspect.signature(self.function).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}

    @property
    def options(self) -> dict[str, Any]:
        """The options of the user and their defaults."""
        return {name: value for name, value in self.keywords.items() if name not in NO_OPTIONS}

    @property
    def takes_steady_states(self) -> bool:
        """Whether it uses knock-outs, knock-downs and wild type."""
        return "steady" in self.keywords

    @property
    def takes_prior(self) -> bool:
        """Whether it uses prior edges."""
        return "prior" in self.keywords

    @property
    def about(self) -> list[str]:
        """The paragraphs of its module docstring."""
        text = sys.modules[self.function.__module__].__doc__ or ""
        return [" ".join(part.split()) for part in text.strip().split("\n\n")]

    def score(
        self,
        expression: Expression,
        rules: Rules,
        rng: np.random.Generator,
        options: Mapping[str, Any],
    ) -> Network:
        """Return the network of the method, which gets those of the options that it takes."""
        keywords = self.keywords
        able = {name: value for name, value in options.items() if name in keywords}
        network: Network = self(expression, rules, rng, **able)
        return network

    def describe(
        self, network: Network, expression: Expression, steady: SteadyStates | None = None
    ) -> str:
        """Describe how it scored pairs, in the style and with the citations of a journal.

        The text is ``DESCRIPTION`` of its module, or the result of its function ``describe`` if it
        depends on the run. Other methods are described by their name.
        """
        module = sys.modules[self.function.__module__]
        if hasattr(module, "describe"):
            return str(module.describe(network, expression, steady))
        return str(getattr(module, "DESCRIPTION", f"Pairs were scored by the method {self.name}."))


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("combined", perturbation=OWN_INTERCEPT, has_confidence=True, takes_logs=True),
        Method(
            "tvcs",
            perturbation=OWN_INTERCEPT,
            needs_series=True,
            uses_steady_samples=False,
            is_lagged=True,
            takes_logs=True,
        ),
        Method(
            "tvcs-plain",
            "the paper's model as printed",
            needs_series=True,
            uses_steady_samples=False,
            is_lagged=True,
        ),
        Method("pcc", is_symmetric=True),
        Method("aracne", selects=True, is_symmetric=True),
        Method("clr", is_symmetric=True),
        Method("mrnet", is_symmetric=True),
        Method("pidc", is_symmetric=True),
        Method("genie3"),
        Method("dyngenie3", needs_series=True, is_lagged=True),
        Method("tigress", selects=True),
        Method("spearman", is_symmetric=True),
        Method("partial-correlation", is_symmetric=True, takes_logs=True),
        Method(
            "lagged-correlation",
            needs_series=True,
            uses_steady_samples=False,
            is_lagged=True,
            takes_logs=True,
        ),
        Method(
            "knock-outs",
            needs_series=True,
            uses_steady_samples=False,
            is_lagged=True,
            takes_logs=True,
        ),
    )
}

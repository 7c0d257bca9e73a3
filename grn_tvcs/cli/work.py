"""The long work of `grn-tvcs infer`: what it will take, and doing it with progress."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from grn_tvcs.cli.options import InferOptions
from grn_tvcs.cli.progress import Progress, span
from grn_tvcs.cli.resources import estimate
from grn_tvcs.edge_count import EdgeCount, choose_edges, fold_resamples
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.methods import infer, options_of
from grn_tvcs.network.network import Network
from grn_tvcs.network.rules import Rules


@dataclass(frozen=True)
class Inference:
    """All that the network depends on, and how to work.

    Attributes
    ----------
    given
        The options of the command: method, seed, threads and the folder for finished work.
    data, rules, options, steady
        What is inferred from what, under which caps, with which options of the method.
    """

    given: InferOptions
    data: Expression
    rules: Rules
    options: dict[str, Any]
    steady: SteadyStates | None

    def expected(self) -> str:
        """Tell what the work will take; refuse what cannot fit."""
        data, genes = self.data, self.data.genes
        inputs = int(self.rules.allowed(genes).any(axis=1).sum())
        resamples = (options_of(self.given.used) | self.options)["resamples"]
        if self.given.chooses_edges:
            resamples += fold_resamples(data, resamples)
        cost = estimate(len(genes), inputs, len(data.times), resamples, self.given.threads)
        cost.refuse_what_cannot_fit()
        return f"about {span(cost.seconds)} and {cost.memory / 1e9:.1f} GB"

    def count(self) -> EdgeCount | None:
        """Choose the number of edges, if it is to be chosen."""
        if not self.given.chooses_edges:
            return None
        with Progress("percent of the held-out fits") as progress:
            return choose_edges(self.data, self.given.used, **self._arguments(), progress=progress)

    def run(self, count: EdgeCount | None) -> tuple[Network, Rules]:
        """Infer the network and say the caps that its selected edges keep."""
        with Progress("halves") as progress:
            network = infer(self.data, self.given.method, **self._arguments(), progress=progress)
        if count is None:
            return network, self.rules.with_defaults(len(self.data.genes))
        rules = replace(self.rules, max_edges=count.n_edges)
        return network.within(rules), rules

    def _arguments(self) -> dict[str, Any]:
        rules = self.rules
        return {
            "max_in_degree": rules.max_in_degree,
            "max_out_degree": rules.max_out_degree,
            "max_edges": rules.max_edges,
            "regulators": rules.regulators,
            "steady": self.steady,
            "rng": self.given.seed,
            "threads": self.given.threads,
            "keep": self.given.finished,
            **self.options,
        }

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
from grn_tvcs.methods import METHODS, infer, options_of
from grn_tvcs.network.network import Network
from grn_tvcs.network.prior import Prior
from grn_tvcs.network.rules import EDGES_PER_GENE, Rules

PARTS = 2.5  # times lagged regression alone; measured with 10 to 100 genes


@dataclass(frozen=True)
class Inference:
    """All that the network depends on, and how to work.

    Attributes
    ----------
    given
        The options of the command: method, seed, threads and the folder for finished work.
    data, rules, options, steady, prior
        What is inferred from what, under which caps, with which options of the method.
    """

    given: InferOptions
    data: Expression
    rules: Rules
    options: dict[str, Any]
    steady: SteadyStates | None
    prior: Prior | None

    @property
    def holds_series_out(self) -> bool:
        """Whether series are held out to choose the number of edges; a verdict needs none."""
        return self.given.chooses_edges and not METHODS[self.given.method].has_confidence

    def expected(self) -> str:
        """Tell what the work will take; refuse what cannot fit."""
        data = self.data
        inputs, targets = (int(is_in.sum()) for is_in in self.rules.roles(data.genes))
        resamples = (options_of(self.given.method) | self.options)["resamples"]
        if self.holds_series_out:
            resamples += fold_resamples(data, resamples)
        if METHODS[self.given.method].has_confidence:
            return self._expected_of_parts(inputs, resamples)
        cost = estimate(targets, inputs, len(data.times), resamples, self.given.threads)
        cost.refuse_what_cannot_fit()
        return f"about {span(cost.seconds)} and {cost.memory / 1e9:.1f} GB"

    def _expected_of_parts(self, inputs: int, resamples: int) -> str:
        """The same for a method that computes all parts, and perhaps simulates networks."""
        from grn_tvcs.combine.parts import halves_of
        from grn_tvcs.methods.combined import networks_to_simulate
        from grn_tvcs.simulation.designs import GENES

        data, n = self.data, len(self.data.genes)
        halves = halves_of(resamples, n * inputs)
        cost = estimate(n, inputs, len(data.times), halves, self.given.threads)
        cost.refuse_what_cannot_fit()
        told = f"about {span(PARTS * cost.seconds)} and {cost.memory / 1e9:.1f} GB"
        asked = {"calibrate": self.options["calibrate"]} if "calibrate" in self.options else {}
        networks = networks_to_simulate(data, self.rules, self.steady, resamples=resamples, **asked)
        if not networks:
            return told
        size = min(n, GENES[-1])
        each = estimate(size, min(inputs, size), len(data.times), resamples, 1)
        seconds = PARTS * networks * each.seconds / min(self.given.threads, networks)
        return f"{told}, and {span(seconds)} once for {networks} networks of this design"

    def count(self) -> EdgeCount | None:
        """Choose the number of edges by held-out series, if it is to be chosen so."""
        if not self.holds_series_out:
            return None
        with Progress("percent of the held-out fits") as progress:
            return choose_edges(
                self.data, self.given.method, **self._arguments(), progress=progress
            )

    def run(self, count: EdgeCount | None) -> tuple[Network, Rules]:
        """Infer the network and say the caps that its selected edges keep.

        Where the number of edges is to be chosen and no series were held out, it is that of the
        verdict, and 2 per gene where the verdict says why there is none.
        """
        with Progress("parts of the work") as progress:
            network = infer(self.data, self.given.method, **self._arguments(), progress=progress)
        verdict = network.verdict
        n_targets = int(self.rules.roles(self.data.genes)[1].sum())
        if not self.given.chooses_edges:
            return network, self.rules.with_defaults(n_targets)
        if count is not None:
            n_edges = count.n_edges
        elif verdict is not None and verdict.is_known:
            n_edges = verdict.n_edges
        else:
            n_edges = EDGES_PER_GENE * n_targets
        rules = replace(self.rules, max_edges=n_edges)
        return network.within(rules), rules

    def _arguments(self) -> dict[str, Any]:
        rules = self.rules
        return {
            "max_in_degree": rules.max_in_degree,
            "max_out_degree": rules.max_out_degree,
            "max_edges": rules.max_edges,
            "regulators": rules.regulators,
            "targets": rules.targets,
            "steady": self.steady,
            "prior": self.prior,
            "rng": self.given.seed,
            "threads": self.given.threads,
            "keep": self.given.finished,
            **self.options,
        }

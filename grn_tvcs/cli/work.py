"""The long work of `grn-tvcs infer`: its cost, and doing it with progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from grn_tvcs.cli.options import InferOptions
from grn_tvcs.cli.resources import (
    Work,
    estimate,
    estimate_of_parts,
    memory_of_ranking,
    seconds_of_design,
)
from grn_tvcs.expression.expression import Expression
from grn_tvcs.expression.options import OFF
from grn_tvcs.expression.steady_states import SteadyStates
from grn_tvcs.expression.user_warnings import without_warnings
from grn_tvcs.inference.infer import infer
from grn_tvcs.inference.inputs import steady_like
from grn_tvcs.methods.table import METHODS
from grn_tvcs.network.edge_files import Reference
from grn_tvcs.network.network import Network
from grn_tvcs.network.prior import Prior
from grn_tvcs.network.rules import Rules
from tvcs_core.command.progress import Progress, span
from tvcs_core.engines import Engine


@dataclass(frozen=True)
class Inference:
    """All that the network depends on, and how to work.

    Attributes
    ----------
    given
        The options of the command: method, seed, threads and the folder for finished work.
    data, rules, options, steady, prior
        The input, the caps, and the options of the method.
    reference
        True edges, if there are any.
    engine
        The engine.
    """

    given: InferOptions
    data: Expression
    rules: Rules
    options: dict[str, Any]
    steady: SteadyStates | None
    prior: Prior | None
    reference: Reference | None
    engine: Engine

    def expected(self) -> str:
        """Print the cost of the work; refuse work that does not fit into memory."""
        data = self.data
        resamples = (METHODS[self.given.method].options | self.options)["resamples"]
        regulators, targets = (int(is_in.sum()) for is_in in self.rules.roles(data.genes))
        lines = regulators * targets
        if self.given.top is not None:
            lines = min(lines, self.given.top)
        work = Work(
            len(data.genes), regulators, targets, len(data.times), resamples, lines,
            self.given.side_by_side,
        )  # fmt: skip
        if METHODS[self.given.method].has_confidence:
            return self._expected_of_parts(work)
        cost = estimate(work)
        cost.refuse_too_large(self.remedies())
        return f"about {span(cost.seconds)} and {cost.memory / 1e9:.1f} GB"

    def refuse_too_large(self) -> None:
        """Refuse a method that does not halve the series if it cannot fit in memory.

        The estimate is the minimum of these methods: ``"tvcs-plain"`` and forests need more.
        """
        regulators, targets = (int(is_in.sum()) for is_in in self.rules.roles(self.data.genes))
        memory_of_ranking(regulators, targets).refuse_too_large(self.remedies())

    def remedies(self) -> str:
        """Return remedies for too little memory."""
        given = self.given
        able = {
            "a list of --regulators": given.regulators is None,
            "--targets, the genes of interest": given.targets is None,
            "--top-variable N or a list of --genes": given.genes is given.top_variable is None,
            f"fewer --{'workers' if given.workers else 'threads'}": given.side_by_side > 1
            and "resamples" in METHODS[given.method].options,
            "--method tvcs": METHODS[given.method].has_confidence,
        }
        left = [what for what, is_left in able.items() if is_left]
        return f"what helps: {', '.join(left) or 'a machine with more memory'}"

    def _expected_of_parts(self, work: Work) -> str:
        """The same for a method that computes all parts, and perhaps simulates networks."""
        from grn_tvcs.combine.calibration import N_NULL_TABLES
        from grn_tvcs.combine.evidence_scores import n_halves, n_trees
        from grn_tvcs.methods.combined import count_calibration_networks
        from grn_tvcs.simulation.designs import GENES
        from grn_tvcs.stability.stability import MIN_STEPS

        resamples = work.halves
        halves = n_halves(resamples, work.targets * work.regulators)
        cost = estimate_of_parts(work._replace(halves=halves), n_trees(work.genes))
        cost.refuse_too_large(self.remedies())
        cost_of_parts = f"about {span(cost.seconds)} and {cost.memory / 1e9:.1f} GB"
        asked = {"calibrate": self.options["calibrate"]} if "calibrate" in self.options else {}
        with without_warnings():  # infer gives them
            steady = None if self.steady is None else steady_like(self.data, self.steady)
        networks = count_calibration_networks(
            self.data, self.rules, steady, resamples=resamples, **asked
        )
        if not networks:
            return cost_of_parts
        size = min(work.genes, GENES[-1])
        small = work._replace(
            genes=size, regulators=min(work.regulators, size), targets=size, lines=0,
            halves=resamples if self.data.series else 0,
        )  # fmt: skip
        n_steps = self.data.n_steps
        few = bool(self.data.series) and n_steps < MIN_STEPS
        seconds = seconds_of_design(small, n_trees(size), networks, N_NULL_TABLES, every_table=few)
        once = f"{'up to ' if few else ''}{span(seconds)} once"
        return f"{cost_of_parts}, and {once} for {networks} networks of this design"

    def run(self) -> Network:
        """Infer the network, with its progress shown."""
        given, rules = self.given, self.rules
        with Progress("parts of the work") as progress:
            return infer(
                self.data, given.method, threads=given.threads, engine=self.engine,
                progress=progress, checkpoint_dir=given.checkpoint_dir,
                bins=OFF,  # they are made already
                max_in_degree=rules.max_in_degree, max_out_degree=rules.max_out_degree,
                max_edges=rules.max_edges, regulators=rules.regulators, targets=rules.targets,
                steady=self.steady, prior=self.prior, rng=given.seed, **self.options,
            )  # fmt: skip

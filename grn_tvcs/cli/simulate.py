"""The command `grn-tvcs simulate`: a known network, and experiments on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tvcs_core.arguments import Help
from tvcs_core.command.options import (
    NOT_RECORDED,
    Force,
    OutFolder,
    Seed,
    file_option,
    recorded,
    with_options,
)
from tvcs_core.command.results import results
from tvcs_core.command.shell import guarded, print_message

# The options for a network that is grown, with what `simulate` calls them.
GROWN = {
    "genes": "n_genes",
    "edges": "n_edges",
    "max_in_degree": "max_in_degree",
    "max_out_degree": "max_out_degree",
    "regulators": "min_regulators",
}
MEASURED = ("noise", "noise_level", "sde", "series_only")


@dataclass(frozen=True, kw_only=True)
class SimulateOptions:
    """The options of ``grn-tvcs simulate``."""

    out: OutFolder
    genes: Annotated[int | None, Help("Number of genes. Default: 30.")] = None
    series: Annotated[int, Help("Number of time series.")] = 10
    points: Annotated[int, Help("Time points of each series.")] = 21
    topology: Annotated[
        Path | None,
        file_option(
            "Edges: regulator, target and optionally a sign + - or ?. Default: grow a network."
        ),
        NOT_RECORDED,  # an input
    ] = None
    edges: Annotated[int | None, Help("Number of edges. Default: 1.6 per gene.")] = None
    max_in_degree: Annotated[
        int | None, Help("Maximum number of regulators of a gene. Default: 6.")
    ] = None
    max_out_degree: Annotated[
        int | None, Help("Maximum number of targets of a regulator. Default: no cap.")
    ] = None
    regulators: Annotated[int | None, Help("Minimum number of genes that regulate others.")] = None
    noise: Annotated[str, Help("Measurement noise: normal, lognormal, microarray or none.")] = (
        "normal"
    )
    noise_level: Annotated[
        float | None,
        Help(
            "Standard deviation of the noise; of the logarithm to base 10 for lognormal, a "
            "factor for microarray. Default: 0.1, for microarray 1."
        ),
    ] = None
    sde: Annotated[float | None, Help("Strength of the noise in the dynamics. Default: 0.05.")] = (
        None
    )
    series_only: Annotated[
        bool,
        Help(
            "No knock-outs, knock-downs or multifactorial perturbations. Use it for large "
            "networks: they are three experiments per gene."
        ),
    ] = False
    ode: Annotated[bool, Help("No noise in the dynamics: --sde 0."), NOT_RECORDED] = False
    seed: Seed = 0
    force: Force = False

    def as_recorded(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values for run.json, with the noise of the dynamics."""
        from grn_tvcs.simulation.simulation import SDE

        return values | {"sde": 0.0 if self.ode else SDE if self.sde is None else self.sde}

    def refuse_contradictions(self) -> None:
        """Refuse two options that contradict each other."""
        if self.ode and self.sde:
            raise ValueError(f"--ode means --sde 0, but --sde is {self.sde}; give one of them")
        if self.topology is None:
            return
        for name in GROWN:
            if getattr(self, name) is not None:
                option = name.replace("_", "-")
                raise ValueError(f"--topology says which edges there are; leave --{option} out")


@guarded
@with_options
def simulate(given: SimulateOptions) -> None:
    """Simulate a network and experiments on it, as in the DREAM challenges.

    Writes timeseries.tsv, timeseries_perturbations.tsv, wildtype.tsv, goldstandard.tsv and
    run.json, and without --series-only also knockouts.tsv, knockdowns.tsv and multifactorial.tsv.
    """
    from grn_tvcs.simulation.simulation import simulate as simulate_network
    from grn_tvcs.simulation.simulation import write_simulation
    from grn_tvcs.simulation.topology import read_topology

    given.refuse_contradictions()
    options = recorded(given)
    wanted = {GROWN.get(name, name): options[name] for name in (*GROWN, *MEASURED)}
    topology = None if given.topology is None else read_topology(given.topology)
    with results("grn-tvcs simulate", given, seed=given.seed, inputs=[given.topology]) as out:
        made = simulate_network(
            n_series=given.series,
            n_points=given.points,
            topology=topology,
            rng=given.seed,
            **{name: value for name, value in wanted.items() if value is not None},
        )
        write_simulation(made, out.folder)
        out.record |= {"levels_divided_by": made.scale, "genes": list(made.network.genes)}
    degrees = made.network.out_degrees
    print_message(
        f"{len(made.network.genes)} genes, {int(degrees.sum())} edges of "
        f"{int((degrees > 0).sum())} regulators; written to {given.out}"
    )

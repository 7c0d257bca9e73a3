"""The command `grn-tvcs`: infer, score, convert, check, simulate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grn_tvcs.cli.check import check
from grn_tvcs.cli.infer import infer
from grn_tvcs.cli.options import Force, OutFolder, Pairs, Seed
from tvcs_core.command.shell import guarded, refuse_negative_seed, run, say

if TYPE_CHECKING:
    from grn_tvcs.network.scores import Scores

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Infer gene regulatory networks from expression over time.",
)

app.command()(infer)


@app.command()
@guarded
def score(
    edges: Annotated[
        Path, typer.Argument(metavar="EDGES", help="edges.tsv, or regulator, target, score.")
    ],
    reference: Annotated[
        Path,
        typer.Argument(
            metavar="REFERENCE",
            help="True edges: regulator, target and perhaps one of + - ? 1 0; 0 is no edge.",
        ),
    ],
    genes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="All genes, one per line. Default: those of run.json beside EDGES."
        ),
    ] = None,
    pairs: Pairs = "all",
    cut: Annotated[
        str,
        typer.Option(
            help="Edges judged: caps (column selected of EDGES), top-n (as many as in REFERENCE) "
            "or own (column own of EDGES, what TIGRESS and ARACNE select themselves; all of EDGES "
            "without one)."
        ),
    ] = "caps",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Compare a network with a reference over ordered pairs of distinct genes.

    SN, SP, ACC, F (harmonic mean of SN and SP), MCC and AUC judge the edges of the cut; AUROC and
    AUPR (average precision) judge the ranking, EP (early precision) its first pairs.
    """
    from grn_tvcs.network.edge_files import read_genes, read_network, read_reference
    from grn_tvcs.network.scores import score as score_network

    names = read_genes(genes if genes is not None else edges.parent / "run.json")
    network = read_network(edges, names)
    if cut == "own":
        network = network.by_own_cut()
    found = score_network(network, read_reference(reference, names), pairs=pairs, cut=cut)
    print(_as_json(found) if as_json else _as_table(found))


@app.command()
@guarded
def convert(
    edges: Annotated[
        Path, typer.Argument(metavar="EDGES", help="edges.tsv, or regulator, target, score.")
    ],
    to: Annotated[
        str, typer.Option("--to", help="dream, arboreto, beeline, graphml, sif or cyjs.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")],
    genes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="All genes, one per line. Default: those of run.json beside EDGES."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
) -> None:
    """Write EDGES for another program.

    dream, arboreto and beeline get every edge with a score, graphml, sif and cyjs (Cytoscape)
    the selected ones.
    """
    from grn_tvcs.network.edge_files import read_genes, read_network
    from grn_tvcs.network.export import write_network
    from tvcs_core import DataError
    from tvcs_core.files.folders import write_whole

    if out.exists() and not force:
        raise DataError("is there already; give --force to replace it", path=out)
    network = read_network(
        edges, read_genes(genes if genes is not None else edges.parent / "run.json")
    )
    write_whole(out, lambda path: write_network(network, path, to))
    say(f"{len(network.genes)} genes written to {out}")


app.command()(check)


@app.command()
@guarded
def simulate(
    out: OutFolder,
    genes: Annotated[int | None, typer.Option(help="Number of genes. Default: 30.")] = None,
    series: Annotated[int, typer.Option(help="Number of time series.")] = 10,
    points: Annotated[int, typer.Option(help="Time points of each series.")] = 21,
    topology: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Edges: regulator, target and perhaps a sign + - or ?. Default: grow a network.",
        ),
    ] = None,
    edges: Annotated[int | None, typer.Option(help="Edges. Default: 1.6 per gene.")] = None,
    max_in_degree: Annotated[
        int | None, typer.Option(help="Most regulators of a gene. Default: 6.")
    ] = None,
    max_out_degree: Annotated[
        int | None, typer.Option(help="Most targets of a regulator. Default: no cap.")
    ] = None,
    regulators: Annotated[
        int | None, typer.Option(help="Least number of genes that regulate others.")
    ] = None,
    noise: Annotated[
        str, typer.Option(help="Of the measurement: normal, lognormal, microarray or none.")
    ] = "normal",
    noise_level: Annotated[
        float | None,
        typer.Option(
            help="Deviation, for lognormal of the logarithm to base 10; for microarray a factor. "
            "Default: 0.1, for microarray 1."
        ),
    ] = None,
    sde: Annotated[
        float | None, typer.Option(help="Strength of the noise in the dynamics. Default: 0.05.")
    ] = None,
    ode: Annotated[bool, typer.Option("--ode", help="No noise in the dynamics: --sde 0.")] = False,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Simulate a network and experiments on it, as in the DREAM challenges.

    Writes timeseries.tsv, timeseries_perturbations.tsv, wildtype.tsv, knockouts.tsv,
    knockdowns.tsv, multifactorial.tsv, goldstandard.tsv and run.json.
    """
    from grn_tvcs.simulation.simulation import SDE, write_simulation
    from grn_tvcs.simulation.simulation import simulate as simulate_network
    from grn_tvcs.simulation.topology import read_topology
    from tvcs_core.files.folders import output_folder, write_json
    from tvcs_core.files.record import run_record

    refuse_negative_seed(seed)
    if ode and sde:
        raise ValueError(f"--ode means --sde 0, but --sde is {sde}; give one of them")
    sizes = {"genes": genes, "edges": edges, "max_in_degree": max_in_degree}
    sizes |= {"max_out_degree": max_out_degree, "regulators": regulators}
    if topology is not None:
        for name, value in sizes.items():
            if value is not None:
                option = name.replace("_", "-")
                raise ValueError(f"--topology says which edges there are; leave --{option} out")
    grown = {
        "n_genes": genes, "n_edges": edges, "max_in_degree": max_in_degree,
        "max_out_degree": max_out_degree, "min_regulators": regulators,
    }  # fmt: skip
    measured: dict[str, Any] = {"noise": noise, "noise_level": noise_level}
    measured["sde"] = 0.0 if ode else SDE if sde is None else sde
    given = {name: value for name, value in (grown | measured).items() if value is not None}
    network = None if topology is None else read_topology(topology)
    with output_folder(out, force=force) as folder:
        made = simulate_network(
            n_series=series, n_points=points, topology=network, rng=seed, **given
        )
        write_simulation(made, folder)
        record = run_record(
            "grn-tvcs simulate",
            sizes | measured | {"series": series, "points": points},
            seed=seed,
            inputs=[] if topology is None else [topology],
            levels_divided_by=made.scale,
            genes=list(made.network.genes),
        )
        write_json(folder / "run.json", record)
    n_regulators = int((made.network.out_degrees > 0).sum())
    say(
        f"{len(made.network.genes)} genes, {int(made.network.out_degrees.sum())} edges of "
        f"{n_regulators} regulators; written to {out}"
    )


def _as_table(scores: Scores) -> str:
    from grn_tvcs.network.scores import NAMES

    lines = [f"{label:<6}{getattr(scores, name):>8.4f}" for name, label in NAMES.items()]
    lines += [
        "",
        f"cut {scores.cut}: {scores.n_selected} edges, of them true {scores.n_found}; "
        f"true edges {scores.n_edges} of {scores.n_pairs} pairs ({scores.pairs})",
        f"AUPR and EP of a random ranking {scores.aupr_by_chance:.4f}, AUROC 0.5",
    ]
    return "\n".join(lines)


def _as_json(scores: Scores) -> str:
    import json
    from dataclasses import asdict

    from grn_tvcs.network.scores import NAMES

    values = {
        NAMES.get(name, name): None if value != value else value  # NaN is not JSON
        for name, value in asdict(scores).items()
    }
    return json.dumps(values, indent=2)


def main() -> None:
    """Run the command line."""
    run(app)

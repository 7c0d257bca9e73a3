"""What `grn-tvcs infer` is told, and options that several commands of `grn-tvcs` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grn_tvcs.methods import DEFAULT, METHODS
from tvcs_core.command.options import Force, OutFolder, Seed, option_values, recorded
from tvcs_core.command.shell import say
from tvcs_core.lazy import choices

if TYPE_CHECKING:
    from grn_tvcs.expression.expression import Expression
    from tvcs_core.engines import Engine

AUTO = "auto"
OFF = "off"
FINISHED = ".resume"
EDGES = ("edges.tsv", "edges.tsv.gz")  # as it is, and compressed
FILES = (
    "genes", "targets", "regulators", "out_degrees", "knockouts", "knockdowns", "wildtype",
    "samples", "pseudotime", "lineage_weights", "reference", "prior",
)  # fmt: skip
# Recorded where they are given alone.
NEW = (
    "bins", "lineage_weights", "calibrate", "prior", "genes", "targets", "top_variable", "top",
    "compress",
)  # fmt: skip
RECORDED = (
    "max_in_degree", "max_out_degree", "perturbed_until", "scale", "missing", "genes_in_rows",
    "time_column", "series_column", "method", "max_edges", "option", "pairs", *FILES, "bins",
    "calibrate", "top_variable", "top", "compress",
)  # fmt: skip


def file_option(about: str) -> Any:
    """Make an option that names a file."""
    return typer.Option(metavar="FILE", help=about)


ExpressionFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="EXPRESSION",
        help="TSV or CSV, plain or .gz: one row per sample, one column per gene, a column Time, "
        "empty where a sample is at rest (without the column all are); or AnnData's .h5ad. "
        "Several files of the same genes are taken together. "
        "Columns series, condition, replicate name the series; without them a blank line or a "
        "time that falls back starts a new one. A column perturbed holds 0 or 1.",
    ),
]
RegulatorFile = Annotated[
    Path | None,
    typer.Option("--regulators", metavar="FILE", help="Genes that may regulate, one per line."),
]
Missing = Annotated[
    str, typer.Option(help="What to do about missing values: error, drop or interpolate.")
]
Pairs = Annotated[
    str,
    typer.Option(
        help="Pairs that are judged: all ordered pairs of genes, or only the linked ones, both "
        "orders of two genes with an edge in the reference."
    ),
]
EdgesFile = Annotated[
    Path, typer.Argument(metavar="EDGES", help="edges.tsv, or regulator, target, score.")
]
GenesFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="All genes, one per line. Default: those of run.json beside EDGES."
    ),
]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How an expression file is to be read."""

    samples: Annotated[
        Path | None,
        file_option(
            "Sheet with columns sample, time and perhaps series, condition, replicate, perturbed; "
            "the first column of EXPRESSION then names the samples."
        ),
    ] = None
    pseudotime: Annotated[
        Path | None, file_option("BEELINE's PseudoTime.csv; EXPRESSION is ExpressionData.csv.")
    ] = None
    lineage_weights: Annotated[
        Path | None,
        file_option("How far each cell belongs to each lineage: the columns of --pseudotime."),
    ] = None
    genes_in_rows: Annotated[
        bool, typer.Option("--genes-in-rows", help="The first column of EXPRESSION names genes.")
    ] = False
    time_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Column of .obs with the time, for .h5ad. Default: time."
        ),
    ] = None
    series_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column of .obs that names the series, for .h5ad. Default: series, condition and "
            "replicate, those that there are.",
        ),
    ] = None
    perturbed_until: Annotated[
        float | None,
        typer.Option(
            metavar="TIME", help="Every series is perturbed from its start until TIME (DREAM: 500)."
        ),
    ] = None
    scale: Annotated[
        str | None,
        typer.Option(
            metavar="levels|log|counts",
            help="What the values are: levels, logarithms already (log) or counts. Default: a "
            "guess, which is said.",
        ),
    ] = None
    bins: Annotated[
        str | None,
        typer.Option(
            metavar="auto|N|off",
            help="Average cells in bins of equal numbers along time, so many in each series. "
            "Default: auto, the square root of the cells (10 to 50) where a series has more than "
            "100 points at uneven times.",
        ),
    ] = None

    @property
    def is_turned(self) -> bool:
        """Whether genes stand in rows."""
        return self.genes_in_rows or self.pseudotime is not None

    def read(self, paths: list[Path], missing: str) -> Expression:
        """Read the files, with scale and perturbation as told beside them, and cells in bins."""
        self.wanted_bins()
        return self.in_bins(self.read_samples(paths, missing))

    def read_samples(self, paths: list[Path], missing: str) -> Expression:
        """Read the files, with the scale and the perturbation that are told beside them."""
        from grn_tvcs.expression.formats import read_files
        from grn_tvcs.expression.scales import on_scale

        data = read_files(
            paths,
            samples=self.samples,
            pseudotime=self.pseudotime,
            lineage_weights=self.lineage_weights,
            genes_in_rows=self.genes_in_rows,
            time_column=self.time_column,
            series_column=self.series_column,
            missing=missing,
        )
        return self.perturbed(on_scale(data, self.scale))

    def perturbed(self, data: Expression) -> Expression:
        """Return the same with the perturbation that is told beside the files, if one is."""
        if self.perturbed_until is None:
            return data
        if data.perturbed is not None:
            raise ValueError("give a column perturbed or --perturbed-until, not both")
        return data.with_perturbation_until(self.perturbed_until)

    def in_bins(self, data: Expression) -> Expression:
        """Average cells in bins as the options say; the same expression where there are none."""
        from grn_tvcs.expression.bins import OFF, in_bins

        wanted = self.wanted_bins()
        if wanted == OFF:
            return data
        averaged = in_bins(data, wanted)
        if averaged is not data:
            say(averaged.notes[-1])
        return averaged

    def wanted_bins(self) -> int | str:
        """Read ``--bins``: a number or one of its words."""
        from grn_tvcs.expression.bins import AUTO, OFF

        if self.bins is None or self.bins in (AUTO, OFF):
            return self.bins or AUTO
        try:
            return int(self.bins)
        except ValueError:
            known = f"{AUTO}, an integer >= 2 or {OFF}"
            raise ValueError(f"--bins must be {known}, found {self.bins!r}") from None


@dataclass(frozen=True, kw_only=True)
class InferOptions:
    """The options of ``grn-tvcs infer``."""

    expression: ExpressionFiles
    out: OutFolder
    max_in_degree: Annotated[
        int | None, typer.Option(help="Most regulators of a gene. Default: no cap.")
    ] = None
    max_out_degree: Annotated[
        int | None, typer.Option(help="Most targets of a regulator. Default: no cap.")
    ] = None
    out_degrees: Annotated[
        Path | None, file_option("A cap for each regulator: lines of name, tab, cap.")
    ] = None
    max_edges: Annotated[
        str | None,
        typer.Option(
            metavar="INTEGER|auto",
            help="Most edges in all; auto chooses the number by the confidence of the edges where "
            "the method gives one, else by series that are held out. "
            "Default: 2 per gene if no cap is given, else none.",
        ),
    ] = None
    regulators: RegulatorFile = None
    targets: Annotated[
        Path | None, file_option("Genes whose regulators are sought, one per line. Default: all.")
    ] = None
    genes: Annotated[
        Path | None, file_option("Genes to use, one per line; all others are left out first.")
    ] = None
    top_variable: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Use the N most variable genes, and those that --regulators and --targets name.",
        ),
    ] = None
    layout: Layout
    knockouts: Annotated[
        Path | None, file_option("Knock-outs, in the order of the genes: one column per gene.")
    ] = None
    knockdowns: Annotated[
        Path | None, file_option("Knock-downs, in the order of the genes: one column per gene.")
    ] = None
    wildtype: Annotated[Path | None, file_option("Wild type at rest: one column per gene.")] = None
    prior: Annotated[
        Path | None,
        file_option(
            "Edges believed beforehand, of motifs, ChIP or the literature: regulator, target, and "
            "perhaps weight (above 0, at most 1) and sign. They count as far as the data bear "
            "them out."
        ),
    ] = None
    missing: Missing = "error"
    method: Annotated[str, typer.Option(help=f"{choices(METHODS.values())}.")] = DEFAULT
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="NAME=VALUE", help="Option of the method; may be given often."
        ),
    ] = None
    calibrate: Annotated[
        str | None,
        typer.Option(
            metavar="N|off",
            help="Networks that are simulated with the design of these data, to say how likely "
            "each edge is true; kept for the next run. Default: 12, for methods that say so.",
        ),
    ] = None
    reference: Annotated[
        Path | None, file_option("True edges: the network is scored, in scores.tsv and the report.")
    ] = None
    pairs: Pairs = "all"
    top: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Write the N surest edges to edges.tsv, and every selected one. Default: all.",
        ),
    ] = None
    compress: Annotated[
        bool, typer.Option("--compress", help="Write edges.tsv.gz instead of edges.tsv.")
    ] = False
    seed: Seed = 0
    threads: Annotated[int, typer.Option(help="Threads; the result is the same.")] = 1
    workers: Annotated[
        int | None,
        typer.Option(help="Processes of this machine, instead of threads; the result is the same."),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A Dask cluster that is there, instead of threads: tcp://HOST:PORT, "
            "tls://HOST:PORT or a scheduler file; the result is the same.",
        ),
    ] = None
    tls: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="ca.pem, cert.pem and key.pem, for tls://HOST:PORT."),
    ] = None
    trust_network: Annotated[
        bool,
        typer.Option(
            "--trust-network",
            help="Use plain tcp:// to another host, where anybody on the way can run programs.",
        ),
    ] = False
    force: Force = False
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where an interrupted run stopped, if one did.")
    ] = False

    @property
    def finished(self) -> Path:
        """The folder of what an interrupted run has finished."""
        return self.out / FINISHED

    @property
    def edges_file(self) -> str:
        """The name of the table of edges."""
        return EDGES[self.compress]

    @property
    def chooses_edges(self) -> bool:
        """Whether the number of edges is to be chosen from the data."""
        return self.max_edges == AUTO

    @property
    def edge_cap(self) -> int | None:
        """Most edges in all; None where there is no cap or it is to be chosen."""
        if self.max_edges is None or self.chooses_edges:
            return None
        try:
            return int(self.max_edges)
        except ValueError:
            raise ValueError(
                f"--max-edges must be an integer >= 0 or {AUTO}, found {self.max_edges!r}"
            ) from None

    @property
    def side_by_side(self) -> int:
        """How many halves are solved at a time on this machine."""
        return self.workers or self.threads

    def engine(self) -> Engine:
        """Return what does the work; refuse options that do not go together."""
        from tvcs_core.engines import engine_of

        return engine_of(
            threads=self.threads,
            workers=self.workers,
            cluster=self.cluster,
            tls=self.tls,
            trust_network=self.trust_network,
        )

    def wanted_calibration(self) -> int | None:
        """Read ``--calibrate``: networks to simulate, 0 for off; None where it is not given."""
        if self.calibrate is None:
            return None
        if self.calibrate == OFF:
            return 0
        if not (self.calibrate.isascii() and self.calibrate.isdecimal()):
            raise ValueError(
                f"--calibrate must be an integer >= 0 or {OFF}, found {self.calibrate!r}"
            )
        return int(self.calibrate)

    def recorded(self) -> dict[str, Any]:
        """Every option that changes the result but the seed; files by their names."""
        told = recorded(self, RECORDED) | {
            "max_edges": AUTO if self.chooses_edges else self.edge_cap,
            "option": sorted(self.option or []),
            "pairs": self.pairs if self.reference else None,
            "compress": self.compress or None,
        }
        return {name: value for name, value in told.items() if name not in NEW or value is not None}

    def inputs(self) -> list[Path]:
        """Every file that is read, those of expression first."""
        given = option_values(self)
        return [*self.expression, *(given[name] for name in FILES if given[name] is not None)]


def file_of_genes(edges: Path, genes: Path | None) -> Path:
    """The file that names all genes of a network: as given, or the record beside its edges."""
    return edges.parent / "run.json" if genes is None else genes

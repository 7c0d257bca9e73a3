"""The options of `grn-tvcs infer`, and options of several commands of `grn-tvcs`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grn_tvcs.cli.layout import ExpressionFiles, Layout
from grn_tvcs.cli.method_options import method_options
from grn_tvcs.inference.infer import refuse_without_prior
from grn_tvcs.methods.table import DEFAULT, METHODS
from grn_tvcs.network.edge import FILES
from tvcs_core.arguments import Help, check_choice, check_number
from tvcs_core.command.options import (
    NOT_RECORDED,
    Force,
    OutFolder,
    Seed,
    file_option,
    number_option,
)
from tvcs_core.lazy import choices

if TYPE_CHECKING:
    from tvcs_core.engines import Engine

ONE_COLUMN_PER_GENE = (
    "one column per gene; rows in the order of the genes, or named by a first column."
)
CHECKPOINTS = ".resume"
# Recorded also where they are not given.
ALWAYS = (
    "max_in_degree", "max_out_degree", "out_degrees", "max_edges", "regulators", "perturbed_until",
    "scale", "missing", "genes_in_rows", "time_column", "series_column", "samples", "pseudotime",
    "knockouts", "knockdowns", "wildtype", "method", "option", "reference", "pairs",
)  # fmt: skip


RegulatorFile = Annotated[
    Path | None,
    typer.Option("--regulators", metavar="FILE", help="Genes that may regulate, one per line."),
]
Genes = Annotated[
    Path | None, file_option("Genes to use, one per line; all others are removed first.")
]
Threads = Annotated[int, typer.Option(help="Threads; the result is the same."), NOT_RECORDED]
Workers = Annotated[
    int | None,
    typer.Option(help="Processes of this machine, instead of threads; the result is the same."),
    NOT_RECORDED,
]
Pairs = Annotated[
    str,
    typer.Option(
        help="Pairs to score: all ordered pairs of genes, or only the linked ones, both "
        "orders of two genes with an edge in the reference."
    ),
]
EdgesFile = Annotated[
    Path, typer.Argument(metavar="EDGES", help="edges.tsv, or regulator, target, score.")
]
GenesFile = Annotated[
    Path | None,
    file_option(
        "All genes, one per line. Default: those of run.json beside EDGES; without it, "
        "those named in the files."
    ),
]


@dataclass(frozen=True, kw_only=True)
class InferOptions:
    """The options of ``grn-tvcs infer``."""

    expression: ExpressionFiles
    out: OutFolder
    max_in_degree: Annotated[
        int | None, Help("Maximum number of regulators of a gene. Default: no cap.")
    ] = None
    max_out_degree: Annotated[
        int | None, Help("Maximum number of targets of a regulator. Default: no cap.")
    ] = None
    out_degrees: Annotated[
        Path | None, file_option("A cap for each regulator: lines of name, tab, cap.")
    ] = None
    max_edges: Annotated[
        int | None,
        Help(
            "Maximum number of edges, which changes no score or confidence but those of "
            "tvcs-plain. Default: as many as the confidence supports; without a confidence, one "
            "for every ten genes, as candidates."
        ),
    ] = None
    regulators: RegulatorFile = None
    targets: Annotated[
        Path | None, file_option("Genes whose regulators are inferred, one per line. Default: all.")
    ] = None
    genes: Genes = None
    top_variable: Annotated[
        int | None,
        number_option(
            "Use the N most variable genes, and those that --regulators and --targets name."
        ),
    ] = None
    layout: Layout
    knockouts: Annotated[Path | None, file_option(f"Knock-outs: {ONE_COLUMN_PER_GENE}")] = None
    knockdowns: Annotated[Path | None, file_option(f"Knock-downs: {ONE_COLUMN_PER_GENE}")] = None
    overexpressions: Annotated[
        Path | None, file_option(f"Over-expressed genes: {ONE_COLUMN_PER_GENE}")
    ] = None
    wildtype: Annotated[
        Path | None, file_option("Wild type in steady state: one column per gene.")
    ] = None
    prior: Annotated[
        Path | None,
        file_option(
            "Prior edges, for example from motifs, ChIP or the literature: regulator, "
            "target, and optionally weight (above 0, at most 1) and sign. Their weight is "
            "estimated from the data."
        ),
    ] = None
    method: Annotated[str, Help(f"{choices(METHODS.values())}.")] = DEFAULT
    option: Annotated[
        list[str] | None, Help("Option of the method; may be repeated.", "NAME=VALUE")
    ] = None
    calibrate: Annotated[
        str | None,
        Help(
            "Number of networks simulated with this design to calibrate edge probabilities; "
            "results are cached for later runs. Default: 12, for methods with "
            "probabilities.",
            "N|off",
        ),
    ] = None
    reference: Annotated[
        Path | None, file_option("True edges, to score the network in scores.tsv and the report.")
    ] = None
    pairs: Pairs = "all"
    top: Annotated[
        int | None,
        number_option(
            "Write only the N most confident edges to edges.tsv, and every selected one. "
            "Default: all."
        ),
    ] = None
    compress: Annotated[bool, Help("Write edges.tsv.gz instead of edges.tsv.")] = False
    seed: Seed = 0
    threads: Threads = 1
    workers: Workers = None
    cluster: Annotated[
        str | None,
        Help(
            "Address of a running Dask cluster, instead of threads: tcp://HOST:PORT, "
            "tls://HOST:PORT or a scheduler file; the result is the same.",
            "ADDRESS",
        ),
        NOT_RECORDED,
    ] = None
    tls: Annotated[
        Path | None, Help("ca.pem, cert.pem and key.pem, for tls://HOST:PORT.", "DIR"), NOT_RECORDED
    ] = None
    trust_network: Annotated[
        bool,
        Help(
            "Use plain tcp:// to another host, although others on the network could then "
            "run programs there."
        ),
        NOT_RECORDED,
    ] = False
    force: Force = False
    resume: Annotated[bool, Help("Continue an interrupted run, if there is one."), NOT_RECORDED] = (
        False
    )

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints of an interrupted run, of any method."""
        return self.out / CHECKPOINTS

    @property
    def checkpoint_dir(self) -> Path:
        """The folder of the checkpoints of this method."""
        return self.checkpoints / self.method

    @property
    def edges_file(self) -> str:
        """The name of the table of edges."""
        return FILES[self.compress]

    @property
    def side_by_side(self) -> int:
        """How many halves are solved at a time on this machine."""
        return self.workers or self.threads

    def engine(self) -> Engine:
        """Return the engine; refuse options that exclude each other."""
        from tvcs_core.engines import make_engine

        return make_engine(
            threads=self.threads,
            workers=self.workers,
            cluster=self.cluster,
            tls=self.tls,
            trust_network=self.trust_network,
        )

    def checked_method_options(self) -> dict[str, Any]:
        """Return the options of the method; refuse what is wrong whatever the files hold."""
        from grn_tvcs.network.scores import PAIRS

        self.layout.wanted_bins()
        check_choice("pairs", self.pairs, PAIRS)
        if self.top is not None:
            check_number("top", self.top, least=0)
        refuse_few_variable(self.top_variable)
        options = method_options(self.method, self.option or [], self.calibrate)
        if self.prior is not None:
            refuse_without_prior(self.method)
        return options

    def as_recorded(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values for run.json, without options that have no effect."""
        values = values | {
            "option": sorted(self.option or []),
            "pairs": self.pairs if self.reference else None,
            "series_column": _one_or_several(self.layout.series_column),
        }
        return {name: value for name, value in values.items() if value or name in ALWAYS}


def _one_or_several(names: Sequence[str]) -> str | Sequence[str] | None:
    """Names as a record keeps them: one by itself."""
    return names[0] if len(names) == 1 else names or None


def refuse_few_variable(n: int | None) -> None:
    """Refuse a number of ``--top-variable`` that leaves too few genes."""
    from grn_tvcs.expression.subset import FEWEST

    if n is not None:
        check_number("top_variable", n, least=FEWEST)


def all_genes(edges: Path, genes: Path | None) -> list[str] | None:
    """Read all genes of a network: of the given file, or of the record beside its edges.

    None without either: the genes are those of the edges.
    """
    from grn_tvcs.network.edge_files import read_genes

    record = edges.parent / "run.json"
    if genes is None and not record.exists():
        return None
    return read_genes(genes or record)

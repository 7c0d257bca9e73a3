"""Options that several commands of `grn-tvcs` share, and the layout of expression files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from grn_tvcs.expression.expression import Expression


def file_option(about: str) -> Any:
    """Make an option that names a file."""
    return typer.Option(metavar="FILE", help=about)


OutFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder for the results; made if missing.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace the files of a folder in use.")]
Seed = Annotated[int, typer.Option(help="Same seed, same bytes.")]
ExpressionFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="EXPRESSION",
        help="TSV or CSV, plain or .gz: one row per sample, one column per gene, a column Time; "
        "or AnnData's .h5ad. Several files of the same genes are taken together. "
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
Scale = Annotated[
    str | None,
    typer.Option(
        metavar="levels|log|counts",
        help="What the values are: levels, logarithms already (log) or counts. Default: a guess, "
        "which is said.",
    ),
]
PerturbedUntil = Annotated[
    float | None,
    typer.Option(
        metavar="TIME", help="Every series is perturbed from its start until TIME (DREAM: 500)."
    ),
]
Samples = Annotated[
    Path | None,
    file_option(
        "Sheet with columns sample, time and perhaps series, condition, replicate, perturbed; "
        "the first column of EXPRESSION then names the samples."
    ),
]
Pseudotime = Annotated[
    Path | None, file_option("BEELINE's PseudoTime.csv; EXPRESSION is ExpressionData.csv.")
]
GenesInRows = Annotated[
    bool, typer.Option("--genes-in-rows", help="The first column of EXPRESSION names genes.")
]
TimeColumn = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Column of .obs with the time, for .h5ad. Default: time."),
]
SeriesColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column of .obs that names the series, for .h5ad. Default: series, condition and "
        "replicate, those that there are.",
    ),
]
Pairs = Annotated[
    str,
    typer.Option(
        help="Pairs that are judged: all ordered pairs of genes, or only the linked ones, both "
        "orders of two genes with an edge in the reference."
    ),
]
MaxInDegree = Annotated[
    int | None, typer.Option(help="Most regulators of a gene. Default: no cap.")
]
MaxOutDegree = Annotated[
    int | None, typer.Option(help="Most targets of a regulator. Default: no cap.")
]
OutDegrees = Annotated[
    Path | None, file_option("A cap for each regulator: lines of name, tab, cap.")
]
MaxEdges = Annotated[
    str | None,
    typer.Option(
        metavar="INTEGER|auto",
        help="Most edges in all; auto chooses the number by series that are held out. "
        "Default: 2 per gene if no cap is given, else none.",
    ),
]
Knockouts = Annotated[
    Path | None, file_option("Knock-outs, in the order of the genes: one column per gene.")
]
Knockdowns = Annotated[
    Path | None, file_option("Knock-downs, in the order of the genes: one column per gene.")
]
WildType = Annotated[Path | None, file_option("Wild type at rest: one column per gene.")]
Method = Annotated[
    str,
    typer.Option(
        help="tvcs, tvcs-plain (the paper's model as printed), pcc, aracne, clr, mrnet, "
        "genie3, dyngenie3 or tigress."
    ),
]
MethodOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option", metavar="NAME=VALUE", help="Option of the method; may be given often."
    ),
]
ReferenceFile = Annotated[
    Path | None, file_option("True edges: the network is scored, in scores.tsv and the report.")
]
Threads = Annotated[int, typer.Option(help="Threads; the result is the same.")]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on where an interrupted run stopped, if one did.")
]


@dataclass(frozen=True)
class Layout:
    """How an expression file is to be read; the fields are the options of that name."""

    missing: str
    samples: Path | None
    pseudotime: Path | None
    genes_in_rows: bool
    time_column: str | None
    series_column: str | None
    perturbed_until: float | None
    scale: str | None

    @property
    def is_turned(self) -> bool:
        """Whether genes stand in rows."""
        return self.genes_in_rows or self.pseudotime is not None

    def read(self, paths: list[Path]) -> Expression:
        """Read the files, with the scale and the perturbation that are told beside them."""
        from grn_tvcs.expression.formats import read_files
        from grn_tvcs.expression.scales import on_scale

        data = read_files(
            paths,
            samples=self.samples,
            pseudotime=self.pseudotime,
            genes_in_rows=self.genes_in_rows,
            time_column=self.time_column,
            series_column=self.series_column,
            missing=self.missing,
        )
        data = on_scale(data, self.scale)
        if self.perturbed_until is None:
            return data
        if data.perturbed is not None:
            raise ValueError("give a column perturbed or --perturbed-until, not both")
        return data.with_perturbation_until(self.perturbed_until)

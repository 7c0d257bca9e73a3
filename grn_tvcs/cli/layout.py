"""How an expression file is to be read: options that several commands of `grn-tvcs` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvcs_core.command.shell import say

if TYPE_CHECKING:
    from grn_tvcs.expression.expression import Expression


def file_option(about: str) -> Any:
    """Make an option that names a file."""
    return typer.Option(metavar="FILE", help=about)


ExpressionFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="EXPRESSION",
        help="TSV or CSV, plain or .gz, or .xlsx: one row per sample, one column per gene, a "
        "column Time, empty where a sample is at rest (without the column all are); or AnnData's "
        ".h5ad, or GEO's series matrix. "
        "Several files of the same genes are taken together. "
        "Columns series, condition, replicate name the series; without them a blank line or a "
        "time that falls back starts a new one. A column perturbed holds 0 or 1.",
    ),
]
Missing = Annotated[
    str, typer.Option(help="What to do about missing values: error, drop or interpolate.")
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
            metavar="NAME",
            help="Column with the time, of the sheet of samples or of .obs where there is one (a "
            "row, where genes stand in rows); by name or number from 1. Default: time.",
        ),
    ] = None
    sample_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column with names of samples. Default: sample."),
    ] = None
    series_column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Column that names the series; may be given often, for several that do together. "
            "Default: series, condition and replicate, those that there are.",
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Column (or gene, or row where genes stand in rows) that is not used; by name or "
            "number from 1, and as often as you like; * stands for any part of a name.",
        ),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Column that is a gene (or a sample, where genes stand in rows), whatever its "
            "name or numbers look like; as often as you like.",
        ),
    ] = None
    replicates: Annotated[
        str | None,
        typer.Option(
            metavar="unpaired|average",
            help="Where a time comes twice in a series: the k-th of each time makes a series of "
            "its own (other individuals), or their mean counts (repeats of one measurement). "
            "Default: refused.",
        ),
    ] = None
    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sheet of EXPRESSION, for .xlsx.")
    ] = None
    samples_sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sheet of --samples, for .xlsx.")
    ] = None
    layer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Layer instead of X, or raw, for .h5ad."),
    ] = None
    gene_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column of .var that names the genes, for .h5ad. Default: its index.",
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

    def files(self) -> dict[str, Path | None]:
        """The files beside that of expression."""
        return {
            "samples": self.samples,
            "pseudotime": self.pseudotime,
            "lineage_weights": self.lineage_weights,
        }

    def told(self, missing: str) -> dict[str, Any]:
        """Every option that is given here, by name, and what is done about missing values."""
        later = {name: getattr(self, name) for name in ("perturbed_until", "scale", "bins")}
        return self.files() | self.words() | later | {"missing": missing}

    def words(self) -> dict[str, Any]:
        """What `read_layout` is told, apart from files and missing values."""
        return {
            "genes_in_rows": self.genes_in_rows,
            "time_column": self.time_column,
            "sample_column": self.sample_column,
            "series_column": self.series_column,
            "ignore": self.ignore or (),
            "keep": self.keep or (),
            "replicates": self.replicates,
            "sheet": self.sheet,
            "samples_sheet": self.samples_sheet,
            "layer": self.layer,
            "gene_column": self.gene_column,
        }

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

        data = read_files(paths, missing=missing, **self.files(), **self.words())
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

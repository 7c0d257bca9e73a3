"""How an expression file is to be read: options that several commands of `grn-tvcs` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grn_tvcs.expression.options import AUTO, OFF, Options
from tvcs_core.arguments import Help
from tvcs_core.command.shell import print_message

if TYPE_CHECKING:
    from grn_tvcs.expression.expression import Expression


ExpressionFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="EXPRESSION",
        help="TSV or CSV, plain or .gz, or .xlsx, or - for standard input: one row per sample, "
        "one column per gene, a column Time, empty where a sample is in steady state (without the "
        "column all are); or AnnData's .h5ad, or GEO's series matrix. "
        "Several files of the same genes are taken together. "
        "Columns series, condition, replicate name the series; without them a blank line or a "
        "time that falls back starts a new one. A column perturbed holds 0 or 1.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Layout(Options):
    """Options for reading an expression file, and for the steps after it."""

    perturbed_until: Annotated[
        float | None,
        Help("Every series is perturbed from its start until TIME (DREAM: 500).", "TIME"),
    ] = None
    scale: Annotated[
        str | None,
        Help(
            "Scale of the values: levels (linear), log (already logarithms) or counts. "
            "Default: detected from the values and reported.",
            "levels|log|counts",
        ),
    ] = None
    bins: Annotated[
        str | None,
        Help(
            "Average cells in bins of equal size along time, N in each series. Default: "
            "auto, the square root of the number of cells (10 to 50) if a series has more "
            "than 100 points at uneven times.",
            "auto|N|off",
        ),
    ] = None

    @property
    def is_turned(self) -> bool:
        """Whether genes stand in rows."""
        return self.genes_in_rows or self.pseudotime is not None

    def read(self, paths: list[Path], condition: str = "") -> Expression:
        """Read the files, of a condition if there are several; see `prepared`."""
        from grn_tvcs.expression.read import read

        self.wanted_bins()
        return self.prepared(read(paths, self), condition)

    def prepared(self, data: Expression, condition: str = "") -> Expression:
        """Return the expression with the given perturbation and as `bins.prepared` makes it.

        Warnings name the condition, if there is one.

        Raises
        ------
        ValueError
            If the data have a column of perturbations themselves.
        """
        from grn_tvcs.expression.bins import prepared
        from grn_tvcs.expression.user_warnings import warnings_of

        if self.perturbed_until is not None:
            if data.perturbed is not None:
                raise ValueError("give a column perturbed or --perturbed-until, not both")
            data = data.with_perturbation_until(self.perturbed_until)
        bins = self.wanted_bins()
        with warnings_of(condition):
            data = prepared(data, bins, self.scale)
        if isinstance(bins, int):  # `prepared` warns where nobody asked for a number
            print_message(data.notes[-1])
        return data

    def wanted_bins(self) -> int | str:
        """Read ``--bins``: a number or one of its words."""
        if self.bins is None or self.bins in (AUTO, OFF):
            return self.bins or AUTO
        try:
            return int(self.bins)
        except ValueError:
            known = f"{AUTO}, an integer >= 2 or {OFF}"
            raise ValueError(f"--bins must be {known}, found {self.bins!r}") from None

"""How a table of expression is to be read: every option once, for the command line and Python.

A new option is a field of `Options`, and a word in `TAKES` of each format that heeds it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

from tvcs_core.arguments import Help, check_choice, check_type, describe_value, option_name
from tvcs_core.files.display import did_you_mean, joined

MISSING = ("error", "drop", "interpolate")
REPLICATES = ("unpaired", "average")
AUTO, OFF = "auto", "off"  # of bins of cells, and of networks to simulate


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a table of expression is to be read."""

    samples: Annotated[
        Path | None,
        Help(
            "Sheet with columns sample, time and perhaps series, condition, replicate, perturbed; "
            "the first column of EXPRESSION then names the samples.",
            "FILE",
        ),
    ] = None
    pseudotime: Annotated[
        Path | None, Help("BEELINE's PseudoTime.csv; EXPRESSION is ExpressionData.csv.", "FILE")
    ] = None
    lineage_weights: Annotated[
        Path | None,
        Help("Weight of each cell in each lineage, in the columns of --pseudotime.", "FILE"),
    ] = None
    genes_in_rows: Annotated[bool, Help("The first column of EXPRESSION names genes.")] = False
    time_column: Annotated[
        str | None,
        Help(
            "Column with the time, of the sheet of samples or of .obs where there is one (a "
            "row, where genes stand in rows); by name or number from 1. Default: time.",
            "NAME",
        ),
    ] = None
    sample_column: Annotated[
        str | None, Help("Column with names of samples. Default: sample.", "NAME")
    ] = None
    series_column: Annotated[
        Sequence[str],
        Help(
            "Column that names the series; repeat the option to combine several columns. "
            "Default: whichever of series, condition and replicate exist.",
            "NAME",
        ),
    ] = ()
    ignore: Annotated[
        Sequence[str],
        Help(
            "Column (or gene, or row where genes stand in rows) that is not used; by name or "
            "number from 1, and as often as you like; * stands for any part of a name.",
            "NAME",
        ),
    ] = ()
    keep: Annotated[
        Sequence[str],
        Help(
            "Column that is a gene (or a sample, where genes stand in rows), whatever its "
            "name or numbers look like; as often as you like.",
            "NAME",
        ),
    ] = ()
    replicates: Annotated[
        str | None,
        Help(
            "If a time occurs twice in a series: the k-th of each time makes a series of "
            "its own (other individuals), or their mean counts (repeats of one measurement). "
            "Default: refused.",
            "unpaired|average",
        ),
    ] = None
    sheet: Annotated[str | None, Help("Sheet of EXPRESSION, for .xlsx.", "NAME")] = None
    samples_sheet: Annotated[str | None, Help("Sheet of --samples, for .xlsx.", "NAME")] = None
    layer: Annotated[str | None, Help("Layer instead of X, or raw, for .h5ad.", "NAME")] = None
    gene_column: Annotated[
        str | None,
        Help(
            "Column that names the genes where they stand in rows, or of .var. Default: a column "
            "of names beside one of identifiers, else the first; the index of .var.",
            "NAME",
        ),
    ] = None
    gene_names: Annotated[
        Path | None,
        Help(
            "Table that renames genes: two columns, identifier and name. Identifiers match "
            "without version, prefix of a species and case.",
            "FILE",
        ),
    ] = None
    missing: Annotated[
        str, Help("What to do about missing values: error, drop or interpolate.")
    ] = "error"

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(Options).items():
            if hint == str | None:
                check_type(name, getattr(self, name), str, or_none=True)
        check_choice("missing", self.missing, MISSING)
        if self.replicates is not None:
            check_choice("replicates", self.replicates, REPLICATES)
        if self.lineage_weights is not None and self.pseudotime is None:
            raise ValueError(
                f"{option_name('lineage_weights')} are those of cells with pseudotimes: give "
                f"{option_name('pseudotime')} as well, or leave them out"
            )
        if self.samples_sheet is not None and self.samples is None:
            raise ValueError(
                f"{option_name('samples_sheet')} is the sheet of {option_name('samples')}"
            )

    @classmethod
    def of(cls, **words: Any) -> Options:
        """Take options as users of Python give them: of several names one may stand alone.

        Raises
        ------
        TypeError
            If there is no such option, or it is of another kind.
        ValueError
            If options contradict each other.
        """
        known = {field.name: field.default for field in fields(cls)}
        if strangers := [name for name in words if name not in known]:
            raise TypeError(
                f"there is no option {strangers[0]!r}{did_you_mean(strangers[0], known)}; "
                f"the options of reading are {', '.join(known)}"
            )
        made: dict[str, Any] = {
            name: _names(name, value) if known[name] == () else value
            for name, value in words.items()
        }
        return cls(**made)

    def given(self) -> dict[str, Any]:
        """Return the options that are not as they are by default."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if not _is_default(getattr(self, field.name), field.default)
        }

    def refuse_except(self, taken: Collection[str], what: str) -> None:
        """Refuse options that would not be heeded.

        Parameters
        ----------
        taken
            Names of those that count.
        what
            The kind of data, such as ``an .h5ad file``.
        """
        of_reading = {field.name for field in fields(Options)}
        taken = (*taken, "gene_names")  # of genes that are read already
        if wrong := [n for n in self.given() if n in of_reading and n not in taken]:
            options = list(map(option_name, wrong))
            are = "is" if len(options) == 1 else "are"
            raise ValueError(f"{joined(options)} {are} not for {what}")


def _is_default(value: Any, default: Any) -> bool:
    return value is None or (isinstance(value, str | bool | tuple | list) and value == default)


def _names(name: str, given: Any) -> tuple[str, ...]:
    """Take names as users give them: one alone, several or none."""
    if isinstance(given, str):
        return (given,)
    try:
        names = tuple(given or ())
    except TypeError:
        names = (given,)
    if not all(isinstance(one, str) for one in names):
        raise TypeError(f"{name} must be a name or several, found {describe_value(given)}")
    return names


def _help() -> str:
    """Return the options as a section of a docstring."""
    hints = get_type_hints(Options, include_extras=True)
    texts = {name: get_args(hint)[1].text for name, hint in hints.items()}
    lines = "".join(f"    {name}\n        {text}\n" for name, text in texts.items())
    return f"\n\n    Attributes\n    ----------\n{lines}    "


Options.__doc__ = (Options.__doc__ or "") + _help()

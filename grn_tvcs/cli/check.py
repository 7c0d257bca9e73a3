"""The command `grn-tvcs check`: how an expression file is interpreted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grn_tvcs.cli.layout import ExpressionFiles, Layout
from grn_tvcs.cli.options import RegulatorFile
from tvcs_core.command.options import with_options
from tvcs_core.command.shell import guarded, print_message, print_text
from tvcs_core.command.standard_input import files_of
from tvcs_core.files.display import plural, unquoted

FIRST, LAST = 5, 2  # genes
MOST_SHOWN = 12  # series
MOST_TIMES = 10  # of each

if TYPE_CHECKING:
    from grn_tvcs.expression.expression import Expression


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """The options of ``grn-tvcs check``."""

    expression: ExpressionFiles
    regulators: RegulatorFile = None
    layout: Layout


@guarded
@with_options
def check(given: CheckOptions) -> None:
    """Print how EXPRESSION is interpreted: genes, samples, series, spacing, matching names.

    If it is refused, print options that would read it.
    """
    from grn_tvcs.cli.genes import read_gene_names
    from grn_tvcs.expression.readable_options import command_of
    from grn_tvcs.network.programs.edge_list import REGULATOR
    from tvcs_core.files.display import joined

    with files_of(given.expression) as files:
        data = _read(given, files)
    kinds = ("genes", "samples") if given.layout.is_turned else ("samples", "genes")
    print_text(f"orientation  {kinds[0]} in rows, {kinds[1]} in columns")
    print_text("\n".join(f"{name:<13}{fact}" for name, fact in _facts(data).items()))
    options = given.layout.given()
    if given.regulators is not None:
        names = read_gene_names(given.regulators, data, heads=REGULATOR)
        unknown = sorted(names - set(data.genes))
        print_text(f"regulators   {len(names) - len(unknown)} of {len(names)} names are genes")
        if unknown:
            print_text(f"no genes     {joined(unknown)}")
        options |= {"regulators": given.regulators}
    print_text(f"to infer     {command_of(given.expression, options, 'infer')} --out DIR")


def _read(given: CheckOptions, files: list[Path]) -> Expression:
    """Read the files; if they are refused, first print options that would read them."""
    from grn_tvcs.expression.readable_options import command_of, readable_options

    try:
        return given.layout.read(files)
    except ValueError as error:
        ways: dict[str, None] = {}
        for options, data in readable_options(files, error, given.layout):
            n = data.n_series
            series = f"{n} series" if n else "all in steady state"
            n_genes, n_samples = len(data.genes), len(data.levels)
            found = f"{plural(n_genes, 'gene')}, {plural(n_samples, 'sample')}, {series}"
            command = command_of(given.expression, options.given())
            ways[f"this reads it ({found}): {command}"] = None
        for way in ways:
            print_message(way)
        raise


def _facts(data: Expression) -> dict[str, str]:
    from grn_tvcs.expression.expression import spacing
    from grn_tvcs.expression.scales import describe_scale
    from grn_tvcs.inference.samples import unknowable
    from grn_tvcs.methods.table import DEFAULT
    from grn_tvcs.stability.stability import why_no_stability
    from tvcs_core.files.display import joined

    facts = {
        "genes": f"{len(data.genes)}: {_first_and_last(data.genes)}",
        "samples": str(len(data.levels)),
        "series": _series(data),
        **_each_series(data),
        "steady state": f"{data.n_steady} of {len(data.levels)} samples" if data.n_steady else None,
        "spacing": spacing(data) if data.series else None,
        "values": f"{data.levels.min():g} to {data.levels.max():g}",
        "scale": describe_scale(data),
    }
    if data.series:
        on = data.perturbed
        facts["stability"] = why_no_stability(data) or "can be estimated for every edge"
        facts["perturbed"] = "not known" if on is None else f"{on.sum()} of {on.size} samples"
    facts["constant"] = joined(data.constant_genes) or "none"
    facts["not known"] = unknowable(data, DEFAULT)
    return {name: fact for name, fact in facts.items() if fact is not None}


def _first_and_last(genes: Sequence[str]) -> str:
    """Return the first and last genes: columns that are no genes stand at the ends of a table."""
    if len(genes) <= FIRST + LAST:
        return ", ".join(map(unquoted, genes))
    names = [*map(unquoted, genes[:FIRST]), "...", *map(unquoted, genes[-LAST:])]
    return ", ".join(names)


def _each_series(data: Expression) -> dict[str, str]:
    """Return the names of the first series and their times, as a check of the reading."""
    pieces = data.pieces
    shown = {}
    for k, (name, rows) in enumerate(list(pieces.items())[:MOST_SHOWN], start=1):
        times = [f"{time:g}" for time in data.times[rows][: MOST_TIMES + 1]]
        if len(times) > MOST_TIMES:
            times[-1] = f"... {data.times[rows][-1]:g}"
        shown[f"  {k}"] = f"{unquoted(name)}: {', '.join(times)}"
    if len(pieces) > MOST_SHOWN:
        shown["  ..."] = f"{len(pieces) - MOST_SHOWN} more"
    return shown


def _series(data: Expression) -> str:
    lengths = [rows.stop - rows.start for rows in data.pieces.values()]
    if not lengths:
        return "none, no sample has a time"
    low, high = min(lengths), max(lengths)
    points = f"{low}" if low == high else f"{low} to {high}"
    return f"{len(lengths)} of {points} time points"

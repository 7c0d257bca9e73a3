"""Output files of comparisons: tables, run.json and self-contained reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grn_tvcs.comparison.comparison import Comparison
from grn_tvcs.comparison.edges import INTERVAL, KINDS
from grn_tvcs.comparison.finished import KINDS as KINDS_OF_FINISHED
from grn_tvcs.comparison.finished import FinishedRun
from grn_tvcs.comparison.permutations import ALPHA
from grn_tvcs.comparison.picture import Change, drawing
from grn_tvcs.comparison.several import Comparisons
from tvcs_core.command.results import Results
from tvcs_core.files.display import plural
from tvcs_core.files.page import fill_page
from tvcs_core.files.record import tvcs_version

# Rows of the tables of the report.
MAX_LISTED = 200  # significant edges
MAX_CANDIDATES_LISTED = 20  # edges, if none is significant
MAX_GENES_LISTED = 20


def write_files(comparison: Comparison, out: Results, *, command: str = "") -> None:
    """Write all files of a comparison and add its facts to ``run.json``."""
    out.table("differences.tsv", *comparison.table())
    out.table("genes.tsv", *comparison.gene_table())
    out.text("report.html", render(comparison, command=command))
    out.record |= comparison.facts()


def write_pairs(found: Comparisons, out: Results, *, command: str = "") -> None:
    """Write the files of every pair of several conditions, with a page for each."""
    out.table("pairs.tsv", *found.pair_table())
    out.table("differences.tsv", *found.table())
    out.table("genes.tsv", *found.gene_table())
    for number, one in enumerate(found.pairs, start=1):
        out.text(f"pair{number}.html", render(one, command=command))
    out.text("report.html", render_pairs(found, command=command))
    out.record |= found.facts()


def render_pairs(found: Comparisons, *, command: str = "") -> str:
    """Render the report of several conditions, which leads to the pages of the pairs."""
    header, rows = found.pair_table()
    names = dict.fromkeys(name for one in found.pairs for name in one.names)
    return fill_page(
        "grn_tvcs.comparison",
        "pairs.html.j2",
        title=f"{len(names)} conditions: comparison of {len(rows)} pairs of networks",
        header=[name.replace("_", " ") for name in header],
        rows=rows,
        pairs=found.pairs,
        alpha=ALPHA,
        command=command,
    )


def render(comparison: Comparison, *, command: str = "") -> str:
    """Render the report as HTML; `command` reproduces it, if there is one."""
    significant = comparison.significant
    listed = significant[:MAX_LISTED] or comparison.edges[:MAX_CANDIDATES_LISTED]
    header, rows = comparison.gene_table()
    changes = [
        Change(
            e.regulator, e.target, e.kind,
            f"{e.regulator} to {e.target}: {e.kind}, probability {e.probability:.2f}",
        )
        for e in significant
    ]  # fmt: skip
    a, b = comparison.names
    return fill_page(
        "grn_tvcs.comparison",
        "comparison.html.j2",
        title=f"{a} and {b}: comparison of two networks",
        a=a,
        b=b,
        comparison=comparison,
        significant=significant,
        listed=listed,
        header=header,
        gene_rows=rows[:MAX_GENES_LISTED],
        kinds=[(kind, sum(edge.kind == kind for edge in significant)) for kind in KINDS],
        interval=round(100 * INTERVAL),
        alpha=ALPHA,
        methods=methods_paragraph(comparison),
        command=command,
        **drawing(changes),
    )


def methods_paragraph(comparison: Comparison) -> str:
    """Return the methods paragraph of the report."""
    a, b = comparison.names
    n_a, n_b = comparison.n_series
    which = "all" if comparison.permutations == comparison.possible else "random"
    notes = "".join(f" {note}" for note in comparison.notes)
    return (
        f"The networks of {len(comparison.genes)} genes in two conditions, {a} ({n_a} time series) "
        f"and {b} ({n_b}), were compared with tvcs {tvcs_version()}.{notes} For every regulator "
        "and target, the difference between conditions of a lagged regression coefficient was "
        "tested, given the target's own level and its regulators in the pooled data. Whole series "
        f"were permuted between the conditions ({comparison.permutations} permutations, "
        f"{which} of {comparison.possible}); the global test over all genes gave p = "
        f"{comparison.global_p_value:.2g}{_corrected(comparison)}. The probability that an "
        "edge differs, and the false discovery rate, are predictions of a model trained on "
        "simulated pairs of networks; "
        f"{plural(len(comparison.significant), 'edge')} had a false discovery rate of at most "
        f"{comparison.fdr:g}. Intervals are {round(100 * INTERVAL)} % jackknife intervals over "
        "series."
    )


def _corrected(comparison: Comparison) -> str:
    if comparison.n_tests == 1:
        return ""
    return (
        f", {comparison.corrected_p_value:.2g} after Holm's correction for the "
        f"{comparison.n_tests} pairs of conditions that were compared (false discovery rates are "
        "over all of these)"
    )


def render_finished(
    runs: tuple[FinishedRun, FinishedRun],
    names: tuple[str, str],
    table: tuple[Sequence[str], Sequence[Sequence[Any]]],
    remarks: Sequence[str],
    *,
    command: str = "",
) -> str:
    """Render the report of two finished networks; `table` and `remarks` are of `compare_edges`."""
    header, rows = table
    a, b = names
    sides = {"_a": f" in {a}", "_b": f" in {b}"}
    return fill_page(
        "grn_tvcs.comparison",
        "finished.html.j2",
        title=f"{a} and {b}: comparison of two finished networks",
        a=a,
        b=b,
        method=runs[0].method,
        kinds=[(kind, sum(row[2] == kind for row in rows)) for kind in KINDS_OF_FINISHED],
        remarks=remarks,
        rows=rows[:MAX_LISTED],
        n_rows=len(rows),
        header=[head[:-2] + sides[head[-2:]] if head[-2:] in sides else head for head in header],
        methods=_methods_of_finished(runs[0], names, len(rows)),
        command=command,
        **drawing([_change(row, names) for row in sorted(rows, key=_drawing_order)]),
    )


def _drawing_order(row: Sequence[Any]) -> tuple[int, float]:
    """Return the sort key of an edge: by its kind, then by falling score."""
    return KINDS_OF_FINISHED.index(row[2]), -max(float(row[5]), float(row[6]))


def _change(row: Sequence[Any], names: tuple[str, str]) -> Change:
    regulator, target, kind, _, _, a, b = row[:7]
    text = f"{regulator} to {target}: {kind}, score {a} in {names[0]} and {b} in {names[1]}"
    return Change(regulator, target, kind, text)


def _methods_of_finished(run: FinishedRun, names: tuple[str, str], n_edges: int) -> str:
    a, b = names
    return (
        f"Two networks, {a} and {b}, were inferred by {run.method} with tvcs {run.version} and "
        f"compared with tvcs {tvcs_version()}. Each of the {n_edges} edges selected in either "
        "network was classified as gained, lost, reversed (in both, with opposite signs) or "
        "unchanged. The differences were not tested."
    )

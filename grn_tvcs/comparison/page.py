"""Output files of a comparison: tables, run.json and a self-contained report."""

from __future__ import annotations

from grn_tvcs.comparison.comparison import INTERVAL, Comparison
from grn_tvcs.comparison.edges import KINDS
from grn_tvcs.comparison.permutations import ALPHA
from grn_tvcs.comparison.picture import HEIGHT, MAX_DRAWN, RADIUS, WIDTH, draw
from tvcs_core.command.results import Results
from tvcs_core.files.page import fill_page

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


def render(comparison: Comparison, *, command: str = "") -> str:
    """Render the report as HTML; `command` reproduces it, if there is one."""
    significant = comparison.significant
    listed = significant[:MAX_LISTED] or comparison.edges[:MAX_CANDIDATES_LISTED]
    genes, lines = draw(significant)
    header, rows = comparison.gene_table()
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
        genes=genes,
        lines=lines,
        size=(WIDTH, HEIGHT),
        radius=RADIUS,
        most_drawn=MAX_DRAWN,
        interval=round(100 * INTERVAL),
        alpha=ALPHA,
        methods=methods_paragraph(comparison),
        command=command,
    )


def methods_paragraph(comparison: Comparison) -> str:
    """Return the methods paragraph of the report."""
    from tvcs_core.files.record import tvcs_version

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
        f"{comparison.global_p_value:.2g}. The probability that an edge differs, and the false "
        "discovery rate, are predictions of a model trained on simulated pairs of networks; "
        f"{len(comparison.significant)} edges had a false discovery rate of at most "
        f"{comparison.fdr:g}. Intervals are {round(100 * INTERVAL)} % jackknife intervals over "
        "series."
    )

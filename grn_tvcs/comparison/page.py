"""What a comparison leaves: tables, run.json and a report of one file that loads nothing."""

from __future__ import annotations

from grn_tvcs.comparison.comparison import INTERVAL, Comparison
from grn_tvcs.comparison.edges import KINDS
from grn_tvcs.comparison.exchanges import ALPHA
from grn_tvcs.comparison.picture import HEIGHT, MOST_DRAWN, RADIUS, WIDTH, draw
from tvcs_core.command.results import Results
from tvcs_core.files.page import fill_page

MOST_LISTED = 200
NOT_CLAIMED = 20  # of the likeliest that are listed where nothing is claimed
GENES_LISTED = 20


def write_files(comparison: Comparison, out: Results, *, command: str = "") -> None:
    """Write all files of a comparison, and what ``run.json`` says of it."""
    out.table("differences.tsv", *comparison.table())
    out.table("genes.tsv", *comparison.gene_table())
    out.text("report.html", render(comparison, command=command))
    out.record |= comparison.facts()


def render(comparison: Comparison, *, command: str = "") -> str:
    """Write the report as HTML; `command` is how to do it again, if there is one."""
    claimed = comparison.claimed
    listed = claimed[:MOST_LISTED] or comparison.edges[:NOT_CLAIMED]
    genes, lines = draw(claimed)
    header, rows = comparison.gene_table()
    a, b = comparison.names
    return fill_page(
        "grn_tvcs.comparison",
        "comparison.html.j2",
        title=f"{a} and {b}: what differs between two networks",
        a=a,
        b=b,
        found=comparison,
        claimed=claimed,
        listed=listed,
        header=header,
        gene_rows=rows[:GENES_LISTED],
        kinds=[(kind, sum(edge.kind == kind for edge in claimed)) for kind in KINDS],
        genes=genes,
        lines=lines,
        size=(WIDTH, HEIGHT),
        radius=RADIUS,
        most_drawn=MOST_DRAWN,
        interval=round(100 * INTERVAL),
        alpha=ALPHA,
        methods=methods_paragraph(comparison),
        command=command,
    )


def methods_paragraph(comparison: Comparison) -> str:
    """Describe in the past tense what was done, for the methods section of a paper."""
    from tvcs_core.files.record import tvcs_version

    a, b = comparison.names
    n_a, n_b = comparison.n_series
    which = "all" if comparison.exchanges == comparison.possible else "random"
    notes = "".join(f" {note}" for note in comparison.notes)
    return (
        f"The networks of {len(comparison.genes)} genes in two conditions, {a} ({n_a} time series) "
        f"and {b} ({n_b}), were compared with tvcs {tvcs_version()}.{notes} For every regulator "
        "and target the difference between the conditions of a lagged regression was tested, given "
        "the target's own level and the regulators that both conditions together show. Whole "
        f"series were exchanged between the conditions ({comparison.exchanges} exchanges, "
        f"{which} of {comparison.possible}); all genes together gave p = {comparison.whole_p:.2g}. "
        "The chance that an edge differs, and from it the false discovery, was that learned on "
        f"simulated pairs of networks; {len(comparison.claimed)} edges had a false discovery of at "
        f"most {comparison.level:g}. Intervals are {round(100 * INTERVAL)} % intervals by leaving "
        "out one series after the other."
    )

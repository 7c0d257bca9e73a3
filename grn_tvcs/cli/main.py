"""The command `grn-tvcs`: its subcommands, one file each."""

from __future__ import annotations

from grn_tvcs.cli.check import check
from grn_tvcs.cli.compare import compare
from grn_tvcs.cli.convert import convert
from grn_tvcs.cli.infer import infer
from grn_tvcs.cli.score import score
from grn_tvcs.cli.simulate import simulate
from tvcs_core.command.help import grouped
from tvcs_core.command.options import program
from tvcs_core.command.shell import run

app = program("Infer gene regulatory networks from expression over time.")

HELP = {  # the options that matter, by heading
    "Data": "samples genes_in_rows regulators prior reference",
    "Network": "max_edges max_in_degree max_out_degree",
    "Results": "out resume",
}

app.command(cls=grouped(HELP))(infer)
app.command()(score)
app.command()(compare)
app.command()(convert)
app.command()(check)
app.command()(simulate)


def main() -> None:
    """Run the command line."""
    run(app)

"""The command `crowd-tvcs`: its subcommands, one file each."""

from __future__ import annotations

from crowd_tvcs.cli.assign import assign
from crowd_tvcs.cli.campaign.app import app as campaign_app
from crowd_tvcs.cli.desk.serve import app as serve_app
from crowd_tvcs.cli.desk.sync import app as sync_app
from crowd_tvcs.cli.exchange import export, import_answers
from crowd_tvcs.cli.quality import quality
from crowd_tvcs.cli.recorded.agreement import agreement
from crowd_tvcs.cli.recorded.models import models
from crowd_tvcs.cli.recorded.multilabel import multilabel
from crowd_tvcs.cli.recorded.rank import rank
from crowd_tvcs.cli.replay import replay
from crowd_tvcs.cli.simulate import simulate
from crowd_tvcs.cli.verify import verify
from crowd_tvcs.cli.vote import vote
from crowd_tvcs.cli.what_if import what_if
from crowd_tvcs.cli.workers import workers
from tvcs_core.command.help import grouped
from tvcs_core.command.options import program
from tvcs_core.command.shell import run

app = program("Decide which worker labels which task.")

HELP = {  # the options of `assign` that matter, by heading
    "Limits": "budget max_workers_per_task max_tasks_per_worker workers tasks forbidden",
    "Search": "method time_limit seed",
    "Results": "out",
}

app.command()(quality)
app.command()(vote)
app.command()(rank)
app.command()(multilabel)
app.command()(workers)
app.command()(replay)
app.command()(agreement)
app.command()(models)
app.command()(export)
app.command("import")(import_answers)
app.command(cls=grouped(HELP))(assign)
app.command("what-if")(what_if)
app.command()(verify)
app.command()(simulate)
app.add_typer(campaign_app, name="campaign")
app.add_typer(serve_app, name="serve")
app.add_typer(sync_app, name="sync")


def main() -> None:
    """Run the command."""
    run(app)


if __name__ == "__main__":
    main()

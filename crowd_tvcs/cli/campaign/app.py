"""The program `crowd-tvcs campaign`."""

from __future__ import annotations

from crowd_tvcs.cli.campaign import additions, exports, rounds, status
from crowd_tvcs.cli.campaign.init import init
from crowd_tvcs.cli.desk import actions
from crowd_tvcs.cli.desk.change import change
from tvcs_core.command.help import Program

app = Program(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run a campaign: collect labels until they are good enough.",
)
COMMANDS = {
    "init": init,
    "plan": rounds.plan,
    "replan": rounds.replan,
    "pending": rounds.pending,
    "import": additions.import_answers,
    "add": additions.add,
    "status": status.status,
    "review": status.review,
    "export-answers": exports.export_answers,
    "export-remarks": exports.export_remarks,
    "export-labels": exports.export_labels,
    "report": exports.report,
    "next": actions.next_task,
    "change": change,
    "settle": actions.settle,
    "payout": actions.payout,
    "submit": actions.submit,
    "skip": actions.skip,
    "undo": actions.undo,
    "release": rounds.release,
    "reopen": actions.reopen,
    "pause": actions.pause,
    "resume": actions.resume,
    "copy": actions.copy_store,
}
for name, command in COMMANDS.items():
    app.command(name)(command)

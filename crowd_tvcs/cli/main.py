"""The command `crowd-tvcs`: assign, verify, simulate."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowd_tvcs.cli.answers import quality, replay, vote
from crowd_tvcs.cli.campaign import app as campaign_app
from crowd_tvcs.cli.exchange import export, import_answers
from crowd_tvcs.cli.plan_options import Classes, ClassPrior, Confusion, Money, PlanOptions, chances
from tvcs_core.command.shell import FAILED, guarded, refuse_negative_seed, run, say

if TYPE_CHECKING:
    from crowd_tvcs.plan.assignment import Assignment

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Decide which worker labels which task.",
)

app.command()(quality)
app.command()(vote)
app.command()(replay)
app.command()(export)
app.command("import")(import_answers)
app.add_typer(campaign_app, name="campaign")

OutFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder for the results; made if missing.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace the files of a folder in use.")]
Seed = Annotated[int, typer.Option(help="Same seed, same bytes.")]


QualityFile = Annotated[
    Path,
    typer.Argument(
        metavar="QUALITY",
        help="CSV or TSV, plain or .gz. Wide: a column worker, then one column per task. "
        "Long: columns worker, task, quality; pairs that are not listed are not assigned.",
    ),
]
PerTask = Annotated[
    int | None, typer.Option(metavar="N", help="Most answers for a task. Default: no cap.")
]
PerWorker = Annotated[
    int | None, typer.Option(metavar="N", help="Most tasks for a worker. Default: no cap.")
]
Workers = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Of single workers: columns worker and any of max_tasks, cost (of an answer), group "
        "(at most one of it gets a task).",
    ),
]
Tasks = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Of single tasks: columns task and any of prior, min_workers, max_workers.",
    ),
]
Forced = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Pairs that must be: columns worker, task.")
]
Forbidden = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Pairs that may not be: columns worker, task.")
]
Prior = Annotated[
    float, typer.Option(metavar="P", help="Chance that the label of a task is 1, before answers.")
]
Method = Annotated[
    str,
    typer.Option(
        help="best (with a bound on what any plan can reach), fast (under a second), greedy, "
        "tvcs (the paper's), qlp (largest sum of qualities) or random."
    ),
]
TimeLimit = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        help="Take the best found by then; a limit that strikes makes the result depend on the "
        "machine.",
    ),
]


@app.command()
@guarded
def assign(
    quality: QualityFile,
    out: OutFolder,
    max_workers_per_task: PerTask = None,
    max_tasks_per_worker: PerWorker = None,
    budget: Annotated[
        int | None, typer.Option(metavar="N", help="Most answers in all. Default: no cap.")
    ] = None,
    workers: Workers = None,
    tasks: Tasks = None,
    forced: Forced = None,
    forbidden: Forbidden = None,
    prior: Prior = 0.5,
    classes: Classes = None,
    class_prior: ClassPrior = None,
    confusion: Confusion = None,
    money: Money = None,
    method: Method = "best",
    seed: Seed = 0,
    time_limit: TimeLimit = 60.0,
    skills: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="skills.csv of crowd-tvcs quality: say how sure the plan's accuracy is.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Assign workers to tasks; write assignment.csv, summary.json, report.html and run.json.

    The method best also writes prices.csv: what one more task of each worker would be worth, and
    for small plans branches.json where these prices alone do not prove the bound.
    """
    from crowd_tvcs.methods import assign as assign_plan
    from crowd_tvcs.report.assignment import render
    from crowd_tvcs.skills.plan_deviation import with_deviation
    from crowd_tvcs.what_if import around
    from tvcs_core.files.folders import output_folder, write_json
    from tvcs_core.files.record import digests, run_record
    from tvcs_core.files.tables import write_table

    refuse_negative_seed(seed)
    caps = PlanOptions(
        max_workers_per_task, max_tasks_per_worker, workers, tasks, forced, forbidden,
        classes, chances(class_prior, confusion), confusion, money,
    )  # fmt: skip
    plan, layout = caps.read(quality, budget, prior)
    if skills is not None and plan.model is not None:
        raise ValueError("--skills is for two classes and qualities, not for more or --confusion")
    options = caps.options() | {
        "budget": budget,
        "prior": prior,
        "method": method,
        "time_limit": time_limit,
        "skills": skills and skills.name,
    }
    with output_folder(out, force=force) as folder:
        found = assign_plan(plan, method, rng=seed, time_limit=time_limit)
        if skills is not None:
            found = with_deviation(found, skills)
        write_table(folder / "assignment.csv", ["worker", "task"], found.rows(), ",")
        summary = found.summary() | {"classes": caps.class_names(plan)}
        write_json(folder / "summary.json", summary)
        if found.certificate is not None:
            write_table(folder / "prices.csv", ["worker", "price"], found.price_rows(), ",")
        if branches := found.branches():
            write_json(folder / "branches.json", {"leaves": branches})
        command = _command("assign", quality.name, options | {"seed": seed})
        page = render(
            found,
            source=quality.name,
            command=command,
            caps=options,
            curve=around(found, rng=seed),
        )
        (folder / "report.html").write_text(page, encoding="utf-8")
        inputs = [quality, *caps.files(), *([] if skills is None else [skills])]
        outputs = digests(sorted(folder.iterdir()))
        record = run_record(
            "crowd-tvcs assign", options, seed=seed, inputs=inputs, layout=layout, outputs=outputs
        )
        write_json(folder / "run.json", record)
    _say_result(found, out)


@app.command("what-if")
@guarded
def what_if(
    quality: QualityFile,
    budgets: Annotated[
        str, typer.Option(metavar="N,N,...", help="Most answers in all, such as 100,200,400.")
    ],
    max_workers_per_task: PerTask = None,
    max_tasks_per_worker: PerWorker = None,
    workers: Workers = None,
    tasks: Tasks = None,
    forced: Forced = None,
    forbidden: Forbidden = None,
    prior: Prior = 0.5,
    classes: Classes = None,
    class_prior: ClassPrior = None,
    confusion: Confusion = None,
    money: Money = None,
    method: Method = "best",
    seed: Seed = 0,
    time_limit: TimeLimit = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, not a table.")] = False,
) -> None:
    """Print what expected accuracy each budget buys, by an assignment of its own.

    per answer: what one more answer adds, on average since the row above. at most: no assignment
    within the budget does better, where the method proves that (best). certified: the accuracy is
    proved to be within 0.001 of that. The time limit is for all budgets together.
    """
    import json

    from crowd_tvcs.what_if import steps
    from crowd_tvcs.what_if import what_if as what_if_budget

    refuse_negative_seed(seed)
    try:
        wanted = [int(word) for word in budgets.split(",")]
    except ValueError:
        raise ValueError(
            f"--budgets must be integers with commas between, found {budgets!r}"
        ) from None
    caps = PlanOptions(
        max_workers_per_task, max_tasks_per_worker, workers, tasks, forced, forbidden,
        classes, chances(class_prior, confusion), confusion, money,
    )  # fmt: skip
    plan, _ = caps.read(quality, None, prior)
    rows = steps(what_if_budget(plan, wanted, method, rng=seed, time_limit=time_limit))
    if as_json:
        print(json.dumps({"method": method, "seed": seed, "budgets": rows}, indent=2))
        return
    heads = [("budget", 10), ("answers", 10), ("accuracy", 10), ("per answer", 14)]
    heads += [("at most", 10), ("certified", 11)]
    print("".join(f"{head:>{width}}" for head, width in heads))
    for row in rows:
        gain = "" if row["per_answer"] is None else f"{row['per_answer']:+.6f}"
        bound = "" if row["bound"] is None else f"{row['bound']:.4f}"
        print(
            f"{row['budget']:>10}{row['answers']:>10}{row['expected_accuracy']:>10.4f}"
            f"{gain:>14}{bound:>10}{'yes' if row['certified'] else 'no':>11}"
        )
    kept = [str(row["budget"]) for row in rows if row["found_at"] < row["budget"]]
    if kept:
        say(f"{method} found nothing better than a smaller budget's at: {', '.join(kept)}")


@app.command()
@guarded
def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What crowd-tvcs assign wrote.")],
    quality: Annotated[
        Path | None,
        typer.Argument(
            metavar="QUALITY",
            help="The quality table; by default the one named in DIR/run.json, here or beside DIR.",
        ),
    ] = None,
) -> None:
    """Check anew that a plan keeps its caps and that no other can be better than its bound.

    Recomputes the accuracy and the caps from assignment.csv, and the bound from prices.csv by
    pricing every task with code of its own (some minutes for 1,000 tasks). Exit code 0 if
    all is proved, 1 if not, 2 if a file is missing or not the one that was read.
    """
    from crowd_tvcs.verification.verify import verify as verify_plan

    found = verify_plan(folder, quality, say=say)
    for violation in found.violations[:10]:
        say(f"{folder}: {violation}")
    if len(found.violations) > 10:
        say(f"{folder}: and {len(found.violations) - 10} violations more")
    typer.echo(f"expected accuracy  {found.accuracy!r}")
    typer.echo(f"bound              {found.bound!r}")
    typer.echo(f"gap                {found.gap!r}")
    typer.echo(f"proved             {'yes' if found.proved else 'no'}")
    for words in found.unchecked:
        typer.echo(f"not checked        {words}")
    if not found.proved:
        raise SystemExit(FAILED)


@app.command()
@guarded
def simulate(
    out: OutFolder,
    workers: Annotated[int, typer.Option(metavar="N", help="Number of workers.")] = 40,
    tasks: Annotated[int, typer.Option(metavar="N", help="Number of tasks.")] = 120,
    family: Annotated[
        str,
        typer.Option(
            help="iid (every pair on its own, as in the paper), worker (one quality per worker), "
            "skilldiff (skill times ease of the task) or topic (five topics)."
        ),
    ] = "iid",
    low: Annotated[
        float | None, typer.Option(metavar="P", help="Lowest quality of iid, worker; default .5.")
    ] = None,
    high: Annotated[
        float | None, typer.Option(metavar="P", help="Highest quality of iid, worker; default .9.")
    ] = None,
    gold: Annotated[
        int, typer.Option(metavar="N", help="Further tasks with known labels, answered by all.")
    ] = 0,
    recorded: Annotated[
        bool,
        typer.Option(
            "--recorded", help="Also labels.csv and recorded.csv: what all would answer to all."
        ),
    ] = False,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Simulate a crowd; write quality.csv, gold.csv, answers.csv (of gold tasks) and run.json."""
    from crowd_tvcs.simulation import simulate as simulate_crowd
    from crowd_tvcs.simulation import write_crowd
    from tvcs_core.files.folders import output_folder, write_json
    from tvcs_core.files.record import run_record

    refuse_negative_seed(seed)
    crowd = simulate_crowd(workers, tasks, family=family, low=low, high=high, n_gold=gold, rng=seed)
    with output_folder(out, force=force) as folder:
        write_crowd(crowd, folder, recorded=recorded)
        options = {
            "workers": workers,
            "tasks": tasks,
            "family": family,
            "low": low,
            "high": high,
            "gold": gold,
            "recorded": recorded,
        }
        write_json(folder / "run.json", run_record("crowd-tvcs simulate", options, seed=seed))
    say(f"{workers} workers, {tasks} tasks and {gold} gold tasks written to {out}")


def main() -> None:
    """Run the command."""
    run(app)


def _say_result(found: Assignment, out: Path) -> None:
    binding = found.binding()
    say(
        f"{found.size} answers, expected accuracy {found.expected_accuracy:.4f} "
        f"({found.method}, {found.reason})"
    )
    if (spread := found.facts.get("accuracy_deviation")) is not None:
        say(f"the skills are estimates, which makes a standard deviation of {spread:.4f}")
    if found.spent is not None:
        of_all = "" if found.plan.money is None else f" of {found.plan.money:g}"
        say(f"money spent: {found.spent:g}{of_all}")
    say(found.statement)
    say(
        f"caps that bind: {binding['max_workers_per_task']} tasks are full, "
        f"{binding['max_tasks_per_worker']} workers are full, the budget is "
        f"{'used up' if binding['budget'] else 'not used up'}"
    )
    say(f"written to {out}; open {out / 'report.html'}")


def _command(name: str, source: str, options: dict[str, Any]) -> str:
    """The command line as a user would type it, without what does not change the result."""
    words = ["crowd-tvcs", name, source]
    for option, value in options.items():
        if value is not None:
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            words += [f"--{option.replace('_', '-')}", text]
    return shlex.join(words)


if __name__ == "__main__":
    main()

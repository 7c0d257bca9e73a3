"""The command `crowd-tvcs assign`: a plan from tables, with its proof and report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from crowd_tvcs.cli.options import Caps, Crowd, Demands, Search
from tvcs_core.command.options import Force, OutFolder, command_line, number_option, with_options
from tvcs_core.command.results import Results, results
from tvcs_core.command.shell import INTERRUPTED, exit_with_error, guarded, print_message
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from crowd_tvcs.plan.assignment import Assignment
    from crowd_tvcs.plan.plan import Plan
    from crowd_tvcs.search.deadline import Deadline

OF_SEARCH = 0.9  # part of the time left that the method has; the rest is for curve and files
MOST_COMPARED = 200_000  # workers x tasks up to which a cheap method is compared; takes 1 s


@dataclass(frozen=True, kw_only=True)
class AssignOptions:
    """The options of ``crowd-tvcs assign``."""

    crowd: Crowd
    out: OutFolder
    caps: Caps
    budget: Annotated[
        int | None, number_option("Maximum number of answers in all. Default: no cap.")
    ] = None
    demands: Demands
    search: Search
    force: Force = False

    def as_recorded(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values for run.json, with those that the demands imply."""
        out = values | {"class_prior": self.demands.class_chances}
        if self.demands.error == 0.0:
            out.pop("common_error", None)
        else:
            out["common_error"] = self.demands.error
        return out

    def inputs(self) -> list[Path]:
        """Return every file that is read."""
        return [self.crowd.table(self.demands), *self.demands.files()]


@guarded
@with_options
def assign(given: AssignOptions) -> None:
    """Assign workers to tasks; write assignment.csv, summary.json, report.html and run.json.

    The method best also writes prices.csv, the value of one more task of each worker. For small
    plans it writes branches.json if these prices alone do not prove the bound.
    """
    from crowd_tvcs.methods import assign_until, check_time_limit, method_for
    from crowd_tvcs.search.deadline import Deadline
    from crowd_tvcs.skills.accuracy_forecast import with_forecast

    search, demands = given.search, given.demands
    check_time_limit(search.time_limit)
    deadline = Deadline.after(search.time_limit)
    plan, layout = given.crowd.read(demands, given.caps, given.budget)
    demands.print_dependence(plan)
    classes = demands.class_names(plan)
    method_for(plan, search.method)
    with _results(given, layout) as out:
        is_best = search.method == "best"
        by_fast = _tried_first(plan, search.seed, deadline) if is_best else None
        found = assign_until(
            deadline.part(OF_SEARCH), plan, search.method, rng=search.seed,
            keep_on_interrupt=is_best,
        )  # fmt: skip
        if demands.forecast_model is not None and plan.is_table:
            found = with_forecast(found, demands.forecast_model)
        _write(found, given, classes, out, deadline)
    _print_result(found, given.out, by_fast)
    _print_better_method(found, search.seed, deadline)
    if found.reason.startswith("interrupted"):
        exit_with_error("interrupted: the plan is the best found until then", INTERRUPTED)


def _tried_first(plan: Plan, seed: int, deadline: Deadline) -> float | None:
    """Print and return what --method fast expects, before best goes on; None if it takes long."""
    from crowd_tvcs.methods import METHODS, assign_until

    is_able = METHODS["fast"].honours.issuperset(plan.demands)
    if not is_able or not plan.is_table or plan.table.values.size > MOST_COMPARED:
        return None
    expected = assign_until(deadline, plan, "fast", rng=seed).expected_accuracy
    print_message(
        f"--method fast expects {expected:.4f}; best looks for more, and Ctrl-C writes the best "
        "plan found by then"
    )
    return expected


def _print_better_method(found: Assignment, seed: int, deadline: Deadline) -> None:
    """Print it if a cheap method finds a better plan than the requested one in the time left."""
    from crowd_tvcs.methods import METHODS, assign_until
    from crowd_tvcs.plan.proof import CLOSED

    plan, cheap = found.plan, "random" if found.method == "fast" else "fast"
    is_able = METHODS[cheap].honours.issuperset(plan.demands)
    is_small = plan.is_table and plan.table.values.size <= MOST_COMPARED
    if found.method == "best" or deadline.has_passed or not (is_able and is_small):
        return
    other = assign_until(deadline, plan, cheap, rng=seed).expected_accuracy
    if other > found.expected_accuracy + CLOSED:
        print_message(
            f"--method {cheap} is faster and expects {other:.4f}, which is "
            f"{other - found.expected_accuracy:.4f} more; use it, or best"
        )


@contextmanager
def _results(given: AssignOptions, layout: str) -> Iterator[Results]:
    """Yield the results to fill; run.json gets the hashes of all files and the paths of inputs."""
    from crowd_tvcs.verification.tables import path_from
    from tvcs_core.files.record import digests

    inputs = given.inputs()
    with results(
        "crowd-tvcs assign", given, seed=given.search.seed, inputs=inputs, layout=layout
    ) as out:
        for entry, path in zip(out.record["inputs"], inputs, strict=True):
            entry["path"] = path_from(given.out, path)
        yield out
        out.record["outputs"] = digests(sorted(out.folder.iterdir()))


def _write(
    found: Assignment, given: AssignOptions, classes: list[str], out: Results, deadline: Deadline
) -> None:
    """Write the plan, its proof and its report."""
    from crowd_tvcs.report.assignment import render
    from crowd_tvcs.what_if import around

    out.table("assignment.csv", ["worker", "task"], found.rows())
    if not found.plan.is_table:
        heads = ["task", "answers", "expected_accuracy"]
        out.table("accuracy.csv", heads, found.task_rows())
    out.json("summary.json", found.summary() | {"classes": classes})
    if found.certificate is not None:
        out.table("prices.csv", ["worker", "price"], found.price_rows())
    if branches := found.branches():
        out.json("branches.json", {"leaves": branches})
    is_table, model = found.plan.is_table, given.demands.dependence_model
    command = _command(given.crowd.quality, out.record)
    curve = around(found, rng=out.record["seed"], deadline=deadline) if is_table else None
    if is_table and curve is None:
        print_message(f"the report shows no other budgets, as the time limit of {deadline} is near")
    page = render(
        found,
        source=out.record["inputs"][0]["file"],
        command=command,
        caps=out.record["parameters"],
        curve=curve,
        measured=model.measured if is_table and model is not None else (),
    )
    out.text("report.html", page)


def _command(quality: Path | None, record: dict[str, Any]) -> str:
    """Return the command that repeats the run, with the numbers of the class prior."""
    options = record["parameters"] | {"seed": record["seed"]}
    if options["class_prior"] is not None:
        options["class_prior"] = ",".join(map(str, options["class_prior"]))
    words = ["crowd-tvcs", "assign"] + ([] if quality is None else [quality.name])
    return command_line(words, options)


def _print_result(found: Assignment, out: Path, by_fast: float | None) -> None:
    from crowd_tvcs.skills.accuracy_forecast import AccuracyForecast

    binding = found.binding()
    print_message(
        f"{plural(found.size, 'answer')}, expected accuracy {found.expected_accuracy:.4f} "
        f"({found.method}, {found.reason})"
    )
    if by_fast is not None:
        more = found.expected_accuracy - by_fast
        how_much = f"{more:.4f} more than" if more >= 0.00005 else "no more than"
        print_message(f"{how_much} --method fast expects")
    if (forecast := found.facts.get("forecast")) is not None:
        print_message(str(AccuracyForecast(**forecast)))
    if found.spent is not None:
        of_all = "" if found.plan.money is None else f" of {found.plan.money:g}"
        print_message(f"money spent: {found.spent:g}{of_all}")
    print_message(found.statement)
    full_tasks, full_workers = binding["max_workers_per_task"], binding["max_tasks_per_worker"]
    caps = {
        f"workers per task ({full_tasks} of {len(found.answers)} tasks)": full_tasks,
        f"tasks per worker ({full_workers} of {len(found.loads)} workers)": full_workers,
        "budget": binding["budget"],
    }
    print_message(f"caps reached: {', '.join(cap for cap in caps if caps[cap]) or 'none'}")
    print_message(f"written to {out}; open {out / 'report.html'}")

"""Options of `crowd-tvcs assign` and `what-if` that describe the plan, and shared ones."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowd_tvcs.answers.rows import check_limit_currency
from crowd_tvcs.cli.answers import money_option, share_option
from crowd_tvcs.methods import METHODS
from tvcs_core.arguments import Help
from tvcs_core.command.options import WHERE_GIVEN, Seed, file_option, number_option
from tvcs_core.command.shell import print_message
from tvcs_core.lazy import choices

if TYPE_CHECKING:
    from crowd_tvcs.plan.plan import Plan
    from crowd_tvcs.skills.accuracy_forecast import ForecastModel
    from crowd_tvcs.skills.dependence import Dependence

# Options of a plan by kinds of tasks, apart from the tables of kinds and tasks.
KNOWN = (
    "workers", "tasks", "prior", "classes", "class_prior", "max_workers_per_task",
    "max_tasks_per_worker", "budget",
)  # fmt: skip

QualityFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[QUALITY]",
        help="CSV or TSV, plain or .gz. Wide: a column worker, then one column per task. "
        "Long: columns worker, task, quality; pairs that are not listed are not assigned. "
        "In its place --kinds.",
    ),
]
KindsFile = Annotated[
    Path | None,
    file_option(
        "For very many tasks, in place of QUALITY: the quality of each worker on each kind "
        "of task. Wide: a column worker, then one column per kind. Long: columns worker, "
        "kind, quality. --tasks then has a column kind."
    ),
    WHERE_GIVEN,
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, not a table.")]


@dataclass(frozen=True, kw_only=True)
class Caps:
    """Caps for every task and every worker that has none of its own."""

    max_workers_per_task: Annotated[
        int | None,
        number_option("Maximum number of answers to a task without its own. Default: no cap."),
    ] = None
    max_tasks_per_worker: Annotated[
        int | None,
        number_option("Maximum number of tasks of a worker without their own. Default: no cap."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Demands:
    """Constraints of a plan besides `Caps` and the budget: tables, classes, limit on money."""

    workers: Annotated[
        Path | None,
        file_option(
            "Table of workers: column worker and any of max_tasks, cost (or minutes) of an "
            "answer, group (a task gets at most one worker of a group)."
        ),
    ] = None
    tasks: Annotated[
        Path | None,
        file_option("Table of tasks: column task and any of prior, min_workers, max_workers."),
    ] = None
    forced: Annotated[
        Path | None, file_option("Pairs that must be assigned: columns worker, task.")
    ] = None
    forbidden: Annotated[
        Path | None, file_option("Pairs that must not be assigned: columns worker, task.")
    ] = None
    prior: Annotated[
        float, share_option("Probability that the label of a task is 1, before any answer.")
    ] = 0.5
    classes: Annotated[
        int | None,
        Help("Number of classes. Default: those of --confusion or --class-prior, else 2.", "K"),
    ] = None
    class_prior: Annotated[
        str | None,
        Help(
            "Probability of every class, or a classes.csv of crowd-tvcs quality. Default: equal.",
            "P,P,...",
        ),
    ] = None
    confusion: Annotated[
        Path | None,
        file_option(
            "Confusion matrices: columns worker, label (the true one), answer, probability. "
            "Used instead of the qualities."
        ),
    ] = None
    money: Annotated[
        float | None,
        money_option(
            "Maximum total cost of all answers, in the unit of the column cost of --workers."
        ),
    ] = None
    common_error: Annotated[
        float | None,
        Help(
            "Probability that a task misleads every worker in the same way, as if it belonged "
            "to a class drawn from its prior. It lowers the value of additional answers, not of "
            "a single one. Default: that of --dependence, else 0.",
            "E",
        ),
        WHERE_GIVEN,
    ] = None
    dependence: Annotated[
        Path | None,
        file_option(
            "dependence.json of crowd-tvcs quality: use its common error, unless "
            "--common-error is given, and forecast the accuracy of the plan."
        ),
        WHERE_GIVEN,
    ] = None

    @cached_property
    def dependence_model(self) -> Dependence | None:
        """The content of ``--dependence``."""
        from crowd_tvcs.skills.dependence import read_dependence

        return None if self.dependence is None else read_dependence(self.dependence)

    @property
    def error(self) -> float:
        """The common error."""
        if self.common_error is not None:
            return self.common_error
        return 0.0 if self.dependence_model is None else self.dependence_model.plan_error

    @property
    def forecast_model(self) -> ForecastModel | None:
        """The forecast model of the file, if it was fitted for this common error."""
        model = self.dependence_model
        return None if model is None or model.plan_error != self.error else model.forecast_model

    def print_dependence(self, plan: Plan) -> None:
        """Print the common error of the file, and why it gives no forecast for such plans."""
        path, model = self.dependence, self.dependence_model
        if model is None:
            return
        if model.plan_error == self.error:
            print_message(f"{path}: the common error of the crowd is {self.error:.3f}")
            if model.forecast_model is not None and not plan.is_table:
                print_message(f"{path}: no accuracy forecast for large crowds with --kinds")
        elif model.forecast_model is not None:
            own = f"its own common error only, {model.plan_error:.3f}"
            print_message(f"{path}: no accuracy forecast, which is for {own}")

    def given(self, caps: Caps, budget: int | None) -> dict[str, Any]:
        """Return the options of a plan as `read_plan` takes them."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        del given["dependence"]
        if self.workers is not None:
            check_limit_currency(self.workers, self.money)
        given |= vars(caps) | {"class_prior": self.class_chances, "budget": budget}
        return given | {"common_error": self.error}

    def files(self) -> list[Path]:
        """The files that were given."""
        tables = (self.workers, self.tasks, self.forced, self.forbidden, self.confusion)
        every = (*tables, self.dependence)
        return [path for path in every if path is not None]

    def class_names(self, plan: Plan) -> list[str]:
        """The class names of the confusion matrices; numbers from 0 without them."""
        from crowd_tvcs.answers.confusion import read_confusion

        if self.confusion is None:
            return [str(k) for k in range(plan.n_classes)]
        return list(read_confusion(self.confusion, plan.quality.workers)[0])

    @cached_property
    def class_chances(self) -> list[float] | None:
        """The numbers of ``--class-prior``, or the class shares of its file by class."""
        given = self.class_prior
        if given is not None and Path(given).is_file():
            from crowd_tvcs.answers.class_prevalence import read_prevalence

            shares = read_prevalence(given)
            return [shares[name] for name in (sorted(shares) if self.confusion else shares)]
        try:
            return None if given is None else [float(word) for word in given.split(",")]
        except ValueError:
            raise ValueError(
                f"--class-prior must be numbers with commas between, or a file, found {given!r}"
            ) from None


@dataclass(frozen=True, kw_only=True)
class Search:
    """Options of the search for a plan."""

    method: Annotated[str, Help(f"{choices(METHODS.values())}.")] = "best"
    seed: Seed = 0
    time_limit: Annotated[
        float,
        Help(
            "Seconds of waiting for the whole command, without the start of the program and "
            "compiling. The best plan found by then is returned. If the limit is reached, results "
            "may differ between machines.",
            "SECONDS",
        ),
    ] = 60.0


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """The table of worker qualities: of tasks, or of kinds of tasks."""

    quality: QualityFile = None
    kinds: KindsFile = None

    def table(self, demands: Demands) -> Path:
        """Return QUALITY, or the table of ``--kinds``."""
        if self.quality is not None and self.kinds is not None:
            raise ValueError("give QUALITY or --kinds, not both")
        if self.quality is not None:
            return self.quality
        if self.kinds is None:
            raise ValueError("must have QUALITY, or --kinds with --tasks")
        if demands.tasks is None:
            raise ValueError("--kinds needs --tasks, a table with the columns task and kind")
        return self.kinds

    def read(self, demands: Demands, caps: Caps, budget: int | None) -> tuple[Plan, str]:
        """Read all tables; return the plan, and how the qualities were interpreted.

        A plan by kinds is one of workers x tasks if that is small enough.

        Raises
        ------
        ValueError
            If the crowd is large and an option is given that only smaller plans support.
        """
        from crowd_tvcs.answers.quality import read_quality
        from crowd_tvcs.factors.tables import MOST_PAIRS, read_factored_plan, read_factors
        from crowd_tvcs.plan.tables import read_plan

        path = self.table(demands)
        given = demands.given(caps, budget)
        if self.kinds is None:
            table = read_quality(path)
            print_message(f"{path}: {table.layout}")
            plan = read_plan(table.quality, **given)
            _warn_of_classes(path, plan.n_classes)
            return plan, table.layout
        assert demands.tasks is not None
        read = read_factors(path, demands.tasks)
        print_message(f"{path}: {read.layout}")
        if read.fits:
            return read_plan(read.factors.quality(), **given, has_kinds=True), read.layout
        for name, value in given.items():
            is_none = value is None or (name == "common_error" and not value)
            if name not in KNOWN and not is_none:
                option = name.replace("_", "-")
                if name == "common_error" and demands.common_error is None:
                    option = "dependence"
                shape = " x ".join(map(str, read.factors.shape))
                raise ValueError(
                    f"--{option} is for crowds whose workers x tasks are at most {MOST_PAIRS}, "
                    f"found {shape}: leave it out, or plan parts of the tasks one by one"
                )
        known = {name: given[name] for name in KNOWN if name != "tasks"}
        return read_factored_plan(read, **known), read.layout


def _warn_of_classes(path: Path, n_classes: int) -> None:
    """Warn if the classes.csv beside a table of qualities has more classes than the plan."""
    from crowd_tvcs.answers.class_prevalence import read_prevalence
    from tvcs_core.files.errors import DataError

    beside = path.with_name("classes.csv")
    found = 0
    if beside.is_file():
        with suppress(DataError):  # a table of something else
            found = len(read_prevalence(beside))
    if found > n_classes:
        print_message(
            f"warning: {beside} has {found} classes, but the plan has {n_classes}; give "
            f"--classes {found}, or --class-prior {beside}"
        )

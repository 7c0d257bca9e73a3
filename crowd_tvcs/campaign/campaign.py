"""A campaign: from gold answers to labels, every step in one store that many may use at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crowd_tvcs.campaign import leases
from crowd_tvcs.campaign.desk.desk import Desk
from crowd_tvcs.campaign.desk.turns import OPERATOR, Note, write_down
from crowd_tvcs.campaign.entries import (
    Line,
    Round,
    Task,
    Worker,
    gold_of,
    lines_of,
    require_text,
    tasks_of,
    workers_of,
)
from crowd_tvcs.campaign.settings import count_of, require_round, within
from crowd_tvcs.campaign.store import queries, schema
from crowd_tvcs.campaign.store.errors import Overtaken
from crowd_tvcs.campaign.store.store import Store
from tvcs_core.arguments import require_kind, require_number

if TYPE_CHECKING:
    from crowd_tvcs.answers.quality import Quality
    from crowd_tvcs.campaign.state import State
    from crowd_tvcs.campaign.stopping import Standing
    from crowd_tvcs.campaign.tables import Qualities

# A process that only claims and submits must start quickly, so the modules that need NumPy,
# SciPy and numba are imported by the methods that use them.

TRIES = 3
"""How often a plan is made anew because answers came in meanwhile."""


class Campaign(Desk):
    """A campaign that is there; `Campaign.create` makes one.

    Every method is one transaction: it happens whole or not at all, whoever else is at work, and a
    process that is killed leaves the store as it was before.

    Parameters
    ----------
    place
        Path of an SQLite file, or a ``postgresql://`` URL.

    Raises
    ------
    DataError
        If there is no store, or it is of another version.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = pathlib.Path(folder.name) / "animals.db"
    >>> campaign = Campaign.create(
    ...     store, workers=["ann", "bob"], tasks=["t1"], qualities={"ann": .9, "bob": .7}, budget=2)
    >>> campaign.next("ann").task, round(campaign.submit("ann", "t1", "1").confidence, 3)
    ('t1', 0.878)
    >>> campaign.close(); folder.cleanup()
    """

    def __init__(self, place: str | Path) -> None:
        self.store = Store(place)
        try:
            self.store.check()
        except BaseException:
            self.store.close()
            raise

    @classmethod
    def create(
        cls,
        place: str | Path,
        *,
        workers: Iterable[str | Worker],
        tasks: Iterable[str | Task],
        qualities: Qualities | None = None,
        kinds: Quality | None = None,
        gold: Mapping[str, str] | None = None,
        gold_answers: Iterable[Line | tuple[str, str, str]] = (),
        classes: Sequence[str] = ("0", "1"),
        prior: float | Sequence[float] | None = None,
        budget: int | None = None,
        money: float | None = None,
        max_workers_per_task: int | None = None,
        max_tasks_per_worker: int | None = None,
        gate: float = 0.0,
        target: float = 1.0,
        least_gain: float | None = None,
        model: str = "dependent",
        lease_seconds: float = 900.0,
        seed: int = 0,
    ) -> Campaign:
        """Make a new store.

        Parameters
        ----------
        place
            A new SQLite file, or the URL of an empty database.
        workers, tasks
            Names, or `Worker` and `Task`.
        qualities
            Accuracy per worker, or a `Quality` of the pairs that may be assigned.
        kinds
            In their place a `Quality` of workers on kinds of tasks; every `Task` has a kind then.
        gold, gold_answers
            Known labels of tasks, and answers (task, worker, label) to them: without `qualities`,
            they are estimated from these.
        classes
            The labels there may be, at least two.
        prior
            Chance of the second of two classes before answers, or one per class. None for the
            class shares of `gold`, which must be a random sample of the tasks then (see
            `answers.class_prevalence`), and for equal ones without gold. Gold that is added later
            does not change them.
        budget, money
            Most labels, and most money for them, in the unit of the workers' costs, of which each
            needs one then; None for no limit.
        max_workers_per_task, max_tasks_per_worker
            Caps of tasks and workers that have none of their own.
        gate
            Least quality of a worker who gets a task, by `next` or in a round.
        target
            A task is done once its label has this posterior; with a dependent model and enough
            gold, once gold shows that so many of such labels are right.
        least_gain
            A task whose next labels are expected to add less than this to its accuracy, each, is
            not handed out, unless its minimum asks for them. None for `DEFAULT_MIN_GAIN` beside a
            target below 1 in a dependent model, and for no such rule otherwise.
        model
            ``"dependent"``: what several answers are worth together is fitted to the gold answers
            (`crowd_tvcs.skills.dependence`), and usual without them. ``"independent"``: Bayes'
            rule for workers who err independently.
        lease_seconds
            How long a task that `next` gave stays reserved.
        seed
            Of the plans: same store, same plan.

        Raises
        ------
        DataError
            If the place is in use.
        ValueError
            If an argument does not hold what it must.
        """
        from crowd_tvcs.campaign.beginning import First, begin

        begin(
            place,
            First(workers, tasks, qualities, kinds, gold, gold_answers),
            classes=classes,
            prior=prior,
            budget=budget,
            money=money,
            max_workers_per_task=max_workers_per_task,
            max_tasks_per_worker=max_tasks_per_worker,
            gate=gate,
            target=target,
            least_gain=least_gain,
            model=model,
            lease_seconds=lease_seconds,
            seed=seed,
        )
        return cls(place)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> Campaign:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def state(self) -> State:
        """Read everything, as of one moment."""
        from crowd_tvcs.campaign.state import read_state

        with self.store.read() as (connection, settings):
            return read_state(connection, settings)

    def plan(
        self,
        *,
        labels: int | None = None,
        method: str | None = None,
        time_limit: float | None = None,
        least_gain: float | None = None,
        quick: bool = False,
    ) -> Round:
        """Plan the rest of the budget by the posteriors, and issue it.

        What was issued before stays. Planning holds nobody up: if the store changes meanwhile the
        plan is made anew, at most `TRIES` times.

        Parameters
        ----------
        labels
            Most labels of this round; None for all that is left.
        method, time_limit
            As for `crowd_tvcs.assign`. No method means ``"best"``, or the first one that honours
            money and groups where there are some. A time limit that strikes makes the plan depend
            on the machine.
        least_gain
            Least expected accuracy per label that new labels of a task must add to it; None for
            that of the campaign.
        quick
            No method means the first one that takes seconds, for a plan while answers come in.

        Raises
        ------
        ValueError
            If an argument is out of its range, the method does not honour what is demanded, or
            nothing can be planned.
        Overtaken
            If answers, claims or other rounds kept coming in.
        """
        from crowd_tvcs.campaign import rounds

        count_of("labels", labels)
        require_kind("quick", quick, bool)
        if least_gain is not None:
            within("least_gain", least_gain, 0.0, 1.0)
        for _ in range(TRIES):
            state = self.state()
            found = rounds.propose(
                state,
                labels=labels,
                method=method,
                time_limit=time_limit,
                least_gain=least_gain,
                quick=quick,
            )
            with self.store.write() as (connection, settings, _):
                if settings.revision != state.settings.revision + 1:
                    # Else planners at once would overtake one another by trying.
                    queries.RETURN_TURN(connection)
                    continue
                number = rounds.issue(connection, state, settings, found)
                said = f"round {number}: {len(found.pairs)} labels"
                write_down(connection, Note(OPERATOR, "plan", detail=said))
            workers, tasks = state.factors.table.workers, state.factors.tasks
            pairs = [(workers[i], tasks[j]) for i, j in found.pairs.tolist()]
            return Round(
                number,
                pairs,
                found.method,
                found.reason,
                found.expected_accuracy,
                found.bound,
                found.left_out,
                found.standard_error,
                found.foreseen,
            )
        raise Overtaken(
            f"{self.store.name}: answers, claims or other rounds came in during all {TRIES} plans; "
            "a quicker method, such as fast, may be in time; nothing was issued"
        )

    def take(self, lines: Iterable[Line | tuple[str, str, str]]) -> dict[str, int]:
        """Take answers (task, worker, label), all or none.

        Returns how many were ``accepted``, ``late`` (accepted too), ``known`` already, and ``gold``
        (new answers to gold tasks, which make the qualities better).

        Raises
        ------
        DataError, ValueError
            Naming file and line of the first answer that cannot be taken.
        """
        from crowd_tvcs.campaign import intake

        listed = lines_of("lines", lines)
        with self.store.write() as (connection, settings, _):
            return intake.take_answers(connection, settings, listed)

    def add(
        self,
        *,
        workers: Iterable[str | Worker] = (),
        tasks: Iterable[str | Task] = (),
        qualities: Qualities | None = None,
        kinds: Quality | None = None,
        gold: Mapping[str, str] | None = None,
        gold_answers: Iterable[Line | tuple[str, str, str]] = (),
        address: str | None = None,
    ) -> None:
        """Add workers, tasks, qualities or gold; issued pairs stay.

        Where qualities come from gold, a new worker has the mean of the crowd until they answer
        gold tasks. Arguments and errors as for `create`.
        """
        from crowd_tvcs.campaign import intake

        require_text("address", address, or_none=True)
        lines, gold = lines_of("gold_answers", gold_answers), gold_of(gold)
        listed, wanted = workers_of(workers), tasks_of(tasks)
        with self.store.write() as (connection, settings, _):
            intake.add_workers(connection, settings, listed)
            if kinds is not None:
                intake.add_kinds(connection, settings, kinds)
            intake.add_tasks(connection, settings, wanted)
            if qualities is not None:
                if settings.source == "gold":
                    raise ValueError("the qualities of this campaign come from gold answers")
                intake.set_qualities(connection, settings, qualities)
            if gold or lines:
                intake.add_gold(connection, settings, gold, lines)
            elif listed and settings.source == "gold":
                intake.estimate(connection, settings)
            intake.settle_all(connection)
            new: dict[str, Any] = {
                "workers": listed,
                "tasks": wanted,
                "gold labels": gold,
                "gold answers": lines,
            }
            said = [f"{len(of)} {what}" for what, of in new.items() if of]
            said += ["qualities"] if qualities is not None else []
            said += ["kinds"] if kinds is not None else []
            write_down(connection, Note(OPERATOR, "add", None, ", ".join(said), address))

    def stop(
        self,
        *,
        least_gain: float | None = None,
        value: float | None = None,
        target: float | None = None,
        close: bool = False,
        address: str | None = None,
    ) -> list[Standing]:
        """Judge for every task whether a further label is worth its price.

        Parameters
        ----------
        least_gain
            Least expected accuracy of a task that a label must add; None for the campaign's.
        value
            Value of a correct label in money, so that a label must add its cost; None: costs are
            not looked at.
        target
            Share of right labels among those that are called sure; None for the campaign's.
        close
            Close the tasks that are not worth a label: no plan and no `next` gives them out again,
            until `reopen`.
        """
        from crowd_tvcs.campaign import intake
        from crowd_tvcs.campaign.state import read_state
        from crowd_tvcs.campaign.stopping import stand

        require_kind("close", close, bool)
        require_text("address", address, or_none=True)
        if least_gain is not None:
            within("least_gain", least_gain, 0.0, 1.0)
        if value is not None:
            within("value", value, 0.0, 1e12)
        if target is not None:
            within("target", target, 0.0, 1.0)
        asked = {"least_gain": least_gain, "value": value, "target": target}
        if not close:
            return stand(self.state(), **asked)
        with self.store.write() as (connection, settings, _):
            found = stand(read_state(connection, settings), **asked)
            names = [one.task for one in found if one.verdict == "not worth it"]
            intake.set_closed(connection, names, 1)
            for name in names:
                write_down(connection, Note(OPERATOR, "close", name, "not worth it", address))
        return found

    def reopen(self, *, address: str | None = None) -> int:
        """Open all closed tasks again; how many they were."""
        from crowd_tvcs.campaign import intake

        require_text("address", address, or_none=True)
        with self.store.write() as (connection, _, _):
            closed = select(schema.task.c.name).where(schema.task.c.closed == schema.CLOSED)
            names = sorted(connection.scalars(closed))
            intake.set_closed(connection, names, 0)
            for name in names:
                write_down(connection, Note(OPERATOR, "reopen", name, None, address))
        return len(names)

    def release(self, number: int) -> int:
        """Release the unanswered pairs of a round; return the number of freed slots.

        An answer that comes nevertheless is taken as a late one.

        Raises
        ------
        ValueError
            If there is no such round.
        """
        require_number("number", number, whole=True)
        with self.store.write() as (connection, settings, _):
            require_round(number, settings)
            released = leases.release(connection, settings, number)
            said = f"round {number}: {released} labels"
            write_down(connection, Note(OPERATOR, "release", detail=said))
            return released

    def issued(self, number: int | None = None) -> list[tuple[str, str, int]]:
        """Return (worker, task, round) of pending pairs, of one round or of all."""
        if number is not None:
            require_number("number", number, whole=True)
        with self.store.read() as (connection, settings):
            if number is not None:
                require_round(number, settings)
            rows = [tuple(row) for row in queries.ISSUED_PAIRS(connection)]
            return sorted((w, t, r) for w, t, r in rows if number in (None, r))

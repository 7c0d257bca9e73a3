"""A campaign: from gold answers to labels, every step in one store that many may use at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crowd_tvcs.campaign import leases
from crowd_tvcs.campaign.change.changeable import Changeable
from crowd_tvcs.campaign.desk.actions import OPERATOR, write_audit
from crowd_tvcs.campaign.desk.desk import Desk
from crowd_tvcs.campaign.entries import AnswerRecord, Round, Task, Worker, parse_answers
from crowd_tvcs.campaign.settings import check_round
from crowd_tvcs.campaign.store import queries
from crowd_tvcs.campaign.store.errors import ConcurrentUpdateError
from crowd_tvcs.campaign.store.store import Store
from tvcs_core.arguments import check_number
from tvcs_core.files.display import plural

if TYPE_CHECKING:
    from crowd_tvcs.answers.quality import Qualities, Quality
    from crowd_tvcs.campaign.planning.proposal import RoundRequest
    from crowd_tvcs.campaign.state import State

# A process that only claims and submits must start quickly, so the modules that need NumPy,
# SciPy and numba are imported by the methods that use them.

MAX_TRIES = 3
"""How often a plan is made anew because answers came in meanwhile."""


class Campaign(Desk, Changeable):
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
        gold_answers: Iterable[AnswerRecord | tuple[str, str, str]] = (),
        classes: Sequence[str] = ("0", "1"),
        answer_kind: str = "class",
        prior: float | Sequence[float] | None = None,
        budget: int | None = None,
        money: float | None = None,
        max_workers_per_task: int | None = None,
        max_tasks_per_worker: int | None = None,
        min_quality: float = 0.0,
        target: float = 1.0,
        min_gain: float | None = None,
        model: str = "dependent",
        lease_seconds: float = 900.0,
        seed: int = 0,
    ) -> Campaign:
        """Create a new store.

        Parameters
        ----------
        place
            A new SQLite file, or the URL of an empty database.
        workers, tasks
            Names, or `Worker` and `Task`.
        qualities
            Accuracy per worker, or a `Quality` of the pairs that may be assigned.
        kinds
            Qualities of workers on kinds of tasks, in place of `qualities`; every `Task` then has a
            kind.
        gold, gold_answers
            Known labels of tasks, and answers (task, worker, label) to them: without `qualities`,
            they are estimated from these.
        classes
            The possible labels, at least two; in order, if they are the steps of a scale.
        answer_kind
            ``"class"``; ``"scale"``; ``"multilabel"``: any of the classes; or ``"pairs"``: which of
            two items is better, or a tie, and tasks are named ``A vs B``. The last two have neither
            qualities, prior, target nor `min_gain`, and need no gold.
        prior
            Probability of the second of two classes before answers, or one per class. None for the
            class shares of `gold`, which must be a random sample of the tasks then (see
            `answers.class_prevalence`), and for equal ones without gold. Gold that is added later
            does not change them.
        budget, money
            Maximum number of labels, and maximum total cost, in the unit of the workers' costs;
            None for no limit. With a limit on money, every worker needs a cost.
        max_workers_per_task, max_tasks_per_worker
            Caps of tasks and workers that have none of their own.
        min_quality
            Minimum quality of workers to get tasks, by `next` or in a round.
        target
            A task is done once its label has this posterior. With a dependent model and enough
            gold, it is done once gold shows that this share of such labels is right.
        min_gain
            Minimum expected gain in accuracy per label: a task below it is not handed out, unless
            its minimum asks for labels. None for `DEFAULT_MIN_GAIN` with a target below 1 and a
            dependent model, else for no such rule.
        model
            ``"dependent"``: the dependence of errors is fitted to the gold answers
            (`crowd_tvcs.skills.dependence`), with usual values if there are none.
            ``"independent"``: naive Bayes.
        lease_seconds
            Time for which `next` reserves a task.
        seed
            Of the plans: same store, same plan.

        Raises
        ------
        DataError
            If the place is in use.
        ValueError
            If an argument is invalid.
        """
        from crowd_tvcs.campaign.creation import Contents, create_store

        create_store(
            place,
            Contents.of(workers, tasks, qualities, kinds, gold, gold_answers),
            classes=classes,
            answer_kind=answer_kind,
            prior=prior,
            budget=budget,
            money=money,
            max_workers_per_task=max_workers_per_task,
            max_tasks_per_worker=max_tasks_per_worker,
            min_quality=min_quality,
            target=target,
            min_gain=min_gain,
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
        from crowd_tvcs.campaign.read_state import read_state

        with self.store.read() as (connection, settings):
            return read_state(connection, settings)

    def plan(
        self,
        *,
        labels: int | None = None,
        method: str | None = None,
        time_limit: float | None = None,
        min_gain: float | None = None,
        quick: bool = False,
        max_per_side: int | None = None,
    ) -> Round:
        """Plan the rest of the budget by the posteriors, and issue it.

        Issued pairs stay. If no label is worth asking, nothing is issued. Planning locks nothing:
        if the store changes meanwhile, the plan is made again, at most `MAX_TRIES` times.

        Parameters
        ----------
        labels
            Most labels of this round, at least 1; None for all that is left.
        method, time_limit
            As for `crowd_tvcs.assign`. No method means ``"best"``, or the first one that honours
            the money and groups of the campaign. If the time limit is reached, the plan depends
            on the machine.
        min_gain
            Least expected accuracy per label that new labels of a task must add to it; None for
            that of the campaign.
        quick
            No method means the first one that takes seconds, for a plan while answers come in.
        max_per_side
            Of comparisons: most pairs with an item on the left, and on the right (2 by default).
            They are chosen by expected information, and only `labels` is heeded besides.

        Raises
        ------
        ValueError
            If an argument is out of its range, the method does not honour the demands, or
            nothing can be planned.
        ConcurrentUpdateError
            If answers, claims or other rounds kept coming in.
        """
        from crowd_tvcs.campaign.planning.proposal import RoundRequest

        asked = RoundRequest(
            labels=labels,
            method=method,
            time_limit=time_limit,
            min_gain=min_gain,
            quick=quick,
            max_per_side=max_per_side,
        )
        return self._plan(asked)

    def _plan(self, asked: RoundRequest) -> Round:
        from crowd_tvcs.campaign import rounds

        for _ in range(MAX_TRIES):
            state = self.state()
            found = rounds.propose(state, asked)
            if not found.pairs:
                return found
            with self.store.write() as (connection, settings, _):
                if settings.revision != state.settings.revision + 1:
                    # Else planners at once would overtake one another by trying.
                    queries.RETURN_TURN(connection)
                    continue
                found = rounds.issue(connection, state, settings, found)
                detail = f"round {found.number}: {plural(len(found.pairs), 'label')}"
                write_audit(connection, OPERATOR, "plan", detail=detail)
            return found
        raise ConcurrentUpdateError(
            f"{self.store.name}: answers, claims or other rounds came in during all {MAX_TRIES} "
            "plans; a quicker method, such as fast, may be in time; nothing was issued"
        )

    def add_answers(self, lines: Iterable[AnswerRecord | tuple[str, str, str]]) -> dict[str, int]:
        """Take answers (task, worker, label), all or none.

        Returns how many were ``accepted``, ``late`` (accepted too), ``known`` already, and ``gold``
        (new answers to gold tasks, which make the qualities better).

        Raises
        ------
        DataError, ValueError
            Naming file and line of the first answer that cannot be taken.
        """
        from crowd_tvcs.campaign.ingest import labels

        listed = parse_answers("lines", lines)
        with self.store.write() as (connection, settings, _):
            return labels.take_answers(connection, settings, listed)

    def add(
        self,
        *,
        workers: Iterable[str | Worker] = (),
        tasks: Iterable[str | Task] = (),
        qualities: Qualities | None = None,
        kinds: Quality | None = None,
        gold: Mapping[str, str] | None = None,
        gold_answers: Iterable[AnswerRecord | tuple[str, str, str]] = (),
    ) -> str:
        """Add workers, tasks, qualities or gold, and return what was added; issued pairs stay.

        Where qualities come from gold, a new worker has the mean of the crowd until they answer
        gold tasks. Arguments and errors as for `create`.
        """
        from crowd_tvcs.campaign.creation import Contents, add_contents

        new = Contents.of(workers, tasks, qualities, kinds, gold, gold_answers)
        with self.store.write() as (connection, settings, _):
            add_contents(connection, settings, new)
            write_audit(connection, OPERATOR, "add", None, new.describe())
        return new.describe()

    def release(self, number: int) -> int:
        """Release the unanswered pairs of a round; return the number of freed slots.

        An answer that comes nevertheless is taken as a late one.

        Raises
        ------
        ValueError
            If there is no such round.
        """
        check_number("number", number, whole=True)
        with self.store.write() as (connection, settings, _):
            check_round(number, settings)
            released = queries.RELEASE(connection, number=number)
            leases.free(connection, settings, released)
            detail = f"round {number}: {plural(len(released), 'label')}"
            write_audit(connection, OPERATOR, "release", detail=detail)
            return len(released)

    def pending_pairs(self, number: int | None = None) -> list[tuple[str, str, int]]:
        """Return (worker, task, round) of pending pairs, of one round or of all."""
        if number is not None:
            check_number("number", number, whole=True)
        with self.store.read() as (connection, settings):
            if number is not None:
                check_round(number, settings)
            rows = [tuple(row) for row in queries.ISSUED_PAIRS(connection)]
            return sorted((w, t, r) for w, t, r in rows if number in (None, r))

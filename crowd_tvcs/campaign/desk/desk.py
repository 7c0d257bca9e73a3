"""One task at a time: requests of workers to a campaign, and pausing by the operator."""

from __future__ import annotations

from contextlib import suppress

from crowd_tvcs.campaign import leases, offers
from crowd_tvcs.campaign.desk import actions
from crowd_tvcs.campaign.desk.actions import OPERATOR, shown_label, write_audit
from crowd_tvcs.campaign.leases import SubmissionResult
from crowd_tvcs.campaign.offers import NextTask
from crowd_tvcs.campaign.settings import check_text, count_of, moment_of
from crowd_tvcs.campaign.store import queries
from crowd_tvcs.campaign.store.errors import StoreError
from crowd_tvcs.campaign.store.rows import Settings
from crowd_tvcs.campaign.store.statements import later, run_together
from crowd_tvcs.campaign.store.store import Store
from crowd_tvcs.campaign.stored_model import is_due, is_due_now
from tvcs_core.arguments import check_type


class Desk:
    """The methods of a `Campaign` on single tasks; see there.

    Every `now` is a time in seconds since 1970, None for the clock's.
    """

    store: Store
    gold_share: float = 0.0
    """Share of the tasks of `next` that are gold, of what `desk.gold.mix_in` put among them."""
    gold_first: int = 0
    """Number of such gold tasks that a worker gets before anything else."""
    gold_feedback: bool = False
    """Whether a worker is shown the label of each of these after their answer, which then stays."""
    learns_in_background: bool = False
    """Whether a `desk.gold.Learner` fits the model to labels that come in, and no worker waits."""

    @property
    def _policy(self) -> offers.GoldPolicy:
        return offers.GoldPolicy(self.gold_share, self.gold_first)

    def next(self, worker: str, *, now: float | None = None) -> NextTask:
        """Lease a task to a worker: the one of largest uncertainty x skill that has room.

        Expired leases are freed first. A worker has one lease at a time; asking again before
        answering gives the same task, for another `lease_seconds`.

        Parameters
        ----------
        worker
            Name.
        now
            As for all methods of the desk.

        Raises
        ------
        RejectedError
            If there is no such worker.
        ValueError
            If `now` is no time.
        """
        check_text("worker", worker)
        moment = moment_of(now)
        first = offers.before_offer(worker, moment, self.store.is_per_pair)
        with self.store.turn(*first) as (connection, settings, found):
            offer = offers.offer(connection, settings, found, worker, moment, self._policy)
            if offer.task is None and not found[0]:
                later(connection, queries.RETURN_TURN.with_())
        return offer

    def submit(
        self, worker: str, task: str, label: str, *, now: float | None = None
    ) -> SubmissionResult:
        """Submit an answer to a task that was leased or issued.

        Late answers: a lease that has expired is still good until another needs its slot, and even
        then the answer is taken as long as every cap has room for it; otherwise it is refused. The
        time is kept, and how long a task that `next` gave has taken.

        Raises
        ------
        RejectedError
            If the pair was never given out, has another answer, or its slot went to another.
        """
        _check_pair(worker, task)
        moment = moment_of(now)
        first = leases.before_submit(worker, task)
        with self.store.turn(*first) as (connection, settings, found):
            receipt = leases.submit(connection, settings, found, (worker, task, label), moment)
        self._took(settings, settings.answers + 1)
        return receipt

    def submit_and_next(
        self, worker: str, task: str, label: str, *, now: float | None = None
    ) -> tuple[SubmissionResult, NextTask]:
        """Submit an answer and lease the next task, in one go; errors as for `submit`."""
        _check_pair(worker, task)
        moment = moment_of(now)
        answer = (worker, task, label)
        first = leases.before_submit(worker, task)
        with self.store.turn(*first) as (connection, settings, found):
            receipt = leases.submit(connection, settings, found, answer, moment)
            (settings,), *found = run_together(
                connection,
                queries.SETTINGS.with_(),
                *offers.before_offer(worker, moment, self.store.is_per_pair),
            )
            offer = offers.offer(connection, settings, found, worker, moment, self._policy)
        self._took(settings, settings.answers)
        return receipt, offer

    def feedback(self, worker: str, task: str) -> str | None:
        """Return the label of a gold task that this worker answered, if they are to see it.

        That is one of the first `gold_first` gold tasks that they had, with `gold_feedback`.
        """
        _check_pair(worker, task)
        if not (self.gold_feedback and self.gold_first):
            return None
        with self.store.read() as (connection, settings):
            return shown_label(connection, settings, worker, task, self.gold_first)

    def _took(self, settings: Settings, answers: int) -> None:
        """Wait for the disk, and do the maintenance that is due after so many answers."""
        self.store.flush()
        self.store.tidy(answers)
        self._learn_if(is_due_now(settings.dependence, answers))

    def _learn_if(self, due: bool) -> None:
        """Fit the model to the workers so far, if it is due and no other process does it."""
        if due and not self.learns_in_background:
            from crowd_tvcs.campaign.desk.gold import learn_of_labels

            with suppress(StoreError):  # the answer is taken; it stays due for those who come
                learn_of_labels(self.store)

    def skip(
        self,
        worker: str,
        task: str,
        reason: str = "",
        *,
        now: float | None = None,
    ) -> None:
        """Give a task up that is leased or issued to a worker; they are never offered it again.

        Its slot is free for others. To skip it once more changes nothing, and an answer to it is
        taken as a late one.

        Raises
        ------
        RejectedError
            If the worker does not have the task.
        """
        _check_pair(worker, task)
        check_text("reason", reason, or_none=True)
        moment = moment_of(now)
        first = leases.before_submit(worker, task)
        with self.store.write(*first) as (connection, settings, found):
            if actions.skip(connection, settings, found, worker, task):
                write_audit(connection, worker, "skip", task, reason, now=moment)

    def undo(
        self,
        worker: str,
        *,
        answers: int | None = None,
        now: float | None = None,
    ) -> NextTask:
        """Take back a worker's last answer, unless it has been used since.

        Its task is leased to the worker again for `lease_seconds`, and a task leased since is free
        for others. Another undo takes back the answer before, unless `answers` is the number of
        answers of the worker: then only the last of so many is taken back.

        Raises
        ------
        RejectedError
            If there is no answer, the worker has not given so many, another has answered the task
            since, a round was planned on the answer, the task was closed, or its label was shown.
        """
        check_text("worker", worker)
        answers = count_of("answers", answers)
        moment = moment_of(now)
        first = offers.before_offer(worker, moment, self.store.is_per_pair)
        with self.store.write(*first) as (connection, settings, found):
            shown = self.gold_first if self.gold_feedback else 0
            offer = actions.undo(connection, settings, found, worker, moment, answers, shown)
            write_audit(connection, worker, "undo", offer.task, now=moment)
            settings = queries.SETTINGS.only(connection)
        self._learn_if(is_due(settings.dependence, settings.answers))
        return offer

    def pause(self, is_paused: bool = True, *, now: float | None = None) -> None:
        """Hand out no task until `pause(False)`; answers to pending tasks are taken."""
        check_type("is_paused", is_paused, bool)
        with self.store.write() as (connection, _, _):
            queries.PAUSE(connection, is_paused=int(is_paused))
            what = "pause" if is_paused else "resume"
            write_audit(connection, OPERATOR, what, now=moment_of(now))

    def block(self, worker: str, is_blocked: bool = True, *, now: float | None = None) -> None:
        """Give a worker no more tasks, by `next` or in a round, until `block(worker, False)`.

        Answers to their pending tasks are accepted.

        Raises
        ------
        RejectedError
            If there is no such worker.
        """
        check_text("worker", worker)
        check_type("is_blocked", is_blocked, bool)
        what = "block" if is_blocked else "unblock"
        with self.store.write() as (connection, _, _):
            if not queries.BLOCK(connection, called=worker, is_blocked=int(is_blocked)):
                raise leases.unknown("worker", worker)
            if not is_blocked:
                queries.RECALL(connection)
            write_audit(connection, OPERATOR, what, detail=worker, now=moment_of(now))


def _check_pair(worker: str, task: str) -> None:
    check_text("worker", worker)
    check_text("task", task)

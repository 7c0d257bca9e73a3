"""Synchronisation loop: import answers, lease tasks, update tabs; retry while the tool is away."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from crowd_tvcs.campaign import Campaign, RejectedError, StoreError
from crowd_tvcs.campaign.store.schema import ANSWERED, ISSUED, LEASED, SKIPPED
from crowd_tvcs.sync import leasing
from crowd_tvcs.sync.connection import ToolError, ToolUnavailableError
from crowd_tvcs.sync.labelling_tool import Annotation, LabellingTool, RemoteTask
from tvcs_core.files.display import quoted
from tvcs_core.files.errors import RunError

SWEEP_SECONDS = 3600.0
"""Seconds after which everything is read again, so that no change is missed for longer."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 15.0
"""Shortest and longest wait between two attempts while the tool is unavailable, in seconds."""
MISSING = 404
UNKNOWN_ACCOUNTS = "from people who are not workers"


@dataclass(frozen=True)
class Settings:
    """Settings of the synchronisation.

    Attributes
    ----------
    batch
        Tasks that a worker has at once.
    accounts
        Worker of every account of the tool; None if the names are equal.
    payloads
        Content of the tasks, by name.
    predictions
        Whether predicted labels are sent to the tool.
    """

    batch: int
    accounts: Mapping[str, str] | None
    payloads: Mapping[str, Mapping[str, str]]
    predictions: bool = False


@dataclass
class Sync:
    """A campaign and a labelling tool; see `step`.

    Attributes
    ----------
    log
        Function that prints a line for the operator.
    webhook_url
        Address that the tool calls after a change, or None.
    counts
        Numbers of actions since the last report.
    has_reported
        Whether there was anything to report.
    """

    campaign: Campaign
    tool: LabellingTool
    settings: Settings
    log: Callable[[str], None]
    webhook_url: str | None = None
    counts: Counter[str] = field(default_factory=Counter)
    has_reported: bool = False

    def __post_init__(self) -> None:
        self._since: str | None = None
        self._swept = 0.0
        self._shown: dict[str, RemoteTask] = {}
        self._refused: set[str] | None = None
        self._unknown_accounts: set[str] = set()
        self._has_webhook = False
        self._names = leasing.names(self.campaign.store)

    def begin(self) -> None:
        """Check the tool, and set it up."""
        self._check(self._names)
        if self.webhook_url is not None:
            self._has_webhook = True
            try:
                self.tool.set_webhook(self.webhook_url)
            except ToolError as error:
                self.log(f"{self.tool.title} refuses the webhook, so it is only polled: {error}")

    def end(self) -> None:
        """Remove the webhook; an unavailable tool notices by itself."""
        if self._has_webhook:
            with suppress(ToolUnavailableError, ValueError):
                self.tool.set_webhook(None)

    def _check(self, names: leasing.Names) -> None:
        """Check the classes and the workers in the tool, and update its settings."""
        for line in self.tool.check(names.classes, sorted(names.workers)):
            self.log(line)

    def step(self, now: float | None = None) -> None:
        """Import answers, lease tasks, and show them.

        Actions are not repeated: a step that was interrupted anywhere is completed by the next, in
        this process or another.
        """
        moment = time.time() if now is None else now
        try:
            self._step(moment)
        except ToolError as error:
            if error.status != MISSING:
                raise
            self._since = None  # a task was removed there: read everything again
            self._step(moment)

    def _step(self, now: float) -> None:
        if now - self._swept >= SWEEP_SECONDS:
            self._since = None
        is_sweep = self._since is None
        names = leasing.names(self.campaign.store)
        if names.workers != self._names.workers:
            self._check(names)
        self._names = names
        present = self._present()
        found, since = self._read()
        if self._add_tasks():
            self._since = None
            found, since = self._read()
        self._take(found, now)
        leasing.lease_batches(self.campaign.store, present, self.settings.batch, now)
        self.tool.open_tabs(sorted(present))
        self._show()
        self._predict()
        self._since = since
        self._swept = now if is_sweep else self._swept

    def _read(self) -> tuple[list[RemoteTask], str | None]:
        found, since = self.tool.read(self._since)
        if self._since is None:
            self._shown.clear()
        self._shown |= {one.task: one for one in found}
        return found, since

    def _add_tasks(self) -> bool:
        """Add the tasks of the campaign that the tool lacks; return whether there were any."""
        lacking = sorted(self._names.tasks - self._shown.keys())
        known = self.settings.payloads
        if lacking:
            self.tool.add({name: known.get(name, {"text": name}) for name in lacking})
            self.counts["tasks added"] += len(lacking)
        return bool(lacking)

    def _present(self) -> set[str]:
        """Return the workers with an account in the tool; others would block tasks."""
        found = (self._worker_of(who) for who in self.tool.people())
        return {name for name in found if name is not None}

    def _worker_of(self, who: tuple[str, ...]) -> str | None:
        accounts = self.settings.accounts
        called = who if accounts is None else tuple(accounts[w] for w in who if w in accounts)
        return next((name for name in called if name in self._names.workers), None)

    def _take(self, found: list[RemoteTask], now: float) -> None:
        """Record the annotations of the tasks that were read, the oldest first."""
        store = self.campaign.store
        there = [(one, task.task) for task in found for one in task.annotations]
        if not there:
            return
        if self._refused is None:
            self._refused = leasing.refused_keys(store)
        states = leasing.pair_states(store)
        is_changed = False
        for one, name in sorted(there, key=lambda pair: (pair[0].when, pair[0].key)):
            who = self._worker_of(one.who)
            if who is None:
                self.counts[UNKNOWN_ACCOUNTS] += one.key not in self._unknown_accounts
                self._unknown_accounts.add(one.key)
            elif name in self._names.tasks:
                is_changed |= self._take_one(one, who, name, states, now)
        if is_changed:
            store.flush()

    def _take_one(
        self,
        one: Annotation,
        who: str,
        name: str,
        states: dict[tuple[str, str], tuple[int, str | None]],
        now: float,
    ) -> bool:
        """Record one annotation if it is new; return whether it was accepted."""
        state, label = states.get((who, name), (None, None))
        is_open = state in (ISSUED, LEASED)
        if one.label is None:
            if is_open:
                self._skip(one, who, name, now)
                states[who, name] = (SKIPPED, None)
            return False
        if state == ANSWERED and label == one.label:
            return False
        if one.key in (self._refused or ()) and not is_open:
            return False
        answer = leasing.Answer(who, name, one.label, one.key, one.when, one.seconds)
        try:
            reason = leasing.take_answer(self.campaign.store, answer, now)
        except RejectedError as error:
            self._refuse(answer, str(error), now, is_open)
            return False
        self.counts[reason] += 1
        states[who, name] = (ANSWERED, one.label)
        return True

    def _skip(self, one: Annotation, who: str, name: str, now: float) -> None:
        """Release the task of a worker who skipped it in the tool."""
        why = f"{one.key}: {one.unreadable}" if one.unreadable else one.key
        with suppress(RejectedError):  # it has lapsed meanwhile
            self.campaign.skip(who, name, why, now=now)
            self.counts["skipped"] += 1

    def _refuse(self, answer: leasing.Answer, why: str, now: float, is_open: bool) -> None:
        leasing.record_refusal(self.campaign.store, answer, why, now)
        if is_open:  # the worker is finished with it in the tool, so release it
            with suppress(RejectedError):
                self.campaign.skip(answer.worker, answer.task, answer.key, now=now)
        if self._refused is not None:
            self._refused.add(answer.key)
        self.counts["refused"] += 1
        self.log(f"refused: {answer.key} of {quoted(answer.worker)}: {why}")

    def _show(self) -> None:
        """Show every worker their open tasks, and no others."""
        open_now = leasing.open_tasks(self.campaign.store)
        for name, before in list(self._shown.items()):
            workers = tuple(open_now.get(name, ()))
            if name in self._names.tasks and workers != before.workers:
                self.tool.show(name, workers)
                self._shown[name] = replace(before, workers=workers)

    def _predict(self) -> None:
        if not self.settings.predictions:
            return
        for name, now in leasing.labels_now(self.campaign.store).items():
            before = self._shown.get(name)
            if before is not None and not _is_same(before.predicted, now):
                self.tool.predict(name, *now)
                self._shown[name] = replace(before, predicted=now)


def run(
    sync: Sync,
    *,
    every: float,
    once: bool,
    patience: float,
    wait: Callable[[float], object] = time.sleep,
) -> None:
    """Synchronise a campaign and a tool until Ctrl-C, or `once`.

    Parameters
    ----------
    every
        Seconds between two steps.
    once
        Whether to end after the first step that succeeds.
    patience
        Seconds of attempts for the first step, if the tool or the store is unavailable. Later steps
        are attempted without limit.
    wait
        Waits for so many seconds, or less if the webhook is called.

    Raises
    ------
    RunError
        If the first step did not succeed in time.
    """
    try:
        _first(sync, patience)
        if once and not sync.has_reported:
            sync.log("nothing new")
        while not once:
            wait(every)
            _until_done(sync, sync.step, lambda error: None)
    finally:
        sync.end()


def _first(sync: Sync, patience: float) -> None:
    begun = time.monotonic()

    def set_up() -> None:
        sync.begin()
        sync.step()

    def give_up(error: Exception) -> None:
        if time.monotonic() - begun >= patience:
            raise RunError(f"{error}; given up after {patience:g} s") from None

    _until_done(sync, set_up, give_up)


def _until_done(sync: Sync, work: Callable[[], None], give_up: Callable[[Exception], None]) -> None:
    """Work until nothing is unavailable, with growing waits; report this once, and the actions."""
    wait, is_away = FIRST_WAIT, False
    while True:
        try:
            work()
        except (ToolUnavailableError, StoreError) as error:
            give_up(error)
            if not is_away:
                sync.log(f"{error}; trying again")
            is_away = True
            time.sleep(wait)
            wait = min(2.0 * wait, LONGEST_WAIT)
        else:
            break
    if is_away:
        sync.log(f"{sync.tool.title} is back")
    report(sync)


def report(sync: Sync) -> None:
    """Report the actions since the last report, if any."""
    done = {what: count for what, count in sync.counts.items() if count}
    if done:
        sync.log(", ".join(f"{count} {what}" for what, count in done.items()))
        sync.has_reported = True
    sync.counts.clear()


def _is_same(counts: tuple[str, float] | None, now: tuple[str, float]) -> bool:
    """Return whether the label sent is the current one, to the digits shown."""
    return counts is not None and counts[0] == now[0] and abs(counts[1] - now[1]) < 5e-5

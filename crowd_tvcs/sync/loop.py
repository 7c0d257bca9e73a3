"""The loop: answers in, tasks dealt, tabs kept; and what happens when the tool is away."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from crowd_tvcs.campaign import Campaign, Refused, StoreError
from crowd_tvcs.campaign.store.schema import ANSWERED, ISSUED, LEASED, SKIPPED
from crowd_tvcs.sync import deal
from crowd_tvcs.sync.connection import Away, ToolError
from crowd_tvcs.sync.front_end import Annotation, FrontEnd, Shown
from tvcs_core.files.errors import RunError
from tvcs_core.files.shown import shown

SWEEP = 3600.0
"""Seconds after which everything is read again, so that nothing is missed for longer."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 15.0
"""Least and most seconds between two tries while the tool is away."""
MISSING = 404
LEFT_OUT = "from people who are no workers"


@dataclass(frozen=True)
class Settings:
    """How a campaign and a tool are kept in step.

    Attributes
    ----------
    batch
        Tasks that a worker has at once.
    accounts
        Our name of a worker by what the tool calls them; None if they are the same.
    payloads
        What tasks show, by name.
    predictions
        Whether the tool is told what tasks look like by now.
    """

    batch: int
    accounts: Mapping[str, str] | None
    payloads: Mapping[str, Mapping[str, str]]
    predictions: bool = False


@dataclass
class Sync:
    """A campaign and a front end; see `step`.

    Attributes
    ----------
    say
        Tells the operator a line.
    call
        Where the tool calls when something came in, or None.
    told
        What was done since the last report.
    has_told
        Whether there was anything to report.
    """

    campaign: Campaign
    front: FrontEnd
    settings: Settings
    say: Callable[[str], None]
    call: str | None = None
    told: Counter[str] = field(default_factory=Counter)
    has_told: bool = False

    def __post_init__(self) -> None:
        self._since: str | None = None
        self._swept = 0.0
        self._shown: dict[str, Shown] = {}
        self._refused: set[str] | None = None
        self._strangers: set[str] = set()
        self._rings = False
        self._names = deal.names(self.campaign.store)

    def begin(self) -> None:
        """Check the front end, and set it up."""
        self._check(self._names)
        if self.call is not None:
            self._rings = True
            try:
                self.front.ring(self.call)
            except ToolError as error:
                self.say(f"{self.front.title} will not call, so answers wait for a look: {error}")

    def end(self) -> None:
        """Have nobody call any more; a tool that is away finds that out itself."""
        if self._rings:
            with suppress(Away, ValueError):
                self.front.ring(None)

    def _check(self, names: deal.Names) -> None:
        """Have the front end look at the classes and the workers, and set up what hangs on them."""
        for line in self.front.check(names.classes, sorted(names.workers)):
            self.say(line)

    def step(self, now: float | None = None) -> None:
        """Take what came in, deal tasks, and show them.

        What was done already is not done twice: a step that was cut short at any place is made
        good by the next, in this process or another.
        """
        moment = time.time() if now is None else now
        try:
            self._step(moment)
        except ToolError as error:
            if error.status != MISSING:
                raise
            self._since = None  # a task was removed there: look at everything again
            self._step(moment)

    def _step(self, now: float) -> None:
        if now - self._swept >= SWEEP:
            self._since = None
        is_sweep = self._since is None
        names = deal.names(self.campaign.store)
        if names.workers != self._names.workers:
            self._check(names)
        self._names = names
        present = self._present()
        found, since = self._read()
        if self._add_tasks():
            self._since = None
            found, since = self._read()
        self._take(found, now)
        deal.deal(self.campaign.store, present, self.settings.batch, now)
        self.front.open_tabs(sorted(present))
        self._show()
        self._predict()
        self._since = since
        self._swept = now if is_sweep else self._swept

    def _read(self) -> tuple[list[Shown], str | None]:
        found, since = self.front.read(self._since)
        if self._since is None:
            self._shown.clear()
        self._shown |= {one.task: one for one in found}
        return found, since

    def _add_tasks(self) -> bool:
        """Add the tasks of the campaign that the tool does not have; whether there were any."""
        lacking = sorted(self._names.tasks - self._shown.keys())
        known = self.settings.payloads
        if lacking:
            self.front.add({name: known.get(name, {"text": name}) for name in lacking})
            self.told["tasks added"] += len(lacking)
        return bool(lacking)

    def _present(self) -> set[str]:
        """Workers who have an account there: the others would hold tasks that they never see."""
        found = (self._worker_of(who) for who in self.front.people())
        return {name for name in found if name is not None}

    def _worker_of(self, who: tuple[str, ...]) -> str | None:
        accounts = self.settings.accounts
        called = who if accounts is None else tuple(accounts[w] for w in who if w in accounts)
        return next((name for name in called if name in self._names.workers), None)

    def _take(self, found: list[Shown], now: float) -> None:
        """Take the annotations of the tasks that were read, the oldest first."""
        store = self.campaign.store
        there = [(one, task.task) for task in found for one in task.annotations]
        if not there:
            return
        if self._refused is None:
            self._refused = deal.refused_keys(store)
        states = deal.pair_states(store)
        is_changed = False
        for one, name in sorted(there, key=lambda pair: (pair[0].when, pair[0].key)):
            who = self._worker_of(one.who)
            if who is None:
                self._leave_out(one)
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
        """Take one annotation, if it is news; whether it was taken."""
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
        answer = deal.Answer(who, name, one.label, one.key, one.when, one.seconds)
        try:
            reason = deal.take(self.campaign.store, answer, now)
        except Refused as error:
            self._refuse(answer, str(error), now, is_open)
            return False
        self.told[reason] += 1
        states[who, name] = (ANSWERED, one.label)
        return True

    def _skip(self, one: Annotation, who: str, name: str, now: float) -> None:
        """Give the task up for the worker, who is done with it there."""
        why = f"{one.key}: {one.unreadable}" if one.unreadable else one.key
        with suppress(Refused):  # it has lapsed meanwhile
            self.campaign.skip(who, name, why, now=now)
            self.told["skipped"] += 1

    def _refuse(self, answer: deal.Answer, why: str, now: float, is_open: bool) -> None:
        deal.refuse(self.campaign.store, answer, why, now)
        if is_open:  # they are done with it there, so it would lie with them
            with suppress(Refused):
                self.campaign.skip(answer.worker, answer.task, answer.key, now=now)
        if self._refused is not None:
            self._refused.add(answer.key)
        self.told["refused"] += 1
        self.say(f"refused: {answer.key} of {shown(answer.worker)}: {why}")

    def _leave_out(self, one: Annotation) -> None:
        if one.key not in self._strangers:
            self._strangers.add(one.key)
            self.told[LEFT_OUT] += 1

    def _show(self) -> None:
        """Have everybody see what is open with them, and nothing else."""
        open_now = deal.open_tasks(self.campaign.store)
        for name, before in list(self._shown.items()):
            workers = tuple(open_now.get(name, ()))
            if name in self._names.tasks and workers != before.workers:
                self.front.show({name: workers})
                self._shown[name] = Shown(name, workers, before.annotations, before.predicted)

    def _predict(self) -> None:
        if not self.settings.predictions:
            return
        for name, now in deal.labels_now(self.campaign.store).items():
            before = self._shown.get(name)
            if before is not None and not _is_same(before.predicted, now):
                self.front.predict({name: now})
                self._shown[name] = Shown(name, before.workers, before.annotations, now)


def run(
    sync: Sync,
    *,
    every: float,
    once: bool,
    patience: float,
    wait: Callable[[float], object] = time.sleep,
) -> None:
    """Keep a campaign and a front end in step until Ctrl-C, or bring them in step `once`.

    Parameters
    ----------
    every
        Seconds between two looks.
    once
        Whether to end after the first step that succeeds.
    patience
        Seconds that the first step is tried for, where the tool or the store is away. Later on
        there is no end to it.
    wait
        Wait so many seconds, or less where the tool rings.

    Raises
    ------
    RunError
        If the first step did not succeed in time.
    """
    try:
        _first(sync, patience)
        if once and not sync.has_told:
            sync.say("nothing new")
        while not once:
            wait(every)
            _again(sync)
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


def _again(sync: Sync) -> None:
    _until_done(sync, sync.step, lambda error: None)


def _until_done(sync: Sync, work: Callable[[], None], give_up: Callable[[Exception], None]) -> None:
    """Work until nothing is away, waiting longer and longer; say it once, and what was done."""
    wait, is_away = FIRST_WAIT, False
    while True:
        try:
            work()
        except (Away, StoreError) as error:
            give_up(error)
            if not is_away:
                sync.say(f"{error}; trying again")
            is_away = True
            time.sleep(wait)
            wait = min(2.0 * wait, LONGEST_WAIT)
        else:
            break
    if is_away:
        sync.say(f"{sync.front.title} is back")
    report(sync)


def report(sync: Sync) -> None:
    """Say what was done since the last report, if anything was."""
    said = {what: count for what, count in sync.told.items() if count}
    if said:
        sync.say(", ".join(f"{count} {what}" for what, count in said.items()))
        sync.has_told = True
    sync.told.clear()


def _is_same(told: tuple[str, float] | None, now: tuple[str, float]) -> bool:
    """Whether what was told is what is known now, to the digits that are shown."""
    return told is not None and told[0] == now[0] and abs(told[1] - now[1]) < 5e-5

"""Collect imported answers, without duplicates, with times and counts of those left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from crowd_tvcs.answers.duplicates import (
    EXAMPLES,
    check_duplicates,
    describe_duplicates,
    most_frequent,
    remedy,
)
from crowd_tvcs.answers.times import Timing
from crowd_tvcs.answers.values import (
    describe_fault,
    find_label_fault,
    find_label_faults,
    find_name_fault,
)
from crowd_tvcs.exchange.fields import (
    LABEL,
    NO_STAMP,
    Field,
    SourceLocation,
    Stamp,
    error_at,
    name_of,
)
from tvcs_core.arguments import option_name
from tvcs_core.files.display import joined, quoted
from tvcs_core.files.errors import DataError


@dataclass(frozen=True)
class Collected:
    """Answers from a tool's files.

    Attributes
    ----------
    rows
        (task, worker, label), sorted, each pair of task and worker once.
    left_out
        Number of answers left out, by the reason: skipped, rejected, draft and so on.
    times
        Time and duration of every row, if requested; else empty.
    has_times
        Whether the files have the time of some answer.
    kept
        Treatment of duplicate answers, for people; empty without any.
    notes
        Further lines for people.
    gold
        (task, label) of the annotations marked as ground truth, sorted, if requested.
    skipped
        Errors of the answers skipped as bad, in the order of the files.
    """

    rows: tuple[tuple[str, str, str], ...]
    left_out: Mapping[str, int]
    times: tuple[Timing, ...] = ()
    has_times: bool = False
    kept: str = ""
    notes: tuple[str, ...] = ()
    gold: tuple[tuple[str, str], ...] = ()
    skipped: tuple[DataError, ...] = ()


@dataclass(eq=False, kw_only=True)
class Collector:
    """Collect answers one by one, and keep at most one of each pair.

    Most parameters are arguments of `crowd_tvcs.exchange.import_answers`. First and last are those
    in time if every answer of the pair has one, else those of the files. With `takes_any_label`
    every text is a label, for campaigns, which check labels themselves.
    """

    accounts: Mapping[str, str] | None = None
    duplicates: str | None = None
    times: bool = False
    classes: Collection[str] | None = None
    leave_out_missing: bool = False
    takes_any_label: bool = False
    ground_truth: bool = False
    skip_bad: bool = False

    def __post_init__(self) -> None:
        check_duplicates(self.duplicates)
        self._notes: dict[str, None] = {}
        self._given: dict[tuple[str, str], list[tuple[str, SourceLocation, Timing]]] = {}
        self._has_times = False
        self._left_out: Counter[str] = Counter()
        self._gold: dict[str, list[tuple[str, SourceLocation]]] = {}
        self._n_truths = 0
        self._skipped: list[DataError] = []

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Skip a record that raises a `DataError` in this block; keep the error if requested."""
        try:
            yield
        except DataError as error:
            self._refuse_or_skip(error)

    def _refuse_or_skip(self, error: DataError) -> None:
        if not self.skip_bad:
            raise error
        self._skipped.append(error)

    def add(
        self,
        location: SourceLocation,
        task: Field,
        account: Field,
        label: Field,
        stamp: Stamp = NO_STAMP,
        *,
        is_truth: bool = False,
    ) -> None:
        """Add an answer; with `is_truth` one that the tool marks as ground truth.

        Raises
        ------
        DataError
            If a name or a label is invalid, the account is unknown, or a time is impossible.
        """
        values = {}
        self._n_truths += is_truth
        is_gold = is_truth and self.ground_truth  # then whoever gave it
        fields = (LABEL, label), ("task", task), ("worker", account)
        for kind, field in fields[:2] if is_gold else fields:
            value = self._checked_text(location, kind, field)
            if value is None:
                self.leave_out(f"without a {kind}")
                return
            values[kind] = value
        if is_gold:
            self._gold.setdefault(values["task"], []).append((values[LABEL], location))
        else:
            self._take(location, values["task"], values["worker"], values[LABEL], stamp)

    def _checked_text(self, location: SourceLocation, kind: str, field: Field) -> str | None:
        """Return the text of a field; None if it is missing and such answers are left out."""
        name, value = field
        is_nan = isinstance(value, float) and value != value
        is_absent = value is None or is_nan or (isinstance(value, str) and not value.strip())
        text = "" if is_absent else name_of(value, location, name)
        if kind != LABEL:
            fault = find_name_fault(text)
        elif text and (self.takes_any_label or text in (self.classes or ())):
            fault = None
        else:
            fault = find_label_fault(text)
            if self.classes is not None and not (fault and fault.is_missing):
                what = (
                    f"must be one of the classes {joined(sorted(self.classes), quoted)}, found "
                    f"{quoted(text)}; {option_name('classes')} names what there may be"
                )
                raise location.error(name, what)
        if fault is None:
            return text
        if fault.is_missing and self.leave_out_missing:
            return None
        raise location.error(
            name, describe_fault(fault, text, kind, of_answers=True, empty="nothing")
        )

    def _take(
        self, location: SourceLocation, task: str, account: str, label: str, stamp: Stamp
    ) -> None:
        worker = account
        if self.accounts is not None:
            if account not in self.accounts:
                what = (
                    f"account {quoted(account)} is not in the table of accounts; add a row for it"
                )
                raise error_at(location, what)
            worker = self.accounts[account]
        self._has_times |= not stamp.is_empty
        timing = stamp.read(location) if self.times or self.duplicates else Timing()
        self._given.setdefault((task, worker), []).append((label, location, timing))

    def has_account(self, account: str) -> bool:
        """Return whether the account is in the table of accounts."""
        return self.accounts is not None and account in self.accounts

    def leave_out(self, why: str) -> None:
        """Count a record without an answer."""
        self._left_out[why] += 1

    def note(self, line: str) -> None:
        """Add a line for people, once."""
        self._notes[line] = None

    def collected(self) -> Collected:
        """Return all answers, without duplicates.

        Raises
        ------
        DataError
            If there are duplicate answers and no rule for them; the message names two locations,
            the number of such pairs, and the remedy.
        """
        self._refuse_odd_labels()
        gold = self._agreed_gold()
        repeated = [pair for pair, given in self._given.items() if len(given) > 1]
        if repeated and self.duplicates is None:
            self._refuse(repeated)
        pairs = sorted(self._given)
        chosen = [self._choose(self._given[pair]) for pair in pairs]
        rows = [(*pair, label) for pair, (label, _, _) in zip(pairs, chosen, strict=True)]
        times = tuple(timing for _, _, timing in chosen) if self.times else ()
        kept = ""
        if repeated:
            examples = "; ".join(f"{quoted(w)} on {quoted(t)}" for t, w in repeated[:EXAMPLES])
            answers = sum(len(self._given[pair]) for pair in repeated)
            rule = str(self.duplicates)
            kept = describe_duplicates(len(repeated), answers, rule, examples)
        if self._n_truths and not self.ground_truth:
            self.note(
                f"note: {self._n_truths} annotations are marked as ground truth and count as "
                "answers; --ground-truth writes them to gold.csv instead"
            )
        left_out = dict(sorted(self._left_out.items()))
        if self._skipped:
            left_out["bad"] = len(self._skipped)
        return Collected(
            tuple(rows), left_out, times, self._has_times, kept, tuple(self._notes), gold,
            tuple(self._skipped),
        )  # fmt: skip

    def _agreed_gold(self) -> tuple[tuple[str, str], ...]:
        """Return task and label of the ground truths; several of a task must agree."""
        found = []
        for task, given in sorted(self._gold.items()):
            (label, first), *others = given
            for other, location in others:
                if other != label:
                    what = (
                        f"the ground truth of task {quoted(task)} is {quoted(other)} here and "
                        f"{quoted(label)} in {first}; take the mark off one of them there"
                    )
                    self._refuse_or_skip(error_at(location, what))
                    break
            else:
                found.append((task, label))
        return tuple(found)

    def _refuse_odd_labels(self) -> None:
        """Refuse labels that are invalid given the others, such as ``cat;dog`` with both labels."""
        if self.classes is not None or self.takes_any_label:
            return
        given = [(pair, answer) for pair, answers in self._given.items() for answer in answers]
        faults = find_label_faults({label: None for _, (label, _, _) in given})
        for pair, answer in given:
            label, location, _ = answer
            if label in faults:
                what = describe_fault(faults[label], label, LABEL, of_answers=True)
                self._refuse_or_skip(error_at(location, what))
                self._given[pair].remove(answer)
                if not self._given[pair]:
                    del self._given[pair]

    def _choose(
        self, given: list[tuple[str, SourceLocation, Timing]]
    ) -> tuple[str, SourceLocation, Timing]:
        if len(given) == 1:
            return given[0]
        if all(timing.when == timing.when for _, _, timing in given):  # none is NaN
            given = sorted(given, key=lambda one: one[2].when)
        if self.duplicates == "majority":
            return given[most_frequent([label for label, _, _ in given])]
        return given[-1 if self.duplicates == "last" else 0]

    def _refuse(self, repeated: list[tuple[str, str]]) -> None:
        task, worker = repeated[0]
        (label, first, _), (other, location, _), *_ = self._given[repeated[0]]
        tasks, workers = {task for task, _ in self._given}, {who for _, who in self._given}
        do = remedy(len(repeated), (workers, worker), (tasks, task))
        what = (
            f"worker {quoted(worker)} answers task {quoted(task)} twice: {quoted(label)} in "
            f"{first}, and {quoted(other)} in {location}; {do}"
        )
        raise DataError(what, path=location.path, line=location.line)

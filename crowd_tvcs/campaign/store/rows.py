"""Rows of the store, by the order of their columns; `schema` defines the columns."""

from __future__ import annotations

import json
from typing import NamedTuple


class Settings(NamedTuple):
    """The row of the campaign, and how many workers there are at most."""

    id: int
    schema_version: int
    revision: int
    seed: int
    classes: str
    prior: str
    budget: int | None
    money: int | None
    max_workers_per_task: int | None
    max_tasks_per_worker: int | None
    min_quality: float
    target: float
    lease_seconds: float
    per_pair: int
    source: str
    slots: int
    answers: int
    committed: int
    missing: int
    rounds: int
    dependence: str | None
    shares_of_gold: int | None
    confidence_threshold: float | None
    min_gain: float | None
    best: float | None
    paused: int | None
    secret: str | None
    answer_kind: str | None
    n_workers: int

    @property
    def n_classes(self) -> int:
        """Number of classes, steps or labels."""
        return len(json.loads(self.classes))

    @property
    def pending(self) -> int:
        """Number of labels that are out with workers."""
        return self.slots - self.answers

    @property
    def left(self) -> int | None:
        """Number of labels that the budget has left; None without a budget."""
        return None if self.budget is None else self.budget - self.slots


class WorkerRow(NamedTuple):
    """A worker, and the task and the end of their open lease if these are selected."""

    id: int
    name: str
    max_tasks: int
    cost: int
    team: str | None
    quality: float | None
    habits: str | None
    slots: int
    answers: int
    blocked: int | None
    joined: float | None
    lease: int | None = None
    lease_name: str | None = None
    lease_until: float | None = None


class TaskRow(NamedTuple):
    """A task; in a search for a worker, with the state of their pair and their quality on it.

    `before` is the state of their pair, None if they never had the task.
    """

    id: int
    name: str
    prior: float | None
    min_workers: int
    max_workers: int
    closed: int
    slots: int
    answers: int
    label: int
    confidence: float
    uncertainty: float
    wanted: int
    needy: int
    settled: int | None
    before: int | None = None
    quality: float | None = None


class PairRow(NamedTuple):
    """A pair of a task, with the quality and model figures of its worker."""

    worker_id: int
    state: int
    label: int | None
    leased_at: float | None
    quality: float | None
    habits: str | None


class FreedPair(NamedTuple):
    """A pair whose slot was given up."""

    task_id: int
    worker_id: int


class FreedWorker(NamedTuple):
    """Cost of a worker with one slot less, and whether they were full before."""

    cost: int
    was_full: int


class LastAnswer(NamedTuple):
    """The last answer of a worker, and its task."""

    task_id: int
    place: int
    task_name: str
    closed: int


class WorkersLeft(NamedTuple):
    """The workers who may still have a task: number, lowest and highest quality."""

    workers: int
    low: float | None
    high: float | None


class ShortTask(NamedTuple):
    """A task whose minimum is unmet: by how much, and by how many it may be met."""

    short: int
    able: int


class RoundRow(NamedTuple):
    """A round that was planned."""

    round: int
    method: str
    reason: str
    pairs: int
    answers_before: int
    expected_accuracy: float
    bound: float | None

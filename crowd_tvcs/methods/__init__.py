"""Methods of assignment, each a plain function with one contract.

A method is called as ``method(plan, rng=generator, deadline=deadline)``. The plan comes sorted by
name. It returns an `Assignment` that keeps every cap, ends soon after the deadline with the
best it has, and draws random numbers from `rng` alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvcs_core.arguments import check_choice, check_number, check_type
from tvcs_core.lazy import LazyFunction

if TYPE_CHECKING:
    import numpy as np

    from crowd_tvcs.plan.assignment import Assignment
    from crowd_tvcs.plan.plan import Plan
    from crowd_tvcs.search.deadline import Deadline


@dataclass(frozen=True, kw_only=True)
class Method(LazyFunction):
    """A method with its texts for help, errors, reports and docs.

    Attributes
    ----------
    about
        Description in one line.
    honours
        The `Plan.demands` that it meets; every method keeps the caps.
    proves_bound
        Whether it proves an upper bound on all plans.
    is_quick
        Whether ten budgets of a plan can be tried for a curve.
    weighs_votes
        Whether it computes the accuracy of votes.
    """

    package = "crowd_tvcs.methods"

    about: str
    honours: frozenset[str] = frozenset()
    proves_bound: bool = False
    is_quick: bool = False
    weighs_votes: bool = True


SETTLED = frozenset({"min_workers_per_task", "forced"})  # what `Plan.settle` fixes before all else

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            name="best",
            hint="with a bound on what any plan can reach",
            about="prices, column generation and exchanges, with a bound on what any plan can "
            "reach",
            honours=SETTLED | {"money", "group", "kinds"},
            proves_bound=True,
        ),
        Method(
            name="fast",
            hint="under a second",
            about="the better of greedy and of the largest sum of qualities with odd numbers of "
            "answers",
            honours=SETTLED,
            is_quick=True,
        ),
        Method(
            name="greedy",
            about="pair after pair by the largest gain in expected accuracy",
            honours=SETTLED | {"money", "group"},
            is_quick=True,
        ),
        Method(
            name="tvcs",
            hint="the paper's",
            about="stochastic iterative hard thresholding on the expected accuracy",
            honours=SETTLED,
        ),
        Method(
            name="qlp",
            hint="largest sum of qualities",
            about="the largest sum of qualities",
            honours=SETTLED,
            is_quick=True,
            weighs_votes=False,
        ),
        Method(
            name="random",
            about="random pairs within the caps",
            honours=SETTLED,
            is_quick=True,
            weighs_votes=False,
        ),
    )
}


def check_time_limit(time_limit: float | None) -> None:
    """Raise unless a limit is None or a number of seconds above 0."""
    if time_limit is not None:
        check_number("time_limit", time_limit)
        if not 0 < time_limit < math.inf:
            raise ValueError(f"time_limit must be a number of seconds above 0, found {time_limit}")


def assign(
    plan: Plan,
    method: str = "best",
    *,
    rng: int | np.random.Generator | None = None,
    time_limit: float | None = 60.0,
    keep_on_interrupt: bool = False,
) -> Assignment:
    """Choose which worker labels which task.

    Workers and tasks are sorted by name before any arithmetic, so their order in `plan` changes
    nothing.

    Parameters
    ----------
    plan
        Quality, caps and priors.
    method
        One of `METHODS`; ``METHODS["best"].about`` describes the default.
    rng
        Seed or generator; the same seed gives the same assignment.
    time_limit
        Wall-clock seconds after which the best assignment so far is returned; None for no limit.
        Compiling kernels does not count. If the limit is reached, the result depends on the speed
        of the machine. Setting up the problem and a first plan is always finished: 2 s for a
        million pairs of four classes.
    keep_on_interrupt
        Whether the first Ctrl-C, in the main thread, returns the best assignment so far too, with
        a `reason` that begins with "interrupted"; only the second raises then.

    Returns
    -------
    Assignment
        In the order of `plan`; it keeps every cap.

    Raises
    ------
    ValueError
        If the method is unknown or does not honour the plan's demands beyond the caps, or the
        time limit is not a number of seconds above 0.

    Examples
    --------
    >>> from crowd_tvcs import Plan, Quality, assign
    >>> quality = Quality([[.9, .6], [.7, .8]], workers=["ann", "bob"], tasks=["t1", "t2"])
    >>> assign(Plan(quality, max_workers_per_task=1, budget=2), "qlp").pairs()
    [('ann', 't1'), ('bob', 't2')]
    """
    from crowd_tvcs.plan.plan import Plan
    from crowd_tvcs.search.deadline import Deadline

    check_type("plan", plan, Plan)
    check_time_limit(time_limit)
    method_for(plan, method)  # loaded before the clock runs
    deadline = Deadline.after(time_limit)
    return assign_until(deadline, plan, method, rng=rng, keep_on_interrupt=keep_on_interrupt)


def assign_until(
    deadline: Deadline,
    plan: Plan,
    method: str,
    *,
    rng: int | np.random.Generator | None = None,
    keep_on_interrupt: bool = False,
) -> Assignment:
    """Choose as `assign` does, until a deadline."""
    import numpy as np

    from crowd_tvcs.plan.plan import by_name
    from crowd_tvcs.search.common_error import plan_of_a_vote, restate_for
    from crowd_tvcs.search.deadline import ended_by_interrupts
    from tvcs_core.streams import stream

    chosen = method_for(plan, method)
    rng = stream(rng, "assign", method) if plan.is_table else stream(rng, "plan in factors")
    rows, columns = by_name(plan.quality.workers), by_name(plan.quality.tasks)
    kept = ended_by_interrupts() if keep_on_interrupt else nullcontext()
    with kept, deadline:
        ordered = plan.reorder(rows, columns)
        if plan.common_error > 0.0 and chosen.weighs_votes:
            vote = plan_of_a_vote(ordered)
            found: Assignment = restate_for(ordered, chosen(vote, rng=rng, deadline=deadline))
        else:
            found = chosen(ordered, rng=rng, deadline=deadline)
    found = found.reorder(plan, np.argsort(rows), np.argsort(columns))
    if broken := plan.unmet_by(found.assigned):
        raise RuntimeError(f"the method {method} did not meet {', '.join(broken)}")
    return found


def methods_for(plan: Plan) -> list[str]:
    """Name the methods that honour all that a plan demands, in the order of `METHODS`."""
    return [name for name, method in METHODS.items() if method.honours.issuperset(plan.demands)]


def method_for(plan: Plan, method: str) -> Method:
    """Return a method, loaded; refuse an unknown one, and one that does not honour the demands."""
    check_honoured(method, plan.demands)
    chosen = METHODS[method]
    _ = chosen.function  # loaded before a clock runs, or a folder is there
    return chosen


def check_honoured(method: str, demands: Sequence[str]) -> None:
    """Refuse an unknown method, and one that does not honour some demands."""
    check_choice("method", method, METHODS)
    for demand in demands:
        if demand not in METHODS[method].honours:
            able = [name for name, other in METHODS.items() if demand in other.honours]
            raise ValueError(
                f"the method {method} does not honour {demand}; these do: {', '.join(able)} "
                f"(on the command line: --method {able[0]})"
            )


__all__ = ["METHODS", "Method", "assign", "method_for", "methods_for"]

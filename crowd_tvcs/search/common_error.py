"""Plans of crowds that err together, searched as if nobody did.

The accuracy of a set is at most a constant plus a share of the accuracy of the vote on the apparent
class (`crowd_tvcs.accuracy.common_error`), and mostly equal to it. So the methods get a plan of
that vote; their bounds on it hold for the accuracy, on the scale of the accuracy.
"""

from __future__ import annotations

from dataclasses import replace

from crowd_tvcs.accuracy.common_error import chance_of_equals, seeming_quality
from crowd_tvcs.answers.quality import Quality
from crowd_tvcs.plan.accuracy import constant_and_weights
from crowd_tvcs.plan.assignment import Assignment
from crowd_tvcs.plan.certificate import PlanProof
from crowd_tvcs.plan.leaves import Leaf
from crowd_tvcs.plan.plan import Plan
from crowd_tvcs.plan.proof import LARGEST, is_largest, usable
from crowd_tvcs.search.search import CLOSE, CLOSED_NEARLY, NO_MORE


def plan_of_a_vote(plan: Plan) -> Plan:
    """Return the plan, without a common error, that the methods search in place of `plan`."""
    if plan.model is None:
        given = plan.table
        values = seeming_quality(given.values, plan.common_error)
        quality = Quality(values, given.workers, given.tasks, given.allowed)
        prior = chance_of_equals(plan.prior, plan.common_error)
        return plan._copy(quality=quality, prior=prior, common_error=0.0)
    out = plan._copy(common_error=0.0)
    # In place of what the cached property would make of the qualities: weights for priors.
    weights = constant_and_weights(plan, plan.model)[1]
    vars(out)["model"] = replace(plan.model, prior=weights)
    return out


def restate_for(plan: Plan, found: Assignment) -> Assignment:
    """Return the result for `plan_of_a_vote(plan)` as one of the plan itself."""
    proof = None if found.certificate is None else _proof(plan, found.certificate)
    out = replace(found, plan=plan, certificate=proof)
    accuracy, bound, error = out.expected_accuracy, out.bound, out.standard_error
    if bound is None:
        return out
    if is_largest(accuracy, bound, error):
        return replace(out, reason=LARGEST)
    if error == 0.0 and bound - accuracy <= CLOSE * (1.0 - accuracy):
        return replace(out, reason=CLOSED_NEARLY)
    return replace(out, reason=NO_MORE) if out.reason in (LARGEST, CLOSED_NEARLY) else out


def _proof(plan: Plan, proof: PlanProof) -> PlanProof:
    """Scale prices, and bounds with the constant of the mean."""
    if plan.model is None:
        scale, constant = 1.0 - plan.common_error, plan.common_error / 2.0
    else:
        scale, constant = 1.0, float(constant_and_weights(plan, plan.model)[0].mean())

    def of(bound: float) -> float:
        plan = usable(constant + scale * bound)
        assert plan is not None
        return plan

    def scaled(price: float | None) -> float | None:
        return None if price is None else scale * price

    def leaf(part: Leaf) -> Leaf:
        branches = tuple(replace(b, price=scale * b.price) for b in part.branches)
        bound = constant + scale * part.bound
        prices = scale * part.prices, scale * part.budget_price
        return Leaf(branches, *prices, bound, money_price=scaled(part.money_price))

    return PlanProof(
        of(proof.bound),
        scale * proof.prices,
        scale * proof.budget_price,
        tuple(map(leaf, proof.leaves)),
        None if proof.bound_by_prices is None else of(proof.bound_by_prices),
        money_price=scaled(proof.money_price),
        slack=scale * proof.slack,
    )

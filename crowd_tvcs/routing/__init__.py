"""Routing: the next label to buy while answers come in, when to stop, and replays of policies.

Worker skills are estimated in `skills`. The names below are those that users import.
"""

from crowd_tvcs.belief.gain import gain_per_label
from crowd_tvcs.routing.routing import is_worth_buying, next_batch, next_task, routing_scores

__all__ = ["gain_per_label", "is_worth_buying", "next_batch", "next_task", "routing_scores"]

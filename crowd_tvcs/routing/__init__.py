"""Routing: the next label to buy while answers come in, when to stop, and replays of policies.

Worker skills are estimated in `skills`. The names below are those that users import.
"""

from typing import TYPE_CHECKING

from tvcs_core.lazy import lazy_exports

if TYPE_CHECKING:
    from crowd_tvcs.routing.routing import (
        gain_per_label,
        is_worth_buying,
        next_batch,
        next_task,
        routing_scores,
    )

__all__ = ["gain_per_label", "is_worth_buying", "next_batch", "next_task", "routing_scores"]

__getattr__, __dir__ = lazy_exports(__name__, {"routing": " ".join(__all__)})

"""Campaigns: rounds and online routing in one store, with no cap broken by two at once.

Needs SQLAlchemy (``pip install '.[campaign]'`` in the folder of tvcs), and psycopg for
PostgreSQL (``'.[postgresql]'``). How a round is planned does not belong here (`methods`), nor how
labels are worth buying (`routing`): a campaign asks them.
"""

from typing import TYPE_CHECKING

from tvcs_core.lazy import lazy_exports

if TYPE_CHECKING:
    from crowd_tvcs.campaign.campaign import Campaign
    from crowd_tvcs.campaign.change.payouts import Payout
    from crowd_tvcs.campaign.entries import AnswerRecord, Round, Task, TaskStatus, Worker
    from crowd_tvcs.campaign.leases import RejectedError, SubmissionResult
    from crowd_tvcs.campaign.offers import NextTask
    from crowd_tvcs.campaign.state import State
    from crowd_tvcs.campaign.stopping import summary, task_statuses
    from crowd_tvcs.campaign.store.copying import copy
    from crowd_tvcs.campaign.store.errors import StoreError

__all__ = [
    "AnswerRecord",
    "Campaign",
    "NextTask",
    "Payout",
    "RejectedError",
    "Round",
    "State",
    "StoreError",
    "SubmissionResult",
    "Task",
    "TaskStatus",
    "Worker",
    "copy",
    "summary",
    "task_statuses",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "campaign": "Campaign",
        "change.payouts": "Payout",
        "entries": "AnswerRecord Round Task TaskStatus Worker",
        "leases": "SubmissionResult RejectedError",
        "offers": "NextTask",
        "state": "State",
        "stopping": "task_statuses summary",
        "store.copying": "copy",
        "store.errors": "StoreError",
    },
)

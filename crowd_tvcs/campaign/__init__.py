"""Campaigns: rounds and online routing in one store, with no cap broken by two at once.

Needs SQLAlchemy (``pip install '.[campaign]'`` in the folder of tvcs), and psycopg for
PostgreSQL (``'.[postgresql]'``). How a round is planned does not belong here (`methods`), nor how
labels are worth buying (`routing`): a campaign asks them.
"""

from typing import TYPE_CHECKING

from tvcs_core.lazy import lazy_exports

if TYPE_CHECKING:
    from crowd_tvcs.campaign.campaign import Campaign
    from crowd_tvcs.campaign.entries import Line, Round, Task, Worker
    from crowd_tvcs.campaign.leases import Receipt, Refused
    from crowd_tvcs.campaign.offers import Offer
    from crowd_tvcs.campaign.state import State
    from crowd_tvcs.campaign.stopping import Standing, stand, summary
    from crowd_tvcs.campaign.store.errors import StoreError
    from crowd_tvcs.campaign.store.upgrade import upgrade

__all__ = [
    "Campaign",
    "Line",
    "Offer",
    "Receipt",
    "Refused",
    "Round",
    "Standing",
    "State",
    "StoreError",
    "Task",
    "Worker",
    "stand",
    "summary",
    "upgrade",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "campaign": "Campaign",
        "entries": "Line Round Task Worker",
        "leases": "Receipt Refused",
        "offers": "Offer",
        "state": "State",
        "stopping": "Standing stand summary",
        "store.errors": "StoreError",
        "store.upgrade": "upgrade",
    },
)

"""Campaigns that a test makes, and that are closed after it."""

from contextlib import ExitStack, contextmanager

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk.actions import origin


@contextmanager
def making(folder, **usual):
    """A function that makes campaigns in a folder, of these options unless it is given others."""
    with ExitStack() as open_ones:
        made = []

        def make(place=None, **options):
            place = place or folder / f"c{len(made)}.db"
            made.append(open_ones.enter_context(Campaign.create(place, **(usual | options))))
            return made[-1]

        yield make


@contextmanager
def coming_from(address):
    """Requests that come from an address, given by its hash."""
    before = origin.set(address)
    try:
        yield
    finally:
        origin.reset(before)

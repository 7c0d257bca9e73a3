"""Campaigns that a test makes, and that are closed after it."""

from contextlib import ExitStack, contextmanager

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.desk.actions import origin
from crowd_tvcs.campaign.store import schema


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


def rows_of(campaign, query):
    """The rows of a query as tuples."""
    with campaign.store.read() as (connection, _):
        return [tuple(row) for row in connection.exec_driver_sql(query)]


def tables(campaign, *others):
    """All that is kept, but `others`, how often it was changed, and the times of the audit."""
    found = {}
    with campaign.store.read() as (connection, _):
        for table in schema.metadata.sorted_tables:
            if table.name not in others:
                rows = connection.execute(table.select()).mappings().all()
                kept = [{k: row[k] for k in row if k not in ("revision", "at")} for row in rows]
                found[table.name] = sorted(map(repr, kept))
    return found

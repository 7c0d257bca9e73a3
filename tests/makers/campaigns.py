"""Campaigns that a test makes, and that are closed after it."""

from contextlib import ExitStack, contextmanager

from crowd_tvcs.campaign import Campaign
from crowd_tvcs.campaign.store import schema


def make_older(connection, version):
    """Take from a store of SQLite what came after a version, from 3 on, that later ones add."""
    for old in range(version, schema.VERSION):
        for column in schema.ADDED[old]:
            connection.execute(f"ALTER TABLE {column.table.name} DROP COLUMN {column.name}")
    for table in ("payment", *(("session",) if version == 3 else ())):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("UPDATE campaign SET schema_version = ?", (version,))


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

"""Argilla's own server without Elasticsearch and Redis: run by the Python of its environment.

``python serve_argilla.py PORT FOLDER``: everything is that of argilla-server (handlers, rights,
checks, database) but the search engine, which keeps nothing and finds nothing, and Redis, which is
fakeredis. Nothing that is asked of Argilla here needs to search.
"""

import os
import sys
from unittest import mock

port, folder = sys.argv[1:]
os.environ["ARGILLA_HOME_PATH"] = folder
os.environ["ARGILLA_ENABLE_TELEMETRY"] = "false"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ["ARGILLA_SEARCH_ENGINE"] = "elasticsearch"
os.environ["USERNAME"] = "boss"
os.environ["PASSWORD"] = "a-long-password"
os.environ["API_KEY"] = "boss.apikey"

import fakeredis  # noqa: E402
import redis  # noqa: E402

redis.from_url = lambda *_, **__: fakeredis.FakeRedis()

from argilla_server.search_engine import SearchEngine  # noqa: E402


class Nothing(SearchEngine):
    """A search engine that keeps nothing."""

    @classmethod
    async def new_instance(cls):
        return cls()

    async def ping(self):
        return True

    async def info(self):
        return {}


for name in SearchEngine.__abstractmethods__ - {"new_instance", "ping", "info"}:
    setattr(Nothing, name, mock.AsyncMock(return_value=None))
Nothing.__abstractmethods__ = frozenset()
SearchEngine.registered_classes = dict.fromkeys(SearchEngine.registered_classes, Nothing)

if __name__ == "__main__":
    import asyncio

    import uvicorn
    from argilla_server.cli.database.migrate import migrate_db
    from argilla_server.cli.database.users.create_default import _create_default

    migrate_db("head")
    asyncio.run(_create_default("boss.apikey", "a-long-password", True))
    uvicorn.run("argilla_server._app:app", host="127.0.0.1", port=int(port), log_level="warning")

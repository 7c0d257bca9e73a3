"""What several rooms of tests share: small campaigns, a PostgreSQL, and the real Label Studio."""

import pytest

from benchmarks.speed import campaign as speed
from tests.crowd.real_studio import running


@pytest.fixture(scope="session")
def server():
    """A server that is thrown away in the end; its URL."""
    pytest.importorskip("psycopg")
    with speed.postgresql("-c fsync=off") as url:  # processes are killed, the machine is not
        if url is None:
            pytest.skip("PostgreSQL is not installed, or there is no user to run it")
        yield url


@pytest.fixture
def database(server):
    """An empty database on it; its URL."""
    yield speed.new_database(server, "campaign")
    with speed.psycopg_of(server) as connection:
        connection.execute("DROP DATABASE campaign WITH (FORCE)")


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def place(request, tmp_path):
    """An empty place for a store, in a file or on a server."""
    return tmp_path / "c.db" if request.param == "SQLite" else request.getfixturevalue("database")


@pytest.fixture(scope="session")
def real_studio(tmp_path_factory):
    """A running Label Studio, spoken to over HTTP."""
    with running(tmp_path_factory.mktemp("label-studio")) as server:
        yield server


@pytest.fixture
def begin(tmp_path):
    """Make a campaign of three workers and three tasks, or of what is given; closed in the end."""
    from tests.makers.campaigns import making  # which needs SQLAlchemy

    workers = {"ann": 0.9, "bob": 0.8, "cy": 0.7}
    usual = {"workers": workers, "tasks": ["t1", "t2", "t3"], "qualities": workers}
    with making(tmp_path, **usual) as begin:
        yield begin

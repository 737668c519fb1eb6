import pytest

from tests.common.postgres import postgres_server


@pytest.fixture(scope="module")
def postgres():
    """Return a connection to a separate PostgreSQL server."""
    with postgres_server() as connection:
        yield connection

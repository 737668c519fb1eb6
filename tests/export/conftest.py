import pytest

from tests.common.cards import CARDS, fitted
from tests.common.postgres import postgres_server


@pytest.fixture(params=CARDS, scope="module")
def card_and_rows(request):
    return fitted(request.param)


@pytest.fixture(scope="module")
def postgres():
    """Return a connection to a separate PostgreSQL server."""
    with postgres_server() as connection:
        yield connection

import pytest

from tests.common.cards import CARDS, fitted


@pytest.fixture(params=CARDS, scope="module")
def card_and_rows(request):
    return fitted(request.param)

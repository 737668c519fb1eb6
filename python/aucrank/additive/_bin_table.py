"""What MAD2C and RIMARC show of their bins: a table, and a picture for each feature."""

import json
from typing import Any

from aucrank import _core
from aucrank._schema import Schema


class BinsMixin:
    """For estimators whose core model holds features in bins."""

    _schema: Schema

    def _table(self) -> _core.Mad2c:
        """Return the features in bins."""
        raise NotImplementedError

    def _binned(self) -> dict[str, Any]:
        """Return the features in bins as the model document has them."""
        binned: dict[str, Any] = json.loads(self._table().to_json())
        return binned

"""A scorecard in the forms of other systems: SQL, PMML, JSON."""

import json
from typing import Any

from aucrank import _core
from aucrank._schema import Schema


class CardExportMixin:
    """For estimators whose core model is a scorecard."""

    _model: _core.Scorecard
    _schema: Schema

    def _card(self) -> dict[str, Any]:
        """Return the card as the model document has it."""
        card: dict[str, Any] = json.loads(self._model.to_json())
        return card

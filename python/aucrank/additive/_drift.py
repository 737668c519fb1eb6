"""How far new rows have moved from those that a scorecard was made from."""

from aucrank import _core
from aucrank._schema import Schema


class DriftMixin:
    """For estimators whose core model is a scorecard."""

    _model: _core.Scorecard
    _schema: Schema

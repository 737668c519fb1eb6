"""Export of a scorecard to other systems: SQL, PMML, JSON."""

import json
from math import inf
from typing import Any, Literal

from aucrank import _core
from aucrank._export.bins import CardBin, CardFeature, Kind
from aucrank._export.pmml.card import PmmlCard, write_pmml
from aucrank._export.pmml.document import check_columns
from aucrank._utils.plain_text import shown
from aucrank.additive._scorecard.card import Card
from aucrank.additive._scorecard.edits import Edit

#: Format and version in `to_json`.
JSON_FORMAT = "aucrank-scorecard"
JSON_VERSION = 1


def to_pmml(
    card: Card,
    model_name: str,
    *,
    why: Literal["few", "many"],
    n_reasons: int,
    timestamp: str | None,
) -> str:
    """Return a PMML document; raise ValueError for a name that it cannot hold."""
    check_columns(card.schema, (feature.place for feature in card.features))
    return write_pmml(
        PmmlCard(
            model_name=model_name,
            version=_core.__version__,
            timestamp=timestamp,
            initial_points=card.initial_points,
            features=card.features,
            columns=card.schema.shown_names,
            why=why,
            n_reasons=n_reasons,
            offset=card.offset,
            factor=card.factor,
            high_positive=card.sign > 0,
            positive=str(card.classes[1]),
        )
    )


def sql_comment(edit: Edit) -> str:
    """Return an edit as a comment of one line, which no name in it can terminate."""
    text = shown(str(edit)).replace("*/", "* /").replace("/*", "/ *")
    return f"/* edited {text} */\n"


def to_json(card: Card, scale: dict[str, Any], *, indent: int | None) -> str:
    """Return the card as plain JSON; ``scale`` is that of `Card.scale`."""
    document = {
        "format": JSON_FORMAT,
        "version": JSON_VERSION,
        "classes": card.classes.tolist(),
        "initial_points": card.initial_points,
        "scale": scale,
        "features": [_json_feature(feature) for feature in card.features],
    }
    return json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)


def _json_feature(feature: CardFeature) -> dict[str, Any]:
    kinds: tuple[Kind, ...] = ("special", "interval", "category", "missing")
    return {
        "name": feature.name,
        "position": feature.place,
        "kind": "numeric" if feature.is_numeric else "categorical",
        "bins": [_json_bin(bin_) for kind in kinds for bin_ in feature.of_kind(kind)],
    }


def _json_bin(bin_: CardBin) -> dict[str, Any]:
    values: dict[str, Any]
    match bin_.kind:
        case "special":
            values = {"special": bin_.special}
        case "interval":
            values = {
                "low": None if bin_.low == -inf else bin_.low,
                "high": None if bin_.high == inf else bin_.high,
            }
        case "category":
            values = {"categories": list(bin_.levels)}
        case "missing":
            values = {"missing": True}
    return values | {"points": bin_.points, "size": bin_.size, "n_pos": bin_.n_pos}

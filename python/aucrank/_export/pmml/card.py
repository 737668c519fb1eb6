"""A scorecard as PMML 4.4, which decision systems of banks read."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from xml.etree import ElementTree

from aucrank._data.schema import Level
from aucrank._export.bins import CardBin, CardFeature, Kind
from aucrank._export.pmml.document import (
    add,
    add_field,
    constant,
    end_document,
    free_name,
    start_document,
    text_of,
)


@dataclass(frozen=True, slots=True)
class PmmlCard:
    """Content of the PMML document of a scorecard.

    Attributes
    ----------
    model_name, version : str
        Name of the model, and version of the application that wrote it.
    timestamp : str or None
        Time stamp; None to omit it.
    initial_points : int
        Points that every row has.
    features : sequence of CardFeature
        The features that have points.
    columns : sequence of str
        Names of the columns of the fit.
    why : {"few", "many"}
        Which points the reason codes explain.
    n_reasons : int
        Number of reason codes.
    offset, factor : float
        Points at even odds, and points that multiply the odds by e.
    high_positive : bool
        Whether high points indicate the positive class.
    positive : str
        Name of the positive class.
    """

    model_name: str
    version: str
    timestamp: str | None
    initial_points: int
    features: Sequence[CardFeature]
    columns: Sequence[str]
    why: str
    n_reasons: int
    offset: float
    factor: float
    high_positive: bool
    positive: str


def write_pmml(card: PmmlCard) -> str:
    """Return a scorecard as a PMML document.

    Raises
    ------
    ValueError
        If a name or a category holds a character that XML cannot express.
    """
    names = [feature.name for feature in card.features] or [card.columns[0]]
    target = free_name("total_points", names)
    description = "Scorecard: whole points that add up to a score"
    root = start_document(description, card.version, card.timestamp)
    dictionary = add(root, "DataDictionary", numberOfFields=str(len(names) + 1))
    for feature in card.features:
        add_field(dictionary, feature.name, None if feature.is_numeric else _levels(feature))
    if not card.features:
        add(dictionary, "DataField", name=names[0], optype="categorical", dataType="string")
    add(dictionary, "DataField", name=target, optype="continuous", dataType="double")

    few = card.why == "few"
    scorecard = add(
        root,
        "Scorecard",
        modelName=card.model_name,
        functionName="regression",
        initialScore=str(card.initial_points),
        useReasonCodes="true",
        reasonCodeAlgorithm="pointsBelow" if few else "pointsAbove",
        baselineMethod="max" if few else "min",
    )
    schema = add(scorecard, "MiningSchema")
    for name in names:
        add(
            schema,
            "MiningField",
            name=name,
            usageType="active",
            # A category that was not seen in fit counts as missing.
            invalidValueTreatment="asMissing",
        )
    add(schema, "MiningField", name=target, usageType="target")
    _add_output(scorecard, card, [*names, target])
    _add_characteristics(scorecard, card, names)
    return end_document(root)


def _levels(feature: CardFeature) -> list[Level]:
    return [level for bin_ in feature.of_kind("category") for level in bin_.levels]


def _add_output(scorecard: ElementTree.Element, card: PmmlCard, taken: list[str]) -> None:
    output = add(scorecard, "Output")
    points = free_name("points", taken)
    add(
        output,
        "OutputField",
        name=points,
        optype="continuous",
        dataType="double",
        feature="predictedValue",
    )
    for rank in range(1, min(card.n_reasons, len(card.features)) + 1):
        add(
            output,
            "OutputField",
            name=free_name(f"reason_{rank}", taken),
            optype="categorical",
            dataType="string",
            feature="reasonCode",
            rank=str(rank),
        )
    # 1 / (1 + exp((offset - points) / factor)), with the sign flipped if high points are negative.
    field = add(
        output,
        "OutputField",
        name=free_name("probability", taken),
        displayName=f"probability of {card.positive}",
        optype="continuous",
        dataType="double",
        feature="transformedValue",
    )
    share = add(field, "Apply", function="/")
    constant(share, "1")
    whole = add(share, "Apply", function="+")
    constant(whole, "1")
    odds_against = add(whole, "Apply", function="exp")
    steps = add(odds_against, "Apply", function="/")
    distance = add(steps, "Apply", function="-")
    if card.high_positive:
        constant(distance, repr(card.offset))
    add(distance, "FieldRef", field=points)
    if not card.high_positive:
        constant(distance, repr(card.offset))
    constant(steps, repr(card.factor))


def _add_characteristics(scorecard: ElementTree.Element, card: PmmlCard, names: list[str]) -> None:
    characteristics = add(scorecard, "Characteristics")
    for place, feature in enumerate(card.features):
        characteristic = add(
            characteristics,
            "Characteristic",
            name=feature.name,
            reasonCode=feature.name,
            baselineScore=_baseline_score(card, place),
        )
        # The first true one applies, so special values come before the interval around them.
        kinds: tuple[Kind, ...] = ("special", "interval", "category", "missing")
        for bin_ in (bin_ for kind in kinds for bin_ in feature.of_kind(kind)):
            attribute = add(characteristic, "Attribute", partialScore=str(bin_.points))
            _add_predicate(attribute, feature.name, bin_)
    if not card.features:
        # The schema requires at least one.
        characteristic = add(
            characteristics,
            "Characteristic",
            name=names[0],
            reasonCode=names[0],
            baselineScore="0",
        )
        add(add(characteristic, "Attribute", partialScore="0"), "True")


def _baseline_score(card: PmmlCard, place: int) -> str:
    """Return the points that a feature could have given, plus a distinct fraction.

    According to PMML, features that cost a row the same are ordered as in the document, but an
    engine may use the alphabetical order; and some engines output reasons for features that cost
    nothing, and some do not. As points are integers, the fractions rule out both cases: no two
    differences are equal, and no loss is below zero.
    """
    feature = card.features[place]
    # Points without training rows do not show what a row could have had.
    held = [bin_.points for bin_ in feature.bins if bin_.size > 0]
    points = held or [bin_.points for bin_ in feature.bins]
    digits = len(str(len(card.features)))
    part = (place + 1) / 10**digits
    return f"{max(points) - part if card.why == 'few' else min(points) + part:.{digits}f}"


def _add_predicate(attribute: ElementTree.Element, field: str, bin_: CardBin) -> None:
    match bin_.kind:
        case "missing":
            _simple(attribute, field, "isMissing")
        case "special":
            _simple(attribute, field, "equal", repr(bin_.special))
        case "interval":
            _add_interval(attribute, field, bin_)
        case "category":
            _add_levels(attribute, field, [text_of(level) for level in bin_.levels])


def _simple(
    parent: ElementTree.Element, field: str, operator: str, value: str | None = None
) -> None:
    predicate = add(parent, "SimplePredicate", field=field, operator=operator)
    if value is not None:
        predicate.set("value", value)


def _add_interval(attribute: ElementTree.Element, field: str, bin_: CardBin) -> None:
    ends = []
    if bin_.low > -inf:
        ends.append(("greaterOrEqual", bin_.low))
    if bin_.high < inf:
        ends.append(("lessThan", bin_.high))
    if not ends:
        _simple(attribute, field, "isNotMissing")
        return
    parent = attribute
    if len(ends) > 1:
        parent = add(attribute, "CompoundPredicate", booleanOperator="and")
    for operator, end in ends:
        _simple(parent, field, operator, repr(end))


def _add_levels(attribute: ElementTree.Element, field: str, values: list[str]) -> None:
    if len(values) == 1:
        _simple(attribute, field, "equal", values[0])
    elif all("\\" not in value and value.isprintable() for value in values):
        array = add(
            add(attribute, "SimpleSetPredicate", field=field, booleanOperator="isIn"),
            "Array",
            type="string",
            n=str(len(values)),
        )
        escaped = (value.replace('"', '\\"') for value in values)
        array.text = " ".join(f'"{value}"' for value in escaped)
    else:
        # An array cannot express a backslash before its closing quote, nor a line end that an XML
        # reader preserves; attributes can.
        parent = add(attribute, "CompoundPredicate", booleanOperator="or")
        for value in values:
            _simple(parent, field, "equal", value)

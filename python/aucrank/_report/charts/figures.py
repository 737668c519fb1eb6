"""Charts of a report, made from measured facts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from aucrank._data.table import Table
from aucrank._page import formats
from aucrank._plots.gains import drawn_lift
from aucrank._report.charts.chart import (
    QUIET,
    SMALL,
    SQUARE,
    WIDE,
    Axis,
    Chart,
    Dot,
    Key,
    Mark,
    Stroke,
    model_keys,
    slot,
)
from aucrank._report.charts.path import area, line, steps
from aucrank._report.charts.scale import LinearScale, Tick, padded
from aucrank._report.cutoffs import mean_cost
from aucrank._report.effects import Dependence, Effects
from aucrank._report.facts import ModelFacts, ReportFacts
from aucrank._report.options import Costs

_FPR, _TPR = "False positive rate", "True positive rate"

# Maximum number of letters of a category on an axis, and the width of one.
_MOST_LETTERS = 10
_LETTER = 7.5

# Cut-offs that are marked in the picture of a score.
_CUTS = {"own": "own cut", "ks": "KS"}


def roc_of_all(facts: ReportFacts) -> Chart:
    """Draw the ROC curves of all models in one picture."""
    x, y = (scale(0, 1, is_share=True) for scale in (SQUARE.across, SQUARE.up))
    chart = Chart(
        "ROC curves" if len(facts.models) > 1 else "ROC curve",
        "; ".join(
            f"{model.name}: AUC {formats.area(model.ranking.auc)}, true positive rate "
            f"{formats.share(float(model.ranking.curve.tpr_at(0.1)))} at a false positive rate of "
            "10%"
            for model in facts.models
        ),
        Axis(_FPR, x.ticks(5)),
        Axis(_TPR, y.ticks(5)),
        SQUARE,
        strokes=[_chance(x, y)],
        keys=[*model_keys([model.name for model in facts.models]), Key("chance", QUIET)],
    )
    if len(facts.models) == 1:
        _add_band(chart, facts.models[0], 0, x, y, facts.options.confidence)
    for place, model in enumerate(facts.models):
        curve = model.ranking.curve
        chart.strokes.append(Stroke(line(x(curve.fpr), y(curve.tpr)), slot(place)))
    return chart


def roc_of_one(model: ModelFacts, place: int, confidence: float) -> Chart:
    """Draw the ROC curve of a model with its band and its hull."""
    x, y = (scale(0, 1, is_share=True) for scale in (SQUARE.across, SQUARE.up))
    curve = model.ranking.curve
    chart = Chart(
        f"{model.name}: ROC curve, band and hull",
        f"AUC {formats.area(curve.auc)}, of the hull {formats.area(model.ranking.hull.auc)}; the"
        " table of operating points has the figures of the band",
        Axis(_FPR, x.ticks(5)),
        Axis(_TPR, y.ticks(5)),
        SQUARE,
        strokes=[_chance(x, y)],
        keys=[Key("curve", slot(place)), Key("chance", QUIET)],
    )
    _add_band(chart, model, place, x, y, confidence)
    chart.strokes.append(Stroke(line(x(curve.fpr), y(curve.tpr)), slot(place)))
    return chart


def _chance(x: LinearScale, y: LinearScale) -> Stroke:
    return Stroke(line(x([0, 1]), y([0, 1])), QUIET)


def _add_band(
    chart: Chart, model: ModelFacts, place: int, x: LinearScale, y: LinearScale, confidence: float
) -> None:
    band, hull = model.ranking.band, model.ranking.hull
    chart.strokes.append(
        Stroke(area(x(band.fpr), y(band.low), y(band.high)), slot(place), is_area=True)
    )
    chart.strokes.append(Stroke(line(x(hull.fpr), y(hull.tpr)), "hull", is_thin=True))
    chart.keys += [
        Key(
            f"{formats.share(confidence, 0)} band"
            + (" of the whole curve" if band.method == "simultaneous" else " at each point"),
            slot(place),
            is_area=True,
        ),
        Key("concave hull", "hull"),
    ]


def gains_chart(facts: ReportFacts) -> Chart:
    """Draw the share of the positives among the highest scoring rows."""
    x, y = (scale(0, 1, is_share=True) for scale in (WIDE.across, WIDE.up))
    prevalence = facts.prevalence
    perfect = line(x([0, prevalence, 1]), y([0, 1, 1]))
    chart = Chart(
        "Cumulative gains",
        "; ".join(
            f"{model.name}: the first tenth of the rows holds "
            f"{formats.share(float(model.ranking.gains['captured'][3]))} of the positives"
            for model in facts.models
        ),
        Axis("Share of all rows, highest scores first", x.ticks(5)),
        Axis("Share of the positives", y.ticks(5)),
        WIDE,
        strokes=[_chance(x, y), Stroke(perfect, "hull", is_thin=True)],
        keys=[
            *model_keys([model.name for model in facts.models]),
            Key("in random order", QUIET),
            Key("perfect", "hull"),
        ],
    )
    for place, model in enumerate(facts.models):
        gains = model.ranking.gains_curve
        chart.strokes.append(Stroke(line(x(gains.share), y(gains.captured)), slot(place)))
    return chart


def lift_chart(facts: ReportFacts) -> Chart:
    """Draw the lift: how much more frequent positives are among the highest scoring rows."""
    lifts = [drawn_lift(model.ranking.gains_curve) for model in facts.models]
    most = max(2.0, *(float(lift.max()) for _, lift in lifts))
    x, y = WIDE.across(0, 1, is_share=True), WIDE.up(0, padded(0.0, most)[1])
    return Chart(
        "Lift",
        "; ".join(
            f"{model.name}: positives are {formats.decimal(float(model.ranking.gains['lift'][3]))}"
            " times as frequent in the first tenth of the rows as in all"
            for model in facts.models
        ),
        Axis("Share of all rows, highest scores first", x.ticks(5)),
        Axis("Lift", y.ticks(5)),
        WIDE,
        strokes=[
            Stroke(line(x([0, 1]), y([1, 1])), QUIET),
            *(
                Stroke(line(x(grid), y(lift)), slot(place))
                for place, (grid, lift) in enumerate(lifts)
            ),
        ],
        keys=[
            *model_keys([model.name for model in facts.models]),
            Key("in random order", QUIET),
        ],
    )


def distribution_chart(model: ModelFacts, labels: tuple[str, str]) -> Chart:
    """Draw the distributions of scores of the two classes."""
    found = model.distribution
    edges = found.edges
    x = WIDE.across(float(edges[0]), float(edges[-1]))
    top = float(max(found.negative.max(), found.positive.max()))
    y = WIDE.up(0, padded(0.0, top, 0.14)[1], is_share=True)
    if found.values is None:
        ticks = x.ticks(6)
    else:
        every = math.ceil(len(found.values) / 8)
        ticks = [
            Tick(float(x(place)), formats.number(float(value)))
            for place, value in enumerate(found.values)
        ][::every]
    beyond = [word for word, is_so in (("first", found.below), ("last", found.above)) if is_so]
    label = "Score" + (f" (the {' and the '.join(beyond)} bin: and beyond)" if beyond else "")
    marks = [
        _mark(x, found.values, cut.threshold, _CUTS[cut.purpose])
        for cut in model.cut_offs
        if cut.purpose in _CUTS
    ]
    return Chart(
        f"{model.name}: scores by class",
        f"{_spread(found.edges, found.values, found.positive, labels[1])};"
        f" {_spread(found.edges, found.values, found.negative, labels[0])}",
        Axis(label, ticks),
        Axis("Share of the class", y.ticks(5)),
        WIDE,
        strokes=[
            Stroke(steps(x(edges), y(found.negative), WIDE.base), "negative", is_area=True),
            Stroke(steps(x(edges), y(found.positive), WIDE.base), "positive"),
        ],
        marks=[mark for mark in marks if mark is not None],
        keys=[
            Key(f"class {labels[1]}", "positive"),
            Key(f"class {labels[0]}", "negative", is_area=True),
        ],
    )


def _spread(
    edges: NDArray[np.float64],
    values: NDArray[np.float64] | None,
    shares: NDArray[np.float64],
    label: str,
) -> str:
    """Describe the median of a class."""
    middle = int(np.searchsorted(np.cumsum(shares), 0.5))
    middle = min(middle, len(shares) - 1)
    at = (edges[middle] + edges[middle + 1]) / 2 if values is None else values[middle]
    return f"the median score of class {label} is about {formats.number(float(at))}"


def _mark(
    x: LinearScale,
    values: NDArray[np.float64] | None,
    threshold: float,
    text: str,
) -> Mark | None:
    """Mark the threshold, if it is in the picture."""
    if not math.isfinite(threshold):
        return None
    # If each score has its own place, positives begin left of that of the threshold.
    at = threshold if values is None else float(np.searchsorted(values, threshold)) - 0.5
    return Mark(float(x(at)), text) if x.low <= at <= x.high else None


def calibration_chart(model: ModelFacts, place: int) -> Chart:
    """Draw observed shares against predicted probabilities."""
    assert model.calibration is not None
    bins = model.calibration.bins
    top = min(1.0, 1.08 * float(max(bins["predicted"].max(), bins["observed_high"].max())))
    x, y = (scale(0, top, is_share=True) for scale in (SQUARE.across, SQUARE.up))
    return Chart(
        f"{model.name}: calibration",
        f"In {model.calibration.n_within} of {bins.n_rows} groups the mean probability is within"
        " the interval of the share observed; the table of groups has the figures",
        Axis("Predicted probability, mean of a group", x.ticks(5)),
        Axis("Observed share of positives", y.ticks(5)),
        SQUARE,
        strokes=[
            Stroke(line(x([0, top]), y([0, top])), QUIET),
            *_smooth(model.calibration.curve.curve, place, x, y, top),
        ],
        dots=[
            Dot(
                float(x(predicted)),
                float(y(observed)),
                slot(place),
                f"predicted {formats.share(predicted)}, observed {formats.share(observed)}"
                f" ({formats.share(low)} to {formats.share(high)})",
                float(y(low)),
                float(y(high)),
            )
            for predicted, observed, low, high in zip(
                *(
                    bins[name].tolist()
                    for name in ("predicted", "observed", "observed_low", "observed_high")
                ),
                strict=True,
            )
        ],
        keys=[
            Key("group of rows with its interval, and smooth curve", slot(place)),
            Key("as predicted", QUIET),
        ],
    )


def _smooth(curve: Table, place: int, x: LinearScale, y: LinearScale, top: float) -> list[Stroke]:
    """Return the smooth curve within the picture; empty if there is none."""
    inside = (curve["probability"] <= top) & (curve["observed"] <= top)
    if not inside.any():
        return []
    along, up = curve["probability"][inside], curve["observed"][inside]
    return [Stroke(line(x(along), y(up)), slot(place), is_thin=True)]


def decision_chart(facts: ReportFacts) -> Chart:
    """Draw the net benefit of the models and of acting on all, by threshold."""
    known = [
        (place, model, model.calibration.decision.table)
        for place, model in enumerate(facts.models)
        if model.calibration is not None
    ]
    _, _, first = known[0]
    of_all = first["model"] == "all"
    thresholds, benefit_of_all = first["threshold"][of_all], first["net_benefit"][of_all]
    curves = [
        (place, model, table["net_benefit"][table["model"] == "model"])
        for place, model, table in known
    ]
    most = max(facts.prevalence, *(float(benefit.max()) for _, _, benefit in curves))
    # Values far below 0 are not shown.
    low, high = -0.15 * most, 1.05 * most
    x, y = WIDE.across(0, 1, is_share=True), WIDE.up(low, high)
    strokes = [
        Stroke(line(x([0, 1]), y([0, 0])), QUIET, is_thin=True),
        _above(thresholds, benefit_of_all, low, QUIET, x, y),
    ]
    strokes += [_above(thresholds, benefit, low, slot(place), x, y) for place, _, benefit in curves]
    at = int(np.abs(thresholds - facts.prevalence).argmin())
    return Chart(
        "Net benefit",
        "; ".join(
            f"{model.name}: {formats.signed(float(benefit[at]))} from"
            f" {formats.share(float(thresholds[at]), 0)} on"
            for _, model, benefit in curves
        ),
        Axis("Acting from a probability of", x.ticks(5)),
        Axis("Net benefit, true positives a row", y.ticks(5)),
        WIDE,
        strokes=strokes,
        keys=[
            *[Key(model.name, slot(place)) for place, model, _ in curves],
            Key("all, and none (0)", QUIET),
        ],
    )


def _above(
    along: NDArray[np.float64],
    up: NDArray[np.float64],
    least: float,
    colour: str,
    x: LinearScale,
    y: LinearScale,
) -> Stroke:
    """Return the part of a line in the picture, and its first point below it."""
    inside = np.flatnonzero(up >= least)
    end = int(inside[-1]) + 2 if inside.size else 0
    along, up = along[:end], up[:end]
    return Stroke(line(x(along), y(np.maximum(up, least))), colour)


def cost_chart(facts: ReportFacts, costs: Costs) -> Chart:
    """Draw the cost of errors by share of rows called positive."""
    curves = []
    for model in facts.models:
        cost = 1000 * mean_cost(model.ranking.curve, facts.prevalence, costs)
        curves.append((model.ranking.gains_curve.share, cost))
    most = max(float(cost.max()) for _, cost in curves)
    x, y = WIDE.across(0, 1, is_share=True), WIDE.up(0, padded(0.0, most)[1])
    dots = []
    for place, (model, (along, cost)) in enumerate(zip(facts.models, curves, strict=True)):
        least = int(cost.argmin())
        dots.append(
            Dot(
                float(x(along[least])),
                float(y(cost[least])),
                slot(place),
                f"{model.name}: least cost {formats.decimal(float(cost[least]), 1)} where"
                f" {formats.share(float(along[least]))} are called positive",
            )
        )
    return Chart(
        f"Cost of 1,000 rows, a false positive costing {formats.number(costs.false_positive)} and"
        f" a false negative {formats.number(costs.false_negative)}",
        "; ".join(dot.text for dot in dots),
        Axis("Share of the rows called positive", x.ticks(5)),
        Axis("Cost of 1,000 rows", y.ticks(5)),
        WIDE,
        strokes=[
            Stroke(line(x(along), y(cost)), slot(place))
            for place, (along, cost) in enumerate(curves)
        ],
        dots=dots,
        keys=model_keys([model.name for model in facts.models]),
    )


def dependence_charts(effects: Effects, place: int) -> list[Chart]:
    """Draw the partial dependence on the columns that matter, all on one scale."""
    found = effects.dependences
    if not found:
        return []
    answers = [
        answer
        for one in found
        for answer in (*one.answers, *(() if one.missing is None else (one.missing,)))
    ]
    is_share = effects.of_probability
    y = SMALL.up(*padded(min(answers), max(answers), 0.08), is_share=is_share)
    return [_dependence(one, place, y, is_share=is_share) for one in found]


def _dependence(found: Dependence, place: int, y: LinearScale, *, is_share: bool) -> Chart:
    said = formats.share if is_share else formats.number
    what = "Mean probability" if is_share else "Mean score"
    chart = Chart(
        found.column,
        "",
        Axis("", []),
        Axis(what, y.ticks(4)),
        SMALL,
    )
    answers = found.answers.tolist()
    if found.numbers is not None:
        values = found.numbers.tolist()
        x = SMALL.across(*padded(values[0], values[-1]))
        chart.x = Axis("", x.ticks(4))
        chart.strokes.append(Stroke(line(x(values), y(answers)), slot(place)))
        chart.dots += [
            Dot(
                float(x(value)),
                float(y(answer)),
                slot(place),
                f"{formats.number(value)}: {said(answer)}",
            )
            for value, answer in zip(values, answers, strict=True)
        ]
        chart.alt = (
            f"{what} from {said(answers[0])} at {formats.number(values[0])} to"
            f" {said(answers[-1])} at {formats.number(values[-1])}"
        )
        if found.missing is not None:
            at = float(y(found.missing))
            ends = SMALL.left, SMALL.width - SMALL.right
            chart.strokes.append(Stroke(line(ends, [at, at]), QUIET))
            chart.keys = [Key(f"missing: {said(found.missing)}", QUIET)]
            chart.alt += f"; {said(found.missing)} where it is missing"
        return chart
    x = SMALL.across(-0.5, len(answers) - 0.5)
    room = (SMALL.width - SMALL.left - SMALL.right) / len(answers) / _LETTER
    chart.x = Axis(
        "",
        [Tick(float(x(at)), _short(level, _MOST_LETTERS)) for at, level in enumerate(found.levels)],
        is_tilted=max(map(len, found.levels)) > room,
    )
    chart.dots = [
        Dot(float(x(at)), float(y(answer)), slot(place), f"{level}: {said(answer)}")
        for at, (level, answer) in enumerate(zip(found.levels, answers, strict=True))
    ]
    chart.alt = f"{what} of " + "; ".join(dot.text for dot in chart.dots)
    return chart


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"

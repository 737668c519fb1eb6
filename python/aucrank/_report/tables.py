"""Tables of a report."""

from __future__ import annotations

import numpy as np

from aucrank._page import formats
from aucrank._page.tables import Bar, Heading, View, shortened
from aucrank._report.calibration import CalibrationFacts
from aucrank._report.columns import ColumnFacts
from aucrank._report.facts import ModelFacts, ReportFacts
from aucrank.metrics import AucInterval

# Thresholds at which the net benefit is shown.
_THRESHOLDS = (0.05, 0.1, 0.2, 0.5)

# Maximum number of letters shown of a level.
_LEVEL_LETTERS = 40


def areas(facts: ReportFacts) -> View:
    """Show the AUC of every model, with its interval."""
    intervals = [model.ranking.interval for model in facts.models]
    low, high = min(i.low for i in intervals), max(i.high for i in intervals)
    extent = (high - low) or 1.0

    def along(value: float) -> float:
        return (value - low) / extent

    return View(
        "Area under the ROC curve",
        [
            Heading("Model", is_text=True),
            Heading("AUC"),
            Heading(f"Interval, {formats.share(facts.options.confidence, 0)}"),
            Heading("Standard error"),
            Heading("Gini"),
            Heading("KS"),
            Heading("AUC of the hull"),
        ],
        [
            [
                model.name,
                formats.area(interval.auc),
                Bar(
                    f"{formats.area(interval.low)} to {formats.area(interval.high)}",
                    along(interval.low),
                    along(interval.high),
                    along(interval.auc),
                ),
                formats.area(interval.standard_error),
                formats.area(model.ranking.gini),
                formats.area(model.ranking.ks),
                formats.area(model.ranking.hull.auc),
            ]
            for model, interval in zip(facts.models, intervals, strict=True)
        ],
        _whose_intervals(facts),
    )


def _whose_intervals(facts: ReportFacts) -> str:
    if facts.n_groups is not None:
        return (
            "Intervals are Obuchowski's for rows that come in groups, on the logit scale: of"
            f" {formats.count(facts.n_groups)} groups."
        )
    return "Intervals are DeLong's, on the logit scale" + (
        "; with weights, for a stratified sample of unequal weights." if facts.is_weighted else "."
    )


def partial_areas(facts: ReportFacts) -> View:
    """Show the areas over low false positive rates, and over high true positive rates."""
    most = formats.share(facts.options.max_fpr, 0)
    least = formats.share(1 - facts.options.max_fpr, 0)
    level = formats.share(facts.options.confidence, 0)
    return View(
        "Partial areas",
        [
            Heading("Model", is_text=True),
            Heading(f"False positive rates up to {most}: share of the area"),
            Heading("standardised"),
            Heading(f"interval, {level}"),
            Heading(f"True positive rates from {least}: share of the area"),
            Heading("standardised"),
            Heading(f"interval, {level}"),
        ],
        [
            [
                model.name,
                *(
                    text
                    for part in model.ranking.partial
                    for text in (
                        formats.share(part.share),
                        formats.area(part.standardized),
                        _span(part.interval),
                    )
                ),
            ]
            for model in facts.models
        ],
        "The share is that of the area which a perfect ranking has there. Standardised, 0.5 is"
        " chance and 1 is perfect (McClish, 1989). "
        "Intervals are those of He and Escobar (2008), on the logit scale"
        + (
            ""
            if facts.n_groups is None
            else f", of whole groups as Obuchowski's, of {formats.count(facts.n_groups)} groups"
        )
        + "; where the area cannot vary, that of the area under a band of the curve.",
    )


def _span(interval: AucInterval | None) -> str:
    if interval is None:
        return formats.MISSING
    return f"{formats.area(interval.low)} to {formats.area(interval.high)}"


def operating_points(facts: ReportFacts) -> View:
    """Show the true positive rates at some false positive rates."""
    points = facts.models[0].ranking.operating_points["fpr"].tolist()
    return View(
        "True positive rate at a false positive rate",
        [
            Heading("Model", is_text=True),
            *(Heading(formats.share(fpr, 0)) for fpr in points),
        ],
        [
            [
                model.name,
                *(
                    f"{formats.share(tpr)} ({formats.share(low, 0)} to {formats.share(high, 0)})"
                    for tpr, low, high in zip(
                        *(
                            model.ranking.operating_points[name].tolist()
                            for name in ("tpr", "low", "high")
                        ),
                        strict=True,
                    )
                ),
            ]
            for model in facts.models
        ],
        f"In brackets, {band_in_words(facts.models[0], facts.options.confidence)}"
        + ("." if facts.n_groups is None else " of whole groups."),
    )


def band_in_words(model: ModelFacts, confidence: float) -> str:
    """Describe the coverage of the band of a curve."""
    level = formats.share(confidence, 0)
    if model.ranking.band.method == "pointwise":
        return f"the interval of {level} confidence at that point, by the bootstrap"
    return f"the band that holds the whole curve with {level} confidence (Campbell, 1994)"


def comparisons(facts: ReportFacts) -> View:
    """Show the paired tests."""
    level = facts.options.confidence
    return View(
        "Paired differences of the AUC",
        [
            Heading("Models", is_text=True),
            Heading("Difference"),
            Heading(f"Interval, {formats.share(level, 0)}"),
            Heading("p, adjusted"),
            Heading("Distinguished", is_text=True),
        ],
        [
            [
                f"{found.first} less {found.second}",
                formats.signed(found.test.difference),
                f"{formats.signed(found.test.low)} to {formats.signed(found.test.high)}",
                formats.p_value(found.adjusted),
                "yes" if found.is_significant(level) else "no",
            ]
            for found in facts.comparisons or []
        ],
        f"{_whose_test(facts)}. Intervals and p-values are adjusted for the number of pairs by"
        " Bonferroni's method: all intervals hold together. Models are distinguished where p is"
        f" below {formats.decimal(1 - level, 3).rstrip('0')}.",
    )


def _whose_test(facts: ReportFacts) -> str:
    if facts.n_groups is None:
        return "DeLong's test on the same rows"
    return f"Obuchowski's test on the same rows, of {formats.count(facts.n_groups)} groups"


def gains(model: ModelFacts) -> View:
    """Show the gains of the highest scoring rows."""
    table = model.ranking.gains
    return View(
        f"{model.name}: what the highest scores hold",
        [
            Heading("First rows"),
            Heading("Positives found"),
            Heading("Share of positives"),
            Heading("Lift"),
        ],
        [
            [
                formats.share(of_all, 0),
                Bar(formats.share(captured), 0.0, captured),
                formats.share(rate),
                formats.decimal(lift, 2),
            ]
            for of_all, captured, rate, lift in zip(
                *(table[name].tolist() for name in ("share", "captured", "rate", "lift")),
                strict=True,
            )
        ],
        "Where a share ends among rows of one score, it holds them in proportion.",
    )


def calibration(facts: ReportFacts) -> View:
    """Show the calibration of the models."""
    rows: list[list[str | Bar]] = []
    for model in facts.models:
        found = model.calibration
        if found is None:
            rows.append([model.name, *["gives no probabilities"], *[formats.MISSING] * 6])
            continue
        rows.append(
            [
                model.name,
                formats.count(round(found.expected)),
                formats.count(round(found.observed)),
                formats.decimal(found.observed / found.expected, 3)
                if found.expected
                else formats.MISSING,
                formats.p_value(found.p_value),
                formats.share(found.gap),
                formats.area(found.brier),
                formats.share(found.brier_skill),
            ]
        )
    n_drawn = facts.models[0].subject.n_drawn
    return View(
        "Probabilities against what happened",
        [
            Heading("Model", is_text=True),
            Heading("Positives expected"),
            Heading("Positives observed"),
            Heading("Observed per expected"),
            Heading("p"),
            Heading("Mean gap"),
            Heading("Brier score"),
            Heading("Brier skill"),
        ],
        rows,
        "p is the chance of so large a difference if every probability were right. The mean gap is"
        " that of predicted and observed shares in groups of equal size. The skill is by"
        " how much the squared error is below that of the share of positives alone."
        + ("" if n_drawn is None else f" Of {formats.count(n_drawn)} rows drawn at random."),
    )


def calibration_curves(facts: ReportFacts) -> View:
    """Show the figures of the calibration curve."""
    rows: list[list[str | Bar]] = []
    for model in facts.models:
        found = model.calibration
        if found is not None:
            measures = [_measure(found, name) for name in ("intercept", "slope")]
            gaps = (found.curve.ici, found.curve.e50, found.curve.e90)
            rows.append([model.name, *measures, *(formats.share(gap, 2) for gap in gaps)])
    return View(
        "Too high, or too extreme",
        [
            Heading("Model", is_text=True),
            Heading("Intercept"),
            Heading("Slope"),
            Heading("ICI"),
            Heading("E50"),
            Heading("E90"),
        ],
        rows,
        "The intercept is what the log-odds lack: 0 is perfect, and less says that probabilities"
        " are too high. The slope is what they must be multiplied by: 1 is perfect, and less says"
        " that they are too extreme. ICI, E50 and E90 are the mean, the median and the 90 %"
        " quantile of the distance of probabilities from the smooth curve.",
    )


def _measure(found: CalibrationFacts, name: str) -> str:
    """Write a figure with its interval."""
    table = found.curve.measures
    row = table["measure"].tolist().index(name)
    value, low, high = (float(table[column][row]) for column in ("value", "low", "high"))
    if value != value:
        return formats.MISSING
    return f"{formats.decimal(value)} ({formats.decimal(low)} to {formats.decimal(high)})"


def decisions(facts: ReportFacts) -> View:
    """Show the net benefit at a few thresholds."""
    rows: list[list[str | Bar]] = []
    for model in facts.models:
        if model.calibration is None:
            continue
        table = model.calibration.decision.table
        own, of_all = (table["model"] == name for name in ("model", "all"))
        for threshold in _THRESHOLDS:
            place = int(np.abs(table["threshold"][own] - threshold).argmin())
            benefit, low, high, avoided = (
                float(table[name][own][place]) for name in ("net_benefit", "low", "high", "avoided")
            )
            rows.append(
                [
                    model.name,
                    formats.share(threshold, 0),
                    f"{formats.signed(benefit)} ({formats.signed(low)} to {formats.signed(high)})",
                    formats.signed(float(table["net_benefit"][of_all][place])),
                    formats.share(avoided),
                ]
            )
    return View(
        "Net benefit of acting from a probability on",
        [
            Heading("Model", is_text=True),
            Heading("From"),
            Heading("Net benefit"),
            Heading("Of acting on all"),
            Heading("Actions avoided"),
        ],
        rows,
        "In true positives a row, less the false positives by what the threshold says that they are"
        " worth: from 20% on, a fourth of a true positive. Acting on none has 0. Actions avoided"
        " are those that acting on all takes more for as many true positives.",
    )


def calibration_groups(model: ModelFacts) -> View:
    """Show the groups of a calibration."""
    assert model.calibration is not None
    bins = model.calibration.bins
    names = ("low", "high", "size", "predicted", "observed", "observed_low", "observed_high")
    return View(
        f"{model.name}: groups of rows by probability",
        [
            Heading("Probabilities", is_text=True),
            Heading("Rows"),
            Heading("Predicted, mean"),
            Heading("Observed"),
            Heading("Interval of the observed"),
        ],
        [
            [
                f"{formats.share(low)} to {formats.share(high)}",
                formats.count(size),
                formats.share(predicted),
                formats.share(observed),
                f"{formats.share(observed_low)} to {formats.share(observed_high)}",
            ]
            for low, high, size, predicted, observed, observed_low, observed_high in zip(
                *(bins[name].tolist() for name in names), strict=True
            )
        ],
    )


_PURPOSES = {
    "own": "the model's own",
    "ks": "largest difference of the rates (KS)",
}


def cut_offs(model: ModelFacts) -> View:
    """Show the cut-offs of a score and their costs."""
    rows: list[list[str | Bar]] = []
    for cut in model.cut_offs:
        costs = cut.costs
        purpose = (
            _PURPOSES[cut.purpose]
            if costs is None
            else f"least cost, {formats.number(costs.false_positive)} to"
            f" {formats.number(costs.false_negative)}"
        )
        rows.append(
            [
                purpose,
                formats.threshold(cut.threshold, cut.below),
                formats.share(cut.flagged),
                formats.share(cut.tpr),
                formats.share(cut.fpr),
                formats.share(cut.precision),
                *(
                    formats.MISSING if cost is None else formats.decimal(1000 * cost, 1)
                    for cost in (cut.cost, cut.cost_of_others, cut.trivial_cost)
                ),
            ]
        )
    return View(
        f"{model.name}: cut-offs",
        [
            Heading("Purpose", is_text=True),
            Heading("Score from"),
            Heading("Called positive"),
            Heading("True positive rate"),
            Heading("False positive rate"),
            Heading("Precision"),
            Heading("Cost on these rows"),
            Heading("Cost on other rows"),
            Heading("Cost without a model"),
        ],
        rows,
        "Costs are of 1,000 rows, and are given as that of a false positive to that of a false"
        " negative. The cost on other rows is that of each fifth of the rows where the other four"
        " are cheapest to cut: a cut-off looks better on the rows that it was chosen on. Without a"
        " model, all rows are called what is cheaper.",
    )


def columns(facts: ReportFacts) -> View:
    """Show the contents of the columns."""
    has_training = facts.n_training is not None
    heads = [Heading("Column", is_text=True), Heading("Kind", is_text=True), Heading("Missing")]
    if has_training:
        heads.append(Heading("Missing in training"))
    heads.append(Heading("Values", is_text=True))
    heads.append(Heading("Rare levels"))
    if has_training:
        heads += [
            Heading("Unseen levels"),
            Heading("PSI"),
            Heading("p"),
            Heading("Verdict", is_text=True),
        ]
    found = facts.columns
    if has_training:
        found = sorted(found, key=lambda column: -(column.shift.psi if column.shift else -1.0))
    rows: list[list[str | Bar]] = []
    for column in found:
        row: list[str | Bar] = [column.name, column.kind, formats.share(column.missing)]
        if has_training:
            row.append(formats.share(column.missing_then))
        row += [_values(column), str(column.n_rare) if column.n_levels else formats.MISSING]
        if has_training:
            shift = column.shift
            row += [
                formats.share(column.unseen),
                formats.MISSING if shift is None else formats.decimal(shift.psi),
                formats.MISSING if shift is None else formats.p_value(shift.p_value),
                formats.MISSING if shift is None else shift.verdict,
            ]
        rows.append(row)
    return View(
        f"Columns ({len(found)})",
        heads,
        rows,
        "Of the rows as they are, without weights. A number has its least, median and greatest"
        " value; a category its most frequent levels."
        + (
            " PSI: the population stability index over tenths of the training rows, or over levels;"
            " p: the chance of one as high if nothing had moved."
            if has_training
            else ""
        ),
    )


def _values(column: ColumnFacts) -> str:
    if column.low is not None:
        return " / ".join(map(formats.number, (column.low, column.median, column.high)))
    if column.n_levels is None:
        return formats.MISSING
    listed_values = ", ".join(
        f"{shortened(level, _LEVEL_LETTERS)} {formats.share(share, 0)}"
        for level, share in column.common
    )
    more = column.n_levels - len(column.common)
    return listed_values + (f", {more} more" if more > 0 else "")


def importances(model: ModelFacts) -> View:
    """Show the importance of each column to a model."""
    found = model.effects.importances
    most = max((one.loss for one in found), default=0.0)
    has_own = any(one.own is not None for one in found)
    heads = [
        Heading("Column", is_text=True),
        Heading("AUC lost when shuffled"),
        Heading("± deviation"),
    ]
    rows: list[list[str | Bar]] = []
    for one in found:
        row: list[str | Bar] = [
            one.column,
            Bar(formats.signed(one.loss), 0.0, max(0.0, one.loss / most) if most > 0 else 0.0),
            formats.area(one.spread),
        ]
        rows.append([*row, formats.area(one.own)] if has_own else row)
    left_out = model.effects.n_left_out
    return View(
        f"{model.name}: importance of the columns",
        [*heads, Heading("Importance, by the model")] if has_own else heads,
        rows,
        f"The loss is measured on {formats.count(model.effects.n_rows)} of the rows, shuffled three"
        " times. Columns with the same information share their importance: the loss of"
        " each alone is small."
        + (f" {left_out} columns of less importance are left out." if left_out else ""),
    )

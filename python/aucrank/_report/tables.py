"""Tables of a report."""

from __future__ import annotations

import numpy as np

from aucrank._page import formats
from aucrank._page.tables import Bar, Heading, View, shortened
from aucrank._report.calibration import CalibrationFacts
from aucrank._report.columns import ColumnFacts
from aucrank._report.effects import Effects
from aucrank._report.facts import ModelFacts, ReportFacts
from aucrank._utils.words import listed
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
            Heading(facts.noun.capitalize(), is_text=True),
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
            Heading(facts.noun.capitalize(), is_text=True),
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
            Heading(facts.noun.capitalize(), is_text=True),
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
            Heading(f"{facts.noun.capitalize()}s", is_text=True),
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
        " Bonferroni's method: all intervals hold together."
        f" {facts.noun.capitalize()}s are distinguished where p is below"
        f" {formats.decimal(1 - level, 3).rstrip('0')}.",
    )


def _whose_test(facts: ReportFacts) -> str:
    if facts.n_groups is None:
        return "DeLong's test on the same rows"
    return f"Obuchowski's test on the same rows, of {formats.count(facts.n_groups)} groups"


def gains(model: ModelFacts) -> View:
    """Show the gains of the highest scoring rows."""
    table, curve = model.ranking.gains, model.ranking.gains_curve
    # The knot of the last row: a share that is reached up to rounding is reached.
    knots = np.searchsorted(curve.share, table["share"] * (1 - 4 * np.finfo(np.float64).eps))
    scores = np.append(curve.thresholds, -np.inf)
    return View(
        f"{model.name}: what the highest scores hold",
        [
            Heading("First rows"),
            Heading("Score from"),
            Heading("Positives found"),
            Heading("Share of positives"),
            Heading("Lift"),
        ],
        [
            [
                formats.share(of_all, 0),
                formats.threshold(float(scores[knot]), float(scores[knot + 1])),
                Bar(formats.share(captured), 0.0, captured),
                formats.share(rate),
                formats.decimal(lift, 2),
            ]
            for knot, of_all, captured, rate, lift in zip(
                knots.tolist(),
                *(table[name].tolist() for name in ("share", "captured", "rate", "lift")),
                strict=True,
            )
        ],
        "A share is what can be looked at, and the score that of its last row. Where it ends among"
        " rows of one score, it holds them in proportion.",
    )


def calibration(facts: ReportFacts) -> View:
    """Show the calibration of the models."""
    rows: list[list[str | Bar]] = []
    for model in facts.models:
        found = model.calibration
        if found is None:
            lacks = "gives no probabilities" if model.is_fitted else "no probabilities given"
            rows.append([model.name, lacks, *[formats.MISSING] * 6])
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
    n_drawn = next((m.subject.n_drawn for m in facts.models if m.calibration is not None), None)
    return View(
        "Probabilities against what happened",
        [
            Heading(facts.noun.capitalize(), is_text=True),
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
            Heading(facts.noun.capitalize(), is_text=True),
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


def grades(model: ModelFacts) -> View:
    """Show the grades of the probabilities with their tests."""
    assert model.grades is not None
    table, of_all = model.grades.table, model.grades.whole
    names = (
        *("size", "positives", "expected", "observed", "observed_low", "observed_high"),
        *("p_jeffreys", "p_binomial"),
    )
    columns = [table["grade"].tolist(), table["low"].tolist(), table["high"].tolist()]
    parts = list(zip(*columns, *(table[name].tolist() for name in names), strict=True))
    total = ("all", 0.0, 1.0, *(of_all[name][0] for name in names))
    n_drawn = model.subject.n_drawn
    return View(
        f"{model.name}: grades",
        [
            Heading("Grade"),
            Heading("Probabilities", is_text=True),
            Heading("Rows"),
            Heading("Positives"),
            Heading("Expected, mean"),
            Heading("Observed"),
            Heading("Interval of the observed"),
            Heading("p, Jeffreys"),
            Heading("p, binomial"),
        ],
        [
            [
                str(grade),
                f"{formats.share(low)} to {formats.share(high)}",
                formats.count(size),
                formats.count(positives),
                formats.share(expected, 2),
                formats.share(observed, 2),
                f"{formats.share(observed_low, 2)} to {formats.share(observed_high, 2)}",
                formats.p_value(jeffreys),
                formats.p_value(binomial),
            ]
            for (
                grade,
                low,
                high,
                size,
                positives,
                expected,
                observed,
                observed_low,
                observed_high,
                jeffreys,
                binomial,
            ) in [*parts, total]
        ],
        "p is the chance of so many positives, or more, if the probabilities are right: low where"
        " they are too low. Of many grades, some are below 0.05 by chance. All grades at once, by"
        " Hosmer and Lemeshow:"
        f" \N{GREEK SMALL LETTER CHI}² {formats.decimal(model.grades.hosmer_lemeshow, 2)} on"
        f" {model.grades.df} degrees of freedom, p {formats.is_p(model.grades.p_value)}. Rows are"
        " taken as independent."
        + ("" if n_drawn is None else f" Of {formats.count(n_drawn)} rows drawn at random."),
    )


def drifts(facts: ReportFacts) -> View | None:
    """Show how far the scores have moved; None without scores to compare with."""
    rows: list[list[str | Bar]] = [
        [
            model.name,
            formats.count(model.subject.then.size),
            formats.decimal(model.shift.psi),
            formats.p_value(model.shift.p_value),
            model.shift.verdict,
        ]
        for model in facts.models
        if model.shift is not None and model.subject.then is not None
    ]
    if not rows:
        return None
    return View(
        "Drift of the scores",
        [
            Heading(facts.noun.capitalize(), is_text=True),
            Heading("Rows compared with"),
            Heading("PSI"),
            Heading("p"),
            Heading("Verdict", is_text=True),
        ],
        rows,
        "PSI: the population stability index over tenths of the training rows, without weights; p:"
        " the chance of one as high if nothing had moved.",
    )


def left_out(facts: ReportFacts) -> View | None:
    """Show which parts the page lacks, and what each needs; None if it is complete."""
    names = {
        "fitted": [model.name for model in facts.models if not model.is_fitted],
        "probability": [model.name for model in facts.models if model.calibration is None],
        "then": [model.name for model in facts.models if model.shift is None],
    }
    all_names = [model.name for model in facts.models]

    def whose(found: list[str]) -> str:
        return "" if found == all_names else f" of {listed(found)}"

    rows: list[list[str | Bar]] = []
    if lacking := names["probability"]:
        what = f"Calibration, net benefit and grades{whose(lacking)}"
        rows.append([what, "no probabilities of the positive class are known"])
    if facts.options.grades is None and len(names["probability"]) < len(all_names):
        rows.append(["Grades and their tests", "no bounds of grades were given"])
    if not facts.subgroups:
        rows.append(["Subgroups", "no column that names subgroups was given"])
    if facts.periods is None:
        rows.append(["Course over time", "no times were given"])
    if lacking := names["then"]:
        rows.append([f"Drift of the scores{whose(lacking)}", "no earlier scores were given"])
    if not facts.columns:
        rows.append(["Contents and drift of the columns", "no columns were given"])
    elif facts.n_training is None:
        rows.append(["Drift of the columns", "no training data were given"])
    if lacking := names["fitted"]:
        what = f"What the columns do, and the model itself{whose(lacking)}"
        rows.append([what, "the scores were given, not the model"])
    if not rows:
        return None
    heads = [Heading("Part", is_text=True), Heading("Why it is not here", is_text=True)]
    return View("Parts that are not on this page", heads, rows)


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
            Heading(facts.noun.capitalize(), is_text=True),
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


def importances(effects: Effects, name: str) -> View:
    """Show the importance of each column to a model."""
    found = effects.importances
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
    n_left_out = effects.n_left_out
    return View(
        f"{name}: importance of the columns",
        [*heads, Heading("Importance, by the model")] if has_own else heads,
        rows,
        f"The loss is measured on {formats.count(effects.n_rows)} of the rows, shuffled three"
        " times. Columns with the same information share their importance: the loss of"
        " each alone is small."
        + (f" {n_left_out} columns of less importance are left out." if n_left_out else ""),
    )

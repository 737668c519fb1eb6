"""Warnings of a report."""

from __future__ import annotations

from collections.abc import Iterator

from scipy import stats

from aucrank._page.formats import area, count, decimal, is_p, share
from aucrank._report.calibration import CalibrationFacts
from aucrank._report.columns import RARE_SHARE
from aucrank._report.facts import ModelFacts, ReportFacts
from aucrank._utils.words import listed_first, plural

#: With fewer rows of a class, intervals are wide and every curve is ragged.
FEW_OF_CLASS = 100

#: An AUC from here on often indicates a column that leaks the outcome.
TOO_GOOD = 0.99

#: Gap between the AUC of the hull and the AUC from which the score is locally in the wrong order.
BELOW_HULL = 0.01

#: p-value below which the sum of the probabilities is reported as off.
UNLIKELY = 0.01

#: A share of missing values or of unknown categories that is reported.
LEAST_SHARE = 0.01

#: A share of rows that are also training rows, in excess of the expected one.
LEAST_OVERLAP = 0.01

# Maximum number of columns named per kind.
_SHOWN = 5


def cautions_of(facts: ReportFacts) -> list[str]:
    """Return the warnings, one or two sentences each, the most severe first."""
    return [
        *_of_rows(facts),
        *(text for model in facts.models for text in _of_model(model, facts)),
        *_of_unknown(facts),
        *_of_columns(facts),
    ]


def _of_rows(facts: ReportFacts) -> Iterator[str]:
    overlap = facts.overlap
    if overlap is not None and overlap.share > max(LEAST_OVERLAP, 2 * overlap.share_by_chance):
        yield (
            f"{share(overlap.share)} of the rows equal a training row in every column, where"
            f" {share(overlap.share_by_chance)} of the training rows equal another one. If they are"
            " the same cases, all figures here are too good."
        )
    for n_rows, label in zip((facts.n_negative, facts.n_positive), facts.labels, strict=True):
        if n_rows < FEW_OF_CLASS:
            yield (
                f"Class {label} has {plural(n_rows, 'row')}, fewer than {FEW_OF_CLASS}: the figures"
                " may be far off, and their intervals are approximate."
            )


def _of_model(model: ModelFacts, facts: ReportFacts) -> Iterator[str]:
    ranking, name = model.ranking, model.name
    interval = ranking.interval
    if interval.method == "exact":
        yield (
            f"{name}: the AUC of {area(ranking.auc)} has no spread on these rows, so its interval"
            " is an exact one of independent pairs."
        )
    elif interval.method == "hanley-mcneil":
        yield f"{name}: a class has one row, so the interval of the AUC follows from a model of it."
    if interval.high < 0.5:
        yield f"{name} ranks worse than chance. " + (
            "Is the positive class the one that it was fitted to rank first?"
            if model.is_fitted
            else "Does a high score mean the other class? Then take its negative."
        )
    elif ranking.auc >= TOO_GOOD:
        source = "a column" if model.is_fitted else "what the score is made of"
        yield (
            f"{name}: an AUC of {area(ranking.auc)} is rare. Does {source} contain what is known"
            " only after the outcome, or are these the training rows?"
        )
    gap = ranking.hull.auc - ranking.auc
    # With few rows the hull is above the curve by chance.
    if gap > BELOW_HULL and gap > interval.standard_error:
        yield (
            f"{name}: the concave hull has an AUC that is {decimal(gap)} higher than the curve."
            " Some range of scores is in the wrong order."
        )
    if ranking.n_scores == 1:
        yield f"{name} gives all rows the same score."
    calibration = model.calibration
    if calibration is not None and calibration.p_value < UNLIKELY:
        yield (
            f"{name}: the probabilities{_of_drawn_rows(model)} add up to"
            f" {count(round(calibration.expected))} positives, and there are"
            f" {count(round(calibration.observed))} (p {is_p(calibration.p_value)})."
            " They need to be calibrated before they are used as probabilities."
        )
    elif calibration is not None and is_often_outside(calibration, facts.options.confidence):
        yield (
            f"{name}: in {calibration.bins.n_rows - calibration.n_within} of"
            f" {plural(calibration.bins.n_rows, 'group')} by probability, the mean probability is"
            " outside of the interval of what was observed, more often than by chance; the mean gap"
            f" is {share(calibration.gap)}."
        )
    if model.shift is not None and model.shift.verdict != "stable":
        psi = f"PSI {decimal(model.shift.psi)} ({model.shift.verdict})"
        yield (
            f"{name}: the scores have moved since training, {psi}. A model that fits its training"
            " rows closely shows that without any drift, too."
            if model.is_fitted
            else f"{name}: the scores have moved from those that they are compared with, {psi}."
        )


def _of_unknown(facts: ReportFacts) -> Iterator[str]:
    """Name the columns with values unknown to a model, unless other warnings imply it."""
    in_training = {
        c.name for c in facts.columns if c.unseen is not None and c.unseen >= LEAST_SHARE
    }
    for model in facts.models:
        found = [
            f"{name} ({share(part)} of the rows)"
            for name, part in model.unknown.items()
            if part >= LEAST_SHARE and name not in in_training
        ]
        if found:
            yield (
                f"{model.name} does not know categories, and scores them as if they were missing:"
                f" {listed_first(found, _SHOWN)}."
            )


def _of_drawn_rows(model: ModelFacts) -> str:
    """State the number of rows with probabilities, if these are not all."""
    n_rows = model.subject.n_drawn
    return "" if n_rows is None else f" of {plural(n_rows, 'row')} drawn at random"


def is_often_outside(calibration: CalibrationFacts, confidence: float) -> bool:
    """Return whether the chance of so many groups outside their intervals is `UNLIKELY`."""
    n_bins = calibration.bins.n_rows
    return bool(stats.binom.cdf(calibration.n_within, n_bins, confidence) < UNLIKELY)


def _of_columns(facts: ReportFacts) -> Iterator[str]:
    for verdict, said in (("shifted", "have shifted"), ("watch", "should be watched")):
        moved = [
            column
            for column in facts.columns
            if column.shift is not None
            and column.shift.verdict == verdict
            and column.shift.p_value < UNLIKELY
        ]
        moved.sort(key=lambda column: -(column.shift.psi if column.shift else 0.0))
        if moved:
            texts = [
                f"{column.name} (PSI {decimal(column.shift.psi)})"
                for column in moved
                if column.shift is not None
            ]
            yield f"Columns that {said} since training: {listed_first(texts, _SHOWN)}."
    strange = [c for c in facts.columns if c.unseen is not None and c.unseen >= LEAST_SHARE]
    if strange:
        texts = [f"{column.name} ({share(column.unseen)} of the rows)" for column in strange]
        yield f"Categories that are not in the training data: {listed_first(texts, _SHOWN)}."
    emptied = [
        column
        for column in facts.columns
        if column.missing_then is not None and column.missing - column.missing_then >= LEAST_SHARE
    ]
    if emptied:
        texts = [
            f"{column.name} ({share(column.missing)}, {share(column.missing_then)} in training)"
            for column in emptied
        ]
        yield f"Values are missing more often than in training: {listed_first(texts, _SHOWN)}."
    empty = [column.name for column in facts.columns if column.missing == 1]
    if empty:
        yield f"Columns without any value: {listed_first(empty, _SHOWN)}."
    many = [
        f"{column.name} ({plural(column.n_rare, 'rare level')} of {column.n_levels})"
        for column in facts.columns
        if column.n_levels and column.n_rare > column.n_levels / 2 and column.n_rare > 10
    ]
    if many:
        yield (
            f"Columns where most levels are rare, below {share(RARE_SHARE)} of the rows:"
            f" {listed_first(many, _SHOWN)}."
        )

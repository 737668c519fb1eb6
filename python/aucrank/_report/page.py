"""The report as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aucrank._base.summary import Section
from aucrank._page import formats
from aucrank._page.page import Chapter, Collapsed, render
from aucrank._page.tables import View, parameters, parts_of
from aucrank._report import part_tables, tables
from aucrank._report.cautions import (
    BELOW_HULL,
    FEW_OF_CLASS,
    LEAST_OVERLAP,
    LEAST_SHARE,
    TOO_GOOD,
    UNLIKELY,
    cautions_of,
)
from aucrank._report.charts import figures, parts
from aucrank._report.columns import RARE_SHARE
from aucrank._report.effects import Effects
from aucrank._report.facts import ReportFacts
from aucrank._report.options import Costs
from aucrank._report.periods import Periods
from aucrank._report.subgroups import Subgroups
from aucrank._report.words import summary_of
from aucrank._utils.words import listed, plural


def write_page(facts: ReportFacts) -> str:
    """Write the page of a report."""
    return render(
        title=title_of(facts),
        timestamp=facts.options.timestamp,
        summary=summary_of(facts),
        cautions=cautions_of(facts),
        headline=tables.areas(facts),
        chapters=chapters_of(facts),
        limits=_limits(facts),
    )


def title_of(facts: ReportFacts) -> str:
    """Return the heading of the page."""
    if facts.options.title is not None:
        return facts.options.title
    return (
        f"How {listed([model.name for model in facts.models])} ranks"
        if len(facts.models) == 1
        else f"How {listed([model.name for model in facts.models])} rank"
    )


def chapters_of(facts: ReportFacts) -> list[Chapter]:
    """Return the parts of the page, in order."""
    chapters = [_ranking(facts)]
    if facts.comparisons:
        chapters.append(_comparison(facts))
    chapters += [_gains(facts), _distribution(facts)]
    if any(model.calibration is not None for model in facts.models):
        chapters += [_calibration(facts), _decisions(facts)]
    if any(model.grades is not None for model in facts.models):
        chapters.append(_grades(facts))
    chapters.append(_cut_offs(facts))
    if facts.subgroups:
        chapters.append(_subgroups(facts))
    if facts.periods is not None:
        chapters.append(_periods(facts, facts.periods))
    if facts.columns:
        chapters.append(_columns(facts))
    for place, model in enumerate(facts.models):
        fitted, effects = model.subject.model, model.effects
        if fitted is not None and effects is not None:
            chapters.append(_model(model.name, fitted.estimator, effects, place))
    missing = tables.left_out(facts)
    if missing is not None:
        chapters.append(Chapter("left-out", "Not on this page", tables=[missing]))
    return chapters


def _ranking(facts: ReportFacts) -> Chapter:
    charts = [figures.roc_of_all(facts)]
    if len(facts.models) > 1:
        charts += [
            figures.roc_of_one(model, place, facts.options.confidence)
            for place, model in enumerate(facts.models)
        ]
    return Chapter(
        "ranking",
        "Ranking",
        "Each point of the curve is a threshold: how many of the positives score at least so much,"
        " and how many of the negatives. The area is the share of pairs that are in order. The hull"
        " is the curve of the scores after the best monotone change.",
        charts,
        [tables.operating_points(facts), tables.partial_areas(facts)],
    )


def _comparison(facts: ReportFacts) -> Chapter:
    return Chapter(
        "comparison",
        "Comparison",
        f"All {facts.noun}s are of the same rows, so their errors go together, and differences are"
        f" known better than the areas themselves: intervals of two {facts.noun}s may overlap where"
        " the difference is clear.",
        tables=[tables.comparisons(facts)],
    )


def _gains(facts: ReportFacts) -> Chapter:
    return Chapter(
        "gains",
        "Gains and lift",
        "If only the rows that score highest can be looked at: which share of the positives is"
        " among them, and how much more frequent they are there.",
        [figures.gains_chart(facts), figures.lift_chart(facts)],
        **_tables_or_folds(facts, [tables.gains(model) for model in facts.models], "gains"),
    )


def _distribution(facts: ReportFacts) -> Chapter:
    drifts = tables.drifts(facts)
    return Chapter(
        "scores",
        "Scores of the two classes",
        "The better the ranking, the less the two overlap. KS is where they are furthest apart:"
        + "; ".join(f" {model.name} {formats.decimal(model.ranking.ks)}" for model in facts.models)
        + ".",
        [figures.distribution_chart(model, facts.labels) for model in facts.models],
        [] if drifts is None else [drifts],
    )


def _calibration(facts: ReportFacts) -> Chapter:
    known = [
        (place, model) for place, model in enumerate(facts.models) if model.calibration is not None
    ]
    return Chapter(
        "calibration",
        "Calibration",
        "Whether rows that are given a probability of 20% are positive in one of five cases. A"
        " ranking does not need it; a decision by cost or a price does.",
        [figures.calibration_chart(model, place) for place, model in known],
        [tables.calibration(facts), tables.calibration_curves(facts)],
        [Collapsed("Groups of rows", [tables.calibration_groups(model) for _, model in known])],
    )


def _decisions(facts: ReportFacts) -> Chapter:
    return Chapter(
        "decisions",
        "Decisions",
        "To act from a probability of 20% on is to say that finding a positive is worth four"
        " needless actions. At each such threshold the net benefit counts both:"
        f" a {facts.noun} that is below acting on all, or on none, does harm there.",
        [figures.decision_chart(facts)],
        [tables.decisions(facts)],
    )


def _grades(facts: ReportFacts) -> Chapter:
    return Chapter(
        "grades",
        "Grades",
        "Probabilities in the grades of a rating, each tested against what was observed. The tests"
        " hold for bounds that were not found on these rows.",
        tables=[tables.grades(model) for model in facts.models if model.grades is not None],
    )


def _cut_offs(facts: ReportFacts) -> Chapter:
    costs: Costs = facts.options.costs[len(facts.options.costs) // 2]
    text = (
        "Where to cut the score in two. Costs are those that were given."
        if facts.options.costs_given
        else "Where to cut the score in two. Costs were not given, so the table has a few usual"
        " ratios; what is right depends on what the two errors cost."
    )
    return Chapter(
        "cut-offs",
        "Cut-offs and costs",
        text,
        [figures.cost_chart(facts, costs)],
        **_tables_or_folds(facts, [tables.cut_offs(model) for model in facts.models], "cut-offs"),
    )


def _tables_or_folds(facts: ReportFacts, views: Sequence[View], what: str) -> dict[str, Any]:
    """Show the table of the first model; those of the others are collapsed."""
    first, *others = views
    return {
        "tables": [first],
        "folds": [Collapsed(f"The {what} of the other {facts.noun}s", others)] if others else [],
    }


def _subgroups(facts: ReportFacts) -> Chapter:
    return Chapter(
        "subgroups",
        "Subgroups",
        f"How the {facts.noun}s rank in parts of the rows, and whether probabilities hold there."
        " What a difference means, and whether it is fair, the figures do not say: subgroups also"
        " differ in how many are positive, and in how hard these are to recognise.",
        subchapters=[
            _subgroups_by(facts, found, place) for place, found in enumerate(facts.subgroups)
        ],
    )


def _subgroups_by(facts: ReportFacts, found: Subgroups, place: int) -> Chapter:
    known = [
        at for at, model in enumerate(facts.models) if found.models[at].calibration is not None
    ]
    first, *others = (
        [
            part_tables.subgroup_aucs(facts, found, at),
            *([part_tables.subgroup_calibration(facts, found, at)] if at in known else []),
        ]
        for at in range(len(facts.models))
    )
    return Chapter(
        f"subgroups-{place + 1}",
        f"By {found.split.name}",
        f"{plural(len(found.split.labels), 'subgroup')}. {found.split.how}".strip(),
        [parts.auc_chart(facts, found.split, found.models, found.split.name)],
        [part_tables.equality_tests(facts, found), *first],
        _folds_of_others(facts, "subgroups", others),
    )


def _folds_of_others(
    facts: ReportFacts, what: str, others: Sequence[Sequence[View]]
) -> list[Collapsed]:
    """Collapse the tables of all models but the first."""
    views = [view for own in others for view in own]
    return [Collapsed(f"The {what} of the other {facts.noun}s", views)] if others else []


def _periods(facts: ReportFacts, periods: Periods) -> Chapter:
    charts = [
        parts.auc_chart(facts, periods.split, [own.parts for own in periods.models], "period"),
        parts.rate_chart(facts, periods),
        parts.drift_chart(facts, periods),
    ]
    first, *others = (
        [
            part_tables.period_aucs(facts, periods, at),
            part_tables.period_rates(facts, periods, at),
        ]
        for at in range(len(facts.models))
    )
    return Chapter(
        "time",
        "Over time",
        "Whether the ranking and the probabilities last, and whether what comes in has changed."
        f" {periods.split.how}".rstrip(),
        charts,
        first,
        _folds_of_others(facts, "periods", others),
    )


def _columns(facts: ReportFacts) -> Chapter:
    text = (
        f"{plural(len(facts.columns), 'column')} in {plural(facts.n_rows, 'row')}."
        if facts.n_training is None
        else f"{plural(len(facts.columns), 'column')} in {plural(facts.n_rows, 'row')}, and"
        f" {plural(facts.n_training, 'row')} of training data."
    )
    if facts.n_training is None:
        text += " No training data were given, so it is not known what has moved since."
    if facts.overlap is not None:
        text += (
            f" {formats.share(facts.overlap.share)} of the rows equal a training row in every"
            f" column; {formats.share(facts.overlap.share_by_chance)} of the training rows equal"
            " another one."
        )
    return Chapter("data", "Data", text, tables=[tables.columns(facts)])


def _model(name: str, estimator: Any, found: Effects, place: int) -> Chapter:
    anchor = f"model-{place + 1}"
    kind = type(estimator).__name__
    size = getattr(estimator, "_size", None)
    described = size() if callable(size) else ""
    effects = Chapter(
        f"{anchor}-effects",
        "What the columns do",
        "How the mean answer moves when one column is set to a value in all rows and the others are"
        " left as they are (partial dependence). Points of a number stand at equal steps of the"
        " share of rows, from the 2nd to the 98th hundredth.",
        figures.dependence_charts(found, place),
        [tables.importances(found, name)],
        is_small=True,
    )
    if not effects.charts:
        effects.text = "No column loses more than chance would explain when it is shuffled."
    inside = Chapter(f"{anchor}-inside", "The model itself", parts=parts_of(_sections(estimator)))
    if not inside.parts:
        inside.text = f"{kind} does not show what is in it."
    settings = parameters(estimator, f"{name}: parameters")
    if settings is not None:
        inside.folds.append(Collapsed("Parameters", [settings]))
    return Chapter(
        anchor,
        f"Model: {name}",
        f"A fitted {kind}: {described}." if described else f"A fitted {kind}.",
        subchapters=[effects, inside],
    )


def _sections(estimator: Any) -> list[Section]:
    """Return the description of a model of this package; nothing for others."""
    tell = getattr(estimator, "_summary", None)
    described = tell() if callable(tell) else []
    return [section for section in described if isinstance(section, Section)]


def _limits(facts: ReportFacts) -> list[str]:
    """Describe the limits for the warnings of the page."""
    level = facts.options.confidence
    return [
        f"Intervals and bands have {formats.share(level, 0)} confidence."
        f" {facts.noun.capitalize()}s are distinguished where the p-value, adjusted for the"
        " number of pairs, is below"
        f" {formats.decimal(1 - level, 3).rstrip('0')}.",
        f"A class of fewer than {FEW_OF_CLASS} rows is few; an AUC from {TOO_GOOD} on is"
        " questioned.",
        f"A score is called out of order where the hull is more than {BELOW_HULL} and more than a"
        " standard error of the AUC above the curve.",
        "Probabilities are called off where chance would explain the difference of their sum, or so"
        f" many groups outside of their intervals, less often than {formats.share(UNLIKELY, 0)}.",
        "A population stability index (PSI) below 0.1 is stable, from 0.25 on shifted, in between"
        f" to be watched; it is reported where chance explains it less often than"
        f" {formats.share(UNLIKELY, 0)}.",
        "Missing values and levels that are not in the training data are reported from"
        f" {formats.share(LEAST_SHARE, 0)} of the rows on, rows of the training data from"
        f" {formats.share(LEAST_OVERLAP, 0)} on where they are twice as many as by chance; a level"
        f" is rare below {formats.share(RARE_SHARE)}.",
    ]

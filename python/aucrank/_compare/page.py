"""The leaderboard as one HTML page, in the layout of the report of models."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from aucrank._compare.facts import LeaderboardFacts, auc_of_latest, mean_of
from aucrank._compare.standings import Standing
from aucrank._page import formats
from aucrank._page.page import Chapter, Collapsed, render
from aucrank._page.tables import Bar, Heading, View
from aucrank._report.charts.chart import QUIET, WIDE, Axis, Chart, Dot, Key
from aucrank._report.charts.scale import Tick, padded
from aucrank._utils.words import listed, plural

# Up to this number of models, each has a number on the axis.
_MOST_TICKS = 20

_FRONT = "s1"

_BYTES = ("bytes", "kB", "MB", "GB")


def write_page(facts: LeaderboardFacts, title: str | None, timestamp: datetime | None) -> str:
    """Write the page."""
    chapters = []
    if facts.standings:
        chapters.append(_areas(facts))
    if len(facts.standings) > 1:
        chapters.append(_differences(facts))
    if facts.standings:
        chapters.append(_costs(facts))
    if facts.others:
        chapters.append(_not_compared(facts))
    return render(
        title=title or f"How {plural(len(facts.standings), 'model ranks', 'models rank')}",
        timestamp=timestamp,
        summary=summary_of(facts),
        cautions=cautions_of(facts),
        headline=_headline(facts),
        chapters=chapters,
        limits=_limits(facts),
    )


def one_line(facts: LeaderboardFacts) -> str:
    """Return the summary line."""
    if not facts.standings:
        return f"{plural(len(facts.others), 'model')}, none of which did all folds"
    best = facts.standings[0]
    return (
        f"{plural(len(facts.standings), 'model')} on {plural(facts.n_rows, 'row')}, the best"
        f" {best.outcome.label}: AUC {formats.area(best.interval.auc)}"
        f" ({formats.area(best.interval.low)} to {formats.area(best.interval.high)})"
    )


def summary_of(facts: LeaderboardFacts) -> list[str]:
    """Return the summary in words, by paragraph."""
    said = [
        f"{plural(len(facts.standings), 'model is', 'models are')} compared on"
        f" {plural(facts.n_rows, 'row')}: {facts.n_positive:,} of class {facts.labels[1]}, the"
        f" positive one, and {facts.n_rows - facts.n_positive:,} of class {facts.labels[0]}."
        f" Folds: {facts.folds}; the same for all models."
    ]
    if not facts.standings:
        return said
    best = facts.standings[0]
    said.append(
        f"{best.outcome.label} ranks best: in {formats.share(best.interval.auc)} of the pairs of a"
        " positive and a negative row that it was not fitted to, it puts the positive one first"
        f" (AUC {formats.area(best.interval.auc)}, {formats.area(best.interval.low)} to"
        f" {formats.area(best.interval.high)})."
    )
    if len(facts.standings) > 1:
        level = [s for s in facts.standings[1:] if not facts.is_behind(s)]
        said.append(
            "All others are behind it by more than chance explains."
            if not level
            else f"Chance would explain how far {listed([s.outcome.label for s in level])}"
            f" {'is' if len(level) == 1 else 'are'} behind it."
        )
    return said


def cautions_of(facts: LeaderboardFacts) -> list[str]:
    """Return the warnings to read first."""
    said = [f"{outcome.label}: {outcome.unfinished}." for outcome in facts.others]
    return said + [f"{note[:1].upper()}{note[1:]}." for note in facts.notes]


def _extent(facts: LeaderboardFacts) -> tuple[float, float]:
    intervals = [standing.interval for standing in facts.standings]
    return min(i.low for i in intervals), max(i.high for i in intervals)


def _headline(facts: LeaderboardFacts) -> View:
    heads = [
        Heading("Model", is_text=True),
        Heading("Rank"),
        Heading("AUC"),
        Heading(f"Interval, {formats.share(facts.confidence, 0)}"),
        Heading("Behind the best"),
        Heading("p, adjusted"),
        Heading("Fit, s"),
        Heading("Rules"),
    ]
    if facts.is_by_time:
        heads.insert(4, Heading("AUC, latest"))
    rows: list[list[str | Bar]] = []
    for rank, standing in enumerate(facts.standings, 1):
        low, high = _extent(facts)
        extent, interval = (high - low) or 1.0, standing.interval
        n_rules = mean_of(standing.outcome, lambda fold: fold.n_rules)
        rows.append(
            [
                standing.outcome.label,
                str(rank),
                formats.area(interval.auc),
                Bar(
                    f"{formats.area(interval.low)} to {formats.area(interval.high)}",
                    (interval.low - low) / extent,
                    (interval.high - low) / extent,
                    (interval.auc - low) / extent,
                ),
                formats.MISSING if rank == 1 else formats.area(-standing.difference),
                formats.p_value(standing.p_value),
                _seconds(mean_of(standing.outcome, lambda fold: fold.fit_seconds)),
                formats.MISSING if np.isnan(n_rules) else f"{round(n_rules):,}",
            ]
        )
        if facts.is_by_time:
            rows[-1].insert(4, formats.area(auc_of_latest(standing)))
    note = "The latest range of time is ranked by models that were fitted to earlier rows alone."
    return View("Leaderboard", heads, rows, note if facts.is_by_time else "")


def _areas(facts: LeaderboardFacts) -> Chapter:
    n_models = len(facts.standings)
    low, high = _extent(facts)
    x, y = WIDE.across(0.4, n_models + 0.6), WIDE.up(*padded(low, high, 0.08))
    every = -(-n_models // _MOST_TICKS)
    ticks = [Tick(float(x(rank)), str(rank)) for rank in range(1, n_models + 1, every)]
    chart = Chart(
        "AUC and its interval, by rank",
        "; ".join(
            f"{rank}, {standing.outcome.label}: {_interval(standing)}"
            for rank, standing in enumerate(facts.standings, 1)
        ),
        Axis("Rank", ticks),
        Axis("AUC", y.ticks(5)),
        WIDE,
        dots=[
            Dot(
                float(x(rank)),
                float(y(standing.interval.auc)),
                QUIET if facts.is_behind(standing) else _FRONT,
                f"{standing.outcome.label}: {_interval(standing)}",
                float(y(standing.interval.low)),
                float(y(standing.interval.high)),
            )
            for rank, standing in enumerate(facts.standings, 1)
        ],
        keys=[Key("the best, and those that chance may have put behind it", _FRONT)],
    )
    if any(map(facts.is_behind, facts.standings)):
        chart.keys.append(Key("behind the best by more than chance", QUIET))
    return Chapter(
        "areas",
        "Areas under the ROC curve",
        "The AUC is the mean of the folds. Its interval says how far it may be off for other rows;"
        " two models are not compared by whether their intervals overlap, since they rank the same"
        " rows, but by the difference below.",
        [chart],
        folds=[Collapsed("Fold by fold", [_by_fold(facts)])],
    )


def _interval(standing: Standing) -> str:
    found = standing.interval
    return f"{formats.area(found.auc)} ({formats.area(found.low)} to {formats.area(found.high)})"


def _by_fold(facts: LeaderboardFacts) -> View:
    return View(
        "AUC of each fold",
        [
            Heading("Model", is_text=True),
            Heading("Mean"),
            Heading("Standard deviation"),
            Heading("Least"),
            Heading("Greatest"),
        ],
        [
            [
                standing.outcome.label,
                formats.area(standing.interval.auc),
                formats.area(float(np.std(standing.of_folds, ddof=1))),
                formats.area(float(standing.of_folds.min())),
                formats.area(float(standing.of_folds.max())),
            ]
            for standing in facts.standings
        ],
    )


def _differences(facts: LeaderboardFacts) -> Chapter:
    best = facts.standings[0].outcome.label
    level = formats.share(facts.confidence, 0)
    rows: list[list[str | Bar]] = [
        [
            standing.outcome.label,
            formats.signed(standing.behind.difference),
            f"{formats.signed(standing.behind.low)} to {formats.signed(standing.behind.high)}",
            formats.p_value(standing.p_value),
            "yes" if facts.is_behind(standing) else "no",
        ]
        for standing in facts.standings
        if standing.behind is not None
    ]
    view = View(
        f"AUC less that of {best}",
        [
            Heading("Model", is_text=True),
            Heading("Difference"),
            Heading(f"Interval, {level}"),
            Heading("p, adjusted"),
            Heading("Behind", is_text=True),
        ],
        rows,
        "Intervals and p-values are adjusted by Bonferroni's method for"
        f" {plural(facts.n_pairs, 'pair')} of models, since which of them is best was found on the"
        " same rows: all intervals hold together.",
    )
    return Chapter(
        "differences",
        "Differences to the best",
        "Each model is tested against the best on the same rows, within the folds. The test is"
        " about the models as they were fitted; on other data both would be others.",
        tables=[view],
    )


def _costs(facts: LeaderboardFacts) -> Chapter:
    rows: list[list[str | Bar]] = []
    for standing in facts.standings:
        outcome = standing.outcome
        n_rules = mean_of(outcome, lambda fold: fold.n_rules)
        rows.append(
            [
                outcome.label,
                _seconds(mean_of(outcome, lambda fold: fold.fit_seconds)),
                _seconds(mean_of(outcome, lambda fold: fold.score_seconds)),
                n_bytes_in_words(mean_of(outcome, lambda fold: fold.n_bytes)),
                formats.MISSING if np.isnan(n_rules) else f"{round(n_rules):,}",
            ]
        )
    return Chapter(
        "costs",
        "Time and size",
        "Means of the folds. The size is that of the saved model, for other packages that of a"
        " pickle. Rules are the cases that have a number of their own in the score: leaves of"
        " trees, bins, categories, binary terms, weights.",
        tables=[
            View(
                "What a model costs",
                [
                    Heading("Model", is_text=True),
                    Heading("Fit, s"),
                    Heading("Score a fold, s"),
                    Heading("Size"),
                    Heading("Rules"),
                ],
                rows,
            )
        ],
    )


def _seconds(seconds: float) -> str:
    if seconds < 0.001:
        return "< 0.001"
    return formats.decimal(seconds, 3 if seconds < 10 else 1)


def n_bytes_in_words(n_bytes: float) -> str:
    """Write a size in a suitable unit."""
    if np.isnan(n_bytes):
        return formats.MISSING
    power = 0
    while n_bytes >= 1000 and power < len(_BYTES) - 1:
        n_bytes, power = n_bytes / 1000, power + 1
    return f"{n_bytes:.3g} {_BYTES[power]}"


def _not_compared(facts: LeaderboardFacts) -> Chapter:
    rows: list[list[str | Bar]] = [[outcome.label, outcome.unfinished] for outcome in facts.others]
    heads = [Heading("Model", is_text=True), Heading("What happened", is_text=True)]
    return Chapter(
        "others",
        "Models that are not compared",
        "A model is compared if it did all folds, and no other.",
        tables=[View("Failed or not done", heads, rows)],
    )


def _limits(facts: LeaderboardFacts) -> list[str]:
    limits = [
        f"Intervals have {formats.share(facts.confidence, 0)} confidence, from influence curves"
        " (LeDell, Petersen and van der Laan, 2015). They are about the models as fitted: how much"
        " those would differ if fitted on other data is not in them.",
        "A model is behind the best where the p-value, adjusted for the number of pairs, is below"
        f" {formats.decimal(1 - facts.confidence, 3).rstrip('0')}. A model that is not behind need"
        " not be as good: with few rows, chance explains much.",
        "The AUC of the best is that of the luckiest, too: of many models that are equally good,"
        " the first looks better than it is.",
    ]
    if facts.is_weighted:
        limits.append("Rows count by their weight, in fits and in the AUC.")
    return limits

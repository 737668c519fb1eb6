"""Tables of subgroups and of periods."""

from __future__ import annotations

import math

from aucrank._page import formats
from aucrank._page.tables import Bar, Heading, View, shortened
from aucrank._report.facts import ReportFacts
from aucrank._report.periods import Periods
from aucrank._report.subgroups import MEASURES, Interval, PartFacts, Split, Subgroups

# Maximum number of letters shown of the name of a part.
_LETTERS = 60


def subgroup_aucs(facts: ReportFacts, found: Subgroups, place: int) -> View:
    """Show the AUC of a model in each subgroup."""
    return _aucs(
        facts,
        found.split,
        found.models[place],
        f"{facts.models[place].name}: AUC by {found.split.name}",
        [
            ("Positives against others", "auc_of_positives"),
            ("Negatives against others", "auc_of_negatives"),
        ],
        "Positives against others: the share of pairs in order of a positive row of the subgroup"
        " and a negative row of any other; negatives against others, likewise. Where the former is"
        " low, its positives score low among all rows.",
    )


def equality_tests(facts: ReportFacts, found: Subgroups) -> View:
    """Show the test of equal AUCs, and the AUCs within and between subgroups."""
    return View(
        f"Within and between the subgroups by {found.split.name}",
        [
            Heading(facts.noun.capitalize(), is_text=True),
            Heading("AUC of all pairs"),
            Heading("Within subgroups"),
            Heading("Share of pairs"),
            Heading("Between subgroups"),
            Heading("\N{GREEK SMALL LETTER CHI}² of equal AUCs"),
            Heading("Degrees of freedom"),
            Heading("p"),
        ],
        [
            [
                model.name,
                formats.area(own.ranking.auc),
                formats.area(own.ranking.auc_within),
                formats.share(own.ranking.share_within),
                formats.area(own.ranking.auc_between),
                formats.decimal(own.ranking.chi_square, 2),
                str(own.ranking.df),
                formats.p_value(own.ranking.p_value),
            ]
            for model, own in zip(facts.models, found.models, strict=True)
        ],
        "p is the chance of AUCs so far apart if all were equal, not adjusted for the number of"
        " tests; subgroups without an AUC, or without a spread of it, are left out. A score may"
        " rank well within subgroups and badly between them, or the other way round.",
    )


def subgroup_calibration(facts: ReportFacts, found: Subgroups, place: int) -> View:
    """Show the calibration of a model in each subgroup."""
    calibration = found.models[place].calibration
    assert calibration is not None
    columns = [calibration[name] for name in MEASURES]
    n_drawn = facts.models[place].subject.n_drawn
    return View(
        f"{facts.models[place].name}: calibration by {found.split.name}",
        [
            Heading("Subgroup", is_text=True),
            Heading("Intercept"),
            Heading("Slope"),
            Heading("Observed per expected"),
        ],
        [
            [shortened(label, _LETTERS), *(_figure(column[part]) for column in columns)]
            for part, label in enumerate(found.split.labels)
        ],
        "0, 1 and 1 are perfect. An intercept below 0 says that probabilities are too high in the"
        " subgroup, a slope below 1 that they are too extreme; observed per expected is of the"
        " number of positives. With intervals; none where a class is absent."
        + ("" if n_drawn is None else f" Of {formats.count(n_drawn)} rows drawn at random."),
    )


def period_aucs(facts: ReportFacts, periods: Periods, place: int) -> View:
    """Show the AUC of a model in each period."""
    own = periods.models[place].parts
    test = own.ranking
    return _aucs(
        facts,
        periods.split,
        own,
        f"{facts.models[place].name}: AUC by period",
        [],
        f"Equal AUCs in all periods: p {formats.is_p(test.p_value)}."
        if not math.isnan(test.p_value)
        else "Whether the AUCs are equal is not tested: fewer than two of them have a spread.",
    )


def period_rates(facts: ReportFacts, periods: Periods, place: int) -> View:
    """Show observed and expected positives and the shift of scores in each period."""
    own = periods.models[place]
    ratios = None if own.parts.calibration is None else own.parts.calibration[MEASURES[-1]]
    heads = [Heading("Period", is_text=True), Heading("Observed"), Heading("Interval")]
    if ratios is not None:
        heads += [Heading("Expected"), Heading("Observed per expected")]
    rows: list[list[str | Bar]] = []
    for part, label in enumerate(periods.split.labels):
        observed, low, high = (
            float(periods.observed[name][part]) for name in ("observed", "low", "high")
        )
        row: list[str | Bar] = [
            label,
            formats.share(observed),
            f"{formats.share(low)} to {formats.share(high)}",
        ]
        if ratios is not None:
            row += [formats.share(float(own.expected[part])), _figure(ratios[part])]
        rows.append([*row, formats.decimal(float(own.psi[part])), own.verdict[part]])
    return View(
        f"{facts.models[place].name}: shares of positives and drift by period",
        [*heads, Heading("PSI of the score"), Heading("Verdict", is_text=True)],
        rows,
        f"The PSI compares the scores of a period with those of {periods.since}, in tenths of the"
        " latter. Few rows move it by chance alone.",
    )


def _aucs(
    facts: ReportFacts,
    split: Split,
    own: PartFacts,
    caption: str,
    more: list[tuple[str, str]],
    note: str,
) -> View:
    table = own.ranking.table
    lows, highs = table["low"].tolist(), table["high"].tolist()
    known = [value for value in (*lows, *highs) if not math.isnan(value)]
    least, most = (min(known), max(known)) if known else (0.0, 1.0)
    extent = (most - least) or 1.0
    rows: list[list[str | Bar]] = []
    for part, (label, n_rows) in enumerate(zip(split.labels, split.sizes, strict=True)):
        auc, low, high = (float(table[name][part]) for name in ("auc", "low", "high"))
        interval: str | Bar = formats.MISSING
        if not math.isnan(low):
            interval = Bar(
                f"{formats.area(low)} to {formats.area(high)}",
                *((value - least) / extent for value in (low, high, auc)),
            )
        rows.append(
            [
                shortened(label, _LETTERS),
                formats.count(n_rows),
                formats.count(float(table["positives"][part])),
                formats.share(float(table["positives"][part] / table["size"][part])),
                formats.area(auc),
                interval,
                *(formats.area(float(table[name][part])) for _, name in more),
            ]
        )
    weighted = ", by weight" if facts.is_weighted else ""
    return View(
        caption,
        [
            Heading("Period" if split.name == "time" and not more else "Subgroup", is_text=True),
            Heading("Rows"),
            Heading(f"Positives{weighted}"),
            Heading("Share of positives"),
            Heading("AUC"),
            Heading(f"Interval, {formats.share(facts.options.confidence, 0)}"),
            *(Heading(text) for text, _ in more),
        ],
        rows,
        note,
    )


def _figure(interval: Interval) -> str:
    value, low, high = interval
    if math.isnan(value):
        return formats.MISSING
    if math.isnan(low):
        return formats.decimal(value)
    return f"{formats.decimal(value)} ({formats.decimal(low)} to {formats.decimal(high)})"

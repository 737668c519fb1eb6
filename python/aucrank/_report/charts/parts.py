"""Charts of figures in subgroups of the rows, and over time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aucrank._page import formats
from aucrank._page.tables import shortened
from aucrank._report.charts.chart import (
    QUIET,
    TILTED,
    WIDE,
    Axis,
    Chart,
    Dot,
    Frame,
    Key,
    Stroke,
    model_keys,
    slot,
)
from aucrank._report.charts.path import line
from aucrank._report.charts.scale import LinearScale, Tick, padded
from aucrank._report.facts import ReportFacts
from aucrank._report.periods import Periods
from aucrank._report.subgroups import PartFacts, Split

# Maximum number of named parts on an axis, letters per name, and the width of a letter.
_MOST_TICKS = 16
_MOST_LETTERS = 16
_LETTER = 7.5

# Share of the width of a part that the points of all models take.
_SPREAD = 0.6


def auc_chart(facts: ReportFacts, split: Split, models: Sequence[PartFacts], what: str) -> Chart:
    """Draw the AUC of all models in each part of the rows."""
    frame, x, ticks = _places(split)
    names = [model.name for model in facts.models]
    tables = [model.ranking.table for model in models]
    known = np.concatenate([t[name] for t in tables for name in ("auc", "low", "high")])
    overall = [model.ranking.auc for model in models]
    known = np.append(known[~np.isnan(known)], overall)
    y = frame.up(*padded(float(known.min()), float(known.max()), 0.08))
    chart = Chart(
        f"AUC by {what}",
        "",
        ticks,
        Axis("AUC", y.ticks(5)),
        frame,
        keys=[*model_keys(names), Key("all rows", QUIET)],
    )
    for place, table in enumerate(tables):
        at = float(y(overall[place]))
        chart.strokes.append(Stroke(line([frame.left, frame.width - frame.right], [at, at]), QUIET))
        for part, (auc, low, high) in enumerate(
            zip(*(table[name].tolist() for name in ("auc", "low", "high")), strict=True)
        ):
            if math.isnan(auc):
                continue
            text = f"{split.labels[part]}: {names[place]} {formats.area(auc)}"
            is_known = not math.isnan(low)
            chart.dots.append(
                Dot(
                    float(x(part + _shift(place, len(tables)))),
                    float(y(auc)),
                    slot(place),
                    text + (f" ({formats.area(low)} to {formats.area(high)})" if is_known else ""),
                    float(y(low)) if is_known else None,
                    float(y(high)) if is_known else None,
                )
            )
    chart.alt = "; ".join(_extremes(split, t["auc"], n) for n, t in zip(names, tables, strict=True))
    return chart


def rate_chart(facts: ReportFacts, periods: Periods) -> Chart:
    """Draw the observed share of positives by period, and the expected ones."""
    split = periods.split
    frame, x, ticks = _places(split)
    observed, low, high = (periods.observed[name].tolist() for name in ("observed", "low", "high"))
    expected = [model.expected for model in periods.models]
    top = max(max(high), *(float(np.nanmax(e)) for e in expected if not np.isnan(e).all()), 0.0)
    y = frame.up(0.0, min(1.0, 1.05 * top), is_share=True)
    drawn = [at for at, own in enumerate(expected) if not np.isnan(own).all()]
    return Chart(
        "Observed and expected share of positives by period",
        f"observed {formats.share(observed[0])} in {split.labels[0]},"
        f" {formats.share(observed[-1])} in {split.labels[-1]}",
        ticks,
        Axis("Share of positives", y.ticks(5)),
        frame,
        strokes=[_course(expected[at], x, y, at) for at in drawn],
        dots=[
            Dot(
                float(x(part)),
                float(y(share)),
                "hull",
                f"{split.labels[part]}: observed {formats.share(share)}"
                f" ({formats.share(low[part])} to {formats.share(high[part])})",
                float(y(low[part])),
                float(y(high[part])),
            )
            for part, share in enumerate(observed)
        ],
        keys=[
            Key("observed", "hull"),
            *(Key(f"expected by {facts.models[at].name}", slot(at)) for at in drawn),
        ],
    )


def drift_chart(facts: ReportFacts, periods: Periods) -> Chart:
    """Draw the PSI of the scores by period."""
    frame, x, ticks = _places(periods.split)
    names = [model.name for model in facts.models]
    psi = [model.psi for model in periods.models]
    top = max(0.25, *(float(own.max()) for own in psi))
    y = frame.up(0.0, padded(0.0, top)[1])
    return Chart(
        f"Drift of the scores against {periods.since}",
        "; ".join(
            f"{name}: PSI {formats.decimal(float(own[-1]))} in {periods.split.labels[-1]}"
            for name, own in zip(names, psi, strict=True)
        ),
        ticks,
        Axis("PSI", y.ticks(5)),
        frame,
        strokes=[
            *(
                Stroke(
                    line([frame.left, frame.width - frame.right], [float(y(at))] * 2),
                    QUIET,
                    is_thin=True,
                )
                for at in (0.1, 0.25)
            ),
            *(_course(own, x, y, at) for at, own in enumerate(psi)),
        ],
        dots=[
            Dot(
                float(x(part)),
                float(y(value)),
                slot(at),
                f"{periods.split.labels[part]}: {names[at]} {formats.decimal(float(value))}",
            )
            for at, own in enumerate(psi)
            for part, value in enumerate(own)
        ],
        keys=[*model_keys(names), Key("0.1 and 0.25", QUIET)],
    )


def _course(values: NDArray[np.float64], x: LinearScale, y: LinearScale, place: int) -> Stroke:
    known = np.flatnonzero(~np.isnan(values))
    return Stroke(line(x(known), y(values[known])), slot(place))


def _shift(place: int, n_models: int) -> float:
    """Return the offset of the point of a model from the middle of its part."""
    return _SPREAD * ((place + 0.5) / n_models - 0.5) if n_models > 1 else 0.0


def _places(split: Split) -> tuple[Frame, LinearScale, Axis]:
    """Return the places of the parts, and their names as far as they fit."""
    n_parts = len(split.labels)
    every = math.ceil(n_parts / _MOST_TICKS)
    texts = [shortened(label, _MOST_LETTERS) for label in split.labels]
    room = (WIDE.width - WIDE.left - WIDE.right) / n_parts / _LETTER
    is_tilted = max(map(len, texts)) > room
    frame = TILTED if is_tilted else WIDE
    x = frame.across(-0.5, n_parts - 0.5)
    ticks = [Tick(float(x(at)), texts[at]) for at in range(0, n_parts, every)]
    return frame, x, Axis("", ticks, is_tilted=is_tilted)


def _extremes(split: Split, aucs: NDArray[np.float64], name: str) -> str:
    if np.isnan(aucs).all():
        return f"{name}: no AUC is known in any of {len(split.labels)} parts"
    least, most = int(np.nanargmin(aucs)), int(np.nanargmax(aucs))
    return (
        f"{name}: from {formats.area(float(aucs[least]))} in {split.labels[least]} to"
        f" {formats.area(float(aucs[most]))} in {split.labels[most]}"
    )

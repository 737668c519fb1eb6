"""Drift of new rows from the training rows of a scorecard."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from html import escape
from math import exp, nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from aucrank._data.scores import auc_of_groups
from aucrank._data.table import Table
from aucrank._plots.drift import DriftDisplay, draw_drift
from aucrank._utils.numbers import rounded
from aucrank._utils.plain_text import shown
from aucrank.additive._scorecard.card import Card, PointDistribution, masses_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from aucrank.metrics import AucInterval
    from aucrank.metrics._shift import Shift

# Number of bands of points, with shares of the training rows as equal as whole points allow.
_N_BANDS = 10

# p-value of a PSI above which a verdict is reported as inconclusive.
_BY_CHANCE = 0.05

# Standard errors by which rates out of order must differ to be significant.
_STANDARD_ERRORS = 1.96

# Level of the intervals of the AUC.
_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class DriftReport:
    """Drift of new rows from the training rows of a scorecard.

    It prints as text, and as tables in a notebook.

    Attributes
    ----------
    n_rows : int
        Number of new rows; a row of whole weight k counts as k.
    score_psi : float
        Population stability index of the total points, over the bands of ``points``.
    score_p_value : float
        Chance of an index at least as high without drift.
    score_verdict : {"stable", "watch", "shifted"}
        "stable" below 0.1, "shifted" from 0.25.
    features : Table
        One row for each feature of the card, the greatest index first: ``feature``, ``psi``,
        ``p_value``, ``verdict``, ``missing_then`` and ``missing_now`` (share of missing values),
        ``points_shift`` (the shift of the mean points of the feature). With ``y`` also ``auc_then``
        and ``auc_now``, the AUC of the points of the feature alone.
    bins : Table
        One row for each bin: ``feature``, ``rule`` (the values in words), ``points``,
        ``share_then``, ``share_now`` and ``psi`` (its part of the index of its feature). With ``y``
        also ``rate_then`` and ``rate_now``, the share of positives (NaN without rows), and
        ``in_order``: False if ``rate_now`` contradicts the order of the points relative to another
        bin of the feature by more than chance (1.96 standard errors of the difference).
    points : Table
        One row for each band of total points: ``band``, ``share_then``, ``share_now``, ``psi``.
        With ``y`` also ``rate_then``, ``rate_now`` and ``expected_rate`` (the prediction of the
        card for the new rows of the band), ``observed`` and ``expected``, numbers of positives.
    auc_then : AucInterval
        AUC of the training rows, with the interval of `aucrank.metrics.auc_interval`, except that a
        row of whole weight k counts as k rows.
    auc_now : AucInterval or None
        AUC of the new rows; None without ``y``, or if it holds one class.
    observed, expected : float
        Number of positives among the new rows, and the number that the card predicts; ``observed``
        is NaN without ``y``.
    """

    n_rows: int
    score_psi: float
    score_p_value: float
    score_verdict: str
    features: Table
    bins: Table
    points: Table
    auc_then: AucInterval | None
    auc_now: AucInterval | None
    observed: float
    expected: float

    def _summary(self) -> list[str]:
        lines = [
            f"{self.n_rows} new row{'s' * (self.n_rows != 1)}. Points: PSI {self.score_psi:.4f},"
            f" {self.score_verdict}{_chance(self.score_p_value)}"
        ]
        names, verdicts, chances = (
            self.features[column].tolist() for column in ("feature", "verdict", "p_value")
        )
        for verdict in ("shifted", "watch"):
            found = [
                f"{shown(name)}{_chance(p_value)}"
                for name, said, p_value in zip(names, verdicts, chances, strict=True)
                if said == verdict
            ]
            if found:
                lines.append(f"{verdict}: {', '.join(found)}")
        if not np.isnan(self.observed):
            lines.append(
                f"Positives: {rounded(self.observed)} observed, {rounded(self.expected)} expected"
            )
        if self.auc_now is not None and self.auc_then is not None:
            now, then = self.auc_now, self.auc_then
            lines.append(
                f"AUC {now.auc:.4f} [{now.low:.4f}, {now.high:.4f}] now,"
                f" {then.auc:.4f} [{then.low:.4f}, {then.high:.4f}] then"
            )
        return lines

    def __repr__(self) -> str:
        tables = (repr(table) for table in (self.points, self.features))
        return "\n\n".join(["\n".join(self._summary()), *tables])

    def _repr_html_(self) -> str:
        summary = "".join(f"<p>{escape(line)}</p>" for line in self._summary())
        tables = (table._repr_html_() for table in (self.points, self.features, self.bins))
        return summary + "".join(tables)

    def plot(
        self,
        features: Sequence[str] | int = 6,
        *,
        ax: Sequence[Axes] | Axes | None = None,
    ) -> DriftDisplay:
        """Draw the shares of the bins then and now with matplotlib.

        Parameters
        ----------
        features : int or sequence of str, default=6
            Maximum number of features, those with the greatest index first; or their names.
        ax : matplotlib.axes.Axes or a sequence of them, default=None
            Where to draw, one for the total points and one for each feature. None makes a figure.

        Returns
        -------
        DriftDisplay
            What was drawn.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If a feature is not on the card, or there are too few or too many axes.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from aucrank import Scorecard
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> X = X[["worst_area", "mean_texture"]]
        >>> card = Scorecard().fit(X, y)
        >>> [panel.get_title() for panel in card.drift(X.head(80)).plot(1).axes_]
        ['total points: PSI ...', '...: PSI ...']
        """
        return draw_drift(self, features, ax)


def report_drift(card: Card, counts: dict[str, Any], *, has_y: bool) -> DriftReport:
    """Compare new rows with the training rows of a card.

    Parameters
    ----------
    card : Card
        The card.
    counts : dict
        Counts of the new rows from the core.
    has_y : bool
        Whether they have labels.
    """
    from aucrank.metrics._shift import measure_shift

    now_in_all = PointDistribution.read(counts)
    rows_then, rows_now = card.distribution.n_rows, now_in_all.n_rows
    features, high = card.features, card.sign
    of_features, of_bins = [], []
    for feature, sums in zip(features, counts["features"], strict=True):
        then = np.array([[bin_.n_pos, bin_.size - bin_.n_pos] for bin_ in feature.bins])
        now = masses_of(sums, counts["exponent"])
        shift = measure_shift(then.sum(1), now.sum(1), rows_then, rows_now)
        gained = np.array([bin_.points for bin_ in feature.bins])
        of_feature = {
            "feature": feature.name,
            "psi": shift.psi,
            "p_value": shift.p_value,
            "verdict": shift.verdict,
            "missing_then": shift.then[-1],
            "missing_now": shift.now[-1],
            "points_shift": float(((shift.now - shift.then) * gained).sum()),
        }
        of_bin = {
            "feature": [feature.name] * len(gained),
            "rule": [bin_.rule for bin_ in feature.bins],
            "points": gained,
            "share_then": shift.then,
            "share_now": shift.now,
            "psi": shift.parts,
        }
        if has_y:
            of_feature |= {
                "auc_then": _auc(then, high * gained),
                "auc_now": _auc(now, high * gained),
            }
            of_bin |= {
                "rate_then": _rate(then),
                "rate_now": _rate(now),
                "in_order": _in_order(now * (rows_now / now.sum()), high * gained),
            }
        of_features.append(of_feature)
        of_bins.append(of_bin)
    order = sorted(range(len(features)), key=lambda place: -of_features[place]["psi"])
    bands, shift, observed, expected = _bands(card, now_in_all, has_y=has_y)
    return DriftReport(
        n_rows=rows_now,
        score_psi=shift.psi,
        score_p_value=shift.p_value,
        score_verdict=shift.verdict,
        features=_feature_table([of_features[place] for place in order], has_y=has_y),
        bins=_bin_table([of_bins[place] for place in order], has_y=has_y),
        points=bands,
        auc_then=_auc_interval(card.distribution, high),
        auc_now=_auc_interval(now_in_all, high) if has_y else None,
        observed=observed,
        expected=expected,
    )


def _rate(masses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of positives of each bin, NaN for one without rows."""
    total = masses.sum(1)
    return _ratio(masses[:, 0], total)


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide, NaN where the divisor is 0."""
    ratio: NDArray[np.float64] = np.full(len(whole), nan)
    return np.divide(part, whole, where=whole > 0, out=ratio)


def _auc(masses: NDArray[np.float64], score: NDArray[np.int64]) -> float:
    """Return the AUC of rows in groups, NaN where a class is absent."""
    _, group = np.unique(score, return_inverse=True)
    pos, neg = (np.bincount(group, masses[:, column]) for column in (0, 1))
    if not pos.sum() or not neg.sum():
        return nan
    return auc_of_groups(pos, neg)


def _in_order(counts: NDArray[np.float64], score: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each bin whether its rate is in the order of the scores."""
    size = counts.sum(1)
    pos = counts[:, 0]
    used = np.minimum.outer(size, size) > 0
    whole = np.add.outer(size, size)
    pooled = np.divide(np.add.outer(pos, pos), whole, where=used, out=np.zeros_like(whole))
    parts = np.divide(whole, np.multiply.outer(size, size), where=used, out=np.zeros_like(whole))
    rate = np.divide(pos, size, where=size > 0, out=np.zeros_like(size))
    too_high = rate[:, None] - rate > _STANDARD_ERRORS * np.sqrt(pooled * (1 - pooled) * parts)
    inverted = used & (score[:, None] < score) & too_high
    return np.array([not (inverted[j].any() or inverted[:, j].any()) for j in range(len(size))])


def _bands(
    card: Card, in_all: PointDistribution, *, has_y: bool
) -> tuple[Table, Shift, float, float]:
    """Return the bands of points, the shift of rows among them, and the total of positives."""
    from aucrank.metrics._shift import measure_shift

    scores_then, then = card.distribution.points, card.distribution.masses
    scores_now, now = in_all.points, in_all.masses
    tops = _band_tops(scores_then, then.sum(1))
    band_then, band_now = np.searchsorted(tops, scores_then), np.searchsorted(tops, scores_now)
    n_bands = len(tops) + 1

    def by_band(bands: NDArray[np.intp], masses: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(bands, masses, minlength=n_bands).astype(np.float64)

    size_then, size_now = by_band(band_then, then.sum(1)), by_band(band_now, now.sum(1))
    shift = measure_shift(size_then, size_now, card.distribution.n_rows, in_all.n_rows)
    log_odds = card.sign * (scores_now - card.offset) / card.factor
    expected = by_band(band_now, now.sum(1) * np.array([_logistic(value) for value in log_odds]))
    table = Table(
        band=_band_words(tops),
        share_then=shift.then,
        share_now=shift.now,
        psi=shift.parts,
    )
    observed = nan
    if has_y:
        pos_then, pos_now = by_band(band_then, then[:, 0]), by_band(band_now, now[:, 0])
        observed = float(pos_now.sum())
        table |= {
            "rate_then": _ratio(pos_then, size_then),
            "rate_now": _ratio(pos_now, size_now),
            "expected_rate": _ratio(expected, size_now),
            "observed": pos_now,
            "expected": expected,
        }
    return table, shift, observed, float(expected.sum())


def _band_tops(points: NDArray[np.int64], size: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the highest points of each band but the last."""
    share = np.cumsum(size) / size.sum()
    targets = np.arange(1, _N_BANDS) / _N_BANDS
    # A share that is a tenth up to rounding is a tenth.
    places = np.searchsorted(share, targets - 1e-12)
    return np.unique(points[places[places < len(points) - 1]])


def _band_words(tops: NDArray[np.int64]) -> list[str]:
    if not len(tops):
        return ["all"]
    lows = tops[:-1] + 1
    inner = [
        f"{low} to {top}" if low < top else str(top)
        for low, top in zip(lows.tolist(), tops[1:].tolist(), strict=True)
    ]
    return [f"<= {tops[0]}", *inner, f"> {tops[-1]}"]


def _logistic(log_odds: float) -> float:
    return 1 / (1 + exp(-log_odds)) if log_odds > -700 else exp(log_odds)


def _auc_interval(rows: PointDistribution, high: int) -> AucInterval | None:
    """Return the AUC of counted rows with its interval, None where a class is absent.

    A row of whole weight k counts as k rows; other weights are scaled to the number of rows.
    """
    from aucrank.metrics._inference import interval_of

    counts = rows.masses[::high] * (rows.n_rows / rows.masses.sum())
    n_pos, n_neg = counts.sum(0)
    if not n_pos or not n_neg:
        return None
    # The share of the other class that a row is ordered correctly against, a tie counting one half.
    over = (np.cumsum(counts[:, 1]) - counts[:, 1] / 2) / n_neg
    under = (n_pos - np.cumsum(counts[:, 0]) + counts[:, 0] / 2) / n_pos
    auc = float((counts[:, 0] * over).sum() / n_pos)
    variance = None
    if min(n_pos, n_neg) > 1:
        of_pos = (counts[:, 0] * (over - auc) ** 2).sum() / (n_pos - 1) / n_pos
        of_neg = (counts[:, 1] * (under - auc) ** 2).sum() / (n_neg - 1) / n_neg
        variance = float(of_pos + of_neg)
    with warnings.catch_warnings():
        # A perfectly ranked small sample needs no warning here.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return interval_of(auc, variance, (float(n_pos), float(n_neg)), _CONFIDENCE)


def _feature_table(rows: list[dict[str, Any]], *, has_y: bool) -> Table:
    dtypes: dict[str, Any] = {
        "feature": np.str_,
        "psi": np.float64,
        "p_value": np.float64,
        "verdict": np.str_,
        "missing_then": np.float64,
        "missing_now": np.float64,
        "points_shift": np.float64,
    }
    if has_y:
        dtypes |= {"auc_then": np.float64, "auc_now": np.float64}
    return Table(
        {name: np.array([row[name] for row in rows], dtype=dtype) for name, dtype in dtypes.items()}
    )


def _bin_table(features: list[dict[str, Any]], *, has_y: bool) -> Table:
    dtypes: dict[str, Any] = {
        "feature": np.str_,
        "rule": np.str_,
        "points": np.int64,
        "share_then": np.float64,
        "share_now": np.float64,
        "psi": np.float64,
    }
    if has_y:
        dtypes |= {"rate_then": np.float64, "rate_now": np.float64, "in_order": np.bool_}
    return Table(
        {
            name: np.array([value for of in features for value in of[name]], dtype=dtype)
            for name, dtype in dtypes.items()
        }
    )


def _chance(p_value: float) -> str:
    """Return a note on a verdict that may be chance, empty for others."""
    return f" (may be chance: p = {p_value:.2g})" if p_value > _BY_CHANCE else ""

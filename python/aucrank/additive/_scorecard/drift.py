"""How far new rows have moved from those that a scorecard was made from."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from html import escape
from math import exp, ldexp, nan
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._data.input import count_rows, read_columns
from aucrank._data.labels import check_weight, match_labels
from aucrank._data.sample import Sample
from aucrank._data.schema import Schema, errors_by_name
from aucrank._data.table import Table
from aucrank._plots.pyplot import given_axes, import_pyplot
from aucrank._utils.params import check_int
from aucrank._utils.threads import threads_for
from aucrank.additive._scorecard.bins import CardFeature, card_features
from aucrank.metrics import AucInterval
from aucrank.metrics._inference import interval_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# Bands of points with as equal shares of the training rows as whole points allow.
_N_BANDS = 10

# The usual limits of the PSI.
_WATCH, _SHIFTED = 0.1, 0.25

# Chance of a PSI as high without drift, above which a verdict is said to prove nothing.
_BY_CHANCE = 0.05

# How far rates that are out of order must be apart to be no chance.
_STANDARD_ERRORS = 1.96

# Level of the intervals of the AUC.
_CONFIDENCE = 0.95

# Inches of a panel and of a bin in it, and panels in a row.
_PANEL_WIDTH, _BAR = 4.6, 0.3
_N_COLUMNS = 2

# Letters of a bin in words that a panel has room for.
_MOST_LETTERS = 36


@dataclass(frozen=True, slots=True)
class Shift:
    """How far the shares of some bins have moved.

    Attributes
    ----------
    then, now : ndarray of float64
        Share of the rows in each bin, in training and now.
    parts : ndarray of float64
        What each bin adds to the PSI.
    psi : float
        Population stability index.
    p_value : float
        Chance of a PSI of at least this value if nothing but chance had moved the rows.
    """

    then: NDArray[np.float64]
    now: NDArray[np.float64]
    parts: NDArray[np.float64]
    psi: float
    p_value: float

    @property
    def verdict(self) -> str:
        """What is usually said of a PSI."""
        if self.psi < _WATCH:
            return "stable"
        return "watch" if self.psi < _SHIFTED else "shifted"


def measure_shift(
    then: NDArray[np.float64], now: NDArray[np.float64], rows_then: int, rows_now: int
) -> Shift:
    """Compare the shares of bins in two samples.

    Parameters
    ----------
    then, now : ndarray of float64, shape (n_bins,)
        Weight of each bin in training and now; neither sum is 0.
    rows_then, rows_now : int
        Number of rows of each sample.

    Returns
    -------
    Shift
        A bin that is empty in one sample has the share of half a row there; one that is empty in
        both is no bin.
    """
    shares = then / then.sum(), now / now.sum()
    used = (then > 0) | (now > 0)
    # The floor stands in both factors: else a bin of less than half a row could lower the index.
    floored = [
        np.where(used, np.where(share > 0, share, 0.5 / rows), 1.0)
        for share, rows in zip(shares, (rows_then, rows_now), strict=True)
    ]
    parts = (floored[1] - floored[0]) * np.log(floored[1] / floored[0])
    psi = float(parts.sum())
    n_free = int(used.sum()) - 1
    p_value = float(chi2.sf(psi / (1 / rows_then + 1 / rows_now), n_free)) if n_free else 1.0
    return Shift(shares[0], shares[1], parts, psi, p_value)


@dataclass(frozen=True, eq=False, repr=False)
class DriftReport:
    """How far new rows have moved from the training rows of a scorecard.

    It prints as text, and as tables in a notebook.

    Attributes
    ----------
    n_rows : int
        Number of new rows; a row of whole weight k counts as k.
    score_psi : float
        Population stability index of the total points, over the bands of ``points``.
    score_p_value : float
        Chance of an index at least as high if the new rows came from where the training rows did.
    score_verdict : {"stable", "watch", "shifted"}
        "stable" below 0.1, "shifted" from 0.25.
    features : Table
        One row for each feature of the card, the greatest index first: ``feature``, ``psi``,
        ``p_value``, ``verdict``, ``missing_then`` and ``missing_now`` (share of missing values),
        ``points_shift`` (by how many points the mean of the feature has moved). With ``y`` also
        ``auc_then`` and ``auc_now``: how well the points of the feature alone rank.
    bins : Table
        One row for each bin: ``feature``, ``rule`` (the values in words), ``points``,
        ``share_then``, ``share_now`` and ``psi`` (its part of the index of its feature). With ``y``
        also ``rate_then`` and ``rate_now``, the share of positives (NaN for no row), and
        ``in_order``: False where, against the points, ``rate_now`` is higher or lower than that of
        another bin of the feature, by more than chance (1.96 standard errors of the difference).
    points : Table
        One row for each band of total points: ``band``, ``share_then``, ``share_now``, ``psi``.
        With ``y`` also ``rate_then``, ``rate_now`` and ``expected_rate`` (what the card predicts
        for the new rows of the band), ``observed`` and ``expected``, numbers of positives.
    auc_then : AucInterval
        AUC of the training rows, on which the card was made, with DeLong's interval as in
        `aucrank.metrics.auc_interval`, but a row of whole weight k counts as k rows.
    auc_now : AucInterval or None
        AUC of the new rows; None without ``y``, or if it holds one class.
    observed, expected : float
        Number of positives among the new rows, and how many the card predicts; ``observed`` is NaN
        without ``y``.
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
                f"{name}{_chance(p_value)}"
                for name, said, p_value in zip(names, verdicts, chances, strict=True)
                if said == verdict
            ]
            if found:
                lines.append(f"{verdict}: {', '.join(found)}")
        if not np.isnan(self.observed):
            lines.append(f"Positives: {self.observed:.6g} observed, {self.expected:.6g} expected")
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
            So many features at most, those of the greatest index first; or the names of which.
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
        return _draw(self, features, ax)


@dataclass(frozen=True, eq=False)
class DriftDisplay:
    """What `DriftReport.plot` has drawn, for further changes.

    Attributes
    ----------
    axes_ : list of matplotlib.axes.Axes
        The panels: the total points, then one for each feature.
    figure_ : matplotlib.figure.Figure or SubFigure
        Their figure.
    """

    axes_: list[Axes]
    figure_: Figure | SubFigure


class DriftMixin:
    """For estimators whose core model is a scorecard."""

    _model: _core.Scorecard
    _schema: Schema
    classes_: NDArray[Any]

    def drift(
        self, X: Any, y: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
    ) -> DriftReport:
        """Compare new rows with the training rows, by what the card sees of them.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            New rows with the columns seen in fit. A category that was not seen there is missing.
        y : array-like of shape (n,), default=None
            Their labels, if they are known yet. Both classes need not occur.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; weight k means the row repeated k times, and weight 0 a row that
            is not there.

        Returns
        -------
        DriftReport
            What has moved, by how much, and whether by more than chance.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        ValueError
            If the columns are not those seen in fit, a label or a weight is not valid, or no row
            has weight.

        Notes
        -----
        The population stability index (PSI) of a feature is the sum over its bins of
        ``(now - then) * log(now / then)``, where ``then`` and ``now`` are the shares of the
        training rows and of the new rows in the bin; what is missing is a bin like any other. For
        the total points the bins are bands of whole points that hold about a tenth of the training
        rows each, fewer where many rows have the same points. A bin that is empty in one sample
        counts as half a row there; one that is empty in both is left out.

        By custom a PSI below 0.1 is stable, and from 0.25 the rows have shifted. Few rows have a
        high PSI by chance alone: without any drift it is about chi-squared with one degree of
        freedom less than bins, times ``1/n_then + 1/n_now`` [1]_. ``p_value`` is the chance of so
        high a value. A verdict with a high ``p_value`` proves nothing; with very many rows a
        ``p_value`` near 0 says only that a shift is real, not that it is large. The law holds for
        bins of some five rows or more; of many features, one in twenty is below 0.05 by chance.

        ``auc_then`` is that of the rows that the card was made from, and so too high: a fall of the
        AUC by a few hundredths is to be expected of any new rows.

        References
        ----------
        .. [1] Yurdakul and Naranjo, "Statistical properties of the population stability index",
           J. Risk Model Valid. 14(4), 2020. :doi:`10.21314/JRMV.2020.227`

        Examples
        --------
        >>> import numpy as np
        >>> from aucrank import Scorecard
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(2000, 2))
        >>> y = X[:, 0] + rng.normal(size=2000) > 0
        >>> card = Scorecard().fit(X, y)
        >>> card.drift(X).score_psi
        0.0
        >>> report = card.drift(X[:500] + [0.8, 0.0])
        >>> report.score_verdict
        'shifted'
        >>> report.features.to_frame()[["feature", "psi", "verdict"]].round(2)
          feature   psi  verdict
        0      x0  0.64  shifted
        1      x1  0.00   stable
        """
        check_is_fitted(self)
        columns = read_columns(self, X, self._schema)
        n_rows = count_rows(columns)
        weight = check_weight(sample_weight, n_rows)
        if weight is not None and not weight.any():
            raise ValueError("sample_weight is zero for every row; drift needs rows to compare")
        positive = None
        if y is not None:
            positive = match_labels(y, self.classes_)
            if len(positive) != n_rows:
                raise ValueError(
                    "Found input variables with inconsistent numbers of samples:"
                    f" {[n_rows, len(positive)]}"
                )
        n_threads = threads_for(getattr(self, "n_jobs", None), n_rows)
        with errors_by_name(self._schema):
            sample = Sample(columns, self._schema, positive, weight)
            counts = json.loads(self._model.drift(sample.core, n_threads))
        card = json.loads(self._model.to_json())
        features = card_features(card, self._schema)
        return _report(card, features, counts, has_y=positive is not None)


def _report(
    card: dict[str, Any],
    features: list[CardFeature],
    counts: dict[str, Any],
    *,
    has_y: bool,
) -> DriftReport:
    rows_then, rows_now = card["total"]["rows"], counts["total"]["rows"]
    high = 1 if card["high_points"] == "positive" else -1
    of_features, of_bins = [], []
    for feature, sums in zip(features, counts["features"], strict=True):
        then = np.array([[bin_.n_pos, bin_.size - bin_.n_pos] for bin_ in feature.bins])
        now = _masses(sums, counts["exponent"])
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
    bands, shift, observed, expected = _bands(card, counts, has_y=has_y)
    return DriftReport(
        n_rows=rows_now,
        score_psi=shift.psi,
        score_p_value=shift.p_value,
        score_verdict=shift.verdict,
        features=_feature_table([of_features[place] for place in order], has_y=has_y),
        bins=_bin_table([of_bins[place] for place in order], has_y=has_y),
        points=bands,
        auc_then=_auc_interval(card, high),
        auc_now=_auc_interval(counts, high) if has_y else None,
        observed=observed,
        expected=expected,
    )


def _masses(sums: list[dict[str, int]], exponent: int) -> NDArray[np.float64]:
    """Return the weight of the positive and of the negative rows of each bin."""
    listed = [[ldexp(s["pos"], exponent), ldexp(s["neg"], exponent)] for s in sums]
    return np.array(listed, dtype=np.float64).reshape(-1, 2)


def _rate(masses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of positives of each bin, NaN for one without rows."""
    total = masses.sum(1)
    return _ratio(masses[:, 0], total)


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide, NaN where there is nothing to divide by."""
    ratio: NDArray[np.float64] = np.full(len(whole), nan)
    return np.divide(part, whole, where=whole > 0, out=ratio)


def _auc(masses: NDArray[np.float64], score: NDArray[np.int64]) -> float:
    """Return the AUC of rows in groups, NaN where a class is absent."""
    _, group = np.unique(score, return_inverse=True)
    pos, neg = (np.bincount(group, masses[:, column]) for column in (0, 1))
    if not pos.sum() or not neg.sum():
        return nan
    below = np.cumsum(neg) - neg / 2
    return float((pos * below).sum() / (pos.sum() * neg.sum()))


def _in_order(counts: NDArray[np.float64], score: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell of each bin whether its rate stands to those of all others as the scores say."""
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
    card: dict[str, Any], counts: dict[str, Any], *, has_y: bool
) -> tuple[Table, Shift, float, float]:
    """Return the bands of points, how far rows have moved among them, and positives in all."""
    scores_then, then = _distribution(card)
    scores_now, now = _distribution(counts)
    tops = _band_tops(scores_then, then.sum(1))
    band_then, band_now = np.searchsorted(tops, scores_then), np.searchsorted(tops, scores_now)
    n_bands = len(tops) + 1

    def by_band(bands: NDArray[np.intp], masses: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(bands, masses, minlength=n_bands).astype(np.float64)

    size_then, size_now = by_band(band_then, then.sum(1)), by_band(band_now, now.sum(1))
    rows = card["total"]["rows"], counts["total"]["rows"]
    shift = measure_shift(size_then, size_now, *rows)
    sign = 1 if card["high_points"] == "positive" else -1
    log_odds = sign * (scores_now - card["offset"]) / card["factor"]
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


def _distribution(sums: dict[str, Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the points that rows have, ascending, and the masses of their rows."""
    points = np.array([points for points, _ in sums["distribution"]], dtype=np.int64)
    return points, _masses([found for _, found in sums["distribution"]], sums["exponent"])


def _band_tops(points: NDArray[np.int64], size: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the highest points of each band but the last."""
    share = np.cumsum(size) / size.sum()
    targets = np.arange(1, _N_BANDS) / _N_BANDS
    # A share that is a tenth but for rounding is a tenth.
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


def _auc_interval(sums: dict[str, Any], high: int) -> AucInterval | None:
    """Return the AUC of counted rows with DeLong's interval, None where a class is absent.

    A row of whole weight k counts as k rows; other weights are scaled to the number of rows.
    """
    _, masses = _distribution(sums)
    counts = masses[::high] * (sums["total"]["rows"] / masses.sum())
    n_pos, n_neg = counts.sum(0)
    if not n_pos or not n_neg:
        return None
    # The share of the other class that a row is ranked right against, a tie counting one half.
    over = (np.cumsum(counts[:, 1]) - counts[:, 1] / 2) / n_neg
    under = (n_pos - np.cumsum(counts[:, 0]) + counts[:, 0] / 2) / n_pos
    auc = float((counts[:, 0] * over).sum() / n_pos)
    variance = None
    if min(n_pos, n_neg) > 1:
        of_pos = (counts[:, 0] * (over - auc) ** 2).sum() / (n_pos - 1) / n_pos
        of_neg = (counts[:, 1] * (under - auc) ** 2).sum() / (n_neg - 1) / n_neg
        variance = float(of_pos + of_neg)
    with warnings.catch_warnings():
        # That a small sample is ranked without fault is nothing to warn of here.
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
    """Return a word on a verdict that may be chance, nothing for others."""
    return f" (may be chance: p = {p_value:.2g})" if p_value > _BY_CHANCE else ""


def _draw(
    report: DriftReport, features: Sequence[str] | int, ax: Sequence[Axes] | Axes | None
) -> DriftDisplay:
    plt = import_pyplot("plot")
    known = report.features["feature"].tolist()
    if isinstance(features, int | Integral):
        chosen = known[: check_int(features, "features", low=0)]
    elif isinstance(features, str):
        raise ValueError(f"features must be a number or a list of names, got {features!r}")
    else:
        chosen = list(features)
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise ValueError(f"features names {unknown[0]!r}, which is not on the card")
    panels = [("total points", report.score_psi, report.points["band"].tolist(), report.points)]
    psi_of = dict(zip(known, report.features["psi"].tolist(), strict=True))
    for name in chosen:
        rows = report.bins["feature"] == name
        bins = Table({column: values[rows] for column, values in report.bins.items()})
        panels.append((name, psi_of[name], bins["rule"].tolist(), bins))
    if ax is None:
        n_columns = min(_N_COLUMNS, len(panels))
        lengths = [len(words) for _, _, words, _ in panels]
        # A row of panels is as high as the bins of its longest need.
        starts = range(0, len(panels), n_columns)
        heights = [0.8 + _BAR * max(lengths[start : start + n_columns]) for start in starts]
        figure, grid = plt.subplots(
            len(heights),
            n_columns,
            squeeze=False,
            layout="constrained",
            figsize=(_PANEL_WIDTH * n_columns, sum(heights)),
            height_ratios=heights,
        )
        axes = list(grid.flat)
        for unused in axes[len(panels) :]:
            unused.remove()
        axes = axes[: len(panels)]
    else:
        axes, figure = given_axes(ax, len(panels), "panels")
    for panel, (name, psi, words, bins) in zip(axes, panels, strict=True):
        places = np.arange(len(words))
        panel.barh(places - 0.2, bins["share_then"], height=0.4, color="0.7", label="then")
        panel.barh(places + 0.2, bins["share_now"], height=0.4, color="C0", label="now")
        panel.set_yticks(places, [_short(word) for word in words], fontsize="small")
        panel.invert_yaxis()
        panel.set_xlabel("share of rows")
        panel.set_title(f"{name}: PSI {psi:.3f}", fontsize="medium")
    axes[0].legend(frameon=False, fontsize="small")
    return DriftDisplay(axes, figure)


def _short(words: str) -> str:
    """Return words that leave room for the bars."""
    return words if len(words) <= _MOST_LETTERS else words[: _MOST_LETTERS - 3] + "..."

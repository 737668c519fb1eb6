"""Decision curves: the net benefit of decisions based on a probability."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfc
from sklearn.exceptions import UndefinedMetricWarning

from aucrank._data.table import Table
from aucrank._plots import decision as _plot
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.warn import warn_caller
from aucrank.metrics._inference import check_confidence
from aucrank.metrics._units import Units
from aucrank.metrics._weighting import Weighting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aucrank._plots.decision import DecisionCurveDisplay

_THRESHOLDS = np.arange(1, 100) / 100


@dataclass(frozen=True, eq=False)
class DecisionCurve:
    """Net benefit of models over thresholds, as :func:`decision_curve` returns it.

    Attributes
    ----------
    table : Table
        A row for each model and threshold, those of ``"all"`` after the models: ``model``;
        ``threshold``; ``tpr`` and ``fpr``, the rates of those treated; ``net_benefit`` with its
        interval, ``low`` and ``high``; ``standardized``, the net benefit divided by the prevalence,
        so that 1 is perfect; ``avoided``, treatments avoided for each row, compared with treating
        all at the same number of true positives, NaN for ``"all"``.
    differences : Table
        For each two models, and each with ``"all"``, at each threshold: ``model``, ``other``,
        ``threshold``, the ``difference`` of their net benefits with its interval, ``low`` and
        ``high``, for a paired sample, and the two-sided ``p_value``.
    prevalence : float
        Share of positives that the net benefit is for.
    confidence : float
        Level of the intervals.
    """

    table: Table
    differences: Table
    prevalence: float
    confidence: float

    def plot(
        self, ax: Axes | None = None, *, standardized: bool = False, plot_band: bool = True
    ) -> DecisionCurveDisplay:
        """Draw the net benefit of each model, of treating all and of treating none.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; ``None`` makes a figure.
        standardized : bool, default=False
            Whether to divide by the prevalence.
        plot_band : bool, default=True
            Whether to draw the intervals of the models.

        Returns
        -------
        DecisionCurveDisplay
            What was drawn.
        """
        return _plot.draw(self, ax, standardized=standardized, plot_band=plot_band)


@suggests_keywords
def decision_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike | Mapping[str, ArrayLike],
    *,
    thresholds: ArrayLike | None = None,
    prevalence: float | None = None,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> DecisionCurve:
    """Net benefit of acting where a probability is at least a threshold.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_prob : array-like of shape (n_samples,), or dict of such
        Probabilities of the positive class, from 0 to 1; for several models a dict by name, where
        ``"all"`` and ``"none"`` are reserved.
    thresholds : array-like of shape (n_thresholds,), default=None
        Probabilities in (0, 1) from which rows are treated; ``None`` takes 0.01 to 0.99.
    prevalence : float, default=None
        Share of positives, in (0, 1), of the population that the decisions are for, if it differs
        from that of the rows, as in a case-control study; ``None`` takes that of the rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: rows of a group may be dependent,
        groups are independent.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).

    Returns
    -------
    DecisionCurve
        With ``table`` and ``differences``.

    Warns
    -----
    UndefinedMetricWarning
        If a difference other than 0 has no variance, so that it cannot be tested.

    Raises
    ------
    ValueError
        If labels are not of two classes; if a probability is missing or not from 0 to 1; for a
        threshold or prevalence outside (0, 1); for bad weights; and for ``groups`` with a missing
        value, or only one group.

    See Also
    --------
    calibration_curve : Whether the probabilities are right, which thresholds on them assume.
    optimal_threshold : One cut-off for known costs.

    Notes
    -----
    Acting from a probability t on implies that a false positive costs t / (1 - t) true positives.
    With the prevalence π, the net benefit is π TPR - (1 - π) FPR t / (1 - t) [1]_; treating none
    has 0. Intervals are normal, with the variance of the mean of the contributions of the rows; a
    given prevalence is held fixed. They are pointwise: over a range of thresholds some miss.

    References
    ----------
    .. [1] Vickers and Elkin, "Decision curve analysis: a novel method for evaluating prediction
       models", Medical Decision Making 26(6), 2006. :doi:`10.1177/0272989X06295361`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import decision_curve
    >>> rng = np.random.default_rng(0)
    >>> log_odds = rng.normal(-1, 1, size=2000)
    >>> risk = 1 / (1 + np.exp(-log_odds))
    >>> found = decision_curve(rng.random(2000) < risk, {"model": risk}, thresholds=[0.2, 0.4])
    >>> model, of_all = found.table["net_benefit"].reshape(2, 2)
    >>> bool(np.all(model > np.maximum(of_all, 0)))
    True
    """
    z = NormalDist().inv_cdf(0.5 + check_confidence(confidence) / 2)
    units = Units.of(y_true, sample_weight, weights, groups)
    given = y_prob if isinstance(y_prob, Mapping) else {"model": y_prob}
    models = {}
    for name, values in given.items():
        if name in ("all", "none"):
            raise ValueError(f"a model cannot be named {name!r}, which is a strategy of its own")
        models[str(name)] = units.probabilities(values, f"y_prob of {name!r}")
    if not models:
        raise ValueError("y_prob holds no model")
    cuts = _to_thresholds(thresholds)
    observed = units.mean(units.positive)
    if prevalence is not None and not 0 < prevalence < 1:
        raise ValueError(f"prevalence is {prevalence}, but must be between 0 and 1")
    share = observed if prevalence is None else float(prevalence)

    # Number of thresholds at which each row is treated: those not above its probability.
    reached = {name: np.searchsorted(cuts, values, side="right") for name, values in models.items()}
    reached["all"] = np.full(len(units.positive), len(cuts))
    benefit = _NetBenefit(units, cuts, share, prevalence is not None)
    rows = [_of_model(benefit, name, own, z) for name, own in reached.items()]
    pairs = itertools.combinations(reached.items(), 2)
    differences = [_of_pair(benefit, first, second, z) for first, second in pairs]
    return DecisionCurve(_joined(rows), _joined(differences), share, float(confidence))


def _to_thresholds(thresholds: ArrayLike | None) -> NDArray[np.float64]:
    """Return distinct thresholds, ascending."""
    if thresholds is None:
        return _THRESHOLDS
    cuts = np.unique(np.asarray(thresholds, dtype=np.float64))
    if cuts.size == 0 or not np.all((cuts > 0) & (cuts < 1)):
        raise ValueError("thresholds must be one or more numbers between 0 and 1")
    return cuts


@dataclass(frozen=True, eq=False)
class _NetBenefit:
    """Net benefit of treated rows, for the prevalence of the rows or a given one."""

    units: Units
    cuts: NDArray[np.float64]
    prevalence: float
    is_given: bool

    @property
    def odds(self) -> NDArray[np.float64]:
        """Cost of a false positive in true positives."""
        return self.cuts / (1 - self.cuts)

    def rates(self, reached: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the false and the true positive rate at each threshold."""
        weight, positive = self.units.weight, self.units.positive
        rates = []
        for rows in (~positive, positive):
            own = np.bincount(reached[rows], weight[rows], len(self.cuts) + 1)
            rates.append(own[::-1].cumsum()[::-1][1:] / own.sum())
        return np.array(rates)

    def value(self, rates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the net benefit of rates at each threshold."""
        fpr, tpr = rates
        return np.asarray(self.prevalence * tpr - (1 - self.prevalence) * fpr * self.odds)

    def variance(self, *terms: tuple[float, NDArray[np.intp]]) -> NDArray[np.float64]:
        """Return the variance of a weighted sum of net benefits at each threshold."""
        units, n_cuts = self.units, len(self.cuts)
        observed = units.mean(units.positive)
        # Contribution of a treated row of each class to the mean, negatives first, and its
        # centring.
        worth = np.array([-self.odds, np.ones(n_cuts)])
        if self.is_given:
            shares = np.array([1 - self.prevalence, self.prevalence])
            worth *= (shares / [1 - observed, observed])[:, np.newaxis]
        rates = [self.rates(reached) for _, reached in terms]
        mean = np.zeros((2, n_cuts))
        for (factor, _), own in zip(terms, rates, strict=True):
            mean += factor * worth * own
        if not self.is_given:
            mean[:] = np.array([1 - observed, observed]) @ mean
        label = units.positive.astype(np.intp)
        # Rows with the same label treated at the same thresholds contribute the same.
        kinds = label
        for _, reached in terms:
            kinds = kinds * (n_cuts + 1) + reached
        if units.codes is not None:
            return self._by_groups(terms, label, worth, mean)
        kinds, place = np.unique(kinds, return_inverse=True)
        squares = np.bincount(place, units.squares())
        total = np.zeros(n_cuts)
        numbers = kinds.copy()
        own_reached = []
        for _ in terms:
            own_reached.append(numbers % (n_cuts + 1))
            numbers //= n_cuts + 1
        own_reached.reverse()
        for cut in range(n_cuts):
            value = -mean[numbers, cut]
            for (factor, _), reached in zip(terms, own_reached, strict=True):
                value = value + factor * worth[numbers, cut] * (reached > cut)
            total[cut] = squares @ value**2
        return np.asarray(units.correction() * total / units.weight.sum() ** 2)

    def _by_groups(
        self,
        terms: tuple[tuple[float, NDArray[np.intp]], ...],
        label: NDArray[np.intp],
        worth: NDArray[np.float64],
        mean: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        units = self.units
        assert units.codes is not None
        # Weight of the negative and the positive rows of each group, and of those of them that are
        # treated: each row leaves these once, at the first threshold that it does not reach.
        codes = np.array([0, units.n_codes])[label] + units.codes
        weight = np.bincount(codes, units.weight, 2 * units.n_codes)
        treated = [weight.copy() for _ in terms]
        orders = [np.argsort(reached, kind="stable") for _, reached in terms]
        ends = [
            np.searchsorted(reached[order], np.arange(len(self.cuts)), side="right")
            for order, (_, reached) in zip(orders, terms, strict=True)
        ]
        starts = [0] * len(terms)
        total = np.zeros(len(self.cuts))
        for cut in range(len(self.cuts)):
            negative, positive = weight.reshape(2, -1)
            of_groups = -mean[0, cut] * negative - mean[1, cut] * positive
            for at, (factor, _) in enumerate(terms):
                left = orders[at][starts[at] : ends[at][cut]]
                starts[at] = int(ends[at][cut])
                np.subtract.at(treated[at], codes[left], units.weight[left])
                negative, positive = treated[at].reshape(2, -1)
                of_groups += factor * (worth[0, cut] * negative + worth[1, cut] * positive)
            total[cut] = np.square(of_groups).sum()
        return np.asarray(units.correction() * total / units.weight.sum() ** 2)


def _of_model(benefit: _NetBenefit, name: str, reached: NDArray[np.intp], z: float) -> Table:
    rates = benefit.rates(reached)
    value, error = benefit.value(rates), np.sqrt(benefit.variance((1.0, reached)))
    of_all = benefit.value(np.ones_like(rates))
    avoided = (value - of_all) / benefit.odds
    return Table(
        model=np.full(len(value), name, dtype=object),
        threshold=benefit.cuts,
        tpr=rates[1],
        fpr=rates[0],
        net_benefit=value,
        low=value - z * error,
        high=value + z * error,
        standardized=value / benefit.prevalence,
        avoided=np.full(len(value), np.nan) if name == "all" else avoided,
    )


def _of_pair(
    benefit: _NetBenefit,
    first: tuple[str, NDArray[np.intp]],
    second: tuple[str, NDArray[np.intp]],
    z: float,
) -> Table:
    values = [benefit.value(benefit.rates(reached)) for _, reached in (first, second)]
    difference = values[0] - values[1]
    error = np.sqrt(benefit.variance((1.0, first[1]), (-1.0, second[1])))
    # Of models that treat the same rows, both are rounding error.
    least = 1e-12 * (1 + benefit.odds)
    is_equal = (np.abs(difference) <= least) & (error <= least)
    ratio = np.where(is_equal, 0.0, np.nan)
    np.divide(difference, error, where=(error > 0) & ~is_equal, out=ratio)
    if np.isnan(ratio).any():
        at = benefit.cuts[int(np.isnan(ratio).argmax())]
        warn_caller(
            f"The net benefits of {first[0]!r} and {second[0]!r} differ without variance at {at:g},"
            " which says nothing of other samples: their p-value is NaN.",
            UndefinedMetricWarning,
        )
    return Table(
        model=np.full(len(difference), first[0], dtype=object),
        other=np.full(len(difference), second[0], dtype=object),
        threshold=benefit.cuts,
        difference=difference,
        low=difference - z * error,
        high=difference + z * error,
        p_value=erfc(np.abs(ratio) / np.sqrt(2)),
    )


def _joined(tables: list[Table]) -> Table:
    return Table({name: np.concatenate([table[name] for table in tables]) for name in tables[0]})

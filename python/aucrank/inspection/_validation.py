"""Figures of a fit that new rows would confirm, from the rows of the fit alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import check_scalar

from aucrank._base.scoring import score_rows
from aucrank._data.table import Table
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_seed
from aucrank.inspection._training import Training, check_scores
from aucrank.metrics._auc import roc_auc_score
from aucrank.metrics._inference import check_confidence, check_method
from aucrank.metrics._log_odds import in_large_and_slope, log_odds_of
from aucrank.metrics._units import Units

_Method = Literal["bootstrap", "cross_validation"]

# What the default of n_resamples is for each method.
_RESAMPLES: dict[_Method, int] = {"bootstrap": 200, "cross_validation": 10}

# Number of times that the rows left out of each repeat are drawn anew, for intervals.
_N_DRAWS = 100


@dataclass(frozen=True, eq=False)
class Validation:
    """Apparent and corrected figures of a fit, as :func:`validate` returns it.

    Attributes
    ----------
    table : Table
        A row for each ``measure``: ``"auc"``, and with probabilities the ``"intercept"`` and
        ``"slope"`` of their calibration, ``"brier"``, and ``"net_benefit"`` at each of the
        thresholds. ``threshold`` is NaN for the others. ``apparent`` is that of the rows of the
        fit, ``optimism`` the mean by which such a figure is too good, or too near to perfect,
        ``corrected`` their difference, with its interval from ``low`` to ``high``, which is NaN for
        intercept and slope; ``n`` is the number of resamples, or of repeats, that it could be
        computed in.
    method : str
        The method.
    confidence : float
        Level of the intervals.
    """

    table: Table
    method: str
    confidence: float

    def __getitem__(self, measure: str) -> float:
        """Return the corrected figure of a measure; of net benefit that of the first threshold."""
        names = self.table["measure"].tolist()
        if measure not in names:
            raise KeyError(f"{measure!r} is none of {sorted(set(names))}")
        return float(self.table["corrected"][names.index(measure)])


@suggests_keywords
def validate(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    method: Literal["bootstrap", "cross_validation"] = "bootstrap",
    n_resamples: int | None = None,
    n_folds: int = 10,
    thresholds: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    random_state: int | RandomState | None = None,
) -> Validation:
    """Discrimination, calibration and net benefit of a fit, corrected for optimism.

    The whole fit is repeated, with all that it chooses: pass a pipeline or a search, not the model
    that one has found.

    Parameters
    ----------
    estimator : estimator
        Binary classifier with ``decision_function`` or ``predict_proba``; it is cloned for each
        fit. Without ``predict_proba`` there is only the AUC.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to learn from.
    y : array-like of shape (n_samples,)
        Their labels.
    method : {"bootstrap", "cross_validation"}, default="bootstrap"
        ``"bootstrap"``: Harrell's correction. The estimator is fitted to resamples of the rows; the
        optimism is the mean of its figure on the resample less that on all rows [1]_.
        ``"cross_validation"``: figures of rows that were left out, over all folds, and the mean of
        the repeats.
    n_resamples : int, default=None
        Number of resamples, 2 or more, or of repeats of the cross-validation, 1 or more; ``None``
        takes 200 or 10.
    n_folds : int, default=10
        Number of folds of a cross-validation, 2 or more, and not more than the rarer class has
        rows, or than there are groups.
    thresholds : array-like of shape (n_thresholds,), default=None
        Probabilities in (0, 1) from which one would act, for the net benefit; ``None`` takes the
        share of positives.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, passed to ``fit`` and counted in all figures. A drawn row keeps its weight.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: whole groups are drawn, or left
        out, together.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).
    random_state : int, RandomState instance or None, default=None
        Seed of the resamples or folds.

    Returns
    -------
    Validation
        With ``table``; ``found["auc"]`` is the corrected AUC.

    Raises
    ------
    TypeError
        If the estimator cannot score rows.
    ValueError
        For labels not of two classes, bad weights, groups with a missing value, parameters out of
        range, and a resample or fold on which the estimator fails.

    See Also
    --------
    aucrank.compare : Several estimators by repeated cross-validation.
    aucrank.metrics.cross_validated_auc : The AUC of folds with an interval for new rows.
    aucrank.metrics.calibration_curve : The same figures of rows that no fit has seen.

    Notes
    -----
    Rows are drawn from all of them, again if a class is absent, since a fit also estimates the
    share of positives. Intercept and slope are those of
    :func:`aucrank.metrics.calibration_curve`: what is to be added to the log-odds, and their
    factor.

    The bootstrap needs fits that do not know their training rows by heart. A regression on few
    columns is corrected well by 200 resamples. A forest, a booster with many leaves or a nearest
    neighbour ranks the rows that it has seen almost without a mistake; two thirds of all rows are
    in its resample, so that "all rows" are hardly new and the optimism is too small: take the
    cross-validation there.

    Intervals of the bootstrap are quantiles of the figure over the resamples, each on its own rows,
    moved from their mean to the corrected figure, after [2]_, which moves them by the optimism:
    they would be too high then, since a resample is flattered twice. Those of cross-validation are
    quantiles of the figure when the rows left out are drawn anew with their predictions.

    References
    ----------
    .. [1] Harrell, Lee and Mark, "Multivariable prognostic models: issues in developing models,
       evaluating assumptions and adequacy, and measuring and reducing errors", Statistics in
       Medicine 15(4), 1996.
       :doi:`10.1002/(SICI)1097-0258(19960229)15:4<361::AID-SIM168>3.0.CO;2-4`
    .. [2] Noma, Shinozaki, Iba, Teramukai and Furukawa, "Confidence intervals of prediction
       accuracy measures for multivariable prediction models based on the bootstrap-based optimism
       correction methods", Statistics in Medicine 40(26), 2021. :doi:`10.1002/sim.9148`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank import LinearRanker
    >>> from aucrank.inspection import validate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 12))
    >>> y = X[:, 0] + 2 * rng.normal(size=150) > 1
    >>> found = validate(LinearRanker(), X, y, n_resamples=20, random_state=0)
    >>> apparent = found.table["apparent"][0]
    >>> bool(found["auc"] < apparent), found.table["measure"].tolist()
    (True, ['auc', 'intercept', 'slope', 'brier', 'net_benefit'])
    """
    check_method(method, tuple(_RESAMPLES), "method")
    alpha = 1 - check_confidence(confidence)
    if n_resamples is None:
        n_resamples = _RESAMPLES[method]
    least = 2 if method == "bootstrap" else 1
    check_scalar(n_resamples, "n_resamples", Integral, min_val=least)
    check_scalar(n_folds, "n_folds", Integral, min_val=2)
    check_scores(estimator)
    training = Training.of(X, y, sample_weight, groups)
    units = training.units
    if thresholds is None:
        cuts = np.array([units.mean(units.positive)])
    else:
        cuts = np.asarray(thresholds, dtype=np.float64).ravel()
        if cuts.size == 0 or not ((cuts > 0) & (cuts < 1)).all():
            raise ValueError("thresholds must be one or more numbers between 0 and 1")
    rng = np.random.default_rng(check_seed(random_state))
    every = np.arange(len(training.labels))
    apparent = _predicted(training, training.fit(estimator, every)).figures(cuts)
    if method == "bootstrap":
        own, on_all = _of_resamples(training, estimator, cuts, n_resamples, rng)
        optimism, n = _mean(own - on_all), np.isfinite(own - on_all).sum(axis=0)
        # A resample flatters its fit twice, so its figures tell their spread and not their level.
        spread = _quantiles(own, [alpha / 2, 1 - alpha / 2]) - _mean(own)
        ends = apparent - optimism + spread
        # By maximum likelihood, those of a resample on its own rows are 0 and 1.
        ends[:, 1:3] = math.nan
    else:
        repeats, draws = _of_folds(training, estimator, cuts, n_resamples, n_folds, rng)
        optimism, n = apparent - _mean(repeats), np.isfinite(repeats).sum(axis=0)
        ends = _quantiles(draws, [alpha / 2, 1 - alpha / 2])
    names = ["auc"]
    if len(apparent) > 1:
        names += ["intercept", "slope", "brier", *["net_benefit"] * len(cuts)]
    table = Table(
        measure=np.array(names, dtype=object),
        threshold=[*[math.nan] * 4, *cuts] if len(names) > 1 else [math.nan],
        apparent=apparent,
        optimism=optimism,
        corrected=apparent - optimism,
        low=ends[0],
        high=ends[1],
        n=n,
    )
    return Validation(table, method, float(confidence))


@dataclass(frozen=True, eq=False)
class _Predicted:
    """Predictions of all rows.

    Attributes
    ----------
    units : Units
        Labels, weights and groups of the rows.
    scores : ndarray of float64, shape (n_samples,)
        Their scores.
    probability : ndarray of float64, shape (n_samples,), or None
        Their probabilities.
    fold : ndarray of int, shape (n_samples,)
        Which rows have scores of the same model.
    """

    units: Units
    scores: NDArray[np.float64]
    probability: NDArray[np.float64] | None
    fold: NDArray[np.intp]

    def figures(
        self, cuts: NDArray[np.float64], times: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return all figures, of rows that count so many times; NaN for one without a value."""
        units = self.units
        if times is not None:
            units = replace(units, weight=units.weight * times)
        aucs = []
        for fold in range(int(self.fold.max()) + 1):
            rows = (self.fold == fold) & (units.weight > 0)
            positive = units.positive[rows]
            if positive.any() and not positive.all():
                aucs.append(
                    roc_auc_score(positive, self.scores[rows], sample_weight=units.weight[rows])
                )
        auc = float(np.mean(aucs)) if aucs else math.nan
        if self.probability is None:
            return np.array([auc])
        lines = in_large_and_slope(units, log_odds_of(self.probability))
        of_lines = (math.nan if line is None else float(line.coefficients[-1]) for line in lines)
        brier = units.mean((self.probability - units.positive) ** 2)
        sign = np.where(units.positive, 1.0, 0.0) - ~units.positive * (cuts / (1 - cuts))[:, None]
        benefit = [
            units.mean(own * (self.probability >= cut)) for own, cut in zip(sign, cuts, strict=True)
        ]
        return np.array([auc, *of_lines, brier, *benefit])


def _predicted(training: Training, model: Any) -> _Predicted:
    """Return the predictions of one model."""
    scores, probability = _of_model(model, training.take(np.arange(len(training.labels))))
    return _Predicted(training.units, scores, probability, np.zeros(len(scores), dtype=np.intp))


def _of_model(model: Any, rows: Any) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return scores and probabilities, if there are any."""
    scores = score_rows(model, rows)
    if not hasattr(model, "predict_proba"):
        return scores, None
    return scores, np.asarray(model.predict_proba(rows), dtype=np.float64)[:, 1]


def _of_resamples(
    training: Training,
    estimator: Any,
    cuts: NDArray[np.float64],
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the figures of fits to resamples, on their own rows and on all rows."""
    own, on_all = [], []
    for _ in range(n_resamples):
        drawn = training.redraw(rng, within_classes=False)
        predicted = _predicted(training, training.fit(estimator, drawn))
        times = np.bincount(drawn, minlength=len(training.labels)).astype(np.float64)
        own.append(predicted.figures(cuts, times))
        on_all.append(predicted.figures(cuts))
    return np.array(own), np.array(on_all)


def _of_folds(
    training: Training,
    estimator: Any,
    cuts: NDArray[np.float64],
    n_repeats: int,
    n_folds: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the figures of each repeat on rows left out, and those of such rows drawn anew."""
    units, n_rows = training.units, len(training.labels)
    repeats, draws = [], []
    for _ in range(n_repeats):
        seed = int(rng.integers(2**31))
        folds: StratifiedKFold | StratifiedGroupKFold = (
            StratifiedKFold(n_folds, shuffle=True, random_state=seed)
            if units.codes is None
            else StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        )
        scores, fold = np.empty(n_rows), np.empty(n_rows, dtype=np.intp)
        probability: NDArray[np.float64] | None = np.empty(n_rows)
        splits = folds.split(np.zeros(n_rows), units.positive, units.codes)
        for number, (others, left_out) in enumerate(splits):
            model = training.fit(estimator, others)
            scores[left_out], own = _of_model(model, training.take(left_out))
            fold[left_out] = number
            if own is None:
                probability = None
            elif probability is not None:
                probability[left_out] = own
        predicted = _Predicted(units, scores, probability, fold)
        repeats.append(predicted.figures(cuts))
        draws += [predicted.figures(cuts, units.redraw(rng)) for _ in range(_N_DRAWS)]
    return np.array(repeats), np.array(draws)


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means over the first axis of numbers that are there; NaN without any."""
    there = np.isfinite(values)
    sums = np.where(there, values, 0.0).sum(axis=0)
    counts = there.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), math.nan)


def _quantiles(values: NDArray[np.float64], levels: list[float]) -> NDArray[np.float64]:
    """Return quantiles over the first axis of numbers that are there, a row for each."""
    columns = [column[np.isfinite(column)] for column in values.T]
    return np.array(
        [np.quantile(column, levels) if len(column) else [math.nan] * 2 for column in columns]
    ).T

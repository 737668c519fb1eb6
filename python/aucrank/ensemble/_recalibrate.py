"""A fitted ranker with probabilities that are right at another place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.made_ranker import MadeRanker
from aucrank._base.persistence import Header
from aucrank._base.ranker import BaseRanker
from aucrank._base.summary import Section
from aucrank._data.labels import match_labels
from aucrank._data.table import Table
from aucrank._export.links import AboveHalf, Curve, Link, LogOdds, StepLink
from aucrank._utils.keywords import suggests_keywords

if TYPE_CHECKING:
    from aucrank.metrics._recalibration import Step

#: Log-odds at which a curve follows those of a probability: their distance is .05, and so that of
#: the curve from the true log-odds below .001.
_KNOTS = np.linspace(-18, 18, 721)

#: Log-odds beyond these are cut off where a leaf has a probability of 0 or 1.
_MOST_LOG_ODDS = 18.0

#: Rise of the log-odds beyond the scores of a tree, of which there are none.
_LEAST_SLOPE = 1e-3

_STEPS = ("method", "intercept", "slope", "log_loss", "brier", "gain", "standard_error", "p_value")


class Recalibrated(MadeRanker):
    """A ranker with its old ranking and new probabilities, as :func:`recalibrate` returns it.

    It is fitted, and scores, explains and exports like any ranker of aucrank.

    Parameters
    ----------
    source : str, default=""
        The class of the ranker that was recalibrated. It does not affect scores.
    method : str, default="none"
        The step that was taken. It does not affect scores either.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. Scores do not depend on it.

    Attributes
    ----------
    steps_ : Table or None
        What each step gains on rows left out: ``steps`` of
        :func:`aucrank.metrics.recalibration`. None after a change of prevalence.
    classes_ : ndarray of shape (2,)
        The two labels; the second is the class that ranks first.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they have any.

    See Also
    --------
    recalibrate : Makes it.

    Examples
    --------
    >>> from aucrank import RIMARC, recalibrate
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = recalibrate(RIMARC().fit(X[:300], y[:300]), X[300:], y[300:], method="slope")
    >>> model.method, bool((model.predict(X) == (model.predict_proba(X)[:, 1] > 0.5)).all())
    ('slope', True)
    """

    _family: ClassVar[str] = "ensemble"
    _refusal = (
        "a Recalibrated holds a ranker that was fitted before: fit that one, and call"
        " recalibrate again"
    )
    _model: _core.Ensemble

    def __init__(
        self, *, source: str = "", method: str = "none", n_jobs: int | None = None
    ) -> None:
        self.source = source
        self.method = method
        self.n_jobs = n_jobs

    @property
    def steps_(self) -> Table | None:
        """Return what each step gains.

        Returns
        -------
        Table or None
            A row for each step.
        """
        check_is_fitted(self)
        return self.__dict__.get("_steps")

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Columns in the order of ``classes_``; the second is above 1/2 exactly where `predict`
            is positive.
        """
        if "_calibration" not in self.__dict__:
            return super().predict_proba(X)
        positive = self._calibration.probability(self.decision_function(X))
        return np.column_stack((1 - positive, positive))

    def _link(self) -> Link:
        curve = self.__dict__.get("_calibration")
        return LogOdds() if curve is None else Curve(curve)

    def _fit_report(self) -> dict[str, Any]:
        if self.steps_ is None:
            return {}
        columns = {name: column.tolist() for name, column in self.steps_.items()}
        return {
            "steps": {
                name: [None if value != value else value for value in column]
                for name, column in columns.items()
            }
        }

    def _restore_report(self, report: Mapping[str, Any]) -> None:
        if (steps := report.get("steps")) is None:
            return
        if not isinstance(steps, Mapping) or tuple(sorted(steps)) != tuple(sorted(_STEPS)):
            raise ValueError("the steps are not those of a recalibration")
        self._steps = _table(steps)

    def _restore(
        self, header: Header, model: _core.Model, calibration: _core.Calibration | None
    ) -> None:
        super()._restore(header, model, None)
        if calibration is not None:
            self._calibration = calibration

    def _reset_fitted(self) -> None:
        super()._reset_fitted()
        self.__dict__.pop("_steps", None)

    def _summary(self) -> list[Section]:
        text = f"the ranking of a {self.source}, with probabilities by {self.method!r}"
        if self.steps_ is None:
            return [Section("Recalibration", text)]
        return [Section("Recalibration", text, self.steps_)]

    def _size(self) -> str:
        return f"a recalibrated {self.source}"


def _table(steps: Mapping[str, Sequence[Any]]) -> Table:
    return Table(
        {
            name: np.array(
                [math.nan if value is None else value for value in steps[name]],
                dtype=object if name == "method" else np.float64,
            )
            for name in _STEPS
        }
    )


@suggests_keywords
def recalibrate(
    ranker: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    method: Literal["auto", "none", "intercept", "slope", "isotonic"] = "auto",
    prevalence: float | None = None,
    training_prevalence: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: int | RandomState | None = 0,
) -> Recalibrated:
    """Make the probabilities of a fitted ranker right at another place; its ranking stays.

    Parameters
    ----------
    ranker : estimator
        A fitted ranker of this package with ``predict_proba``. For another model, or a column of
        probabilities, there is :func:`aucrank.metrics.recalibration`.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows of the other place, which the ranker was not fitted to.
    y : array-like of shape (n_samples,)
        Their labels, of the classes of the ranker.
    method : {"auto", "none", "intercept", "slope", "isotonic"}, default="auto"
        Which step to take, as for :func:`aucrank.metrics.recalibration`: shift the log-odds, also
        stretch them, or follow any rising curve; ``"auto"`` takes the least of the first two that
        a closed test does not reject, or none.
    prevalence : float, default=None
        Share of positives at the other place, in (0, 1), in place of ``X`` and ``y``: for a ranker
        that was fitted to rows of which some negatives were left out, or positives copied.
    training_prevalence : float, default=None
        Share of positives among the rows that the ranker was fitted to, by weight, in (0, 1);
        required with ``prevalence``.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: tests and errors are then of
        groups.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds in which the steps are compared.

    Returns
    -------
    Recalibrated
        A fitted ranker, which is saved and exported like any other, with ``method`` and ``steps_``.

    Raises
    ------
    NotFittedError
        If the ranker is not fitted.
    TypeError
        If it is not a ranker of this package, or has no probabilities.
    ValueError
        As for :func:`aucrank.metrics.recalibration`; for rows and a prevalence at once, or neither;
        and for a ranker whose probability is not a function of its score, for other methods than
        ``"isotonic"``.

    See Also
    --------
    aucrank.metrics.recalibration : The same for a column of probabilities, and how it is done.
    aucrank.metrics.at_prevalence : The change of prevalence for a column of probabilities.

    Notes
    -----
    Where scores are log-odds, the new ones are a multiple of the old ones plus a constant, and are
    exported as such. Otherwise the new probabilities are a rising curve of the score, as after
    ``calibration``, which ONNX has words for. Rows that tied still tie, and no others.

    Examples
    --------
    A ranker of 569 patients, for a place where 2 in 100 are ill:

    >>> from aucrank import LinearRanker, recalibrate
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearRanker().fit(X, y)
    >>> elsewhere = recalibrate(model, prevalence=0.02, training_prevalence=y.mean())
    >>> round(float(model.predict_proba(X[20:21])[0, 1]), 3)
    0.008
    >>> bool(elsewhere.predict_proba(X[20:21])[0, 1] < 0.001)
    True
    """
    # The statistics are imported here, since a file of such a ranker is read without them.
    from aucrank.metrics._recalibration import Line, recalibration, shift_of_prevalence

    if not isinstance(ranker, BaseRanker):
        raise TypeError(
            f"ranker must be a fitted ranker of aucrank, got a {type(ranker).__name__}: pass"
            " probabilities of other models to aucrank.metrics.recalibration"
        )
    check_is_fitted(ranker)
    if not hasattr(ranker, "predict_proba"):
        raise TypeError(
            f"this {type(ranker).__name__} has no predict_proba, so there is nothing to recalibrate"
        )
    if (prevalence is None) == (X is None and y is None):
        raise ValueError("pass rows and labels of the other place, X and y, or else its prevalence")
    if prevalence is not None:
        if training_prevalence is None:
            raise ValueError("prevalence needs training_prevalence, that of the rows of the fit")
        step: Step = Line(shift_of_prevalence(training_prevalence, prevalence), 1.0)
        taken, steps = "prevalence", None
    else:
        if y is None or X is None:
            raise ValueError(f"X and y belong together, but {'y' if y is None else 'X'} is None")
        positive = match_labels(y, ranker.classes_)
        found = recalibration(
            positive,
            ranker.predict_proba(X)[:, 1],
            method=method,
            sample_weight=sample_weight,
            groups=groups,
            random_state=random_state,
        )
        step, taken, steps = found._step, found.method, found.steps
    model, curve = _changed(ranker, step)
    recalibrated = Recalibrated(source=type(ranker).__name__, method=taken)
    recalibrated._set_fitted(ranker.classes_, ranker._schema, model)
    if curve is not None:
        recalibrated._calibration = curve
    if steps is not None:
        recalibrated._steps = steps
    return recalibrated


def _changed(ranker: BaseRanker, step: Step) -> tuple[_core.Ensemble, _core.Calibration | None]:
    """Return the model with new scores, and the curve of its probabilities where it has one."""
    link = ranker._link()
    below, above = step.ends
    if isinstance(link, LogOdds) and not len(step.bends):
        return _scaled(ranker, link.slope * below, float(step.log_odds(np.zeros(1))[0])), None
    knots, slopes = _old_curve(ranker, link, step)
    new = step.log_odds(knots[:, 1])
    ends = (slopes[0] * below, slopes[1] * above)
    # Rounding may order two of them wrongly.
    rising = np.maximum.accumulate(new)
    curve, cut = _core.calibration_through(
        list(zip(knots[:, 0].tolist(), rising.tolist(), strict=True)), ends
    )
    return _scaled(ranker, 1.0, -cut), curve


def _old_curve(
    ranker: BaseRanker, link: Link | None, step: Step
) -> tuple[NDArray[np.float64], tuple[float, float]]:
    """Return knots of scores and old log-odds, and the slopes beyond them."""
    match link:
        case LogOdds(slope):
            # An isotonic step has knots of its own.
            scores = log_odds = np.array([0.0])
            slopes = (slope, slope)
        case Curve(calibration):
            scores, log_odds = map(np.array, calibration.knots())
            slopes = calibration.slopes()
        case AboveHalf():
            scores, log_odds = 1 / (1 + np.exp(-_KNOTS)) - 0.5, _KNOTS
            slopes = (_LEAST_SLOPE, _LEAST_SLOPE)
        case StepLink(scores, probabilities):
            with np.errstate(divide="ignore"):
                log_odds = np.log(probabilities) - np.log1p(-probabilities)
            log_odds = log_odds.clip(-_MOST_LOG_ODDS, _MOST_LOG_ODDS)
            slopes = (_LEAST_SLOPE, _LEAST_SLOPE)
        case _:
            raise ValueError(
                f"the probability of this {type(ranker).__name__} is no function of its score, so"
                " that its score cannot carry new ones: recalibrate its probabilities by"
                " aucrank.metrics.recalibration"
            )
    if len(step.bends) and not isinstance(link, StepLink):
        # Where the new curve bends, seen from the old scores.
        scores, log_odds = _with_bends(scores, log_odds, slopes, step.bends)
    return np.column_stack([scores, log_odds]), slopes


def _with_bends(
    scores: NDArray[np.float64],
    log_odds: NDArray[np.float64],
    slopes: tuple[float, float],
    bends: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return knots of a curve, with further ones at some log-odds."""
    below, above = bends < log_odds[0], bends > log_odds[-1]
    at = np.interp(bends, log_odds, scores)
    at[below] = scores[0] - (log_odds[0] - bends[below]) / slopes[0]
    at[above] = scores[-1] + (bends[above] - log_odds[-1]) / slopes[1]
    every = np.concatenate([scores, at])
    order = np.unique(every, return_index=True)[1]
    joined = np.concatenate([log_odds, bends])[order]
    return every[order], np.maximum.accumulate(joined)


def _scaled(ranker: BaseRanker, factor: float, shift: float) -> _core.Ensemble:
    """Return the score of a ranker times a factor, plus a constant, as a model."""
    model = ranker._model
    n_levels = ranker._schema.n_levels
    if not isinstance(model, _core.Ensemble):
        return _core.build_ensemble(n_levels, [(factor, [model], ())], shift)
    if model.external_models():
        raise ValueError(
            f"this {type(ranker).__name__} has members of other packages, which live outside of the"
            " model: recalibrate its probabilities by aucrank.metrics.recalibration"
        )
    members = [
        (factor * own, model.models(number), ()) for number, own in enumerate(model.factors())
    ]
    return _core.build_ensemble(n_levels, members, factor * model.intercept + shift)

"""Calibrated probabilities and the decision threshold of rankers.

A `_core.Calibration` maps scores to probabilities. It is learned from rows that no model has seen:
the validation or held-out rows where there are enough of them, else all rows, each scored by a
model that was fitted without its fold. The score at even odds becomes the threshold of the model,
which is the only difference from a fit without calibration.
"""

import json
import warnings
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from aucrank import _core
from aucrank._base.external import KeepsModels, row_taker
from aucrank._base.fit_context import FitContext
from aucrank._base.fit_progress import FitProgress
from aucrank._base.folds import deal
from aucrank._base.ranker import BaseRanker
from aucrank._data.column_warnings import inner_fits_are_silent
from aucrank._data.sample import Sample
from aucrank._data.weights import unweigh_classes
from aucrank._export.links import Curve, Link
from aucrank._utils.params import check_choice
from aucrank._utils.warn import warn_caller
from aucrank.data._dataset import refuse_for_dataset

#: Values of the parameter ``calibration``.
CALIBRATIONS = ("auto", "isotonic", "sigmoid", None)

#: Number of cross-fits, and the fixed seed of their folds: probabilities depend on no random seed.
N_FOLDS, SEED_OF_FOLDS = 3, 0

#: Bits of a score that calibration uses.
_BITS_OF_SCORES = 40

#: Rows of the rarer class that "auto" considers enough to learn a curve from, and enough to skip
#: further fits where rows were held out anyway.
MANY_ROWS, ENOUGH_HELD_OUT = 1000, 100

_Model = TypeVar("_Model", bound=_core.Model)


def _has_probabilities(estimator: "CalibratedRanker") -> bool:
    """Return whether there are probabilities; else raise the error that scikit-learn shows."""
    refusal = estimator._no_probabilities()
    if refusal is None:
        return True
    raise AttributeError(refusal)


class CalibratedRanker(BaseRanker):
    """Base of rankers with a threshold and the parameters ``calibration`` and ``class_weight``."""

    calibration: str | None
    class_weight: Any

    def _no_probabilities(self) -> str | None:
        """Return why there is no ``predict_proba``, None where there is one."""
        fitted = self.__sklearn_is_fitted__()
        if self._is_calibrated if fitted else self.calibration is not None:
            return None
        return (
            f"predict_proba of {type(self).__name__} needs calibration='auto': without, scores"
            " rank rows, and no more"
        )

    @property
    def _is_calibrated(self) -> bool:
        return "_calibration" in self.__dict__

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class; available with a ``calibration``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Columns in the order of ``classes_``; the second rises with `decision_function`, and is
            above 1/2 exactly where `predict` is positive.
        """
        positive = self._positive_probability(X)
        return np.column_stack((1 - positive, positive))

    def _positive_probability(self, X: Any) -> NDArray[np.float64]:
        scores = self.decision_function(X)
        return self._calibration.probability(scores)

    def _link(self) -> Link | None:
        return Curve(self._calibration) if self._is_calibrated else None

    def _check_all_params(self) -> None:
        super()._check_all_params()
        check_choice(self.calibration, "calibration", CALIBRATIONS)

    def _check_for_dataset(self) -> None:
        super()._check_for_dataset()
        if self._fits_dataset == "sample":
            # Its rows act as those of a frame.
            return
        if self._needs_calibration():
            raise refuse_for_dataset("calibration", self.calibration, "None")
        if self._needs_threshold():
            raise refuse_for_dataset("class_weight", self.class_weight, "None")

    def _needs_calibration(self) -> bool:
        """Whether the parameters require calibrated scores."""
        return self.calibration is not None

    def _needs_threshold(self) -> bool:
        """Whether the threshold is derived from the scores of the training rows."""
        return self.class_weight is not None

    def _rows_held_out(self, model: Any, context: FitContext) -> NDArray[np.uint32] | None:
        """Return the rows that the fit held out and never used; None where there are none."""
        return None

    def _finish_model(self, model: _Model, context: FitContext) -> _Model:
        """Return the model with the threshold that the parameters require, and calibrate it."""
        # Scoring goes through this estimator as if it were fitted.
        self._model, self._schema = model, context.sample.schema
        n_threads = context.n_threads
        if self._needs_calibration():
            unseen, scores = self._unseen(model, context)
            method = self.calibration
            if method == "auto":
                method = "isotonic" if _n_of_rarer(unseen) >= MANY_ROWS else "sigmoid"
            self._calibration, cut = _calibrate(unseen, scores, method, n_threads)
        elif self._needs_threshold():
            # Even odds on the training rows: good enough for a cut, not for probabilities.
            sample, factors = context.sample, context.validation.class_factors
            assert factors is not None
            weight = unweigh_classes(factors, sample.labels, sample.weight)
            scores = self._score(sample, n_threads)
            cut = _core.even_odds(scores, sample.labels, weight, factors, n_threads)
        else:
            return model
        assert model.threshold is not None
        return _core.with_threshold(model, model.threshold + cut)

    def _unseen(self, model: Any, context: FitContext) -> tuple[Sample, NDArray[np.float64]]:
        """Return rows to calibrate on, with scores by models that were not fitted to them."""
        sample, n_threads = context.sample, context.n_threads
        if context.validation.is_given:
            given = context.validation.read(self, sample.schema, self.classes_)
            return given, self._score(given, n_threads)
        rows = self._rows_held_out(model, context)
        if rows is not None:
            held_out = self._take(sample, rows.astype(np.intp))
            if _n_of_rarer(held_out) >= ENOUGH_HELD_OUT:
                return held_out, self._score(held_out, n_threads)
        folds = deal(sample, N_FOLDS, SEED_OF_FOLDS, n_threads)
        dealt = replace(self._take(sample, folds.rows), weight=folds.weight)
        if folds.n_folds < 2:
            warn_caller(
                "A class has one distinct row, so no rows can be left out: probabilities are"
                " calibrated on the rows of the fit, and too sure."
            )
            return dealt, self._score(dealt, n_threads)
        return dealt, self._cross_fitted(dealt, folds.of_row, folds.n_folds, context)

    def _cross_fitted(
        self, dealt: Sample, fold_of_row: NDArray[np.intp], n_folds: int, context: FitContext
    ) -> NDArray[np.float64]:
        """Return scores of rows by models without their folds, each on the scale of this model.

        Scores of two fits differ in scale and location. Both have scored the rows that they have in
        common: mean and deviation are made equal there.
        """
        n_threads = context.n_threads
        own = self._score(dealt, n_threads)
        found = np.empty(len(own))
        for fold in range(n_folds):
            is_out = fold_of_row == fold
            is_kept = ~is_out
            if dealt.blocks is not None:
                is_kept = dealt.blocks.apart_from(is_out)
                dealt.blocks.check_gap(dealt.labels[is_kept])
            ranker = clone(self)
            ranker.set_params(verbose=0)
            # Some fits use the labels.
            ranker.classes_, ranker._schema = self.classes_, self._schema
            part = self._take(dealt, np.flatnonzero(is_kept))
            inner = FitContext(part, context.seed, n_threads, FitProgress(ranker))
            with warnings.catch_warnings(), inner_fits_are_silent():
                warnings.simplefilter("ignore")
                ranker._model = ranker._fit_model(inner)
            scores = ranker._score(dealt, n_threads)
            weight = None if dealt.weight is None else dealt.weight[is_kept]
            own_mean, own_deviation = _moments(own[is_kept], weight)
            mean, deviation = _moments(scores[is_kept], weight)
            scale = own_deviation / deviation if own_deviation > 0 and deviation > 0 else 1.0
            found[is_out] = (scores[is_out] - mean) * scale + own_mean
        return _on_a_grid(found)

    def _take(self, sample: Sample, rows: NDArray[np.intp]) -> Sample:
        """Return some of the rows; also in the user's own format, where estimators need it."""
        taken = sample.take(rows)
        if isinstance(self, KeepsModels) and self._external_estimator() is not None:
            taken = replace(taken, rows=row_taker(sample.rows)(rows))
        return taken

    def _score(self, sample: Sample, n_threads: int) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = self._dispatch(
            "score", sample.rows, sample.columns, n_threads
        )
        return scores


def _on_a_grid(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores without their last bits, so that rounding alone does not separate two.

    Means of weighted rows and of their copies are rounded differently, and isotonic regression
    pools equal scores.
    """
    largest = float(np.abs(scores).max(initial=0.0))
    if largest == 0.0:
        return scores
    unit = 2.0 ** (np.ceil(np.log2(largest)) - _BITS_OF_SCORES)
    rounded: NDArray[np.float64] = np.round(scores / unit) * unit
    return rounded


def _calibrate(
    sample: Sample, scores: NDArray[np.float64], method: str | None, n_threads: int
) -> tuple[_core.Calibration, float]:
    """Learn probabilities from scores; also return the score at even odds."""
    return _core.fit_calibration(
        scores, sample.labels, sample.weight, json.dumps(method), n_threads
    )


def _n_of_rarer(sample: Sample) -> int:
    """Return the number of rows of the rarer class; rows of weight zero do not count."""
    there = np.ones(sample.n_rows, dtype=bool) if sample.weight is None else sample.weight > 0
    n_positive = int(np.count_nonzero(sample.labels[there]))
    return min(n_positive, int(np.count_nonzero(there)) - n_positive)


def _moments(
    scores: NDArray[np.float64], weight: NDArray[np.float64] | None
) -> tuple[float, float]:
    """Return mean and standard deviation."""
    mean = float(np.average(scores, weights=weight))
    return mean, float(np.sqrt(np.average((scores - mean) ** 2, weights=weight)))

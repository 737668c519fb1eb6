"""Lemma 4 of paper 3: any ranker cut into a classifier with equal error rates on both classes."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from aucrank import _core
from aucrank._base.exports import ExportMixin
from aucrank._base.external import check_ranker, set_random_states, weight_parameter
from aucrank._base.persistence import Header, encode_params, rebuild
from aucrank._base.ranker import AucScoreMixin, BaseRanker
from aucrank._base.saving import SaveMixin
from aucrank._base.scoring import score_rows
from aucrank._base.summary import Section, SummaryMixin
from aucrank._data.as_frame import as_frame
from aucrank._data.labels import encode_binary
from aucrank._data.schema import Schema
from aucrank._data.weights import check_class_sums, check_weight
from aucrank._utils.keywords import SuggestsKeywords, suggests_keywords
from aucrank._utils.numbers import exact, rounded
from aucrank._utils.params import check_choice, check_real, check_seed
from aucrank._utils.threads import threads_for
from aucrank.tree import TreeRank


class TwoSidedClassifier(
    SuggestsKeywords,
    SaveMixin,
    SummaryMixin,
    AucScoreMixin,
    ExportMixin,
    MetaEstimatorMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Classifier with the same error rate on both classes, made from any ranker.

    The rows that rank at or above a threshold are called positive. One class then has a higher
    error rate than the other, so a biased coin randomises the labels on one side of the threshold,
    such that both classes end with the same error rate. If the ranker has an AUC of 1/2 + gamma on
    the training rows, that rate is at most 1/2 - gamma/4, however rare a class is (Lemma 4 of
    [1]_). This is what `AUCBoost` and `MartiRank` boost.

    Parameters
    ----------
    ranker : estimator or None, default=None
        The ranker: an estimator of aucrank, or any of scikit-learn with ``decision_function``
        (preferred) or ``predict_proba``. It is cloned, never fitted itself, and receives ``X``
        unchanged. None for ``TreeRank(random_state=0)``.
    criterion : {"sum", "error"}, default="sum"
        Criterion for the threshold: the least sum of both error rates before the coin, as in the
        paper, which is the largest TPR - FPR; or the least error rate after it.
    noise_rate : float, default=0.0
        Share of labels known to be flipped at random, whatever the class; at least 0 and below the
        share of the rarer class. The error rates, and with them the coin, are then those of the
        true labels.
    random_state : int, RandomState instance or None, default=None
        Seed of the ranker: each ``random_state`` that it has, also in its parts, is set from this.
        None leaves them unchanged; a ranker with ``random_state=None`` then differs between fits.

    Attributes
    ----------
    ranker_ : estimator
        The fitted ranker.
    theta_ : float
        Threshold of its score, in the middle between two scores of training rows; infinite where
        no threshold is better than calling all rows negative.
    zeta_ : float
        Chance of the coin, at most 1/2: that a row below the threshold is called positive, or that
        one above it is called negative.
    p_pos_, p_neg_ : float
        Share of the positives below the threshold, and of the negatives above it.
    error_ : float
        Chance of a mistake on the training rows of either class.
    advantage_ : float
        Advantage over chance: 1/2 - ``error_``.
    votes_ : ndarray of shape (2,)
        Expected vote of rows below the threshold and of those above it: the chance of being called
        positive less that of being called negative.
    threshold_ : float
        Midpoint of the two votes; `decision_function` is the vote minus this.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`, if the ranker has it.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the ranker has them.

    See Also
    --------
    sklearn.model_selection.TunedThresholdClassifierCV : Cuts a score by a metric, without a coin.

    Notes
    -----
    Among thresholds that are equal by ``criterion``, the one with the smaller error is taken, then
    the highest. Rows of weight zero do not contribute.

    The error rates are those of the rows that the ranker was fitted to: a ranker that overfits
    makes them look better than they are.

    Noise does not move the threshold, since noise independent of the class scales all differences
    TPR - FPR by the same factor. It does change their size, and so the coin.

    `predict` and `decision_function` follow the expected vote, and give the same answer each time;
    `draw` flips the coin. The score has two values, so its AUC on the training rows is 1 less half
    the sum of ``p_pos_`` and ``p_neg_``; that of a draw is 1 - ``error_`` on average (Lemma 5).

    It can be saved and exported with a ranker of aucrank. With any other it can be pickled.

    References
    ----------
    .. [1] Long and Servedio, "Boosting the area under the ROC curve", Advances in Neural
       Information Processing Systems 20, 2007.

    Examples
    --------
    >>> from aucrank.boosting import TwoSidedClassifier
    >>> from aucrank.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TwoSidedClassifier(ranker=GaussianNB()).fit(X, y)
    >>> print(f"{model.p_pos_:.3f} {model.p_neg_:.3f} -> {model.error_:.3f}")
    0.038 0.062 -> 0.060
    """

    _FITTED: ClassVar[tuple[str, ...]] = (
        "ranker_",
        "classes_",
        "theta_",
        "zeta_",
        "p_pos_",
        "p_neg_",
        "error_",
        "votes_",
        "_cut",
        "n_features_in_",
        "feature_names_in_",
    )

    def __init__(
        self,
        *,
        ranker: Any = None,
        criterion: str = "sum",
        noise_rate: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.ranker = ranker
        self.criterion = criterion
        self.noise_rate = noise_rate
        self.random_state = random_state

    @suggests_keywords
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the ranker, and cut its ranking of the same rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Training data, in any form that the ranker accepts.
        y : array-like of shape (n,)
            Labels, two distinct values. The greater one is the class to rank first.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; the ranker must take weights, too.
        **fit_params : dict
            Further arguments of ``fit`` of the ranker; with metadata routing enabled, those it
            requests.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        TypeError
            If the ranker is not an estimator that ranks.
        ValueError
            If a parameter, the data, the labels or the weights are not valid.
        """
        for name in self._FITTED:
            self.__dict__.pop(name, None)
        criterion = check_choice(self.criterion, "criterion", ("sum", "error"))
        noise_rate = check_real(self.noise_rate, "noise_rate", low=0.0, high=0.5, high_open=True)
        assert noise_rate is not None
        ranker = clone(self._checked_ranker())
        if self.random_state is not None:
            set_random_states(ranker, check_seed(self.random_state))
        X = as_frame(X)
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y"
                " is None."
            )
        classes, positive = encode_binary(y)
        weight = check_weight(sample_weight, len(positive))
        check_class_sums(weight, positive, classes)
        # A plain array, whatever library the labels came from.
        labels = classes[positive.astype(np.intp)]
        ranker.fit(X, labels, **self._routed(ranker, weight, fit_params))
        scores = score_rows(ranker, X)
        if scores.shape != positive.shape:
            raise ValueError(
                f"{type(ranker).__name__} gave scores of shape {scores.shape} for"
                f" {len(positive)} rows"
            )
        n_threads = threads_for(None, len(positive))
        cut = _core.two_sided(scores, positive, weight, criterion, noise_rate, n_threads)
        self._set_fitted(ranker, classes, cut)
        return self

    def _set_fitted(self, ranker: Any, classes: NDArray[Any], cut: dict[str, float]) -> None:
        self.ranker_ = ranker
        self.classes_ = classes
        self._cut = cut
        self.theta_ = cut["theta"]
        self.zeta_ = cut["zeta"]
        self.p_pos_, self.p_neg_ = cut["p_pos"], cut["p_neg"]
        self.error_ = cut["error"]
        self.votes_ = 2 * np.array([cut["low"], cut["high"]]) - 1
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(ranker, name):
                setattr(self, name, getattr(ranker, name))

    @property
    def advantage_(self) -> float:
        """Advantage of the classifier over chance on either class."""
        return 0.5 - self.error_

    @property
    def threshold_(self) -> float:
        """Midpoint of the two votes."""
        return float(self.votes_.mean())

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score rows: the expected vote less ``threshold_``.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n,)
            One of two scores, above 0 for rows that rank at or above ``theta_``.
        """
        votes = self.expected_vote(X)
        return votes - self.threshold_

    def predict(self, X: Any) -> NDArray[Any]:
        """Label rows by the side of the threshold on which they rank.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of shape (n,)
            ``classes_[1]`` where `decision_function` is above 0, ``classes_[0]`` elsewhere.
        """
        high = self._is_high(X)
        return self.classes_[high.astype(np.intp)]

    def expected_vote(self, X: Any) -> NDArray[np.float64]:
        """Return the mean over the coin of 1 for rows called positive and -1 for others.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n,)
            From -1 to 1.
        """
        high = self._is_high(X)
        votes: NDArray[np.float64] = self.votes_[high.astype(np.intp)]
        return votes

    def draw(self, X: Any, random_state: int | np.random.RandomState | None = None) -> NDArray[Any]:
        """Label rows as the randomised classifier of the paper does, by one coin per row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.
        random_state : int, RandomState instance or None, default=None
            Seed of the coins.

        Returns
        -------
        ndarray of shape (n,)
            Labels; for rows like those of the training sample, a share of ``error_`` is wrong in
            either class.
        """
        chance = (1 + self.expected_vote(X)) / 2
        # A separate stream: a seed that also drew the rows would give correlated coins.
        rng = np.random.RandomState(check_random_state(random_state).randint(2**31 - 1))
        positive = rng.random_sample(len(chance)) < chance
        return self.classes_[positive.astype(np.intp)]

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata ``fit`` takes, and which it passes to the ranker.

        Returns
        -------
        MetadataRouter
            As scikit-learn's guide on metadata routing describes it.
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return router.add(ranker=self._ranker(), method_mapping=mapping)

    @property
    def _schema(self) -> Schema:
        """Columns of the fit; an AttributeError if only the ranker knows them."""
        check_is_fitted(self)
        if not isinstance(self.ranker_, BaseRanker):
            raise AttributeError(
                f"the columns of a {type(self).__name__} are those of its ranker, and a"
                f" {type(self.ranker_).__name__} is not a ranker of aucrank"
            )
        return self.ranker_._schema

    def _core_model(self) -> _core.TwoSided:
        """Return ranker and cut as one model; the ranker must be of aucrank."""
        calibration = self.ranker_.__dict__.get("_calibration")
        return _core.build_two_sided(self.ranker_._model, calibration, **self._cut)

    def _formula(self) -> str:
        if not isinstance(self.ranker_, BaseRanker):
            name = type(self.ranker_).__name__
            reason = f"its ranker, a {name}, is an estimator that lives outside the model"
            return json.dumps({"opaque": reason})
        return self._core_model().formula()

    def _check_savable(self) -> None:
        super()._check_savable()
        if not isinstance(self.ranker_, BaseRanker):
            raise TypeError(
                f"this {type(self).__name__} holds a {type(self.ranker_).__name__}, an estimator of"
                " your own, and a file of aucrank never holds code; use pickle or joblib"
            )
        self.ranker_._check_savable()

    def _to_document(self) -> str:
        header = replace(
            self.ranker_._header(),
            estimator=type(self).__name__,
            params=encode_params(self.get_params(deep=False)),
            classes=self.classes_,
            # Its parameters are those of `ranker` with the seeds of this fit.
            report={"ranker": self.ranker_, "report_of_ranker": self.ranker_._fit_report()},
        )
        return _core.write_document(header.to_json(), self._core_model())

    @classmethod
    def _from_document(
        cls, header: Header, model: _core.Model, calibration: _core.Calibration | None
    ) -> Self:
        """Rebuild a fitted classifier and its ranker."""
        estimator = rebuild(cls, header.params)
        if not isinstance(model, _core.TwoSided) or calibration is not None:
            raise _core.ModelFormatError(
                f"a {cls.__name__} cannot have a model of family {model.family!r}, or a calibration"
            )
        ranker = header.report.get("ranker")
        report = header.report.get("report_of_ranker")
        if not (isinstance(ranker, BaseRanker) and isinstance(report, dict)):
            raise _core.ModelFormatError("the report of the fit does not say which ranker was cut")
        of_ranker = replace(header, estimator=type(ranker).__name__, report=report)
        ranker._restore(of_ranker, model.ranker(), model.ranker_calibration())
        assert header.classes is not None
        estimator._set_fitted(ranker, header.classes, model.cut())
        return estimator

    def _size(self) -> str:
        size: str = getattr(self.ranker_, "_size", str)()
        return size

    def _does(self) -> str:
        return "ranks, by two scores,"

    def _summary(self) -> list[Section]:
        """Return the cut, and the summary of the ranker where it has one."""
        table: dict[str, Iterable[Any]] = {
            "side": ["below the threshold", "from the threshold on"],
            "score": self.votes_ - self.threshold_,
            "called positive": [self._cut["low"], self._cut["high"]],
            "share of positives": [self.p_pos_, 1 - self.p_pos_],
            "share of negatives": [1 - self.p_neg_, self.p_neg_],
        }
        text = (
            f"threshold of the score of the {type(self.ranker_).__name__}: {exact(self.theta_)};"
            f" error of either class with the coin: {rounded(self.error_)}"
        )
        of_ranker: list[Section] = getattr(self.ranker_, "_summary", list)()
        return [Section("The cut", text, table), *of_ranker]

    def _ranker(self) -> Any:
        if self.ranker is None:
            return TreeRank(random_state=0)
        return self.ranker

    def _checked_ranker(self) -> Any:
        ranker = self._ranker()
        check_ranker(ranker, "ranker")
        return ranker

    def _routed(
        self, ranker: Any, weight: NDArray[np.float64] | None, fit_params: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the arguments of ``fit`` of the ranker in addition to the data."""
        if sklearn.get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=weight, **fit_params)
            return dict(routed.ranker.fit)
        if weight is None:
            return fit_params
        name, receiver = weight_parameter(ranker)
        if not has_fit_parameter(receiver, "sample_weight"):
            raise ValueError(
                f"sample_weight was passed, but fit of {type(receiver).__name__} takes none"
            )
        return {**fit_params, name: weight}

    def _is_high(self, X: Any) -> NDArray[np.bool_]:
        check_is_fitted(self)
        scores = score_rows(self.ranker_, X)
        if np.isnan(scores).any():
            raise ValueError(f"the score of row {int(np.isnan(scores).argmax())} is NaN")
        high: NDArray[np.bool_] = scores >= self.theta_
        return high

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # Once fitted, the fitted ranker is used, even if the parameter has changed since.
        ranker = self.__dict__.get("ranker_")
        of_ranker = get_tags(self._checked_ranker() if ranker is None else ranker).input_tags
        tags.input_tags.allow_nan = of_ranker.allow_nan
        tags.input_tags.sparse = of_ranker.sparse
        tags.input_tags.string = of_ranker.string
        return tags

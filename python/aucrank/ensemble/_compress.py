"""Compression of a large ranker into a few trees that order rows alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special, stats
from sklearn.utils.validation import check_is_fitted

from aucrank._base.external import known_scores, row_taker
from aucrank._base.ranker import BaseRanker
from aucrank._base.scoring import scoring_method
from aucrank._data.as_frame import as_frame, frame_or_matrix
from aucrank._data.column_warnings import inner_fits_are_silent
from aucrank._data.labels import match_labels
from aucrank._data.table import Table
from aucrank._export.formula import opaque_reasons
from aucrank._export.sizes import SIZED_FORMS, sizes_of
from aucrank._utils.params import check_int, check_real, check_seed
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import plural
from aucrank.boosting import GradientBoostingRanker
from aucrank.ensemble._distill import soft_labels

if TYPE_CHECKING:
    from numpy.random import RandomState

    from aucrank.metrics import AucComparison

# Copies of each row in which a share of the cells comes from other rows, up to this many rows in
# all: they show the student the score between the rows of the fit. Of `phoneme` (3,500 rows), 200
# trees lost 0.60 points of AUC without copies, 0.43 with 9 copies and a share of 0.25, 0.44 with 3
# and 0.1, 0.78 with 3 and 0.5, and 0.38 with 9 and 0.1: see `benches.studies.compression`.
_MOST_COPIES = 9
_MOST_ROWS = 200_000
_SWAPPED = 0.1

# One row in so many is left out of the student's fit where rows are needed to measure or choose.
_LEFT_OUT = 5

_FEWEST_TREES = 25


class Compressed(NamedTuple):
    """A small ranker that :func:`compress` fitted to the scores of a large one.

    Attributes
    ----------
    ranker : GradientBoostingRanker
        The small ranker.
    agreement : float
        Kendall's tau-b of the two scores: 1 if they order all rows alike, 0 if they are unrelated.
        Of the test rows, or without any of the rows of ``X`` that the small ranker was not fitted
        to.
    comparison : AucComparison or None
        The AUC of the large ranker, ``auc_1``, and of the small one, ``auc_2``, on the test rows,
        with the interval of their paired ``difference``: the loss. None without test labels.
    sizes : Table
        Estimated bytes of each form of export, ``before`` and ``after``; NaN before, if the large
        ranker has no formula.
    """

    ranker: GradientBoostingRanker
    agreement: float
    comparison: AucComparison | None
    sizes: Table


def compress(
    ranker: Any,
    X: Any,
    *,
    n_trees: int = 100,
    max_leaves: int = 32,
    max_loss: float | None = None,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    sample_weight_test: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: int | RandomState | None = None,
) -> Compressed:
    """Fit a few trees to the scores of a large ranker, for smaller and faster exports.

    Parameters
    ----------
    ranker : estimator
        The large ranker, fitted: of aucrank or of scikit-learn, with ``decision_function`` or
        ``predict_proba``.
    X : array-like, sparse matrix or data frame of shape (n, n_features)
        Rows to score: those of its fit, or any others. They need no labels.
    n_trees : int, default=100
        Number of trees of the small ranker; with ``max_loss``, the maximum.
    max_leaves : int, default=32
        Maximal number of leaves of a tree.
    max_loss : float or None, default=None
        Take the smallest of 25, 50, 100, ... trees, up to ``n_trees``, that loses at most this much
        AUC, such as 0.002, on a fifth of ``X`` that is left out of its fit, if the probabilities
        of the large ranker were right. Test rows have no part in the choice.
    X_test : array-like, sparse matrix or data frame of shape (n_test, n_features), default=None
        Rows on which the loss is measured. They should be in no fit: the large ranker would
        look better than it is on its own rows.
    y_test : array-like of shape (n_test,), default=None
        Their labels, those of the fit of ``ranker``; both must occur.
    sample_weight_test : array-like of shape (n_test,), default=None
        Weight of each of them.
    n_jobs : int or None, default=None
        Number of threads of the fits: None for one per core, -1 for all cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the added rows, of the fits and of the rows left out.

    Returns
    -------
    Compressed
        The small ranker, with its agreement, its loss and the sizes of exports.

    Raises
    ------
    NotFittedError
        If ``ranker`` is not fitted.
    TypeError
        If it does not score rows.
    ValueError
        If a parameter is out of range, it does not have two classes, rows do not have its columns,
        all its scores are equal, or test labels are others or without rows.

    Warns
    -----
    UserWarning
        If ``n_trees`` trees lose more than ``max_loss``.

    See Also
    --------
    RankingEnsemble.distill : A readable ranker in place of an ensemble, fitted with its labels.

    Notes
    -----
    This is model compression [1]_. Each row becomes a positive and a negative one, weighted by the
    probability that the large ranker gives to each label; if it has no probabilities, or they tie
    rows that its scores distinguish, by the ranks of its scores. Up to nine more rows for each
    have a tenth of their values from other rows, column by column: labels cost nothing here. The
    directions of ``monotonic_cst`` and categorical columns are kept.

    Cutting a booster off after its first trees needs no fit, but loses much more: with 12,000 rows
    of MAGIC, 172 of 2,755 trees lose 0.0174 of AUC, 100 trees of this function 0.0026.

    References
    ----------
    .. [1] Buciluǎ, Caruana and Niculescu-Mizil, "Model compression", KDD 2006.
       :doi:`10.1145/1150402.1150464`

    Examples
    --------
    >>> from aucrank import GradientBoostingRanker, compress
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> large = GradientBoostingRanker(random_state=0).fit(X[:400], y[:400])
    >>> small = compress(
    ...     large, X[:400], n_trees=50, X_test=X[400:], y_test=y[400:], random_state=0
    ... )
    >>> abs(small.comparison.difference) < 0.02
    True
    >>> (small.sizes["after"] < small.sizes["before"]).all()
    np.True_
    """
    if scoring_method(ranker) is None:
        raise TypeError(
            f"{type(ranker).__name__} has neither decision_function() nor predict_proba()"
        )
    check_is_fitted(ranker)
    classes = np.asarray(getattr(ranker, "classes_", ()))
    if classes.shape != (2,):
        raise ValueError(
            f"{type(ranker).__name__} must have two classes_ to rank, but has {len(classes)}"
        )
    check_int(n_trees, "n_trees", low=1)
    check_int(max_leaves, "max_leaves", low=2)
    max_loss = check_real(max_loss, "max_loss", low=0.0, high=1.0, low_open=True, optional=True)
    if X_test is None and y_test is not None:
        raise ValueError("y_test needs X_test, the rows that it labels")
    if y_test is None and sample_weight_test is not None:
        raise ValueError("sample_weight_test needs y_test, the labels that it weighs")
    X = as_frame(X)
    rng = np.random.default_rng(check_seed(random_state))
    seed = int(rng.integers(2**31))
    n_rows = _n_rows(X)
    is_left_out = np.zeros(n_rows, dtype=bool)
    if max_loss is not None or X_test is None:
        is_left_out[rng.permutation(n_rows)[: n_rows // _LEFT_OUT]] = True
        if is_left_out.sum() < 2:
            raise ValueError(f"a fifth of X is left out of the fit: {n_rows} rows are too few")
    take = row_taker(X)
    student = _TreeStudent(
        ranker, take(np.flatnonzero(~is_left_out)), rng, max_leaves, n_jobs, seed
    )
    left_out = take(np.flatnonzero(is_left_out)) if is_left_out.any() else None
    if max_loss is None:
        small = student.fit(n_trees)
    else:
        small = _least(student, left_out, n_trees, max_loss)
    rows = left_out if X_test is None else as_frame(X_test)
    before, after = known_scores(ranker, rows), known_scores(small, rows)
    comparison = None
    if y_test is not None:
        from aucrank.metrics import auc_compare

        labels = match_labels(y_test, classes)
        comparison = auc_compare(labels, before, after, sample_weight=sample_weight_test)
    agreement = float(stats.kendalltau(before, after).statistic)
    return Compressed(small, agreement, comparison, _sizes(ranker, small))


class _TreeStudent:
    """Fits trees to the scores of a ranker on rows, and on mixtures of these rows.

    Parameters
    ----------
    teacher : estimator
        Fitted.
    X : array-like or data frame of shape (n, n_features)
        The rows, in the user's own format.
    rng : numpy.random.Generator
        Draws the mixtures.
    max_leaves : int
        Maximal number of leaves of a tree.
    n_jobs : int or None
        Number of threads.
    seed : int
        Seed of the fits.
    """

    def __init__(
        self,
        teacher: Any,
        X: Any,
        rng: np.random.Generator,
        max_leaves: int,
        n_jobs: int | None,
        seed: int,
    ) -> None:
        self._teacher = teacher
        rows = _mixed(X, rng)
        share = probabilities(teacher, rows)
        soft = soft_labels((1.0 - share, share), None)
        self._rows = row_taker(rows)(soft.places)
        self._labels = np.asarray(teacher.classes_)[soft.labels]
        self._weight = soft.weights
        # Scores have no noise: nothing is sampled or shrunk, and the best cut is the best.
        self._params: dict[str, Any] = {
            "max_leaves": max_leaves,
            "early_stopping": False,
            "cuts": "best",
            "subsample": 1.0,
            "max_features": None,
            "l2": 0.0,
            "min_samples_leaf": 5,
            "n_bags": 1,
            "n_jobs": n_jobs,
            "random_state": seed,
        }
        if getattr(teacher, "monotonic_cst", None) is not None:
            self._params["monotonic_cst"] = teacher.monotonic_cst
        if isinstance(teacher, BaseRanker):
            levels = teacher._schema.n_levels
            self._params["categorical_features"] = [
                place for place, n_levels in enumerate(levels) if n_levels is not None
            ]

    def fit(self, n_trees: int) -> GradientBoostingRanker:
        """Return a ranker of a number of trees."""
        model = GradientBoostingRanker(n_rounds=n_trees, **self._params)
        with inner_fits_are_silent():
            return model.fit(self._rows, self._labels, self._weight)

    def loss(self, small: GradientBoostingRanker, X: Any) -> float:
        """Return the AUC that a ranker loses on rows, if the teacher's probabilities were right."""
        from aucrank.metrics import auc_compare

        share = probabilities(self._teacher, X)
        scores = known_scores(self._teacher, X), known_scores(small, X)
        labels = np.repeat([0, 1], len(share))
        weight = np.concatenate([1.0 - share, share])
        before, after = (np.tile(own, 2) for own in scores)
        return auc_compare(labels, before, after, sample_weight=weight).difference


def _least(
    student: _TreeStudent, left_out: Any, n_trees: int, max_loss: float
) -> GradientBoostingRanker:
    """Return the smallest ranker that does not lose too much on rows left out of its fit."""
    size = min(_FEWEST_TREES, n_trees)
    while True:
        small = student.fit(size)
        loss = student.loss(small, left_out)
        if loss <= max_loss:
            return small
        if size == n_trees:
            warn_caller(
                f"with {plural(n_trees, 'tree')}, {loss:.4f} of AUC is lost on rows left out, more"
                f" than max_loss={max_loss:g}: let n_trees or max_leaves be greater"
            )
            return small
        size = min(2 * size, n_trees)


def probabilities(ranker: Any, X: Any) -> NDArray[np.float64]:
    """Return the probability of the positive class, or a rising function of the score.

    Probabilities that tie rows which the scores distinguish, as those of isotonic regression do,
    would lose a part of the ranking. Ranks take their place, moved so that predicted labels stay.
    """
    scores = known_scores(ranker, X)
    n_distinct = len(np.unique(scores))
    if n_distinct < 2:
        raise ValueError(f"{type(ranker).__name__} gives all rows the same score: nothing to rank")
    if hasattr(ranker, "predict_proba"):
        share: NDArray[np.float64] = np.asarray(ranker.predict_proba(X))[:, 1]
        if len(np.unique(share)) >= n_distinct:
            return share
    share = (stats.rankdata(scores) - 0.5) / len(scores)
    if scoring_method(ranker) == "decision_function":
        negative = np.mean(scores <= 0)
        if 0 < negative < 1:
            share = special.expit(special.logit(share) - special.logit(negative))
    return share


def _n_rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(frame_or_matrix(X, "X"))


def _mixed(X: Any, rng: np.random.Generator) -> Any:
    """Return rows, followed by copies with some of their values from other rows."""
    n_rows = _n_rows(X)
    n_copies = min(_MOST_COPIES, max(0, _MOST_ROWS // n_rows - 1))
    own = np.tile(np.arange(n_rows), n_copies + 1)

    def places() -> NDArray[np.intp]:
        swapped = rng.random(len(own)) < _SWAPPED
        swapped[:n_rows] = False
        return np.where(swapped, rng.integers(n_rows, size=len(own)), own)

    if sparse.issparse(X):
        by_column = sparse.csc_array(X)
        mixed = [by_column[:, [place]].tocsr()[places()] for place in range(X.shape[1])]
        return sparse.hstack(mixed, format="csr")
    frame = frame_or_matrix(X, "X")
    if isinstance(frame, nw.DataFrame):
        # pandas would align columns by their index.
        frame = nw.maybe_reset_index(frame)
        columns = (nw.maybe_reset_index(frame[name][places()]) for name in frame.columns)
        return nw.concat([column.to_frame() for column in columns], how="horizontal").to_native()
    return np.column_stack([frame[places(), place] for place in range(frame.shape[1])])


def _sizes(before: Any, after: GradientBoostingRanker) -> Table:
    """Return the estimated bytes of each form of two rankers."""

    def sizes(ranker: Any) -> list[float]:
        if not isinstance(ranker, BaseRanker):
            return [np.nan] * len(SIZED_FORMS)
        formula = ranker._score_formula()
        if next(opaque_reasons(formula), None) is not None:
            return [np.nan] * len(SIZED_FORMS)
        return list(sizes_of(formula, ranker._schema).values())

    return Table(form=list(SIZED_FORMS), before=sizes(before), after=sizes(after))

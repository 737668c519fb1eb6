"""ThresholdBinarizer: every feature as readable binary terms."""

import json
from collections.abc import Iterable, Iterator, Mapping
from math import nan
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.core_estimator import CoreEstimator
from aucrank._base.fit_context import FitContext
from aucrank._base.summary import Section
from aucrank._data.input import Columns, KindsByColumn, count_rows
from aucrank._data.schema import Schema
from aucrank._data.table import Table, whole
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_bool
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import plural
from aucrank.ramp._binary_terms import (
    binarizer_params,
    category_of,
    said_to_be_categorical,
    threshold_of,
    words_of_terms,
)

_DTYPES = ("float64", "float32", "uint8", "bool")


class ThresholdBinarizer(OneToOneFeatureMixin, TransformerMixin, CoreEstimator):
    """Features as binary terms, such as ``age >= 35``, ``colour = red`` and ``age is missing``.

    A linear score over such terms is a step function of each feature, and its coefficients can be
    read. The terms are those that AURORA ([1]_, sec. 2.1) selects from. A number that takes few
    values has a threshold between all of them; any other has thresholds at its percentiles, taken
    after thinning spikes such as imputed values. A category has one term for each of its values.
    The terms do not depend on the classes.

    Parameters
    ----------
    max_levels : int, default=22
        A number with at most this many distinct values is discrete: it has a threshold between any
        two neighbours. One with more is continuous: it has thresholds at its percentiles.
    percentiles : int or array-like of float, default=5
        Where continuous numbers are cut: percentiles from 0 to 100, or every k-th of them below
        100; 5 stands for 5, 10, ..., 95.
    min_level_share : float, default=0.001
        Neighbouring values of a discrete number that each hold a smaller share of the rows have no
        threshold between them.
    max_spike_share : float, default=0.01
        Of the rows with one value of a continuous number, no more than this share of all rows, but
        at least one, count for the percentiles. 1 lets all of them count.
    feature_types : dict, array-like of shape (n_features,) or None, default=None
        "discrete", "continuous" or "categorical" for columns whose type is not inferred from the
        data: by name, or in a list with None for the others. A column declared discrete has a
        threshold between all its values, however many.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories: those of a data frame with a categorical type, or those
        listed by position, by name or in a boolean mask; and those given in ``feature_types``.
    missing_indicator : bool, default=True
        Whether a feature with missing values in the training rows gets a term that is on where it
        is missing.
    sparse_output : bool, default=False
        Whether `transform` returns a sparse matrix.
    dtype : {"float64", "float32", "uint8", "bool"} or numpy dtype, default=numpy.float64
        Type of the zeros and ones.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The terms do not depend on it.

    Attributes
    ----------
    thresholds_ : list of ndarray of shape (n_thresholds,) or None
        For each feature its thresholds, ascending; a term is on from its threshold upwards. None
        for categories.
    n_terms_ : int
        Number of terms, the columns that `transform` returns.
    feature_indices_ : ndarray of int64, shape (n_terms,)
        For each term the position of its feature.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the positive class. Absent if ``y`` was not given to fit.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had any.

    See Also
    --------
    MAD2C : Supervised bins.
    sklearn.preprocessing.KBinsDiscretizer : One column per bin, one of them on; here one column per
        threshold, on if the value reaches it.
    sklearn.preprocessing.OneHotEncoder : One column per category.

    Notes
    -----
    Thresholds of a discrete number lie midway between two values, and those of a continuous number
    where `numpy.percentile` puts them. A threshold that all training rows reach, or none, is left
    out, and so is a percentile that splits the training rows like the one before. Shares are of the
    training rows in which the feature is known. A row of whole weight k counts as k rows; if some
    weight is not whole, rows of positive weight count once each.

    For a missing value all terms are 0 except the missing indicator. A category not seen in fit
    counts as missing. Of two complementary terms, as for a category with two values, the second is
    left out; of a feature with one known category, or one number, and missing values, only the
    missing indicator remains.

    References
    ----------
    .. [1] Herschtal, Raskutti and Campbell, "Area under ROC optimisation using a ramp
       approximation", SIAM International Conference on Data Mining, 2006.

    Examples
    --------
    >>> import pandas as pd
    >>> from aucrank import ThresholdBinarizer
    >>> X = pd.DataFrame(
    ...     {"age": [20, 35, 50, None], "plan": pd.Categorical(["free", "pro", "pro", "free"])}
    ... )
    >>> binarizer = ThresholdBinarizer().set_output(transform="pandas").fit(X)
    >>> binarizer.transform(X)
       age >= 27.5  age >= 42.5  age is missing  plan = free
    0          0.0          0.0             0.0          1.0
    1          1.0          0.0             0.0          0.0
    2          1.0          1.0             0.0          0.0
    3          0.0          0.0             1.0          1.0
    >>> binarizer.thresholds_[0]
    array([27.5, 42.5])
    """

    _family = "threshold_binarizer"
    _needs_y = False
    _FITTED: ClassVar[tuple[str, ...]] = (*CoreEstimator._FITTED, "_terms")

    _model: _core.ThresholdBinarizer
    # The terms in the form of the core: read once, for names.
    _terms: list[dict[str, Any]]

    def __init__(
        self,
        *,
        max_levels: int = 22,
        percentiles: Any = 5,
        min_level_share: float = 0.001,
        max_spike_share: float = 0.01,
        feature_types: Any = None,
        categorical_features: Any = "from_dtype",
        missing_indicator: bool = True,
        sparse_output: bool = False,
        dtype: Any = np.float64,
        n_jobs: int | None = None,
    ) -> None:
        self.max_levels = max_levels
        self.percentiles = percentiles
        self.min_level_share = min_level_share
        self.max_spike_share = max_spike_share
        self.feature_types = feature_types
        self.categorical_features = categorical_features
        self.missing_indicator = missing_indicator
        self.sparse_output = sparse_output
        self.dtype = dtype
        self.n_jobs = n_jobs

    def _check_params(self) -> None:
        binarizer_params(self, None)
        check_bool(self.missing_indicator, "missing_indicator")
        check_bool(self.sparse_output, "sparse_output")
        _check_dtype(self.dtype)

    def _extra_categories(self) -> KindsByColumn | None:
        return said_to_be_categorical(self.feature_types)

    @suggests_keywords
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        gap: Any = None,
    ) -> Self:
        """Choose the terms.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values.
        y : array-like of shape (n,), default=None
            Labels, two distinct values. They do not change the terms: `terms` counts by them, and
            gives the AUC of each term alone.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; weight k means the row repeated k times, and weight 0 a row that
            is not there.
        groups : array-like of shape (n,), default=None
            Which rows belong together, such as those of a patient: they stay together in folds, in
            held-out rows and in samples.
        time : array-like of shape (n,), default=None
            Time of each row, as a number or date: the latest rows are held out, and folds are
            ranges of time.
        gap : float, timedelta or None, default=None
            Rows that are nearer in time than this to held-out rows or a fold, or as near, are left
            out of what is fitted without these: a number, or a timedelta if times are dates. For
            outcomes that are known later. Not for a `Dataset`.

        Returns
        -------
        self
            The fitted transformer.

        Raises
        ------
        ValueError
            If a parameter, the data, the labels or the weights are not valid.
        """
        self._fit(X, y, sample_weight, groups=groups, time=time, gap=gap)
        if not self._terms:
            warn_caller("nothing parts the training rows, so there are no terms")
        return self

    def _fit_model(self, context: FitContext) -> _core.ThresholdBinarizer:
        params = binarizer_params(self, context.sample.schema)
        return _core.fit_threshold_binarizer(
            context.sample.core, json.dumps(params), context.n_threads
        )

    def _does(self) -> str:
        does = "turns features into binary terms"
        return f"{does}, and shows how each ranks" if hasattr(self, "classes_") else does

    def _of_features(self) -> Mapping[str, Iterable[Any]]:
        return {"terms": np.bincount(self.feature_indices_, minlength=len(self._schema.features))}

    def _summary(self) -> list[Section]:
        return [Section(f"Terms ({plural(self.n_terms_, 'term')})", table=self.terms())]

    def _set_fitted(self, classes: NDArray[Any] | None, schema: Schema, model: _core.Model) -> None:
        super()._set_fitted(classes, schema, model)
        self._terms = [term for text in self._model.terms() for term in json.loads(text)]

    @property
    def thresholds_(self) -> list[NDArray[np.float64] | None]:
        """For each feature its thresholds, ascending; None for categories."""
        check_is_fitted(self)
        found: list[list[float]] = [[] for _ in self._schema.features]
        for term in self._terms:
            if threshold_of(term) is not None:
                found[term["feature"]].append(threshold_of(term))
        return [
            np.array(thresholds, dtype=np.float64) if feature.levels is None else None
            for thresholds, feature in zip(found, self._schema.features, strict=True)
        ]

    @property
    def n_terms_(self) -> int:
        """Number of terms."""
        check_is_fitted(self)
        return len(self._terms)

    @property
    def feature_indices_(self) -> NDArray[np.int64]:
        """For each term the position of its feature."""
        check_is_fitted(self)
        return np.array([term["feature"] for term in self._terms], dtype=np.int64)

    def terms(self) -> Table:
        """Return the terms, with the training rows that they are on for.

        Returns
        -------
        Table
            One row for each term, in the order of the columns that `transform` returns: ``term``
            (its name), ``feature`` (the name of the feature, or ``x0`` for a first column without
            one), ``threshold`` (NaN where there is none), ``category`` (empty where there is none)
            and ``size`` (weight of the training rows that it is on for); if labels were given to
            fit, ``n_pos`` (weight of the positive ones among these) and ``auc`` (AUC of the
            training rows if they rank by the term alone: below 0.5 where more negative rows have
            it).

        Raises
        ------
        NotFittedError
            If there are no terms yet.

        Examples
        --------
        >>> from aucrank import ThresholdBinarizer
        >>> ThresholdBinarizer().fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]).terms()
        term       feature  threshold  category  size  n_pos   auc
        x0 >= 1.5  x0             1.5               3      2  0.75
        x0 >= 2.5  x0             2.5               2      1  0.50
        x0 >= 3.5  x0             3.5               1      1  0.75
        """
        check_is_fitted(self)
        names = self._schema.shown_names
        unit = 2.0**self._model.exponent
        positive = np.array([term["on"]["pos"] for term in self._terms], dtype=np.float64)
        negative = np.array([term["on"]["neg"] for term in self._terms], dtype=np.float64)
        thresholds = [threshold_of(term) for term in self._terms]
        categories = [category_of(term, self._schema) for term in self._terms]
        table = Table(
            term=np.array(list(self._words(names)), dtype=np.str_),
            feature=np.array([names[term["feature"]] for term in self._terms], dtype=np.str_),
            threshold=np.array([nan if t is None else t for t in thresholds], dtype=np.float64),
            category=np.array(categories, dtype=np.str_),
            size=whole((positive + negative) * unit),
        )
        if self._model.has_labels:
            table["n_pos"] = whole(positive * unit)
            table["auc"] = np.array([term["auc"] for term in self._terms], dtype=np.float64)
        return table

    def transform(self, X: Any) -> Any:
        """Return which terms are on for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit. A category that was not seen there is missing.

        Returns
        -------
        ndarray or scipy.sparse.csr_matrix of shape (n, n_terms)
            1 where a term is on and 0 elsewhere. A data frame if requested by `set_output`.

        Raises
        ------
        NotFittedError
            If there are no terms yet.
        ValueError
            If the columns are not those seen in fit, or a value is infinite.
        """
        return self._query("fill", X)

    def _dispatch(self, question: str, X: Any, columns: Columns, n_threads: int) -> Any:
        dtype = _check_dtype(self.dtype)
        n_rows, n_terms = count_rows(columns), len(self._terms)
        # It may have been set again after the fit, like `dtype`.
        if not check_bool(self.sparse_output, "sparse_output"):
            # A boolean is a byte that is 0 or 1.
            out = np.zeros(n_rows * n_terms, dtype=np.uint8 if dtype == np.bool_ else dtype)
            self._model.fill(columns, out, n_threads)
            return out.view(dtype).reshape(n_rows, n_terms)
        counts = self._model.count(columns, n_threads)
        ends = np.concatenate(([0], np.cumsum(counts)))
        indices = np.empty(ends[-1], dtype=np.int32)
        self._model.fill_indices(columns, counts, indices, n_threads)
        ones = np.ones(len(indices), dtype=dtype)
        matrix = csr_matrix((ones, indices, ends), shape=(n_rows, n_terms))
        matrix.has_sorted_indices = matrix.has_canonical_format = True
        return matrix

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns, those seen in fit if any; None for these, or for
            ``x0``, ``x1``, ... .

        Returns
        -------
        ndarray of str objects
            ``age >= 35``, with all digits of the threshold; ``colour = red``; ``age is missing``.

        Raises
        ------
        NotFittedError
            If there are no terms yet.
        ValueError
            If ``input_features`` has another length, or other names than those seen in fit.
        """
        check_is_fitted(self)
        names: list[str] = super().get_feature_names_out(input_features).tolist()
        return np.array(list(self._words(names)), dtype=object)

    def _words(self, names: list[str]) -> Iterator[str]:
        """Write each term, given the names of the features."""
        return words_of_terms(self._terms, self._schema, names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The output has the type given by `dtype`.
        tags.transformer_tags.preserves_dtype = []
        return tags


def _check_dtype(dtype: Any) -> np.dtype[Any]:
    rule = f"dtype must be one of {', '.join(_DTYPES)}; got {dtype!r}"
    # numpy.dtype accepts much else: None is its default, an array has its own.
    is_type = isinstance(dtype, type) and issubclass(dtype, np.generic | bool | float)
    if not (is_type or isinstance(dtype, str | np.dtype)):
        raise ValueError(rule)
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except TypeError as err:
        raise ValueError(rule) from err
    # The core writes numbers in native byte order.
    if found.name not in _DTYPES or not found.isnative:
        raise ValueError(rule)
    return found

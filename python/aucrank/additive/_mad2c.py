"""MAD2C: bins of the largest AUC of each feature."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.core_estimator import CoreEstimator
from aucrank._base.fit_context import FitContext, RowsContext
from aucrank._base.monotonic import check_monotonic_cst
from aucrank._base.summary import Section
from aucrank._data.schema import Schema
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_choice
from aucrank._utils.words import plural
from aucrank.additive._bin_table import (
    BinsMixin,
    RankedFeature,
    bin_numbers,
    bin_rates,
    ranked_features,
)
from aucrank.additive._bins import bin_params
from aucrank.data._raw import RawRows

_ENCODINGS = ("ordinal", "onehot-dense", "rate")

# Number of values looked up at a time.
_BLOCK = 2**15


class MAD2C(BinsMixin, OneToOneFeatureMixin, TransformerMixin, CoreEstimator):
    """Discretisation of each feature into the bins of its largest AUC.

    A feature that is cut into intervals ranks rows by the share of positives of their interval.
    MAD2C ([1]_, sec. 4.2) finds the cuts with the largest AUC of all sets of cuts whose shares
    rise, or fall, with the feature: they are the corners of the concave hull of the ROC curve of
    the feature itself. So the number of bins need not be chosen: an uninformative feature gets one
    bin, and others few, since the shares of neighbours differ. Each category is its own bin.

    Parameters
    ----------
    encode : {"ordinal", "onehot-dense", "rate"}, default="ordinal"
        Encoding of a value. "ordinal": the number of its bin, from 0; "onehot-dense": a 1 in the
        column of its bin and 0 in those of the other bins; "rate": the share of positives among
        the training rows of its bin. Missing values stay NaN, or are 0 in all columns.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Direction in which each numeric feature ranks: 1 if high numbers are positive, -1 if low
        ones are, 0 for the direction of the larger AUC. A dict is by name; absent features have 0.
        Not for categories, which have no direction.
    special_values : list of float, dict or None, default=None
        Numbers used as codes, such as -1 for "never": each gets its own bin, in all numeric
        columns, or in the columns of a dict from names to lists.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories: those of a data frame with a categorical type, or those
        listed by position, by name or in a boolean mask.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The bins do not depend on it.

    Attributes
    ----------
    cut_points_ : list of ndarray of shape (n_cuts,) or None
        For each feature its cuts, ascending; a value equal to a cut lies above it. None for
        categories.
    directions_ : ndarray of int64, shape (n_features,)
        1 where the shares of positives rise with the feature, -1 where they fall; 1 for
        categories.
    aucs_ : ndarray of float64, shape (n_features,)
        AUC of the shares of positives of the bins, over the training rows in which the feature is
        known; 0.5 if they are of one class.
    n_bins_ : ndarray of int64, shape (n_features,)
        Number of bins, without that of missing values.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the positive class.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had any.

    See Also
    --------
    RIMARC : The ranker that sums these shares.
    sklearn.preprocessing.KBinsDiscretizer : Unsupervised bins.
    sklearn.preprocessing.TargetEncoder : Shares of categories, cross-fitted.

    Notes
    -----
    Intervals are numbered from low to high values, categories by their share of positives, those of
    equal share in the order of their values. A special value is numbered by its share among those
    of the intervals. So the number of the bin, times ``directions_``, has the AUC ``aucs_`` on the
    training rows in which the feature is known.

    A numeric feature gets the direction with the larger area under its hull; if both are equal,
    high numbers are positive. Values that are equal always share a bin; a corner of the hull is a
    cut only where the shares on its two sides differ. Shares are compared exactly, so that the bins
    depend neither on the order of the rows nor on ``n_jobs``, and a row of weight k counts as k
    rows.

    A category not seen in fit counts as missing, and so do a special value without training rows
    and any value of a feature that was always missing: no bin has rows for them.

    The bins fit the training rows as well as bins can: ``aucs_``, and "rate" on these rows, are
    optimistic, the more so for categories with few rows each.

    References
    ----------
    .. [1] Güvenir and Kurtcephe, "Ranking instances by maximizing the area under ROC curve", IEEE
       Trans. Knowl. Data Eng. 25(10), 2013.

    Examples
    --------
    >>> from aucrank import MAD2C
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> y = [1, 1, 0, 1, 0, 0]
    >>> binning = MAD2C().fit(X, y)
    >>> binning.cut_points_
    [array([2.5, 4.5])]
    >>> binning.directions_, binning.aucs_.round(3)
    (array([-1]), array([0.944]))
    >>> binning.transform([[0.0], [3.0], [9.0], [float("nan")]])
    array([[ 0.],
           [ 1.],
           [ 2.],
           [nan]])
    >>> MAD2C(encode="onehot-dense").fit(X, y).get_feature_names_out()
    array(['x0_below_2.5', 'x0_2.5_to_4.5', 'x0_from_4.5'], dtype=object)
    """

    _family = "mad2c"
    _fits_dataset = "passes"
    _FITTED: ClassVar[tuple[str, ...]] = (*CoreEstimator._FITTED, "_features")

    _model: _core.Mad2c
    # The features in the form of the document: read once, for `transform`.
    _features: list[dict[str, Any]]

    def __init__(
        self,
        *,
        encode: str = "ordinal",
        monotonic_cst: Any = None,
        special_values: Any = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.encode = encode
        self.monotonic_cst = monotonic_cst
        self.special_values = special_values
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check_params(self) -> None:
        self._checked_encode()
        check_monotonic_cst(self.monotonic_cst)

    def _checked_encode(self) -> str:
        """Return the parameter, which may have been set again after the fit."""
        encode: str = check_choice(self.encode, "encode", _ENCODINGS)
        return encode

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
        """Find the bins from rows of two classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features), or Dataset
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values.
            A :class:`~aucrank.data.Dataset` has rows that need not fit in memory, and their labels
            and weights: the fit is that to one frame with all of its rows.
        y : array-like of shape (n,), default=None
            Labels, two distinct values. The greater one is the positive class. None
            where ``X`` is a data set.
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
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, the data, the labels or the weights are not valid.
        """
        return self._fit(X, y, sample_weight, groups=groups, time=time, gap=gap)

    def _fit_model(self, context: FitContext) -> _core.Mad2c:
        sample = context.sample
        params = self._params_of(sample.schema)
        return _core.fit_mad2c(sample.core, params, context.n_threads, context.progress.observer)

    def _fit_passes(self, rows: RawRows, context: RowsContext) -> _core.Mad2c:
        params = self._params_of(context.schema)
        return _core.fit_mad2c(rows, params, context.n_threads, context.progress.observer)

    def _params_of(self, schema: Schema) -> str:
        """Return the parameters as JSON text for the core."""
        return json.dumps(bin_params(self.special_values, self.monotonic_cst, schema))

    def _does(self) -> str:
        return "puts values into bins by how they rank"

    def _of_features(self) -> Mapping[str, Iterable[Any]]:
        return {"bins": self.n_bins_, "AUC": self.aucs_}

    def _summary(self) -> list[Section]:
        return [Section(f"Bins ({plural(self.n_bins_.sum(), 'bin')})", table=self.bins())]

    def _set_fitted(self, classes: NDArray[Any] | None, schema: Schema, model: _core.Model) -> None:
        super()._set_fitted(classes, schema, model)
        self._features = self._binned()["features"]

    def _table(self) -> _core.Mad2c:
        return self._model

    @property
    def cut_points_(self) -> list[NDArray[np.float64] | None]:
        """For each feature its cuts, ascending; None for categories."""
        check_is_fitted(self)
        return [
            np.array(feature["bins"]["numeric"]["cuts"], dtype=np.float64)
            if "numeric" in feature["bins"]
            else None
            for feature in self._features
        ]

    @property
    def directions_(self) -> NDArray[np.int64]:
        """1 where the shares of positives rise with the feature, -1 where they fall."""
        check_is_fitted(self)
        return np.array(
            [-1 if feature["direction"] == "decreasing" else 1 for feature in self._features]
        )

    @property
    def aucs_(self) -> NDArray[np.float64]:
        """AUC of the bins of each feature on the training rows in which it is known."""
        check_is_fitted(self)
        return np.array(self._model.aucs())

    @property
    def n_bins_(self) -> NDArray[np.int64]:
        """Number of bins of each feature, without that of missing values."""
        check_is_fitted(self)
        return np.array(
            [np.isfinite(bin_numbers(feature)).sum() for feature in self._features], dtype=np.int64
        )

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Put rows into the bins.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit. A category that was not seen there is missing.

        Returns
        -------
        ndarray of float64, shape (n, n_features) or (n, n_bins)
            For each value the number of its bin, from 0, or the share of positives of its bin, NaN
            where it is missing; or for each bin, those of the first feature first, 1 for the values
            in it and 0 elsewhere. A data frame if requested by `set_output`.

        Raises
        ------
        NotFittedError
            If there are no bins yet.
        ValueError
            If the columns are not those seen in fit, or a value is infinite.
        """
        found: NDArray[np.float64] = self._query("bins", X).reshape(-1, self.n_features_in_)
        encode = self._checked_encode()
        look_up = bin_rates if encode == "rate" else bin_numbers
        tables = [look_up(feature) for feature in self._features]
        if encode == "onehot-dense":
            return _one_hot(found, tables)
        # All tables in one, and rows in batches that stay in the cache.
        values = np.concatenate(tables)
        starts = np.cumsum([0, *map(len, tables[:-1])])
        n_rows = max(1, _BLOCK // self.n_features_in_)
        for first in range(0, len(found), n_rows):
            block = found[first : first + n_rows]
            block[:] = values[block.astype(np.intp) + starts]
        return found

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
            The names of the features; with one column per bin, followed by the content of the bin:
            ``age_below_30``, ``age_30_to_45``, ``age_from_45``, ``age_is_-1`` for a special value,
            ``colour_red`` for a category, and ``age_known`` for a single bin.

        Raises
        ------
        NotFittedError
            If there are no bins yet.
        ValueError
            If ``input_features`` has another length, or other names than those seen in fit.
        """
        check_is_fitted(self)
        names: NDArray[Any] = super().get_feature_names_out(input_features)
        if self._checked_encode() != "onehot-dense":
            return names
        features = ranked_features(self._binned(), self._schema)
        return np.array(
            [
                f"{name}_{ending}"
                for name, feature in zip(names, features, strict=True)
                for ending in _endings(feature)
            ],
            dtype=object,
        )


def _one_hot(
    places: NDArray[np.float64], numbers: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return one column for each numbered bin, given the bin of each value."""
    widths = [int(np.isfinite(number).sum()) for number in numbers]
    found = np.zeros((len(places), sum(widths)))
    first = 0
    for place, number, width in zip(places.T, numbers, widths, strict=True):
        column = number[place.astype(np.intp)]
        rows = np.flatnonzero(np.isfinite(column))
        found[rows, first + column[rows].astype(np.intp)] = 1
        first += width
    return found


def _endings(feature: RankedFeature) -> list[str]:
    """Return the part of the names that identifies the bin, in the order of bin numbers."""
    said = []
    for bin_ in feature.bins:
        match bin_.kind, bin_.bounds:
            case "interval", ("", ""):
                said.append("known")
            case "interval", ("", high):
                said.append(f"below_{high}")
            case "interval", (low, ""):
                said.append(f"from_{low}")
            case "interval", (low, high):
                said.append(f"{low}_to_{high}")
            case "special", _:
                said.append(f"is_{bin_.label}")
            case _:
                said.append(bin_.label)
    known = np.flatnonzero(np.isfinite(feature.numbers))
    return [said[place] for place in known[np.argsort(feature.numbers[known])]]

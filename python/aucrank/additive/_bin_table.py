"""Bins of MAD2C and RIMARC: a table, and a plot of each feature."""

import json
from dataclasses import dataclass
from fractions import Fraction
from math import isnan, nan
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._data.column_lookup import ONE_FEATURE, find_column
from aucrank._data.input import one_column
from aucrank._data.leak_warnings import SumsOfValues
from aucrank._data.sample import read_sample
from aucrank._data.schema import Schema, errors_by_name
from aucrank._data.table import Table, whole
from aucrank._export.bins import Bin, BinnedFeature, read_bins, words_of_bins
from aucrank._plots.bins import FeatureDisplay, draw_feature
from aucrank._utils.threads import threads_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from aucrank.metrics import RocCurve


@dataclass(frozen=True, slots=True)
class RankedFeature(BinnedFeature[Bin]):
    """A feature in bins that are ranked.

    Attributes
    ----------
    direction : {1, -1}
        Whether high or low numbers rank high; 1 for a category.
    numbers : ndarray of float64, shape (n_bins,)
        What `bin_numbers` gives.
    """

    direction: int
    numbers: NDArray[np.float64]


def bin_numbers(feature: dict[str, Any]) -> NDArray[np.float64]:
    """Return numbers of the bins of a feature in the order of their ranks.

    Parameters
    ----------
    feature : dict
        A binned feature, in the form of the model document.

    Returns
    -------
    ndarray of float64, shape (n_bins + 1,)
        Number of each bin in the order of the core; NaN for missing values and for bins without
        training rows. Intervals ascend with their values. Categories and special values are placed
        by their share of positives: of two bins, the one with the larger share has the higher
        number if the direction is increasing, or there is none, and the lower one if it is
        decreasing. For equal shares, the bin that comes first in the core has the lower number.
    """
    *known, _ = feature["sums"]
    down = feature["direction"] == "decreasing"
    # Shares as fractions, since rounded ones could tie or swap.
    shares = {
        place: Fraction(sums["pos"], sums["pos"] + sums["neg"])
        for place, sums in enumerate(known)
        if sums["pos"] + sums["neg"]
    }
    order = sorted(shares, key=lambda place: -shares[place] if down else shares[place])
    numbers = np.full(len(known) + 1, nan)
    numbers[order] = np.arange(len(order))
    return numbers


def bin_rates(feature: dict[str, Any]) -> NDArray[np.float64]:
    """Return the share of positives of each bin, NaN where `bin_numbers` is NaN."""
    *known, _ = feature["sums"]
    rates = [s["pos"] / (s["pos"] + s["neg"]) if s["pos"] + s["neg"] else nan for s in known]
    return np.array([*rates, nan])


def ranked_features(document: dict[str, Any], schema: Schema) -> list[RankedFeature]:
    """Read the features in bins from the document of their model.

    Parameters
    ----------
    document : dict
        The JSON form of a `_core.Mad2c`.
    schema : Schema
        Of the columns.

    Returns
    -------
    list of RankedFeature
        One for each column.
    """
    words = words_of_bins(schema)
    return [
        RankedFeature(
            place,
            words.name(place),
            "numeric" in feature["bins"],
            read_bins(feature, document["exponent"], words, schema, place, all_levels=True),
            -1 if feature["direction"] == "decreasing" else 1,
            bin_numbers(feature),
        )
        for place, feature in enumerate(document["features"])
    ]


class BinsMixin:
    """For estimators whose core model holds features in bins."""

    _schema: Schema
    classes_: NDArray[Any]

    def _sums_of_bins(self) -> list[SumsOfValues]:
        features = json.loads(self._table().to_json())["features"]
        return [SumsOfValues.of_bins(feature["sums"]) for feature in features]

    def _table(self) -> _core.Mad2c:
        """Return the features in bins."""
        raise NotImplementedError

    def _binned(self) -> dict[str, Any]:
        """Return the features in bins in the form of the model document."""
        binned: dict[str, Any] = json.loads(self._table().to_json())
        return binned

    def bins(self) -> Table:
        """Return the bins of all features, with the training rows in them.

        Returns
        -------
        Table
            One row for each bin: ``feature`` (its name, or ``x0`` for a first column without one),
            ``bin`` (its number in the output of `MAD2C`), ``rule`` (its values in words), ``size``
            and ``n_pos`` (weight of its training rows and of the positive ones), ``rate`` (the
            share of positives) and ``direction`` (1 where high numbers rank high and for
            categories, -1 where low ones do). Intervals ascend, special values stand below them;
            categories ascend with their rates. If a feature has missing values in the training
            rows, they are its last row, with NaN for the number.

        Raises
        ------
        NotFittedError
            If there is no model yet.

        Notes
        -----
        Cuts are shown with all digits. A special value without training rows, and the one interval
        of a feature that was always missing, are left out: they count as missing.

        Examples
        --------
        >>> from aucrank import MAD2C
        >>> MAD2C().fit([[1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 0, 1, 1]).bins()
        feature  bin  rule             size  n_pos  rate  direction
        x0         0  x0 < 1.5            1      0   0.0          1
        x0         1  1.5 <= x0 < 3.5     2      1   0.5          1
        x0         2  x0 >= 3.5           2      2   1.0          1
        """
        check_is_fitted(self)
        names, rules, directions = [], [], []
        numbers, sizes, n_pos, rates = [], [], [], []
        for feature in ranked_features(self._binned(), self._schema):
            for place in _listed(feature):
                bin_ = feature.bins[place]
                names.append(feature.name)
                numbers.append(feature.numbers[place])
                rules.append(bin_.rule)
                sizes.append(bin_.size)
                n_pos.append(bin_.n_pos)
                rates.append(bin_.rate)
                directions.append(feature.direction)
        return Table(
            feature=np.array(names, dtype=np.str_),
            bin=np.array(numbers, dtype=np.float64),
            rule=np.array(rules, dtype=np.str_),
            size=whole(np.array(sizes, dtype=np.float64)),
            n_pos=whole(np.array(n_pos, dtype=np.float64)),
            rate=np.array(rates, dtype=np.float64),
            direction=np.array(directions, dtype=np.int64),
        )

    def plot_feature(
        self,
        feature: int | str,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        ax: "Sequence[Axes] | None" = None,
    ) -> FeatureDisplay:
        """Draw the ROC curve of a feature with its hull, and the share of positives of its bins.

        Parameters
        ----------
        feature : int or str
            Which feature, by position or by name.
        X : array-like or data frame of shape (n, n_features), default=None
            Rows whose curve is drawn behind the hull, such as those of the fit: every distinct
            value of the feature is a point of it. Rows with a missing value are left out.
        y : array-like of shape (n,), default=None
            Their labels; needed with ``X``.
        sample_weight : array-like of shape (n,), default=None
            Their weights.
        ax : sequence of three matplotlib.axes.Axes, default=None
            Where to draw the curve, the shares and the rows of each bin. None makes a figure.

        Returns
        -------
        FeatureDisplay
            What was drawn: on the left the curve of the training rows in bins, which is the concave
            hull of that of all values, with the cuts at its corners; on the right the share of
            positives in each bin, and below it the number of rows of each class.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If there is no model yet.
        ValueError
            If the feature is unknown, there are not three axes, or ``X`` and ``y`` do not fit
            together.

        Notes
        -----
        With special values the curve of ``X`` is that of the other rows, and so is the hull.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from aucrank import MAD2C
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> display = MAD2C().fit(X, y).plot_feature("worst_area", X, y)
        >>> display.roc_ax_.get_title()
        'worst_area'
        """
        check_is_fitted(self)
        caller = f"{type(self).__name__}.plot_feature"
        binned = self._binned()
        schema = self._schema
        place = find_column(feature, schema.names, len(schema.features), ONE_FEATURE)
        binned_feature = ranked_features(binned, schema)[place]
        curve = None
        if X is not None or y is not None:
            if X is None or y is None:
                raise ValueError(f"{caller} needs X and y together, or neither")
            curve = self._curve(binned_feature, X, y, sample_weight)
        elif sample_weight is not None:
            raise ValueError(f"{caller} has sample_weight, but no X and y that it belongs to")
        total = binned["total"]
        base_rate = total["pos"] / (total["pos"] + total["neg"])
        return draw_feature(binned_feature, _listed(binned_feature), base_rate, curve, ax, caller)

    def _curve(
        self, feature: RankedFeature, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> "RocCurve":
        """Return the ROC curve of the values of a feature, or of the shares of its categories."""
        from aucrank.metrics import RocCurve

        sample = read_sample(
            cast(BaseEstimator, self), X, y, sample_weight, self._schema, self.classes_
        )
        columns, positive, weight = sample.columns, sample.labels, sample.weight
        n_rows = len(positive)
        n_threads = threads_for(getattr(self, "n_jobs", None), n_rows)
        with errors_by_name(self._schema):
            bins = self._table().bins(columns, n_threads).reshape(n_rows, -1)
        places = bins[:, feature.place].astype(np.intp)
        scores = feature.numbers[places]
        kept = np.isfinite(scores) & np.array([b.kind != "special" for b in feature.bins])[places]
        if feature.cuts is not None:
            # The value itself instead of the number of its bin.
            scores = feature.direction * one_column(columns, feature.place).astype(np.float64)
        there = kept if weight is None else kept & (weight > 0)
        if not positive[there].any() or positive[there].all():
            raise ValueError(
                f"the rows of X that do not miss {feature.name!r} are of one class, which has no"
                " ROC curve"
            )
        return RocCurve.from_scores(
            positive[kept], scores[kept], sample_weight=None if weight is None else weight[kept]
        )


def _listed(feature: RankedFeature) -> list[int]:
    """Return the places of the bins with training rows, in the order of the table."""
    listed = [place for place, bin_ in enumerate(feature.bins) if bin_.size]
    if feature.cuts is None:
        # NaN for missing values, which stay last.
        listed.sort(key=lambda place: (isnan(feature.numbers[place]), feature.numbers[place]))
    return listed

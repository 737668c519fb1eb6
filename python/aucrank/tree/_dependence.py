"""Exact partial dependence of models made of ranking trees, with one pass of each row per tree."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch
from sklearn.utils.extmath import cartesian
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._data.column_lookup import Wording, find_column
from aucrank._data.input import Columns, count_rows, one_column, read_columns
from aucrank._data.schema import Factor, Schema, errors_by_name, is_missing
from aucrank._data.weights import check_weight
from aucrank._utils.params import check_choice, check_int, check_real
from aucrank._utils.threads import threads_for

#: Values that a leaf can have: `LeafValue` of the core.
LeafValue = Literal["rank", "eta", "score", "probability"]
LEAF_VALUES: tuple[LeafValue, ...] = ("rank", "eta", "score", "probability")


_WORDING = Wording(
    unnamed="the feature {column!r} is a name, but X had no column names in fit",
    unknown="the feature {column!r} is not a column of X",
    beyond="the feature {column} is not a column of X, which has 0 to {last}",
    neither="a feature must be a name or a position of a column, got {column!r}",
)


class TreeModel(Protocol):
    """Interface that `PartialDependenceMixin` needs of a core model."""

    def partial_dependence(
        self,
        columns: Columns,
        weight: NDArray[np.float64] | None,
        features: Sequence[int],
        points: NDArray[np.float64],
        value: str,
        n_threads: int,
    ) -> NDArray[np.float64]:
        """Return the mean value of the rows with some features set to each point."""


class PartialDependenceMixin:
    """Mixin for rankers made of trees, whose core model is a `TreeModel`."""

    _model: Any
    _schema: Schema

    def _check_kind(self, kind: Any) -> None:
        """Raise ``ValueError`` if it is not a mean of leaf values."""
        check_choice(kind, "kind", LEAF_VALUES)

    def partial_dependence(
        self,
        X: Any,
        features: Any,
        *,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = (0.05, 0.95),
        kind: LeafValue = "rank",
        sample_weight: ArrayLike | None = None,
        custom_values: Mapping[Any, ArrayLike] | None = None,
    ) -> Bunch:
        """Average the score over rows with one or two features set to each point of a grid.

        The value at a point is that of [1]_ sec. 5.2: the mean, over the rows of ``X``, of the
        score of the row with the selected features set to the point and all others unchanged. It
        equals the brute-force result of `sklearn.inspection.partial_dependence` (``kind`` "score"
        and "probability"), but a row goes through a tree once for all points together.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows to average over, with the columns seen in fit; the training data as a rule.
        features : int, str, or sequence of one or two of them
            The features to set, by position or by name.
        grid_resolution : int, default=100
            Number of equally spaced points; a numeric feature with fewer distinct values has a
            point at each of them.
        percentiles : tuple of two floats, default=(0.05, 0.95)
            Quantiles of the feature in ``X`` between which those points lie.
        kind : {"rank", "eta", "score", "probability"}, default="rank"
            Value to average. "rank": the position of the leaf from the end, divided by the number
            of leaves, from 1/K to 1, whatever the shape of the tree; "eta": share of positives of
            the leaf in training; "score": `decision_function`; "probability": `predict_proba` of
            ``classes_[1]``. For a forest the mean over its trees, where "rank" is the share of the
            training rows of a tree that rank below the leaf, plus half of its own; "score" needs
            ``aggregation`` "eta" or "rank_mean", "probability" needs "eta".
        sample_weight : array-like of shape (n,), default=None
            Weight of each row in the average. The grid does not depend on it.
        custom_values : dict, default=None
            Values of the grid by feature (name or position), instead of the rules above. NaN or
            None is a missing value.

        Returns
        -------
        Bunch
            ``grid_values``, a list of one ndarray for each feature: floats of known values, or all
            categories seen in fit; and ``average``, ndarray of shape (1, n_points) or
            (1, n_points of the first feature, n_points of the second). The form is that of
            `sklearn.inspection.partial_dependence`, and
            `sklearn.inspection.PartialDependenceDisplay` takes it.

        Raises
        ------
        ValueError
            If a feature is unknown, there are none or more than two, a grid is empty, percentiles
            coincide, or ``kind`` is not a mean of leaf values of the forest.

        See Also
        --------
        plot_partial_dependence : Draws it.

        References
        ----------
        .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite
           ranking", Mach. Learn. 83, 2011. https://hal.science/hal-00416054

        Examples
        --------
        >>> from aucrank import TreeRank
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = TreeRank(random_state=0).fit(X, y)
        >>> grid = {"worst_perimeter": [80.0, 150.0]}
        >>> found = model.partial_dependence(X, "worst_perimeter", custom_values=grid)
        >>> found.average.shape
        (1, 2)
        >>> bool(found.average[0, 0] < found.average[0, 1])
        True
        """
        check_is_fitted(self)
        schema = self._schema
        chosen = _listed(features, schema)
        self._check_kind(kind)
        resolution = check_int(grid_resolution, "grid_resolution", low=2)
        assert resolution is not None
        bounds = _check_percentiles(percentiles)
        custom = {_position(key, schema): grid for key, grid in (custom_values or {}).items()}
        for position in custom:
            if position not in chosen:
                raise ValueError(
                    f"custom_values has the column {schema.label(position)}, which is not in"
                    " features"
                )

        columns = read_columns(self, X, schema)
        n_rows = count_rows(columns)
        weight = check_weight(sample_weight, n_rows)
        grid_values, coded = [], []
        for position in chosen:
            if position in custom:
                values, codes = _custom_axis(custom[position], schema, position)
            elif schema.features[position].levels is not None:
                values, codes = _levels_axis(schema, position)
            else:
                numbers = one_column(columns, position)
                values = codes = _numeric_axis(numbers, resolution, bounds, schema.label(position))
            grid_values.append(values)
            coded.append(codes)

        with errors_by_name(schema):
            means = self._model.partial_dependence(
                columns,
                weight,
                chosen,
                np.ascontiguousarray(cartesian(coded), dtype=np.float64).ravel(),
                kind,
                threads_for(getattr(self, "n_jobs", None), n_rows),
            )
        shape = [len(values) for values in grid_values]
        return Bunch(grid_values=grid_values, average=means.reshape(1, *shape))

    def plot_partial_dependence(
        self,
        X: Any,
        features: Sequence[Any],
        *,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = (0.05, 0.95),
        kind: LeafValue = "rank",
        sample_weight: ArrayLike | None = None,
        custom_values: Mapping[Any, ArrayLike] | None = None,
        ax: Any = None,
        n_cols: int = 3,
    ) -> Any:
        """Draw the partial dependence on several features and pairs of features.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows to average over, with the columns seen in fit.
        features : sequence of int, str, or pairs of them
            One plot for each entry: a curve (bars for a categorical feature), or for a pair the
            contours (a heat map for two categorical features).
        grid_resolution : int, default=100
            As for `partial_dependence`.
        percentiles : tuple of two floats, default=(0.05, 0.95)
            As for `partial_dependence`.
        kind : {"rank", "eta", "score", "probability"}, default="rank"
            As for `partial_dependence`.
        sample_weight : array-like of shape (n,), default=None
            As for `partial_dependence`.
        custom_values : dict, default=None
            As for `partial_dependence`; an entry applies to every plot of its feature.
        ax : matplotlib Axes or array-like of Axes, default=None
            Axes to draw on: one that all plots share, or one for each.
        n_cols : int, default=3
            Maximal number of plots in a row, if one ``ax`` or none is given.

        Returns
        -------
        sklearn.inspection.PartialDependenceDisplay
            With the curves, the axes and the figure.

        Raises
        ------
        ValueError
            As `partial_dependence`, and if a pair has one numeric and one categorical feature, for
            which scikit-learn has no plot.

        See Also
        --------
        partial_dependence : The numbers.
        """
        from scipy.stats.mstats import mquantiles
        from sklearn.inspection import PartialDependenceDisplay

        check_is_fitted(self)
        schema = self._schema
        if isinstance(features, str | Integral) or not len(features):
            raise ValueError(
                "features must be a list with an entry for each picture, such as"
                f" ['age', ('age', 'income')]; got {features!r}"
            )
        wanted = [tuple(_listed(entry, schema)) for entry in features]
        is_categorical = [
            tuple(schema.features[position].levels is not None for position in entry)
            for entry in wanted
        ]
        for entry, kinds in zip(wanted, is_categorical, strict=True):
            if len(set(kinds)) > 1:
                names = " and ".join(schema.label(position) for position in entry)
                raise ValueError(
                    f"there is no picture for a numeric feature with a categorical one, {names};"
                    " `partial_dependence` gives the numbers"
                )
        custom = {_position(key, schema): grid for key, grid in (custom_values or {}).items()}
        results = [
            self.partial_dependence(
                X,
                entry,
                grid_resolution=grid_resolution,
                percentiles=percentiles,
                kind=kind,
                sample_weight=sample_weight,
                custom_values={key: grid for key, grid in custom.items() if key in entry},
            )
            for entry in wanted
        ]
        columns = read_columns(self, X, schema)
        numeric = {
            position
            for entry in wanted
            for position in entry
            if schema.features[position].levels is None
        }
        known = {position: _known(one_column(columns, position)) for position in sorted(numeric)}
        deciles = {
            position: mquantiles(values, prob=np.arange(0.1, 1.0, 0.1))
            for position, values in known.items()
            if values.size
        }
        display = PartialDependenceDisplay(
            results,
            features=wanted,
            feature_names=schema.shown_names,
            target_idx=0,
            deciles=deciles,
            is_categorical=is_categorical,
        )
        return display.plot(ax=ax, n_cols=n_cols)


def _listed(features: Any, schema: Schema) -> list[int]:
    """Return the positions of one feature or of a sequence of one or two."""
    if isinstance(features, str | Integral):
        features = [features]
    try:
        listed = list(features)
    except TypeError:
        raise _bad_features(features) from None
    if not 1 <= len(listed) <= 2:
        raise _bad_features(features)
    positions = [_position(feature, schema) for feature in listed]
    if len(set(positions)) < len(positions):
        raise ValueError(f"features holds the column {schema.label(positions[0])} twice")
    return positions


def _bad_features(features: Any) -> ValueError:
    return ValueError(
        f"features must be one or two columns of X, by name or position; got {features!r}"
    )


def _position(feature: Any, schema: Schema) -> int:
    """Return the position of a column given by name or position."""
    return find_column(feature, schema.names, len(schema.features), _WORDING)


def _check_percentiles(percentiles: Any) -> tuple[float, float]:
    try:
        low, high = percentiles
    except (TypeError, ValueError):
        raise ValueError(f"percentiles must be a pair of numbers, got {percentiles!r}") from None
    bounds = [check_real(bound, "each of percentiles", low=0.0, high=1.0) for bound in (low, high)]
    if not low < high:
        raise ValueError(f"the first of percentiles must be below the second, got {percentiles!r}")
    return bounds[0] or 0.0, bounds[1] or 0.0


def _known(numbers: NDArray[Any]) -> NDArray[np.float64]:
    known: NDArray[np.float64] = numbers[~np.isnan(numbers)].astype(np.float64)
    return known


def _numeric_axis(
    numbers: NDArray[Any], resolution: int, percentiles: tuple[float, float], label: str
) -> NDArray[np.float64]:
    """Return the grid of a numeric column, by the rule of scikit-learn, over its known values."""
    from scipy.stats.mstats import mquantiles

    known = _known(numbers)
    if not known.size:
        raise ValueError(
            f"column {label} has no known value in X, so its grid is empty; give custom_values"
        )
    distinct = np.unique(known)
    if len(distinct) < resolution:
        return distinct
    low, high = map(float, mquantiles(known, prob=percentiles))
    if low == high:
        raise ValueError(
            f"both percentiles of column {label} are {low:g}; take percentiles further apart, or"
            " give custom_values"
        )
    return np.linspace(low, high, resolution)


def _levels_axis(schema: Schema, position: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return all categories seen in fit, and their codes."""
    levels = schema.features[position].levels
    if not levels:
        raise ValueError(
            f"column {schema.label(position)} had no known category in fit, so its grid is empty;"
            " give custom_values"
        )
    return _as_array(list(levels)), np.arange(len(levels), dtype=np.float64)


def _custom_axis(
    grid: ArrayLike, schema: Schema, position: int
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the user's values, and their form in the core."""
    label, feature = schema.label(position), schema.features[position]
    if isinstance(grid, str) or np.ndim(np.asarray(grid, dtype=object)) != 1:
        raise ValueError(f"custom_values of column {label} must be a list, got {grid!r}")
    values = list(np.asarray(grid, dtype=object))
    if not values:
        raise ValueError(f"custom_values of column {label} is empty")
    if feature.levels is None:
        try:
            numbers = np.array([np.nan if is_missing(value) else float(value) for value in values])
        except (TypeError, ValueError):
            raise ValueError(
                f"custom_values of column {label}, which is numeric, must be numbers; got {grid!r}"
            ) from None
        if np.isinf(numbers).any():
            raise ValueError(f"custom_values of column {label} must not hold infinity")
        return numbers, numbers
    codes = feature.encode([Factor(np.arange(len(values)), values)]).astype(np.float64)
    codes[codes == _core.MISSING_CODE] = np.nan
    return _as_array(values), codes


def _as_array(levels: list[Any]) -> NDArray[Any]:
    """Return categories as an array of objects, so that strings stay Python strings."""
    array = np.empty(len(levels), dtype=object)
    array[:] = levels
    return array

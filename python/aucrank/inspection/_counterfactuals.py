"""Which few changes of a row would move its score past a threshold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank._base.exports import ExportMixin
from aucrank._base.scoring import score_rows, scoring_method
from aucrank._data.as_frame import frame_or_matrix
from aucrank._data.column_lookup import IN_A_LIST, find_column
from aucrank._data.schema import is_missing
from aucrank._data.table import Table
from aucrank._export.formula import Formula, opaque_reasons, thresholds_of
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_int

#: Rows that are scored at most for each number of changes.
_MOST_ROWS = 200_000

#: Rows scored at a time.
_BLOCK = 20_000

#: Values of a number that are tried where the thresholds of a model are not known.
_MOST_VALUES = 64

#: Distance of two categories: as that of numbers with half of the rows between them.
_OF_CATEGORIES = 0.5


@dataclass(frozen=True, eq=False)
class Counterfactuals:
    """Changes of a row that pass a threshold, as :func:`counterfactuals` returns them.

    Attributes
    ----------
    table : Table
        A row for each change: ``number`` of the counterfactual that it is part of, from 0, the one
        of the fewest and least changes first; ``feature``, its present ``value`` and the
        ``new_value``; the ``distance`` between these, from 0 to 1; and the ``score`` of the row
        with all changes of that number.
    score : float
        The score of the row as it is.
    threshold : float
        The threshold that is passed.
    is_exhaustive : bool
        Whether all sets of changes were tried, up to the number of changes of the last
        counterfactual, or up to ``max_changes`` if fewer than ``n`` were found.
    """

    table: Table
    score: float
    threshold: float
    is_exhaustive: bool

    def __len__(self) -> int:
        """Return the number of counterfactuals."""
        return int(self.table["number"].max()) + 1 if self.table.n_rows else 0


@suggests_keywords
def counterfactuals(
    ranker: Any,
    row: Any,
    X: Any,
    *,
    threshold: float | None = None,
    features: Sequence[int | str] | None = None,
    bounds: Mapping[int | str, tuple[float | None, float | None]] | None = None,
    directions: Mapping[int | str, Literal["increase", "decrease"]] | None = None,
    max_changes: int = 3,
    n: int = 3,
) -> Counterfactuals:
    """Fewest and least changes of a row that take its score to the other side of a threshold.

    Parameters
    ----------
    ranker : estimator
        A fitted ranker, or any classifier with ``decision_function`` or ``predict_proba``.
    row : array-like or data frame of shape (1, n_features)
        The row, as the ranker takes it.
    X : array-like or data frame of shape (n_rows, n_features)
        Rows with the columns of ``row``, such as the training rows: only values that one of them
        has are proposed, and distances are shares of them.
    threshold : float, default=None
        Threshold of the score; ``None`` is where `predict` changes: 0 for ``decision_function``,
        1/2 for a probability. A row passes it from below if its score is above, and from above if
        its score is at most the threshold.
    features : list of int or str, default=None
        Columns that may change; ``None`` for all. Leave out what nobody can change, such as an age.
    bounds : dict of column to (low, high), default=None
        Range of new values of a number; ``None`` at an end is no bound.
    directions : dict of column to {"increase", "decrease"}, default=None
        The only direction in which a number may change.
    max_changes : int, default=3
        Greatest number of changes.
    n : int, default=3
        Number of counterfactuals to look for, each with other columns. None has a change that is
        not needed.

    Returns
    -------
    Counterfactuals
        With ``table``, which is empty if there is none.

    Raises
    ------
    NotFittedError
        If the ranker is not fitted.
    TypeError
        If it scores no rows, or a bound is not of a number.
    ValueError
        If ``row`` is not one row, if its columns are not those of ``X``, or for a column that does
        not exist and parameters out of range.

    See Also
    --------
    Scorecard.reason_codes : Which features cost a row the most points.
    shapley_values : What each feature adds to the score.

    Notes
    -----
    The distance of two numbers is the share of the rows of ``X`` with a value from the present one
    on, without it, up to the new one; that of two categories, and of a missing value, is 1/2.
    Distances of changes add up. Between two thresholds of a model of this
    package, all values give the same score, so that the nearest one is tried; of other models, 64
    values over the range. All sets of values of one feature, of two and so on are scored, as far as
    200,000 rows go; beyond, those values of each feature that gain the most for their distance
    (``is_exhaustive`` is False then).

    They explain the model, not the world: a person who changes a value may change others with it,
    and the outcome need not follow the score.

    References
    ----------
    .. [1] Wachter, Mittelstadt and Russell, "Counterfactual explanations without opening the black
       box", Harvard Journal of Law and Technology 31(2), 2018. :doi:`10.2139/ssrn.3063289`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank import RIMARC
    >>> from aucrank.inspection import counterfactuals
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 10, size=(500, 3)).astype(float)
    >>> y = X[:, 0] + X[:, 1] + rng.normal(size=500) > 9
    >>> model = RIMARC().fit(X, y)
    >>> found = counterfactuals(model, [[2.0, 5.0, 1.0]], X, directions={0: "increase"})
    >>> found.table["feature"][:1].tolist()
    ['x1']
    """
    check_is_fitted(ranker)
    method = scoring_method(ranker)
    if method is None:
        raise TypeError(f"{type(ranker).__name__} has neither decision_function nor predict_proba")
    check_int(max_changes, "max_changes", low=1)
    check_int(n, "n", low=1)
    rows = _Rows.of(X, row)
    if threshold is None:
        threshold = 0.0 if method == "decision_function" else 0.5
    elif not math.isfinite(threshold):
        raise ValueError(f"threshold is {threshold}, but must be finite")
    score = float(score_rows(ranker, rows.changed({}, 1))[0])
    if math.isnan(score):
        raise ValueError("the score of row 0 is NaN")
    is_above = score > threshold
    limits = _limits(rows, bounds or {}, directions or {})
    places = list(range(rows.n_features))
    if features is not None:
        places = sorted({rows.position(feature, "features") for feature in features})
    cuts = _thresholds(ranker)
    search = _Search(
        lambda changes, n_rows: score_rows(ranker, rows.changed(changes, n_rows)),
        [_Candidates.of(rows, place, limits.get(place), cuts) for place in places],
        threshold,
        is_above,
    )
    found = search.run(max_changes, n)
    listed: dict[str, list[Any]] = {
        name: [] for name in ("number", "feature", "value", "new_value", "distance", "score")
    }
    for number, (own, changed) in enumerate(found):
        for candidates, choice in own:
            listed["number"].append(number)
            listed["feature"].append(rows.name(candidates.feature))
            listed["value"].append(rows.value(candidates.feature, rows.last))
            listed["new_value"].append(rows.value(candidates.feature, int(candidates.rows[choice])))
            listed["distance"].append(float(candidates.distances[choice]))
            listed["score"].append(changed)
    table = Table(
        {
            name: np.array(column, dtype=object if name in _OF_ANY_TYPE else None)
            for name, column in listed.items()
        }
    )
    return Counterfactuals(table, score, float(threshold), search.is_exhaustive)


_OF_ANY_TYPE = ("feature", "value", "new_value")


class _Rows:
    """The rows of X, and behind them the row to be changed."""

    def __init__(self, columns: Any, names: list[str] | None) -> None:
        self._all = columns
        self.names = names
        self.last = len(columns) - 1
        self.n_features = columns.shape[1]

    @classmethod
    def of(cls, X: Any, row: Any) -> _Rows:
        every, own = frame_or_matrix(X, "X"), frame_or_matrix(row, "row")
        if len(own) != 1:
            raise ValueError(f"row must be one row, got {len(own)}")
        if not len(every):
            raise ValueError("X has no rows")
        if isinstance(every, nw.DataFrame) != isinstance(own, nw.DataFrame):
            raise ValueError("row and X must both be data frames, or both be arrays")
        if isinstance(every, nw.DataFrame):
            if every.columns != own.columns:
                raise ValueError(f"row has columns {own.columns}, but X has {every.columns}")
            casts = [own[name].cast(every[name].dtype) for name in every.columns]
            return cls(nw.concat([every, own.with_columns(*casts)]), list(every.columns))
        if every.shape[1] != own.shape[1]:
            raise ValueError(f"row has {own.shape[1]} columns, but X has {every.shape[1]}")
        return cls(np.concatenate([every, own]), None)

    def position(self, column: Any, parameter: str) -> int:
        return find_column(column, self.names, self.n_features, IN_A_LIST, parameter)

    def name(self, place: int) -> str:
        return f"x{place}" if self.names is None else self.names[place]

    def value(self, place: int, row: int) -> Any:
        if self.names is None:
            value = self._all[row, place]
            return value.item() if isinstance(value, np.generic) else value
        return self._all[self.names[place]].to_list()[row]

    def values(self, place: int) -> list[Any]:
        if self.names is None:
            return list(self._all[:, place].tolist())
        return list(self._all[self.names[place]].to_list())

    def numbers(self, place: int) -> NDArray[np.float64] | None:
        """Return a column as numbers, NaN where missing; None if it holds something else."""
        if self.names is not None:
            dtype = self._all[self.names[place]].dtype
            if not (dtype.is_numeric() or dtype == nw.Boolean):
                return None
        values = self.values(place)
        try:
            return np.array([math.nan if is_missing(v) else float(v) for v in values])
        except (TypeError, ValueError):
            return None

    def changed(self, changes: dict[int, NDArray[np.intp]], n_rows: int) -> Any:
        """Return copies of the last row, with the values of other rows in some columns."""
        if self.names is None:
            copies = np.repeat(self._all[self.last :], n_rows, axis=0)
            for place, rows in changes.items():
                copies[:, place] = self._all[rows, place]
            return copies
        copies = self._all[[self.last] * n_rows]
        columns = [self._all[self.names[place]][rows.tolist()] for place, rows in changes.items()]
        if n_rows > 1 or columns:
            # Columns of pandas keep the index of the rows that they are from.
            columns = [nw.maybe_reset_index(column).alias(column.name) for column in columns]
            copies = nw.maybe_reset_index(copies).with_columns(*columns)
        return copies.to_native()


_Limits = tuple[float, float]


def _limits(
    rows: _Rows,
    bounds: Mapping[int | str, tuple[float | None, float | None]],
    directions: Mapping[int | str, str],
) -> dict[int, _Limits]:
    """Return the range of new values of the columns that have one."""
    found: dict[int, _Limits] = {}

    def narrow(column: int | str, parameter: str, low: float, high: float) -> None:
        place = rows.position(column, parameter)
        if rows.numbers(place) is None:
            raise TypeError(f"{parameter} holds {column!r}, which is not a column of numbers")
        before = found.get(place, (-math.inf, math.inf))
        found[place] = max(before[0], low), min(before[1], high)

    for column, (low, high) in bounds.items():
        if low is not None and high is not None and low > high:
            raise ValueError(f"bounds of {column!r} are {low} to {high}, which is no range")
        narrow(
            column,
            "bounds",
            -math.inf if low is None else float(low),
            math.inf if high is None else float(high),
        )
    for column, direction in directions.items():
        if direction not in ("increase", "decrease"):
            raise ValueError(
                f"directions of {column!r} must be 'increase' or 'decrease', got {direction!r}"
            )
        narrow(column, "directions", -math.inf, math.inf)
        place = rows.position(column, "directions")
        numbers = rows.numbers(place)
        assert numbers is not None
        own = float(numbers[rows.last])
        ends = (own, math.inf) if direction == "increase" else (-math.inf, own)
        narrow(column, "directions", *ends)
    return found


def _thresholds(ranker: Any) -> dict[int, list[float] | None] | None:
    """Return where the score changes along each feature; None if that is not known."""
    if not isinstance(ranker, ExportMixin):
        return None
    try:
        formula: Formula = ranker._score_formula()
    except (AttributeError, TypeError, ValueError):
        return None
    return None if any(opaque_reasons(formula)) else thresholds_of(formula)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """New values of a feature.

    Attributes
    ----------
    feature : int
        Its position.
    rows : ndarray of int
        Rows that have the values, the nearest first.
    distances : ndarray of float64
        Their distances from the present value.
    """

    feature: int
    rows: NDArray[np.intp]
    distances: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        rows: _Rows,
        place: int,
        limits: _Limits | None,
        cuts: dict[int, list[float] | None] | None,
    ) -> _Candidates:
        numbers = rows.numbers(place)
        if numbers is None:
            return cls._of_categories(rows, place)
        every, own = numbers[:-1], float(numbers[-1])
        known = np.flatnonzero(np.isfinite(every) & (every != own))
        if limits is not None:
            known = known[(every[known] >= limits[0]) & (every[known] <= limits[1])]
        values, first = np.unique(every[known], return_index=True)
        ordered = np.sort(every[np.isfinite(every)])
        if math.isnan(own):
            distances = np.full(len(values), _OF_CATEGORIES)
        else:
            # Rows between the two values, the new one included.
            low, high = np.minimum(values, own), np.maximum(values, own)
            between = np.searchsorted(ordered, high, "right")
            between -= np.searchsorted(ordered, low, "left") + int((ordered == own).sum())
            distances = between / max(len(ordered), 1)
        listed = None if cuts is None else cuts.get(place, [])
        if listed is None:
            kept = _spread(values, distances)
        else:
            pieces = np.searchsorted(np.asarray(listed), values, side="right")
            own_piece = (
                -1 if math.isnan(own) else int(np.searchsorted(np.asarray(listed), own, "right"))
            )
            kept = np.array(
                [
                    own_places[np.argmin(distances[own_places])]
                    for piece in np.unique(pieces)
                    if piece != own_piece
                    for own_places in [np.flatnonzero(pieces == piece)]
                ],
                dtype=np.intp,
            )
        order = kept[np.argsort(distances[kept], kind="stable")]
        return cls(place, known[first[order]], distances[order])

    @classmethod
    def _of_categories(cls, rows: _Rows, place: int) -> _Candidates:
        values = rows.values(place)
        own = values[-1]
        first: dict[Any, int] = {}
        for row, value in enumerate(values[:-1]):
            if not is_missing(value) and value != own:
                first.setdefault(value, row)
        found = np.array(list(first.values()), dtype=np.intp)
        return cls(place, found, np.full(len(found), _OF_CATEGORIES))


def _spread(values: NDArray[np.float64], distances: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return places of so many values over their range that can be tried."""
    if len(values) <= _MOST_VALUES:
        return np.arange(len(values))
    wanted = np.linspace(0, 1, _MOST_VALUES) * distances.max()
    order = np.argsort(distances, kind="stable")
    found = np.searchsorted(distances[order], wanted).clip(max=len(order) - 1)
    return np.unique(order[found])


_Found = tuple[tuple[tuple[_Candidates, int], ...], float]


class _Search:
    """Search over sets of changes, the fewest first."""

    def __init__(
        self,
        score: Callable[[dict[int, NDArray[np.intp]], int], NDArray[np.float64]],
        candidates: list[_Candidates],
        threshold: float,
        is_above: bool,
    ) -> None:
        self._score = score
        self._candidates = [own for own in candidates if len(own.rows)]
        self._threshold = threshold
        self._is_above = is_above
        self.is_exhaustive = True

    def run(self, max_changes: int, n: int) -> list[_Found]:
        """Return at most n sets of changes with their scores."""
        found: list[tuple[float, _Found]] = []
        sets: list[frozenset[int]] = []
        result: list[_Found] = []
        for n_changes in range(1, min(max_changes, len(self._candidates)) + 1):
            found = []
            for own in self._affordable(n_changes, sets):
                best = self._best(own)
                if best is not None:
                    found.append(best)
            found.sort(key=lambda entry: entry[0])
            for _, entry in found:
                result.append(entry)
                sets.append(frozenset(own.feature for own, _ in entry[0]))
            if len(result) >= n:
                break
        return result[:n]

    def _affordable(
        self, n_changes: int, sets: list[frozenset[int]]
    ) -> Iterator[tuple[_Candidates, ...]]:
        """Yield sets of features, with no more values of each than can be scored."""
        chosen = [
            combination
            for combination in itertools.combinations(range(len(self._candidates)), n_changes)
            if not any(
                done <= {self._candidates[place].feature for place in combination} for done in sets
            )
        ]
        kept = list(self._candidates)

        def n_rows() -> int:
            return sum(
                math.prod(len(kept[place].rows) for place in combination) for combination in chosen
            )

        most = max((len(own.rows) for own in kept), default=0)
        while n_rows() > _MOST_ROWS and most > 1:
            self.is_exhaustive = False
            most = max(most * 3 // 4, 1)
            kept = [self._most_gaining(own, most) for own in self._candidates]
        if n_rows() > _MOST_ROWS:
            self.is_exhaustive = False
            # One value of each is still too much: the features that alone gain the most.
            chosen.sort(key=lambda places: -sum(self._gains(kept[p]).max() for p in places))
            chosen = chosen[:_MOST_ROWS]
        for combination in chosen:
            yield tuple(kept[place] for place in combination)

    def _gains(self, own: _Candidates) -> NDArray[np.float64]:
        scores = self._score({own.feature: own.rows}, len(own.rows))
        return -scores if self._is_above else scores

    def _most_gaining(self, own: _Candidates, most: int) -> _Candidates:
        """Return the values that no nearer one outdoes, and of these the farthest-reaching ones."""
        if len(own.rows) <= most:
            return own
        gains = self._gains(own)
        before = np.maximum.accumulate(np.concatenate([[-math.inf], gains[:-1]]))
        kept = np.flatnonzero(gains > before)
        if len(kept) > most:
            kept = kept[np.linspace(0, len(kept) - 1, most).round().astype(np.intp)]
        return _Candidates(own.feature, own.rows[kept], own.distances[kept])

    def _best(self, own: tuple[_Candidates, ...]) -> tuple[float, _Found] | None:
        """Return the nearest set of values of some features that passes, if there is one."""
        choices = np.array(list(itertools.product(*(range(len(of.rows)) for of in own))))
        distances = sum(of.distances[choices[:, place]] for place, of in enumerate(own))
        order = np.argsort(distances, kind="stable")
        for start in range(0, len(order), _BLOCK):
            block = order[start : start + _BLOCK]
            changes = {of.feature: of.rows[choices[block, place]] for place, of in enumerate(own)}
            scores = self._score(changes, len(block))
            passes = scores <= self._threshold if self._is_above else scores > self._threshold
            if passes.any():
                first = int(passes.argmax())
                chosen = tuple(zip(own, choices[block[first]].tolist(), strict=True))
                return float(np.asarray(distances)[block[first]]), (chosen, float(scores[first]))
        return None

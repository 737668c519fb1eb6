"""Labels and weights of rows that are read in batches, and the facts about all of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data import frames
from aucrank._data.column_lookup import given_names
from aucrank._data.labels import encode_binary, plain_label
from aucrank._data.passes import Batch
from aucrank._data.vectors import plain_vector
from aucrank._data.weights import (
    ExactSum,
    check_class_weight,
    factors_of_sums,
    needs_sums,
    refuse_weightless,
)

# Beyond this number of labels, which they are is not reported.
_MOST_LABELS = 100


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """Facts about the labels and weights of all rows.

    Attributes
    ----------
    classes : ndarray of shape (2,)
        The labels; the class to be ranked first is last.
    class_counts : tuple of int
        Number of negative and of positive rows.
    n_counted : int
        Number of rows of positive weight; one of weight k counts as k where all weights are whole.
    class_factors : tuple of float, or None
        Factors by which the weights of negative and positive rows are multiplied.
    largest_weights : tuple of float, or None
        The largest weight of a negative and of a positive row, factors included; None where all
        rows have weight 1.
    has_zero_weights : bool
        Whether a row has weight zero.
    label_column : str
        Column of labels.
    weight_column : str or None
        Column of weights.
    """

    classes: NDArray[Any]
    class_counts: tuple[int, int]
    n_counted: int
    class_factors: tuple[float, float] | None
    largest_weights: tuple[float, float] | None
    has_zero_weights: bool
    label_column: str
    weight_column: str | None

    @property
    def columns(self) -> list[str]:
        """Names of the columns of labels and weights."""
        return given_names(self.label_column, self.weight_column)

    def positive(self, batch: Batch) -> NDArray[np.bool_]:
        """Return which rows of a batch are positive.

        Raises
        ------
        ValueError
            If a label is none of the classes.
        """
        return positive_rows(batch, self.label_column, self.classes)

    def weights(self, batch: Batch) -> NDArray[np.float64] | None:
        """Return the weights of a batch, without class weights; None if there is no column.

        Raises
        ------
        TypeError, ValueError
            If one is not valid.
        """
        return None if self.weight_column is None else weights_of(batch, self.weight_column)


class TargetSurvey:
    """Labels and weights of the rows, collected batch by batch.

    Parameters
    ----------
    target : str
        Column of labels.
    weight : str or None
        Column of weights.
    class_weight : dict, "balanced" or None
        Weights of classes, by label.
    positive : object
        The label to be ranked first; None for the greater one.

    Raises
    ------
    TypeError, ValueError
        If ``class_weight`` is not valid.
    """

    def __init__(self, target: str, weight: str | None, class_weight: Any, positive: Any) -> None:
        check_class_weight(class_weight)
        self._target = target
        self._weight = weight
        self._class_weight = class_weight
        self._positive = positive
        self._kind: tuple[str, str] | None = None
        self._labels: list[_Label] = []
        self._dtype: np.dtype[Any] | None = None

    @property
    def columns(self) -> list[str]:
        """Names of the columns of labels and weights."""
        return given_names(self._target, self._weight)

    @property
    def weight_columns(self) -> list[str]:
        """Name of the column of weights, if there is one."""
        return given_names(self._weight)

    def kept(self, batch: Batch) -> NDArray[np.bool_] | None:
        """Return which rows of a batch have positive weight; None where all have."""
        return None if self._weight is None else weights_of(batch, self._weight) > 0

    def look_at(self, batch: Batch) -> NDArray[np.bool_] | None:
        """Record the labels and weights of a batch.

        Returns
        -------
        ndarray of bool, shape (n_rows,), or None
            Which rows have positive weight; None where all have.
        """
        labels = labels_of(batch, self._target)
        kind = {"b": "booleans", "O": "text", "U": "text"}.get(labels.dtype.kind, "numbers")
        self._note_kind(kind, batch.origin, labels.dtype)
        weight = None if self._weight is None else weights_of(batch, self._weight)
        for value, rows in _by_label(labels):
            known = self._label(value)
            known.n_rows += batch.count(rows)
            if weight is not None:
                counts = None if batch.counts is None else batch.counts[rows]
                known.add_weights(weight[rows], counts, is_summed=needs_sums(self._class_weight))
        return None if weight is None or weight.all() else weight > 0

    def finish(self) -> TargetFacts:
        """Return the facts about the labels and weights.

        Raises
        ------
        ValueError
            If there are not two labels, or a label has no weight.
        """
        classes = self._classes(self._positive)
        negative, of_positive = (
            next(label for label in self._labels if label.value == value) for value in classes
        )
        pair = (negative, of_positive)
        has_weights = self._weight is not None
        if has_weights:
            refuse_weightless([label.largest > 0 for label in pair], classes)
        sums = [label.sum.value if has_weights else float(label.n_rows) for label in pair]
        factors = factors_of_sums(self._class_weight, classes, (sums[0], sums[1]))
        largest = None
        if has_weights or factors is not None:
            low, high = (1.0, 1.0) if factors is None else factors
            given = [label.largest if has_weights else 1.0 for label in pair]
            largest = (given[0] * low, given[1] * high)
            refuse_weightless([of_class > 0 for of_class in largest], classes)
        return TargetFacts(
            classes,
            (negative.n_rows, of_positive.n_rows),
            _n_counted(pair, factors, has_weights=has_weights),
            factors,
            largest,
            any(label.has_zero for label in pair),
            self._target,
            self._weight,
        )

    def merge(self, other: "TargetSurvey") -> None:
        """Add the labels and weights of another part of the data."""
        if other._kind is None or other._dtype is None:
            return
        self._note_kind(*other._kind, other._dtype)
        for label in other._labels:
            self._label(label.value).merge(label)

    def _note_kind(self, kind: str, origin: str, dtype: np.dtype[Any]) -> None:
        if self._kind is None:
            self._kind = kind, origin
            self._dtype = dtype
        assert self._dtype is not None
        if kind != self._kind[0]:
            raise ValueError(
                f"target column {self._target!r} holds {self._kind[0]} in {self._kind[1]} and"
                f" {kind} in {origin}"
            )
        self._dtype = np.result_type(self._dtype, dtype)

    def _label(self, value: Any) -> "_Label":
        """Return the facts about a label, which may be new."""
        known = next((label for label in self._labels if label.value == value), None)
        if known is None:
            known = _Label(value)
            self._labels.append(known)
            if len(self._labels) > _MOST_LABELS:
                # Raises the error of more than two labels.
                self._classes(None)
        return known

    def _classes(self, positive: Any) -> NDArray[Any]:
        values = [label.value for label in self._labels]
        classes, _ = encode_binary(np.array(values, dtype=self._dtype))
        return classes if positive is None else with_last(classes, positive, self._target)


class _Label:
    def __init__(self, value: Any) -> None:
        self.value = value
        self.n_rows = 0
        self.largest = 0.0
        self.has_zero = False
        self.n_kept = 0
        # Sum of whole weights; None once there was another.
        self.whole: int | None = 0
        self.sum = ExactSum()

    def merge(self, other: "_Label") -> None:
        self.n_rows += other.n_rows
        self.largest = max(self.largest, other.largest)
        self.has_zero = self.has_zero or other.has_zero
        self.n_kept += other.n_kept
        if self.whole is None or other.whole is None:
            self.whole = None
        else:
            self.whole += other.whole
        self.sum.merge(other.sum)

    def add_weights(
        self, weight: NDArray[np.float64], counts: NDArray[np.uint64] | None, *, is_summed: bool
    ) -> None:
        self.largest = max(self.largest, float(weight.max()))
        self.has_zero = self.has_zero or not weight.all()
        repeats = np.ones(len(weight)) if counts is None else counts.astype(np.float64)
        self.n_kept += int(repeats @ (weight > 0))
        if self.whole is not None:
            self.whole = self.whole + int(repeats @ weight) if _are_whole(weight) else None
        if is_summed:
            self.sum.add(weight, counts)


def _n_counted(
    pair: tuple["_Label", "_Label"], factors: tuple[float, float] | None, *, has_weights: bool
) -> int:
    """Return the number of rows of two labels as `TargetFacts.n_counted` defines it."""
    sums = [label.whole if has_weights else label.n_rows for label in pair]
    of_class = np.ones(2) if factors is None else np.array(factors)
    if None not in sums and _are_whole(of_class):
        return int(np.array(sums) @ of_class)
    return sum(label.n_kept if has_weights else label.n_rows for label in pair)


def _are_whole(numbers: NDArray[np.float64]) -> bool:
    return bool(np.all(numbers == np.floor(numbers)))


def labels_of(batch: Batch, target: str) -> NDArray[Any]:
    """Return the labels of a batch.

    Raises
    ------
    ValueError
        If one is missing.
    """
    series = batch.frame[target]
    missing = None
    if series.null_count():
        missing = series.is_null().to_numpy()
    else:
        labels: NDArray[Any] = np.asarray(plain_vector(series.to_native()))
        if labels.dtype.kind == "f" and np.isnan(labels).any():
            missing = np.isnan(labels)
    if missing is not None:
        row = batch.place(int(missing.argmax()))
        raise ValueError(f"target column {target!r} is missing in {row}")
    return labels


def weights_of(batch: Batch, weight: str) -> NDArray[np.float64]:
    """Return the weights of a batch.

    Raises
    ------
    TypeError
        If they are not numbers.
    ValueError
        If one is missing, infinite or negative.
    """
    with batch.named_in_errors():
        found = frames.to_numbers(batch.frame[weight], repr(weight)).astype(np.float64, copy=False)
    # A comparison with NaN is false.
    is_good = (found >= 0) & (found < np.inf)
    if not is_good.all():
        row = int(np.argmin(is_good))
        raise ValueError(
            f"weight column {weight!r} holds {found[row]} in {batch.place(row)}; weights must be"
            " finite and not negative"
        )
    return found


def positive_rows(batch: Batch, target: str, classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows of a batch are ``classes[1]``, where the others are ``classes[0]``.

    Raises
    ------
    ValueError
        If a label is neither.
    """
    labels = labels_of(batch, target)
    positive = np.asarray(labels == classes[1], dtype=np.bool_)
    known = positive | np.asarray(labels == classes[0], dtype=np.bool_)
    if not np.all(known):
        row = int(np.argmin(known))
        raise ValueError(
            f"target column {target!r} holds {plain_label(labels[row])!r} in {batch.place(row)},"
            f" which is none of the classes {plain_label(classes[0])!r},"
            f" {plain_label(classes[1])!r}"
        )
    return positive


def with_last(classes: NDArray[Any], positive: Any, target: str) -> NDArray[Any]:
    """Return the two labels, with the one to be ranked first last.

    Raises
    ------
    ValueError
        If it is not one of them.
    """
    known = [plain_label(label) for label in classes]
    if positive not in known:
        raise ValueError(
            f"positive is {positive!r}, which is none of the labels of column {target!r}:"
            f" {known[0]!r}, {known[1]!r}"
        )
    return classes if positive == known[1] else classes[::-1].copy()


def _by_label(labels: NDArray[Any]) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
    """Yield each label with its rows; uses comparisons, because sorting is many times slower."""
    left = np.ones(len(labels), dtype=np.bool_)
    while left.any():
        value = labels[left.argmax()]
        rows = np.asarray(labels == value, dtype=np.bool_)
        yield value, rows
        left &= ~rows

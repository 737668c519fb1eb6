"""Subjects of a report: named scores, of models or as they are, and the labels of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank._base.external import check_has_methods, known_scores
from aucrank._base.scoring import scoring_method
from aucrank._data.labels import encode_binary, match_labels, plain_label
from aucrank._data.row_blocks import read_times
from aucrank._data.vectors import vector
from aucrank._data.weights import check_class_sums, check_weight
from aucrank._report.rows import UserRows
from aucrank.metrics._clustered import read_groups

#: More lines in one picture are indistinguishable.
MOST_SUBJECTS = 8

# Probabilities are shown in about ten groups, which more rows would not improve.
_MOST_PROBABILITIES = 200_000


@dataclass(frozen=True, eq=False, slots=True)
class DataTable:
    """Columns of the rows, to be summarised.

    Attributes
    ----------
    rows : UserRows
        The rows.
    training : UserRows or None, default=None
        Rows that they are compared with, such as those of the fit, with the same columns.
    """

    rows: UserRows
    training: UserRows | None = None

    def take(self, kept: NDArray[np.intp] | None) -> DataTable:
        """Return the table of some rows, compared with the same ones; None for all of them."""
        return self if kept is None else replace(self, rows=UserRows(self.rows.take(kept)))


@dataclass(frozen=True, eq=False, slots=True)
class Subject:
    """Scores of the rows with a name, and what is known of their origin.

    Attributes
    ----------
    name : str
        Name of the model or of the score.
    scores : ndarray of float64
        Score of each row.
    probability : ndarray of float64 or None, default=None
        Probability of the positive class for each of ``probability_of``; None if there is none.
    probability_of : ndarray of int or None, default=None
        The rows with probabilities, drawn at random; None for all.
    own_cut : float or None, default=None
        Rows that score more than this are called positive; None if scores have no such value.
    then : ndarray of float64 or None, default=None
        Scores of the training rows; None without them.
    model : FittedModel or None, default=None
        The model that gives the scores; None where only these are known.
    """

    name: str
    scores: NDArray[np.float64]
    probability: NDArray[np.float64] | None = None
    probability_of: NDArray[np.intp] | None = None
    own_cut: float | None = None
    then: NDArray[np.float64] | None = None
    model: FittedModel | None = None

    @property
    def n_drawn(self) -> int | None:
        """Number of rows with probabilities, if these are not all."""
        return None if self.probability_of is None else len(self.probability_of)


@dataclass(frozen=True, eq=False, slots=True)
class FittedModel:
    """A model, with the rows that it scores.

    Attributes
    ----------
    estimator : estimator
        The model itself.
    table : DataTable
        The rows, with the columns that it takes.
    """

    estimator: Any
    table: DataTable

    @property
    def rows(self) -> UserRows:
        """The rows that it scores."""
        return self.table.rows

    def subject(self, name: str, seed: int) -> Subject:
        """Score the rows, and predict probabilities of at most 200,000 of them.

        Raises
        ------
        ValueError
            If the model does not give one score, and one probability, to each row.
        """
        estimator, rows, training = self.estimator, self.rows, self.table.training
        scores = known_scores(estimator, rows.native)
        then = None if training is None else known_scores(estimator, training.native)
        drawn = rows_with_probabilities(rows.n_rows, seed)
        probability, own_cut = None, 0.0
        if scoring_method(estimator) == "predict_proba":
            probability, own_cut = scores if drawn is None else scores[drawn], 0.5
        elif hasattr(estimator, "predict_proba"):
            X = rows.native if drawn is None else rows.take(drawn)
            probability = probabilities(estimator, X)
        return Subject(name, scores, probability, drawn, own_cut, then, self)


@dataclass(frozen=True, eq=False, slots=True)
class GivenScores:
    """Scores of the rows as they are, of a model that is not known.

    Attributes
    ----------
    scores : ndarray of float64
        Score of each row.
    probability : ndarray of float64 or None, default=None
        Probability of the positive class for each row; None if there is none.
    then : ndarray of float64 or None, default=None
        Scores of other rows, such as those of an earlier time, to compare with.
    """

    scores: NDArray[np.float64]
    probability: NDArray[np.float64] | None = None
    then: NDArray[np.float64] | None = None

    def take(self, kept: NDArray[np.intp] | None) -> GivenScores:
        """Return the scores of some of the rows; None for all of them."""
        if kept is None:
            return self
        probability = None if self.probability is None else self.probability[kept]
        return replace(self, scores=self.scores[kept], probability=probability)

    def subject(self, name: str, seed: int) -> Subject:
        """Return the scores by their name, with at most 200,000 of the probabilities."""
        probability = self.probability
        if probability is None:
            return Subject(name, self.scores, then=self.then)
        drawn = rows_with_probabilities(len(self.scores), seed)
        probability = probability if drawn is None else probability[drawn]
        return Subject(name, self.scores, probability, drawn, then=self.then)


def rows_with_probabilities(n_rows: int, seed: int) -> NDArray[np.intp] | None:
    """Draw the rows whose probabilities are looked at; None for all of them."""
    if n_rows <= _MOST_PROBABILITIES:
        return None
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(n_rows, _MOST_PROBABILITIES, replace=False))


@dataclass(frozen=True, eq=False, slots=True)
class Target:
    """Labels, weights and further roles of the rows.

    Attributes
    ----------
    positive : ndarray of bool
        Rows of the positive class.
    weight : ndarray of float64 or None
        Weight of each row; None where all count once.
    labels : tuple of two str
        Names of the negative and the positive class.
    groups : ndarray of int or None, default=None
        Group of each row, as a number from 0; None without groups.
    time : ndarray or None, default=None
        Time of each row, in numbers or dates.
    by : dict of str to ndarray, default={}
        Values of the columns that split the rows into subgroups.
    """

    positive: NDArray[np.bool_]
    weight: NDArray[np.float64] | None
    labels: tuple[str, str]
    groups: NDArray[np.intp] | None = None
    time: NDArray[Any] | None = None
    by: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each row, 1 where all count once."""
        return np.ones(len(self.positive)) if self.weight is None else self.weight

    @property
    def prevalence(self) -> float:
        """Share of the positive class in the weight of all rows."""
        weights = self.weights
        return float(weights[self.positive].sum() / weights.sum())

    @property
    def has_spread(self) -> bool:
        """Whether each class has two rows, or rows of two groups."""
        classes = self.positive, ~self.positive
        if self.groups is None:
            return all(rows.sum() > 1 for rows in classes)
        return all(np.count_nonzero(np.bincount(self.groups[rows])) > 1 for rows in classes)

    def take(self, rows: NDArray[np.intp] | None) -> Target:
        """Return the target of some rows; None for all of them."""
        if rows is None:
            return self
        return Target(
            self.positive[rows],
            None if self.weight is None else self.weight[rows],
            self.labels,
            None if self.groups is None else self.groups[rows],
            None if self.time is None else self.time[rows],
            {name: values[rows] for name, values in self.by.items()},
        )

    def counted(self) -> NDArray[np.intp] | None:
        """Return the rows of positive weight; None for all of them."""
        if self.weight is None or (self.weight > 0).all():
            return None
        return np.flatnonzero(self.weight > 0)

    @property
    def n_groups(self) -> int | None:
        """Number of groups; None without groups."""
        return None if self.groups is None else int(np.count_nonzero(np.bincount(self.groups)))


def name_models(models: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """Return models by name.

    Parameters
    ----------
    models : estimator, sequence of estimators or mapping of str to estimator
        As the user passed them.
    names : sequence of str or None
        Names of the models; None takes the names of their classes.

    Raises
    ------
    TypeError, ValueError
        If one is not a fitted model that scores rows, there are none or too many, or names repeat.
    """
    if isinstance(models, Mapping):
        if names is not None:
            raise ValueError("models has names of its own, so leave names out")
        listed, called = list(models.values()), list(models)
    else:
        single = not isinstance(models, Iterable) or scoring_method(models) is not None
        listed = [models] if single else list(models)
        called = _class_names(listed) if names is None else _given_names(names, len(listed))
    check_number(len(listed), "models")
    for name, model in zip(called, listed, strict=True):
        check_name(name, "model")
        check_has_methods(model, f"model {name!r}", ("fit",))
        if scoring_method(model) is None:
            raise TypeError(
                f"model {name!r} must score rows, but {type(model).__name__} has neither"
                " decision_function() nor predict_proba()"
            )
        check_is_fitted(model)
    if len(set(called)) < len(called):
        twice = next(name for name in called if called.count(name) > 1)
        raise ValueError(f"two models are called {twice!r}; give them different names")
    return dict(zip(called, listed, strict=True))


def check_number(n_subjects: int, what: str) -> None:
    """Raise ValueError unless one page has room for them."""
    if not 1 <= n_subjects <= MOST_SUBJECTS:
        raise ValueError(f"a report is about 1 to {MOST_SUBJECTS} {what}, got {n_subjects}")


def check_name(name: Any, what: str) -> None:
    """Raise TypeError unless a name is a text that is not blank."""
    if not isinstance(name, str) or not name.strip():
        raise TypeError(f"the name of a {what} must be a text, got {name!r}")


def _given_names(names: Any, n_models: int) -> list[str]:
    called = [names] if isinstance(names, str) else list(names)
    if len(called) != n_models:
        raise ValueError(f"there are {n_models} models but {len(called)} names")
    return called


def _class_names(models: list[Any]) -> list[str]:
    """Return the names of the classes, numbered where one occurs again."""
    kinds = [type(model).__name__ for model in models]
    return [
        kind if kinds.count(kind) == 1 else f"{kind} {kinds[: place + 1].count(kind)}"
        for place, kind in enumerate(kinds)
    ]


def read_target(
    models: Mapping[str, Any], y: ArrayLike, sample_weight: ArrayLike | None, n_rows: int | None
) -> Target:
    """Read labels, of which the greater one is positive, as for the models.

    Parameters
    ----------
    models : mapping of str to estimator
        The models by name, if any.
    y : array-like of shape (n,)
        As a user passed it.
    sample_weight : array-like of shape (n,) or None
        As a user passed it.
    n_rows : int or None
        Number of rows of ``X``; None without it.

    Raises
    ------
    ValueError
        If they are not those of the models, or one class is absent or without weight.
    """
    labels, positive = encode_binary(y)
    for name, model in models.items():
        classes = getattr(model, "classes_", None)
        if classes is None:
            continue
        if len(classes) != 2:
            raise ValueError(
                f"a report is about two classes, but model {name!r} has {len(classes)}"
            )
        found = match_labels(y, np.asarray(classes))
        if not np.array_equal(found, positive):
            raise ValueError(
                f"model {name!r} ranks {plain_label(classes[1])!r} first, and the greater label of"
                f" y is {plain_label(labels[1])!r}"
            )
    if n_rows is not None and len(positive) != n_rows:
        raise ValueError(f"X has {n_rows} rows but y has {len(positive)} labels")
    weight = check_weight(sample_weight, len(positive))
    check_class_sums(weight, positive, labels)
    negative_text, positive_text = (str(plain_label(label)) for label in labels)
    return Target(positive, weight, (negative_text, positive_text))


def with_parts(target: Target, groups: Any, time: Any, by: Any) -> Target:
    """Return a target with the groups, times and subgroups of the rows.

    Parameters
    ----------
    target : Target
        Labels and weights.
    groups, time : array-like of shape (n,) or None
        As a user passed them.
    by : array-like of shape (n,), mapping of str to array-like, data frame or None
        As a user passed it.

    Raises
    ------
    TypeError, ValueError
        If their number differs from that of the rows, a group or a time is missing, or a time is no
        number or date.
    """
    n_rows = len(target.positive)
    return replace(
        target,
        groups=None if groups is None else read_groups(groups, n_rows)[0],
        time=None if time is None else read_times(time, n_rows),
        by={} if by is None else _read_by(by, n_rows),
    )


def _read_by(by: Any, n_rows: int) -> dict[str, NDArray[Any]]:
    """Return the values that split the rows, by name."""
    found = named_vectors(by, "by", "subgroup")
    for name, values in found.items():
        if len(values) != n_rows:
            raise ValueError(f"by {name!r} has {len(values)} entries, but y has {n_rows}")
    return found


def named_vectors(values: Any, what: str, alone: str) -> dict[str, NDArray[Any]]:
    """Return one or several columns by name.

    Parameters
    ----------
    values : array-like of shape (n,), mapping of str to array-like, or data frame
        As a user passed them.
    what : str
        What one of them is, for errors.
    alone : str
        Name of one that has none.
    """
    frame = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        named = {str(name): frame[name].to_native() for name in frame.columns}
    elif isinstance(values, Mapping):
        named = {str(name): column for name, column in values.items()}
    else:
        name = frame.name if isinstance(frame, nw.Series) else None
        named = {str(name) if name else alone: values}
    return {name: vector(column, f"{what} {name!r}") for name, column in named.items()}


def probabilities(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Predict the probability of the positive class.

    Raises
    ------
    ValueError
        If it does not give one from 0 to 1 to each row.
    """
    table = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    if table.shape != (X.shape[0], 2) or not ((table >= 0) & (table <= 1)).all():
        raise ValueError(
            f"predict_proba of {type(estimator).__name__} returned an array of shape {table.shape}"
            f" for {X.shape[0]} rows, or values that are not probabilities"
        )
    return np.ascontiguousarray(table[:, 1])

"""Effects of the columns in a model: permutation importance and partial dependence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aucrank._base.external import known_scores
from aucrank._report.rows import UserColumn, UserRows
from aucrank._report.subjects import FittedModel, Subject, Target, probabilities
from aucrank.metrics import roc_auc_score

# Rows drawn per class, number of shuffles of a column, and maximum number of columns.
_ROWS_OF_CLASS = 1000
_N_SHUFFLES = 3
_MOST_COLUMNS = 30

# Rows per class by which these are chosen if the model has no importances.
_FEW_OF_CLASS = 100

# Maximum number of columns whose dependence is shown, and deviations by which their loss exceeds 0;
# number of values, rows averaged over, and rows that the values are taken from.
_N_SHOWN = 6
_SPREADS = 2
_N_VALUES = 11
_MOST_LEVELS = 10
_N_ROWS = 300
_N_LOOKED_AT = 10_000


@dataclass(frozen=True, slots=True)
class Importance:
    """Importance of a column to a model.

    Attributes
    ----------
    column : str
        Its name.
    own : float or None
        The importance given by the model (``feature_importances_``), if any.
    loss : float
        Mean fall of the AUC when the values of the column are shuffled.
    spread : float
        Standard deviation of that fall over the shuffles.
    """

    column: str
    own: float | None
    loss: float
    spread: float


@dataclass(frozen=True, eq=False, slots=True)
class Dependence:
    """Partial dependence of a model on one column.

    Attributes
    ----------
    column : str
        The column.
    numbers : ndarray of float64 or None
        Values that the column was set to, rising; None for categories.
    levels : list of str
        Categories that it was set to, the most frequent first; "missing" is one of them.
    answers : ndarray of float64
        Mean prediction over the rows for each of them.
    missing : float or None
        Mean prediction where a number is missing; None if none is missing.
    """

    column: str
    numbers: NDArray[np.float64] | None
    levels: list[str]
    answers: NDArray[np.float64]
    missing: float | None


@dataclass(frozen=True, eq=False, slots=True)
class Effects:
    """Effects of the columns in a model.

    Attributes
    ----------
    importances : list of Importance
        Importances, the greatest loss first.
    dependences : list of Dependence
        Dependences on the first columns among them that matter.
    n_rows : int
        Number of rows that the losses were measured on.
    n_left_out : int
        Number of columns not shuffled, since there were too many.
    of_probability : bool
        Whether the predictions are probabilities; otherwise scores.
    """

    importances: list[Importance]
    dependences: list[Dependence]
    n_rows: int
    n_left_out: int
    of_probability: bool


def measure_effects(subject: Subject, target: Target, seed: int) -> Effects | None:
    """Shuffle columns, and set them to one value for all rows; None without the model.

    The rows are a random sample, with equal numbers of both classes as far as possible: the AUC
    does not depend on the class shares, and is most precise so.
    """
    model = subject.model
    if model is None:
        return None
    rng = np.random.default_rng(seed)
    drawn = _of_both_classes(target, _ROWS_OF_CLASS, rng)
    own = _own_importances(model)
    shuffled = _columns_to_shuffle(subject, model, target, own, rng)
    importances = {
        index: _importance(subject, model, target, drawn, index, own, rng) for index in shuffled
    }
    order = sorted(
        shuffled, key=lambda index: (-importances[index].loss, -(importances[index].own or 0.0))
    )
    # A column of noise loses and gains by chance.
    mattering = [i for i in order if importances[i].loss > _SPREADS * importances[i].spread]
    of_probability = subject.probability is not None
    n_rows = model.rows.n_rows
    some = UserRows(model.rows.take(rng.choice(n_rows, min(n_rows, _N_LOOKED_AT), replace=False)))
    return Effects(
        importances=[importances[index] for index in order],
        dependences=[
            found
            for index in mattering[:_N_SHOWN]
            if len(
                (found := _dependence(model, index, some, of_probability=of_probability)).answers
            )
        ],
        n_rows=len(drawn),
        n_left_out=model.rows.n_columns - len(shuffled),
        of_probability=of_probability,
    )


def _of_both_classes(target: Target, most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw at most a given number of rows of each class."""
    classes = np.flatnonzero(target.positive), np.flatnonzero(~target.positive)
    return np.sort(
        np.concatenate([rng.choice(rows, min(len(rows), most), replace=False) for rows in classes])
    )


def _columns_to_shuffle(
    subject: Subject,
    model: FittedModel,
    target: Target,
    own: NDArray[np.float64] | None,
    rng: np.random.Generator,
) -> list[int]:
    """Return the most important columns: by the model itself, otherwise on a few rows."""
    columns = list(range(model.rows.n_columns))
    if len(columns) <= _MOST_COLUMNS:
        return columns
    if own is not None:
        worth = own
    else:
        few = _of_both_classes(target, _FEW_OF_CLASS, rng)
        worth = np.array(
            [_losses(subject, model, target, few, index, 1, rng)[0] for index in columns]
        )
    return sorted(columns, key=lambda index: -worth[index])[:_MOST_COLUMNS]


def _own_importances(model: FittedModel) -> NDArray[np.float64] | None:
    """Return the model's own importances, if they are of these columns."""
    own = getattr(model.estimator, "feature_importances_", None)
    if own is None:
        return None
    values = np.asarray(own, dtype=np.float64)
    return values if values.shape == (model.rows.n_columns,) else None


def _importance(
    subject: Subject,
    model: FittedModel,
    target: Target,
    drawn: NDArray[np.intp],
    index: int,
    own: NDArray[np.float64] | None,
    rng: np.random.Generator,
) -> Importance:
    losses = _losses(subject, model, target, drawn, index, _N_SHUFFLES, rng)
    return Importance(
        model.rows.names[index],
        None if own is None else float(own[index]),
        float(np.mean(losses)),
        float(np.std(losses, ddof=1)),
    )


def _losses(
    subject: Subject,
    model: FittedModel,
    target: Target,
    drawn: NDArray[np.intp],
    index: int,
    n_shuffles: int,
    rng: np.random.Generator,
) -> list[float]:
    """Return the fall of the AUC of some rows for each shuffle of a column."""
    y = target.positive[drawn]
    weight = None if target.weight is None else target.weight[drawn]
    before = roc_auc_score(y, subject.scores[drawn], sample_weight=weight)
    donors = np.concatenate([rng.permutation(drawn) for _ in range(n_shuffles)])
    changed = model.rows.exchanged(np.tile(drawn, n_shuffles), index, donors)
    scores = known_scores(model.estimator, changed).reshape(n_shuffles, len(drawn))
    return [before - roc_auc_score(y, after, sample_weight=weight) for after in scores]


def _dependence(
    model: FittedModel, index: int, rows: UserRows, *, of_probability: bool
) -> Dependence:
    """Set a column of the first rows, which are in random order, to some of its values."""
    column = rows.column(index)
    listed, levels = _values_to_set(column)
    donors = np.array(listed, dtype=np.intp)
    averaged = np.arange(min(rows.n_rows, _N_ROWS))
    if not listed:
        return Dependence(column.name, None, [], np.zeros(0), None)
    changed = rows.exchanged(
        np.tile(averaged, len(donors)), index, np.repeat(donors, len(averaged))
    )
    answer = probabilities if of_probability else known_scores
    answers = answer(model.estimator, changed).reshape(len(donors), len(averaged)).mean(axis=1)
    if column.numbers is None:
        return Dependence(column.name, None, levels, answers, None)
    values = column.numbers[donors]
    known = ~np.isnan(values)
    return Dependence(
        column.name,
        values[known],
        [],
        answers[known],
        None if known.all() else float(answers[~known][0]),
    )


def _values_to_set(column: UserColumn) -> tuple[list[int], list[str]]:
    """Return rows that have the values to set a column to, and the names of categories."""
    if column.numbers is not None:
        known = np.flatnonzero(~np.isnan(column.numbers))
        order = known[np.argsort(column.numbers[known], kind="stable")]
        # From the 2nd to the 98th percentile: values beyond are those of single rows.
        places = np.linspace(0.02, 0.98, _N_VALUES) * (len(order) - 1)
        rows = order[places.round().astype(np.intp)] if len(order) else order
        _, first = np.unique(column.numbers[rows], return_index=True)
        donors = rows[first].tolist()
        levels = []
    elif column.codes is not None:
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
        codes = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
        donors = [int(np.argmax(column.codes == code)) for code in codes]
        levels = [str(column.levels[code]) for code in codes]
    else:
        # Dates and the like have no small set of values to choose from.
        return [], []
    if column.n_missing:
        missing = np.isnan(column.numbers) if column.numbers is not None else column.codes == -1
        donors.append(int(np.argmax(missing)))
        levels.append("missing")
    return donors, levels

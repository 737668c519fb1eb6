"""Model files on the command line, and the rows of a data file in the form of a model."""

import ast
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._base.batch_scores import fitted_of
from aucrank._base.persistence import read_model
from aucrank._base.registry import TRANSFORMERS, public_estimators
from aucrank._base.scoring import score_rows
from aucrank._data.csv_form import CsvOptions
from aucrank._data.reading import Fitted, Reading
from aucrank._data.schema import Feature
from aucrank._utils.words import did_you_mean
from aucrank.cli._data import (
    WholeFile,
    as_categories,
    read_file,
    text_of,
)
from aucrank.cli._errors import DataError, UsageError, content_of, plain_errors
from aucrank.cli._garbage import uncollected
from aucrank.cli._target import check_two, pick_class, rest, value_counts


def build_estimator(
    name: str,
    params: Sequence[str] = (),
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> Any:
    """Make the estimator `name` with its ``KEY=VALUE`` parameters."""
    estimators = public_estimators()
    if name not in estimators:
        raise UsageError(f"there is no model {name!r}{did_you_mean(name, estimators)}")
    estimator = estimators[name]()
    known = estimator.get_params(deep=False)
    # Parameters that the estimator lacks, it does not need: it is deterministic, or runs in one
    # thread.
    given = {"random_state": random_state, "n_jobs": n_jobs}
    values = {key: value for key, value in given.items() if value is not None and key in known}
    for param in params:
        key, equals, text = param.partition("=")
        if not equals:
            raise UsageError(f"--param {param}: write it as KEY=VALUE")
        if key.partition("__")[0] not in known:
            raise UsageError(f"{name} has no parameter {key!r}{did_you_mean(key, known)}")
        values[key] = _value(text)
    try:
        return estimator.set_params(**values)
    except (ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"{name}: {error}") from error


def _value(text: str) -> Any:
    """Parse a number, a list, None, True or False, or else return the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        # The latter two if it is nested too deeply, such as a text of dashes.
        return {"none": None, "null": None, "true": True, "false": False}.get(text.lower(), text)


@dataclass(frozen=True)
class SavedModel:
    """A model, and the facts in its file."""

    path: str
    estimator: Any
    library_version: str | None
    n_bytes: int

    @property
    def class_name(self) -> str:
        """Name of the estimator's class."""
        return type(self.estimator).__name__

    @property
    def is_ranker(self) -> bool:
        """Whether it scores rows; a transformer does not."""
        return self.class_name not in TRANSFORMERS

    @property
    def features(self) -> Sequence[Feature]:
        """The columns that the model was fitted to, in order."""
        features: Sequence[Feature] = self.estimator._schema.features
        return features

    @property
    def fitted(self) -> Fitted:
        """What the model knows of the files of its fit."""
        return fitted_of(self.estimator)

    @property
    def one_against_rest(self) -> bool:
        """Whether its labels are those of ``--positive`` for a target with many values."""
        negative, positive = map(str, self.estimator.classes_)
        return negative == rest(positive)

    @property
    def positive(self) -> str:
        """Text of the value that the model ranks first."""
        return text_of(self.estimator.classes_[1])

    @property
    def negative(self) -> str:
        """Text of the value that the model ranks last."""
        return text_of(self.estimator.classes_[0])


def load_model(path: str) -> SavedModel:
    """Load a model file, or raise an error that says what is wrong with it."""
    content = content_of(path)
    try:
        # The modules of its class are imported, too.
        with uncollected():
            estimator = read_model(content, path)
    except ValueError as error:  # a ModelFormatError, whose message names the file
        raise DataError(str(error)) from error
    return SavedModel(path, estimator, _library_version(content), len(content))


def _library_version(content: bytes) -> str | None:
    """Return the version that wrote the file; a model is valid without it, too."""
    try:
        version = json.loads(content).get("library_version")
    except (ValueError, RecursionError):
        # Python is stricter with parts of the file that no model uses.
        return None
    return version if isinstance(version, str) else None


def load_ranker(path: str) -> SavedModel:
    """Load the file of a model that scores rows."""
    model = load_model(path)
    if not model.is_ranker:
        raise DataError(
            f"{path} holds a {model.class_name}, which transforms features and ranks no rows: in"
            f" Python, aucrank.load({path!r}).transform(X) gives what it makes of them"
        )
    return model


def target_of(model: SavedModel, given: str | None) -> str:
    """Return the given column of classes, or else that of the model's fit."""
    reading = model.fitted.reading
    known = given if given is not None or reading is None else reading.target
    if known is None:
        raise UsageError(
            f"{model.path} does not say which column holds the classes, as models of `aucrank fit`"
            " do: name it with --target"
        )
    return known


def save_model(estimator: Any, path: Path) -> int:
    """Save a fitted estimator; return the size of its file in bytes."""
    with plain_errors(f"cannot save {path}"):
        estimator.save(path)
        return path.stat().st_size


def read_for(
    model: SavedModel,
    path: str,
    options: CsvOptions,
    text: Sequence[str] = (),
    written: Sequence[str] = (),
) -> tuple[nw.DataFrame[Any], Reading]:
    """Read a data file whose columns the model scores; other columns are kept, too.

    Those in `text` are text even if they look like numbers; those in `written` are also returned
    as the file has them.
    """
    text = [*text_columns(model), *text]
    return read_file(path, text=text, options=options, fitted=model.fitted, written=written)


def text_columns(model: SavedModel) -> list[str]:
    """Names of the features whose categories are text."""
    return [
        feature.name
        for feature in model.features
        if feature.name is not None
        and feature.levels is not None
        and all(isinstance(level, str) for level in feature.levels)
    ]


def features_for(model: SavedModel, frame: nw.DataFrame[Any], path: str) -> Any:
    """Select the model's features from `frame`, in its order and in the form that it accepts."""
    names = check_columns(model, frame.columns, path)
    if names is None:
        return frame.to_numpy()
    picked = frame.select(names)
    check_numbers(model, picked, path)
    return as_categories(picked, text_columns(model)).to_native()


def check_columns(model: SavedModel, columns: Sequence[str], path: str) -> list[str] | None:
    """Return the names of the model's features after checking them; None if they have none."""
    names = [feature.name for feature in model.features if feature.name is not None]
    if len(names) < len(model.features):
        if len(columns) != len(model.features):
            raise DataError(
                f"{model.path} was fitted without column names on {len(model.features)} columns, "
                f"and {path} has {len(columns)}"
            )
        return None
    there = set(columns)
    absent = [name for name in names if name not in there]
    if absent:
        more = f" and {len(absent) - 1} more that the model needs" if len(absent) > 1 else ""
        raise DataError(
            f"{path} has no column {absent[0]!r}{more}{did_you_mean(absent[0], columns)}"
        )
    return names


def check_numbers(model: SavedModel, frame: nw.DataFrame[Any], path: str) -> None:
    """Raise if a column that is numeric in the model holds text."""
    there = set(frame.columns)
    for feature in model.features:
        if feature.name not in there or feature.levels is not None:
            continue
        column = frame[feature.name]
        if column.dtype in (nw.String, nw.Categorical, nw.Enum):
            text = _a_text(column)
            example = f" (such as {text!r})" if text else ""
            raise DataError(
                f"column {column.name!r} of {path} holds text{example}; the model learned it as "
                "numbers"
            )


def _a_text(column: nw.Series[Any]) -> str:
    """Return the first value of the column that is not a number."""
    for value in column.drop_nulls().to_list():
        try:
            float(value)
        except ValueError:
            return str(value)
    return ""


def scores_of(model: SavedModel, X: Any, path: str) -> NDArray[np.float64]:
    """Score the rows; higher means more likely positive."""
    with plain_errors(f"cannot score {path}"):
        return score_rows(model.estimator, X)


def positive_rows(
    model: SavedModel, frame: nw.DataFrame[Any], target: str, positive: str | None, path: str
) -> NDArray[np.bool_]:
    """Return which rows are positive: by the given value, else by the classes of the model."""
    values = list(value_counts(WholeFile(frame, Reading()), target, path))
    value = positive_value(model, values, target, positive, path)
    rows: NDArray[np.bool_] = (frame[target] == value).to_numpy()
    return rows


def positive_value(
    model: SavedModel, values: Sequence[Any], target: str, positive: str | None, path: str
) -> Any:
    """Return which value of the target is positive: the given one, else that of the model."""
    if positive is None:
        texts = [text_of(value) for value in values]
        known = model.one_against_rest or set(texts) == {model.positive, model.negative}
        if not known or model.positive not in texts:
            check_two(target, values, path)
            raise DataError(
                f"target column {target!r} of {path} has the values {' and '.join(texts)}, "
                f"and the model ranks {model.positive} above {model.negative}: say which value is "
                "positive with --positive"
            )
        positive = model.positive
    return pick_class(positive, values, target)

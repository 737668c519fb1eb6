"""Stages of ``pyspark.ml`` pipelines: an estimator that fits a ranker, and the model that scores.

Needs ``pip install 'aucrank[spark]'`` and Java, and aucrank on the workers, too::

    stage = RankerEstimator(TreeRank(), target="bad", drop=["id"], probability="risk")
    scored = Pipeline(stages=[stage]).fit(frame).transform(frame)
    BinaryClassificationEvaluator(rawPredictionCol="score", labelCol="bad").evaluate(scored)
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from aucrank._utils.extras import import_extra
from aucrank.data import Dataset
from aucrank.data._holder import SCORE
from aucrank.data._spark import quoted

__all__ = ["RankerEstimator", "RankerModel"]

if TYPE_CHECKING:
    # What is used of these classes: pyspark need not be installed to check the types.
    class _Stage:
        def __init__(self) -> None: ...

    class _FittedStage:
        def __init__(self) -> None: ...

else:
    try:
        from pyspark.ml import Estimator as _Stage
        from pyspark.ml import Model as _FittedStage
    except ImportError:
        # The module can be looked at; its classes say what to install.
        _Stage = _FittedStage = object


class RankerEstimator(_Stage):
    """Fits a ranker to the rows of a Spark frame, as a stage of a ``pyspark.ml.Pipeline``.

    The rows stay on the workers, or come to this process if they are few, as for
    `Dataset.from_spark`.

    Parameters
    ----------
    ranker : estimator
        Any ranker of this package that is fitted to a `Dataset`; it is cloned.
    target : str
        Column of labels.
    positive : object, default=None
        Label of the class to be ranked first; None for the greater one.
    weight : str, default=None
        Column of weights of rows.
    groups : str, default=None
        Column that names the group of each row, such as a patient.
    time : str, default=None
        Column of the times of rows.
    columns : sequence of str, default=None
        Columns to learn from; None for all others.
    drop : sequence of str, default=()
        Other columns that are not learned from, for when ``columns`` is None: also those that
        earlier stages have added and the ranker is not to see.
    score : str, default="score"
        Name of the column of scores that the model adds.
    probability : str, default=None
        Name of a column of probabilities of ``classes_[1]`` that the model adds; None for none.
    **options
        Further arguments of `Dataset.from_spark`, such as ``collect_below``.

    Notes
    -----
    ``BinaryClassificationEvaluator(rawPredictionCol="score")`` takes the scores as they are. To
    store a pipeline, save the fitted ranker, ``stage.ranker.save(path)``: the stages have no
    ``write`` of Spark.
    """

    def __init__(
        self,
        ranker: Any,
        *,
        target: str,
        positive: Any = None,
        weight: str | None = None,
        groups: str | None = None,
        time: str | None = None,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        score: str = SCORE,
        probability: str | None = None,
        **options: Any,
    ) -> None:
        import_extra("pyspark.ml", "spark", "aucrank.spark")
        super().__init__()
        self.ranker = ranker
        self._roles = {
            "target": target,
            "positive": positive,
            "weight": weight,
            "groups": groups,
            "time": time,
            "columns": columns,
            "drop": drop,
        }
        self._added = score, probability
        self._options = options

    def _fit(self, dataset: Any) -> "RankerModel":
        """Fit a clone of the ranker; ``fit`` of Spark calls it."""
        rows = Dataset.from_spark(dataset, **self._roles, **self._options)
        return RankerModel(clone(self.ranker).fit(rows), *self._added)


class RankerModel(_FittedStage):
    """Adds the scores of a fitted ranker to a Spark frame.

    Parameters
    ----------
    ranker : estimator
        Fitted to named columns, which are read by their names.
    score : str, default="score"
        Name of the column of scores.
    probability : str, default=None
        Name of the column of probabilities of ``classes_[1]``; None for none.

    Raises
    ------
    ValueError
        If the ranker has no names of columns, or no ``predict_proba`` that is needed.
    """

    def __init__(self, ranker: Any, score: str = SCORE, probability: str | None = None) -> None:
        import_extra("pyspark.ml", "spark", "aucrank.spark")
        super().__init__()
        name = type(ranker).__name__
        if not hasattr(ranker, "feature_names_in_"):
            raise ValueError(f"the {name} is not fitted to columns with names")
        if probability is not None and not hasattr(ranker, "predict_proba"):
            raise ValueError(f"this {name} has no predict_proba: leave probability out")
        self.ranker = ranker
        self._added = score, probability

    def _transform(self, dataset: Any) -> Any:
        """Return the frame with its new columns; ``transform`` of Spark calls it."""
        functions = import_extra("pyspark.sql.functions", "spark", "aucrank.spark")
        score, probability = self._added
        if taken := [name for name in self._added if name in dataset.columns]:
            raise ValueError(f"the Spark frame has a column {taken[0]!r} already: name another")
        features = self.ranker.feature_names_in_.tolist()
        # Under names that Spark's workers can handle.
        columns = functions.struct(
            *(functions.col(quoted(name)).alias(f"c{k}") for k, name in enumerate(features))
        )
        found = dataset.withColumn(score, _udf(functions, self.ranker, features)(columns))
        if probability is None:
            return found
        of_second = _udf(functions, self.ranker, features, is_probability=True)(columns)
        return found.withColumn(probability, of_second)


def _udf(functions: Any, ranker: Any, features: list[str], *, is_probability: bool = False) -> Any:
    """Return a function of Spark from a structure of columns to scores or to probabilities."""
    pyarrow = import_extra("pyarrow", "spark", "aucrank.spark")

    def computed(rows: Any) -> Any:
        X = pyarrow.Table.from_arrays(rows.flatten(), names=features)
        if not len(X):
            return pyarrow.array([], pyarrow.float64())
        found = ranker.predict_proba(X)[:, 1] if is_probability else ranker.decision_function(X)
        return pyarrow.array(found, pyarrow.float64())

    # By these Spark knows what it is to pass.
    computed.__annotations__ = {"rows": pyarrow.Array, "return": pyarrow.Array}
    return functions.arrow_udf(computed, "double")

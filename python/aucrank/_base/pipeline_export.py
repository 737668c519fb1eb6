"""Exports of a pipeline of scikit-learn whose last step is a ranker."""

from functools import cached_property
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from aucrank._base.exports import ExportMixin, FormulaExports
from aucrank._data.schema import Schema
from aucrank._export.formula import Formula
from aucrank._export.formula_json import document_of
from aucrank._export.links import Link, OwnFormula
from aucrank._export.pipeline.fold import folded
from aucrank._export.pipeline.plan import plan_of
from aucrank._export.pipeline.steps import data_columns, flat_steps


class PipelineExport(FormulaExports):
    """Exports of a fitted scikit-learn pipeline that ends with a ranker, over its raw columns.

    Imputation, scaling and encoding are folded into the formula of the ranker: a threshold of a
    scaled number becomes the threshold of the number itself, a one-hot column a set of categories.
    What is exported reads the columns that the pipeline was fitted to, and needs no step before it.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        A fitted pipeline whose last step is a ranker of aucrank. It is read once; a later fit does
        not change the export.

    Attributes
    ----------
    ranker_ : estimator
        The ranker.
    classes_ : ndarray of shape (2,)
        The two labels; the second is the class to rank first.

    Raises
    ------
    NotFittedError
        If the pipeline is not fitted.
    TypeError
        If it is not a `Pipeline`.
    ValueError
        If its last step is not a ranker of aucrank; if a step cannot be exported; or if a column is
        read both as text and as numbers.

    See Also
    --------
    aucrank.GradientBoostingRanker.to_sql : The exports of a ranker alone.

    Notes
    -----
    Steps may be ``SimpleImputer``, ``MissingIndicator``, ``StandardScaler``, ``MinMaxScaler``,
    ``MaxAbsScaler``, ``RobustScaler``, ``OneHotEncoder``, ``OrdinalEncoder``, ``TargetEncoder``,
    ``KBinsDiscretizer``, ``Binarizer``, ``FunctionTransformer`` without a function, selectors of
    columns (all that have ``get_support``), and ``Pipeline``, ``ColumnTransformer`` and
    ``FeatureUnion`` of these. A step that mixes columns, such as ``PCA``, cannot be folded.

    Scores equal those of ``pipeline.decision_function`` for columns of double precision to the last
    bit, wherever those of the ranker do: thresholds are found by bisection with the arithmetic of
    the scaler, and linear scores repeat that arithmetic. Columns of single precision, which
    scikit-learn scales in single precision, give other last digits.

    A column is one of categories if an encoder or the ranker saw text or booleans in it, and one of
    numbers otherwise. NULL, None and NaN are one missing value; it goes where the pipeline sends
    it, which may differ from where an unknown category goes: in the matrix of `to_treelite`, it
    then has the code after those of the categories, and NaN is an unknown one. Texts are compared
    exactly.

    An export raises no error for a row. Where scikit-learn does, the ranker gets a missing value
    (an unknown category of an ``OrdinalEncoder``, a missing number of a ``KBinsDiscretizer`` or a
    ``Binarizer``), or columns of zeros (an unknown category of a ``OneHotEncoder``); infinite
    numbers are below or above all others.

    A `Scorecard` gives its score, not its points.

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank import PipelineExport, RankBoost
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = [[1.0], [2.0], [np.nan], [4.0]], [0, 1, 0, 1]
    >>> pipeline = make_pipeline(SimpleImputer(), StandardScaler(), RankBoost(n_rounds=1))
    >>> print(PipelineExport(pipeline.fit(X, y)).to_sql())
    CASE
      WHEN "x0" IS NULL THEN 0
      WHEN "x0" < 3.166666666666667e0 THEN 0
      ELSE 0.549306144239381e0 END
    - 0.2746530721196905e0
    """

    def __init__(self, pipeline: Any) -> None:
        if not isinstance(pipeline, Pipeline):
            raise TypeError(f"pipeline must be a Pipeline, got a {type(pipeline).__name__}")
        *steps, (name, ranker) = flat_steps(pipeline)
        if not isinstance(ranker, ExportMixin):
            raise ValueError(
                f"the last step of the pipeline, {name!r}, is a {type(ranker).__name__}, and only"
                " rankers of aucrank are exported"
            )
        check_is_fitted(ranker)
        self.ranker_ = ranker
        self.classes_ = ranker.classes_
        try:
            schema = ranker._schema
        except AttributeError as error:
            # A `TwoSidedClassifier` of a ranker that is not of aucrank has none.
            raise ValueError(str(error)) from None
        self._plan = plan_of(steps, schema, *data_columns(pipeline))

    #: Categories may hold null, and linear terms operations: see the guide to production.
    _json_version = 2

    @property
    def _schema(self) -> Schema:
        return self._plan.schema

    @cached_property
    def _folded(self) -> Formula:
        return folded(self.ranker_._score_formula(), self._plan)

    def _check_exportable(self) -> None:
        """Do nothing: the pipeline was fitted when it was read."""

    def _exported_name(self) -> str:
        return f"pipeline with a {type(self.ranker_).__name__}"

    def _score_formula(self) -> Formula:
        return self._folded

    def _formula_and_document(self) -> tuple[Formula, dict[str, Any]]:
        return self._folded, document_of(self._folded)

    def _link(self) -> Link | None:
        link = self.ranker_._link()
        if isinstance(link, OwnFormula):
            return OwnFormula(folded(link.formula, self._plan))
        return link

    def _features_document(self) -> list[dict[str, Any]]:
        return [
            feature if place in self._plan.read else {"name": feature["name"], "kind": "unused"}
            for place, feature in enumerate(super()._features_document())
        ]

    def _columns_read(self) -> frozenset[int]:
        return self._plan.read

"""What every ranker is built on: scores and labels from a core model."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.batch_scores import scored_batches, write_scores
from aucrank._base.core_estimator import CoreEstimator
from aucrank._data.data_files import PathLike
from aucrank._data.labels import match_labels
from aucrank._data.scores import of_two_classes
from aucrank._export.code import code_of
from aucrank._export.formula import Formula, check_written, parse, read_formula
from aucrank._export.links import Link, probability_of
from aucrank._export.onnx import pipeline_step
from aucrank._export.onnx.columns import Inputs
from aucrank._export.onnx.model import Model, write_model
from aucrank._export.pmml.document import check_names
from aucrank._export.pmml.formula import write_formula
from aucrank._export.sql_layers import sql_of
from aucrank._export.treelite import treelite_model
from aucrank._page.model import model_page
from aucrank._utils.dialects import Dialect
from aucrank._utils.extras import import_extra
from aucrank._utils.params import check_bool, check_choice
from aucrank.data import Dataset


class AucScoreMixin:
    """For classifiers that score rows: what they are judged by is the AUC; stands first."""

    classes_: NDArray[Any]

    if TYPE_CHECKING:

        def decision_function(self, X: Any) -> NDArray[np.float64]:
            """Score rows."""

    def decision_function_batches(self, dataset: Dataset) -> Iterator[NDArray[np.float64]]:
        """Score the rows of a data set, a piece at a time.

        Parameters
        ----------
        dataset : Dataset
            Rows of any number. Of the columns that it can read, those seen in fit are read, by
            name; where the fit saw no names, the columns of the data set.

        Returns
        -------
        iterator of ndarray of float64
            What `decision_function` gives for some rows after others, in order.

        Raises
        ------
        DataChangedError
            If the data change while they are read.
        NotFittedError
            If there is no model yet.
        TypeError
            If ``dataset`` is no `Dataset`.
        ValueError
            If a column is not there, or rows are not valid, which is said with their place.

        Examples
        --------
        >>> from aucrank import TreeRank
        >>> from aucrank.data import Dataset
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = TreeRank(random_state=0).fit(X, y)
        >>> dataset = Dataset.from_batches(X, chunk_rows=200)
        >>> [len(scores) for scores in model.decision_function_batches(dataset)]
        [200, 200, 169]
        """
        check_is_fitted(self)
        return (scores for _, _, scores in scored_batches(self, dataset))

    def write_scores(
        self,
        dataset: Dataset,
        path: PathLike,
        *,
        columns: Sequence[str] | None = None,
        proba: bool = False,
    ) -> int:
        """Score the rows of a data set, and write the scores to a file, a piece at a time.

        The file appears whole or not at all. It has the columns that are named, in this order, and
        ``score``.

        Parameters
        ----------
        dataset : Dataset
            Rows of any number, as for `decision_function_batches`.
        path : path-like
            Where to write; the name ends in .parquet, .pq, .csv or .csv.gz.
        columns : sequence of str, default=None
            Columns of the data set to write before the scores, such as one that names the rows.
        proba : bool, default=False
            Whether to add ``probability``, that of ``classes_[1]`` as `predict_proba` has it.

        Returns
        -------
        int
            Number of rows.

        Raises
        ------
        DataChangedError
            If the data change while they are read.
        ImportError
            If pyarrow is not installed.
        NotFittedError
            If there is no model yet.
        OSError
            If the file cannot be written, such as on a full disk.
        TypeError
            If ``dataset`` is no `Dataset`.
        ValueError
            If a column is not there, rows are not valid, or the name of the file does not say how
            to write it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from aucrank import TreeRank
        >>> from aucrank.data import Dataset
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = TreeRank(random_state=0).fit(X, y)
        >>> with TemporaryDirectory() as folder:
        ...     model.write_scores(Dataset.from_batches(X), f"{folder}/scores.parquet")
        569
        """
        check_is_fitted(self)
        check_bool(proba, "proba")
        if proba and not hasattr(self, "predict_proba"):
            raise ValueError(f"this {type(self).__name__} has no predict_proba: leave proba out")
        return write_scores(self, dataset, path, columns or (), proba=proba)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the area under the ROC curve on the given rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.
        y : array-like of shape (n,)
            Their labels; both classes must occur.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row.

        Returns
        -------
        float
            AUC, from 0 to 1; ties count one half.
        """
        scores = self.decision_function(X)
        positive = match_labels(y, self.classes_)
        return of_two_classes(_core.roc_auc, positive, scores, sample_weight)


class BaseRanker(AucScoreMixin, ClassifierMixin, CoreEstimator):
    """Base of all rankers: two classes in, a score out.

    A subclass writes what `CoreEstimator` asks for, around a model that scores.
    """

    _model: _core.Model

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score rows: the higher, the more likely positive.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit. A category that was not seen there is missing.

        Returns
        -------
        ndarray of float64, shape (n,)
            Scores; `predict` calls those above 0 positive.
        """
        scores: NDArray[np.float64] = self._query("score", X)
        return scores

    def _link(self) -> Link | None:
        """Return what brings scores to `predict_proba`, where a function of the score does."""
        return None

    def predict(self, X: Any) -> NDArray[Any]:
        """Label rows by the sign of their score.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of shape (n,)
            ``classes_[1]`` where `decision_function` is above 0, ``classes_[0]`` elsewhere.
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def _output_formula(self, output: str, form: str) -> Formula:
        """Return what an export computes: the score, or the probability."""
        check_is_fitted(self)
        check_choice(output, "output", ("score", "probability"))
        name = type(self).__name__
        score = read_formula(self._model.formula(), name, form)
        return score if output == "score" else probability_of(score, self._link(), name)

    def to_sql(
        self, dialect: Dialect = "ansi", *, output: Literal["score", "probability"] = "score"
    ) -> str:
        """Return a SQL expression that scores a row as `decision_function` does.

        Parameters
        ----------
        dialect : str, default="ansi"
            How names, strings and numbers are written: "ansi", which Oracle takes, too, "sqlite",
            "duckdb", "postgres", "mysql", also for MariaDB, "bigquery", "snowflake", "spark" or
            "tsql". Categories are compared as the database compares strings: one whose collation
            ignores case or accents takes those that differ only so for one.
        output : {"score", "probability"}, default="score"
            What is computed: what `decision_function` gives, or the probability of ``classes_[1]``
            that `predict_proba` does, up to the rounding of ``EXP`` where scores are log-odds.

        Returns
        -------
        str
            An expression over the columns of the fit (``x0``, ``x1``, ... where they had no
            names), without a trailing semicolon. NULL is a missing value; a category that was not
            seen in fit counts as missing. NaN is not NULL to a database: store it as NULL. Of
            branching programs it holds nested queries, which MariaDB, Oracle and
            Spark do not take; so it does of models of more than 500 branches in the dialects
            "ansi", "sqlite", "duckdb" and "postgres".

        Raises
        ------
        NotFittedError
            If there is no model yet.
        ValueError
            If a part of the model has no form in SQL, such as a split by a classifier of your own,
            or a calibration curve where probabilities are written;
            if the dialect is unknown, or has no way to write a name or a category, such as an empty
            name or NUL.

        Notes
        -----
        Terms are added in the order in which the model adds them, and most sums are exact, so that
        a database that computes in double precision, as sqlite and duckdb do, gives the very
        doubles of `decision_function`. Beyond 500 branches the expression is a query of steps over
        codes of the columns, of 2.6 MB for a default `GradientBoostingRanker`; a warning says when
        it takes more than 20 MB. A linear score needs columns of a floating type: what
        databases make of weights times decimals differs.

        Examples
        --------
        >>> from aucrank import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> print(RankBoost(n_rounds=1).fit(X, y).to_sql())
        CASE
          WHEN "x0" IS NULL THEN 0.2746530722361058e0
          WHEN "x0" < 3.5 THEN 0
          ELSE 0.549306144239381e0 END
        - 0.2746530721196905e0
        """
        formula = self._output_formula(output, "SQL")
        return sql_of(formula, type(self).__name__, self._schema, dialect)

    def to_pmml(self, *, model_name: str = "ranker", timestamp: datetime | None = None) -> str:
        """Return the score as a PMML 4.4 document.

        PMML is the form in which decision engines take models. The document holds a
        ``RegressionModel`` whose predictors are fields derived from the columns: one for each term
        of the score.

        Parameters
        ----------
        model_name : str, default="ranker"
            Name of the model in the document.
        timestamp : datetime, default=None
            When the document is said to be written. None leaves it out, so that equal models make
            equal documents.

        Returns
        -------
        str
            An XML document. Its output is ``score``, that of `decision_function` but for the
            rounding of sums, and in branching programs of masses (1e-8).

        Raises
        ------
        NotFittedError
            If there is no model yet.
        TypeError
            If ``model_name`` is no string, or ``timestamp`` no datetime.
        ValueError
            If a part of the model has no form in PMML, such as a split by a classifier of your
            own; if a name is empty, or a name or a category holds a character that XML cannot (a
            control character).

        Notes
        -----
        Numbers are continuous fields of type double, and missing where the engine has no value.
        Categories are listed, and any other value is treated as missing: booleans have the type
        boolean, whole numbers integer, other numbers double, all else string.

        Examples
        --------
        >>> from aucrank import RankOpt
        >>> text = RankOpt(radii=[1.0]).fit([[0.0], [2.0]], [0, 1]).to_pmml()
        >>> print(text[text.index("<RegressionTable"):text.index("</RegressionTable>")].rstrip())
        <RegressionTable intercept="-1.0">
              <NumericPredictor name="term_1" coefficient="1" />
        """
        check_is_fitted(self)
        check_names(model_name, timestamp)
        return write_formula(
            read_formula(self._model.formula(), type(self).__name__, "PMML"),
            self._schema,
            model_name=model_name,
            version=_core.__version__,
            timestamp=None if timestamp is None else timestamp.isoformat(),
        )

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the score as data, for systems that read none of the other forms.

        `save` is for `aucrank.load`; this is for all others, and holds what is needed to score a
        row, and no more.

        Parameters
        ----------
        indent : int or None, default=None
            Spaces by which each level is moved in; None puts all on one line.

        Returns
        -------
        str
            Strict JSON, without NaN or Infinity; see Notes.

        Raises
        ------
        NotFittedError
            If there is no model yet.
        ValueError
            If a part of the model cannot be written down, such as a split by a classifier of your
            own.

        Notes
        -----
        The document is an object with

        - ``format`` ("aucrank-formula") and ``version`` (1): a reader should refuse a version that
          it does not know;
        - ``classes``: the two labels, the positive one last;
        - ``features``: for each column of the fit its ``name``, its ``kind`` ("numeric" or
          "categorical") and its ``levels``: the code of a category is its place there, from 0, and
          what is not there counts as missing;
        - ``score``: the formula, an object whose one key says the operation. The guide to
          :doc:`production </production>` lists them.

        Examples
        --------
        >>> from aucrank import RankOpt
        >>> print(RankOpt(radii=[1.0]).fit([[0.0], [2.0]], [0, 1]).to_json())
        {"format": "aucrank-formula", "version": 1, "classes": [0, 1], ...
        """
        check_is_fitted(self)
        score = json.loads(self._model.formula())
        check_written(parse(score), type(self).__name__, "JSON")
        document = {
            "format": "aucrank-formula",
            "version": 1,
            "classes": self.classes_.tolist(),
            "features": self._schema.to_json(),
            "score": score,
        }
        return json.dumps(document, indent=indent, allow_nan=False)

    def to_onnx(self, *, inputs: Literal["auto", "columns", "matrix"] = "auto") -> Any:
        """Return the model as an ONNX document, which onnxruntime scores rows by.

        Parameters
        ----------
        inputs : {"auto", "columns", "matrix"}, default="auto"
            "columns": one input of shape (n, 1) for each column of the fit, by name (``x0``,
            ``x1``, ... where they had none): of text for categories that are text, else of doubles.
            "matrix": one input ``X`` of doubles of shape (n, n_features). "auto": "columns" where
            the fit has seen names, else "matrix".

        Returns
        -------
        onnx.ModelProto
            Outputs ``score`` of shape (n,), `decision_function`; ``label`` of shape (n,),
            `predict`; and ``probabilities`` of shape (n, 2), `predict_proba`, where there are any.
            All numbers are of double precision. Its ``SerializeToString()`` is what a file holds.

        Raises
        ------
        ImportError
            If onnx is not installed.
        NotFittedError
            If there is no model yet.
        ValueError
            If a part of the model has no form in ONNX, such as a split by a classifier of your own;
            a column has an empty name, or categories of text and of numbers; or text would have to
            be in a matrix.

        See Also
        --------
        onnx_converter : A pipeline of scikit-learn as one document, by skl2onnx.

        Notes
        -----
        What is missing is NaN in a column of numbers. Any text that was not seen in fit counts as
        missing, so that an empty one serves. Categories that are numbers or truth values are
        doubles.

        Trees are operators ``TreeEnsemble`` of ai.onnx.ml 5, which onnxruntime has since version
        1.20. Scores are those of `decision_function` to the last bit; those of a `RankingEnsemble`
        differ by the rounding of sums.

        Examples
        --------
        >>> from aucrank import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> model = RankBoost(n_rounds=1).fit(X, y).to_onnx()
        >>> [output.name for output in model.graph.output]
        ['score', 'label']

        With onnxruntime installed, ``InferenceSession(model.SerializeToString())`` reads it.
        """
        check_is_fitted(self)
        check_choice(inputs, "inputs", ("auto", "columns", "matrix"))
        onnx = import_extra("onnx", "onnx", f"{type(self).__name__}.to_onnx")
        as_matrix = inputs == "matrix" or (inputs == "auto" and self._schema.names is None)
        model = self._onnx_model()
        columns = Inputs(onnx, self._schema, as_matrix=as_matrix)
        return write_model(onnx, model, columns, version=_core.__version__)

    def _onnx_model(self) -> Model:
        """Return what ONNX documents are written from."""
        check_is_fitted(self)
        formula = read_formula(self._model.formula(), type(self).__name__, "ONNX")
        return Model(formula, self._schema, self.classes_, self._link())

    def onnx_parser(self) -> Callable[..., list[Any]]:
        """Tell skl2onnx what a ranker answers in a pipeline.

        Returns
        -------
        callable
            Declares the outputs ``label``, ``probabilities`` where there are any, and ``score``.

        See Also
        --------
        onnx_converter : What converts the ranker, with an example.

        Examples
        --------
        >>> from aucrank import RankBoost
        >>> callable(RankBoost().onnx_parser())
        True
        """

        def parser(scope: Any = None, inputs: Any = None) -> list[Any]:
            return pipeline_step.declare_outputs(self, scope)

        return parser

    def onnx_shape_calculator(self) -> Callable[[Any], None]:
        """Tell skl2onnx of what shapes and types the answers of a ranker are.

        Returns
        -------
        callable
            Sets them: labels of shape (n,) and of the type of ``classes_``, probabilities of shape
            (n, 2), scores of shape (n, 1).

        See Also
        --------
        onnx_converter : What converts the ranker, with an example.

        Examples
        --------
        >>> from aucrank import RankBoost
        >>> callable(RankBoost().onnx_shape_calculator())
        True
        """
        return pipeline_step.set_shapes

    def onnx_converter(self) -> Callable[[Any, Any, Any], None]:
        """Tell skl2onnx how to convert a ranker.

        With it ``skl2onnx.to_onnx`` takes pipelines of scikit-learn that end with a ranker, without
        a call to register anything.

        Returns
        -------
        callable
            Adds the operators of the ranker, of ai.onnx.ml 3 and of any opset from 15 on.

        See Also
        --------
        to_onnx : The ranker alone, without skl2onnx.

        Notes
        -----
        The document answers ``label``, as `predict`; ``probabilities`` of shape (n, 2) where the
        ranker has `predict_proba`, without a ZipMap; and ``score`` of shape (n, 1),
        `decision_function`. They are of double precision, whatever comes in. Scores are those
        of the pipeline within 1e-12 where the steps before the ranker hand over doubles: let
        skl2onnx see columns of doubles.

        In ai.onnx.ml 3, the latest version that skl2onnx knows, trees answer in single
        precision. Here they answer the number of a leaf, and a table of doubles has its value. One
        number for each row and tree is in memory at a time.

        Examples
        --------
        >>> from aucrank import RankBoost
        >>> from skl2onnx import to_onnx
        >>> from sklearn.impute import SimpleImputer
        >>> from sklearn.pipeline import make_pipeline
        >>> X, y = np.array([[1.0], [np.nan], [3.0], [4.0]]), [0, 1, 0, 1]
        >>> model = make_pipeline(SimpleImputer(), RankBoost(n_rounds=1)).fit(X, y)
        >>> [output.name for output in to_onnx(model, X[:1]).graph.output]
        ['label', 'score']
        """
        return pipeline_step.convert

    def to_html(self) -> str:
        """Return what the model is as a page to read, print or keep beside the model.

        Returns
        -------
        str
            An HTML document that asks for no other file and nothing from a network: what the
            model does, its columns with their importances, what it consists of (such as strata,
            rules, terms and weights), and its parameters. Equal models make equal documents.

        Raises
        ------
        ImportError
            If jinja2 is not installed.
        NotFittedError
            If there is no model yet.

        See Also
        --------
        aucrank.report : A page on how well models rank rows.

        Examples
        --------
        >>> from aucrank import TreeRank
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> page = TreeRank(random_state=0).fit(X, y).to_html()
        >>> page[:15]
        '<!DOCTYPE html>'
        """
        check_is_fitted(self)
        return model_page(self)

    def to_treelite(self) -> Any:
        """Return the score as a model of Treelite, which other engines for trees read.

        Returns
        -------
        treelite.Model
            Whose output is `decision_function`, up to the rounding of sums. It takes a matrix of
            the columns of the fit in their order: numbers, and categories as codes, the positions
            of their values among those seen in fit, sorted; NaN where a value is missing. A code
            that no category has counts as missing. ``serialize(path)`` writes it.

        Raises
        ------
        ImportError
            If treelite is not installed.
        NotFittedError
            If there is no model yet.
        ValueError
            If the score is no sum of trees and step functions, as that of `RIMARC`, `LinearRanker`,
            `MartiRank` or a forest of medians; if its trees ask for pairs of categories; or if it
            would have more than ten million nodes.

        Examples
        --------
        >>> from aucrank import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> model = RankBoost(n_rounds=1).fit(X, y).to_treelite()
        >>> model.num_tree, model.num_feature
        (1, 1)
        """
        check_is_fitted(self)
        name = type(self).__name__
        treelite = import_extra("treelite", "treelite", f"{name}.to_treelite")
        formula = read_formula(self._model.formula(), name, "Treelite")
        return treelite_model(treelite, formula, self._schema, name)

    def to_code(
        self,
        language: Literal["c", "python", "javascript", "java"],
        *,
        output: Literal["score", "probability"] = "score",
    ) -> str:
        """Return the source of a function that scores a row as `decision_function` does.

        Parameters
        ----------
        language : {"c", "python", "javascript", "java"}
            What it is written in. The code needs nothing but the standard library.
        output : {"score", "probability"}, default="score"
            What the function returns: what `decision_function` gives, or the probability of
            ``classes_[1]`` that `predict_proba` does.

        Returns
        -------
        str
            A function ``score``, and tables that it reads. A row has the columns of the fit in
            their order, which comments list: numbers, and categories as they were in the fit.
            None, null and NaN are missing, and so is a category that was not seen in fit.

            - Python and JavaScript: ``score(row)``, of a list or an array.
            - Java: ``Ranker.score(Object[] row)``.
            - C: ``score(numbers, texts)``, of two arrays with a place for each column: categories
              that are text are in the second one, and ``NULL`` where they are missing.

        Raises
        ------
        NotFittedError
            If there is no model yet.
        ValueError
            If a part of the model cannot be written down, such as a split by a classifier of your
            own; if the language is unknown, or a category has no form in C, such as NUL.

        Notes
        -----
        Sums are in the order of the model, so that scores are equal to the last bit. A compiler of
        C must not fuse products with sums: ``-ffp-contract=off``. Large models are tables of
        nodes, which compilers take in seconds.

        Examples
        --------
        >>> from aucrank import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> model = RankBoost(n_rounds=1).fit(X, y)
        >>> names = {}
        >>> exec(model.to_code("python"), names)
        >>> names["score"]([4.0]) == model.decision_function([[4.0]])[0]
        np.True_
        """
        formula = self._output_formula(output, "code")
        what = f"{output.capitalize()} by a {type(self).__name__}"
        return code_of(formula, self._schema, language, what)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Set again: the tags of `ClassifierMixin` replace those of `CoreEstimator`.
        tags.classifier_tags.multi_class = False
        return tags


class ProbabilityMixin:
    """For rankers whose core model has ``probability(columns, n_threads)``; stands first."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Columns in the order of ``classes_``; the second is above 1/2 exactly where `predict`
            is positive.
        """
        positive: NDArray[np.float64] = self._query("probability", X)  # type: ignore[attr-defined]
        return np.column_stack((1 - positive, positive))

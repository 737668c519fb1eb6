"""Exports of a fitted ranker: its score in the languages and formats of other systems."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, cast

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._data.schema import Schema
from aucrank._export.formula import Formula, check_written, parse
from aucrank._export.links import Link, probability_of
from aucrank._export.sizes import NAMES_OF_LANGUAGES, warn_of_size
from aucrank._utils.dialects import Dialect
from aucrank._utils.extras import import_extra
from aucrank._utils.params import check_choice

# The writers are imported by the methods that use them: they take a thirtieth of the time to load a
# model.
if TYPE_CHECKING:
    from aucrank._base.ranker import BaseRanker
    from aucrank._export.onnx.model import GraphModel


class FormulaExports:
    """Exports of a score that has a formula over some columns.

    A subclass has the columns as ``_schema``, and provides the formula, its link to probabilities
    and the name of the model.
    """

    classes_: NDArray[Any]

    #: Version of the documents of `to_json`.
    _json_version = 1

    if TYPE_CHECKING:

        @property
        def _schema(self) -> Schema: ...

    def _check_exportable(self) -> None:
        """Raise NotFittedError if there is no score yet."""
        check_is_fitted(self)

    def _exported_name(self) -> str:
        """Return the name of the model in comments and messages."""
        return type(self).__name__

    def _formula_and_document(self) -> tuple[Formula, dict[str, Any]]:
        """Return the formula of the score, and the same as a JSON value."""
        raise NotImplementedError

    def _score_formula(self) -> Formula:
        """Return the formula of the score."""
        return self._formula_and_document()[0]

    def _link(self) -> Link | None:
        """Return the link from scores to `predict_proba`, where one exists."""
        return None

    def _features_document(self) -> list[dict[str, Any]]:
        """Return the columns as a JSON value."""
        return self._schema.to_json()

    def _columns_read(self) -> frozenset[int] | None:
        """Return which columns a document must ask for, None for all."""
        return None

    def _written_formula(self, form: str) -> Formula:
        """Return the formula of the score for a form that needs all of it.

        A warning says how large the form will be, if that is very large.
        """
        formula = self._score_formula()
        self._check_written(formula, form)
        return formula

    def _check_written(self, formula: Formula, form: str) -> None:
        name = self._exported_name()
        check_written(formula, name, form)
        warn_of_size(formula, self._schema, form, name)

    def _output_formula(self, output: str, form: str) -> Formula:
        """Return the formula that an export computes: the score, or the probability."""
        self._check_exportable()
        check_choice(output, "output", ("score", "probability"))
        score, name = self._score_formula(), self._exported_name()
        check_written(score, name, form)
        return score if output == "score" else probability_of(score, self._link(), name)

    def to_sql(
        self, dialect: Dialect = "ansi", *, output: Literal["score", "probability"] = "score"
    ) -> str:
        """Return a SQL expression that scores a row as `decision_function` does.

        Parameters
        ----------
        dialect : str, default="ansi"
            How names, strings and numbers are written: "ansi", which Oracle also accepts, "sqlite",
            "duckdb", "postgres", "mysql" (also for MariaDB), "bigquery", "snowflake", "spark" or
            "tsql". Categories are compared as the database compares strings: a collation that
            ignores case or accents merges categories that differ only in these.
        output : {"score", "probability"}, default="score"
            The result of `decision_function`, or the probability of ``classes_[1]`` from
            `predict_proba`, up to the rounding of ``EXP`` where scores are log-odds.

        Returns
        -------
        str
            An expression over the columns of the fit (``x0``, ``x1``, ... where they had no names),
            without a trailing semicolon. NULL is a missing value; a category that was not seen in
            fit counts as missing. NaN is not NULL to a database: store it as NULL. Branching
            programs give nested queries, which MariaDB, Oracle and Spark do not accept; so do
            models of more than 500 branches in the dialects "ansi", "sqlite", "duckdb" and
            "postgres".

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If a part of the model has no form in SQL, such as a split by a classifier of your own,
            or a calibration curve when probabilities are exported; if the dialect is unknown, or
            cannot express a name or a category, such as an empty name or NUL.

        Warns
        -----
        ExportSizeWarning
            If it will take more than some 20 MB, with its size.

        Notes
        -----
        Terms are added in the order in which the model adds them, and most sums are exact, so that
        a database that computes in double precision, as sqlite and duckdb do, gives the same
        doubles as `decision_function`. Beyond 500 branches the expression is a query of steps over
        codes of the columns: 2.6 MB for a default `GradientBoostingRanker`. Beyond 100,000 nodes
        DuckDB and PostgreSQL walk through arrays of nodes if the sum is exact. A linear score needs
        columns of a floating type: databases differ in how they multiply weights and decimals.

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
        from aucrank._export.sql_layers import sql_of

        formula = self._output_formula(output, "SQL")
        return sql_of(formula, self._exported_name(), self._schema, dialect)

    def to_pmml(self, *, model_name: str = "ranker", timestamp: datetime | None = None) -> str:
        """Return the score as a PMML 4.4 document.

        PMML is the format in which decision engines import models. The document holds a
        ``RegressionModel`` whose predictors are fields derived from the columns: one per term of
        the score.

        Parameters
        ----------
        model_name : str, default="ranker"
            Name of the model in the document.
        timestamp : datetime, default=None
            Time stamp in the document. None leaves it out, so that equal models give equal
            documents.

        Returns
        -------
        str
            An XML document. Its output is ``score``, equal to `decision_function` up to the
            rounding of sums, and of masses in branching programs (1e-8).

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        TypeError
            If ``model_name`` is not a string, or ``timestamp`` not a datetime.
        ValueError
            If a part of the model has no form in PMML, such as a split by a classifier of your own;
            if a name is empty, or a name or a category holds a character that XML cannot express (a
            control character).

        Warns
        -----
        ExportSizeWarning
            If it will take more than some 20 MB, with its size.

        Notes
        -----
        Numbers are continuous fields of type double, missing where the engine has no value.
        Categories are listed, and any other value is treated as missing: booleans have the type
        boolean, integers integer, other numbers double, everything else string.

        Examples
        --------
        >>> from aucrank import RankOpt
        >>> text = RankOpt(radii=[1.0]).fit([[0.0], [2.0]], [0, 1]).to_pmml()
        >>> print(text[text.index("<RegressionTable"):text.index("</RegressionTable>")].rstrip())
        <RegressionTable intercept="-1.0">
              <NumericPredictor name="term_1" coefficient="1" />
        """
        from aucrank._export.pmml.document import check_names
        from aucrank._export.pmml.formula import write_formula

        self._check_exportable()
        check_names(model_name, timestamp)
        return write_formula(
            self._written_formula("PMML"),
            self._schema,
            model_name=model_name,
            version=_core.__version__,
            timestamp=None if timestamp is None else timestamp.isoformat(),
        )

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the score as data, for systems that support none of the other formats.

        `save` is for `aucrank.load`; this is for all other readers, and holds only what is needed
        to score a row.

        Parameters
        ----------
        indent : int or None, default=None
            Number of spaces per level of indentation; None puts everything on one line.

        Returns
        -------
        str
            Strict JSON, without NaN or Infinity; see Notes.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If a part of the model cannot be expressed, such as a split by a classifier of your own.

        Warns
        -----
        ExportSizeWarning
            If it will take more than some 20 MB, with its size.

        Notes
        -----
        The document is an object with

        - ``format`` ("aucrank-formula") and ``version`` (1): a reader should refuse a version that
          it does not know;
        - ``classes``: the two labels, the positive one last;
        - ``features``: for each column of the fit its ``name``, its ``kind`` ("numeric" or
          "categorical") and its ``levels``: the code of a category is its position there, from 0,
          and any other value counts as missing;
        - ``score``: the formula, an object with one key, the operation. The guide to
          :doc:`production </production>` lists the operations.

        Examples
        --------
        >>> from aucrank import RankOpt
        >>> print(RankOpt(radii=[1.0]).fit([[0.0], [2.0]], [0, 1]).to_json())
        {"format": "aucrank-formula", "version": 1, "classes": [0, 1], ...
        """
        self._check_exportable()
        formula, score = self._formula_and_document()
        self._check_written(formula, "JSON")
        document = {
            "format": "aucrank-formula",
            "version": self._json_version,
            "classes": self.classes_.tolist(),
            "features": self._features_document(),
            "score": score,
        }
        return json.dumps(document, indent=indent, allow_nan=False)

    def to_onnx(self, *, inputs: Literal["auto", "columns", "matrix"] = "auto") -> Any:
        """Return the model as an ONNX document, for scoring with onnxruntime.

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
            `predict`; and ``probabilities`` of shape (n, 2), `predict_proba`, where available. All
            numbers are in double precision. Write ``SerializeToString()`` to a file to store it.

        Raises
        ------
        ImportError
            If onnx is not installed.
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If a part of the model has no form in ONNX, such as a split by a classifier of your own;
            if a column has an empty name, or categories of both text and numbers; or if a matrix
            would have to hold text.

        Warns
        -----
        ExportSizeWarning
            If it will take more than some 20 MB, with its size.

        See Also
        --------
        aucrank.PipelineExport : A pipeline of scikit-learn as one document.

        Notes
        -----
        A missing number is NaN. Any text that was not seen in fit counts as missing; use an empty
        one. Categories that are numbers or booleans are doubles.

        Trees are operators ``TreeEnsemble`` of ai.onnx.ml 5, supported by onnxruntime since version
        1.20. Scores equal those of `decision_function` to the last bit; those of a
        `RankingEnsemble` differ by the rounding of sums.

        Examples
        --------
        >>> from aucrank import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> model = RankBoost(n_rounds=1).fit(X, y).to_onnx()
        >>> [output.name for output in model.graph.output]
        ['score', 'label']

        With onnxruntime installed, ``InferenceSession(model.SerializeToString())`` reads it.
        """
        from aucrank._export.onnx.columns import Inputs
        from aucrank._export.onnx.model import write_model

        self._check_exportable()
        check_choice(inputs, "inputs", ("auto", "columns", "matrix"))
        onnx = import_extra("onnx", "onnx", f"{type(self).__name__}.to_onnx")
        model = self._onnx_model()
        as_matrix = inputs == "matrix" or (inputs == "auto" and self._schema.names is None)
        columns = Inputs(onnx, self._schema, as_matrix=as_matrix, read=self._columns_read())
        return write_model(onnx, model, columns, version=_core.__version__)

    def _onnx_model(self) -> "GraphModel":
        """Return the model from which ONNX documents are written."""
        from aucrank._export.onnx.model import GraphModel

        self._check_exportable()
        return GraphModel(self._written_formula("ONNX"), self._schema, self.classes_, self._link())

    def to_treelite(self) -> Any:
        """Return the score as a model of Treelite, which other tree engines read.

        Returns
        -------
        treelite.Model
            Its output is `decision_function`, up to the rounding of sums. It takes a matrix of the
            columns of the fit in their order: numbers, and categories as codes, the positions of
            their values among those seen in fit, sorted; NaN where a value is missing. A code
            beyond the known categories counts as missing. ``serialize(path)`` writes it.

        Raises
        ------
        ImportError
            If treelite is not installed.
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If the score is not a sum of trees and step functions, as that of `RIMARC`,
            `LinearRanker`, `MartiRank` or a forest of medians; if its trees test pairs of
            categories; or if it would have more than ten million nodes.

        Warns
        -----
        ExportSizeWarning
            If it will take more than some 20 MB, with its size.

        Examples
        --------
        >>> from aucrank import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> model = RankBoost(n_rounds=1).fit(X, y).to_treelite()
        >>> model.num_tree, model.num_feature
        (1, 1)
        """
        from aucrank._export.treelite import treelite_model

        self._check_exportable()
        treelite = import_extra("treelite", "treelite", f"{type(self).__name__}.to_treelite")
        formula = self._written_formula("Treelite")
        return treelite_model(treelite, formula, self._schema, self._exported_name())

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
            Target language. The code needs only the standard library.
        output : {"score", "probability"}, default="score"
            Return value of the function: that of `decision_function`, or the probability of
            ``classes_[1]`` from `predict_proba`.

        Returns
        -------
        str
            A function ``score``, and tables that it reads. A row has the columns of the fit in
            their order, which comments list: numbers, and categories as they were in the fit. None,
            null and NaN are missing, and so is a category that was not seen in fit.

            - Python and JavaScript: ``score(row)``, of a list or an array.
            - Java: ``Ranker.score(Object[] row)``.
            - C: ``score(numbers, texts)``, of two arrays with a place for each column: categories
              that are text are in the second one, and ``NULL`` where they are missing.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If a part of the model cannot be expressed, such as a split by a classifier of your own;
            if the language is unknown, or a category has no form in C, such as NUL.

        Warns
        -----
        ExportSizeWarning
            If it will take more than some 20 MB, with its size.

        Notes
        -----
        Sums are in the order of the model, so that scores are equal to the last bit. A C compiler
        must not fuse products with sums: ``-ffp-contract=off``. Large models become tables of
        nodes, which compile in seconds.

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
        from aucrank._export.code import code_of

        formula, name = self._output_formula(output, "code"), self._exported_name()
        check_choice(language, "language", tuple(NAMES_OF_LANGUAGES))
        warn_of_size(formula, self._schema, NAMES_OF_LANGUAGES[language], name)
        what = f"{output.capitalize()} by a {name}"
        return code_of(formula, self._schema, language, what)


class ExportMixin(FormulaExports):
    """Mixin for rankers whose score has a formula over the columns of the fit."""

    _model: Any

    def _formula(self) -> str:
        """Return what the score computes, in the JSON form of the core."""
        formula: str = self._model.formula()
        return formula

    def _formula_and_document(self) -> tuple[Formula, dict[str, Any]]:
        document: dict[str, Any] = json.loads(self._formula())
        return parse(document), document

    def onnx_parser(self) -> Callable[..., list[Any]]:
        """Declare the outputs of a ranker to skl2onnx.

        Returns
        -------
        callable
            Declares the outputs ``label``, ``probabilities`` where there are any, and ``score``.

        See Also
        --------
        onnx_converter : Converts the ranker, with an example.

        Examples
        --------
        >>> from aucrank import RankBoost
        >>> callable(RankBoost().onnx_parser())
        True
        """
        from aucrank._export.onnx import pipeline_step

        def parser(scope: Any = None, inputs: Any = None) -> list[Any]:
            return pipeline_step.declare_outputs(self, scope)

        return parser

    def onnx_shape_calculator(self) -> Callable[[Any], None]:
        """Declare the shapes and types of the outputs of a ranker to skl2onnx.

        Returns
        -------
        callable
            Sets them: labels of shape (n,) and of the type of ``classes_``, probabilities of shape
            (n, 2), scores of shape (n, 1).

        See Also
        --------
        onnx_converter : Converts the ranker, with an example.

        Examples
        --------
        >>> from aucrank import RankBoost
        >>> callable(RankBoost().onnx_shape_calculator())
        True
        """
        from aucrank._export.onnx import pipeline_step

        return pipeline_step.set_shapes

    def onnx_converter(self) -> Callable[[Any, Any, Any], None]:
        """Tell skl2onnx how to convert a ranker.

        With it ``skl2onnx.to_onnx`` converts scikit-learn pipelines that end with a ranker, without
        registering anything.

        Returns
        -------
        callable
            Adds the operators of the ranker, for ai.onnx.ml 3 and any opset from 15 on.

        See Also
        --------
        to_onnx : The ranker alone, without skl2onnx.

        Notes
        -----
        The document outputs ``label``, as `predict`; ``probabilities`` of shape (n, 2) where the
        ranker has `predict_proba`, without a ZipMap; and ``score`` of shape (n, 1),
        `decision_function`. They are in double precision, whatever the input. Scores equal those of
        the pipeline within 1e-12 where the steps before the ranker output doubles: pass columns of
        doubles to skl2onnx.

        In ai.onnx.ml 3, the latest version that skl2onnx supports, trees output single precision.
        Here they output the number of a leaf, and a table of doubles maps it to its value. One
        number per row and tree is in memory at a time.

        Examples
        --------
        >>> import numpy as np
        >>> from aucrank import RankBoost
        >>> from skl2onnx import to_onnx
        >>> from sklearn.impute import SimpleImputer
        >>> from sklearn.pipeline import make_pipeline
        >>> X, y = np.array([[1.0], [np.nan], [3.0], [4.0]]), [0, 1, 0, 1]
        >>> model = make_pipeline(SimpleImputer(), RankBoost(n_rounds=1)).fit(X, y)
        >>> [output.name for output in to_onnx(model, X[:1]).graph.output]
        ['label', 'score']
        """
        from aucrank._export.onnx import pipeline_step

        return pipeline_step.convert

    def to_html(self) -> str:
        """Return a summary of the model as a page to read, print or archive.

        Returns
        -------
        str
            A self-contained HTML document that loads nothing from files or a network: what the
            model does, its columns with their importances, its parts (such as strata, rules, terms
            and weights), and its parameters. Equal models give equal documents.

        Raises
        ------
        ImportError
            If jinja2 is not installed.
        NotFittedError
            If the estimator is not fitted.

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
        from aucrank._page.model import model_page

        check_is_fitted(self)
        return model_page(cast("BaseRanker", self))

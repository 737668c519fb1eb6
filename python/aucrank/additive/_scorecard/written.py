"""A scorecard written down: tables, text, page, and the forms that other systems score with."""

import os
from datetime import datetime
from typing import Any, ClassVar, Literal

from sklearn.utils.validation import check_is_fitted

from aucrank._data.table import Table
from aucrank._export.formula import Formula, read_formula
from aucrank._export.pmml.document import check_names
from aucrank._export.sizes import warn_of_size
from aucrank._export.sql import SqlWriter
from aucrank._utils.dialects import Dialect
from aucrank._utils.files import write_atomically
from aucrank._utils.params import check_bool, check_choice, check_int
from aucrank.additive._scorecard import calculator, export, sheet
from aucrank.additive._scorecard.card import Card
from aucrank.additive._scorecard.editing import EditedCard


class WrittenCard(EditedCard):
    """What a scorecard is written as."""

    #: Whether points were searched as such, not taken from a ranker.
    _is_searched: ClassVar[bool] = False

    def card(self) -> Table:
        """Return the card as a table.

        Returns
        -------
        Table
            One row for each bin of each feature that has points: ``feature`` (its name, or ``x0``
            for a first column without one), ``rule`` (the values in words), ``size`` (weight of the
            training rows in the bin), ``share`` (of all training rows), ``n_pos`` (weight of the
            positive ones), ``rate`` (their share in the bin, NaN without rows),
            ``woe`` (weight of evidence: the logarithm of the share of all positives that the bin
            holds, divided by that of all negatives; half a row of each class is added to a bin that
            lacks one) and ``iv`` (information value of the feature, the same in all of its lines:
            the sum of the differences of these shares times ``woe``). On a manually edited card
            also ``edited``, the date of the last change of the feature. Of a line with more than
            seven categories the first six are listed; `to_csv` has all. Intervals ascend,
            categories are sorted by their contribution to the ranker's score, ascending; then come
            special values, and missing values last, including categories not seen in fit.

        Raises
        ------
        NotFittedError
            If there is no card yet.

        Examples
        --------
        >>> from aucrank import RIMARC, Scorecard
        >>> X = [[0.0], [1.0], [2.0], [3.0], [float("nan")]]
        >>> Scorecard(estimator=RIMARC(missing="value")).fit(X, [0, 0, 1, 1, 0]).card()
        feature  rule           size  share  n_pos  rate      woe      iv  points
        x0       x0 < 1.5          2    0.4      0     0  -1.2040  3.0584       0
        x0       x0 >= 1.5         2    0.4      2     1   2.0149  3.0584      72
        x0       x0 is missing     1    0.2      0     0  -0.6931  3.0584       0
        """
        return self._sheet().table()

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return the card as a data frame, with the columns of `card`.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            Library of the frame; it must be installed.

        Returns
        -------
        data frame
            One row for each bin.
        """
        return self.card().to_frame(backend)

    def to_text(self) -> str:
        """Return the card as plain text to hang on a wall.

        Returns
        -------
        str
            A block for each feature, with a line for each bin; then the meaning of the totals.

        Raises
        ------
        NotFittedError
            If there is no card yet.

        Notes
        -----
        Bounds are shown with all digits, so that a row has the points of its line.

        Examples
        --------
        >>> from aucrank import RIMARC, Scorecard
        >>> X = [[0.0], [1.0], [2.0], [3.0], [float("nan")]]
        >>> card = Scorecard(estimator=RIMARC(missing="value")).fit(X, [0, 0, 1, 1, 0])
        >>> text = card.to_text()
        >>> print(text[: text.index("Total")].rstrip())
        SCORECARD: many points speak for class 1
        <BLANKLINE>
        Start with 560 points and add those of one line of each block.
        <BLANKLINE>
                      points  rows  share  class 1
        x0
          under 1.5        0     2  40.0%     0.0%
          1.5 and up      72     2  40.0%   100.0%
          missing          0     1  20.0%     0.0%
        """
        return sheet.to_text(self._sheet())

    def to_html(self) -> str:
        """Return the card as a self-contained, printable page.

        Returns
        -------
        str
            An HTML document, with names and categories escaped.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        """
        return sheet.to_html(self._sheet())

    def to_calculator(self) -> str:
        """Return a page on which a person adds up the points of one row.

        Each feature is a question with its lines as answers, below them the total and the
        probability of the positive class. The page needs no network and sends nothing: its content
        policy allows only its own script.

        Returns
        -------
        str
            An HTML document, with names and categories escaped. It prints as a form.

        Raises
        ------
        NotFittedError
            If there is no card yet.

        Examples
        --------
        >>> from aucrank import IntegerScore
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> page = IntegerScore(max_features=2).fit(X, y).to_calculator()
        >>> page.count("<fieldset>"), "<legend>worst_area</legend>" in page
        (2, True)
        """
        return calculator.to_calculator(self._sheet())

    def to_csv(
        self, path: str | os.PathLike[str] | None = None, *, excel: bool = True
    ) -> str | None:
        r"""Write the card as comma-separated values.

        Parameters
        ----------
        path : str or path-like, default=None
            File to write; None returns the text.
        excel : bool, default=True
            Whether a spreadsheet will open it: a file then begins with a byte order mark, by which
            Excel knows UTF-8, and texts that begin with one of ``= + - @``, a tab or a line end get
            a leading apostrophe, so that a category is not run as a formula. With False the file is
            plain UTF-8 with unchanged texts.

        Returns
        -------
        str or None
            The text, without a byte order mark, if ``path`` is None.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        OSError
            If the file cannot be written.

        Notes
        -----
        Columns are those of `card`; the first line has the initial points. Texts are quoted,
        the decimal sign is a point, the rate of a bin without rows is an empty cell, and lines end
        as in RFC 4180.

        Examples
        --------
        >>> from aucrank import RIMARC, Scorecard
        >>> card = Scorecard(estimator=RIMARC(missing="value"), categorical_features=[0]).fit(
        ...     [["=1+1"], ["=1+1"], ["b"], ["b"]], [1, 1, 0, 0]
        ... )
        >>> print(card.to_csv().replace("\r", ""))  # doctest: +NORMALIZE_WHITESPACE
        "feature","rule","size","share","n_pos","rate","woe","iv","points"
        "initial points","every row",4,1.0,2,0.5,0.0,,568
        "x0","x0 = b",2,0.5,0,0.0,-1.6094379124341003,3.2188758248682006,0
        "x0","x0 = =1+1",2,0.5,2,1.0,1.6094379124341003,3.2188758248682006,63
        "x0","x0 is missing",0,0.0,0,,,3.2188758248682006,32
        <BLANKLINE>
        """
        check_bool(excel, "excel")
        text = sheet.to_csv(self._sheet(), excel=excel)
        if path is None:
            return text
        write_atomically(path, text.encode("utf-8-sig" if excel else "utf-8"))
        return None

    def _output_formula(self, output: str, form: str) -> Formula:
        check_is_fitted(self)
        check_choice(output, "output", ("points", "score", "probability"))
        if output == "points":
            return read_formula(self._model.points_formula(), "Scorecard", form)
        return super()._output_formula(output, form)

    def to_sql(
        self,
        dialect: Dialect = "ansi",
        *,
        output: Literal["points", "score", "probability"] = "points",
    ) -> str:
        """Return a SQL expression for the points of a row, its score or its probability.

        Parameters
        ----------
        dialect : str, default="ansi"
            Dialect of names, strings and numbers: "ansi", which Oracle also accepts, "sqlite",
            "duckdb", "postgres", "mysql", also for MariaDB, "bigquery", "snowflake", "spark" or
            "tsql". Categories are compared as the database compares strings: under a collation that
            ignores case or accents, categories that differ only in these are equal.
        output : {"points", "score", "probability"}, default="points"
            Value computed: that of `points`, of `decision_function`, or the probability of
            ``classes_[1]`` from `predict_proba`.

        Returns
        -------
        str
            For points, a sum of integers: the initial points and one ``CASE`` expression for
            each feature of the card, over the columns of the fit (``x0``, ``x1``, ... without
            names), without a trailing semicolon. NULL is a missing value; a category not seen in
            fit counts as missing. NaN is not NULL to a database: store it as NULL. The expression
            is preceded by a comment for each of ``edits_``.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        ValueError
            If the dialect or the output is unknown, or the dialect cannot express a name or a
            category, such as an empty name or NUL.

        Examples
        --------
        >>> from aucrank import RIMARC, Scorecard
        >>> X = [[1.0], [1.0], [2.0], [2.0], [2.0], [-1.0]]
        >>> card = Scorecard(estimator=RIMARC(missing="value"), special_values=[-1])
        >>> card = card.fit(X, [0, 0, 1, 1, 0, 1])
        >>> print(card.to_sql())
        560
        + CASE
          WHEN "x0" IS NULL THEN 39
          WHEN "x0" = -1 THEN 79
          WHEN "x0" < 1.5 THEN 0
          ELSE 53 END
        """
        formula = self._output_formula(output, "SQL")
        writer = SqlWriter(self._schema, dialect)
        warn_of_size(formula, self._schema, "SQL", type(self).__name__)
        text = writer.formula(formula)
        return "".join([*map(export.sql_comment, self.edits_), text])

    def to_code(
        self,
        language: Literal["c", "python", "javascript", "java"],
        *,
        output: Literal["points", "score", "probability"] = "score",
    ) -> str:
        """Return the source of a function that computes the score, points or probability of a row.

        Parameters
        ----------
        language : {"c", "python", "javascript", "java"}
            Language of the code, which needs only the standard library.
        output : {"points", "score", "probability"}, default="score"
            Value of the function: that of `points`, of `decision_function`, or the probability of
            ``classes_[1]`` from `predict_proba`.

        Returns
        -------
        str
            A function ``score``, and the tables that it reads, as for `to_code` of any ranker.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        ValueError
            If the language or the output is unknown, or a category cannot be written in C.

        Examples
        --------
        >>> from aucrank import Scorecard
        >>> card = Scorecard().fit([[1.0], [1.0], [2.0], [2.0]] * 10, [0, 0, 1, 1] * 10)
        >>> names = {}
        >>> exec(card.to_code("python", output="points"), names)
        >>> names["score"]([2.0]) == card.points([[2.0]])[0]
        np.True_
        """
        return super().to_code(language, output=output)  # type: ignore[arg-type]

    def to_pmml(
        self,
        *,
        model_name: str = "scorecard",
        why: Literal["few", "many"] = "few",
        n_reasons: int = 4,
        timestamp: datetime | None = None,
        output: Literal["points", "score"] = "points",
    ) -> str:
        """Return the card as a PMML 4.4 document.

        PMML is the format in which decision engines read models. The document holds a ``Scorecard``
        model: one ``Characteristic`` for each feature that has points, one ``Attribute`` for each
        of its bins.

        Parameters
        ----------
        model_name : str, default="scorecard"
            Name of the model in the document.
        why : {"few", "many"}, default="few"
            What the reason codes explain: why a row has few points, or why it has many.
        n_reasons : int, default=4
            Number of reason codes in the output, at most the number of features on the card.
        timestamp : datetime, default=None
            Time stamp of the document. None leaves it out, so that equal cards give equal
            documents.
        output : {"points", "score"}, default="points"
            The card with its points, or, as in the PMML of other rankers, the score of
            `decision_function`, in a ``RegressionModel`` without reason codes.

        Returns
        -------
        str
            An XML document. The outputs of a card are ``points``; ``reason_1``, ``reason_2``, ...;
            and ``probability``, that of the positive class, as in `predict_proba`.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        TypeError, ValueError
            If a parameter is out of range, a name is empty, or a name or category contains a
            character not allowed in XML (a control character).

        Notes
        -----
        A reason code is the name of a feature. With ``why="few"`` (``pointsBelow`` in PMML,
        with the baseline method ``max``) features are ranked by the points lost in each: the most
        points that the feature gave to any training row, less those of this row; the greatest loss
        first, equal ones in the order of the card. With ``"many"`` (``pointsAbove``, ``min``) it is
        the points above the least. Baselines deviate from whole points by fractions that grow along
        the card, so that every engine gives this order, although some rank ties by name. If fewer
        than ``n_reasons`` features made a difference, PMML does not define the other outputs, and
        engines differ: most leave them empty or repeat the last reason.

        Numbers are continuous fields of type double, missing if the engine has no value.
        Categories are listed, and any other value is treated as missing: booleans have the type
        boolean, whole numbers integer, other numbers double, all else string.

        Examples
        --------
        >>> from aucrank import RIMARC, Scorecard
        >>> X = [[1.0], [1.0], [2.0], [2.0], [2.0], [-1.0]]
        >>> card = Scorecard(estimator=RIMARC(missing="value"), special_values=[-1])
        >>> card = card.fit(X, [0, 0, 1, 1, 0, 1])
        >>> text = card.to_pmml()
        >>> start = text.index("<Characteristics>")
        >>> print(text[start:text.index("</Characteristic>")].rstrip())
        <Characteristics>
              <Characteristic name="x0" reasonCode="x0" baselineScore="78.9">
                <Attribute partialScore="79">
                  <SimplePredicate field="x0" operator="equal" value="-1.0" />
                </Attribute>
                <Attribute partialScore="0">
                  <SimplePredicate field="x0" operator="lessThan" value="1.5" />
                </Attribute>
                <Attribute partialScore="53">
                  <SimplePredicate field="x0" operator="greaterOrEqual" value="1.5" />
                </Attribute>
                <Attribute partialScore="39">
                  <SimplePredicate field="x0" operator="isMissing" />
                </Attribute>
        """
        check_names(model_name, timestamp)
        check_choice(why, "why", ("few", "many"))
        check_int(n_reasons, "n_reasons", low=0)
        check_choice(output, "output", ("points", "score"))
        if output == "score":
            return super().to_pmml(model_name=model_name, timestamp=timestamp)
        return export.to_pmml(
            self._card,
            model_name,
            why=why,
            n_reasons=n_reasons,
            timestamp=None if timestamp is None else timestamp.isoformat(),
        )

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the card as plain JSON, for systems that read neither PMML nor SQL.

        `save` is for `aucrank.load`; this is for all other readers, and contains only what is
        needed to score a row.

        Parameters
        ----------
        indent : int or None, default=2
            Spaces of indentation per level; None puts all on one line.

        Returns
        -------
        str
            Strict JSON, without NaN or Infinity; see Notes.

        Raises
        ------
        NotFittedError
            If there is no card yet.

        Notes
        -----
        The document is an object with

        - ``format`` ("aucrank-scorecard") and ``version`` (1): a reader should reject unknown
          versions;
        - ``classes``: the two labels, the positive one last;
        - ``initial_points``: points that every row has;
        - ``scale``: a row with ``base_points`` has the odds ``base_odds`` of the class
          ``high_class`` against the other, and ``pdo`` more points double them:
          ``odds = base_odds * 2 ** ((points - base_points) / pdo)``;
        - ``features``: for each its ``name``, its ``position`` among the columns of the fit, its
          ``kind`` ("numeric" or "categorical") and its ``bins``.

        A bin has its ``points``, the weight ``size`` of the training rows in it and ``n_pos`` of
        the positive ones, and its values are given by one of

        - ``special``: this number alone; it takes precedence over the intervals;
        - ``low`` and ``high``: numbers of at least ``low`` and below ``high``, null for no bound;
        - ``categories``: these values;
        - ``missing`` (true): missing values, and categories that are in no other bin.

        The points of a row are the initial points and those of one bin of each feature.

        Examples
        --------
        >>> import json
        >>> from aucrank import RIMARC, Scorecard
        >>> X = [[1.0], [1.0], [2.0], [2.0], [2.0], [-1.0]]
        >>> card = Scorecard(estimator=RIMARC(missing="value"), special_values=[-1])
        >>> card = json.loads(card.fit(X, [0, 0, 1, 1, 0, 1]).to_json())
        >>> card["initial_points"]
        560
        >>> for bin_ in card["features"][0]["bins"]:
        ...     print(bin_)
        {'special': -1.0, 'points': 79, 'size': 1.0, 'n_pos': 1.0}
        {'low': None, 'high': 1.5, 'points': 0, 'size': 2.0, 'n_pos': 0.0}
        {'low': 1.5, 'high': None, 'points': 53, 'size': 3.0, 'n_pos': 2.0}
        {'missing': True, 'points': 39, 'size': 0.0, 'n_pos': 0.0}
        """
        if indent is not None:
            check_int(indent, "indent", low=0)
        card = self._card
        return export.to_json(card, self._scale(card), indent=indent)

    def _scale(self, card: Card) -> dict[str, Any]:
        return card.scale(*self._base())

    def _base(self) -> tuple[float, float]:
        """Return points, and the odds that they stand for."""
        return self._card.offset, 1.0

    def _sheet(self) -> sheet.Sheet:
        card = self._card
        return sheet.Sheet(card, self._scale(card), self.edits_, self._is_searched)

"""A scorecard in the forms of other systems: SQL, PMML, JSON."""

import json
from datetime import datetime
from math import inf, isclose, log
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._data.schema import Schema
from aucrank._export.pmml import PmmlCard, write_pmml
from aucrank._export.sql import DIALECTS, Dialect, SqlWriter
from aucrank._utils.params import check_choice, check_int
from aucrank.additive._scorecard.bins import CardBin, CardFeature, card_features

#: What `CardExportMixin.to_json` says of its form.
JSON_FORMAT = "aucrank-scorecard"
JSON_VERSION = 1


class CardExportMixin:
    """For estimators whose core model is a scorecard."""

    _model: _core.Scorecard
    _schema: Schema
    classes_: NDArray[Any]

    if TYPE_CHECKING:
        base_points: float
        base_odds: float

    def _card(self) -> dict[str, Any]:
        """Return the card as the model document has it."""
        check_is_fitted(self)
        card: dict[str, Any] = json.loads(self._model.to_json())
        return card

    def to_sql(self, dialect: Dialect = "ansi") -> str:
        """Return a SQL expression of the points of a row, as `points` gives them.

        Parameters
        ----------
        dialect : {"ansi", "mysql", "bigquery", "snowflake", "tsql"}, default="ansi"
            How names and strings are quoted; "ansi" serves sqlite, duckdb, PostgreSQL and Oracle,
            "mysql" MariaDB, too. Categories are compared as the database compares strings: one
            whose collation ignores case or accents takes those that differ only so for one.

        Returns
        -------
        str
            A sum of whole numbers: the initial points and one ``CASE`` expression for each feature
            of the card, over the columns of the fit (``x0``, ``x1``, ... where they had no names),
            without a trailing semicolon. NULL is a missing value; a category that was not seen in
            fit counts as missing. NaN is not NULL to a database: store it as NULL.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        ValueError
            If the dialect is unknown, or has no way to write a name or a category, such as an empty
            name or NUL.

        Examples
        --------
        >>> from aucrank import Scorecard
        >>> X = [[1.0], [1.0], [2.0], [2.0], [2.0], [-1.0]]
        >>> card = Scorecard(special_values=[-1]).fit(X, [0, 0, 1, 1, 0, 1])
        >>> print(card.to_sql())
        560
        + CASE
          WHEN "x0" IS NULL THEN 39
          WHEN "x0" = -1 THEN 79
          WHEN "x0" < 1.5 THEN 0
          ELSE 53 END
        """
        check_choice(dialect, "dialect", tuple(DIALECTS))
        card = self._card()
        writer = SqlWriter(self._schema, dialect)
        cases = [_case(writer, feature) for feature in card_features(card, self._schema)]
        return "\n+ ".join([str(card["initial_points"]), *cases])

    def to_pmml(
        self,
        *,
        model_name: str = "scorecard",
        why: Literal["few", "many"] = "few",
        n_reasons: int = 4,
        timestamp: datetime | None = None,
    ) -> str:
        """Return the card as a PMML 4.4 document.

        PMML is the form in which decision engines take models. The document holds a ``Scorecard``
        model: one ``Characteristic`` for each feature that has points, one ``Attribute`` for each
        of its bins.

        Parameters
        ----------
        model_name : str, default="scorecard"
            Name of the model in the document.
        why : {"few", "many"}, default="few"
            What the reason codes explain: why a row has so few points, or why so many.
        n_reasons : int, default=4
            How many reason codes are put out, no more than features on the card.
        timestamp : datetime, default=None
            When the document is said to be written. None leaves it out, so that equal cards make
            equal documents.

        Returns
        -------
        str
            An XML document. Its outputs are ``points``; ``reason_1``, ``reason_2``, ...; and
            ``probability``, that of the positive class, as `predict_proba` has it.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        TypeError, ValueError
            If a parameter is out of range, a name is empty, or a name or category holds a character
            that XML cannot (a control character).

        Notes
        -----
        A reason code is the name of a feature. With ``why="few"`` (``pointsBelow`` in PMML,
        with the baseline method ``max``) features are ranked by how many points the row lost in
        each: the most points that the feature gave to any training row, less those that it gave
        here; the greatest loss first, equal ones in the order of the card. With ``"many"``
        (``pointsAbove``, ``min``) it is the points above the fewest. Baselines are off from whole
        points by fractions that grow along the card: so every engine gives this order, although
        some rank ties by name. Where fewer than ``n_reasons`` features made a difference, PMML
        does not say what the other outputs are, and engines differ: most have nothing there or
        the last reason once more.

        Numbers are continuous fields of type double, and missing where the engine has no value.
        Categories are listed, and any other value is treated as missing: booleans have the type
        boolean, whole numbers integer, other numbers double, all else string.

        Examples
        --------
        >>> from aucrank import Scorecard
        >>> X = [[1.0], [1.0], [2.0], [2.0], [2.0], [-1.0]]
        >>> card = Scorecard(special_values=[-1]).fit(X, [0, 0, 1, 1, 0, 1])
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
        if not isinstance(model_name, str):
            raise TypeError(f"model_name must be a string, got {model_name!r}")
        check_choice(why, "why", ("few", "many"))
        check_int(n_reasons, "n_reasons", low=0)
        if timestamp is not None and not isinstance(timestamp, datetime):
            raise TypeError(f"timestamp must be a datetime or None, got {timestamp!r}")
        card = self._card()
        features = card_features(card, self._schema)
        for place in (feature.place for feature in features):
            if self._schema.features[place].name == "":
                raise ValueError(f"column {place} has an empty name, which PMML cannot write")
        return write_pmml(
            PmmlCard(
                model_name=model_name,
                version=_core.__version__,
                timestamp=None if timestamp is None else timestamp.isoformat(),
                initial_points=card["initial_points"],
                features=features,
                columns=self._schema.shown_names,
                why=why,
                n_reasons=n_reasons,
                offset=card["offset"],
                factor=card["factor"],
                high_positive=card["high_points"] == "positive",
                positive=str(self.classes_[1]),
            )
        )

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the card as plain JSON, for systems that read neither PMML nor SQL.

        `save` is for `aucrank.load`; this is for all others, and holds what is needed to give
        points to a row, and no more.

        Parameters
        ----------
        indent : int or None, default=2
            Spaces by which each level is moved in; None puts all on one line.

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

        - ``format`` ("aucrank-scorecard") and ``version`` (1): a reader should refuse a version
          that it does not know;
        - ``classes``: the two labels, the positive one last;
        - ``initial_points``: points that every row has;
        - ``scale``: a row with ``base_points`` has the odds ``base_odds`` of the class
          ``high_class`` against the other, and ``pdo`` more points double them:
          ``odds = base_odds * 2 ** ((points - base_points) / pdo)``;
        - ``features``: for each its ``name``, its ``position`` among the columns of the fit, its
          ``kind`` ("numeric" or "categorical") and its ``bins``.

        A bin has its ``points``, the weight ``size`` of the training rows in it and ``n_pos`` of
        the positive ones, and says which values it holds by one of

        - ``special``: this number alone; it goes before the intervals;
        - ``low`` and ``high``: numbers of at least ``low`` and below ``high``, null for no bound;
        - ``categories``: these values;
        - ``missing`` (true): missing values, and categories that are in no other bin.

        The points of a row are the initial points and those of one bin of each feature.

        Examples
        --------
        >>> import json
        >>> from aucrank import Scorecard
        >>> X = [[1.0], [1.0], [2.0], [2.0], [2.0], [-1.0]]
        >>> card = json.loads(Scorecard(special_values=[-1]).fit(X, [0, 0, 1, 1, 0, 1]).to_json())
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
        card = self._card()
        document = {
            "format": JSON_FORMAT,
            "version": JSON_VERSION,
            "classes": self.classes_.tolist(),
            "initial_points": card["initial_points"],
            "scale": self._scale(card),
            "features": [_json_feature(feature) for feature in card_features(card, self._schema)],
        }
        return json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False)

    def _scale(self, card: dict[str, Any]) -> dict[str, Any]:
        """Return what points mean, by the numbers that the user gave where they still hold."""
        offset, factor = card["offset"], card["factor"]
        base_points, base_odds = self._base()  # type: ignore[attr-defined]
        # A parameter may have been set anew after the fit; any pair on the line says the same.
        if not isclose(base_points - factor * log(base_odds), offset, rel_tol=1e-9, abs_tol=1e-9):
            base_points, base_odds = offset, 1.0
        return {
            "base_points": base_points,
            "base_odds": base_odds,
            "pdo": float(f"{factor * log(2):.12g}"),
            "high_class": self.classes_.tolist()[card["high_points"] == "positive"],
        }


def _case(writer: SqlWriter, feature: CardFeature) -> str:
    name = writer.name(feature.place)
    if feature.is_numeric:
        *below, last = feature.of_kind("interval")
        whens = [
            f"WHEN {name} IS NULL THEN {feature.missing.points}",
            *(
                f"WHEN {name} = {writer.number(bin_.special)} THEN {bin_.points}"
                for bin_ in feature.of_kind("special")
                if bin_.special is not None
            ),
            *(f"WHEN {name} < {writer.number(bin_.high)} THEN {bin_.points}" for bin_ in below),
        ]
    else:
        last = feature.missing
        whens = [
            f"WHEN {writer.among(feature.place, bin_.levels)} THEN {bin_.points}"
            for bin_ in feature.of_kind("category")
        ]
    return "\n  ".join(["CASE", *whens, f"ELSE {last.points} END"])


def _json_feature(feature: CardFeature) -> dict[str, Any]:
    kinds = ("special", "interval", "category", "missing")
    return {
        "name": feature.name,
        "position": feature.place,
        "kind": "numeric" if feature.is_numeric else "categorical",
        "bins": [_json_bin(bin_) for kind in kinds for bin_ in feature.of_kind(kind)],
    }


def _json_bin(bin_: CardBin) -> dict[str, Any]:
    values: dict[str, Any]
    match bin_.kind:
        case "special":
            values = {"special": bin_.special}
        case "interval":
            values = {
                "low": None if bin_.low == -inf else bin_.low,
                "high": None if bin_.high == inf else bin_.high,
            }
        case "category":
            values = {"categories": list(bin_.levels)}
        case "missing":
            values = {"missing": True}
    return values | {"points": bin_.points, "size": bin_.size, "n_pos": bin_.n_pos}

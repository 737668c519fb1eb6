"""A sum of step functions, one per feature: table, contributions, SQL, plot."""

import json
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._data.schema import Schema
from aucrank._data.table import Table
from aucrank._export.formula import Steps, parse_steps
from aucrank._export.rules import Restriction, Words
from aucrank._export.step_functions import MISSING, restrictions, table_of_steps
from aucrank._plots.terms import TermsDisplay, draw_terms
from aucrank._utils.numbers import exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


class TermsMixin:
    """Mixin for rankers whose core model is a `BoostedModel`: the functions that its rounds sum to.

    If every weak ranker uses one feature, the score is a sum of step functions, one per feature.
    """

    _model: _core.BoostedModel
    _schema: Schema

    @property
    def rounds_(self) -> Table:
        """Return the contribution of each round.

        Returns
        -------
        Table
            Columns ``round``, from 1; ``rule``, the rows that the round ranks high, in words;
            ``high`` and ``low``, the most and the least that it adds, after shrinkage; ``missing``,
            its contribution where its feature is missing, NaN where it uses several.
        """
        check_is_fitted(self)
        words = self._words
        rows = [_round(words, term) for term in json.loads(self._model.terms())]
        names = ("rule", "high", "low", "missing")
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        dtypes = (np.str_, np.float64, np.float64, np.float64)
        return Table(
            {"round": np.arange(1, len(rows) + 1)}
            | {
                name: np.array(column, dtype=dtype)
                for name, column, dtype in zip(names, columns, dtypes, strict=True)
            }
        )

    def terms(self) -> Table:
        """Return the contribution of each value of a feature to the score.

        Returns
        -------
        Table
            One row for each step of each feature that any round uses: ``feature`` (its name, or
            ``x0`` for the first column if it has none), ``rule`` (the values in words) and
            ``value`` (their contribution). Numbers ascend; categories with the same contribution
            are merged, the highest first; the last row of a feature is for its missing values,
            including categories not seen in fit.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If a term uses several features, as trees and linear rankers do.

        Notes
        -----
        The score of a row is the sum of one ``value`` for each feature, less ``threshold_``.
        Thresholds are shown in full.

        Examples
        --------
        >>> from aucrank import RankBoost
        >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 4.0]]
        >>> RankBoost(n_rounds=2).fit(X, [0, 1, 0, 1]).terms()
        feature  rule           value
        x1       x1 < 2.5      0.0000
        x1       x1 >= 2.5     1.0397
        x1       x1 is missing  0.5199
        """
        return table_of_steps(self._words, self._merged())

    def explain(self, X: Any) -> NDArray[np.float64]:
        """Return the contribution of each feature to the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n, n_features)
            The step function of each feature at the row, as `terms` lists them; 0 for features that
            no round uses. A row plus ``base_score_`` equals its `decision_function` to the last
            bit, in any order, since all values are multiples of a power of two. If the score is a
            sign (``output="sign"``), a row sums to the value whose sign it is.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If a term uses several features, as trees and linear rankers do, or the columns are not
            those seen in fit.

        Examples
        --------
        >>> import numpy as np
        >>> from aucrank import RankBoost
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = RankBoost(n_rounds=30).fit(X, y)
        >>> parts = model.explain(X)
        >>> parts.shape
        (569, 30)
        >>> np.array_equal(parts.sum(axis=1) + model.base_score_, model.decision_function(X))
        True
        """
        check_is_fitted(self)
        self._check_additive()
        parts: NDArray[np.float64] = self._query("explain", X)  # type: ignore[attr-defined]
        return parts.reshape(-1, self._model.n_features)

    def plot_terms(
        self,
        features: "Sequence[int | str] | int" = 9,
        *,
        ax: "Sequence[Axes] | Axes | None" = None,
    ) -> TermsDisplay:
        """Draw the step function of each feature with matplotlib.

        Parameters
        ----------
        features : int or sequence of int or str, default=9
            Maximal number of features, those with the largest range first; or which ones, by
            position or by name.
        ax : matplotlib.axes.Axes or a sequence of them, default=None
            Axes to draw on, one for each feature. None makes a figure.

        Returns
        -------
        TermsDisplay
            The display. Panels have the same height in units of the score, so that steps can be
            compared; a dotted line is the contribution of missing values.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If a term uses several features, a feature is unknown or has no term, or there are not
            as many axes as features.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from aucrank import RankBoost
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> display = RankBoost(n_rounds=50).fit(X, y).plot_terms(["worst_area", "mean_texture"])
        >>> [ax.get_xlabel() for ax in display.axes_]
        ['worst_area', 'mean_texture']
        """
        return draw_terms(self._merged(), self._schema_of_terms, features, ax)

    @property
    def _schema_of_terms(self) -> Schema:
        check_is_fitted(self)
        return self._schema

    @property
    def _words(self) -> Words:
        schema = self._schema_of_terms
        return Words(schema, [True] * len(schema.features))

    def _merged(self) -> list[Steps]:
        """Return the step functions of the features."""
        check_is_fitted(self)
        self._check_additive()
        return [parse_steps(term) for term in json.loads(self._model.merged_terms())]

    def _step_functions(self) -> str:
        """Return the step functions of the features as JSON text, for a scorecard."""
        self._check_additive()
        return self._model.merged_terms()

    def _check_additive(self) -> None:
        if self._model.is_additive:
            return
        terms = json.loads(self._model.terms())
        place, term = next((k, t) for k, t in enumerate(terms, start=1) if "feature" not in t)
        what = "a tree" if "tree" in term else "a linear ranker or one from elsewhere"
        raise ValueError(
            f"round {place} of this {type(self).__name__} has added {what}, which asks several"
            " features: only a sum of single features can be shown by feature"
            ' (weak_ranker="feature" or "threshold")'
        )


def rule_of_feature(words: Words, steps: Steps) -> str:
    """Return in words the rows that have the highest value of a step function."""
    *known, (_, missing) = restrictions(steps)
    top = max(missing, *(value for _, value in known))
    rules = [rule for rule, value in known if value == top]
    if not rules:
        rules = [MISSING]
    elif len(rules) == len(known):
        rules = [Restriction()]
    rules[-1] = replace(rules[-1], missing=missing == top)
    return words.union({steps.feature: rule} for rule in rules)


def rule_of_score(term: dict[str, Any]) -> str:
    """Return in words the rows that have the higher value of one step of a score."""
    (threshold,), (low, high) = term["thresholds"], term["values"]
    sign = ">=" if high > low else "<"
    if _is_reversed(term["scorer"]):
        threshold, sign = -threshold, {">=": "<=", "<": ">"}[sign]
    return f"{_score(term['scorer'])} {sign} {exact(threshold)}"


def _score(scorer: dict[str, Any]) -> str:
    return (
        f"score of ranker {scorer['outside']['number']}" if "outside" in scorer else "linear score"
    )


def _is_reversed(scorer: dict[str, Any]) -> bool:
    """Whether the core negates the score."""
    return "outside" in scorer and bool(scorer["outside"]["is_reversed"])


def _round(words: Words, term: dict[str, Any]) -> tuple[str, float, float, float]:
    """Return a round as a row: the rows it ranks high, its highest, lowest and missing value."""
    match term:
        case {"feature": step_function}:
            steps = parse_steps(step_function)
            *known, (_, missing) = restrictions(steps)
            values = [value for _, value in known]
            rule = f"{words.said_name(steps.feature)} in {len(known)} steps"
            if len(set(values)) <= 2:
                rule = rule_of_feature(words, steps)
            return rule, max(*values, missing), min(*values, missing), missing
        case {"tree": {"values": values}}:
            return f"tree of {len(values)} leaves", max(values), min(values), nan
        case {"scored": {"scorer": scorer, "values": values} as scored}:
            rule = f"{_score(scorer)} in {len(values)} steps"
            if len(values) == 2:
                rule = rule_of_score(scored)
            return rule, max(values), min(values), nan
        case other:
            raise ValueError(f"unknown term {other!r}")

"""A sum of functions of single features and of pairs: tables, contributions, plots."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._data.schema import Schema
from aucrank._data.table import Table
from aucrank._export.pair_tables import PairTable, pair_name, parse_pair, table_of_pairs
from aucrank._plots.terms import TermsDisplay, draw_terms
from aucrank.boosting._terms import TermsMixin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


def names_of_pairs(pairs: "Sequence[Sequence[int]]", schema: Schema) -> list[str]:
    """Return the names of the terms of pairs of features."""
    names = schema.shown_names
    return [pair_name([names[first], names[second]]) for first, second in pairs]


class PairTermsMixin(TermsMixin):
    """Mixin of `GradientBoostingRanker`: the functions that its trees sum to.

    If no tree uses more than two features, the score is a sum of one function per feature and one
    per pair. Chosen pairs are shown in their pure form: what either feature adds alone is in its
    own function.
    """

    _model: _core.GradientBoosted  # type: ignore[assignment]

    @property
    def pairs_(self) -> list[tuple[int, int]]:
        """Return the pairs of features that trees use together.

        Returns
        -------
        list of (int, int)
            Their positions, in ascending order.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        AttributeError
            If trees use more than two features together.
        """
        check_is_fitted(self)
        pairs = self._model.pairs()
        if pairs is None:
            raise AttributeError(f"pairs_: {self._why_no_terms()}")
        return [(first, second) for first, second in pairs]

    @property
    def term_names_(self) -> list[str]:
        """Return the names of the columns of `explain`.

        Returns
        -------
        list of str
            Those of the features, and then of the pairs, as in ``age & income``.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        AttributeError
            If trees use more than two features together.
        """
        schema = self._schema_of_terms
        return [*schema.shown_names, *names_of_pairs(self.pairs_, schema)]

    def pair_terms(self) -> Table:
        """Return the joint contribution of the values of two features to the score.

        Returns
        -------
        Table
            One row for each cell of the table of each pair of ``pairs_``: ``feature_1`` and
            ``feature_2`` (names, or ``x0`` for the first column if it has none), ``rule_1`` and
            ``rule_2`` (the values in words) and ``value`` (their contribution on top of `terms` for
            each feature). Numbers ascend, missing values are last; categories that no tree
            distinguishes are merged.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If trees use more than two features together.

        Notes
        -----
        Thresholds are shown in full.

        The trees alone do not say how much of a pair one of its features adds by itself. With
        ``interactions`` a number or ``"auto"``, all that a function of one feature can express is
        in `terms`: over the training rows, by their weights, the mean of each row and each column
        of a table is 0 [1]_ (values without training rows, such as missing ones, have the mean by
        the weights of the other feature). With lists of features, and for models saved before this
        was so, the tables are the plain sums of the trees.

        References
        ----------
        .. [1] Lengerich et al., "Purifying interaction effects with the functional ANOVA: an
           efficient algorithm for recovering identifiable additive models", AISTATS 2020.
           https://arxiv.org/abs/1911.04974

        Examples
        --------
        >>> import numpy as np
        >>> from aucrank import GradientBoostingRanker
        >>> X = np.random.default_rng(0).integers(0, 2, size=(400, 3))
        >>> y = X[:, 0] != X[:, 1]
        >>> model = GradientBoostingRanker.additive(interactions=1, n_rounds=5, random_state=0)
        >>> model.fit(X, y).pair_terms()["rule_1"][:3].tolist()
        ['x0 = 0', 'x0 = 0', 'x0 = 0']
        """
        return table_of_pairs(self._words, self._merged_pairs())

    def explain(self, X: Any) -> NDArray[np.float64]:
        """Return the contribution of each feature, and each pair, to the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n, n_features + n_pairs)
            The function of each feature at the row, as `terms` lists them, 0 for features that have
            none; then that of each pair of ``pairs_``, as `pair_terms` lists them.
            ``term_names_`` names the columns. A row plus ``base_score_`` equals its
            `decision_function` to the last bit, in any order, since all values are multiples of a
            power of two.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If trees use more than two features together, or the columns are not those seen in fit.

        Examples
        --------
        >>> import numpy as np
        >>> from aucrank import GradientBoostingRanker
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = GradientBoostingRanker.additive(n_bags=2, random_state=0).fit(X, y)
        >>> parts = model.explain(X)
        >>> parts.shape
        (569, 30)
        >>> np.array_equal(parts.sum(axis=1) + model.base_score_, model.decision_function(X))
        True
        """
        check_is_fitted(self)
        self._check_additive()
        parts: NDArray[np.float64] = self._query("explain", X)  # type: ignore[attr-defined]
        return parts.reshape(-1, len(self.term_names_))

    def plot_terms(
        self,
        features: "Sequence[int | str | tuple[int | str, int | str]] | int" = 9,
        *,
        ax: "Sequence[Axes] | Axes | None" = None,
    ) -> TermsDisplay:
        """Draw the function of each feature, and of each pair, with matplotlib.

        Parameters
        ----------
        features : int or sequence of int, str or tuple, default=9
            Maximal number of features and pairs, those with the largest range first; or which ones,
            a feature by position or by name, and a pair as a tuple of two of them, the first for
            the horizontal axis.
        ax : matplotlib.axes.Axes or a sequence of them, default=None
            Axes to draw on, one for each. None makes a figure.

        Returns
        -------
        TermsDisplay
            The display. A function of one feature is a line or bars; these panels have the same
            height in units of the score, and a dotted line is the contribution of missing values.
            That of a pair is a map with the same colours in all panels, white for 0; all bins of a
            number have the same width there, and missing values are at the end.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If trees use more than two features together, a feature is unknown, a feature or pair
            has no term, or there are not as many axes as terms.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from aucrank import GradientBoostingRanker
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = GradientBoostingRanker.additive(n_bags=2, random_state=0).fit(X, y)
        >>> [ax.get_xlabel() for ax in model.plot_terms(["worst_area", "mean_texture"]).axes_]
        ['worst_area', 'mean_texture']
        """
        terms = [*self._merged(), *self._merged_pairs()]
        return draw_terms(terms, self._schema_of_terms, features, ax)

    def _merged_pairs(self) -> list[PairTable]:
        """Return the functions of pairs."""
        check_is_fitted(self)
        self._check_additive()
        schema = self._schema
        return [parse_pair(pair, schema) for pair in json.loads(self._model.pair_terms())]

    def _ranges_of_pairs(self) -> Table:
        """Return the smallest and the largest contribution of each pair."""
        names, pairs = self._schema_of_terms.shown_names, self._merged_pairs()
        firsts, seconds = ([names[pair.features[k]] for pair in pairs] for k in (0, 1))
        return Table(
            feature_1=np.array(firsts, dtype=np.str_),
            feature_2=np.array(seconds, dtype=np.str_),
            low=np.array([pair.values.min() for pair in pairs]),
            high=np.array([pair.values.max() for pair in pairs]),
        )

    def _step_functions(self) -> str:
        self._check_additive()
        if self._model.is_additive:
            return self._model.merged_terms()
        names = ", ".join(names_of_pairs(self.pairs_, self._schema))
        raise ValueError(
            f"the trees of this {type(self).__name__} test pairs of features ({names}): a scorecard"
            " needs trees that test a single feature: interactions=0"
        )

    def _check_additive(self) -> None:
        if self._model.pairs() is None:
            raise ValueError(self._why_no_terms())

    def _why_no_terms(self) -> str:
        return (
            f"the trees of this {type(self).__name__} test several features: only a sum of"
            " functions of single features and of pairs can be shown (interactions=0, or"
            " a number of pairs); to_shap explains any"
        )

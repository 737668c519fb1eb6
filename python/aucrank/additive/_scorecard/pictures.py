"""Plots of a fitted scorecard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aucrank._export.formula import LevelSteps, NumberSteps, Sum, read_formula
from aucrank._plots.card import CardDisplay, Panel, draw_card
from aucrank._plots.terms import TermsDisplay, draw_terms
from aucrank.additive._scorecard.written import WrittenCard

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DrawnCard(WrittenCard):
    """The plots of a `Scorecard`."""

    def plot(
        self,
        features: Sequence[str] | int | None = None,
        *,
        ax: Sequence[Axes] | Axes | None = None,
    ) -> CardDisplay:
        """Draw the whole card with matplotlib: the points of each bin, a panel for each feature.

        Parameters
        ----------
        features : int or sequence of str, default=None
            Maximum number of features, those with the widest range of points first; or their names.
            None draws all, in the order of the columns.
        ax : matplotlib.axes.Axes or a sequence of them, default=None
            Where to draw, one for each feature. None makes a figure.

        Returns
        -------
        CardDisplay
            What was drawn. All panels have the same scale; bars of values without training rows are
            pale.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        ImportError
            If matplotlib is not installed.
        ValueError
            If no feature has points, one is not on the card, or there are too few or too many axes.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from aucrank import Scorecard
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> card = Scorecard(min_bin_share=0.2).fit(X[["worst_area", "mean_texture"]], y)
        >>> [panel.get_title(loc="left") for panel in card.plot().axes_]
        ['worst_area', 'mean_texture']
        """
        sheet = self._sheet()
        panels = []
        for feature in sheet.features:
            lines = sheet.all_lines(feature)
            panels.append(
                Panel(
                    feature.name,
                    [label for label, _ in lines],
                    [bin_.points for _, bin_ in lines],
                    [bin_.size / sheet.size for _, bin_ in lines],
                )
            )
        return draw_card(panels, sheet.initial_points, features, ax)

    def plot_terms(
        self,
        features: Sequence[str | int] | int = 9,
        *,
        ax: Sequence[Axes] | Axes | None = None,
    ) -> TermsDisplay:
        """Draw the points of features by their value with matplotlib.

        Parameters
        ----------
        features : int or sequence of str or int, default=9
            Maximum number of features, those with the widest range of points first; or their names
            or positions.
        ax : matplotlib.axes.Axes or a sequence of them, default=None
            Where to draw, one for each feature. None makes a figure.

        Returns
        -------
        TermsDisplay
            What was drawn: numbers as steps, categories as bars.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        ImportError
            If matplotlib is not installed.
        ValueError
            If a feature is unknown or has no points, or there are too few or too many axes.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from aucrank import Scorecard
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> card = Scorecard().fit(X[["worst_area", "mean_texture"]], y)
        >>> card.plot_terms(["worst_area"]).axes_[0].get_ylabel()
        'points'
        """
        self._sheet()
        formula = read_formula(self._model.points_formula(), "Scorecard", "pictures")
        parts = formula.terms if isinstance(formula, Sum) else (formula,)
        terms = [part for part in parts if isinstance(part, NumberSteps | LevelSteps)]
        return draw_terms(terms, self._schema, features, ax, what="points")

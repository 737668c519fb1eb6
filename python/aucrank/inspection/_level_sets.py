"""Level sets of a score, next to those of the true eta."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank._base.scoring import score_rows, scoring_method
from aucrank._data.labels import encode_binary, match_labels
from aucrank._plots.pyplot import import_pyplot
from aucrank._utils.params import check_bool, check_int
from aucrank.inspection._grid import Column, make_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure, SubFigure

# Maximum number of level sets with lines between them; beyond, colours are continuous.
_MOST_OUTLINED = 64


class LevelSetDisplay:
    """Level sets of a score over two features, next to those of the true eta.

    Only the order of a ranking score is meaningful. So the colour of a point is not its score but
    its rank: the share of the rows of ``X`` that score below it, a tie counting one half. A score
    with K values shows K regions, the sets ``{x : a < s(x) <= b}`` of [1]_ (Figs. 9 to 13), and two
    scores that rank alike have the same picture.

    Made by :meth:`from_estimator`. The parameters are stored as attributes of the same names, and
    :meth:`plot` draws them again.

    Parameters
    ----------
    edges : tuple of two ndarrays, each of shape (grid_resolution + 1,)
        Edges of the cells of the grid, along the first and the second feature.
    levels : ndarray of shape (grid_resolution, grid_resolution)
        Rank of the centre of each cell, from 0 to 1; a row for each value of the second feature.
    eta_levels : ndarray of shape (grid_resolution, grid_resolution), default=None
        The same for the true eta.
    feature_names : tuple of two str, default=("x0", "x1")
        Labels of the axes.
    name : str, default="Score"
        Title of the picture of the score.
    points : ndarray of shape (n, 2), default=None
        Rows to draw on top.
    positive : ndarray of bool, shape (n,), default=None
        Which of them are positive.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
        The figure drawn on.
    ax_ : matplotlib.axes.Axes
        The axes of the score.
    surface_ : matplotlib.collections.QuadMesh
        Its regions.
    outline_ : matplotlib.collections.LineCollection or None
        The lines between them, if there are at most 64 levels.
    eta_ax_, eta_surface_, eta_outline_ : Axes, QuadMesh and LineCollection, or None
        The same for the true eta.
    colorbar_ : matplotlib.colorbar.Colorbar or None
        The colour bar, if requested.

    See Also
    --------
    sklearn.inspection.DecisionBoundaryDisplay : Draws the values of a model, not ranks.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Mach. Learn. 83, 2011, sec. 6. https://hal.science/hal-00416054

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from aucrank import TreeRank
    >>> from aucrank.datasets import make_uniform_mixture
    >>> from aucrank.inspection import LevelSetDisplay
    >>> rows = make_uniform_mixture(500, random_state=0)
    >>> model = TreeRank(pruning=None, max_depth=2).fit(rows.X, rows.y)
    >>> display = LevelSetDisplay.from_estimator(model, rows.X, y=rows.y, eta=rows.eta)
    >>> np.unique(display.levels).size, np.unique(display.eta_levels).size
    (4, 4)
    >>> display.eta_ax_.get_title(), display.ax_.get_title()
    ('True eta', 'TreeRank')
    """

    figure_: Figure | SubFigure
    ax_: Axes
    surface_: QuadMesh
    outline_: LineCollection | None
    eta_ax_: Axes | None
    eta_surface_: QuadMesh | None
    eta_outline_: LineCollection | None
    colorbar_: Colorbar | None

    def __init__(
        self,
        *,
        edges: tuple[NDArray[np.float64], NDArray[np.float64]],
        levels: NDArray[np.float64],
        eta_levels: NDArray[np.float64] | None = None,
        feature_names: tuple[str, str] = ("x0", "x1"),
        name: str = "Score",
        points: NDArray[np.float64] | None = None,
        positive: NDArray[np.bool_] | None = None,
    ) -> None:
        self.edges = edges
        self.levels = levels
        self.eta_levels = eta_levels
        self.feature_names = feature_names
        self.name = name
        self.points = points
        self.positive = positive

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: Sequence[Column] = (0, 1),
        y: ArrayLike | None = None,
        eta: Callable[[Any], ArrayLike] | None = None,
        grid_resolution: int = 200,
        n_levels: int | Literal["matched"] | None = None,
        at: int | Mapping[Column, Any] | None = None,
        name: str | None = None,
        ax: Axes | Sequence[Axes] | None = None,
        colorbar: bool = True,
        **kwargs: Any,
    ) -> LevelSetDisplay:
        """Draw the level sets of a score.

        Parameters
        ----------
        estimator : estimator or callable
            A fitted classifier of two classes with ``decision_function`` or ``predict_proba``, or
            a function that takes rows such as ``X`` and returns a score for each.
        X : array-like or data frame of shape (n, n_features)
            Rows among which ranks are computed. The picture covers their range.
        features : sequence of two int or str, default=(0, 1)
            Numeric columns for the two axes, by position or by name.
        y : array-like of shape (n,), default=None
            Labels, to draw the rows on top: positive ones white, negative ones black.
        eta : callable, default=None
            The true chance that a row is positive, or any other score to compare with; it takes
            rows such as ``X``. Drawn in a panel of its own, on the left.
        grid_resolution : int, default=200
            Number of cells along each axis.
        n_levels : int, "matched" or None, default=None
            None shows every distinct value; an int that many bands of equal mass, from the lowest
            to the highest rows of ``X``. "matched" shows every value of the score, and eta in bands
            of the same masses: the best level sets that a tree with that many leaves can find.
        at : int, mapping or None, default=None
            Values of the other columns: those of a row of ``X``, by its position; or those of a
            mapping from columns, by position or by name. Columns not given are held at their
            median, or at their most frequent value if not numeric.
        name : str, default=None
            Title; None takes the name of the estimator.
        ax : matplotlib.axes.Axes or two of them, default=None
            Where to draw; with ``eta`` a pair, eta first. None makes a new figure.
        colorbar : bool, default=True
            Whether to draw a colour bar.
        **kwargs : dict
            Passed to :meth:`matplotlib.axes.Axes.pcolormesh`, such as ``cmap``.

        Returns
        -------
        LevelSetDisplay
            What was computed and drawn.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        TypeError, ValueError
            If the estimator cannot score rows, a column does not exist or is not numeric, or ``y``
            and ``X`` do not fit together.
        NotFittedError
            If the estimator is not fitted.
        """
        import_pyplot("LevelSetDisplay")
        resolution = check_int(grid_resolution, "grid_resolution", low=2)
        assert resolution is not None
        bands = _check_n_levels(n_levels, with_eta=eta is not None)
        grid = make_grid(X, features, resolution, at)
        n_rows = len(grid.points)
        positive = None if y is None else _positive_rows(estimator, y, n_rows)

        def ranks_of(score: Callable[[Any], Any], what: str) -> tuple[NDArray[np.float64], Any]:
            rows = _scores(score(X), n_rows, what)
            cells = _scores(score(grid.rows), resolution**2, what)
            return rows, _ranks(cells, rows)

        rows, levels = ranks_of(*_score_of(estimator))
        eta_levels = None if eta is None else ranks_of(eta, "eta")[1]
        if bands == "matched":
            eta_levels = _in_bands(eta_levels, _masses(rows))
        elif bands is not None:
            cuts = np.linspace(0, 1, bands + 1)
            levels = _in_bands(levels, cuts)
            eta_levels = None if eta_levels is None else _in_bands(eta_levels, cuts)

        shape = (resolution, resolution)
        display = cls(
            edges=grid.edges,
            levels=levels.reshape(shape),
            eta_levels=None if eta_levels is None else eta_levels.reshape(shape),
            feature_names=grid.names,
            name=_name(estimator) if name is None else name,
            points=None if positive is None else grid.points,
            positive=positive,
        )
        return display.plot(ax, colorbar=colorbar, **kwargs)

    def plot(
        self,
        ax: Axes | Sequence[Axes] | None = None,
        *,
        colorbar: bool = True,
        **kwargs: Any,
    ) -> LevelSetDisplay:
        """Draw the stored level sets.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or two of them, default=None
            Where to draw; a pair if there is an eta, which comes first. None makes a new figure.
        colorbar : bool, default=True
            Whether to draw a colour bar.
        **kwargs : dict
            Passed to :meth:`matplotlib.axes.Axes.pcolormesh`, such as ``cmap``.

        Returns
        -------
        LevelSetDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``ax`` does not hold as many axes as there are panels.
        """
        plt = import_pyplot("LevelSetDisplay")
        check_bool(colorbar, "colorbar")
        panels = [(self.name, self.levels)]
        if self.eta_levels is not None:
            panels.insert(0, ("True eta", self.eta_levels))
        if ax is None:
            size = (4.6 * len(panels) + 1, 4.6)
            figure = plt.figure(figsize=size, layout="constrained")
            axes = list(figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0])
        else:
            axes = list(np.ravel(np.array(ax, dtype=object)))
        if len(axes) != len(panels):
            raise ValueError(f"ax must hold {len(panels)} axes, got {len(axes)}")

        drawn = [
            self._draw(axis, title, levels, kwargs)
            for axis, (title, levels) in zip(axes, panels, strict=True)
        ]
        self.ax_, (self.surface_, self.outline_) = axes[-1], drawn[-1]
        self.eta_ax_ = self.eta_surface_ = self.eta_outline_ = None
        if len(panels) == 2:
            self.eta_ax_, (self.eta_surface_, self.eta_outline_) = axes[0], drawn[0]
            if ax is None:
                self.ax_.set_ylabel("")
        self.figure_ = self.ax_.figure
        if ax is None and self.points is not None:
            handles = self.ax_.get_legend_handles_labels()
            self.figure_.legend(
                *handles, loc="outside lower left", ncols=2, frameon=False, markerscale=1.5
            )
        self.colorbar_ = None
        if colorbar:
            label = "Share of rows that score below"
            self.colorbar_ = self.figure_.colorbar(self.surface_, ax=axes, label=label)
        return self

    def _draw(
        self, ax: Axes, title: str, levels: NDArray[np.float64], kwargs: dict[str, Any]
    ) -> tuple[QuadMesh, LineCollection | None]:
        from matplotlib.collections import LineCollection

        across, up = self.edges
        surface = ax.pcolormesh(across, up, levels, **{"vmin": 0, "vmax": 1, **kwargs})
        outline = None
        if np.unique(levels).size <= _MOST_OUTLINED:
            outline = LineCollection(_borders(across, up, levels), colors="white", linewidths=0.8)
            ax.add_collection(outline, autolim=False)
        if self.points is not None and self.positive is not None:
            # Many rows would hide the picture below.
            size = float(np.clip(12_000 / len(self.points), 6, 22))
            # Each has an edge of the other's colour, visible on dark and light backgrounds.
            for rows, label, colours in (
                (~self.positive, "negative", ("black", "white")),
                (self.positive, "positive", ("white", "black")),
            ):
                ax.scatter(
                    self.points[rows, 0], self.points[rows, 1], s=size, label=label,
                    facecolors=colours[0], edgecolors=colours[1], linewidths=0.1 * size**0.5,
                )  # fmt: skip
        ax.set(xlim=across[[0, -1]], ylim=up[[0, -1]])
        ax.set_title(title, parse_math=False)
        ax.set_xlabel(self.feature_names[0], parse_math=False)
        ax.set_ylabel(self.feature_names[1], parse_math=False)
        return surface, outline


def _check_n_levels(n_levels: Any, *, with_eta: bool) -> int | Literal["matched"] | None:
    if not isinstance(n_levels, str):
        return check_int(n_levels, "n_levels", low=1, optional=True)
    if n_levels != "matched":
        raise ValueError(f"n_levels must be an int, 'matched' or None, got {n_levels!r}")
    if not with_eta:
        raise ValueError("n_levels='matched' needs eta, which it cuts like the score")
    return "matched"


def _score_of(estimator: Any) -> tuple[Callable[[Any], Any], str]:
    """Return the scoring function, and its name in messages."""
    method = scoring_method(estimator)
    if method is None:
        if callable(estimator) and not isinstance(estimator, type):
            return estimator, "the score"
        raise TypeError(
            "estimator must have decision_function or predict_proba or be a function of X, got"
            f" {estimator!r}"
        )
    return partial(score_rows, estimator), f"{type(estimator).__name__}.{method}"


def _name(estimator: Any) -> str:
    return "Score" if scoring_method(estimator) is None else type(estimator).__name__


def _scores(values: Any, n: int, what: str) -> NDArray[np.float64]:
    scores = np.asarray(values, dtype=np.float64)
    if scores.shape != (n,):
        raise ValueError(
            f"{what} must give one score a row, shape {(n,)}, but gave shape {scores.shape}"
        )
    if np.isnan(scores).any():
        raise ValueError(f"{what} gave NaN, which has no place in an order")
    return scores


def _positive_rows(estimator: Any, y: ArrayLike, n_rows: int) -> NDArray[np.bool_]:
    classes = np.asarray(getattr(estimator, "classes_", ()))
    positive = match_labels(y, classes) if len(classes) == 2 else encode_binary(y)[1]
    if len(positive) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(positive)}")
    return positive


def _ranks(scores: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the rows that score below, a tie counting one half."""
    ordered = np.sort(rows)
    below = np.searchsorted(ordered, scores, side="left")
    upto = np.searchsorted(ordered, scores, side="right")
    ranks: NDArray[np.float64] = (below + upto) / (2 * len(rows))
    return ranks


def _masses(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the rows up to each distinct score, 0 first."""
    counts = np.unique(rows, return_counts=True)[1]
    return np.concatenate(([0], np.cumsum(counts))) / len(rows)


def _in_bands(ranks: Any, cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Middle of the band ``[cuts[k], cuts[k + 1])`` that each rank is in."""
    band = np.searchsorted(cuts[1:-1], ranks, side="right")
    middles: NDArray[np.float64] = (cuts[:-1] + cuts[1:])[band] / 2
    return middles


def _borders(
    across: NDArray[np.float64], up: NDArray[np.float64], levels: NDArray[np.float64]
) -> list[list[tuple[float, float]]]:
    """Sides of cells between two levels."""
    lines = []
    for j, i in zip(*np.nonzero(levels[:, 1:] != levels[:, :-1]), strict=True):
        lines.append([(across[i + 1], up[j]), (across[i + 1], up[j + 1])])
    for j, i in zip(*np.nonzero(levels[1:] != levels[:-1]), strict=True):
        lines.append([(across[i], up[j + 1]), (across[i + 1], up[j + 1])])
    return lines

"""A page about a fitted ranker, made without any rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aucrank._page import formats
from aucrank._page.page import Chapter, Collapsed, import_jinja, render
from aucrank._page.tables import MOST_ROWS, Bar, Heading, View, parameters, parts_of
from aucrank._utils.words import plural

if TYPE_CHECKING:
    from aucrank._base.ranker import BaseRanker


def model_page(ranker: BaseRanker) -> str:
    """Write the page of a ranker.

    Parameters
    ----------
    ranker : BaseRanker
        Fitted.

    Raises
    ------
    ImportError
        If jinja2 is not installed.
    """
    kind = type(ranker).__name__
    import_jinja(f"{kind}.to_html")
    negative, positive = ranker.classes_.tolist()
    inside = Chapter("model", "The model itself", parts=parts_of(ranker._summary()))
    if not inside.parts:
        inside.text = f"A {kind} has no short form: the columns above show most of it."
    settings = parameters(ranker, "Parameters of the estimator")
    if settings is not None:
        inside.folds.append(Collapsed("Parameters", [settings]))
    return render(
        title=f"{kind}: {positive} above {negative}",
        timestamp=None,
        summary=_summary(ranker, negative, positive),
        cautions=(),
        headline=_columns(ranker),
        chapters=[inside],
        limits=[
            "The page is written from the fitted model alone. It shows what the model does, not how"
            " well: a report, which needs rows, shows that.",
            "Counts and shares of rows, gains and areas are those of the rows of the fit; an area"
            " that is not said to be of rows left out flatters the model.",
            "Importances compare the columns of this model. Columns that go together share theirs.",
        ],
    )


def _summary(ranker: BaseRanker, negative: object, positive: object) -> list[str]:
    """Describe the model in words, by paragraph."""
    kind, size = type(ranker).__name__, ranker._size()
    n_columns = plural(ranker.n_features_in_, "column")
    n_categorical = sum(levels is not None for levels in ranker._schema.n_levels)
    of_categories = f", {n_categorical:,} of them with categories" if n_categorical else ""
    probabilities = " It gives probabilities, too." if hasattr(ranker, "predict_proba") else ""
    return [
        f"This {kind}{f' ({size})' if size else ''} {ranker._does()} rows of class {positive} above"
        f" rows of class {negative}: the higher its score, the more likely a row is {positive}."
        f" Scores above 0 are called {positive}.{probabilities}",
        f"It was fitted to {n_columns}{of_categories}.",
    ]


def _columns(ranker: BaseRanker) -> View:
    """Show the columns, the most important first."""
    schema = ranker._schema
    heads = [Heading("Column", is_text=True), Heading("Kind", is_text=True)]
    importance_of = ranker._of_features().get("importance")
    importance = (
        None if importance_of is None else np.asarray(list(importance_of), dtype=np.float64)
    )
    order = np.arange(len(schema.features))
    if importance is not None:
        heads.append(Heading("Importance"))
        order = np.argsort(-importance, kind="stable")
    largest = 0.0 if importance is None else np.max(importance, initial=0.0)
    rows: list[list[str | Bar]] = []
    for place in order[:MOST_ROWS]:
        n_levels = schema.n_levels[place]
        kind = "number" if n_levels is None else plural(n_levels, "category", "categories")
        rows.append([schema.shown_name(place), kind])
        if importance is not None:
            of_largest = max(0.0, importance[place] / largest) if largest > 0 else 0.0
            rows[-1].append(Bar(formats.number(importance[place]), 0.0, of_largest))
    more = len(order) - len(rows)
    return View(
        "Columns" if importance is None else "Columns, the most important first",
        heads,
        rows,
        f"{plural(more, 'more column is', 'more columns are')} left out." if more > 0 else "",
    )

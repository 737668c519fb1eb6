"""Terms of a fitted `AURORA`: tables, rules, parts of scores, SQL and plots."""

import json
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._data.schema import Schema
from aucrank._data.table import Table
from aucrank._export.formula import parse_steps
from aucrank._plots.path import PathDisplay, draw_path
from aucrank._plots.terms import TermsDisplay, draw_terms
from aucrank._utils.numbers import rounded
from aucrank._utils.params import check_int
from aucrank._utils.plain_text import shown
from aucrank.ramp._binary_terms import BinaryTerm, words_of_terms

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Columns of a text.
_WIDTH = 88

#: Conjunction of a pair, by its name in the core.
_JOINED_BY = {"first": "", "and": " and ", "or": " or "}


class AuroraTermsMixin:
    """For `AURORA`: the terms of a fitted score."""

    _model: _core.Aurora
    _schema: Schema
    classes_: NDArray[Any]

    def terms(self) -> Table:
        """Return the terms of the score.

        Returns
        -------
        Table
            One row for each term, in the order of the search: ``rule`` (its condition, in words),
            ``features`` (the names of its features, or ``x0`` for a first column without one),
            ``coefficient`` (its contribution to the score where it is on) and ``gain`` (its
            contribution to the ramp statistic of the training rows when found).

        Raises
        ------
        NotFittedError
            If there is no model yet.

        Notes
        -----
        The score of a row is the sum of the coefficients of the terms that are on, less
        ``threshold_``. Thresholds are shown with all digits.

        Examples
        --------
        >>> import pandas as pd
        >>> from aucrank import AURORA
        >>> X = pd.DataFrame({
        ...     "age": [30, 40, 50, 60, 30, 40, 50, 60],
        ...     "smoker": pd.Categorical(["no", "no", "no", "no", "yes", "yes", "yes", "yes"]),
        ... })
        >>> y = ["healthy", "healthy", "healthy", "healthy", "healthy", "healthy", "sick", "sick"]
        >>> AURORA(radius=1.0, selection=None, min_gain=0.01).fit(X, y).terms()
        rule         features  coefficient    gain
        age >= 45    age            0.7071  0.3337
        smoker = no  smoker        -0.7071  0.1668
        """
        model = self._fitted_model
        names = self._schema.shown_names
        terms = json.loads(model.terms())
        features = [
            ", ".join(dict.fromkeys(names[literal["feature"]] for literal in _literals(term)))
            for term in terms
        ]
        return Table(
            rule=np.array(self._rules(), dtype=np.str_),
            features=np.array(features, dtype=np.str_),
            coefficient=model.values(),
            gain=model.gains(),
        )

    def rules(self, n_terms: int | None = None) -> str:
        """Describe the score in words, for a person to read.

        Parameters
        ----------
        n_terms : int or None, default=None
            Number of terms to describe, those with the largest coefficients first; None for all.

        Returns
        -------
        str
            How a row is scored, then the terms in favour of the positive class and those in favour
            of the negative one, the largest coefficient first.

        Raises
        ------
        NotFittedError
            If there is no model yet.

        Examples
        --------
        >>> import pandas as pd
        >>> from aucrank import AURORA
        >>> X = pd.DataFrame({
        ...     "age": [30, 40, 50, 60, 30, 40, 50, 60],
        ...     "smoker": pd.Categorical(["no", "no", "no", "no", "yes", "yes", "yes", "yes"]),
        ... })
        >>> y = ["healthy", "healthy", "healthy", "healthy", "healthy", "healthy", "sick", "sick"]
        >>> print(AURORA(radius=1.0, selection=None, min_gain=0.01).fit(X, y).rules())
        A row scores the sum of the coefficients of the terms below that hold for it, less
        0.353553. Above 0 it is called 'sick', else 'healthy'.
        <BLANKLINE>
        For 'sick':
          +0.7071  age >= 45
        <BLANKLINE>
        For 'healthy':
          -0.7071  smoker = no
        """
        check_int(n_terms, "n_terms", low=1, optional=True)
        model = self._fitted_model
        values = model.values()
        # Ties are broken by the order of the search.
        heavy = np.argsort(-np.abs(values), kind="stable")
        printed, rest = heavy[:n_terms], len(heavy[n_terms:]) if n_terms is not None else 0
        # A numpy scalar as a plain value.
        negative, positive = (repr(value) for value in self.classes_.tolist())
        if not len(heavy):
            return f"No term distinguishes {positive} from {negative}: all rows score 0."
        less = "less" if model.threshold >= 0 else "plus"
        lines = textwrap.wrap(
            "A row scores the sum of the coefficients of the terms below that hold for it,"
            f" {less} {rounded(abs(model.threshold))}. Above 0 it is called {positive}, else"
            f" {negative}.",
            _WIDTH,
        )
        rules = [shown(rule) for rule in self._rules()]
        for label, sign in ((positive, 1.0), (negative, -1.0)):
            speaking = [place for place in printed if sign * values[place] > 0]
            if not speaking:
                continue
            said = [f"{values[place]:+.4f}" for place in speaking]
            width = max(map(len, said))
            lines += ["", f"For {label}:"]
            lines += [
                f"  {text:>{width}}  {rules[place]}"
                for text, place in zip(said, speaking, strict=True)
            ]
        if rest:
            lines += ["", f"And {rest} more of coefficients no larger."]
        return "\n".join(lines)

    def explain(self, X: Any) -> NDArray[np.float64]:
        """Return what each term adds to the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit. A category that was not seen there is missing.

        Returns
        -------
        ndarray of float64, shape (n, n_terms)
            The coefficient of each term, in the order of `terms`, where it is on, and 0 where it
            is not. A row and ``base_score_`` add up to its `decision_function`: to the last bit,
            in any order, since all coefficients are multiples of a power of two.

        Raises
        ------
        NotFittedError
            If there is no model yet.
        ValueError
            If the columns are not those seen in fit.

        Examples
        --------
        >>> import numpy as np
        >>> from aucrank import AURORA
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = AURORA(max_features=10, radius=3.0, random_state=0).fit(X, y)
        >>> parts = model.explain(X)
        >>> parts.shape == (569, model.n_terms_)
        True
        >>> np.array_equal(parts.sum(axis=1) + model.base_score_, model.decision_function(X))
        True
        """
        n_terms = self._fitted_model.n_terms
        parts: NDArray[np.float64] = self._query("explain", X)  # type: ignore[attr-defined]
        if n_terms:
            return parts.reshape(-1, n_terms)
        # Without terms the number of rows is not in the parts.
        scores: NDArray[np.float64] = self._query("score", X)  # type: ignore[attr-defined]
        return parts.reshape(len(scores), 0)

    def plot_terms(
        self,
        features: "Sequence[int | str] | int" = 9,
        *,
        ax: "Sequence[Axes] | Axes | None" = None,
    ) -> TermsDisplay:
        """Draw the step function of each feature with matplotlib, for a score of single features.

        Parameters
        ----------
        features : int or sequence of int or str, default=9
            Maximum number of features, those with the widest range of values first; or which ones,
            by position or by name.
        ax : matplotlib.axes.Axes or a sequence of them, default=None
            Where to draw, one for each feature. None makes a figure.

        Returns
        -------
        TermsDisplay
            What was drawn. Panels have the same height in units of the score, so that steps can be
            compared; a dotted line is the value of missing ones.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If there is no model yet.
        ValueError
            If a term uses two features, as some do with ``order=2``; if a feature is unknown or has
            no term, or there are not as many axes as features.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from aucrank import AURORA
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = AURORA(order=1, max_features=10, radius=3.0, random_state=0).fit(X, y)
        >>> [ax.get_xlabel() for ax in model.plot_terms(1).axes_]
        ['worst_texture']
        """
        terms = [parse_steps(term) for term in json.loads(self._step_functions())]
        return draw_terms(terms, self._schema, features, ax)

    @property
    def path_(self) -> Table:
        """Return the ranking statistics after each term of the search.

        Returns
        -------
        Table
            Columns ``n_terms``, from 1; ``train_ramp`` and ``train_auc``, of the training rows; if
            rows were held out, ``validation_ramp``, ``validation_auc`` and ``smoothed``, the one
            that is the ``criterion`` after smoothing; ``kept``, true for the chosen number of
            terms.
        """
        model = self._fitted_model
        path = json.loads(model.path())
        n_terms = np.arange(1, len(path) + 1)
        parts = ["train"]
        if path and path[0]["validation"] is not None:
            parts.append("validation")
        columns = {
            f"{part}_{name}": [step[part][name] for step in path]
            for part in parts
            for name in ("ramp", "auc")
        }
        if len(parts) > 1:
            columns["smoothed"] = [step["smoothed"] for step in path]
        numbers = {name: np.array(c, dtype=np.float64) for name, c in columns.items()}
        return Table({"n_terms": n_terms} | numbers | {"kept": n_terms == model.n_terms})

    def plot_path(self, *, ax: "Sequence[Axes] | None" = None) -> PathDisplay:
        """Draw ``path_`` with matplotlib: the statistics by number of terms.

        Parameters
        ----------
        ax : sequence of two matplotlib.axes.Axes, default=None
            Where to draw the ramp statistic and the AUC. None makes a figure.

        Returns
        -------
        PathDisplay
            What was drawn: both statistics of the training and of the held-out rows by number of
            terms; a dotted line marks the number kept.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If there is no model yet.
        ValueError
            If no term was found, or there are not two axes.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from aucrank import AURORA
        >>> from aucrank.datasets import make_xor
        >>> simulation = make_xor(500, random_state=0)
        >>> model = AURORA(max_features=20, radius=3.0, random_state=0)
        >>> display = model.fit(simulation.X, simulation.y).plot_path()
        >>> [ax.get_ylabel() for ax in display.axes_]
        ['ramp statistic', 'AUC']
        """
        return draw_path(self.path_, self._fitted_model.criterion, ax)

    @property
    def _fitted_model(self) -> _core.Aurora:
        check_is_fitted(self)
        return self._model

    def _binary_terms(self) -> dict[tuple[int, int], BinaryTerm]:
        """Return the terms of single features that the search chose from, by feature and slot."""
        return {
            (feature, slot): {"feature": feature, "test": test}
            for feature, tests in enumerate(json.loads(self._model.tests()))
            for slot, test in enumerate(tests)
        }

    def _rules(self) -> list[str]:
        """Return each term of the score in words."""
        known = self._binary_terms()
        words = words_of_terms(list(known.values()), self._schema, self._schema.shown_names)
        said = dict(zip(known, words, strict=True))
        return [
            _JOINED_BY[_kind(term)].join(said[_key(literal)] for literal in _literals(term))
            for term in json.loads(self._model.terms())
        ]

    def _step_functions(self) -> str:
        """Return the step functions of the features as JSON text, for a scorecard."""
        model = self._fitted_model
        if not model.is_additive:
            is_pair = [_kind(term) != "first" for term in json.loads(model.terms())]
            place = is_pair.index(True)
            raise ValueError(
                f"term {place + 1} of this {type(self).__name__}, {self._rules()[place]!r}, tests"
                " two features: only a sum of single features can be shown by feature; fit with"
                " order=1"
            )
        return model.merged_terms()


def _kind(term: dict[str, Any]) -> str:
    """Return "first", "and" or "or"."""
    return next(iter(term))


def _literals(term: dict[str, Any]) -> list[dict[str, int]]:
    """Return the one or two terms of single features that a term is made of."""
    (parts,) = term.values()
    return parts if isinstance(parts, list) else [parts]


def _key(literal: dict[str, int]) -> tuple[int, int]:
    return literal["feature"], literal["slot"]


def _test(term: BinaryTerm) -> dict[str, Any]:
    """Return a term as the split of a stump, whose left side has the rows where it is on."""
    is_missing = term["test"] == "missing"
    match term["test"]:
        case "missing":
            left: dict[str, Any] = {"known": False}
        case {"equals": code}:
            left = {"levels": {"only": [code]}}
        case other:
            left = other
    return {"feature": term["feature"], "left": left, "missing_left": is_missing}

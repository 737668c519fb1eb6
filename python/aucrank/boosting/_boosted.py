"""Shared base of AUCBoost and RankBoost: rounds that add terms to a score."""

import json
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.calibrated import CalibratedRanker
from aucrank._base.fit_context import FitContext, ParamScope, RowsContext
from aucrank._base.monotonic import monotonic_directions
from aucrank._base.summary import Section, less
from aucrank._base.validation_set import ValidationSet
from aucrank._data.as_frame import as_frame
from aucrank._data.input import count_rows, read_columns
from aucrank._data.schema import Schema, errors_by_name
from aucrank._data.table import Table
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import (
    binning_params,
    check_bool,
    check_choice,
    check_int,
    check_max_features,
    check_real,
)
from aucrank._utils.threads import threads_for
from aucrank._utils.words import area_up_to, plural
from aucrank.boosting._held_out import (
    check_refit,
    held_out_fraction,
    patience,
    read_validation,
    warn_of_rounds,
)
from aucrank.boosting._terms import TermsMixin
from aucrank.boosting._weak_rankers import WeakRankersMixin, weak_ranker_params
from aucrank.data._stored import Rows

#: Share of the rows that paper 5 (sec. 3.5) holds out to select by.
_WINDOW_FRACTION = 0.25


class BoostedRanker(TermsMixin, WeakRankersMixin, CalibratedRanker):
    """Base of rankers that are sums of terms, one per round."""

    _family: ClassVar[str] = "boosted"
    _model: _core.BoostedModel
    #: The fit of the core.
    _fit_core: ClassVar[Callable[..., _core.BoostedModel]]

    n_rounds: int
    learning_rate: float
    subsample: float
    max_features: Any
    monotonic_cst: Any
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    refit: bool
    warm_start: bool
    max_bins: int | None
    level_rates: str
    verbose: int

    @suggests_keywords
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        gap: Any = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Boost on rows of two classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), or Dataset
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values. Entries that a sparse matrix does not store are
            0; the model is that of the dense matrix, which is never built. A
            :class:`~aucrank.data.Dataset` has rows that need not fit in memory, and their labels
            and weights: the model is that of one frame with all of its rows.
        y : array-like of shape (n,), default=None
            Labels, two distinct values. The greater one is the class to rank first. None where
            ``X`` is a data set.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; weight k means the row repeated k times, and weight 0 a row that
            is not there.
        groups : array-like of shape (n,), default=None
            Which rows belong together, such as those of a patient: they stay together in folds, in
            held-out rows and in samples.
        time : array-like of shape (n,), default=None
            When each row was recorded, as numbers or dates: the latest part is held out, and folds
            are ranges of time.
        gap : float, timedelta or None, default=None
            Rows that are nearer in time than this to held-out rows or a fold, or as near, are left
            out of what is fitted without these: a number, or a timedelta if times are dates. For
            outcomes that are known later. Not for a `Dataset`.
        X_val : array-like or data frame of shape (n_val, n_features), default=None
            Validation rows for choosing the number of rounds, where it is chosen: the columns of
            ``X``, categories matched by value. None to hold out a part of ``X``.
        y_val : array-like of shape (n_val,), default=None
            Their labels, those of ``y``; both must occur.
        sample_weight_val : array-like of shape (n_val,), default=None
            Weight of each of them.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, the data, the labels or the weights are not valid; if there are
            validation rows and nothing is chosen; or if ``warm_start`` is set and the columns or
            classes differ from the last fit.
        """
        validation = ValidationSet(X_val, y_val, sample_weight_val)
        return self._fit(X, y, sample_weight, validation, groups=groups, time=time, gap=gap)

    _fits_dataset = "rows"

    def _asks_rows(self, schema: Schema | None = None, n_rows: int = 0) -> bool:
        # Weights by rank and sampling per class need individual rows.
        return not (self.subsample < 1 or getattr(self, "max_fpr", 1) < 1)

    def _dataset_binning(self, params: Any) -> dict[str, Any]:
        # The treatment of rare categories is decided in the fit.
        return {**params["rounds"]["binning"], "level_rates": "raw"}

    def _round_params(self, scope: ParamScope) -> dict[str, Any]:
        """Return the parameters of the boosting loop in the form of the core, each checked."""
        check_bool(self.warm_start, "warm_start")
        return {
            "binning": binning_params(self.max_bins, self.level_rates, scope.seed),
            "weak_ranker": weak_ranker_params(self.weak_ranker, scope),
            "n_rounds": check_int(self.n_rounds, "n_rounds", low=1),
            "learning_rate": check_real(
                self.learning_rate, "learning_rate", low=0.0, high=1.0, low_open=True
            ),
            "subsample": check_real(self.subsample, "subsample", low=0.0, high=1.0, low_open=True),
            "max_features": check_max_features(self.max_features, scope.n_features),
            "monotonic": monotonic_directions(self.monotonic_cst, scope.schema),
            "held_out": self._held_out_params(),
            "seed": scope.seed,
        }

    def _held_out_params(self) -> dict[str, Any] | None:
        """Return how the number of rounds is chosen, in the form of the core."""
        early_stopping = check_bool(self.early_stopping, "early_stopping")
        selection = check_choice(getattr(self, "selection", None), "selection", (None, "window"))
        fraction, stops = held_out_fraction(self), patience(self)
        check_bool(self.refit, "refit")
        if early_stopping and selection is not None:
            raise ValueError(
                f"early_stopping does not go with selection={selection!r}, which runs all rounds"
            )
        if not early_stopping and selection is None:
            return None
        refit = check_refit(self)
        if early_stopping:
            return {"fraction": fraction, "rule": {"patience": stops}, "refit": refit}
        return {"fraction": _WINDOW_FRACTION, "rule": selection, "refit": refit}

    def _n_stages(self) -> int | None:
        return 2 if self.refit else 1

    def _fit_model(self, context: FitContext) -> _core.BoostedModel:
        sample, earlier = context.sample, context.earlier
        if earlier is not None:
            context = context.going_on(self, "n_rounds", earlier.model.n_rounds, "rounds")
        params = self._core_params(context.scope)
        chosen = params["rounds"]["held_out"] is not None
        validation = read_validation(self, context, is_chosen=chosen)
        fitter = self._external_fitter(sample, () if earlier is None else earlier.rankers)
        model = type(self)._fit_core(
            sample.core,
            json.dumps(params),
            None if earlier is None else earlier.model,
            validation,
            context.n_threads,
            fitter,
            context.progress.observer,
        )
        if fitter is not None:
            self._rankers = fitter.kept
        self._tell(model, is_chosen=chosen)
        return model

    def _bytes_of_state(self) -> int:
        return 8

    def _fit_rows(
        self, rows: Rows, params: dict[str, Any], context: RowsContext
    ) -> _core.BoostedModel:
        model = type(self)._fit_core(
            (rows, context.fit_number),
            json.dumps(params),
            None,
            None,
            context.n_threads,
            observer=context.progress.observer,
        )
        self._tell(model, is_chosen=params["rounds"]["held_out"] is not None)
        return model

    def _tell(self, model: _core.BoostedModel, *, is_chosen: bool) -> None:
        """Warn if nothing was learned, and print a report."""
        nothing = "No weak ranker is better than chance, so all scores are equal."
        warn_of_rounds(model, nothing, is_chosen=is_chosen)
        if self.verbose > 0:
            self._report(model)

    def _rows_held_out(self, model: Any, context: FitContext) -> NDArray[np.uint32] | None:
        params = self._held_out_params()
        if params is None or params["refit"] or model.held_out() is None:
            return None
        return _core.held_out_rows(
            context.sample.core, params["fraction"], model.seed, context.n_threads
        )

    def _report(self, model: _core.BoostedModel) -> None:
        found, name = model.held_out(), type(self).__name__
        print(f"[{name}] {model.n_rounds} rounds")
        if found is not None and found["n_rounds"] > 0:
            auc, what = found["auc"], area_up_to(getattr(self, "max_fpr", 1))
            print(
                f"[{name}] chosen of {len(auc)} by the {what} of the rows held out,"
                f" {auc[found['n_rounds'] - 1]:.4f}"
            )

    @property
    def _fitted_model(self) -> _core.BoostedModel:
        check_is_fitted(self)
        return self._model

    @property
    def n_iter_(self) -> int:
        """Return the number of rounds of the model.

        Returns
        -------
        int
            At most ``n_rounds``.
        """
        return self._fitted_model.n_rounds

    def _size(self) -> str:
        return plural(self.n_iter_, "round")

    def _summary(self) -> list[Section]:
        """Return the summands: by feature if they are separable, else by round."""
        model = self._fitted_model
        if self.n_iter_ == 0:
            return [Section(f"Terms ({self._size()})", "all rows have the same score")]
        if model.is_additive:
            title, table, part = "Terms", self.terms(), "value for each feature"
        else:
            title, part = "Rounds", "value for each round, from low to high"
            table = self.rounds_
        score = f"the sum of one {part}"
        if model.by_sign:
            score = f"1 or -1, by the sign of {score}"
        else:
            score += less(self.threshold_)
        return [Section(f"{title} ({self._size()})", f"score: {score}", table)]

    @property
    def threshold_(self) -> float:
        """Return the sum of rounds above which a row is called positive.

        Returns
        -------
        float
            `decision_function` is the sum minus this.
        """
        return self._fitted_model.threshold

    @property
    def base_score_(self) -> float:
        """Return the constant to which the parts of a row are added.

        Returns
        -------
        float
            ``-threshold_``: a row of `explain` plus this is its `decision_function`.
        """
        return -self.threshold_

    @property
    def validation_path_(self) -> Table | None:
        """Return the AUC of the held-out rows, round by round.

        Returns
        -------
        Table or None
            Columns ``round``, from 1; ``auc``, up to the ``max_fpr`` of a `RankBoost`;
            ``smoothed``, if the number of rounds was selected by the window; ``kept``, true for the
            last round that was kept. None without held-out rows.
        """
        found = self._fitted_model.held_out()
        if found is None:
            return None
        rounds = np.arange(1, len(found["auc"]) + 1)
        columns = {"round": rounds, "auc": found["auc"]}
        if found["smoothed"] is not None:
            columns["smoothed"] = found["smoothed"]
        return Table(columns, kept=rounds == found["n_rounds"])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return the contribution of each feature to the advantage of the rounds over chance.

        Returns
        -------
        ndarray of shape (n_features,)
            Mean over the rounds of AUC - 1/2 of a round on this feature, on the rows as weighted
            for it; 0 for rounds on other features. A round is weighted by the range of the values
            that it adds to the score. The sum of all is the mean advantage of a round, at most 1/2.
            The advantage of a tree is divided in proportion to the squared gains of its stumps.

        Raises
        ------
        AttributeError
            If a weak ranker uses many features at once.
        """
        importances = self._fitted_model.importances()
        if importances is None:
            raise AttributeError(
                "feature_importances_ is not defined for weak rankers that test many features at"
                " once; sklearn.inspection.permutation_importance measures any model"
            )
        return importances

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Score rows by the first round, by the first two, and so on.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit. A category not seen in fit counts as missing.

        Yields
        ------
        ndarray of float64, shape (n,)
            The score after each round, minus the ``threshold_`` of all; the last is what
            `decision_function` returns.
        """
        model = self._fitted_model
        X = as_frame(X)
        columns = read_columns(self, X, self._schema)
        n_rows = count_rows(columns)
        n_threads = threads_for(getattr(self, "n_jobs", None), n_rows)
        sums = np.zeros(n_rows)
        with errors_by_name(self._schema):
            model.check_columns(columns)
        external = self._external_models(X)
        for number in range(model.n_rounds):
            # The values are chosen so that their sums are exact: no stage rounds.
            sums += model.round_values(columns, number, n_threads, external)
            yield model.scores_of(sums)

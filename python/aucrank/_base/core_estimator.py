"""Base class of every estimator: fit, parameters and persistence around a core model."""

import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from inspect import signature
from time import perf_counter
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.callbacks import CallbackSupportMixin, with_callbacks
from aucrank._base.fit_context import DatasetContext, FitContext, ParamScope, RowsContext
from aucrank._base.fit_of_codes import FitOfCodes, fit_there
from aucrank._base.fit_progress import Figures, FitProgress, FitTasks, plural_of
from aucrank._base.persistence import Header, encode_params, read_document, rebuild
from aucrank._base.saving import SaveMixin
from aucrank._base.summary import SummaryMixin
from aucrank._base.validation_set import ValidationSet
from aucrank._base.warm_start import WarmStart
from aucrank._data.as_frame import as_frame
from aucrank._data.block_warnings import warn_of_blocks, warn_of_few_ranges
from aucrank._data.column_warnings import inner_fits_are_silent
from aucrank._data.input import Columns, KindsByColumn, count_rows, learn_columns, read_columns
from aucrank._data.labels import encode_binary
from aucrank._data.leak_warnings import SumsOfValues, warn_of_leaks, warn_of_leaks_by_sums
from aucrank._data.mark_warnings import warn_of_marks
from aucrank._data.reading import Reading, with_times
from aucrank._data.row_blocks import read_blocks
from aucrank._data.sample import Sample
from aucrank._data.schema import Schema, errors_by_name
from aucrank._data.weights import (
    check_class_sums,
    check_class_weight,
    check_weight,
    class_factors,
    weigh_classes,
)
from aucrank._utils.keywords import SuggestsKeywords, suggests_keywords
from aucrank._utils.params import check_seed, check_verbose
from aucrank._utils.threads import effective_n_threads, threads_for
from aucrank._utils.warn import warn_caller
from aucrank.data import Dataset
from aucrank.data._dataset import refuse_for_dataset, refuse_with_dataset
from aucrank.data._raw import RawRows
from aucrank.data._stored import Rows

#: No validation rows.
_NONE_GIVEN = ValidationSet()

#: Row states smaller than this are not counted: a process takes several times as much anyway.
_FEW_BYTES = 1 << 26

#: A `SMartiRank` takes 45, RankBoost with rows held out 37, besides two copies of the codes of 20
#: columns of 400,000 rows.
_BYTES_IN_LOOP = 64


class CoreEstimator(
    SuggestsKeywords, SaveMixin, SummaryMixin, CallbackSupportMixin, BaseEstimator, ABC
):
    """Base of all estimators that learn a core model, with or without labels.

    It does not depend on the use of the model: `BaseRanker` adds scores and labels, a transformer
    its own ``transform``.

    A subclass defines ``__init__`` (which only stores its keyword-only parameters), ``_family``,
    ``_fit_model``, and ``_check_params`` where it has parameters to check. The parameters
    ``n_jobs``, ``random_state`` and ``categorical_features`` are handled here. Whatever it shows of
    a fitted model, such as ``tree_``, is a property that reads ``self._model``: the saved document
    holds the model, and of other attributes only what `_fit_report` returns.

    A fit that fails or is interrupted leaves the estimator unfitted, even if it was fitted before:
    a model that does not match the parameters shown would be worse than none.
    """

    # State after a fit; the document restores all of it.
    _FITTED: ClassVar[tuple[str, ...]] = (
        "_model",
        "_schema",
        "classes_",
        "n_features_in_",
        "feature_names_in_",
        "_calibration",
        "_sampled_rows",
        "_reading",
    )

    #: ``family`` of the core models that this estimator fits.
    _family: ClassVar[str]

    #: Whether a fit needs the two classes. If not, ``fit`` has the default ``y=None``; without
    #: ``y``, ``positive`` is None and there is no ``classes_``.
    _needs_y: ClassVar[bool] = True

    #: Whether ``X`` may be a sparse matrix, whose columns are densified only while they are read.
    _takes_sparse: ClassVar[bool] = False

    _model: _core.Model
    _schema: Schema
    classes_: NDArray[Any]
    #: Number of rows of the sample and of all rows, where the model was learned from a sample.
    _sampled_rows: tuple[int, int]
    #: How the files of the fit were read, if it was fitted to files.
    _reading: Reading
    #: Calibration of the scores, for a `CalibratedRanker` that has one.
    _calibration: _core.Calibration

    #: Name of a stage of a fit for callbacks; None for the plural of its parts.
    _stage_name: ClassVar[str | None] = None

    def _check_params(self) -> None:
        """Raise TypeError or ValueError for an invalid parameter."""
        self._core_params(ParamScope())

    def _check_all_params(self) -> None:
        """Raise TypeError or ValueError for any invalid parameter, including those handled here."""
        self._check_params()
        if hasattr(self, "verbose"):
            check_verbose(self.verbose)
        if hasattr(self, "class_weight"):
            check_class_weight(self.class_weight)

    def _extra_categories(self) -> KindsByColumn | None:
        """Return categorical columns in addition to ``categorical_features``, if any."""
        return None

    @abstractmethod
    def _fit_model(self, context: FitContext) -> _core.Model:
        """Fit the core model.

        When it is called, the columns and ``classes_`` learned from ``X`` and ``y`` are already
        set, so that it can read other rows by them.

        Parameters
        ----------
        context : FitContext
            Its inputs.

        Returns
        -------
        _core.Model
            The fitted model.
        """

    #: How ``fit`` takes a `Dataset`: by querying coded rows for sums (`_fit_rows`), unless the
    #: parameters need more (`_asks_rows`); in passes over its values (`_fit_passes`), with all rows
    #: as codes in memory or with a sample of them (`_fit_model`), or not at all.
    _fits_dataset: ClassVar[Literal["rows", "passes", "codes", "sample"] | None] = None

    #: Whether the sample has all rows of a rare class, and weights that make up for it.
    _samples_classes: ClassVar[bool] = False

    def _dataset_binning(self, params: Any) -> dict[str, Any]:
        """Return the binning of the rows of a `Dataset`, taken from `_core_params`."""
        binning: dict[str, Any] = params["binning"]
        return binning

    def _fit_rows(self, rows: Rows, params: Any, context: RowsContext) -> _core.Model:
        """Fit the core model to rows that are queried for sums, wherever they are stored.

        Parameters
        ----------
        rows : Rows
            Coded by the bins that ``params["binning"]`` describes.
        params : dict
            The result of `_core_params`.
        context : RowsContext
            Its inputs.

        Returns
        -------
        _core.Model
            The fitted model, identical to a fit to the same rows in one frame.
        """
        raise NotImplementedError

    def _fit_passes(self, rows: RawRows, context: RowsContext) -> _core.Model:
        """Fit the core model to raw rows that are read in passes, wherever they are stored.

        Parameters
        ----------
        rows : RawRows
            Answers the queries of the core.
        context : RowsContext
            Its inputs.

        Returns
        -------
        _core.Model
            The fitted model, identical to a fit to the same rows in one frame.
        """
        raise NotImplementedError

    def _check_for_dataset(self) -> None:
        """Raise ValueError for a parameter that needs all rows in a frame."""
        if getattr(self, "warm_start", False):
            raise refuse_for_dataset("warm_start", True, "False")

    def _asks_rows(self, schema: Schema | None = None, n_rows: int = 0) -> bool:
        """Whether a fit to a `Dataset` queries its coded rows for sums, wherever they are stored.

        Parameters
        ----------
        schema : Schema or None
            Columns of the rows, where they are known.
        n_rows : int, default=0
            Number of the rows, where it is known.
        """
        return self._fits_dataset == "rows"

    def _holds_codes(self) -> bool:
        """Whether a fit to a `Dataset` has all rows as codes in memory."""
        return self._fits_dataset in ("codes", "rows") and not self._asks_rows()

    def _bytes_held(self, n_rows: int, n_columns: int) -> int:
        """Return how many bytes a fit to a `Dataset` takes for rows in memory, or their states.

        Parameters
        ----------
        n_rows : int
            Number of rows of the data set.
        n_columns : int
            Number of columns that are learned from.
        """
        # One byte per value, stored by row and by column.
        if self._holds_codes():
            return 2 * n_rows * n_columns
        states = self._bytes_of_state() * n_rows
        return states if states > _FEW_BYTES else 0

    def _bytes_of_state(self) -> int:
        """Return the bytes that a fit by queries keeps per row between queries."""
        return 0

    def _bytes_besides_codes(self, n_rows: int, n_columns: int) -> int:
        """Return how many bytes a fit in memory takes in addition to the coded rows.

        Parameters
        ----------
        n_rows : int
            Number of rows.
        n_columns : int
            Number of columns that are learned from.
        """
        in_loop = (2 * n_columns + self._bytes_in_loop()) * n_rows
        return max(in_loop, self._bytes_held(n_rows, n_columns) if self._holds_codes() else 0)

    def _bytes_in_loop(self) -> int:
        """Return the bytes that a fit in memory takes for each row, besides two copies of codes."""
        return _BYTES_IN_LOOP

    def _check_for_counts(self, dataset: Dataset) -> None:
        """Raise for a target that cannot be learned from the counts of one column at a time."""
        if self._fits_dataset != "passes":
            raise TypeError(
                f"{type(self).__name__} needs whole rows, but of {dataset!r} the values of one"
                " column at a time are counted; RIMARC, MAD2C and a Scorecard of RIMARC are fitted"
                " to these, and all else to rows that are read, as by Dataset.from_batches"
            )

    def _finish_model(self, model: Any, context: FitContext) -> Any:
        """Return the core model to keep: the fitted one after any post-processing."""
        return model

    def _core_params(self, scope: ParamScope) -> Any:
        """Return the parameters in the form of the core, each checked.

        Parameters
        ----------
        scope : ParamScope
            Context in which they are resolved; what is not known yet cannot be checked.
        """
        return {}

    def _n_stages(self) -> int | None:
        """Return the maximal number of stages of a fit, None where only the core knows it."""
        return 1

    def _progress_line(self, unit: str, number: int, most: int | None, figures: Figures) -> str:
        """Return the line that is printed after a part of a fit; see `FitProgress`."""
        done = f"{number} {unit if number == 1 else plural_of(unit)}"
        if most is not None:
            done = f"{number} of {most} {plural_of(unit)}"
        found = [
            f"{name.replace('_', ' ').replace('auc', 'AUC')} {value:.4g}"
            for name, value in figures.items()
            if value is not None
        ]
        return f"[{type(self).__name__}] {', '.join([done, *found])}"

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
    ) -> Self:
        """Fit the model to rows of two classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns,
            and columns of dates, which are days since 1970; NaN, None and null are missing values.
            Objects with ``__arrow_c_stream__`` are read with pyarrow or polars; the fields of a
            structured array are its columns.
        y : array-like of shape (n,)
            Labels, two distinct values. The greater one is the positive class, to be ranked first.
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

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, the data, the labels or the weights are not valid.
        """
        return self._fit(X, y, sample_weight, groups=groups, time=time, gap=gap)

    @with_callbacks
    def _fit(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        validation: ValidationSet = _NONE_GIVEN,
        *,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        gap: Any = None,
    ) -> Self:
        """Run `fit`, with validation rows where there are any."""
        begin = perf_counter()
        earlier = WarmStart.of(self)
        self._reset_fitted()
        try:
            self._check_all_params()
            tasks = FitTasks(self, X, y, sample_weight)
            if self._fits_dataset is not None and isinstance(X, Dataset):
                refuse_with_dataset(
                    y=y,
                    sample_weight=sample_weight,
                    X_val=validation.X,
                    y_val=validation.y,
                    groups=groups,
                    time=time,
                    gap=gap,
                )
                self._fit_dataset(X, FitProgress(self, tasks))
                tasks.end()
                return self
            X = as_frame(X)
            n_threads = effective_n_threads(getattr(self, "n_jobs", None))
            positive, weight = self._read_target(X, y, sample_weight)
            if positive is not None:
                factors = class_factors(
                    getattr(self, "class_weight", None), self.classes_, positive, weight
                )
                weight = weigh_classes(factors, positive, weight)
                check_class_sums(weight, positive, self.classes_)
                validation = replace(validation, class_factors=factors)
            n_rows = None if positive is None else len(positive)
            kept = None if weight is None or weight.all() else weight > 0
            categorical_features = getattr(self, "categorical_features", "from_dtype")
            columns, schema = learn_columns(
                self, X, categorical_features, n_rows, kept, self._extra_categories()
            )
            if groups is None and time is None and "groups" in signature(self.fit).parameters:
                warn_of_blocks(columns, schema, positive)
            warn_of_leaks(columns, schema, positive, weight)
            warn_of_marks(columns, schema)
            seed = check_seed(getattr(self, "random_state", None))
            blocks = read_blocks(groups, time, count_rows(columns), kept, gap)
            if blocks is not None and groups is not None and time is not None:
                warn_of_few_ranges(blocks.of_row if kept is None else blocks.of_row[kept])
            sample = Sample(columns, schema, positive, weight, X, blocks)
            progress = FitProgress(self, tasks, begin=begin)
            context = FitContext(sample, seed, n_threads, progress, validation, earlier)
            with errors_by_name(schema), inner_fits_are_silent():
                model = self._finish_model(self._fit_model(context), context)
            self._set_fitted(getattr(self, "classes_", None), schema, model)
            tasks.end()
        except BaseException:
            self._reset_fitted()
            if isinstance(X, Dataset):
                X.engine.cancel()
            raise
        return self

    def _fit_dataset(self, dataset: Dataset, progress: FitProgress) -> None:
        """Learn from rows that are read in batches."""
        self._check_for_dataset()
        if dataset.is_counted:
            self._check_for_counts(dataset)
        n_threads = effective_n_threads(getattr(self, "n_jobs", None))
        facts = dataset.facts(
            self,
            getattr(self, "categorical_features", "from_dtype"),
            getattr(self, "class_weight", None),
            self._extra_categories(),
        )
        self.classes_ = facts.target.classes
        if facts.blocks is not None and facts.blocks.latest is not None:
            warn_of_few_ranges(facts.blocks.latest)
        seed = check_seed(getattr(self, "random_state", None))
        is_seeded = getattr(self, "random_state", None) is not None
        self._fit_facts(
            DatasetContext(dataset, facts, seed, n_threads, progress, is_seeded=is_seeded)
        )
        if (reading := dataset.reading) is not None:
            self._set_reading(reading)

    def _fit_facts(self, whole: DatasetContext) -> None:
        """Learn from rows that are read in batches, once their facts are known.

        Parameters
        ----------
        whole : DatasetContext
            Its inputs. ``classes_`` and the names of the columns are already set.
        """
        dataset, facts, n_threads = whole.dataset, whole.facts, whole.n_threads
        schema, seed, progress = facts.schema, whole.seed, whole.progress
        if self._fits_dataset == "sample":
            sampled = dataset.sample(facts, n_threads, by_class=self._samples_classes)
            validation = ValidationSet(class_factors=facts.target.class_factors)
            self._fit_sample(
                FitContext(sampled, seed, n_threads, progress, validation), facts.n_rows
            )
            return
        context = RowsContext(
            schema, facts.n_rows, seed, n_threads, progress, fit_number=secrets.randbits(63)
        )
        model: Any
        warn = partial(warn_of_leaks_by_sums, schema=schema, class_counts=facts.target.class_counts)
        with errors_by_name(schema):
            if self._fits_dataset == "passes":
                model = self._fit_passes(whole.raw_rows(), context)
            elif whole.is_queried(self) and not whole.fits_worker(self):
                params = self._core_params(context.scope)
                with whole.rows(self, self._dataset_binning(params)) as rows:
                    warn(partial(SumsOfValues.in_bins, rows, n_threads))
                    model = self._fit_rows(rows, params, context)
            else:
                binning = self._dataset_binning(self._core_params(context.scope))
                coding = {**binning, "level_rates": "raw"}
                if not whole.codes_are_here(self):
                    found = fit_there(self, whole, coding)
                    warn(lambda: found.sums)
                    self._take_fitted(found.estimator)
                    return
                codes = whole.codes(self, coding)
                warn(partial(SumsOfValues.in_bins, codes, n_threads))
                model = FitOfCodes(self, schema, seed).model(codes, n_threads, progress)
        self._set_fitted(facts.target.classes, schema, model)
        if self._fits_dataset == "passes":
            warn(self._sums_of_bins)

    def _take_fitted(self, other: Self) -> None:
        """Become what another estimator of the same parameters is fitted to."""
        for name in self._FITTED:
            if name in vars(other):
                setattr(self, name, getattr(other, name))

    def _sums_of_bins(self) -> list[SumsOfValues]:
        """Return the sums of the bins of each column; for fits in passes."""
        raise NotImplementedError

    def _fit_sample(self, context: FitContext, n_all_rows: int) -> None:
        """Learn from a sample of rows that are read in batches."""
        sample = context.sample
        if sample.n_rows < n_all_rows:
            self._sampled_rows = sample.n_rows, n_all_rows
            warn_caller(
                f"{type(self).__name__} is fitted to {sample.n_rows:,} of {n_all_rows:,} rows, a"
                " sample by their content. `aucrank.metrics.roc_state` measures it on all of them."
            )
        elif sample.blocks is None:
            # In a part of the rows, those of one group may be single.
            warn_of_blocks(sample.columns, sample.schema, sample.positive)
        warn_of_leaks(sample.columns, sample.schema, sample.positive, sample.weight)
        warn_of_marks(sample.columns, sample.schema)
        with errors_by_name(sample.schema), inner_fits_are_silent():
            model = self._finish_model(self._fit_model(context), context)
        self._set_fitted(self.classes_, sample.schema, model)

    def _read_target(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> tuple[NDArray[np.bool_] | None, NDArray[np.float64] | None]:
        """Return which rows are positive, and their weights; set ``classes_`` where possible."""
        if y is not None:
            self.classes_, positive = encode_binary(y)
            weight = check_weight(sample_weight, len(positive))
            check_class_sums(weight, positive, self.classes_)
            return positive, weight
        if self._needs_y:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target"
                " y is None."
            )
        weight = None if sample_weight is None else check_weight(sample_weight, len(X))
        if weight is not None and not weight.any():
            raise ValueError("sample_weight is zero for every row")
        return None, weight

    def _query(self, question: str, X: Any) -> Any:
        """Call a method ``(columns, n_threads)`` of the fitted core model on the user's data."""
        if "_model" not in self.__dict__:
            check_is_fitted(self)
        X = as_frame(X)
        columns = read_columns(self, X, self._schema)
        n_threads = threads_for(getattr(self, "n_jobs", None), count_rows(columns))
        with errors_by_name(self._schema):
            return self._dispatch(question, X, columns, n_threads)

    def _dispatch(self, question: str, X: Any, columns: Columns, n_threads: int) -> Any:
        """Call the core model; overridden where it needs the rows in the user's own format."""
        return getattr(self._model, question)(columns, n_threads)

    def _set_fitted(self, classes: NDArray[Any] | None, schema: Schema, model: _core.Model) -> None:
        if classes is not None:
            self.classes_ = classes
        self.n_features_in_ = len(schema.features)
        if schema.names is not None:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        self._schema = schema
        self._model = model

    def _set_reading(self, reading: Reading) -> None:
        """Store how the files of the fit were read, for reading other files and for printing."""
        self._reading = reading
        self._schema = self._schema.counting(reading.date_units)

    def _reset_fitted(self) -> None:
        for name in self._FITTED:
            self.__dict__.pop(name, None)

    def _fit_report(self) -> dict[str, Any]:
        """Return what the fit reported and the core model does not hold, for a saved file.

        Returns
        -------
        dict
            Values by name, of types that parameters may have.
        """
        return {}

    def _restore_report(self, report: Mapping[str, Any]) -> None:
        """Restore what `_fit_report` returned, as far as it is there.

        Raises
        ------
        ValueError
            If a value is not one of this model.
        """

    def _header(self) -> Header:
        """Return everything that is saved of a fitted estimator, except its core model."""
        params = self.get_params(deep=False)
        classes = getattr(self, "classes_", None)
        sample = self.__dict__.get("_sampled_rows")
        reading = self.__dict__.get("_reading")
        if reading is not None:
            reading = reading.of_columns(self._schema.names or ())
        reading = with_times(reading, self._schema.date_units)
        name, params = type(self).__name__, encode_params(params)
        report = self._fit_report()
        return Header(name, params, classes, self._schema, sample, reading, report)

    def _to_document(self) -> str:
        header = self._header().to_json()
        return _core.write_document(header, self._model, self.__dict__.get("_calibration"))

    @classmethod
    def _from_document(
        cls, header: Header, model: _core.Model, calibration: _core.Calibration | None
    ) -> Self:
        """Rebuild a fitted estimator, its parameters included."""
        estimator = rebuild(cls, header.params)
        estimator._restore(header, model, calibration)
        return estimator

    def _restore(
        self, header: Header, model: _core.Model, calibration: _core.Calibration | None
    ) -> None:
        if model.family != self._family:
            raise _core.ModelFormatError(
                f"a {type(self).__name__} cannot have a model of family {model.family!r}"
            )
        if calibration is not None:
            if not hasattr(self, "calibration"):
                raise _core.ModelFormatError(f"a {type(self).__name__} is not calibrated")
            self._calibration = calibration
        if header.sample is not None:
            self._sampled_rows = header.sample
        if header.reading is not None:
            self._reading = header.reading
        self._set_fitted(header.classes, header.schema, model)
        try:
            self._restore_report(header.report)
        except (TypeError, ValueError) as err:
            raise _core.ModelFormatError(f"the report of the fit is not valid: {err}") from err

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if self.__sklearn_is_fitted__():
            state["_document"] = self._to_document()
            for name in self._FITTED:
                state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        document = state.pop("_document", None)
        super().__setstate__(state)
        if document is not None:
            self._restore(*read_document(document))

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._takes_sparse
        # Also for an estimator that is not a classifier: its target has two classes all the same.
        tags.target_tags.required = self._needs_y
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

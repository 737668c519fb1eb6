"""Inputs of the fit of a model, the same for all estimators."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from aucrank import _core
from aucrank._base.fit_progress import FitProgress
from aucrank._base.persistence import encode_params
from aucrank._base.validation_set import ValidationSet
from aucrank._base.warm_start import WarmStart
from aucrank._data.facts import Facts
from aucrank._data.sample import Sample
from aucrank._data.schema import Schema
from aucrank._utils.sizes import megabytes
from aucrank._utils.words import plural
from aucrank.data import Dataset
from aucrank.data._checkpoint import logged_rows
from aucrank.data._cluster import QueriedRows
from aucrank.data._raw import RawRows
from aucrank.data._stored import Rows

#: Parameters on which no question of a fit depends but for their number.
_OF_NO_QUESTION = ("n_jobs", "random_state", "time_limit", "verbose", "warm_start")


@dataclass(frozen=True, slots=True)
class ParamScope:
    """Context in which parameters are resolved: their meaning may depend on columns, rows and seed.

    The default is the context before there are rows: parameters are checked as far as possible.

    Attributes
    ----------
    schema : Schema or None
        The columns.
    n_rows : int
        Number of rows of positive weight.
    seed : int
        Drawn from ``random_state``.
    min_samples_leaf : int
        That of the tree around a split rule.
    max_features : int or None
        That of the tree around a split rule: features drawn for each stump, None for all.
    cuts : {"best", "random"}
        That of the forest around a tree: which thresholds of a number are tried for a stump.
    criterion : {"youden", "gini", "log_loss"}
        That of the forest around a tree: the criterion by which a stump is chosen.
    """

    schema: Schema | None = None
    n_rows: int = 1
    seed: int = 0
    min_samples_leaf: int = 1
    max_features: int | None = None
    cuts: str = "best"
    criterion: str = "youden"

    @property
    def n_features(self) -> int:
        """Number of columns; 1 before they are known."""
        return 1 if self.schema is None else len(self.schema.features)


@dataclass(frozen=True, slots=True)
class FitContext:
    """Inputs of ``_fit_model``.

    Attributes
    ----------
    sample : Sample or CodedSample
        The rows; ``sample.core`` goes to the core. Coded rows offer nothing else: a fit that needs
        more refuses a `Dataset`.
    seed : int
        Drawn from ``random_state``, or that of the fit that is continued.
    n_threads : int
        At least 1.
    progress : FitProgress
        ``progress.observer`` goes to the core.
    validation : ValidationSet
        Validation rows that ``fit`` was given, not yet read.
    earlier : WarmStart or None
        The fit that is continued.
    """

    sample: Sample
    seed: int
    n_threads: int
    progress: FitProgress
    validation: ValidationSet = field(default_factory=ValidationSet)
    earlier: WarmStart | None = None

    @property
    def scope(self) -> ParamScope:
        """Context in which parameters are resolved."""
        return ParamScope(self.sample.schema, self.sample.n_weighted_rows, self.seed)

    def going_on(self, estimator: Any, parameter: str, n_parts: int, parts: str) -> "FitContext":
        """Return the context with the seed of the continued fit, as `WarmStart.check` allows.

        Bins, folds and draws must be the same, hence the seed, too.
        """
        assert self.earlier is not None
        self.earlier.check(estimator, self.sample.schema, parameter, n_parts, parts)
        return replace(self, seed=self.earlier.model.seed)

    def inside(self, inner: Any, seed: int) -> "FitContext":
        """Return the context for an estimator whose fit is part of this one.

        Parameters
        ----------
        inner : CoreEstimator
            Prints lines according to its own ``verbose``.
        seed : int
            Its seed.
        """
        return FitContext(self.sample, seed, self.n_threads, self.progress.of(inner))


@dataclass(frozen=True, slots=True)
class RowsContext:
    """Inputs of ``_fit_rows``.

    Attributes
    ----------
    schema : Schema
        The columns.
    n_rows : int
        Number of rows, those of weight zero included.
    seed : int
        Drawn from ``random_state``.
    n_threads : int
        At least 1.
    progress : FitProgress
        ``progress.observer`` goes to the core.
    fit_number : int
        Distinguishes the fit from others that query the same rows.
    """

    schema: Schema
    n_rows: int
    seed: int
    n_threads: int
    progress: FitProgress
    fit_number: int

    @property
    def scope(self) -> ParamScope:
        """Context in which parameters are resolved."""
        return ParamScope(self.schema, self.n_rows, self.seed)


@dataclass(frozen=True, slots=True)
class DatasetContext:
    """Inputs of a fit to a `Dataset`, once the facts about its rows are known.

    Attributes
    ----------
    dataset : Dataset
        The rows.
    facts : Facts
        Facts about the rows.
    seed : int
        Drawn from ``random_state``.
    n_threads : int
        At least 1.
    progress : FitProgress
        ``progress.observer`` goes to the core.
    known_rows : RawRows or None, default=None
        The rows for passes over raw values, if an enclosing fit has created them from these facts.
    is_seeded : bool, default=True
        Whether another fit would have the same seed.
    """

    dataset: Dataset
    facts: Facts
    seed: int
    n_threads: int
    progress: FitProgress
    known_rows: RawRows | None = None
    is_seeded: bool = True

    def is_queried(self, estimator: Any) -> bool:
        """Whether the rows of a fit are queried where they are, and not coded here."""
        asks_rows: bool = estimator._asks_rows(self.facts.schema, self.facts.n_rows)
        return asks_rows and not self.dataset.collects(self.facts, self._besides_codes(estimator))

    def fits_worker(self, estimator: Any) -> bool:
        """Whether a fit that could query rows has all of them on one worker of a cluster.

        Callbacks cannot be called from there.
        """
        besides = self._besides_codes(estimator)
        return not self.progress.has_callbacks and self.dataset.fits_worker(self.facts, besides)

    def codes_are_here(self, estimator: Any) -> bool:
        """Whether a fit that needs the codes of all rows has them here, and not on a worker."""
        is_near = not self.dataset.is_on_cluster
        return is_near or self.dataset.collects(self.facts, self._besides_codes(estimator))

    def codes(self, estimator: Any, binning: dict[str, Any]) -> _core.StoredRows:
        """Return the codes of all rows, for a fit to them in memory.

        Raises
        ------
        ValueError
            If rows of a cluster are too many to be fetched.
        """
        dataset, facts, name = self.dataset, self.facts, type(estimator).__name__
        besides = self._besides_codes(estimator)
        codes = dataset.codes(facts, binning, self.n_threads, besides, name)
        if dataset.is_on_cluster:
            n_rows, size = plural(facts.n_rows, "row"), megabytes(codes.n_bytes)
            self.progress.say(f"{n_rows} collected from the cluster, {size} of codes")
        return codes

    @contextmanager
    def rows(self, estimator: Any, binning: dict[str, Any], n_folds: int = 1) -> Iterator[Rows]:
        """Code the rows for a fit that queries them, and keep their answers if that is wanted.

        Parameters
        ----------
        estimator : CoreEstimator
            The one being fitted.
        binning : dict
            Parameters of the bins, in the form of the core.
        n_folds : int, default=1
            Number of folds that are left out in turn.

        Yields
        ------
        Rows
            In the bins of all rows.

        Raises
        ------
        ValueError
            If answers cannot be kept for another fit.
        """
        dataset = self.dataset
        folder, name = dataset.checkpoint, type(estimator).__name__
        if folder is not None and not self.is_seeded:
            raise ValueError(
                f"checkpoint is {str(folder)!r}, but each fit of this {name} draws another seed,"
                " so that none can go on from the answers of another: let random_state be a number"
            )
        with dataset.rows(self.facts, binning, self.n_threads) as rows:
            if folder is None:
                yield rows
            else:
                identity = self._identity(estimator, n_folds)
                with logged_rows(rows, folder, name, identity, self.n_threads) as logged:
                    yield logged
                n_read = plural(logged.n_read, "answer")
                self.progress.say(
                    f"{n_read} taken from {str(folder)!r}, {logged.n_added:,} added to them"
                )
        if isinstance(rows, QueriedRows):
            self.progress.say(rows.said())

    def _identity(self, estimator: Any, n_folds: int) -> dict[str, Any]:
        """Return what distinguishes the questions of a fit from those of others."""
        params = estimator.get_params(deep=False)
        given = {name: value for name, value in params.items() if name not in _OF_NO_QUESTION}
        facts = self.facts
        return {
            "class": type(estimator).__name__,
            "params": encode_params(given),
            "seed": self.seed,
            "n_folds": n_folds,
            "columns": [repr(feature.name) for feature in facts.schema.features],
            "other_columns": facts.other_columns,
            "classes": [repr(label) for label in facts.target.classes.tolist()],
        }

    def _besides_codes(self, estimator: Any) -> int:
        n_bytes: int = estimator._bytes_besides_codes(
            self.facts.n_rows, len(self.facts.schema.features)
        )
        return n_bytes

    def raw_rows(self) -> RawRows:
        """Return the rows for passes over raw values."""
        return self.known_rows or self.dataset.raw_rows(self.facts, self.n_threads)

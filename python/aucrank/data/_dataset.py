"""Rows of files, of frames and of queries: a source, and the roles of its columns."""

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from aucrank import _core
from aucrank._data.block_survey import BlockSurvey
from aucrank._data.coded_rows import CodedBatch, coded_rows, weights_of_rows
from aucrank._data.column_lookup import first_doubled
from aucrank._data.column_survey import ColumnSurvey
from aucrank._data.data_files import PathLike
from aucrank._data.facts import Facts, RowSurvey
from aucrank._data.input import KindsByColumn
from aucrank._data.passes import Passes, Source, need_columns
from aucrank._data.reading import Fitted, Reading
from aucrank._data.sample import Sample
from aucrank._data.target_survey import TargetSurvey
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_bool
from aucrank._utils.plain_text import shown
from aucrank._utils.words import plural
from aucrank.data import _sampled, _stored
from aucrank.data._engine import Engine, LocalEngine
from aucrank.data._holder import Scoring
from aucrank.data._made import MadeFromSources
from aucrank.data._raw import RawRows
from aucrank.data._stored import UnloggedRows


class Dataset(MadeFromSources):
    """Rows that are read in batches, as often as needed.

    Created by `from_parquet`, `from_csv` or `from_batches`, and by `from_dask`, `from_ray`,
    `from_spark` or `from_sql` for rows that stay where they are. At most one batch is in memory, in
    addition to the buffers of its reader. The data must not change between two passes: files are
    checked, rows are counted, the values that a fit reads are hashed, and a difference raises
    `DataChangedError`. Failures of a cluster raise `ClusterError`.

    Parameters
    ----------
    source : object
        Source of the rows; use one of the class methods.
    target : str, default=None
        Column of labels; None for rows to score only.
    positive : object, default=None
        Label of the class to be ranked first; None for the greater one.
    weight : str, default=None
        Column of weights of rows.
    groups : str, default=None
        Column that names the group of each row, such as a patient: a fit keeps the rows of a group
        together, as ``fit(X, y, groups=...)`` does. None to deal each row by its content.
    time : str, default=None
        Column of numbers or dates of the rows: a fit holds out the latest, as ``fit(X, y,
        time=...)`` does.
    columns : sequence of str, default=None
        Columns to learn from, in this order; None for all others.
    drop : sequence of str, default=()
        Other columns that are not learned from, such as an identifier; for when ``columns`` is
        None.
    spill_dir : path-like, default=None
        Folder for the temporary files of a fit; None for the system's.
    checkpoint : path-like, default=None
        Folder for the answers of the rows to a fit that queries them, from which the same fit goes
        on after it was interrupted; created if there is none. None to keep no answers.

    See Also
    --------
    aucrank.metrics.roc_state : AUC and ROC curve of the scores of a ranker.

    Examples
    --------
    >>> from aucrank import RIMARC
    >>> from aucrank.data import Dataset
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RIMARC().fit(X, y)
    >>> dataset = Dataset.from_batches([X[:300], X[300:]])
    >>> [len(scores) for scores in model.decision_function_batches(dataset)]
    [300, 269]
    """

    def __init__(
        self,
        source: Source,
        *,
        target: str | None = None,
        positive: Any = None,
        weight: str | None = None,
        groups: str | None = None,
        time: str | None = None,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        spill_dir: PathLike | None = None,
        checkpoint: PathLike | None = None,
    ) -> None:
        if target is None and positive is not None:
            raise ValueError(f"positive is {positive!r}, but no target is named")
        roles = {"target": target, "weight": weight, "groups": groups, "time": time}
        role_of: dict[str, str] = {}
        for role, value in roles.items():
            if value is None:
                continue
            if not isinstance(value, str):
                raise TypeError(f"{role} must be the name of a column, got {value!r}")
            if (other := role_of.setdefault(value, role)) != role:
                raise ValueError(f"{other} and {role} are both {value!r}")
        if isinstance(columns, str):
            raise TypeError(f"columns must be a list of names, got {columns!r}")
        other_columns = list(role_of)
        if isinstance(drop, str):
            raise TypeError(f"drop must be a list of names, got {drop!r}")
        any_columns = columns is not None
        if columns is None:
            need_columns([*other_columns, *drop], source.names, source.description)
            if taken := [name for name in drop if name in other_columns]:
                raise ValueError(f"drop holds {taken[0]!r}, which is the {role_of[taken[0]]}")
            left_out = {*other_columns, *drop}
            columns = [name for name in source.names if name not in left_out]
            if drop and not columns:
                raise ValueError(f"drop leaves no column of {source.description} to learn from")
        elif drop:
            raise ValueError("columns and drop are both given: columns already leaves out others")
        need_columns([*other_columns, *columns], source.names, source.description)
        if (doubled := first_doubled(columns)) is not None:
            raise ValueError(f"columns holds {doubled!r} twice")
        if taken := [name for name in columns if name in other_columns]:
            raise ValueError(f"columns holds {taken[0]!r}, which is the {role_of[taken[0]]}")
        if spill_dir is not None and not os.path.isdir(spill_dir):
            raise NotADirectoryError(f"spill_dir is not a folder: {os.fspath(spill_dir)}")
        if checkpoint is not None and os.path.lexists(checkpoint) and not os.path.isdir(checkpoint):
            raise NotADirectoryError(f"checkpoint is not a folder: {os.fspath(checkpoint)}")
        self._passes = Passes(source)
        self._engine = source if isinstance(source, Engine) else LocalEngine()
        self._target = target
        self._positive = positive
        self._weight = weight
        self._groups = groups
        self._time = time
        self._any_columns = any_columns
        self._columns = list(columns)
        self._drop = list(drop)
        self._spill_dir = spill_dir
        self._checkpoint = checkpoint

    def __repr__(self) -> str:
        said = [self._passes.source.description]
        if self._passes.n_rows is not None:
            said.append(plural(self._passes.n_rows, "row"))
        said.append(plural(len(self._columns), "column"))
        roles = (
            ("target", self._target),
            ("positive", self._positive),
            ("weight", self._weight),
            ("groups", self._groups),
            ("time", self._time),
            ("drop", self._drop or None),
        )
        said += [f"{role}={value!r}" for role, value in roles if value is not None]
        return shown(f"{type(self).__name__}({', '.join(said)})")

    @property
    def columns(self) -> list[str]:
        """Names of the columns to learn from."""
        return list(self._columns)

    @property
    def drop(self) -> list[str]:
        """Names of the other columns that are not learned from."""
        return list(self._drop)

    @property
    def files(self) -> list[str]:
        """Files that are read, in order."""
        return list(self._passes.source.files)

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None before the first pass if no file and no frame provides it."""
        known = self._passes.n_rows
        return self._passes.source.count_rows() if known is None else known

    @property
    def target(self) -> str | None:
        """Column of labels."""
        return self._target

    @property
    def positive(self) -> Any:
        """Label of the class to be ranked first, if it was given."""
        return self._positive

    @property
    def weight(self) -> str | None:
        """Column of weights."""
        return self._weight

    @property
    def groups(self) -> str | None:
        """Column that names the group of each row."""
        return self._groups

    @property
    def time(self) -> str | None:
        """Column of the times of the rows."""
        return self._time

    @property
    def spill_dir(self) -> PathLike | None:
        """Folder for the temporary files of a fit."""
        return self._spill_dir

    @property
    def checkpoint(self) -> PathLike | None:
        """Folder for the answers of the rows to a fit."""
        return self._checkpoint

    @property
    def is_counted(self) -> bool:
        """Whether rows are not read, but counted in a database."""
        return self._engine.is_counted

    @property
    def is_on_cluster(self) -> bool:
        """Whether rows are partitions on the workers of a cluster."""
        return self._engine.is_cluster

    @property
    def passes(self) -> Passes:
        """Reader of the rows, for estimators and metrics."""
        return self._passes

    @property
    def engine(self) -> Engine:
        """What computes on the rows, for estimators and metrics."""
        return self._engine

    @property
    def reading(self) -> Reading | None:
        """How the rows are read, to be stored with a model; None if they are typed."""
        return self._passes.source.reading

    def read_as(self, fitted: Fitted) -> Self:
        """Return the same rows, read in the way of the model's fit; for estimators.

        Parameters
        ----------
        fitted : Fitted
            What the model knows of the files of its fit.
        """
        source = self._passes.source
        read = source if fitted.reading is None else source.read_as(fitted)
        if read is source:
            return self
        found = copy.copy(self)
        found._passes = Passes(read)
        return found

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Read the rows, one batch at a time.

        Parameters
        ----------
        columns : sequence of str, default=None
            Any columns of the source; None for those to learn from.

        Yields
        ------
        data frame
            Of pyarrow for files; otherwise of the library of the source.

        Raises
        ------
        ClusterError
            If a cluster cannot compute its rows, or has had no workers for too long.
        DataChangedError
            If the data differ from an earlier pass.
        """
        wanted = self._columns if columns is None else list(columns)
        for batch in self._passes.batches(wanted):
            yield batch.frame.to_native()

    @suggests_keywords
    def scores(self, ranker: Any, columns: Sequence[str] = (), *, proba: bool = False) -> Any:
        """Score rows of a cluster on its workers, where the scores stay.

        Parameters
        ----------
        ranker : estimator
            Fitted. The columns of its fit are read by name, or else those of the data set.
        columns : sequence of str, default=()
            Columns of the rows to put before the scores, such as an identifier of the rows.
        proba : bool, default=False
            Whether to add ``probability``, that of ``classes_[1]`` as in ``predict_proba``.

        Returns
        -------
        dask.dataframe.DataFrame, ray.data.Dataset or pyspark.sql.DataFrame
            These columns, ``score`` and ``probability`` if wanted, partitioned like the rows. A
            Dask result keeps their index. Dask and Spark results are computed lazily, by partition.

        Raises
        ------
        TypeError
            If the rows are not those of a cluster, or ``ranker`` has no ``decision_function``.
        ValueError
            If a column does not exist, or ``ranker`` has no ``predict_proba`` that is needed.

        See Also
        --------
        from_dask : Rows on the workers of Dask.
        from_ray : Rows stored in Ray.
        from_spark : Rows of a Spark data frame.
        """
        if not hasattr(ranker, "decision_function"):
            raise TypeError(f"ranker has no decision_function, got a {type(ranker).__name__}")
        if isinstance(columns, str):
            raise TypeError(f"columns must be a list of names, got {columns!r}")
        check_bool(proba, "proba")
        if proba and not hasattr(ranker, "predict_proba"):
            raise ValueError(f"this {type(ranker).__name__} has no predict_proba: leave proba out")
        features = list(getattr(ranker, "feature_names_in_", self._columns))
        scoring = Scoring(ranker, features, list(columns), proba)
        if taken := [name for name in columns if name in scoring.added]:
            raise ValueError(f"columns holds {taken[0]!r}, the name of an added column")
        source = self._passes.source
        need_columns(scoring.needed, source.names, source.description)
        return self._engine.scores(self, scoring)

    def facts(
        self,
        estimator: BaseEstimator,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        also: KindsByColumn | None = None,
    ) -> Facts:
        """Learn in one pass the facts that a fit needs about all rows; for estimators.

        Sets ``n_features_in_`` and ``feature_names_in_`` of the estimator.

        Parameters
        ----------
        estimator : estimator
            Its name is used in messages.
        categorical_features : "from_dtype", array-like or None, default="from_dtype"
            Which columns are categorical: those whose dtype says so, or those listed by position,
            by name or in a boolean mask.
        class_weight : dict, "balanced" or None, default=None
            Weights of classes, by label.
        also : callable, default=None
            Given the names of the columns and their number: returns the positions of further
            categorical ones.

        Returns
        -------
        Facts
            Classes, names, kinds and levels, as of one frame with all rows.

        Raises
        ------
        ClusterError
            If a cluster cannot compute its rows, or has had no workers for too long.
        DataChangedError
            If the data differ from an earlier pass.
        TypeError
            If a column is neither numeric nor categorical, or differs between files.
        ValueError
            If there is no target, there are not two labels, or a label, a weight or a category is
            not valid.
        """
        survey = RowSurvey(
            self._columns,
            ColumnSurvey(self._columns, categorical_features, also),
            TargetSurvey(self.need_target(), self._weight, class_weight, self._positive),
            BlockSurvey(self._groups, self._time),
        )
        engine, any_columns = self._engine, self._any_columns
        found = engine.facts(estimator, self._passes, survey, any_columns=any_columns)
        if self._weight is not None and (reading := self.reading) is not None:
            reading.check_weights(self._weight)
        return found

    def coded_batches(self, facts: Facts) -> Iterator[CodedBatch]:
        """Read the rows in the form of the core; for estimators.

        Parameters
        ----------
        facts : Facts
            The result of `facts` for these rows.

        Yields
        ------
        columns : list of ndarray of shape (n_rows,)
            Numbers with NaN for missing values, or codes by the levels of the schema.
        positive : ndarray of bool, shape (n_rows,)
            Which rows have the label to be ranked first.
        weight : ndarray of float64, shape (n_rows,), or None
            Weights of rows times those of their classes; None where all are 1.
        blocks : tuple of ndarray of uint64, shape (n_rows,), and bool, or None
            Blocks by which rows are dealt, and whether they are times; None to deal each by its
            content.

        Raises
        ------
        DataChangedError
            If the data differ from those of the facts.
        TypeError, ValueError
            If a value is not valid; the message gives its column and row.
        """
        return coded_rows(self._passes, facts)

    def weight_batches(self, facts: Facts) -> Iterator[NDArray[np.float64] | None]:
        """Read only the weights of the rows; for estimators.

        Parameters
        ----------
        facts : Facts
            The result of `facts` for these rows.

        Yields
        ------
        ndarray of float64, shape (n_rows,), or None
            As for `coded_batches`.

        Raises
        ------
        DataChangedError
            If the data differ from those of the facts.
        """
        return weights_of_rows(self._passes, facts)

    def rows(
        self, facts: Facts, binning: dict[str, Any], n_threads: int
    ) -> AbstractContextManager[UnloggedRows]:
        """Choose bins and code the rows; for estimators.

        Parameters
        ----------
        facts : Facts
            The result of `facts` for these rows.
        binning : dict
            Parameters of the bins, in the form of the core.
        n_threads : int
            At least 1; the workers of a cluster use all they have.

        Returns
        -------
        context manager
            Around rows that a fit of the core queries. They take one byte per value, and are in a
            file in ``spill_dir`` if that totals more than 256 MB; those of a cluster stay on its
            workers.
        """
        return self._engine.rows(self, facts, binning, n_threads)

    def collects(self, facts: Facts, besides: int) -> bool:
        """Whether rows of a cluster are few enough to be fetched; for estimators.

        Parameters
        ----------
        facts : Facts
            The result of `facts` for these rows.
        besides : int
            Bytes that a fit to the fetched codes takes in addition to them.

        Returns
        -------
        bool
            False for rows that are read here anyway.
        """
        return self._engine.collects(_stored.bytes_of_codes(facts) + besides)

    def fits_worker(self, facts: Facts, besides: int) -> bool:
        """Whether rows of a cluster are few enough for one worker; for estimators.

        Parameters
        ----------
        facts : Facts
            The result of `facts` for these rows.
        besides : int
            As for `collects`.

        Returns
        -------
        bool
            False for rows that are read here anyway.
        """
        return self._engine.fits_worker(_stored.bytes_of_codes(facts) + besides)

    def codes(
        self, facts: Facts, binning: dict[str, Any], n_threads: int, besides: int, name: str
    ) -> _core.StoredRows:
        """Choose bins and code the rows, for a fit that has the codes in memory; for estimators.

        Parameters
        ----------
        facts : Facts
            The result of `facts` for these rows.
        binning : dict
            Parameters of the bins, in the form of the core.
        n_threads : int
            At least 1; the workers of a cluster use all they have.
        besides : int
            As for `collects`.
        name : str
            What needs them, for the error.

        Returns
        -------
        StoredRows
            Those of a cluster are fetched once.

        Raises
        ------
        ValueError
            If rows of a cluster are too many to be fetched.
        """
        self._engine.need_collected(_stored.bytes_of_codes(facts) + besides, facts.n_rows, name)
        return self._engine.codes(self, facts, binning, n_threads)

    def bytes_of_codes(self, facts: Facts) -> int:
        """Return the maximal number of bytes of all coded rows; for estimators.

        Parameters
        ----------
        facts : Facts
            The result of `facts` for these rows.

        Returns
        -------
        int
            Without what a fit takes besides them.
        """
        return _stored.bytes_of_codes(facts)

    def on_codes(
        self,
        facts: Facts,
        binning: dict[str, Any],
        n_threads: int,
        work: Callable[[_core.StoredRows], Any],
    ) -> Any:
        """Bring the codes of all rows to one worker of a cluster, to work there; for estimators.

        Parameters
        ----------
        facts : Facts
            The result of `facts` for these rows.
        binning : dict
            Parameters of the bins, in the form of the core.
        n_threads : int
            At least 1, for the work done here.
        work : callable
            Called on the worker with all coded rows.

        Returns
        -------
        object
            What it returned.
        """
        return self._engine.on_codes(self, facts, binning, n_threads, work)

    def raw_rows(self, facts: Facts, n_threads: int) -> RawRows:
        """Return the rows for a fit that reads raw values in passes; for estimators.

        Parameters
        ----------
        facts : Facts
            The result of `facts` for these rows.
        n_threads : int
            At least 1; the workers of a cluster use one per partition.

        Returns
        -------
        RawRows
            They are read, or counted on the workers of a cluster, again for each query; those of a
            database were counted for the facts.
        """
        return self._engine.raw_rows(self, facts, n_threads)

    def sample(
        self, facts: Facts, n_threads: int, most: int | None = None, *, by_class: bool = False
    ) -> Sample:
        """Take a sample of the rows, by their content; for estimators.

        Parameters
        ----------
        facts : Facts
            The result of `facts` for these rows.
        n_threads : int
            At least 1.
        most : int, optional
            Number of distinct rows in the sample. By default 200,000, as for every fit.
        by_class : bool, default=False
            Whether half of them, or all if there are fewer, are of the rarer class, and weights are
            multiplied by the inverse share of the class that is in the sample. By default, the
            sample is the common one.

        Returns
        -------
        Sample
            All copies of the ``most`` distinct rows whose content has the smallest hashes, with
            their weights; all rows if there are fewer distinct ones. They do not depend on the
            order or partition of the rows. Categories that occur in none of them are not in its
            schema.

        Raises
        ------
        ValueError
            If a class has no row among them.
        """
        bounds = self._bounds_of_sample(facts, n_threads, most, by_class=by_class)
        parts = list(self._engine.parts_within(self, facts, bounds, n_threads))
        sample = _sampled.joined(parts, facts)
        return _sampled.weighed_by_bounds(sample, bounds) if by_class else sample

    def frame_of_sample(self, facts: Facts, n_threads: int, most: int | None = None) -> Any:
        """Take the common sample of the rows unchanged; for estimators.

        Parameters
        ----------
        facts : Facts
            The result of `facts` for these rows.
        n_threads : int
            At least 1.
        most : int, optional
            As for `sample`.

        Returns
        -------
        data frame
            The rows of `sample`, in the same order, in the library of the batches.
        """
        bounds = self._bounds_of_sample(facts, n_threads, most, by_class=False)
        return _sampled.frame_within(self, facts, bounds, n_threads)

    def all_rows(self, facts: Facts, n_threads: int, name: str) -> Sample:
        """Load all rows into memory, as those of a frame; for estimators.

        Parameters
        ----------
        facts : Facts
            The result of `facts` for these rows.
        n_threads : int
            At least 1.
        name : str
            What needs them, for the error.

        Returns
        -------
        Sample
            The rows in their order.

        Raises
        ------
        ValueError
            If rows of a cluster are too many to be fetched.
        """
        self._engine.need_collected(_stored.bytes_of_values(facts), facts.n_rows, name)
        return _sampled.all_in_one(
            self._engine.parts_within(self, facts, _sampled.ALL_ROWS, n_threads), facts
        )

    def sample_of_classes(
        self, facts: Facts, n_threads: int, most: int
    ) -> tuple[Sample, _sampled.Bounds]:
        """Take from each class the rows whose content has the smallest hashes; for estimators.

        Parameters
        ----------
        facts : Facts
            The result of `facts` for these rows.
        n_threads : int
            At least 1.
        most : int
            Number of distinct rows of each class.

        Returns
        -------
        sample : Sample
            All copies of these rows, with their weights and with the categories of all rows. They
            do not depend on the order or partition of the rows.
        bounds : tuple of int
            The largest hashes of negative and of positive rows.
        """
        bounds = self._engine.least_bounds(self, facts, (most, most), n_threads)
        parts = list(self._engine.parts_within(self, facts, bounds, n_threads))
        return _sampled.in_one(parts, facts), bounds

    def _bounds_of_sample(
        self, facts: Facts, n_threads: int, most: int | None, *, by_class: bool
    ) -> _sampled.Bounds:
        most = _sampled.MOST_ROWS if most is None else most
        if facts.n_rows <= most:
            return _sampled.ALL_ROWS
        shares = _sampled.most_of_classes(facts, most) if by_class else (most,)
        return self._engine.least_bounds(self, facts, shares, n_threads)

    def need_target(self) -> str:
        """Return the column of labels, which is required.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        ValueError
            If the data set has none.
        """
        if self._target is None:
            raise ValueError(
                f"{self!r} has no labels: name their column, as in"
                f" {type(self).__name__}.from_parquet(paths, target='y')"
            )
        return self._target


def refuse_with_dataset(**given: Any) -> None:
    """Check that a fit was given no argument that a data set has itself.

    Raises
    ------
    ValueError
        If it was; the message names the argument.
    """
    for name, value in given.items():
        if value is not None and name == "gap":
            raise ValueError(f"gap={value!r} was given with a Dataset: it is for rows of a frame")
        if value is not None and name in ("groups", "time"):
            raise ValueError(
                f"{name} was given with a Dataset, which names its column of it itself, as in"
                f" Dataset.from_parquet(paths, target='y', {name}='c')"
            )
        if value is not None:
            raise ValueError(
                f"{name} was given with a Dataset, which names its columns of labels and weights"
                " itself, as in Dataset.from_parquet(paths, target='y', weight='w')"
                if name in ("y", "sample_weight")
                else f"{name} was given with a Dataset: hold rows out by the parameters instead"
            )


def refuse_for_dataset(name: str, value: Any, instead: str) -> ValueError:
    """Return the error of a parameter that needs a frame with all rows.

    Parameters
    ----------
    name : str
        The parameter.
    value : object
        Its value.
    instead : str
        Valid values.
    """
    return ValueError(
        f"{name} is {value!r}, which needs all rows in a frame: fit to a frame, or let {name} be"
        f" {instead}"
    )

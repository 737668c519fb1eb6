"""The ways to make a data set: from files, frames, queries, clusters and databases."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from aucrank._data.column_lookup import given_names
from aucrank._data.csv_form import CsvOptions
from aucrank._data.csv_source import CSV, CsvSource
from aucrank._data.data_files import PathLike, find_files, folder_values
from aucrank._data.finite_source import FiniteSource
from aucrank._data.frame_source import FrameSource
from aucrank._data.missing_marks import read_marks
from aucrank._data.parquet_source import PARQUET, ParquetSource
from aucrank._data.passes import InPieces, Source, need_columns
from aucrank._data.wrapped_source import with_folders
from aucrank._utils.dialects import Dialect
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_int, check_real
from aucrank._utils.sizes import check_size
from aucrank.data._cluster import SizeLimits
from aucrank.data._dask import DaskSource
from aucrank.data._ray import RaySource
from aucrank.data._spark import SparkSource
from aucrank.data._sql import SqlSource

#: Rows per batch: larger batches are no faster to read, and take more memory.
_CHUNK_ROWS = 65_536


class MadeFromSources(InPieces):
    """The class methods that make a `Dataset`."""

    if TYPE_CHECKING:

        def __init__(self, source: Source, **roles: Any) -> None: ...

    @classmethod
    @suggests_keywords
    def from_parquet(
        cls,
        paths: PathLike | Sequence[PathLike],
        *,
        target: str | None = None,
        positive: Any = None,
        weight: str | None = None,
        groups: str | None = None,
        time: str | None = None,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        missing: Sequence[str] | Mapping[str, Sequence[str]] = (),
        chunk_rows: int = _CHUNK_ROWS,
        spill_dir: PathLike | None = None,
        checkpoint: PathLike | None = None,
    ) -> Self:
        """Rows of Parquet files; needs pyarrow.

        Parameters
        ----------
        paths : path-like or sequence of path-like
            A file, a folder (all files in it and below with the ending .parquet or .pq, sorted;
            names that begin with a dot or an underscore are skipped), a pattern such as
            ``"sales/2026-*.parquet"``, or a list of these.
        target : str, default=None
            Column of labels; None for rows to score only.
        positive : object, default=None
            Label of the class to be ranked first; None for the greater one.
        weight : str, default=None
            Column of weights of rows.
        groups : str, default=None
            Column that names the group of each row, such as a patient: a fit keeps the rows of a
            group together, as ``fit(X, y, groups=...)`` does. None to deal each row by its content.
        time : str, default=None
            Column of numbers or dates of the rows: a fit holds out the latest, as ``fit(X, y,
            time=...)`` does.
        columns : sequence of str, default=None
            Columns to learn from, in this order; None for all others, which must then be the same
            in all files.
        drop : sequence of str, default=()
            Other columns that are not learned from, such as an identifier; for when ``columns`` is
            None.
        missing : sequence of str or dict of str to sequence of str, default=()
            Numbers that stand for missing values: in every column, or by column, as in ``{"age":
            ["999"], "ratio": ["inf"]}``. Infinity that is not among them counts as the greatest
            number of its column, minus infinity as the least, which a warning reports.
        chunk_rows : int, default=65536
            Maximal number of rows in memory at a time.
        spill_dir : path-like, default=None
            Folder for the temporary files of a fit; None for the system's.
        checkpoint : path-like, default=None
            Folder in which a fit that queries the rows keeps their answers, a file for each fit;
            after an interruption or a crash, the same fit goes on from it. None to keep none.

        Returns
        -------
        Dataset
            The rows of all files, in order.

        Raises
        ------
        FileNotFoundError
            If a path matches no file.
        ImportError
            If pyarrow is not installed.
        ValueError
            If a file cannot be read, or a column does not exist.
        """
        check_int(chunk_rows, "chunk_rows", low=1)
        files, marks = find_files(paths, PARQUET), read_marks(missing)
        source = ParquetSource(files, chunk_rows)
        need_columns(list(marks.in_columns), source.names, files[0])
        finite = FiniteSource(source, {target, weight, groups, time}, marks, "text")
        return cls(
            with_folders(finite, folder_values(paths, files)),
            target=target,
            positive=positive,
            weight=weight,
            groups=groups,
            time=time,
            columns=columns,
            drop=drop,
            spill_dir=spill_dir,
            checkpoint=checkpoint,
        )

    @classmethod
    @suggests_keywords
    def from_csv(
        cls,
        paths: PathLike | Sequence[PathLike],
        *,
        target: str | None = None,
        positive: Any = None,
        weight: str | None = None,
        groups: str | None = None,
        time: str | None = None,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        sep: str | None = None,
        decimal: Literal[".", ","] | None = None,
        encoding: str | None = None,
        missing: Sequence[str] | Mapping[str, Sequence[str]] = (),
        text: Sequence[str] = (),
        skip_rows: int | None = None,
        comment: str | None = None,
        header: bool = True,
        skip_footer: int | None = None,
        chunk_rows: int = _CHUNK_ROWS,
        spill_dir: PathLike | None = None,
        checkpoint: PathLike | None = None,
    ) -> Self:
        """Rows of CSV files, also gzipped; needs pyarrow.

        The layout of a file is detected from its first lines; a warning reports unusual features.
        Whether a column holds numbers, dates (converted to days since 1970) or text is determined
        from all of its values, so that the files are read once more at the start.

        Parameters
        ----------
        paths : path-like or sequence of path-like
            A file, a folder (all files in it and below with the ending .csv, .tsv, .txt or .data,
            also with .gz, sorted), a pattern, or a list of these.
        target : str, default=None
            Column of labels; None for rows to score only.
        positive : object, default=None
            Label of the class to be ranked first; None for the greater one.
        weight : str, default=None
            Column of weights of rows.
        groups : str, default=None
            Column that names the group of each row, such as a patient: a fit keeps the rows of a
            group together, as ``fit(X, y, groups=...)`` does. None to deal each row by its content.
        time : str, default=None
            Column of numbers or dates of the rows: a fit holds out the latest, as ``fit(X, y,
            time=...)`` does.
        columns : sequence of str, default=None
            Columns to learn from, in this order; None for all others, which must then be the same
            in all files.
        drop : sequence of str, default=()
            Other columns that are not learned from, such as an identifier; for when ``columns`` is
            None.
        sep : str, default=None
            Separator of the columns, one character; None to detect it.
        decimal : {".", ","}, default=None
            The decimal mark; None to detect it.
        encoding : str, default=None
            Name of the encoding in Python; None to detect it.
        missing : sequence of str or dict of str to sequence of str, default=()
            Texts and numbers that stand for missing values, in addition to the usual ones (empty,
            ?, NA, NaN, NULL, None, ...): in every column, or by column, as in
            ``{"age": ["999"]}``.
        text : sequence of str, default=()
            Columns that are text even if they look like numbers.
        skip_rows : int, default=None
            Lines above the header; None to detect them.
        comment : str, default=None
            Prefix of lines that are not rows.
        header : bool, default=True
            Whether there is a header line; without one, columns are called ``column_1``,
            ``column_2``, ...
        skip_footer : int, default=None
            Lines below the last row of each file, such as a total; None for none.
        chunk_rows : int, default=65536
            Maximal number of rows in memory at a time.
        spill_dir : path-like, default=None
            Folder for the temporary files of a fit; None for the system's.
        checkpoint : path-like, default=None
            Folder in which a fit that queries the rows keeps their answers, a file for each fit;
            after an interruption or a crash, the same fit goes on from it. None to keep none.

        Returns
        -------
        Dataset
            The rows of all files, in order.

        Raises
        ------
        FileNotFoundError
            If a path matches no file.
        ImportError
            If pyarrow is not installed.
        ValueError
            If a file cannot be read, or a column does not exist.
        """
        check_int(chunk_rows, "chunk_rows", low=1)
        if isinstance(text, str):
            raise TypeError(f"text must be a list of strings, got {text!r}")
        marks = read_marks(missing)
        options = CsvOptions(
            sep, decimal, encoding, marks, skip_rows, comment, header, "", skip_footer
        )
        files = find_files(paths, CSV)
        values = folder_values(paths, files)
        folders = {name for of_file in values.values() for name in of_file}
        in_files = [name for name in text if name not in folders]
        source = CsvSource(files, chunk_rows, options, in_files, target)
        need_columns([*in_files, *marks.in_columns], source.names, files[0])
        return cls(
            with_folders(source, values, text),
            target=target,
            positive=positive,
            weight=weight,
            groups=groups,
            time=time,
            columns=columns,
            drop=drop,
            spill_dir=spill_dir,
            checkpoint=checkpoint,
        )

    @classmethod
    @suggests_keywords
    def from_batches(
        cls,
        source: Any,
        *,
        target: str | None = None,
        positive: Any = None,
        weight: str | None = None,
        groups: str | None = None,
        time: str | None = None,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        chunk_rows: int = _CHUNK_ROWS,
        spill_dir: PathLike | None = None,
        checkpoint: PathLike | None = None,
    ) -> Self:
        """Rows of frames, or of a query that is run again in each pass.

        Parameters
        ----------
        source : object
            Source of the same rows in the same order each time: a data frame of pandas, polars or
            pyarrow; a polars LazyFrame, a DuckDB relation or a ``pyarrow.dataset.Dataset``, whose
            partitions and filter its reader applies; anything else with ``__arrow_c_stream__`` that
            can be read again; a list of frames; or a function without arguments that starts a new
            iterator of frames.
        target : str, default=None
            Column of labels; None for rows to score only.
        positive : object, default=None
            Label of the class to be ranked first; None for the greater one.
        weight : str, default=None
            Column of weights of rows.
        groups : str, default=None
            Column that names the group of each row, such as a patient: a fit keeps the rows of a
            group together, as ``fit(X, y, groups=...)`` does. None to deal each row by its content.
        time : str, default=None
            Column of numbers or dates of the rows: a fit holds out the latest, as ``fit(X, y,
            time=...)`` does.
        columns : sequence of str, default=None
            Columns to learn from, in this order; None for all others.
        drop : sequence of str, default=()
            Other columns that are not learned from, such as an identifier; for when ``columns`` is
            None.
        chunk_rows : int, default=65536
            Maximal number of rows per batch; larger frames are split.
        spill_dir : path-like, default=None
            Folder for the temporary files of a fit; None for the system's.
        checkpoint : path-like, default=None
            Folder in which a fit that queries the rows keeps their answers, a file for each fit;
            after an interruption or a crash, the same fit goes on from it. None to keep none.

        Returns
        -------
        Dataset
            The rows of all frames, in order.

        Raises
        ------
        TypeError
            If the source can be read only once, such as a generator, or holds no frames.
        ValueError
            If there is no frame, or a column does not exist.

        Notes
        -----
        Streams and database queries are read with pyarrow.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas
        >>> from aucrank.data import Dataset
        >>> def days():
        ...     for day in range(3):
        ...         rng = np.random.default_rng(day)
        ...         yield pandas.DataFrame({"x": rng.random(4), "y": [0, 1, 0, 1]})
        >>> dataset = Dataset.from_batches(days, target="y")
        >>> dataset.columns
        ['x']
        >>> sum(len(frame) for frame in dataset.batches())
        12
        """
        check_int(chunk_rows, "chunk_rows", low=1)
        return cls(
            FrameSource(source, chunk_rows),
            target=target,
            positive=positive,
            weight=weight,
            groups=groups,
            time=time,
            columns=columns,
            drop=drop,
            spill_dir=spill_dir,
            checkpoint=checkpoint,
        )

    @classmethod
    @suggests_keywords
    def from_dask(
        cls,
        collection: Any,
        *,
        target: str | None = None,
        positive: Any = None,
        weight: str | None = None,
        groups: str | None = None,
        time: str | None = None,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        client: Any = None,
        timeout: float | None = 300.0,
        collect_below: int | str = "256MB",
        worker_below: int | str | None = None,
        checkpoint: PathLike | None = None,
    ) -> Self:
        """Rows of a Dask data frame, which stay on the workers of its cluster.

        A fit queries the workers for sums, and is the same as on one machine, however the rows are
        partitioned and whichever workers are lost meanwhile, as long as the partitions can be
        computed again.

        Parameters
        ----------
        collection : dask.dataframe.DataFrame
            The rows. A fit computes each partition three times (five times with weights), a fit of
            RIMARC, MAD2C or Scorecard a few times more: persist it if the memory of the cluster
            allows.
        target : str, default=None
            Column of labels; None for rows to score only.
        positive : object, default=None
            Label of the class to be ranked first; None for the greater one.
        weight : str, default=None
            Column of weights of rows.
        groups : str, default=None
            Column that names the group of each row, such as a patient: a fit keeps the rows of a
            group together, as ``fit(X, y, groups=...)`` does. None to deal each row by its content.
        time : str, default=None
            Column of numbers or dates of the rows: a fit holds out the latest, as ``fit(X, y,
            time=...)`` does.
        columns : sequence of str, default=None
            Columns to learn from, in this order; None for all others.
        drop : sequence of str, default=()
            Other columns that are not learned from, such as an identifier; for when ``columns`` is
            None.
        client : distributed.Client, default=None
            Of the cluster; None for the current one.
        timeout : float, default=300.0
            Seconds for which a fit waits while no worker is available, for example because all are
            gone. It warns after 30 s, and raises `ClusterError` at the end. None to wait for ever.
        collect_below : int or str, default="256MB"
            Bytes, as a number or as text such as "2GB". Where the coded rows and what a fit takes
            besides them are less, the rows come to this process once, and are learned from in
            memory: it is faster, and gives the same model. 0 for never.
        worker_below : int or str, default=None
            The same for the rows of learners that could query the workers for sums: where they take
            less, one worker gets all codes and fits the same model, without a query. None for 1 GB,
            or half of the memory of the smallest worker if that is known and less; 0 for never. For
            learners that need all rows, such as forests, one worker does it in any case.
        checkpoint : path-like, default=None
            Folder in which a fit that queries the rows keeps their answers, a file for each fit;
            after an interruption or a crash, the same fit goes on from it. None to keep none.

        Returns
        -------
        Dataset
            The rows of all partitions, in order.

        Raises
        ------
        ImportError
            If dask and distributed are not installed.
        TypeError
            If ``collection`` is not a Dask data frame.
        ValueError
            If there is no current client, or a column does not exist.

        Notes
        -----
        On a worker, coded rows take one byte per value and about twelve bytes more, in addition to
        the partition if it is persisted.
        """
        return cls(
            DaskSource(
                collection,
                client,
                _timeout_of(timeout),
                _limits_of(collect_below, worker_below),
            ),
            target=target,
            positive=positive,
            weight=weight,
            groups=groups,
            time=time,
            columns=columns,
            drop=drop,
            checkpoint=checkpoint,
        )

    @classmethod
    @suggests_keywords
    def from_ray(
        cls,
        blocks: Any,
        *,
        target: str | None = None,
        positive: Any = None,
        weight: str | None = None,
        groups: str | None = None,
        time: str | None = None,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        timeout: float | None = 300.0,
        collect_below: int | str = "256MB",
        worker_below: int | str | None = None,
        checkpoint: PathLike | None = None,
    ) -> Self:
        """Rows stored in Ray, which stay in its cluster.

        A fit starts actors, one per CPU of the cluster and at most one per block, and queries them
        for sums; a fit of RIMARC, MAD2C or Scorecard counts blocks in tasks. It is the same as on
        one machine, however the rows are partitioned and whichever processes are lost meanwhile, as
        long as the blocks can be recovered.

        Parameters
        ----------
        blocks : ray.data.Dataset or sequence of ray.ObjectRef
            The rows: a Ray data set, which is computed now, or references to data frames of pandas,
            polars or pyarrow.
        target : str, default=None
            Column of labels; None for rows to score only.
        positive : object, default=None
            Label of the class to be ranked first; None for the greater one.
        weight : str, default=None
            Column of weights of rows.
        groups : str, default=None
            Column that names the group of each row, such as a patient: a fit keeps the rows of a
            group together, as ``fit(X, y, groups=...)`` does. None to deal each row by its content.
        time : str, default=None
            Column of numbers or dates of the rows: a fit holds out the latest, as ``fit(X, y,
            time=...)`` does.
        columns : sequence of str, default=None
            Columns to learn from, in this order; None for all others.
        drop : sequence of str, default=()
            Other columns that are not learned from, such as an identifier; for when ``columns`` is
            None.
        timeout : float, default=300.0
            Seconds for which a fit waits while no node of the cluster has CPUs. It warns after 30
            s, and raises `ClusterError` at the end. None to wait for ever.
        collect_below : int or str, default="256MB"
            Bytes, as a number or as text such as "2GB". Where the coded rows and what a fit takes
            besides them are less, the rows come to this process once, and are learned from in
            memory: it is faster, and gives the same model. 0 for never.
        worker_below : int or str, default=None
            The same for the rows of learners that could query the workers for sums: where they take
            less, one worker gets all codes and fits the same model, without a query. None for 1 GB,
            or half of the memory of the smallest worker if that is known and less; 0 for never. For
            learners that need all rows, such as forests, one worker does it in any case.
        checkpoint : path-like, default=None
            Folder in which a fit that queries the rows keeps their answers, a file for each fit;
            after an interruption or a crash, the same fit goes on from it. None to keep none.

        Returns
        -------
        Dataset
            The rows of all blocks, in order.

        Raises
        ------
        ImportError
            If ray is not installed.
        TypeError
            If ``blocks`` is something else.
        ValueError
            If there is no block, or a column does not exist.

        Notes
        -----
        In an actor, coded rows take one byte per value and about twelve bytes more.
        """
        return cls(
            RaySource(blocks, _timeout_of(timeout), _limits_of(collect_below, worker_below)),
            target=target,
            positive=positive,
            weight=weight,
            groups=groups,
            time=time,
            columns=columns,
            drop=drop,
            checkpoint=checkpoint,
        )

    @classmethod
    @suggests_keywords
    def from_spark(
        cls,
        frame: Any,
        *,
        target: str | None = None,
        positive: Any = None,
        weight: str | None = None,
        groups: str | None = None,
        time: str | None = None,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        timeout: float | None = 300.0,
        task_timeout: float | None = None,
        collect_below: int | str = "256MB",
        worker_below: int | str | None = None,
        checkpoint: PathLike | None = None,
    ) -> Self:
        """Rows of a Spark data frame, which stay in its cluster.

        A fit queries the Python workers of Spark for sums, and is the same as on one machine,
        however the rows are partitioned and whichever workers are lost meanwhile, as long as the
        partitions can be computed again.

        Parameters
        ----------
        frame : pyspark.sql.DataFrame
            The rows, of a session in this process. A fit computes each partition two or three times
            (up to five times with weights), a fit of RIMARC, MAD2C or Scorecard a few times more:
            persist it if the memory of the cluster allows.
        target : str, default=None
            Column of labels; None for rows to score only.
        positive : object, default=None
            Label of the class to be ranked first; None for the greater one.
        weight : str, default=None
            Column of weights of rows.
        groups : str, default=None
            Column that names the group of each row, such as a patient: a fit keeps the rows of a
            group together, as ``fit(X, y, groups=...)`` does. None to deal each row by its content.
        time : str, default=None
            Column of numbers or dates of the rows: a fit holds out the latest, as ``fit(X, y,
            time=...)`` does.
        columns : sequence of str, default=None
            Columns to learn from, in this order; None for all others.
        drop : sequence of str, default=()
            Other columns that are not learned from, such as an identifier; for when ``columns`` is
            None.
        timeout : float, default=300.0
            Seconds for which a fit waits while Spark runs no task, for example because it has no
            executors. It warns after 30 s, and raises `ClusterError` at the end. None to wait for
            ever.
        task_timeout : float, default=None
            Seconds for which tasks may run without any of them ending, for example because all wait
            for a storage that does not answer; then the job is cancelled with a `ClusterError`.
            Greater than the time of the longest partition. None for no limit.
        collect_below : int or str, default="256MB"
            Bytes, as a number or as text such as "2GB". Where the coded rows and what a fit takes
            besides them are less, the rows come to this process once, and are learned from in
            memory: it is faster, and gives the same model. 0 for never.
        worker_below : int or str, default=None
            The same for the rows of learners that could query the workers for sums: where they take
            less, one worker gets all codes and fits the same model, without a query. None for 1 GB,
            or half of the memory of the smallest worker if that is known and less; 0 for never. For
            learners that need all rows, such as forests, one worker does it in any case.
        checkpoint : path-like, default=None
            Folder in which a fit that queries the rows keeps their answers, a file for each fit;
            after an interruption or a crash, the same fit goes on from it. None to keep none.

        Returns
        -------
        Dataset
            The rows of all partitions.

        Raises
        ------
        ImportError
            If pyspark or pyarrow is not installed.
        TypeError
            If ``frame`` is not a Spark data frame, or one of Spark Connect.
        ValueError
            If it is a stream, or a column does not exist.

        Notes
        -----
        The workers need aucrank, too. In them, coded rows take one byte per value and about twelve
        bytes more, and about as much on the disks of Spark, for recovery from lost workers.
        """
        roles = given_names(target, weight, groups, time)
        used = None if columns is None else [*columns, *roles]
        return cls(
            SparkSource(
                frame,
                used,
                drop,
                _timeout_of(timeout),
                _timeout_of(task_timeout, "task_timeout"),
                _limits_of(collect_below, worker_below),
            ),
            target=target,
            positive=positive,
            weight=weight,
            groups=groups,
            time=time,
            columns=columns,
            drop=drop,
            checkpoint=checkpoint,
        )

    @classmethod
    @suggests_keywords
    def from_sql(
        cls,
        query: Callable[[str], Any],
        table: str,
        *,
        target: str,
        positive: Any = None,
        weight: str | None = None,
        groups: str | None = None,
        time: str | None = None,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        dialect: Dialect = "ansi",
    ) -> Self:
        """Rows that stay in a database, which counts them by value and label.

        `RIMARC` without ``weight_folds`` and `MAD2C` need only these counts for each column: their
        fit is identical to the fit to a frame with the same rows. So is a `Scorecard` of such a
        `RIMARC`, or of a fitted ranker: it also has the database score its rows, and count them by
        their scores. All other estimators need rows, and raise an error; load the rows with
        `from_batches`. `aucrank.metrics.roc_state` has the database score its rows by the
        ``to_sql`` of a model, and count them.

        Parameters
        ----------
        query : callable
            Takes the text of a query and returns its result: a data frame of pandas, polars or
            pyarrow, or an object with ``__arrow_c_stream__``. Only the driver of the function is
            needed, such as ``lambda text: pandas.read_sql_query(text, connection)`` or
            ``connection.sql`` of DuckDB. It is called in the thread of the fit, one query at a
            time.
        table : str
            Expression after FROM, as the database reads it: the name of a table or a view, such as
            ``sales.orders``, or a query in parentheses with an alias.
        target : str
            Column of labels.
        positive : object, default=None
            Label of the class to be ranked first; None for the greater one.
        weight : str, default=None
            Column of weights of rows, by which they are also grouped.
        groups, time : None
            Not supported for rows of a database: counts of one column at a time do not show which
            rows belong together.
        columns : sequence of str, default=None
            Columns to learn from, in this order, as the database spells them; None for all but
            target and weight, found by a ``SELECT *`` that returns no row.
        drop : sequence of str, default=()
            Other columns that are not learned from, such as an identifier; for when ``columns`` is
            None.
        dialect : str, default="ansi"
            Dialect that determines the quoting of names, see `RIMARC.to_sql`.

        Returns
        -------
        Dataset
            The rows of the table.

        Raises
        ------
        TypeError
            If ``query`` is not callable or returns no frame, or ``table`` is not a text.
        ValueError
            If the dialect is unknown, or a column does not exist.

        Notes
        -----
        A fit queries the labels once, and each column twice: by ``COUNT(DISTINCT column)``, which
        may be 1,000,000 at most, and by ``COUNT(*)`` of each value and label. The result of the
        latter stays in memory until the fit ends, up to 17 bytes per pair of a value and a label. A
        `Scorecard` needs three more counts of all rows: by the score of its ranker, by the values
        of its bins, which may differ in every row, and by points.

        With weights, rows are also grouped by weight: a database sums fractions in any order, and a
        fit must not depend on it. So a column may have 1,000,000 pairs of a value and a weight. If
        weights hardly repeat, round them in a view.

        The table must not change meanwhile. If the rows of each class and weight in a column differ
        in number from those of the labels, a `DataChangedError` is raised; a transaction that reads
        a snapshot is safe.

        NULL and NaN are missing values; but to a database that scores rows NaN is a number, for
        which a `Scorecard` raises an error: store it as NULL. The type of a column is that in its
        frame: pandas turns integers with NULL into floats, and databases without booleans return
        numbers. Texts are equal if the database says so.

        Examples
        --------
        >>> import sqlite3
        >>> import pandas
        >>> from aucrank import RIMARC
        >>> from aucrank.data import Dataset
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> connection = sqlite3.connect(":memory:")
        >>> X.assign(benign=y).to_sql("cells", connection, index=False)
        569
        >>> dataset = Dataset.from_sql(
        ...     lambda text: pandas.read_sql_query(text, connection), "cells", target="benign"
        ... )
        >>> model = RIMARC().fit(dataset)
        >>> bool((model.weights_ == RIMARC().fit(X, y).weights_).all())
        True
        >>> connection.close()
        """
        if groups is not None or time is not None:
            raise ValueError(
                f"{'groups' if groups is not None else 'time'} is given, but of a database the"
                " values of one column at a time are counted, which does not show what rows are"
                " dealt by: read the rows, as by Dataset.from_batches"
            )
        names = None if columns is None else [*columns, *given_names(target, weight)]
        source = SqlSource(query, table, names, dialect)
        return cls(
            source, target=target, positive=positive, weight=weight, columns=columns, drop=drop
        )


def _limits_of(collect_below: int | str, worker_below: int | str | None) -> SizeLimits:
    return SizeLimits(
        check_size(collect_below, "collect_below"),
        None if worker_below is None else check_size(worker_below, "worker_below"),
    )


def _timeout_of(value: float | None, name: str = "timeout") -> float | None:
    return check_real(value, name, low=0.0, low_open=True, optional=True)

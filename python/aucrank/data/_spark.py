"""Rows of a Spark data frame, coded and held by its Python workers."""

import os
import pickle
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals.stable.v2 as nw

from aucrank._data.facts import Facts
from aucrank._data.passes import DataChangedError, check_column_names
from aucrank._utils.extras import import_extra
from aucrank._utils.sizes import parse_size
from aucrank._utils.words import plural
from aucrank.data import _holder
from aucrank.data._cluster import MERGED_AT_ONCE, ClusterSource, QueriedRows, SizeLimits
from aucrank.data._holder import Scoring
from aucrank.data._patience import ClusterError
from aucrank.data._spark_jobs import SparkJobs

if TYPE_CHECKING:
    from aucrank.data._dataset import Dataset

#: Results of workers: the number of a partition or of a task, and the result or the error.
_RESULT = "number int, failed boolean, found binary"

#: Text in a Spark error when executors died.
_LOST = ("ExecutorLostFailure", "OutOfMemoryError")

#: Bytes of coded rows per value of a Spark frame; one Arrow batch may have several values.
_PIECE = 32 * 2**20

#: Number of fits whose rows a worker holds at a time.
_FITS = 2

#: Memory besides the heap of an executor where the session sets none.
_LEAST_OVERHEAD = "384m"

#: Seconds for which the end of a fit waits for workers to release its rows.
_FORGET_WITHIN = 10.0


class SparkSource(ClusterSource):
    """Partitions of a Spark data frame.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The data frame.
    used : sequence of str or None
        Columns that fits read; None for all but those of ``drop``.
    drop : sequence of str
        Columns that fits do not read.
    timeout : float or None
        Seconds for which a fit waits while Spark runs no task; None to wait for ever.
    task_timeout : float or None
        Seconds for which tasks may run without any of them ending; None for no limit.
    limits : SizeLimits
        See `ClusterSource`.

    Raises
    ------
    ImportError
        If pyspark or pyarrow is not installed.
    TypeError
        If ``frame`` is not a Spark data frame whose session is in this process.
    ValueError
        If it is a stream, or two columns have the same name.
    """

    def __init__(
        self,
        frame: Any,
        used: Sequence[str] | None,
        drop: Sequence[str],
        timeout: float | None,
        task_timeout: float | None,
        limits: SizeLimits,
    ) -> None:
        caller = "Dataset.from_spark"
        sql = import_extra("pyspark.sql", "spark", caller)
        import_extra("pyarrow", "spark", caller)
        self._functions = import_extra("pyspark.sql.functions", "spark", caller)
        self._types = import_extra("pyspark.sql.types", "spark", caller)
        errors = import_extra("pyspark.errors", "spark", caller)
        py4j = import_extra("py4j.protocol", "spark", caller)
        self._errors = (errors.PySparkException, py4j.Py4JError)
        self._worker_error = errors.PythonException
        if not isinstance(frame, sql.DataFrame):
            raise TypeError(f"frame must be a data frame of Spark, got {type(frame).__name__}")
        try:
            self._context = frame.sparkSession.sparkContext
        except self._errors as err:
            raise TypeError(
                "frame must be of a Spark session in this process; one of Spark Connect has no"
                " workers that can be distinguished"
            ) from err
        if frame.isStreaming:
            raise ValueError("frame is a stream, which cannot be read several times")
        names = check_column_names(frame.columns, "the Spark frame")
        super().__init__("the Spark frame", names, limits)
        self._frame = frame
        # Each pass reads the same columns, since they determine how Spark partitions the rows.
        wanted = set(names).difference(drop) if used is None else set(used)
        self._used = [name for name in names if name in wanted]
        self._taken = self._plain(self._used)
        self._n_partitions: int | None = None
        self.jobs = SparkJobs(self._context, self.description, timeout, task_timeout)

    def map(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return a frame of the results of ``function(partition, number, *args)``."""
        of_all = _Call(function, args, self._used, self._n_partitions)
        with self.explained():
            return self._taken.mapInArrow(lambda batches: _on_part(batches, of_all), _RESULT)

    def gather(self, results: Any) -> list[Any]:
        """Compute a frame of results and fetch them."""
        return [found for _, found in self._checked(self.collected(results))]

    def one_by_one(self, results: Any) -> Iterator[Any]:
        """Compute a frame of results and yield them one by one; Spark holds the others."""
        stored = self.stored(results)
        try:
            # All are computed at once; iteration would compute one after another.
            self.check_stored(stored)
            with self.explained():
                for row in self.jobs.iterate(stored.toLocalIterator):
                    yield _of(row)[1]
        finally:
            stored.unpersist()

    def merged(self, merge: Callable[..., Any], results: Any, *args: Any) -> Any:
        """Merge results in groups of neighbours on the workers, and the groups here."""
        if self._n_partitions is None or self._n_partitions > MERGED_AT_ONCE:
            results = self.merged_once(results, self._n_partitions, merge, *args)
        found = [one for _, one in self._checked(self.collected(results))]
        return found[0] if len(found) == 1 else merge(found, *args)

    def merged_once(
        self, results: Any, n_results: int | None, merge: Callable[..., Any], *args: Any
    ) -> Any:
        """Return a frame of merged results of neighbours; their number may be unknown."""
        width = max(MERGED_AT_ONCE, round((n_results or 1) ** 0.5))
        n_tasks = self.n_cpus if n_results is None else -(-n_results // width)
        group = self._functions.floor(self._functions.col("number") / width)
        with self.explained():
            return (
                results.repartition(n_tasks, group)
                .sortWithinPartitions("number")
                .mapInArrow(lambda batches: _on_results(batches, width, merge, args), _RESULT)
            )

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Fetch some of the columns, in batches of the size that Spark sends to a worker."""
        pyarrow = import_extra("pyarrow", "spark", "Dataset.from_spark")
        pieces = self._plain(columns).mapInArrow(_pieces, _RESULT)
        with self.explained():
            for row in self.jobs.iterate(pieces.toLocalIterator):
                piece = pyarrow.ipc.open_stream(bytes(row["found"])).read_all()
                frame = nw.from_native(piece.rename_columns(list(columns)), eager_only=True)
                yield frame, f"partition {row['number']}"

    def hold(self, facts: Facts, frame: bytes) -> AbstractContextManager[QueriedRows]:
        """Code all rows by `_holder.hold`, and keep them in workers."""
        fit = uuid.uuid4().hex
        stored = self._stored_codes(facts, frame)
        rows = SparkRows(self, stored, frame, fit)
        try:
            # Raises errors of partitions now, not at the first query.
            rows.owners = dict.fromkeys(self.check_stored(stored), "")
        except BaseException:
            rows.close()
            raise
        return closing(rows)

    def parts_as_codes(self, facts: Facts, frame: bytes) -> Iterator[bytes]:
        """Code the rows on the workers; yield those of one partition after another."""
        stored = self._stored_codes(facts, frame)
        try:
            self.check_stored(stored)
            with self.explained():
                rows = self.jobs.iterate(stored.toLocalIterator)
                for _, pieces in groupby(rows, _part_of):
                    yield _joined(pieces)
        finally:
            stored.unpersist()

    def on_coded(self, facts: Facts, frame: bytes, work: Callable[[Any], Any]) -> Any:
        """Code the rows on the workers, and call `_holder.on_coded` in one task."""
        stored = self._stored_codes(facts, frame)
        try:
            self.check_stored(stored)
            done = stored.coalesce(1).mapPartitions(lambda rows: _on_coded(rows, frame, work))
            with self.explained():
                (row,) = self.jobs.run(done.collect)
            return _of(row)[1]
        finally:
            stored.unpersist()

    def _stored_codes(self, facts: Facts, frame: bytes) -> Any:
        """Return an RDD of all rows coded by `_holder.hold`, in pieces, to be stored on disks."""
        of_all = _Call(_holder.hold, (facts, frame), self._used, self._n_partitions)
        with self.explained():
            codes = self._taken.mapInArrow(lambda batches: _hold(batches, of_all), _RESULT)
        return self.stored(codes)

    def scores(self, dataset: "Dataset", scoring: Scoring) -> Any:
        """Return a Spark data frame whose partitions are scored when they are computed."""
        double = self._types.DoubleType()
        fields = [self._frame.schema[name] for name in scoring.columns]
        fields += [self._types.StructField(name, double) for name in scoring.added]
        return self._plain(scoring.needed).mapInArrow(
            lambda batches: _score(batches, scoring), self._types.StructType(fields)
        )

    def worker_memory(self) -> int | None:
        """Return the memory that executors leave to Python, as far as the session limits it."""
        return _memory_of_python(self._context.getConf(), self._context.master)

    @property
    def n_cpus(self) -> int:
        """Cores of the cluster, as far as Spark knows them."""
        return int(self._context.defaultParallelism)

    def tasks(self, n_tasks: int) -> Any:
        """Return an RDD of identical tasks, which starts faster than a frame would."""
        return self._context.parallelize(range(n_tasks), n_tasks)

    def collected(self, results: Any) -> list[Any]:
        """Compute a frame of results; return its rows by number."""
        with self.explained():
            return _sorted(self.jobs.run(results.collect))

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn an error of Spark into one of the data set, with that of Spark as the cause."""
        try:
            yield
        except self._errors as err:
            if any(name in str(err) for name in _LOST):
                raise ClusterError(
                    f"{self.description}: executors were lost again and again, most often of want"
                    " of memory: give them more, or make smaller partitions; their logs say why"
                ) from err
            lines = str(err).strip().splitlines()
            # The error of a worker ends with its cause; others begin with it.
            said = lines[-1] if isinstance(err, self._worker_error) else lines[0]
            raise ClusterError(f"{self.description} cannot be computed: {said}") from err

    def _plain(self, columns: Sequence[str]) -> Any:
        """Return a frame of some columns under names that Spark's workers can handle."""
        with self.explained():
            taken = self._frame.select([quoted(name) for name in columns])
            return taken.toDF(*(f"c{number}" for number in range(len(columns))))

    def stored(self, results: Any) -> Any:
        """Return results as an RDD that is stored on the disks of Spark once it is computed.

        Its partitions are those of the other passes; Spark would repartition a stored frame.
        """
        storage = import_extra("pyspark", "spark", "Dataset.from_spark").StorageLevel
        with self.explained():
            return results.rdd.persist(storage.DISK_ONLY)

    def check_stored(self, stored: Any) -> list[int]:
        """Compute and store results; return the numbers of the partitions.

        Raises
        ------
        Exception
            The error of the first partition that failed.
        """
        with self.explained():
            rows = self.jobs.run(stored.map(_without_value).collect)
        for row in _sorted(rows):
            if row["failed"]:
                raise pickle.loads(row["found"])
        numbers = sorted({row["number"] for row in rows})
        self._check_numbers(numbers)
        return numbers

    def _checked(self, rows: list[Any]) -> list[tuple[list[int], Any]]:
        """Return the results with their partitions, once all of them are complete.

        Raises
        ------
        Exception
            The error of the first partition that failed.
        """
        found = [_of(row) for row in rows]
        self._check_numbers(sorted(number for numbers, _ in found for number in numbers))
        return found

    def _check_numbers(self, numbers: list[int]) -> None:
        if not numbers:
            raise ValueError(f"{self.description} has no rows")
        if self._n_partitions is None:
            self._n_partitions = len(numbers)
        if numbers != list(range(self._n_partitions)):
            raise _other_partitions(self._n_partitions, len(numbers))


class SparkRows(QueriedRows):
    """Coded rows in Python workers of Spark, which outlive the tasks that they run.

    Spark does not say which worker runs a task. So the tasks of a round are identical: in each, the
    worker answers for the partitions that it owns, once per round. For partitions that no worker
    answered, Spark sends the codes, which it has on disk or recomputes, to any worker, which then
    owns them. Workers answer as before, since a query carries all earlier decisions.

    If the codes were sent to tasks with each query, the positions of the rows in a tree would have
    to be computed again.

    Parameters
    ----------
    source : SparkSource
        The partitions.
    codes : pyspark.RDD
        The coded rows.
    frame : bytes
        Facts about all rows.
    fit : str
        Identifier of the fit for the workers.

    Attributes
    ----------
    owners : dict of int to str
        Workers by partition; empty strings for none.
    """

    def __init__(self, source: SparkSource, codes: Any, frame: bytes, fit: str) -> None:
        super().__init__(frame)
        self.owners: dict[int, str] = {}
        self._source = source
        self._codes = codes
        self._fit = fit
        self._n_rounds = 0

    def _answers(self, ask: bytes) -> list[bytes]:
        self._n_rounds += 1
        found: list[_Answer] = []
        n_workers = len(set(self.owners.values()) - {""})
        if n_workers:
            # `self` must not be serialised.
            fit, owners, number = self._fit, self.owners, self._n_rounds
            n_tasks = max(self._source.n_cpus, n_workers)
            with self._source.explained():
                answers = self._source.tasks(n_tasks).mapPartitions(
                    lambda _: _answer_held(fit, owners, number, ask)
                )
            found += self._merged(answers, n_tasks, ask)
        answered = {part for parts, _ in found for part in parts}
        if missing := sorted(self.owners.keys() - answered):
            found += self._answered_anew(missing, ask)
        return [one for _, one in found if one is not None]

    def close(self) -> None:
        """Release the rows in Spark and its workers."""
        fit, source = self._fit, self._source
        # Workers that are not there, or too busy, forget the rows with one of the next fits.
        with suppress(ClusterError), source.explained():
            self._codes.unpersist()
            tasks = source.tasks(source.n_cpus)
            source.jobs.run(lambda: tasks.foreachPartition(lambda _: _forget(fit)), _FORGET_WITHIN)

    def _answered_anew(self, missing: list[int], ask: bytes) -> list["_Answer"]:
        """Have workers take over partitions, and answer."""
        fit, frame, source = self._fit, self.frame, self._source
        wanted, n_tasks = set(missing), min(source.n_cpus, len(missing))
        with source.explained():
            answers = self._codes.coalesce(n_tasks).mapPartitions(
                lambda rows: _take_over(rows, wanted, fit, ask, frame)
            )
        found = self._merged(answers, n_tasks, ask)
        owners = {part: owner for parts, _ in found for part, owner in parts.items()}
        if owners.keys() != wanted:
            raise _other_partitions(len(missing), len(owners))
        self.owners = self.owners | owners
        return found

    def _merged(self, answers: Any, n_tasks: int, ask: bytes) -> list["_Answer"]:
        """Merge answers of many tasks on the workers; fetch the remaining ones."""
        frame, width = self.frame, max(MERGED_AT_ONCE, round(n_tasks**0.5))
        with self._source.explained():
            if n_tasks > MERGED_AT_ONCE:
                answers = (
                    answers.keyBy(lambda row: row["number"] // width)
                    .groupByKey(-(-n_tasks // width))
                    .mapPartitions(lambda groups: _merge_answers(groups, ask, frame))
                )
            return [_of(row) for row in _sorted(self._source.jobs.run(answers.collect))]


#: Partitions of an answer, with the workers that own them; the answer of no rows is None.
_Answer = tuple[dict[int, str], bytes | None]


class _Call(NamedTuple):
    """Function to call for each partition.

    Attributes
    ----------
    function : callable
        Called as ``function(partition, number, *args)``.
    args : tuple
        For all partitions.
    names : list of str
        Columns, which an empty partition does not show.
    n_partitions : int or None
        Number of partitions found earlier.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    names: list[str]
    n_partitions: int | None

    def result(self, batches: Iterator[Any]) -> tuple[int, Any]:
        """Return the number of the partition of this task, and its result."""
        number = _number()
        part = _table(batches, self.names)
        if self.n_partitions is not None and number >= self.n_partitions:
            raise _other_partitions(self.n_partitions, number + 1)
        return number, self.function(part, number, *self.args)


@dataclass(slots=True)
class _Held:
    """Rows of a fit held by this process, and the last round that it has answered."""

    holders: dict[int, _holder.Holder] = field(default_factory=dict)
    last_round: int = 0


#: By fit, the most recently queried last.
_HELD: OrderedDict[str, _Held] = OrderedDict()

_PROCESS = uuid.uuid4().hex


def _owner() -> str:
    """Return a name of this process, also after a fork with this module loaded."""
    return f"{_PROCESS}-{os.getpid()}"


def _held(fit: str) -> _Held:
    held = _HELD.setdefault(fit, _Held())
    _HELD.move_to_end(fit)
    while len(_HELD) > _FITS:
        _HELD.popitem(last=False)
    return held


def _on_part(batches: Iterator[Any], call: _Call) -> Iterator[Any]:
    with _caught() as rows:
        number, found = call.result(batches)
        rows.append(_row(number, ([number], found)))
    yield from rows


def _on_results(
    batches: Iterator[Any], width: int, merge: Callable[..., Any], args: tuple[Any, ...]
) -> Iterator[Any]:
    """Merge neighbours, whose rows follow one another."""
    with _caught() as rows:
        for group, some in groupby(_rows(batches), lambda row: row["number"] // width):
            found = [_of(row) for row in some]
            parts = [part for parts, _ in found for part in parts]
            values = [value for _, value in found]
            rows.append(_row(group, (parts, merge(values, *args))))
    yield from rows


def _hold(batches: Iterator[Any], call: _Call) -> Iterator[Any]:
    """Code a partition, and write the codes in pieces."""
    with _caught() as rows:
        number, holder = call.result(batches)
        codes = holder.rows.to_bytes()
        for first in range(0, max(1, len(codes)), _PIECE):
            rows.append(_row(number, ([number], codes[first : first + _PIECE])))
    yield from rows


def _answer_held(fit: str, owners: dict[int, str], number: int, ask: bytes) -> Iterator[Any]:
    """Answer for the partitions that this process owns, once per round."""
    me, held = _owner(), _held(fit)
    for part in [part for part in held.holders if owners.get(part) != me]:
        del held.holders[part]
    parts, answer = {}, None
    if held.holders and held.last_round != number:
        parts = dict.fromkeys(held.holders, me)
        answer = _holder.answer(list(held.holders.values()), ask, 1)
        held.last_round = number
    yield _result(_number(), (parts, answer))


def _take_over(
    rows: Iterator[Any], wanted: set[int], fit: str, ask: bytes, frame: bytes
) -> Iterator[Any]:
    """Take over some partitions, and answer for them."""
    try:
        taken = {
            part: _holder.Holder(frame, _joined(pieces))
            for part, pieces in groupby(rows, _part_of)
            if part in wanted
        }
    except Exception as err:
        yield _failure(err)
        return
    _held(fit).holders.update(taken)
    answer = _holder.answer(list(taken.values()), ask, 1) if taken else None
    yield _result(_number(), (dict.fromkeys(taken, _owner()), answer))


def _on_coded(rows: Iterator[Any], frame: bytes, work: Callable[[Any], Any]) -> Iterator[Any]:
    """Work on the rows of all partitions."""
    try:
        parts = [_joined(pieces) for _, pieces in groupby(rows, _part_of)]
        yield _result(_number(), ((), _holder.on_coded(parts, frame, work)))
    except Exception as err:
        yield _failure(err)


def _merge_answers(groups: Iterator[Any], ask: bytes, frame: bytes) -> Iterator[Any]:
    """Merge answers of tasks, some of which are empty."""
    for group, rows in groups:
        try:
            found = [_of(row) for row in rows]
        except Exception as err:
            yield _failure(err)
            return
        parts = {part: owner for parts, _ in found for part, owner in parts.items()}
        given = [answer for _, answer in found if answer is not None]
        yield _result(group, (parts, _holder.merge(given, ask, frame) if given else None))


def _forget(fit: str) -> None:
    _HELD.pop(fit, None)


def _score(batches: Iterator[Any], scoring: Scoring) -> Iterator[Any]:
    """Score a partition, whose columns keep their Spark types."""
    part = _table(batches, scoring.needed)
    _, scores = _holder.scored(part, _number(), scoring)
    pyarrow = import_extra("pyarrow", "spark", "Dataset.scores")
    if len(part):
        found = part.select(scoring.columns)
        for name, values in scores.items():
            found = found.append_column(name, pyarrow.array(values))
        yield from found.to_batches()


def _pieces(batches: Iterator[Any]) -> Iterator[Any]:
    """Write batches as values of a frame."""
    pyarrow = import_extra("pyarrow", "spark", "Dataset.from_spark")
    number = _number()
    for batch in batches:
        written = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(written, batch.schema) as stream:
            stream.write_batch(batch)
        row = {"number": number, "failed": False, "found": written.getvalue().to_pybytes()}
        yield _record(row)


@contextmanager
def _caught() -> Iterator[list[Any]]:
    """Return an error as a result, which is raised where results are read."""
    rows: list[Any] = []
    try:
        yield rows
    except Exception as err:
        rows[:] = [_record(_failure(err))]


def _failure(err: Exception) -> dict[str, Any]:
    return {"number": _number(), "failed": True, "found": pickle.dumps(err)}


def _result(number: int, found: Any) -> dict[str, Any]:
    return {"number": number, "failed": False, "found": pickle.dumps(found, protocol=5)}


def _row(number: int, found: Any) -> Any:
    return _record(_result(number, found))


def _record(row: dict[str, Any]) -> Any:
    """Return a batch of one row."""
    pyarrow = import_extra("pyarrow", "spark", "Dataset.from_spark")
    schema = {"number": pyarrow.int32(), "failed": pyarrow.bool_(), "found": pyarrow.binary()}
    return pyarrow.RecordBatch.from_pylist([row], schema=pyarrow.schema(schema))


def _without_value(row: Any) -> dict[str, Any]:
    """Return a result; if there is an error, only that."""
    return {
        "number": row["number"],
        "failed": row["failed"],
        "found": row["found"] if row["failed"] else None,
    }


def _rows(batches: Iterator[Any]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist()


def _of(row: Any) -> tuple[Any, Any]:
    """Return the partitions of a result, and its value; raise its error."""
    found = row["found"]
    if row["failed"]:
        raise pickle.loads(found)
    parts, value = pickle.loads(found)
    return parts, value


def _sorted(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=_part_of)


def _part_of(row: Any) -> Any:
    return row["number"]


def _joined(pieces: Iterator[Any]) -> bytes:
    return b"".join(_of(row)[1] for row in pieces)


def _number() -> int:
    context = import_extra("pyspark", "spark", "Dataset.from_spark").TaskContext.get()
    return int(context.partitionId())


def _table(batches: Iterator[Any], names: list[str]) -> Any:
    pyarrow = import_extra("pyarrow", "spark", "Dataset.from_spark")
    some = list(batches)
    if some:
        return pyarrow.Table.from_batches(some).rename_columns(names)
    return pyarrow.table({name: pyarrow.nulls(0) for name in names})


def _memory_of_python(conf: Any, master: str) -> int | None:
    """Return the bytes that an executor leaves to one Python worker; None if nothing limits it."""
    if size := conf.get("spark.executor.pyspark.memory"):
        return _bytes_of_setting(size) // int(conf.get("spark.executor.cores", "1"))
    if not master.startswith(("yarn", "k8s")):
        return None
    # These kill an executor that takes more than its heap and this.
    return _bytes_of_setting(conf.get("spark.executor.memoryOverhead", _LEAST_OVERHEAD))


def _bytes_of_setting(size: str) -> int:
    """Return the bytes of a setting of Spark, which is in megabytes if it has no unit."""
    found = parse_size(f"{size}m" if size.strip().isdecimal() else size)
    return 0 if found is None else found


def quoted(name: str) -> str:
    """Quote the name of a column for Spark, which would take a dot for a field."""
    return "`" + name.replace("`", "``") + "`"


def _other_partitions(before: int, now: int) -> DataChangedError:
    return DataChangedError(
        f"the Spark frame came in {plural(now, 'partition')}, but in {before:,} before: persist it,"
        " or write it to files first, so that it is divided in the same way each time"
    )

"""Jobs of Spark that end if Spark has no executors for them, or if the fit is interrupted."""

import time
import uuid
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

from aucrank._utils.extras import import_extra
from aucrank.data._patience import LOOK_AGAIN, ClusterError, Patience

#: Number of times that jobs are cancelled, and seconds between them: an action may start another
#: job just then.
_CANCELLED_TIMES, _CANCELLED_EVERY = 20, 0.25

_END = object()


class SparkJobs:
    """Runs the actions of a data set in threads, and watches their jobs.

    The jobs have a tag rather than a group of their own, so that they stay in the group of the
    caller, by which a notebook cancels them.

    Parameters
    ----------
    context : pyspark.SparkContext
        Of the session.
    description : str
        What the jobs are about, for errors.
    timeout : float or None
        Seconds for which a job waits while Spark runs no task; None to wait for ever.
    task_timeout : float or None
        Seconds for which tasks may run without any of them ending; None for no limit.
    """

    def __init__(
        self, context: Any, description: str, timeout: float | None, task_timeout: float | None
    ) -> None:
        self._context = context
        self._description = description
        self._timeout = timeout
        self._task_timeout = task_timeout

    def run(self, action: Callable[[], Any], timeout: float | None = None) -> Any:
        """Return the result of an action; `timeout` may be shorter than that of the data set.

        Raises
        ------
        ClusterError
            If it has waited for too long.
        """
        return self._run(action, f"aucrank-{uuid.uuid4().hex}", timeout or self._timeout)

    def iterate(self, start: Callable[[], Iterator[Any]]) -> Iterator[Any]:
        """Yield what an action yields, which starts jobs from time to time.

        Raises
        ------
        ClusterError
            If it has waited for too long.
        """
        tag = f"aucrank-{uuid.uuid4().hex}"
        # The JVM thread that runs the jobs inherits the tag of the thread that starts it.
        items = self._run(lambda: iter(start()), tag, self._timeout)
        while (item := self._run(lambda: next(items, _END), tag, self._timeout)) is not _END:
            yield item

    def _run(self, action: Callable[[], Any], tag: str, timeout: float | None) -> Any:
        found: list[Any] = []
        errors: list[BaseException] = []
        is_done = Event()

        def work() -> None:
            try:
                self._context.addJobTag(tag)
                self._context.setInterruptOnCancel(True)
                found.append(action())
            except BaseException as err:
                errors.append(err)
            finally:
                is_done.set()

        # Local properties of jobs are those of the calling thread.
        thread = import_extra("pyspark", "spark", "Dataset.from_spark").InheritableThread(work)
        thread.daemon = True
        thread.start()
        no_task = Patience(self._description, timeout)
        ended = _EndedTasks(self._description, self._task_timeout)
        try:
            while not is_done.wait(LOOK_AGAIN):
                running, state = self._progress()
                no_task.look("Spark runs no task" if running == 0 else None)
                ended.look(state if running else None)
        except BaseException:
            self._cancel(tag, is_done)
            raise
        if errors:
            raise errors[0]
        return found[0]

    def _progress(self) -> tuple[int | None, tuple[Any, ...]]:
        """Return the number of running tasks of any job, None without stages, and what has ended.

        Between stages, it is the driver that works.
        """
        if self._context._jsc is None:
            # The action itself says that the session has ended.
            return None, ()
        tracker = self._context.statusTracker()
        stages = sorted(tracker.getActiveStageIds())
        infos = [info for stage in stages if (info := tracker.getStageInfo(stage)) is not None]
        if not infos:
            return None, ()
        ended = sum(info.numCompletedTasks + info.numFailedTasks for info in infos)
        return sum(info.numActiveTasks for info in infos), (*stages, ended)

    def _cancel(self, tag: str, is_done: Event) -> None:
        """Cancel the jobs, and wait until the action has noticed it."""
        for _ in range(_CANCELLED_TIMES):
            if self._context._jsc is None:
                return
            self._context.cancelJobsWithTag(tag)
            if is_done.wait(_CANCELLED_EVERY):
                return


class _EndedTasks:
    """Measures for how long no task has ended while some are running.

    Parameters
    ----------
    description : str
        What the jobs are about.
    timeout : float or None
        Seconds; None for no limit.
    """

    def __init__(self, description: str, timeout: float | None) -> None:
        self._description = description
        self._timeout = timeout
        self._state: Any = None
        self._since = time.monotonic()

    def look(self, state: Any) -> None:
        """Record which tasks have ended, or None if none is running.

        Raises
        ------
        ClusterError
            If it has been the same for too long.
        """
        now = time.monotonic()
        if state is None or state != self._state:
            self._state, self._since = state, now
        elif self._timeout is not None and now - self._since >= self._timeout:
            raise ClusterError(
                f"{self._description}: tasks are running, but none has ended for"
                f" {now - self._since:.0f} s: make smaller partitions, or a greater `task_timeout`"
                " of the data set; the page of the executors in Spark shows where they are"
            )

"""Waiting for a cluster that has no workers for a fit."""

import time

from aucrank._utils.warn import warn_caller

#: Seconds between two checks of a cluster.
LOOK_AGAIN = 1.0

#: Seconds after which a warning says what the fit waits for.
_SAID_AFTER = 30.0


class ClusterError(RuntimeError):
    """A cluster cannot compute what was requested.

    It has no workers, or its scheduler is gone, or rows are lost that cannot be computed again, or
    a partition kills its workers, most often by running out of memory. The message says what to do,
    and the error of the engine is the cause.

    Examples
    --------
    >>> from aucrank.data import ClusterError
    >>> issubclass(ClusterError, RuntimeError)
    True
    """


class Patience:
    """Measures for how long no worker has been available to a fit, and ends it after a limit.

    Parameters
    ----------
    description : str
        What the fit waits for.
    timeout : float or None
        Seconds; None to wait for ever.
    """

    def __init__(self, description: str, timeout: float | None) -> None:
        self._description = description
        self._timeout = timeout
        self._idle_since: float | None = None
        self._is_said = False

    def look(self, why_idle: str | None) -> None:
        """Record why no worker is available, or None if one is.

        Raises
        ------
        ClusterError
            If that has lasted too long.
        """
        if why_idle is None:
            self._idle_since = None
            return
        now = time.monotonic()
        if self._idle_since is None:
            self._idle_since = now
        idle = now - self._idle_since
        if self._timeout is not None and idle >= self._timeout:
            raise ClusterError(
                f"{self._description}: {why_idle}, for {idle:.0f} s now: start workers and fit"
                " again; `timeout` of the data set is how long a fit waits for them"
            )
        if idle >= _SAID_AFTER and not self._is_said:
            self._is_said = True
            until = "for ever" if self._timeout is None else f"up to {self._timeout:g} s in all"
            warn_caller(f"{self._description}: {why_idle}; the fit waits for workers, {until}")

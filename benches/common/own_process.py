"""A function called in a process of its own, which starts fast (not on Windows).

It is forked from one that has only imported some modules, and has no threads: what another call
has left in memory, its threads and caches, is not there.
"""

import multiprocessing
import traceback

_CONTEXT = multiprocessing.get_context("forkserver")

#: How long a process may take to end after its result.
SECONDS_TO_END = 30


def import_before(*modules):
    """Import these modules once, before the first call, with the environment as it is then."""
    _CONTEXT.set_forkserver_preload(list(modules))


def _send(connection, work, arguments):
    try:
        connection.send((work(*arguments), None))
    except Exception as error:
        traceback.print_exc()
        connection.send((None, f"{type(error).__name__}: {error}"))


def in_own_process(work, *arguments, time_limit):
    """Return what a function of a module returns in a process of its own.

    Raises
    ------
    RuntimeError
        If it raises, ends without a result, or takes longer than so many seconds.
    """
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_send, args=(sender, work, arguments))
    process.start()
    sender.close()
    try:
        if not receiver.poll(time_limit):
            process.kill()
            raise RuntimeError(f"takes more than {time_limit:g} s")
        result, problem = receiver.recv()
    except EOFError:
        problem = "the process has ended without a result"
    finally:
        process.join(SECONDS_TO_END)
        process.kill()
        process.join()
    if problem:
        raise RuntimeError(problem)
    return result

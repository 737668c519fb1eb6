"""Python in a separate process: its output, and its reaction to an interrupt."""

import os
import signal
import sys
import time

import pytest

from tests.common.limits import HANG, cpu_until_end
from tests.common.script import Script, run_script

no_windows = pytest.mark.skipif(
    sys.platform == "win32", reason="no SIGINT to one process on Windows"
)


def interrupted(script, after):
    """Run a script that prints "fitting"; send Ctrl-C some seconds later; return what it prints.

    The fit would take minutes or hours. It ends within a second of processor time of each of at
    most two threads, however busy the machine is.
    """
    with Script(script) as child:
        while child.returncode is None and not child.stdout.endswith("\n"):
            time.sleep(0.01)
        assert child.stdout == "fitting\n", child.stderr
        time.sleep(after)
        assert child.returncode is None
        os.kill(child.pid, signal.SIGINT)
        assert cpu_until_end(child.pid, lambda: child.returncode is not None) < 2.5
        child.wait(timeout=HANG)
        assert child.returncode == 0, child.stderr
        return child.stdout.removeprefix("fitting\n").split(), child.stderr


def said_without_matplotlib(call, imports):
    """Return the error of a call where matplotlib cannot be imported."""
    return said_without("matplotlib", call, imports)


def said_without(package, call, imports):
    """Return the error of a call where a package cannot be imported."""
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        f"{imports}\n"
        f"try: {call}\n"
        "except ImportError as err: print(err)"
    )
    done = run_script(code)
    assert done.returncode == 0, done.stderr
    return done.stdout

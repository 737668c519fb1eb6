"""Python in a process of its own: what it prints, and what it does when it is interrupted."""

import signal
import subprocess
import sys
import time

import pytest

no_windows = pytest.mark.skipif(
    sys.platform == "win32", reason="no SIGINT to one process on Windows"
)


def interrupted(script, after):
    """Run a script that prints "fitting"; send Ctrl-C some seconds later; return what it prints.

    The fit would take minutes or hours. A busy machine gets more than the second that an idle one
    needs to stop.
    """
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout.readline() == "fitting\n"
            time.sleep(after)
            assert child.poll() is None
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=10)
        finally:
            child.kill()
    assert child.returncode == 0, err
    return out.split(), err


def said_without_matplotlib(call, imports):
    """Return the error of a call where matplotlib cannot be imported."""
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        f"{imports}\n"
        f"try: {call}\n"
        "except ImportError as err: print(err)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout

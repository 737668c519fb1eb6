"""A script in a process that is forked from one that has imported what most scripts import.

A new interpreter needs two seconds for the imports, nearly all of them scikit-learn's. Where there
is not a fork, and where a new interpreter is what is tested, it is `subprocess`.
"""

import multiprocessing
import os
import subprocess
import sys
import threading
from multiprocessing.connection import Connection
from types import ModuleType

from tests.common.limits import HANG

PRELOADED = [
    "aucrank.additive",
    "aucrank.boosting",
    "aucrank.cli.score",
    "aucrank.ramp",
    "aucrank.tree",
    "pandas",
    "pyarrow.parquet",
    "sklearn.linear_model",
    "sklearn.tree",
]


class Script:
    """A script that runs, in the current folder and with the current environment.

    Used as a context manager, at whose end it is killed.
    """

    def __init__(self, code):
        server = multiprocessing.get_context("forkserver")
        server.set_forkserver_preload(PRELOADED)
        pipes = [server.Pipe(duplex=False) for _ in range(2)]
        ends = [end for _, end in pipes]
        args = (code, os.getcwd(), dict(os.environ), ends)
        self._process = server.Process(target=_run, args=args)
        self._process.start()
        self.pid = self._process.pid
        for end in ends:
            end.close()
        self._outputs = [bytearray(), bytearray()]
        self._readers = [
            threading.Thread(target=_read, args=(pipe, output))
            for (pipe, _), output in zip(pipes, self._outputs, strict=True)
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.join()
        for reader in self._readers:
            reader.join()

    @property
    def returncode(self):
        """Status at the end, negative for a signal, and None before."""
        return self._process.exitcode

    def wait(self, timeout):
        """Wait for the end of the script."""
        self._process.join(timeout)
        if self.returncode is None:
            raise TimeoutError(f"a script takes more than {timeout} s; so far:\n{self.stderr}")
        for reader in self._readers:
            reader.join()

    @property
    def stdout(self):
        """What it has printed so far."""
        return self._outputs[0].decode()

    @property
    def stderr(self):
        """What it has printed to the standard error stream so far."""
        return self._outputs[1].decode()


def run_script(code, timeout=HANG):
    """Run a script to its end; return what `subprocess.run` would."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        command = [sys.executable, "-c", code]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    with Script(code) as script:
        script.wait(timeout)
        return subprocess.CompletedProcess(["-c"], script.returncode, script.stdout, script.stderr)


def _read(pipe: Connection, output: bytearray):
    """Read all that is written into a pipe, by bytes and not by messages."""
    with pipe:
        while some := os.read(pipe.fileno(), 1 << 16):
            output += some


def _run(code, folder, environment, outputs):
    """Run a script in this process as `python -c` would."""
    for number, output in enumerate(outputs, start=1):
        os.dup2(output.fileno(), number)
        output.close()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c"]
    sys.path.insert(0, "")
    sys.modules["__main__"] = main = ModuleType("__main__")
    exec(compile(code, "<script>", "exec"), main.__dict__)

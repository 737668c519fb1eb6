"""A separate PostgreSQL server, on a socket in its own folder."""

import os
import shutil
import subprocess
import time
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

#: Who runs the server where the tests are run by root, which it refuses.
USER = "postgres"


def _program(name):
    """Find a program of the server; Debian keeps them next to each other by version."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(name, path=":".join([os.environ["PATH"], *map(str, folders)]))


@contextmanager
def postgres_server():
    """Yield a connection; skip the test where there is no server."""
    psycopg = pytest.importorskip("psycopg")
    initdb, postgres = _program("initdb"), _program("postgres")
    if initdb is None or postgres is None:
        pytest.skip("PostgreSQL is not installed")
    is_root = os.geteuid() == 0
    prefix = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if is_root else []
    # Not a folder of pytest: the path of a socket has 107 bytes at most.
    with TemporaryDirectory(prefix="postgres-") as folder:
        if is_root:
            shutil.chown(folder, USER, USER)
        data = f"{folder}/data"
        options = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"]
        made = subprocess.run(
            [*prefix, initdb, f"--pgdata={data}", *options, "--no-sync"],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )
        if made.returncode:
            pytest.skip(f"PostgreSQL makes no data folder: {made.stderr[-300:]}")
        log = Path(folder) / "log"
        with log.open("wb") as stream:
            server = subprocess.Popen(
                # No network, no waiting for a disk that is thrown away, and no machine code of
                # expressions that are evaluated for some rows: to compile it takes minutes.
                [*prefix, postgres, "-D", data, "-k", folder, "-h", "", "-F", "-c", "jit=off"],
                stdout=stream,
                stderr=stream,
                cwd=folder,
            )
        try:
            for _ in range(600):
                try:
                    connection = psycopg.connect(host=folder, user="postgres", autocommit=True)
                    break
                except psycopg.OperationalError:
                    assert server.poll() is None, log.read_text()
                    time.sleep(0.1)
            else:
                raise AssertionError(log.read_text())
            with closing(connection):
                yield connection
        finally:
            server.terminate()
            server.wait()

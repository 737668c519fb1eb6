"""Files are written completely or not at all, by every function that writes."""

import os
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from aucrank import RIMARC, Scorecard, load
from aucrank._utils.files import write_atomically
from aucrank.cli import demo, main

from tests.common.command_line import small_demo_models
from tests.common.script import run_script

posix = pytest.mark.skipif(os.name != "posix", reason="modes and limits are those of POSIX")
X = np.random.default_rng(0).normal(size=(400, 3)).round(2)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


@pytest.fixture
def model(monkeypatch):
    monkeypatch.setattr(demo, "_models", small_demo_models)
    RIMARC().fit(X, Y).save("model.json")
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y).to_csv("rows.csv", index=False)
    assert (
        main(["fit", "rows.csv", "--target", "y", "--model", "RIMARC", "--output", "m.json"]) == 0
    )


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


#: Every call of this package that writes a file, and the name of the file.
ROADS = {
    "save": ("RIMARC().fit(X, Y).save(path)", "new.json"),
    "scores": ("main(['score', 'm.json', 'rows.csv', '--output', path])", "new.csv"),
    "packed scores": ("main(['score', 'm.json', 'rows.csv', '--output', path])", "new.csv.gz"),
    "Parquet scores": ("main(['score', 'm.json', 'rows.csv', '--output', path])", "new.parquet"),
    "fit": (
        "main(['fit', 'rows.csv', '--target', 'y', '--model', 'RIMARC', '--output', path])",
        "new.json",
    ),
    "demo": ("main(['demo', '--output', path])", "new.json"),
    "compare": (
        "main(['compare', 'rows.csv', '--target', 'y', '--models', 'RIMARC', '--json', path])",
        "new.json",
    ),
    "card": ("Scorecard().fit(X, Y).to_csv(path)", "card.csv"),
}
every_road = pytest.mark.parametrize(("call", "name"), ROADS.values(), ids=ROADS)


def go(call, path):
    known = {"RIMARC": RIMARC, "Scorecard": Scorecard, "X": X, "Y": Y, "main": main}
    return eval(call, known | {"path": str(path)})


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o664, 0o755, 0o400, 0o000])
def test_a_file_that_is_replaced_keeps_its_mode(mode):
    Path("file").write_bytes(b"old")
    os.chmod("file", mode)
    write_atomically("file", "new")
    assert mode_of("file") == mode
    os.chmod("file", 0o600)
    assert Path("file").read_bytes() == b"new"


@posix
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_of_any_new_file(umask, mode):
    before = os.umask(umask)
    try:
        write_atomically("file", b"new")
    finally:
        os.umask(before)
    assert mode_of("file") == mode


@posix
@pytest.mark.parametrize("length", [1, 200, 241, 242, 250, 255])
def test_names_may_be_as_long_as_the_file_system_allows(length):
    for content in ("new", "newer"):
        write_atomically("x" * length, content)
        assert Path("x" * length).read_text() == content


@posix
@every_road
def test_every_way_to_write_a_file_takes_a_long_name_and_keeps_the_mode(call, name, model):
    stem, dot, suffix = name.partition(".")
    long = stem.ljust(255 - len(dot + suffix), "x") + dot + suffix
    go(call, long)
    os.chmod(long, 0o600)
    written = Path(long).read_bytes()
    Path(long).write_bytes(b"old")
    go(call, long)
    assert mode_of(long) == 0o600
    # All but `compare`, whose file has the duration, write the same again.
    assert len(Path(long).read_bytes()) > len(written) / 2
    assert not [entry for entry in os.listdir() if entry.startswith(".")]


@posix
@every_road
def test_a_failed_write_leaves_all_files_unchanged(call, name, model):
    # A limit on the size of files stops the writing halfway, as a full disk does.
    Path(name).write_bytes(b"old")
    before = sorted(os.listdir())
    script = f"""
import resource, sys
sys.dont_write_bytecode = True
import numpy as np
from aucrank import RIMARC, Scorecard
from aucrank.cli import demo, main
from tests.common.command_line import small_demo_models
demo._models = small_demo_models
X = np.random.default_rng(0).normal(size=(400, 3)).round(2)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
path = {name!r}
# All that is loaded late is loaded now: it may write.
import pandas, pyarrow.parquet
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
sys.exit({call})
"""
    done = run_script(script)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "file too large" in done.stderr.lower()
    assert name in done.stderr
    if call.startswith("main"):
        assert "Traceback" not in done.stderr
        assert done.stderr.count("\n") == 1
    assert sorted(os.listdir()) == before
    assert Path(name).read_bytes() == b"old"


@posix
def test_a_symbolic_link_stays_and_its_target_is_replaced():
    os.mkdir("far")
    for target in ("far/there.json", "far/new.json"):
        os.symlink(target, "link.json")
        RIMARC().fit(X, Y).save("link.json")
        assert os.readlink("link.json") == target
        assert load("link.json").n_features_in_ == load(target).n_features_in_ == 3
        os.unlink("link.json")
    assert sorted(os.listdir("far")) == ["new.json", "there.json"]
    os.symlink("round.json", "round.json")
    with pytest.raises(OSError, match=r"round\.json"):
        RIMARC().fit(X, Y).save("round.json")
    assert os.path.islink("round.json")


@posix
def test_devices_and_pipes_are_written_to_and_not_replaced():
    write_atomically("/dev/null", "text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(OSError, match="No space left on device"):
        write_atomically("/dev/full", "text")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_atomically("pipe", "déjà\r\n")
    assert os.read(reader, 100) == "déjà\r\n".encode()
    os.close(reader)
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


@pytest.mark.parametrize("path", ["nowhere/model.json", "file/model.json", "folder"])
def test_an_error_names_the_requested_file(path):
    os.mkdir("folder")
    Path("file").touch()
    with pytest.raises(OSError, match=path.replace(".", r"\.")) as caught:
        RIMARC().fit(X, Y).save(path)
    assert caught.value.filename == path
    assert sorted(os.listdir()) == ["file", "folder"]


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write all")
def test_a_read_only_folder_raises_an_error_before_the_fit(model, capsys):
    os.mkdir("locked", mode=0o555)
    with pytest.raises(PermissionError, match=r"locked/model\.json"):
        RIMARC().fit(X, Y).save("locked/model.json")
    assert main(["fit", "rows.csv", "--target", "y", "--output", "locked/m.json"]) == 1
    assert "cannot write locked/m.json" in capsys.readouterr().err


def test_zipped_scores_do_not_depend_on_the_time_of_writing(model, monkeypatch):
    written = []
    for now in (1e9, 2e9):
        monkeypatch.setattr("time.time", lambda now=now: now)
        go(*("main(['score', 'm.json', 'rows.csv', '--output', path])", "scores.csv.gz"))
        written.append(Path("scores.csv.gz").read_bytes())
    assert written[0] == written[1]

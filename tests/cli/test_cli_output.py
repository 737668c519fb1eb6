"""The command line prints no traceback for a broken output or unusual input."""

import json
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from aucrank import RIMARC, TreeRank, load
from aucrank.cli import _text, main
from aucrank.cli._model import build_estimator
from hypothesis import given
from hypothesis import strategies as st

from tests.common.command_line import TREE
from tests.common.limits import HANG

posix = pytest.mark.skipif(os.name != "posix", reason="these files are those of POSIX")

N = 200
RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], N // 2)
X = (RNG.normal(size=N) + Y).round(2)

#: A terminal title, a colour, a bell, a deleted line, a line break, a change of direction.
HOSTILE = "a\x1b]0;owned\x07\x1b[31mred\x9b1m\rb\n\tc\x7f\u202edcba\u2066\u2028"
#: Control characters of a terminal but the line break, and the other characters above.
ACTIVE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def run(capsys, *args):
    status = main([str(arg) for arg in args])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def program(*args, **options):
    """Run the program in a process; ``shell`` is text after it, such as a redirection."""
    shell = options.pop("shell", "")
    options.setdefault("env", {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"})
    command = ["sh", "-c", f'exec "$@" {shell}', "sh", sys.executable, "-m", "aucrank", *args]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=HANG, check=False, **options
    )


@pytest.fixture
def model():
    frame = pd.DataFrame({"x": X, "z": np.tile(["u", "v"], N // 2)})
    TreeRank(random_state=0).fit(frame, Y).save("model.json")
    frame.assign(y=Y).to_csv("rows.csv", index=False)


# Escapes.


@given(st.text())
def test_shown_text_is_one_line_without_control_characters_and_can_be_encoded(text):
    shown = _text.shown(text)
    assert not ACTIVE.search(shown)
    assert "\n" not in shown
    shown.encode("utf-8")
    if not ACTIVE.search(text) and "\n" not in text:
        assert shown == text


@pytest.mark.usefixtures("short_fits")
@pytest.mark.parametrize(
    "name", ["TreeRank", "RIMARC", "RankBoost", "Scorecard", "AURORA", "RankingEnsemble"]
)
def test_names_levels_and_labels_cannot_control_the_terminal(name, capsys):
    rows = pd.DataFrame(
        {
            f"number {HOSTILE}": X,
            f"text {HOSTILE}": np.where(RNG.random(N) < 0.2 + 0.6 * Y, f"u{HOSTILE}", "v"),
            f"y {HOSTILE}": np.where(Y == 1, f"yes {HOSTILE}", f"no {HOSTILE}"),
        }
    )
    rows.to_parquet("rows.parquet")
    target = ("--target", f"y {HOSTILE}")
    heard = []
    for command in (
        ("fit", "rows.parquet", *target, "--model", name, "--output", "model.json"),
        ("describe", "model.json"),
        ("evaluate", "model.json", "rows.parquet", *target),
        ("evaluate", "model.json", "rows.parquet", "--target", "y\x1b[2J"),
        ("fit", "rows.parquet", *target, "--drop", "\x1b[2J"),
        ("fit", "rows.parquet", *target, "--positive", "\x1b[2J"),
        ("compare", "rows.parquet", *target, "--models", name, "--folds", "2"),
        ("fit", "absent\x1b[2J.csv", *target),
    ):
        status, out, err = run(capsys, *command)
        assert status in (0, 1)
        heard.append(out + err)
    assert not ACTIVE.search("".join(heard))
    # They are printed, on its line, and in the note on the label.
    assert "\\x1b]0;owned\\x07" in heard[0]
    assert "\nb" not in heard[0]
    assert "\\x1b[2J" in heard[3]
    assert load("model.json").classes_.tolist() == [f"no {HOSTILE}", f"yes {HOSTILE}"]


def test_warnings_cannot_control_the_terminal(capsys):
    rows = pd.DataFrame({f"id{HOSTILE}": [f"{k}{HOSTILE}" for k in range(N)], "x": X, "y": Y})
    rows.to_parquet("rows.parquet")
    status, out, err = run(capsys, "fit", *TREE, "rows.parquet", "--target", "y")
    assert status == 0
    assert "looks like an identifier" in err
    assert not ACTIVE.search(out + err)


@posix
def test_characters_that_the_output_cannot_encode_are_escaped(model):
    frame = pd.DataFrame({"größe": X, "名": X})
    RIMARC().fit(frame, Y).save("model.json")
    environment = os.environ | {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "aucrank", "describe", "model.json"],
        capture_output=True,
        timeout=HANG,
        check=False,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert "größe".encode("latin-1") in done.stdout
    assert b"\\u540d" in done.stdout


# Output that cannot be written.


@posix
@pytest.mark.parametrize(
    "args",
    [
        ("describe", "model.json"),
        ("score", "model.json", "rows.csv"),
        ("evaluate", "model.json", "rows.csv", "--target", "y"),
        ("fit", *TREE, "rows.csv", "--target", "y", "--output", "new.json"),
        ("--help",),
        ("--version",),
    ],
    ids=lambda args: args[0],
)
def test_a_full_output_is_an_error_in_one_line(args, model):
    done = program(*args, shell=">/dev/full")
    assert done.returncode == 1
    assert done.stderr == ("aucrank: error: standard output stream: no space left on device\n")


@posix
@pytest.mark.parametrize(
    "command", [("describe",), ("score", "rows.csv")], ids=["describe", "score"]
)
def test_an_output_without_a_buffer_that_is_full_is_an_error_too(command, model):
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    name, *data = command
    done = program(name, "model.json", *data, shell=">/dev/full", env=environment)
    assert done.returncode == 1
    assert done.stderr == "aucrank: error: standard output stream: no space left on device\n"
    # A file of limited size takes a part of the output.
    limit = 'ulimit -f 1; exec "$@" >part.txt'
    done = subprocess.run(
        ["sh", "-c", limit, "sh", sys.executable, "-m", "aucrank", name, "model.json", *data],
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
        env=environment,
    )
    assert done.returncode == 1
    assert done.stderr == "aucrank: error: standard output stream: file too large\n"


@posix
def test_a_closed_output_is_an_error_and_closed_errors_leave_the_status(model):
    done = program("describe", "model.json", shell=">&-")
    assert done.returncode == 1
    assert done.stderr == "aucrank: error: there is no standard output stream to write to\n"
    for shell in ("2>&-", "2>/dev/full"):
        done = program("describe", "absent.json", shell=shell)
        assert done.returncode != 0
        assert done.stdout == ""
        done = program("describe", "model.json", shell=shell)
        assert done.returncode == 0
        assert done.stdout.startswith("TreeRank")


@posix
def test_errors_while_the_output_is_full_print_no_traceback(model):
    done = program("describe", "absent.json", shell=">/dev/full 2>&1")
    assert done.returncode != 0
    assert done.stdout + done.stderr == ""
    done = program("fit", "rows.csv", "--target", "absent", shell=">/dev/full")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "no column 'absent'" in done.stderr


# Input that can be read once.


@posix
def test_a_model_is_read_once(model, capsys):
    with open("model.json") as file:
        done = program("describe", "/dev/stdin", stdin=file)
    assert (done.returncode, done.stderr) == (0, "")
    _, expected, _ = run(capsys, "describe", "model.json")
    assert done.stdout == expected
    with subprocess.Popen(["cat", "model.json"], stdout=subprocess.PIPE) as cat:
        done = program("describe", "/dev/stdin", stdin=cat.stdout)
    assert (done.returncode, done.stdout) == (0, expected)
    for command in (
        ("describe", "pipe"),
        ("score", "pipe", "rows.csv"),
        ("evaluate", "pipe", "rows.csv", "--target", "y"),
    ):
        os.mkfifo("pipe")
        with open("model.json", "rb") as file:
            document = file.read()
        writer = threading.Thread(target=lambda text=document: open_and_write("pipe", text))
        writer.start()
        assert run(capsys, *command)[0] == 0
        writer.join()
        os.unlink("pipe")


def open_and_write(path, text):
    with open(path, "wb") as file:
        file.write(text)


@posix
@pytest.mark.parametrize("name", ["pipe.csv", "pipe.csv.gz", "pipe.parquet"])
def test_data_from_a_pipe_are_rejected_before_it_is_opened(name, model, capsys):
    os.mkfifo(name)
    for command in (("fit", name, "--target", "y"), ("score", "model.json", name)):
        status, _, err = run(capsys, *command)
        assert status == 1
        assert f"cannot read {name}: it is not a regular file" in err
        assert err.count("\n") == 1


# Files and parameters of unusual form.


def resigned(document):
    """The text of a model with its checksum."""
    text = json.dumps(document)
    for _ in range(2):
        try:
            open_and_write("odd.json", text.encode())
            load("odd.json")
        except ValueError as error:
            if found := re.search(r"fnv1a64:[0-9a-f]{16}", str(error)):
                known = re.search(r"fnv1a64:[0-9a-f]{16}", text)
                others = re.findall(r"fnv1a64:[0-9a-f]{16}", str(error))
                new = next(one for one in others if one != known[0])
                text = text.replace(known[0], new)
                del found
    return text


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.pop("library_version"),
        lambda document: document.update(library_version=None),
        lambda document: document.update(library_version=7),
        lambda document: document.update(library_version=[{}]),
        lambda document: document.update(library_version=HOSTILE),
        lambda document: document.update(more=1),
    ],
    ids=["none", "null", "number", "list", "hostile", "more"],
)
def test_a_model_with_a_changed_header_is_described_or_rejected(change, model, capsys):
    with open("model.json") as file:
        document = json.load(file)
    change(document)
    open_and_write("odd.json", resigned(document).encode())
    for command in (
        ("describe", "odd.json"),
        ("score", "odd.json", "rows.csv"),
        ("evaluate", "odd.json", "rows.csv", "--target", "y"),
    ):
        status, out, err = run(capsys, *command)
        assert status in (0, 1)
        assert not ACTIVE.search(out + err)
        if status == 1:
            assert err.startswith("aucrank: error: odd.json: ")
            assert err.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    [
        "-" * 5000,
        "(" * 5000,
        "[" * 150 + "]" * 150,
        "{[]: 1}",
        "1" * 5000,
        "+" * 100_000,
        "\\",
        "'",
    ],
    ids=["dashes", "brackets", "nested", "unhashable", "digits", "pluses", "escape", "quote"],
)
def test_a_parameter_of_any_text_is_rejected_in_one_line(text, model, capsys):
    status, out, err = run(
        capsys, "fit", *TREE, "rows.csv", "--target", "y", "--param", f"max_depth={text}"
    )
    assert status in (1, 2)
    assert out == ""
    assert err.startswith("aucrank: error: ")
    assert err.count("\n") == 1
    assert "max_depth" in err


@given(st.text(alphabet="-+~([{}])1e.,:'\"\\ \x00aN", max_size=30))
def test_every_text_is_a_value_of_a_parameter(text):
    build_estimator("TreeRank", [f"min_gain={text}"])


# Numbers beyond 64 bits.


@pytest.mark.parametrize("reader_hidden", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("low", "high"),
    [
        (2**63 - 1, 2**63),
        (-1, 2**63),
        (1, 2**64),
        (-(2**63) - 1, 2**70),
        (-(2**100), 2**100),
        (0, 2**126),
    ],
)
def test_integers_of_any_size_are_numbers(low, high, reader_hidden, monkeypatch, capsys):
    from aucrank.cli import _data

    find_spec = _data.find_spec
    monkeypatch.setattr(
        _data, "find_spec", lambda name: None if name == reader_hidden else find_spec(name)
    )
    values = [str(high if label else low) for label in Y]
    values[5] = ""
    frame = pd.DataFrame({"big": values, "x": X, "y": Y})
    frame.to_csv("rows.csv", index=False)
    status, out, err = run(
        capsys, "fit", *TREE, "rows.csv", "--target", "y", "--output", "model.json"
    )
    # The other warning: the column is a copy of the label.
    begins = ["aucrank: warning: Column 'big' separates the classes by itself"]
    assert [line.partition(",")[0] for line in err.splitlines()] == begins[
        : float(low) != float(high)
    ]
    assert status == 0
    assert "2 features (2 numeric, 0 categorical)" in out
    assert run(capsys, "score", "model.json", "rows.csv")[0] == 0
    model = load("model.json")
    assert [feature.levels for feature in model._schema.features] == [None, None]
    exact = frame.assign(big=[float(value or "nan") for value in values]).drop(columns="y")
    if float(low) != float(high):
        assert model.score(exact, Y) > 0.99
    # Names that are long numbers stay text on request.
    command = (
        "fit",
        *TREE,
        "rows.csv",
        "--target",
        "y",
        "--categorical",
        "big",
        "--output",
        "named.json",
    )
    assert run(capsys, *command)[0] == 0
    assert set(load("named.json")._schema.features[0].levels) == {str(low), str(high)}

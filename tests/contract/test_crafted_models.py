"""Crafted model files: read or rejected in bounded memory and time."""

import ctypes
import json
import re
import sys
import tempfile
from pathlib import Path

import aucrank
import numpy as np
import pandas as pd
import pytest

from tests.common.estimators import SAVED
from tests.common.limits import HANG
from tests.common.memory import without_huge_pages
from tests.common.paths import CHECKOUT
from tests.common.script import run_script

#: Bytes of a document with an array made longer.
LONG = 1 << 20

#: A file may take this many times its size, and what threads and the interpreter need.
MOST_TIMES, SLACK = 20, 2 << 20

NUMBERS_ONLY = {"boosted_lines", "rank_opt"}


def document(name):
    """Return the document of a small model as a dict."""
    if name == "gradient_boosting_category_pairs":
        return json.loads((CHECKOUT / "fuzz" / "corpus" / f"{name}.json").read_text("utf-8"))
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 2)).round(1), columns=["a", "b"])
    y = X["a"] + rng.normal(size=80) > 0
    if name not in NUMBERS_ONLY:
        X["c"] = pd.Categorical(rng.choice(["red", "green", "blue"], 80))
    return json.loads(SAVED[name].fit(X, y)._to_document())


def places(value, kind, path=()):
    """Yield the paths to all values of a kind; of a list only those of the first and last item."""
    if isinstance(value, kind) and not isinstance(value, bool):
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, kind, (*path, key))
    elif isinstance(value, list):
        for place in {0, len(value) - 1} if value else ():
            yield from places(value[place], kind, (*path, place))


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def changed(document, path, new):
    """Return the text of the document with one value replaced by the text that ``new`` gives."""
    *above, last = path
    copy = json.loads(json.dumps(document))
    parent = copy
    for key in above:
        parent = parent[key]
    text = new(parent[last])
    parent[last] = "the place"
    return compact(copy).replace('"the place"', text)


def longer(filler):
    """Make a list so long that its document is of LONG bytes, of its own items or a filler."""

    def new(items):
        text = compact(items if items and filler is None else [filler])[1:-1]
        return f"[{','.join([text] * (LONG // (len(text) + 1)))}]"

    return new


def cases(name):
    """Yield what was changed, and the text."""
    original = document(name)
    body = {"body": original["body"]}
    yield "nothing", compact(original)
    for path in places(body, list):
        for filler in (None, 0, []):
            yield f"{path} of {filler}", changed(original, path, longer(filler))
    for path in places(body, int):
        for huge in (2**28 - 1, 2**32 - 1, 2**53):
            yield f"{path} = {huge}", changed(original, path, lambda _, huge=huge: str(huge))


def with_checksum(text):
    """Return the text with the checksum that its content gives, as the core computes it."""
    try:
        aucrank._core.read_document(text)
    except aucrank.ModelFormatError as err:
        found = re.search(
            r"checksum is (fnv1a64:\w+), but its content gives (fnv1a64:\w+)", str(err)
        )
        return text.replace(found[1], found[2]) if found else text
    return text


def peak_of_loading(path):
    """Return by how much reading a file raises the peak memory of this process, and the outcome."""
    status = Path("/proc/self/status")

    def read(key):
        lines = status.read_text().splitlines()
        return 1024 * int(next(line.split()[1] for line in lines if line.startswith(f"{key}:")))

    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = read("VmRSS")
    try:
        aucrank.load(path)
        outcome = "read"
    except aucrank.ModelFormatError as err:
        outcome = str(err)[:200]
    return read("VmHWM") - before, outcome


def warm_up():
    """Read a small document, so that later readings do not load modules."""
    without_huge_pages()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_text(with_checksum(compact(document("tree"))), encoding="utf-8")
        peak_of_loading(path)


def main(name):
    """Print the size, the rise of the peak memory and the outcome of all changes of one model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        for what, text in cases(name):
            path.write_text(with_checksum(text), encoding="utf-8")
            del text
            peak, outcome = peak_of_loading(path)
            print(json.dumps([what, path.stat().st_size, peak, outcome]))


only_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="peak memory is read from /proc"
)


#: Measures peaks in its own process, which first loads all modules.
PEAKS = """
import warnings
warnings.simplefilter("ignore")
from tests.contract.test_crafted_models import main, peak_of_loading, warm_up
warm_up()
{}
"""


@only_linux
@pytest.mark.parametrize("name", [*SAVED, "gradient_boosting_category_pairs"])
def test_long_lists_and_large_numbers_in_a_file_are_read_in_bounded_memory(name, monkeypatch):
    monkeypatch.chdir(CHECKOUT)
    done = run_script(PEAKS.format(f"main({name!r})"), timeout=HANG)
    assert done.returncode == 0, done.stderr[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found[0][3] == "read"
    assert len(found) > 20
    too_much = [case for case in found if case[2] > MOST_TIMES * case[1] + SLACK]
    assert too_much == []


def forest_text(trees, *, frame=None, header=None, thresholds=None, level_sets=()):
    """Return a forest of given trees, as text with its checksum."""
    original = document("forest")
    model = original["body"]["model"]
    model["trees"], model["level_sets"] = trees, list(level_sets)
    for key, value in (frame or {}).items():
        model["frames"][0][key] = value
    if header is not None:
        original["body"]["header"]["features"] = header
    if thresholds is not None:
        model["thresholds"] = thresholds
    return with_checksum(compact(original))


LEAF = {"features": [], "missing": "", "neg": [1], "nodes": ".", "pos": [1], "thresholds": []}


def shared_frame():
    """Return many trees of one leaf that share a frame of many features."""
    n = 100_000
    frame = {"n_levels": [None] * n, "has_missing": [False] * n, "monotonic": [0] * n}
    header = [{"kind": "numeric", "name": None}] * n
    return forest_text([LEAF] * 20_000, frame=frame, header=header, thresholds=[[]] * n)


def far_codes(levels):
    """Return trees whose only split is on a category with a large code."""
    tree = {
        "features": [2],
        "levels": [levels],
        "missing": "r",
        "neg": [1, 1],
        "nodes": "=..",
        "pos": [1, 1],
        "thresholds": [],
    }
    return forest_text([tree] * 2000, frame={"n_levels": [None, None, 2**28]})


def far_shared_codes():
    """Return trees that share one split on a great many categories."""
    tree = {
        "features": [2],
        "level_sets": [0],
        "missing": "r",
        "neg": [1, 1],
        "nodes": "=..",
        "pos": [1, 1],
        "thresholds": [],
    }
    levels = {"only": [1] * 300_000}
    return forest_text([tree] * 2000, frame={"n_levels": [None, None, 2**28]}, level_sets=[levels])


def many_nodes():
    """Return one tree of a great many nodes, each as short as possible."""
    n = 400_000
    ones = [1] * (n + 1)
    tree = {
        "features": [0] * n,
        "missing": "r" * n,
        "neg": ones,
        "nodes": "k." * n + ".",
        "pos": ones,
        "thresholds": [],
    }
    return forest_text([tree])


def many_letters():
    """Return one tree with a great many letters for nodes, and no data of nodes."""
    return forest_text([{**LEAF, "nodes": "." * 3_000_000}])


def boosted_text(columns):
    """Return gradient boosting of one tree in columns, as text with its checksum."""
    original = document("gradient_boosting")
    model = original["body"]["model"]
    model["trees"] = {"thresholds": [], "trees": [columns]}
    del model["bags"]
    return with_checksum(compact(original))


def many_boosted_nodes():
    """Return one tree of gradient boosting of many nodes, each as short as possible."""
    n = 300_000
    columns = {"features": [0] * n, "gains": [1] * n, "missing": "r" * n, "nodes": "k." * n + "."}
    ones = [1] * (n + 1)
    return boosted_text(columns | {"thresholds": [], "values": ones, "weights": ones})


def many_boosted_letters():
    """Return one tree of gradient boosting of many letters, and no data of nodes."""
    columns = {"features": [], "gains": [], "missing": "", "nodes": "." * 3_000_000}
    return boosted_text(columns | {"thresholds": [], "values": [1], "weights": [1]})


def many_specials():
    """Return a card with a great many special values."""
    original = document("card")
    bins = original["body"]["model"]["features"][0]["bins"]["numeric"]
    bins["special"] = [1000.0 + i for i in range(300_000)]
    return with_checksum(compact(original))


def large_parts():
    """Return a document whose parts besides the model are large."""
    original = document("rank_opt")
    original["body"]["header"]["estimator"]["params"]["radii"] = [0] * 1_000_000
    return with_checksum(compact(original))


def parameter(value):
    """Return a tree one of whose parameters is a given value."""
    original = document("tree")
    original["body"]["header"]["estimator"]["params"]["monotonic_cst"] = value
    return with_checksum(compact(original))


def array_of(dtype, values):
    return {"__class__": "ndarray", "dtype": dtype, "values": values}


def labels_of(dtype):
    """Return a tree whose labels have a dtype wider than all texts."""
    original = document("tree")
    original["body"]["header"]["classes"] = {"dtype": dtype, "values": ["a", "b"]}
    return with_checksum(compact(original))


WIDE = "<U262143"
#: Values of a parameter that once took memory beyond their size, or time.
PARAMETERS = {
    "wide_texts": (array_of(WIDE, ["a"] * 1000), "read"),
    "one_long_text": (array_of("<U100000", ["x" * 100_000] + ["a"] * 20_000), "read"),
    "wide_texts_in_lists": ([[array_of(WIDE, ["a", "b"])]] * 500, "read"),
    "wide_texts_in_arrays": (
        array_of("object", [array_of(WIDE, ["a"])] * 500),
        "cannot have these parameters",
    ),
    "wide_texts_in_a_rule": (
        {"__class__": "LeafRank", "pruning": array_of(WIDE, ["a"] * 999)},
        "read",
    ),
    "a_structure": (array_of(",".join(["f8"] * 100_000), ["a"]), "an array has an unknown form"),
    "an_array_of_arrays": (array_of("(1000,1000,100)f8", [1.0]), "an array has an unknown form"),
    "a_long_dtype": ({"__class__": "dtype", "name": ",".join(["f8"] * 100_000)}, "unknown form"),
    "many_numbers": (array_of("float64", [0] * 500_000), "read"),
    "many_objects": ([{"__class__": "TreeRank"}] * 40_000, "hold 40,001 objects"),
    "a_long_integer": ({"__class__": "int", "value": "0x" + "f" * 1_000_000}, "unknown form"),
}

CRAFTED = {
    **{
        name: (lambda value=value: parameter(value), expected)
        for name, (value, expected) in PARAMETERS.items()
    },
    "wide_labels": (lambda: labels_of(WIDE), "read"),
    "shared_frame": (shared_frame, "read"),
    "far_codes": (lambda: far_codes({"only": [2**28 - 1]}), "the features are not those"),
    "far_codes_of_format_2": (lambda: far_codes([2**28 - 1]), "the features are not those"),
    "far_shared_codes": (far_shared_codes, "the features are not those"),
    "many_nodes": (many_nodes, "read"),
    "many_letters": (many_letters, "tree 0: "),
    "many_boosted_nodes": (many_boosted_nodes, "read"),
    "many_boosted_letters": (many_boosted_letters, "tree 0: nodes go on"),
    "many_specials": (many_specials, "not one entry for each bin"),
    "large_parts": (large_parts, "read"),
}


@only_linux
@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_file_is_read_or_rejected_in_bounded_memory_and_time(tmp_path, monkeypatch, name):
    make, expected = CRAFTED[name]
    path = tmp_path / "model.json"
    path.write_text(make(), encoding="utf-8")
    monkeypatch.chdir(CHECKOUT)
    code = PEAKS.format(f"print(*peak_of_loading({str(path)!r}), sep='\\n')")
    # Some seconds; what is quadratic takes minutes.
    done = run_script(code, timeout=HANG)
    assert done.returncode == 0, done.stderr[-2000:]
    peak, outcome = done.stdout.splitlines()
    assert expected in outcome
    assert int(peak) <= MOST_TIMES * path.stat().st_size + SLACK

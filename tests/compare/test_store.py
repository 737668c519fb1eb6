"""Resumed comparisons."""

import base64
import json
import tracemalloc
import zlib
from collections import Counter

import aucrank
import numpy as np
import pytest
from aucrank import RIMARC, TreeRank
from aucrank._compare import contestants
from aucrank._compare.outcome import FoldResult
from aucrank._compare.store import Store

from tests.common.contestants import Column, sample

#: How often `Counted` was fitted.
FITS = Counter()


class Counted(Column):
    def fit(self, X, y):
        FITS.update([self.place])
        return super().fit(X, y)


@pytest.fixture
def path(tmp_path):
    FITS.clear()
    return tmp_path / "fits.jsonl"


def compare(path, models=None, n=60, **kwargs):
    X, y = sample(n)
    models = {"a": Counted(0), "b": Counted(1)} if models is None else models
    return aucrank.compare(X, y, models=models, resume=path, **kwargs)


def assert_same(one, other):
    for name in one.models:
        np.testing.assert_array_equal(one.models[name], other.models[name])


def test_stored_fits_are_not_repeated(path):
    first = compare(path)
    assert FITS.total() == 10
    again = compare(path)
    assert FITS.total() == 10
    # Seconds, too: they are those of the fits that were done.
    assert_same(first, again)
    assert again.notes == [f"10 fits taken from {path}"]


@pytest.mark.parametrize("lost", [1, 2, 7, 10])
def test_missing_fits_are_run(path, lost):
    first = compare(path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-lost]))
    FITS.clear()
    again = compare(path)
    assert FITS.total() == lost
    assert again.models["auc"].tolist() == first.models["auc"].tolist()
    assert len(path.read_text().splitlines()) == 11


@pytest.mark.parametrize("n_letters", [1, 40, 200])
def test_a_truncated_last_line_is_ignored(path, n_letters):
    compare(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-n_letters])
    FITS.clear()
    compare(path)
    assert FITS.total() == 1
    for line in path.read_text().splitlines():
        json.loads(line)


def test_only_the_added_model_is_fitted(path):
    compare(path)
    FITS.clear()
    compare(path, {"a": Counted(0), "b": Counted(1), "c": Counted(2)})
    assert FITS == {2: 5}


def test_a_model_with_other_parameters_is_fitted_again_with_a_note(path):
    compare(path)
    FITS.clear()
    board = compare(path, {"a": Counted(2), "b": Counted(1)})
    assert FITS == {2: 5}
    assert board.notes == [
        f"5 fits taken from {path}",
        f"fits of a in {path} are of other parameters or versions, so they were done anew",
    ]
    # Both are stored now.
    FITS.clear()
    compare(path)
    assert FITS.total() == 0


def test_a_model_of_another_version_is_fitted_again(path, monkeypatch):
    compare(path)
    FITS.clear()
    monkeypatch.setattr(contestants, "__version__", "0.0.0")
    compare(path)
    assert FITS.total() == 10


def test_models_known_by_name_are_distinguished_by_the_seed(path):
    X, y = sample(60)
    models, folds = ["TreeRank", "LogisticRegression"], [(np.arange(30), np.arange(30, 60))]
    folds.append(folds[0][::-1])
    for seed, taken in ((0, 0), (0, 4), (1, 2)):
        board = aucrank.compare(X, y, models=models, cv=folds, random_state=seed, resume=path)
        # A logistic regression draws nothing at random.
        assert board.notes[:1] == ([f"{taken} fits taken from {path}"] if taken else [])


def test_the_number_of_threads_does_not_make_another_model(path):
    compare(path, ["TreeRank", "RandomForestClassifier"], n_jobs=1)
    board = compare(path, ["TreeRank", "RandomForestClassifier"], n_jobs=2, parallel="folds")
    assert board.notes == [f"10 fits taken from {path}"]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda X, y: (X + 1e-9, y, None), "columns, labels or weights"),
        (lambda X, y: (X, 1 - y, None), "columns, labels or weights"),
        (lambda X, y: (X, y.astype(str), None), "columns, labels or weights"),
        (lambda X, y: (X, y, np.full(60, 2.0)), "columns, labels or weights"),
    ],
)
def test_fits_of_other_rows_are_rejected(path, change, what):
    compare(path, [RIMARC()])
    X, y, weight = change(*sample(60))
    with pytest.raises(ValueError, match=f"holds fits of other {what}: name another file"):
        aucrank.compare(X, y, models=[RIMARC()], sample_weight=weight, resume=path)


def test_fits_of_other_folds_are_rejected(path):
    compare(path, [RIMARC()])
    for more in ({"cv": 4}, {"random_state": 1}, {"n_repeats": 2}):
        with pytest.raises(ValueError, match="holds fits of other folds"):
            compare(path, [RIMARC()], **more)


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "{}\n", "[1]\n", "\n", '{"format": "other"}\n'])
def test_other_files_are_rejected_and_not_changed(path, content):
    path.write_text(content)
    with pytest.raises(ValueError, match="is not a file of a comparison"):
        compare(path)
    assert path.read_text() == content


def test_the_error_names_a_line_that_is_not_a_fit(path):
    compare(path)
    lines = path.read_text().splitlines(keepends=True)
    lines[3] = '{"model": "a"}\n'
    path.write_text("".join(lines))
    with pytest.raises(ValueError, match=r"line 4 of .* is not a fit"):
        compare(path)


def test_a_file_of_another_version_is_rejected(path):
    compare(path)
    path.write_text(path.read_text().replace('"version": 1', '"version": 2', 1))
    with pytest.raises(ValueError, match="another version of aucrank"):
        compare(path)


def test_failures_are_not_stored(path):
    class Bad(Column):
        def fit(self, X, y):
            raise RuntimeError("no")

    compare(path, {"bad": Bad(), "tree": TreeRank(random_state=0)})
    assert [json.loads(line).get("model") for line in path.read_text().splitlines()] == [
        None,
        *["tree"] * 5,
    ]


def test_scores_are_restored_to_the_last_bit(tmp_path):
    scores = np.array([0.1, -np.inf, 1e-310, np.nextafter(1, 2), -0.0])
    result = FoldResult(scores, 0.1, 0.2, 3, None)
    Store(tmp_path / "s", "rows", "folds").keep("a", "f", 1, result)
    (found,) = Store(tmp_path / "s", "rows", "folds").known("a", "f", [4, 5]).items()
    assert found[0] == 1
    assert found[1].scores.tobytes() == scores.tobytes()
    assert (found[1].fit_seconds, found[1].n_rules) == (0.1, None)
    # Of another number of rows, it is none of this fold.
    assert Store(tmp_path / "s", "rows", "folds").known("a", "f", [5, 4]) == {}


def changed_line(path, **change):
    """Write a file of a comparison whose third line, its second fit, is changed."""
    Store(path, "rows", "folds").keep("a", "f", 0, RESULT)
    Store(path, "rows", "folds").keep("a", "f", 1, RESULT)
    lines = path.read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | change)
    path.write_text("\n".join(lines) + "\n")


RESULT = FoldResult(np.arange(4.0), 0.5, 0.25, 100, None)


def packed(scores):
    return base64.b64encode(zlib.compress(scores)).decode()


WRONG = {
    "infinite seconds": {"fit_seconds": float("inf")},
    "NaN seconds": {"score_seconds": float("nan")},
    "a number beyond floats": {"fit_seconds": 10**400},
    "bytes beyond all memory": {"n_bytes": 10**400},
    "a fold below 0": {"fold": -1},
    "half a fold": {"fold": 0.5},
    "a fold that is true": {"fold": True},
    "a model that is a number": {"model": 3},
    "seconds in words": {"fit_seconds": "1"},
    "scores that are NaN": {"scores": packed(np.full(4, np.nan).tobytes())},
    "half a score": {"scores": packed(b"1234")},
    "scores that end early": {"scores": base64.b64encode(zlib.compress(bytes(32))[:-6]).decode()},
    "no scores": {"scores": "????"},
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_an_invalid_value_raises_an_error_that_names_its_line(change, tmp_path):
    changed_line(tmp_path / "s", **change)
    with pytest.raises(ValueError, match=rf"line 3 of {tmp_path / 's'} is not a fit: "):
        Store(tmp_path / "s", "rows", "folds").known("a", "f", [4, 4])


def test_deeply_nested_brackets_raise_an_error_that_names_their_line(tmp_path):
    changed_line(tmp_path / "s")
    with (tmp_path / "s").open("a") as file:
        file.write('{"model":' + "[" * 100_000 + "\n")
    with pytest.raises(ValueError, match=r"line 4 of .* is not a fit"):
        Store(tmp_path / "s", "rows", "folds")
    (tmp_path / "s").write_text("[" * 100_000 + "\n")
    with pytest.raises(ValueError, match="is not a file of a comparison"):
        Store(tmp_path / "s", "rows", "folds")


def test_scores_that_unpack_to_more_than_all_rows_take_no_memory(tmp_path):
    changed_line(tmp_path / "s", scores=packed(bytes(50_000_000)))
    tracemalloc.start()
    try:
        store = Store(tmp_path / "s", "rows", "folds")
        with pytest.raises(
            ValueError, match=r"line 3 of .* is not a fit: it has more than 8 scores"
        ):
            store.known("a", "f", [4, 4])
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()

import copy
import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
import scipy.stats
import sklearn.exceptions
import sklearn.metrics
from aucrank.metrics import (
    RocCurve,
    RocState,
    auc_interval,
    partial_auc,
    precision_recall_curve,
    roc_auc_score,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.common.memory import usual_heap
from tests.common.paths import CHECKOUT
from tests.common.spilled import n_spilled_bytes


@st.composite
def batches(draw):
    """Rows of both classes with few distinct scores and whole weights, cut into batches."""
    row = st.tuples(st.integers(0, 1), st.integers(-4, 4), st.integers(0, 3))
    rows = [(0, 1, 1), (0, 0, 2), (1, 1, 2), (1, 2, 1), *draw(st.lists(row, max_size=60))]
    rows = draw(st.permutations(rows))
    cuts = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=6)))
    table = np.array(rows)
    dtype = draw(st.sampled_from([np.float64, np.float32, np.int64]))
    parts = np.split(table, cuts)
    return [(part[:, 0], part[:, 1].astype(dtype), part[:, 2]) for part in parts]


def delong_by_pairs(y, scores, weights):
    """Weighted DeLong variance from the matrix of all pairs."""
    keep = weights > 0
    y, scores, weights = y[keep], scores[keep].astype(float), weights[keep].astype(float)
    gaps = scores[y == 1][:, None] - scores[y == 0][None, :]
    wins = (gaps > 0) + 0.5 * (gaps == 0)
    w_pos, w_neg = weights[y == 1], weights[y == 0]
    places = [wins @ w_neg / w_neg.sum(), w_pos @ wins / w_pos.sum()]
    auc = np.average(places[0], weights=w_pos)
    return sum(
        np.sum((w * (v - auc)) ** 2) / w.sum() ** 2 * w.size / (w.size - 1)
        for w, v in zip((w_pos, w_neg), places, strict=True)
    )


@given(batches(), st.booleans(), st.randoms())
def test_any_batches_in_any_order_equal_one_call(parts, weighted, random):
    y, scores, weights = map(np.concatenate, zip(*parts, strict=True))
    used = weights if weighted else np.ones(y.size)
    whole = {"sample_weight": weights} if weighted else {}
    states = [
        RocState().update(yy, ss, sample_weight=ww if weighted else None) for yy, ss, ww in parts
    ]
    random.shuffle(states)
    total = sum(states, RocState())
    assert total.auc() == roc_auc_score(y, scores, **whole)
    expected = RocCurve.from_scores(y, scores, **whole)
    for name in ("fpr", "tpr", "thresholds"):
        np.testing.assert_array_equal(getattr(total.curve(), name), getattr(expected, name))
    assert total.variance() == pytest.approx(delong_by_pairs(y, scores, used), abs=1e-14)
    once = RocState().update(y, scores, **whole)
    assert total.to_bytes() == once.to_bytes()
    assert total.variance() == once.variance()
    assert (total.n_pos, total.n_neg) == (sum(used[y == 1] > 0), sum(used[y == 0] > 0))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@given(batches(), st.integers(2, 12))
def test_the_error_of_a_bounded_state_is_within_its_bound(parts, max_size):
    y, scores, _ = map(np.concatenate, zip(*parts, strict=True))
    state = RocState(max_size=max_size)
    for yy, ss, _ in parts:
        state.update(yy, ss)
    assert state.size <= max_size
    error = abs(state.auc() - sklearn.metrics.roc_auc_score(y, scores))
    assert error <= state.auc_error_bound() + 1e-15
    interval = state.interval()
    assert interval.low <= state.auc() <= interval.high


def test_a_bounded_state_of_many_rows_is_close_and_reports_its_error():
    rng = np.random.default_rng(0)
    state, exact = RocState(max_size=1000), RocState()
    for _ in range(30):
        y = rng.integers(0, 2, 100_000)
        scores = rng.normal(loc=y, scale=rng.uniform(0.5, 2))
        state.update(y, scores)
        exact.update(y, scores)
    assert state.size <= 1000 < exact.size
    assert abs(state.auc() - exact.auc()) <= state.auc_error_bound() < 2e-3
    assert state.curve().distance(exact.curve(), "linf") < 0.02
    assert len(state.to_bytes()) < 100_000


def test_fractional_weights_may_be_rounded_to_a_unit():
    rng = np.random.default_rng(1)
    y, scores, weights = rng.integers(0, 2, 500), rng.normal(size=500), rng.random(500)
    with pytest.raises(ValueError, match=r"sample_weight is 0\.\d+ in row 0, but must be a whole"):
        RocState(weight_unit=1.0).update(y, scores, sample_weight=weights)
    state, plain = RocState(weight_unit=2.0**-30), RocState()
    for part in np.array_split(np.arange(500), 7):
        state.update(y[part], scores[part], sample_weight=weights[part])
        plain.update(y[part], scores[part], sample_weight=weights[part])
    expected = sklearn.metrics.roc_auc_score(y, scores, sample_weight=weights)
    assert state.auc() == pytest.approx(expected, abs=1e-8)
    assert state.variance() == pytest.approx(delong_by_pairs(y, scores, weights), rel=1e-6)
    assert plain.auc() == pytest.approx(expected, rel=1e-13)
    assert plain.variance() == pytest.approx(delong_by_pairs(y, scores, weights), rel=1e-12)


@st.composite
def weighed_batches(draw):
    """Batches as above, with weights of any size: most within 20 decades, some of all that are."""
    parts = draw(batches())
    decades = draw(st.sampled_from([0, 10, 300]))
    size = st.floats(-decades, decades, allow_nan=False)
    sizes = [draw(st.lists(size, min_size=y.size, max_size=y.size)) for y, _, _ in parts]
    return [
        (y, scores, np.where(w > 0, 10.0 ** np.array(s), 0.0) if y.size else w * 1.0)
        for (y, scores, w), s in zip(parts, sizes, strict=True)
    ]


@given(weighed_batches(), st.randoms())
def test_any_weights_in_any_batches_equal_one_call(parts, random):
    y, scores, weights = map(np.concatenate, zip(*parts, strict=True))
    states = [RocState().update(yy, ss, sample_weight=ww) for yy, ss, ww in parts]
    random.shuffle(states)
    total = sum(states, RocState())
    once = RocState().update(y, scores, sample_weight=weights)
    assert total.to_bytes() == once.to_bytes()
    assert total.auc() == roc_auc_score(y, scores, sample_weight=weights)
    expected = RocCurve.from_scores(y, scores, sample_weight=weights)
    found = pickle.loads(pickle.dumps(total)).curve()
    for name in ("fpr", "tpr", "thresholds", "auc"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert total.variance() == once.variance()


@given(batches(), st.randoms(), st.sampled_from([1.0, 0.25]))
def test_batches_with_and_without_weights_can_be_mixed(parts, random, weight_unit):
    state = RocState(weight_unit=weight_unit)
    used = []
    for y, scores, weights in parts:
        weighted = random.random() < 0.5
        used.append(weights if weighted else np.ones(y.size))
        state.update(y, scores, sample_weight=weights if weighted else None)
    y, scores, _ = map(np.concatenate, zip(*parts, strict=True))
    used = np.concatenate(used)
    assert state.auc() == roc_auc_score(y, scores, sample_weight=used)
    assert state.variance() == pytest.approx(delong_by_pairs(y, scores, used), abs=1e-14)


def test_interval_of_delong_is_normal_and_clipped():
    y, scores = [0, 0, 0, 1, 1, 1], [1.0, 2.0, 4.0, 3.0, 5.0, 6.0]
    state = RocState().update(y, scores)
    interval = state.interval(confidence=0.9, method="delong")
    auc, low, high = interval.auc, interval.low, interval.high
    # Placement values by hand: positives 2/3, 1, 1; negatives 1, 1, 2/3; each variance 1/27.
    assert auc == pytest.approx(8 / 9)
    assert interval.standard_error == pytest.approx(np.sqrt(2 / 81))
    assert low == pytest.approx(auc - NormalDist().inv_cdf(0.95) * np.sqrt(2 / 81))
    assert high == 1.0
    with pytest.raises(ValueError, match="confidence == 1"):
        state.interval(confidence=1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("y", "scores", "weights"),
    [
        ([0, 0, 0, 1, 1, 1], [1.0, 2.0, 4.0, 3.0, 5.0, 6.0], None),
        ([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], None),
        ([0, 0, 1, 1], [3.0, 4.0, 1.0, 2.0], [1, 2, 3, 1]),
        ([0, 1, 1, 1], [3.0, 4.0, 1.0, 2.0], None),
        ([0, 0, 1, 0, 1], [3.0, 4.0, 1.0, 2.0, 5.0], [1, 2, 3, 1, 4]),
    ],
)
def test_interval_is_that_of_all_rows_at_once(y, scores, weights):
    state = RocState()
    for row in range(len(y)):
        weight = None if weights is None else weights[row : row + 1]
        state.update(y[row : row + 1], scores[row : row + 1], sample_weight=weight)
    found, expected = state.interval(), auc_interval(y, scores, sample_weight=weights)
    for name in ("auc", "low", "high", "standard_error", "confidence"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-12)
    assert found.method == expected.method


def test_one_row_of_a_class_has_an_auc_and_no_variance():
    state = RocState().update([0, 0, 1], [1, 3, 2])
    assert state.auc() == 0.5
    with pytest.raises(ValueError, match="two rows of each class: 1 positive and 2 negative"):
        state.variance()
    with pytest.raises(ValueError, match="one class only"):
        RocState().update([0, 0], [1, 2]).auc()


def test_pickle_copy_and_bytes_keep_all():
    state = RocState(max_size=50, weight_unit=0.5, pos_label="yes")
    state.update(["yes", "no", "yes"], [1.0, 2.0, 3.0], sample_weight=[0.5, 1.0, 2.0])
    twins = [pickle.loads(pickle.dumps(state)), copy.copy(state), copy.deepcopy(state)]
    twins.append(RocState.from_bytes(state.to_bytes(), pos_label="yes"))
    for twin in twins:
        assert twin.to_bytes() == state.to_bytes()
        assert (twin.max_size, twin.weight_unit) == (50, 0.5)
        twin.update(["no"], [0.0])
        assert (twin.n_neg, state.n_neg) == (2, 1)


def test_corrupt_bytes_are_rejected():
    data = RocState().update([0, 1, 1], [0.1, 0.2, 0.3]).to_bytes()
    for bad in (b"", data[:-1], data[:20], data + b"x", data[:30] + b"\xff" + data[31:], b"{}"):
        with pytest.raises(ValueError, match="not a RocState"):
            RocState.from_bytes(bad)
    newer = data[:8] + b"\x63" + data[9:]
    with pytest.raises(ValueError, match="format version 99"):
        RocState.from_bytes(newer)


@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.float32])
def test_frequency_k_equals_k_rows(dtype):
    rng = np.random.default_rng(0)
    y, scores, counts = rng.random(500) < 0.4, rng.integers(0, 99, 500), rng.integers(0, 9, 500)
    expected = RocState().update(np.repeat(y, counts), np.repeat(scores, counts))
    given_counts = counts if dtype == np.float32 else counts.astype(dtype)
    found = RocState().update_counts(y[:200], scores[:200].astype(dtype), given_counts[:200])
    found.update_counts(y[200:], scores[200:].astype(dtype), given_counts[200:])
    assert found.to_bytes() == expected.to_bytes()
    assert found.interval() == expected.interval()


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1.0, 2.0], "counts must be whole numbers, got float64"),
        ([1, -2], "counts must not be negative, got -2"),
        ([1], "counts has 1 rows, but y has 2"),
    ],
)
def test_invalid_frequencies_are_rejected(counts, message):
    state = RocState().update([0, 1], [0.5, 0.25])
    with pytest.raises(ValueError, match=message):
        state.update_counts([0, 1], [0.1, 0.2], counts)
    assert (state.n_neg, state.n_pos) == (1, 1)


def test_bad_batches_leave_the_state_unchanged():
    state = RocState().update([0, 1], [0.1, 0.2])
    before = state.to_bytes()
    bad = [
        (([0, 1], [0.1, np.nan]), "score of row 1 is NaN"),
        (([0, 1], [0.1]), "y_score has 1 rows, but y has 2"),
        (([0, 2], [0.1, 0.2]), "y_true holds .*2.* in row 1"),
        (([1, -1, 0], [0.1, 0.2, 0.3]), "labels must be"),
        (([0, np.nan], [0.1, 0.2]), "Input y_true contains NaN"),
        ((["a", "b"], [0.1, 0.2]), "labels must be"),
        (([0, 1], [2**53, 2**53 + 1]), "float64 cannot distinguish"),
    ]
    for args, message in bad:
        with pytest.raises(ValueError, match=message):
            state.update(*args)
    for weight in (-1, np.nan, np.inf):
        with pytest.raises(ValueError, match="sample_weight"):
            state.update([0, 1], [0.1, 0.2], sample_weight=[1, weight])
    counted = RocState(weight_unit=1.0).update([0, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="2\\^53"):
        counted.update([0, 1], [0.1, 0.2], sample_weight=[1, 2.0**53])
    with pytest.raises(ValueError, match="pos_label"):
        state.merge(RocState(pos_label=2))
    with pytest.raises(ValueError, match="weight_unit"):
        counted.merge(RocState(weight_unit=0.5))
    assert counted.to_bytes() == RocState(weight_unit=1.0).update([0, 1], [0.1, 0.2]).to_bytes()
    with pytest.raises(ValueError, match="max_size"):
        RocState(max_size=1)
    with pytest.raises(ValueError, match="weight_unit"):
        RocState(weight_unit=0.3)
    assert state.to_bytes() == before


def test_labels_of_many_kinds_may_lack_a_class():
    expected = RocState().update([0, 1, 1], [1, 2, 3]).to_bytes()
    for labels in ([[-1], [1, 1]], [[False], [True, True]], [[0.0], [1.0, 1.0]]):
        state = RocState()
        state.update(labels[0], [1]).update(pl.Series(labels[1]), pl.Series([2, 3]))
        assert state.to_bytes() == expected
    assert RocState().update([], []).n_pos == 0


def test_threads_may_share_a_state_and_merge_it_with_itself():
    rng = np.random.default_rng(2)
    y, scores = rng.integers(0, 2, 20_000), rng.integers(0, 900, 20_000) / 7
    state = RocState()
    with ThreadPoolExecutor(8) as pool:
        parts = np.array_split(np.arange(y.size), 100)
        list(pool.map(lambda part: state.update(y[part], scores[part]).size, parts))
    assert state.auc() == roc_auc_score(y, scores)
    state.merge(state)
    assert state.n_pos == 2 * y.sum()
    assert state.auc() == roc_auc_score(y, scores)


WEIGHTS = {
    "none": lambda rng, n: None,
    "whole": lambda rng, n: rng.integers(0, 5, n).astype(float),
    "fractions": lambda rng, n: rng.random(n),
    "300 decades": lambda rng, n: 10.0 ** rng.uniform(-150, 150, n),
}
BANDS = [{}, {"fpr": (0, 0.1)}, {"tpr": (0.9, 1)}, {"fpr": (0.05, 0.4), "tpr": (0.3, 0.8)}]


@pytest.mark.parametrize("kind", WEIGHTS)
def test_scores_in_files_have_every_statistic_of_those_in_memory(kind, tmp_path):
    rng = np.random.default_rng(3)
    n = 60_000
    y = rng.integers(0, 2, n)
    scores = rng.normal(loc=y).round(4)
    weights = WEIGHTS[kind](rng, n)
    memory = RocState()
    before = n_spilled_bytes(tmp_path)
    spilled = [RocState(spill_dir=tmp_path, max_bytes=2**20) for _ in range(2)]
    for part, rows in enumerate(np.array_split(rng.permutation(n), 9)):
        of_rows = {} if weights is None else {"sample_weight": weights[rows]}
        memory.update(y[rows], scores[rows], **of_rows)
        spilled[part % 2].update(y[rows], scores[rows], **of_rows)
    # An entry takes two bytes at least.
    assert n_spilled_bytes(tmp_path) > before + 2**16
    state = spilled[0] + spilled[1]
    assert state.auc() == memory.auc() == roc_auc_score(y, scores, sample_weight=weights)
    assert state.variance() == memory.variance()
    assert (state.size, state.n_neg, state.n_pos) == (memory.size, memory.n_neg, memory.n_pos)
    curve = RocCurve.from_scores(y, scores, sample_weight=weights)
    for name in ("fpr", "tpr", "thresholds", "auc"):
        np.testing.assert_array_equal(getattr(state.curve(), name), getattr(curve, name))
    grid = np.linspace(0, 1, 41)
    np.testing.assert_array_equal(state.tpr_at(grid), curve.tpr_at(grid))
    np.testing.assert_array_equal(state.fpr_at(grid), curve.fpr_at(grid))
    for bands in BANDS:
        expected = partial_auc(y, scores, sample_weight=weights, **bands)
        assert state.partial_auc(**bands) == memory.partial_auc(**bands) == expected
        assert state.interval(**bands) == memory.interval(**bands)
    for found, expected in zip(
        state.precision_recall_curve(),
        precision_recall_curve(y, scores, sample_weight=weights),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match=r"spill_dir is given, and \d+ scores lie in a file"):
        state.to_bytes()
    del state, spilled
    assert n_spilled_bytes(tmp_path) == before
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="open files have names on Windows")
def test_a_process_that_is_killed_leaves_no_scores(tmp_path):
    program = """
import os, signal, sys
import numpy as np
from aucrank.metrics import RocState
from tests.common.spilled import n_spilled_bytes
state = RocState(spill_dir=sys.argv[1], max_bytes=2**20)
scores = np.random.default_rng(0).random(200_000)
state.update(scores < 0.5, scores)
assert n_spilled_bytes(sys.argv[1]) > 2**16
os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, "-P", "-c", program, str(tmp_path)]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(CHECKOUT), *sys.path])}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_copy_of_the_process_appends_to_a_file_of_its_own(tmp_path):
    program = """
import os, sys
import numpy as np
from aucrank.metrics import RocState, roc_auc_score
scores = np.random.default_rng(0).random(200_000)
y = np.random.default_rng(1).random(200_000) < scores
state = RocState(spill_dir=sys.argv[1], max_bytes=2**20)
state.update(y[:80_000], scores[:80_000])
is_copy = os.fork() == 0
rest = -scores[80_000:] if is_copy else scores[80_000:]
for labels, part in zip(np.array_split(y[80_000:], 10), np.array_split(rest, 10)):
    state.update(labels, part)
if not is_copy:
    os.wait()
assert state.auc() == roc_auc_score(y, np.concatenate([scores[:80_000], rest]))
print("copy" if is_copy else "first", flush=True)
"""
    command = [sys.executable, "-P", "-c", program, str(tmp_path)]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    assert done.stdout.split() == ["copy", "first"]
    assert os.listdir(tmp_path) == []


def test_memory_of_a_state_with_files_is_bounded(tmp_path):
    program = """
import sys
import numpy as np
from aucrank.metrics import RocState
from benches.common.memory import peak_bytes
from tests.common.memory import without_huge_pages
without_huge_pages()
state = RocState(spill_dir=sys.argv[1], max_bytes=2**24)
state.update([0, 0, 1, 1], [0.0, 2.0, 1.0, 3.0]).interval()
rng = np.random.default_rng(0)
def fill():
    for _ in range(60):
        y = rng.random(50_000) < 0.5
        state.update(y, rng.normal(loc=y))
    state.interval(), state.partial_auc(fpr=(0, 0.2)), state.curve(max_knots=1000)
print(peak_bytes(fill)[0], state.size)
"""
    command = [sys.executable, "-P", "-c", program, str(tmp_path)]
    root = str(Path(__file__).parents[2])
    env = usual_heap() | {"PYTHONPATH": os.pathsep.join([*sys.path, root])}
    found = subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout
    peak, size = map(int, found.split())
    # In memory, an entry takes 24 bytes or more.
    assert size > 2_900_000
    assert peak < 2**25 < 24 * size


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit on Windows")
def test_a_full_disk_raises_an_os_error_and_leaves_no_file(tmp_path):
    # A limit on the size of files is what a test can set of a disk.
    program = """
import resource, signal, sys
import numpy as np
from aucrank.metrics import RocState
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, -1))
state = RocState(spill_dir=sys.argv[1], max_bytes=2**20)
rng = np.random.default_rng(0)
try:
    for _ in range(20):
        state.update(rng.random(100_000) < 0.5, rng.random(100_000))
except OSError as err:
    print(err)
# Rows of the call are lost, and each later one says so.
resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
calls = [
    lambda: state.n_pos, lambda: state.n_neg, state.auc, state.interval, state.curve,
    lambda: state.size, lambda: state.update([0, 1], [0.0, 1.0]), lambda: RocState() + state,
]
for call in calls:
    try:
        found = call()
        found.auc()
    except OSError as err:
        assert "rows of the state are lost" in str(err)
    else:
        raise AssertionError(found)
print(state)
"""
    command = [sys.executable, "-P", "-c", program, str(tmp_path)]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    assert "File too large" in done.stdout, done.stderr
    assert str(tmp_path) in done.stdout
    assert "that has lost rows" in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("weights", ["sampling", "frequency"])
@pytest.mark.parametrize("method", ["delong", "logit"])
@pytest.mark.parametrize("bands", [*BANDS, {"fpr": (0, 0.3), "standardize": True}])
def test_intervals_of_partial_areas_equal_those_of_all_rows_at_once(bands, method, weights):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 900)
    scores, counts = rng.normal(loc=y).round(1), rng.integers(0, 4, 900)
    state = RocState()
    for rows in np.array_split(np.arange(900), 4):
        state.update(y[rows], scores[rows], sample_weight=counts[rows])
    how = {"weights": weights, "method": method, **bands}
    found = state.interval(**how)
    expected = auc_interval(y, scores, sample_weight=counts, **how)
    for name in ("auc", "low", "high", "standard_error"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-12)
    assert (found.method, found.confidence) == (expected.method, expected.confidence)


def test_a_part_without_spread_has_the_area_of_the_simultaneous_band():
    y, scores = np.repeat([0, 1], 60), np.arange(120.0)
    state = RocState().update(y, scores)
    with pytest.warns(sklearn.exceptions.UndefinedMetricWarning, match="simultaneous band"):
        found = state.interval(fpr=(0, 0.5))
    with pytest.warns(sklearn.exceptions.UndefinedMetricWarning, match="simultaneous band"):
        expected = auc_interval(y, scores, fpr=(0, 0.5))
    for name in ("auc", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-12)
    assert (found.standard_error, found.method) == (0, expected.method)


@pytest.mark.parametrize("bands", BANDS)
def test_a_bounded_state_has_parts_of_the_curve_within_its_bound(bands):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 20_000)
    scores = rng.normal(loc=y)
    state = RocState(max_size=200)
    for rows in np.array_split(np.arange(y.size), 9):
        state.update(y[rows], scores[rows])
    exact, bound = partial_auc(y, scores, **bands), state.auc_error_bound()
    assert 0 < abs(state.partial_auc(**bands) - exact) <= bound
    narrow, wide = auc_interval(y, scores, **bands), state.interval(**bands)
    assert wide.high - wide.low > narrow.high - narrow.low


def test_few_knots_preserve_the_kolmogorov_smirnov_statistic():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 5000)
    scores = rng.normal(loc=y)
    state = RocState().update(y, scores)
    few, whole = state.curve(max_knots=50), state.curve()
    assert 40 <= few.fpr.size <= 50
    at = whole.knot_at(few.thresholds)
    np.testing.assert_array_equal(few.fpr, whole.fpr[at])
    np.testing.assert_array_equal(few.tpr, whole.tpr[at])
    expected = scipy.stats.ks_2samp(scores[y == 1], scores[y == 0]).statistic
    assert np.max(few.tpr - few.fpr) == pytest.approx(expected, abs=1e-12)
    assert few.distance(whole, "linf") < 2 / 46
    with pytest.raises(ValueError, match="max_knots == 7"):
        state.curve(max_knots=7)


def test_a_missing_folder_and_a_memory_limit_too_small_raise_errors(tmp_path):
    with pytest.raises(OSError, match="nowhere: there is no such folder"):
        RocState(spill_dir=tmp_path / "nowhere")
    with pytest.raises(ValueError, match="max_bytes == 5"):
        RocState(spill_dir=tmp_path, max_bytes=5)
    with pytest.raises(ValueError, match="max_size is 9, but must be None if scores may lie"):
        RocState(max_size=9, spill_dir=tmp_path)
    with pytest.raises(ValueError, match="method is 'bootstrap'"):
        RocState().update([0, 1], [0, 1]).interval(method="bootstrap")

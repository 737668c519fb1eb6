"""Rows in pieces are scored, written and evaluated like one frame."""

import gzip
import os
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from aucrank import GradientBoostingRanker, TreeRank, TwoSidedClassifier
from aucrank._base.registry import get_estimator, public_estimators, public_names
from aucrank.data import DataChangedError, Dataset
from aucrank.metrics import RocState, roc_auc_score, roc_state
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from tests.common.estimators import short
from tests.common.parts import FEATURES, mixed_rows, write_parts
from tests.common.script import run_script

ROWS = mixed_rows(400)
NUMBERS = ["x", "small", "count"]


@pytest.fixture(scope="module")
def model():
    return GradientBoostingRanker(n_rounds=20, random_state=0).fit(ROWS[FEATURES], ROWS["y"])


def new_rows():
    """Other rows, with a category that was not seen in fit."""
    rows = mixed_rows(1000, seed=1)
    rows.loc[700:, "colour"] = "violet"
    return rows


NEW = new_rows()


def same_scores(model, dataset, rows):
    scores = list(model.decision_function_batches(dataset))
    expected = model.decision_function(rows)
    np.testing.assert_array_equal(np.concatenate(scores), expected)
    return scores


@pytest.mark.parametrize("name", public_estimators())
def test_every_ranker_scores_rows_in_pieces_as_one_frame(name):
    model = short(public_estimators()[name]).fit(ROWS[NUMBERS].fillna(0), ROWS["y"])
    rows = NEW[NUMBERS].fillna(0)
    scores = same_scores(model, Dataset.from_batches(rows, chunk_rows=300), rows)
    assert [len(piece) for piece in scores] == [300, 300, 300, 100]


def test_a_two_sided_classifier_scores_rows_in_pieces():
    model = TwoSidedClassifier(ranker=LogisticRegression()).fit(ROWS[["small", "count"]], ROWS["y"])
    rows = NEW[["small", "count"]]
    same_scores(model, Dataset.from_batches(rows, chunk_rows=300), rows)


@pytest.mark.parametrize("kind", ["parquet", "pandas", "polars", "lazy"])
def test_categories_are_matched_by_value_in_every_piece(kind, model, tmp_path):
    if kind == "parquet":
        write_parts(tmp_path, NEW, [1, 1, 300], row_group_size=70)
        dataset = Dataset.from_parquet(tmp_path, chunk_rows=64)
    else:
        source = {"pandas": NEW, "polars": pl.from_pandas(NEW), "lazy": pl.from_pandas(NEW).lazy()}
        dataset = Dataset.from_batches(source[kind], chunk_rows=64)
    same_scores(model, dataset, NEW[FEATURES])


def test_a_ranker_fitted_without_names_reads_the_columns_of_the_data_set(tmp_path):
    X = ROWS[NUMBERS].to_numpy(dtype=float)
    model = TreeRank(random_state=0).fit(X, ROWS["y"])
    dataset = Dataset.from_batches(NEW, columns=NUMBERS, chunk_rows=77)
    with pytest.warns(UserWarning, match="X has feature names"):
        scores = np.concatenate(list(model.decision_function_batches(dataset)))
    expected = model.decision_function(NEW[NUMBERS].to_numpy(dtype=float))
    np.testing.assert_array_equal(scores, expected)


def test_unknown_and_missing_columns_raise_an_error(model):
    with pytest.raises(ValueError, match="has no column 'colour'"):
        list(model.decision_function_batches(Dataset.from_batches(NEW.drop(columns="colour"))))
    mixed = [NEW[:100], NEW[100:].assign(x="text")]
    with pytest.raises(TypeError, match=r"^in rows 100 to 999 \(batch 1\): column 'x' has dtype"):
        list(model.decision_function_batches(Dataset.from_batches(mixed)))


# Data sets as unsupported arguments


REFUSAL = "X is a Dataset, .*decision_function_batches and write_scores"


#: Estimators that are fitted to frames alone.
OF_FRAMES = [
    name for name in public_names() if not getattr(get_estimator(name), "_fits_dataset", None)
]


@pytest.mark.parametrize("name", OF_FRAMES)
def test_methods_for_frames_reject_a_dataset_and_name_the_alternative(name):
    cls = get_estimator(name)
    estimator = cls(ranker=LogisticRegression()) if cls is TwoSidedClassifier else cls()
    dataset = Dataset.from_batches(ROWS, target="y")
    for fit in (estimator.fit, lambda X: estimator.fit(X, ROWS["y"])):
        with pytest.raises(TypeError, match=REFUSAL):
            fit(dataset)


@pytest.mark.parametrize("method", ["decision_function", "predict", "predict_proba"])
def test_errors_of_methods_for_frames_name_the_method_for_a_dataset(method, model):
    with pytest.raises(TypeError, match=REFUSAL):
        getattr(model, method)(Dataset.from_batches(ROWS, target="y"))


@pytest.mark.parametrize("method", ["decision_function_batches", "roc_state", "write_scores"])
def test_methods_for_a_dataset_reject_a_frame(method, model, tmp_path):
    calls = {
        "decision_function_batches": lambda: list(model.decision_function_batches(NEW)),
        "roc_state": lambda: roc_state(model, NEW),
        "write_scores": lambda: model.write_scores(NEW, tmp_path / "scores.csv"),
    }
    with pytest.raises(TypeError, match=r"dataset must be an aucrank\.data\.Dataset, got a Data"):
        calls[method]()


# Files of scores


READERS = {"parquet": pl.read_parquet, "pq": pl.read_parquet, "csv": pl.read_csv}


@pytest.mark.parametrize("kind", ["parquet", "pq", "csv", "csv.gz"])
@pytest.mark.parametrize("proba", [False, True])
def test_scores_are_written_next_to_columns(kind, proba, model, tmp_path):
    write_parts(tmp_path, NEW, [300])
    dataset = Dataset.from_parquet(tmp_path, chunk_rows=128)
    path = tmp_path / f"scores.{kind}"
    assert model.write_scores(dataset, path, columns=["id", "colour"], proba=proba) == 1000
    found = READERS[kind.removesuffix(".gz")](path)
    expected = {"score": model.decision_function(NEW[FEATURES])}
    if proba:
        expected["probability"] = model.predict_proba(NEW[FEATURES])[:, 1]
    assert found.columns == ["id", "colour", *expected]
    np.testing.assert_array_equal(found["id"], NEW["id"])
    assert found["colour"].to_list() == pl.from_pandas(NEW)["colour"].to_list()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)


def test_zipped_scores_are_the_same_bytes_each_time(model, tmp_path):
    dataset = Dataset.from_batches(NEW)
    for name in ("a.csv.gz", "b.csv.gz"):
        model.write_scores(dataset, tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).startswith(b'"score"\n')


def test_row_names_have_the_common_type_of_all_files(model, tmp_path):
    names = (pa.array([1, 2, 3], pa.int32()), pa.array([2**40], pa.int64()), pa.nulls(1))
    rows = pa.Table.from_pandas(NEW[FEATURES], preserve_index=False)
    for index, name in enumerate(names):
        table = rows[: len(name)].append_column("name", name)
        pq.write_table(table, tmp_path / f"{index}.parquet")
    model.write_scores(Dataset.from_parquet(tmp_path), tmp_path / "s.csv", columns=["name"])
    lines = (tmp_path / "s.csv").read_text().splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == ["1", "2", "3", str(2**40), ""]


@pytest.mark.parametrize(
    ("path", "columns", "error", "said"),
    [
        ("scores.xlsx", None, ValueError, "its name must end in .parquet, .pq, .csv or .csv.gz"),
        ("scores.csv", ["score"], ValueError, "columns holds 'score', the name of an added column"),
        ("scores.csv", "id", TypeError, "columns must be a list of names, got 'id'"),
        ("scores.csv", ["nr"], ValueError, "has no column 'nr'"),
        ("no/folder/scores.csv", None, FileNotFoundError, "no/folder/scores.csv"),
    ],
)
def test_scores_that_cannot_be_written_raise_an_error(path, columns, error, said, model, tmp_path):
    with pytest.raises(error, match=said):
        model.write_scores(Dataset.from_batches(NEW), tmp_path / path, columns=columns)
    assert list(tmp_path.iterdir()) == []


def test_scoring_no_rows_raises_an_error(model, tmp_path):
    with pytest.raises(ValueError, match="has no rows to score"):
        model.write_scores(Dataset.from_batches(NEW[:0]), tmp_path / "scores.csv")


def test_an_error_halfway_leaves_the_file_unchanged(model, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("of yesterday")

    def broken():
        yield NEW[:500]
        yield NEW[500:].assign(x=np.inf)

    with pytest.raises(ValueError, match=r"in rows 500 to 999 \(batch 1\): column 'x' is inf"):
        model.write_scores(Dataset.from_batches(broken), path)
    assert path.read_text() == "of yesterday"
    assert os.listdir(tmp_path) == ["scores.csv"]


def test_data_that_change_halfway_leave_no_file(model, tmp_path):
    counts = iter([10, 10, 9])
    dataset = Dataset.from_batches(lambda: [NEW[: next(counts)]])
    list(dataset.batches())
    with pytest.raises(DataChangedError):
        model.write_scores(dataset, tmp_path / "scores.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz"])
def test_a_full_disk_is_named_in_the_error(kind, model, tmp_path):
    path = tmp_path / f"scores.{kind}"
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as caught:
        model.write_scores(Dataset.from_batches(NEW), path)
    assert caught.value.filename == str(path)


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit on Windows")
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_disk_that_fills_up_leaves_nothing_behind(kind, tmp_path):
    # A limit on the size of files stands for a full disk.
    done = run_script(
        "import resource, signal\n"
        "import numpy as np, pandas\n"
        "from aucrank import TreeRank\n"
        "from aucrank.data import Dataset\n"
        "rows = pandas.DataFrame({'x': np.random.default_rng(0).random(200_000)})\n"
        "model = TreeRank(random_state=0, pruning=None).fit(rows[:99], rows['x'][:99] > 0.5)\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "dataset = Dataset.from_batches(rows, chunk_rows=1000)\n"
        f"try: model.write_scores(dataset, {str(tmp_path / f'scores.{kind}')!r}, columns=['x'])\n"
        "except OSError as err: print(err.strerror, err.filename)\n"
    )
    assert done.stdout.strip() == f"File too large {tmp_path / f'scores.{kind}'}", done.stderr
    assert list(tmp_path.iterdir()) == []


# ROC statistics


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_roc_of_pieces_is_that_of_all_rows(weight, model, tmp_path):
    write_parts(tmp_path, NEW.sort_values("y"), [1, 2, 600])
    dataset = Dataset.from_parquet(tmp_path, target="y", weight=weight, chunk_rows=99)
    state = roc_state(model, dataset)
    scores = model.decision_function(NEW[FEATURES])
    given = None if weight is None else NEW[weight]
    assert state.auc() == roc_auc_score(NEW["y"], scores, sample_weight=given)
    at_once = RocState(pos_label="yes").update(NEW["y"], scores, sample_weight=given)
    assert state.to_bytes() == at_once.to_bytes()


def test_the_roc_of_the_other_label_is_reversed(model):
    both = [
        roc_state(model, Dataset.from_batches(NEW, target="y", positive=label)).auc()
        for label in ("no", "yes")
    ]
    assert both[0] == pytest.approx(1 - both[1], abs=1e-15)


def test_classifiers_of_other_packages_are_evaluated_by_their_probabilities():
    forest = RandomForestClassifier(10, random_state=0).fit(ROWS[["small"]], ROWS["y"])
    dataset = Dataset.from_batches(NEW, target="y", chunk_rows=90)
    expected = roc_auc_score(NEW["y"], forest.predict_proba(NEW[["small"]])[:, 1])
    assert roc_state(forest, dataset).auc() == expected


def test_data_that_cannot_be_evaluated_are_rejected(model):
    with pytest.raises(ValueError, match="has no labels"):
        roc_state(model, Dataset.from_batches(NEW))
    rows = NEW.astype({"y": object})
    rows.loc[7, "y"] = "maybe"
    with pytest.raises(ValueError, match=r"holds 'maybe' in row 7 \(batch 0\), which is none of"):
        roc_state(model, Dataset.from_batches(rows, target="y"))
    with pytest.raises(TypeError, match="ranker must be fitted to two classes"):
        roc_state(object(), Dataset.from_batches(NEW, target="y"))


# Memory


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
def test_scoring_a_large_file_needs_only_the_memory_of_its_pieces(tmp_path):
    # 200 MB of numbers, in groups of 25 MB.
    block = pa.table({f"x{i}": np.random.default_rng(i).random(125_000) for i in range(25)})
    path = tmp_path / "large.parquet"
    with pq.ParquetWriter(path, block.schema, compression="none", use_dictionary=False) as writer:
        for _ in range(8):
            writer.write_table(block)
    assert path.stat().st_size > 200e6
    done = run_script(
        "import numpy as np, pyarrow.parquet\n"
        "from aucrank import LinearRanker\n"
        "from aucrank.data import Dataset\n"
        "def peak():\n"
        "    said = open('/proc/self/status').read().partition('VmHWM:')[2]\n"
        "    return int(said.split()[0]) / 1e3\n"
        "def model_of(dataset):\n"
        "    rows = next(dataset.batches()).slice(0, 500)\n"
        "    return LinearRanker().fit(rows, rows['x0'].to_numpy() > 0.5)\n"
        f"dataset = Dataset.from_parquet({str(path)!r}, chunk_rows=20_000)\n"
        "model = model_of(dataset)\n"
        "before = peak()\n"
        f"n_rows = model.write_scores(dataset, {str(tmp_path / 'scores.parquet')!r})\n"
        "print(n_rows, peak() - before)\n"
    )
    assert done.returncode == 0, done.stderr
    n_rows, megabytes = done.stdout.split()
    assert int(n_rows) == 1_000_000
    assert float(megabytes) < 100

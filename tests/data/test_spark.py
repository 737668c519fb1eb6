"""A fit to a Spark frame gives the document of the fit to one frame with all of its rows.

Spark is not in the group of tests, since it is large and needs Java: these run where both are.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from itertools import pairwise
from threading import Timer

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from aucrank import (
    AURORA,
    RIMARC,
    GradientBoostingRanker,
    LinearRanker,
    RankingForest,
    Scorecard,
    TreeRank,
)
from aucrank.data import ClusterError, DataChangedError, Dataset
from aucrank.data._spark import SparkRows
from aucrank.metrics import RocState, roc_auc_score, roc_state
from sklearn.base import clone

from tests.common.limits import HANG
from tests.common.parts import FEATURES, mixed_rows, on_spark
from tests.common.paths import CHECKOUT

pyspark = pytest.importorskip("pyspark", reason="holds rows in workers of pyspark, not installed")
pytestmark = [
    pytest.mark.skipif(
        shutil.which("java") is None and "JAVA_HOME" not in os.environ, reason="Spark needs Java"
    ),
    # Warnings of Spark about pandas, and about forking with threads.
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark", "ignore::DeprecationWarning"),
]

ROWS = mixed_rows(600)
NEW = mixed_rows(500, seed=1)
TREE = TreeRank(max_depth=3, pruning="validation", random_state=0)


@pytest.fixture(scope="module")
def spark():
    """Session of two workers that are this interpreter."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYSPARK_PYTHON", sys.executable)
        patched.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        session = (
            SparkSession.builder.master("local[2, 4]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "3")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture
def frame_of(spark, tmp_path):
    """Make a Spark frame whose partitions are frames."""

    def make(parts, schema=None):
        types = spark_types(parts[0] if schema is None else schema)
        for number, part in enumerate(parts):
            path = tmp_path / f"{number}.pickle"
            part.to_pickle(path)
        paths = str(tmp_path)

        def read(batches):
            number = pyspark.TaskContext.get().partitionId()
            for _ in batches:
                pass
            part = pd.read_pickle(f"{paths}/{number}.pickle")
            yield from pa.Table.from_pandas(part, types, preserve_index=False).to_batches()

        from pyspark.sql.pandas.types import from_arrow_schema

        tasks = spark.range(0, len(parts), 1, len(parts))
        return tasks.mapInArrow(read, from_arrow_schema(types))

    return make


def spark_types(part):
    """Return the types of the columns of a frame in Arrow."""
    return pa.Schema.from_pandas(part, preserve_index=False).remove_metadata()


def cut(rows, cuts):
    """Return the rows between some positions as frames of their own."""
    edges = [0, *cuts, len(rows)]
    return [rows[first:last] for first, last in pairwise(edges)]


def check_same_fit(frame, rows, weight=None, model=TREE):
    """The document of a fit to a Spark frame is that of the fit to a frame."""
    dataset = on_spark(frame, target="y", weight=weight, columns=FEATURES)
    given = None if weight is None else rows[weight]
    expected = clone(model).fit(rows[FEATURES], rows["y"], given)
    found = clone(model).fit(dataset)
    assert len(np.unique(expected.decision_function(rows[FEATURES]))) > 2
    assert found._to_document() == expected._to_document()
    assert found.feature_names_in_.tolist() == FEATURES


#: Partitions that lack rows, classes or values of the whole.
LACKING = {
    "one partition": [ROWS],
    "no row": cut(ROWS, [0, 300, 300, 600]),
    "one row": cut(ROWS, [1, 2, 599]),
    "one class": cut(ROWS.sort_values("y", kind="stable"), [100, 250, 500]),
    "no weight": cut(ROWS.sort_values("w", kind="stable"), [30, 350]),
    "categories": cut(ROWS.sort_values("colour", kind="stable"), [150, 400, 550]),
    # More than are merged at once.
    "many": cut(ROWS, range(20, 600, 20)),
}


@pytest.mark.parametrize("name", LACKING)
def test_a_fit_does_not_depend_on_partitions(name, frame_of):
    parts = LACKING[name]
    frame = frame_of(parts, ROWS)
    check_same_fit(frame, pd.concat(parts), None if name in ("no row", "many") else "w")


@pytest.mark.parametrize(
    ("model", "weight"),
    [
        (TreeRank(max_depth=3, random_state=0), "w"),
        (RankingForest(n_estimators=3, random_state=0), "w"),
        (GradientBoostingRanker(n_rounds=3, random_state=0), None),
        (RIMARC(weight_folds=3, random_state=0), "w"),
        (Scorecard(estimator=RIMARC()), None),
        (LinearRanker(thresholds=3), "w"),
        (AURORA(max_features=4, radius=3.0, depth="shallow", random_state=0), None),
    ],
    ids=lambda value: value if isinstance(value, str | None) else type(value).__name__,
)
def test_every_family_learns_the_same_as_from_one_frame(model, weight, frame_of):
    check_same_fit(frame_of(cut(ROWS, [0, 1, 400])), ROWS, weight, model)


def test_a_frame_may_be_partitioned_adaptively(spark, frame_of):
    # Adaptive execution joins small partitions of what was shuffled.
    frame = frame_of(cut(ROWS, [300])).repartition(5, "count").orderBy("small")
    check_same_fit(frame, ROWS, "w")


def test_names_of_columns_may_be_of_any_form(frame_of):
    renamed = {"x": "x.y", "small": "the `small`", "count": "count of it"}
    rows = ROWS.rename(columns=renamed)
    columns = [renamed.get(name, name) for name in FEATURES]
    dataset = on_spark(frame_of(cut(rows, [200])), target="y", columns=columns)
    expected = clone(TREE).fit(rows[columns], rows["y"])
    assert clone(TREE).fit(dataset)._to_document() == expected._to_document()


# Workers


def test_workers_keep_the_rows_between_questions(frame_of, monkeypatch):
    taken_over, anew = [], SparkRows._answered_anew

    def look(self, missing, ask):
        taken_over.append(missing)
        return anew(self, missing, ask)

    monkeypatch.setattr(SparkRows, "_answered_anew", look)
    check_same_fit(frame_of(cut(ROWS, [100, 300])), ROWS)
    # At first; later a worker is only called anew if two tasks went to the other one.
    assert taken_over[0] == [0, 1, 2]
    assert sum(map(len, taken_over)) < 12


@pytest.mark.parametrize("n_killed", [1, 2])
def test_a_fit_outlives_its_workers(n_killed, spark, frame_of, monkeypatch):
    round_of_fit, rounds, killed = SparkRows.round, [], []

    def deadly_round(self, ask):
        rounds.append(ask)
        if len(rounds) == 3:
            pids = {int(owner.rpartition("-")[2]) for owner in self.owners.values()}
            for pid in sorted(pids)[:n_killed]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
        return round_of_fit(self, ask)

    monkeypatch.setattr(SparkRows, "round", deadly_round)
    check_same_fit(frame_of(cut(ROWS, [100, 300, 500])), ROWS, "w")
    assert killed
    assert len(rounds) > 3


def test_nothing_is_kept_after_a_fit(spark, frame_of):
    def held(_):
        from aucrank.data import _spark

        yield len(_spark._HELD)

    before = spark.sparkContext._jsc.sc().getPersistentRDDs().size()
    check_same_fit(frame_of(cut(ROWS, [100, 300])), ROWS)
    assert spark.sparkContext._jsc.sc().getPersistentRDDs().size() == before
    assert sum(spark.sparkContext.parallelize(range(4), 4).mapPartitions(held).collect()) == 0


# Rows that change, and errors


LAST = ROWS[300:]
CHANGES = {
    "fewer rows": (LAST[:-1], "partition 1 has 299 rows, but had 300"),
    "no rows": (LAST[:0], "partition 1 has 0 rows, but had 300"),
    "flipped labels": (
        LAST.assign(y=LAST["y"].map({"yes": "no", "no": "yes"})),
        "partition 1 has other labels or weights",
    ),
    "other weights": (LAST.assign(w=LAST["w"] + 1), "partition 1 has other labels or weights"),
    "a number": (LAST.assign(small=np.float32(0.5)), "partition 1 has other values"),
}


@pytest.mark.parametrize(
    ("model", "change"),
    [*((TREE, change) for change in CHANGES), (RIMARC(), "a number"), (LinearRanker(), "a number")],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_partition_that_changes_between_passes_is_named_in_the_error(
    model, change, frame_of, tmp_path, monkeypatch
):
    later, said = CHANGES[change]
    frame = frame_of([ROWS[:300], LAST])
    dataset = on_spark(frame, target="y", columns=FEATURES, weight="w")
    facts = Dataset.facts

    def then_change(self, *args, **kwargs):
        found = facts(self, *args, **kwargs)
        later.to_pickle(tmp_path / "1.pickle")
        return found

    monkeypatch.setattr(Dataset, "facts", then_change)
    with pytest.raises(DataChangedError, match=said):
        clone(model).fit(dataset)


@pytest.mark.parametrize("change", CHANGES)
def test_codes_that_change_when_computed_again_are_detected(
    change, frame_of, tmp_path, monkeypatch
):
    frame = frame_of([ROWS[:300], LAST])
    dataset = on_spark(frame, target="y", columns=FEATURES, weight="w")
    round_of_fit = SparkRows.round
    later, said = CHANGES[change]

    def round_without_codes(self, ask):
        later.to_pickle(tmp_path / "1.pickle")
        # As if the machine that has them is lost.
        self._codes.unpersist(blocking=True)
        return round_of_fit(self, ask)

    monkeypatch.setattr(SparkRows, "round", round_without_codes)
    with pytest.raises(DataChangedError, match=said):
        clone(TREE).fit(dataset)


def test_another_number_of_partitions_raises_an_error(frame_of):
    parts = [ROWS[:300], ROWS[300:], ROWS[:0]]
    dataset = on_spark(frame_of(parts), target="y", columns=FEATURES)
    facts = dataset.facts(clone(TREE))
    for others in (parts[:2], [*parts, ROWS[:5]]):
        other = on_spark(frame_of(others), target="y", columns=FEATURES)
        dataset.passes.source._taken = other.passes.source._taken
        with pytest.raises(DataChangedError, match="but in 3 before: persist it"):
            dataset.sample(facts, 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"x": np.inf}, r"^column 'x' is inf in row 100 \(partition 1\); X must not hold inf"),
        ({"y": "maybe"}, "^Only binary classification is supported"),
        ({"y": None}, r"^target column 'y' is missing in row 100 \(partition 1\)"),
        ({"w": -1.0}, r"^weight column 'w' holds -1.0 in row 100 \(partition 1\)"),
    ],
)
def test_an_invalid_value_is_named_with_its_partition(change, said, frame_of):
    rows = ROWS.astype({"y": object})
    rows.loc[400, list(change)] = list(change.values())
    frame = frame_of(cut(rows, [300]), ROWS)
    dataset = on_spark(frame, target="y", weight="w", columns=FEATURES)
    with pytest.raises(ValueError, match=said):
        clone(TREE).fit(dataset)


def test_an_error_of_spark_is_chained_to_one_that_explains_it(frame_of, tmp_path):
    dataset = on_spark(frame_of(cut(ROWS, [300])), target="y", columns=FEATURES)
    (tmp_path / "1.pickle").unlink()
    with pytest.raises(
        ClusterError, match=r"^the Spark frame cannot be computed: .*1\.pickle"
    ) as err:
        clone(TREE).fit(dataset)
    assert "\n" not in str(err.value)
    assert isinstance(err.value.__cause__, pyspark.errors.PySparkException)


@pytest.mark.parametrize(
    "lost", ["ExecutorLostFailure (executor 3", "java.lang.OutOfMemoryError: "]
)
def test_lost_executors_raise_an_error_that_says_what_to_do(lost, frame_of):
    source = on_spark(frame_of([ROWS]), target="y").passes.source
    raised = pyspark.errors.PySparkException(f"Job aborted due to stage failure\n{lost}")
    with (
        pytest.raises(ClusterError, match="give them more, or make smaller partitions") as err,
        source.explained(),
    ):
        raise raised
    assert err.value.__cause__ is raised


# Jobs that do not end


@pytest.fixture
def stuck(frame_of, tmp_path):
    """Frame whose second partition is never computed while a file is there."""
    (tmp_path / "stuck").touch()
    path = str(tmp_path / "stuck")

    def wait_there(batches):
        while pyspark.TaskContext.get().partitionId() == 1 and os.path.exists(path):
            time.sleep(0.1)
        yield from batches

    frame = frame_of(cut(ROWS, [100, 300]))
    return frame.mapInArrow(wait_there, frame.schema)


def check_unfitted_and_free(model, spark, tmp_path):
    """No job runs any more, and the session can be used."""
    assert not hasattr(model, "tree_")
    for _ in range(100):
        if not spark.sparkContext.statusTracker().getActiveJobsIds():
            break
        time.sleep(0.1)
    assert not spark.sparkContext.statusTracker().getActiveJobsIds()
    (tmp_path / "stuck").unlink()


def test_a_fit_ends_if_no_task_finishes(spark, stuck, tmp_path):
    model = clone(TREE)
    given = {"target": "y", "columns": FEATURES}
    said = r"^the Spark frame: tasks are running, but none has ended for \d+ s: make smaller"
    with pytest.raises(ClusterError, match=said):
        model.fit(on_spark(stuck, **given, task_timeout=2))
    check_unfitted_and_free(model, spark, tmp_path)
    model.fit(on_spark(stuck, **given, task_timeout=60))
    assert model._to_document() == clone(TREE).fit(ROWS[FEATURES], ROWS["y"])._to_document()


@pytest.mark.parametrize(
    "action",
    [
        lambda unfitted, _, dataset: unfitted.fit(dataset),
        lambda _, fitted, dataset: list(fitted.decision_function_batches(dataset)),
    ],
    ids=["fit", "scores"],
)
def test_an_interrupt_cancels_the_job(action, spark, stuck, tmp_path, model):
    dataset = on_spark(stuck, target="y", columns=FEATURES)
    unfitted = clone(TREE)
    # That of Spark would cancel all jobs of the session.
    of_spark = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = Timer(3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            action(unfitted, model, dataset)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, of_spark)
    check_unfitted_and_free(unfitted, spark, tmp_path)


WITHOUT_EXECUTORS = """
import warnings
from pyspark.sql import SparkSession
from aucrank import TreeRank
from aucrank.data import ClusterError, Dataset, _patience

_patience._SAID_AFTER = 1.0
session = (
    SparkSession.builder.master("local-cluster[0, 1, 1024]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)
session.sparkContext.setLogLevel("OFF")
frame = session.range(10).selectExpr("id", "id % 2 as y")
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    try:
        TreeRank().fit(Dataset.from_spark(frame, target="y", timeout=4))
    except ClusterError as err:
        print(err)
print(*(str(one.message) for one in given), sep="\\n")
session.stop()
"""


def test_a_fit_ends_if_there_are_no_executors():
    run = subprocess.run(
        [sys.executable, "-P", "-c", WITHOUT_EXECUTORS],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        timeout=HANG,
    )
    said = re.escape("the Spark frame: Spark runs no task, for ") + r"\d+ s now: start workers"
    assert re.search(said, run.stdout)
    assert "Spark runs no task; the fit waits for workers, up to 4 s in all" in run.stdout


def test_a_fit_needs_two_classes_and_rows(spark, frame_of):
    one = on_spark(frame_of([ROWS[ROWS["y"] == "no"]]), target="y", columns=FEATURES)
    with pytest.raises(ValueError, match="the data contains only one class: 'no'"):
        clone(TREE).fit(one)
    none = on_spark(frame_of([ROWS[:0], ROWS[:0]], ROWS), target="y", columns=FEATURES)
    with pytest.raises(ValueError, match=r"0 sample\(s\) in the Spark frame"):
        clone(TREE).fit(none)
    empty = spark.createDataFrame([], "x double, y string")
    with pytest.raises(ValueError, match=r"0 sample\(s\) in the Spark frame"):
        clone(TREE).fit(on_spark(empty, target="y"))


def test_input_that_is_not_a_spark_frame_is_rejected(spark, frame_of):
    with pytest.raises(TypeError, match="frame must be a data frame of Spark, got DataFrame"):
        on_spark(ROWS, target="y")
    with pytest.raises(ValueError, match="has no column 'z'"):
        on_spark(frame_of([ROWS]), target="z")
    with pytest.raises(ValueError, match="two columns of the Spark frame are called 'x'"):
        on_spark(frame_of([ROWS]).toDF(*["x"] * 8))
    stream = spark.readStream.format("rate").load()
    with pytest.raises(ValueError, match="frame is a stream"):
        on_spark(stream)


# Scores


@pytest.fixture(scope="module")
def model():
    return clone(TREE).fit(ROWS[FEATURES], ROWS["y"])


def test_scores_come_to_the_client_in_pieces(model, frame_of, tmp_path):
    dataset = on_spark(frame_of(cut(NEW, [0, 300, 301]), NEW))
    found = list(model.decision_function_batches(dataset))
    assert [len(scores) for scores in found] == [300, 1, 199]
    scores = model.decision_function(NEW[FEATURES])
    np.testing.assert_array_equal(np.concatenate(found), scores)
    path = tmp_path / "scores.parquet"
    assert model.write_scores(dataset, path, columns=["id"]) == len(NEW)
    written = pd.read_parquet(path)
    pd.testing.assert_frame_equal(written, NEW[["id"]].assign(score=scores))


def test_scores_stay_in_a_frame_of_spark(model, frame_of, tmp_path):
    big = NEW.assign(id=(NEW["id"] + 2**60).astype("Int64").where(NEW["id"] % 2 == 0))
    frame = frame_of(cut(big, [0, 200]), big)
    scores = on_spark(frame).scores(model, columns=["id", "colour"])
    assert isinstance(scores, pyspark.sql.DataFrame)
    assert scores.schema[:2] == frame.select("id", "colour").schema
    assert scores.columns == ["id", "colour", "score"]
    scores.write.parquet(str(tmp_path / "scores"))
    found = pd.read_parquet(tmp_path / "scores", dtype_backend="numpy_nullable")
    expected = big[["id"]].assign(score=model.decision_function(NEW[FEATURES]))
    assert found["id"].fillna(0).tolist() == expected["id"].fillna(0).tolist()
    np.testing.assert_array_equal(found["score"].to_numpy(float), expected["score"])


def test_probabilities_stay_on_the_workers_besides_the_scores(model, frame_of):
    frame = frame_of(cut(NEW, [0, 200]), NEW)
    scores = on_spark(frame).scores(model, columns=["id"], proba=True)
    assert scores.columns == ["id", "score", "probability"]
    found = scores.toPandas()
    assert found["id"].tolist() == NEW["id"].tolist()
    np.testing.assert_array_equal(found["score"], model.decision_function(NEW[FEATURES]))
    np.testing.assert_array_equal(found["probability"], model.predict_proba(NEW[FEATURES])[:, 1])


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_auc_is_that_of_all_rows(weight, model, frame_of):
    dataset = on_spark(frame_of(cut(NEW, [0, 200])), target="y", weight=weight)
    state = roc_state(model, dataset)
    scores = model.decision_function(NEW[FEATURES])
    given = None if weight is None else NEW[weight]
    assert isinstance(state, RocState)
    assert state.auc() == roc_auc_score(NEW["y"], scores, sample_weight=given)


def test_the_example_of_the_guide_runs(spark, tmp_path, monkeypatch, capsys):
    page = (CHECKOUT / "docs" / "larger_than_memory.md").read_text("utf-8")
    (code,) = re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    rows = ROWS.assign(bad=ROWS["y"] == "yes").drop(columns="y")
    monkeypatch.chdir(tmp_path)
    os.mkdir("applicants")
    for number, part in enumerate(cut(rows, [250])):
        part.to_parquet(f"applicants/{number}.parquet")
    # Java stays in the folder in which it was started.
    code = re.sub(r"(?=applicants/|scores/)", f"{tmp_path}/", code)
    exec(code, {"Dataset": Dataset, "TreeRank": TreeRank, "roc_state": roc_state})
    expected = TreeRank(random_state=0).fit(rows.drop(columns="bad"), rows["bad"])
    assert float(capsys.readouterr().out) == expected.score(rows.drop(columns="bad"), rows["bad"])
    scores = pd.read_parquet("scores")
    np.testing.assert_array_equal(
        scores.sort_values("id")["score"], expected.decision_function(rows.drop(columns="bad"))
    )

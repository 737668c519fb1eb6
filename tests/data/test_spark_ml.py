"""A ranker as a stage of a pipeline of Spark."""

import os
import shutil
import sys

import numpy as np
import pytest
from aucrank import RankBoost, TreeRank
from aucrank.data import Dataset

from tests.common.parts import mixed_rows

pyspark = pytest.importorskip("pyspark", reason="stages of pyspark.ml, which is not installed")
pytestmark = [
    pytest.mark.skipif(
        shutil.which("java") is None and "JAVA_HOME" not in os.environ, reason="Spark needs Java"
    ),
    # Warnings of Spark about pandas, and about forking with threads.
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark", "ignore::DeprecationWarning"),
]

TREE = TreeRank(max_depth=3, pruning=None, random_state=0)
FEATURES = ["x", "small", "count", "flag", "a.b"]
ROWS = mixed_rows(400).drop(columns="colour").assign(**{"a.b": np.arange(400) % 7})


@pytest.fixture(scope="module")
def frame():
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYSPARK_PYTHON", sys.executable)
        patched.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session.createDataFrame(ROWS).repartition(3).persist()
        session.stop()


def stage_of(ranker=TREE, **kwargs):
    from aucrank.spark import RankerEstimator

    return RankerEstimator(ranker, target="label", drop=["id", "w", "y"], **kwargs)


def test_a_pipeline_fits_a_ranker_and_adds_its_scores(frame):
    from pyspark.ml import Pipeline
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.ml.feature import StringIndexer

    indexer = StringIndexer(inputCol="y", outputCol="label", stringOrderType="alphabetAsc")
    model = Pipeline(stages=[indexer, stage_of(probability="p")]).fit(frame)
    scored = model.transform(frame)
    ranker = model.stages[-1].ranker
    assert ranker.feature_names_in_.tolist() == FEATURES
    assert scored.columns == [*ROWS.columns, "label", "score", "p"]
    found = scored.toPandas()
    labels = (ROWS["y"] == "yes").astype(float)
    expected = Dataset.from_batches(ROWS[FEATURES].assign(label=labels), target="label")
    assert ranker._to_document() == TreeRank(**TREE.get_params()).fit(expected)._to_document()
    np.testing.assert_array_equal(found["score"], ranker.decision_function(found[FEATURES]))
    np.testing.assert_array_equal(found["p"], ranker.predict_proba(found[FEATURES])[:, 1])
    evaluator = BinaryClassificationEvaluator(rawPredictionCol="score", labelCol="label")
    auc = ranker.score(found[FEATURES], found["label"])
    assert evaluator.evaluate(scored) == pytest.approx(auc, abs=1e-9)


def test_a_stage_is_copied_with_its_ranker(frame):
    stage = stage_of(weight=None, score="risk")
    copied = stage.copy()
    assert copied.ranker is stage.ranker
    labelled = frame.withColumn("label", frame["y"])
    assert "risk" in copied.fit(labelled).transform(labelled).columns
    # A fit leaves the ranker of the stage alone.
    assert not hasattr(stage.ranker, "tree_")


def test_scoring_raises_no_warning_of_spark(frame, recwarn):
    from aucrank.spark import RankerModel

    RankerModel(RankBoost(n_rounds=2).fit(ROWS[FEATURES], ROWS["y"])).transform(frame)
    assert not [one for one in recwarn if "type hints" in str(one.message)]


def test_a_stage_says_what_it_lacks(frame):
    from aucrank.spark import RankerModel

    numbers = ROWS[FEATURES], ROWS["y"]
    with pytest.raises(ValueError, match="this RankBoost has no predict_proba"):
        RankerModel(RankBoost(n_rounds=2).fit(*numbers), probability="p")
    with pytest.raises(ValueError, match="the TreeRank is not fitted to columns with names"):
        RankerModel(TREE)
    model = RankerModel(RankBoost(n_rounds=2).fit(*numbers), score="x")
    with pytest.raises(ValueError, match="has a column 'x' already"):
        model.transform(frame)

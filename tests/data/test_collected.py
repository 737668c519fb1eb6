"""Few rows of a cluster come to the client or to one worker; the model is that of queries."""

import os
import signal
from itertools import pairwise

import pytest
from aucrank import (
    MAD2C,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    MartiRank,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    Scorecard,
    SMartiRank,
    TreeRank,
)
from aucrank._base.fit_progress import heard_by
from aucrank.data import Dataset
from aucrank.data._dask import DaskRows, DaskSource
from aucrank.data._gathered import SumsOf
from aucrank.data._spark import _memory_of_python
from sklearn.base import clone

from tests.common.limits import HANG
from tests.common.parts import FEATURES, mixed_rows

dask = pytest.importorskip("dask", reason="fits on the workers of dask, which is not installed")
distributed = pytest.importorskip("distributed", reason="fits on workers of distributed")
dd = pytest.importorskip("dask.dataframe", reason="reads data frames of dask")

ROWS = mixed_rows(600)

#: Learners that query coded rows, or read values in passes, where rows are many.
LEARNERS = {
    "tree": TreeRank(max_depth=3, random_state=0),
    "booster": GradientBoostingRanker(n_rounds=3, n_bags=2, max_leaves=6, random_state=0),
    "marti": MartiRank(n_rounds=2, random_state=0),
    "smarti": SMartiRank(n_rounds=2, noise_rate="auto", random_state=0),
    "rank boost": RankBoost(n_rounds=4, early_stopping=True, random_state=0),
    "auc boost": AUCBoost(n_rounds=3, random_state=0),
    "rimarc": RIMARC(weight_folds=3, random_state=0),
    "mad2c": MAD2C(),
    "card": Scorecard(estimator=RankBoost(n_rounds=3, random_state=0)),
}

#: Learners that need the codes of all rows.
WHOLE = {
    "forest": RankingForest(n_estimators=3, oob_score=True, random_state=0),
    "booster of pairs": GradientBoostingRanker(
        n_rounds=2, n_bags=2, loss="pair_logistic", random_state=0
    ),
    "stopped by the AUC": GradientBoostingRanker(
        n_rounds=6, n_bags=2, scoring="auc", early_stopping=True, random_state=0
    ),
    "sampled rows": RankBoost(n_rounds=3, subsample=0.5, random_state=0),
    "partial area": AUCBoost(n_rounds=3, max_fpr=0.5, random_state=0),
}


@pytest.fixture(scope="module", autouse=True)
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def dataset_of(cuts=(0, 200), weight="w", worker_below=0, **kwargs):
    parts = [ROWS[first:last] for first, last in pairwise([0, *cuts, len(ROWS)])]
    collection = dd.from_delayed(
        [dask.delayed(part) for part in parts], meta=ROWS[:0], verify_meta=False
    )
    return Dataset.from_dask(
        collection,
        target="y",
        weight=weight,
        columns=FEATURES,
        worker_below=worker_below,
        **kwargs,
    )


def in_memory(model, weight="w"):
    given = None if weight is None else ROWS[weight]
    return clone(model).fit(ROWS[FEATURES], ROWS["y"], given)._to_document()


@pytest.fixture
def queried(monkeypatch):
    """Queries to the cluster."""
    found = []
    round_of, gathered = DaskRows.round, DaskSource.gathered

    def note(self, ask):
        found.append(ask)
        return round_of(self, ask)

    def note_sums(self, dataset, facts, what, n_threads):
        if isinstance(what, SumsOf):
            found.append(what.ask)
        return gathered(self, dataset, facts, what, n_threads)

    monkeypatch.setattr(DaskRows, "round", note)
    monkeypatch.setattr(DaskSource, "gathered", note_sums)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", LEARNERS)
def test_both_roads_lead_to_the_model_of_one_frame(name, weight, queried):
    model = LEARNERS[name]
    expected = in_memory(model, weight)
    assert clone(model).fit(dataset_of(weight=weight))._to_document() == expected
    assert not queried
    on_workers = dataset_of(weight=weight, collect_below=0)
    assert clone(model).fit(on_workers)._to_document() == expected
    assert queried


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in ("rimarc", "mad2c")])
def test_a_worker_fits_the_model_of_one_frame(name, queried, monkeypatch):
    model = LEARNERS[name]
    monkeypatch.setattr(DaskSource, "hold", lambda *args: pytest.fail("rows are queried"))
    if name != "card":
        # Its scores are fetched, and its points are counted in passes.
        monkeypatch.setattr(DaskSource, "one_by_one", lambda *args: pytest.fail("rows are fetched"))
    for limit in (None, "1GB"):
        on_worker = dataset_of(collect_below=0, worker_below=limit)
        found = clone(model).fit(on_worker)
        assert found._to_document() == in_memory(model)
    assert not queried or name == "card"


def test_the_limit_for_a_worker_is_on_all_that_a_fit_takes(queried):
    model = LEARNERS["tree"]
    facts = dataset_of().facts(clone(model))
    size = 600 * (9 + 8 + 5) + model._bytes_besides_codes(600, len(facts.schema.features))
    for limit, is_queried in ((size, True), (size + 1, False), (0, True)):
        queried.clear()
        found = clone(model).fit(dataset_of(collect_below=0, worker_below=limit))
        assert bool(queried) == is_queried
        assert found._to_document() == in_memory(model)
    # Fewer rows come to the client than to a worker.
    queried.clear()
    clone(model).fit(dataset_of(collect_below=size + 1, worker_below=0))
    assert not queried


def test_a_worker_of_little_memory_is_not_given_all_rows(queried, monkeypatch):
    model = LEARNERS["tree"]
    facts = dataset_of().facts(clone(model))
    size = 600 * (9 + 8 + 5) + model._bytes_besides_codes(600, len(facts.schema.features))
    assert dataset_of().engine.worker_memory() > 2 * 10**9
    for memory, is_queried in ((2 * size, True), (2 * size + 2, False), (None, False)):
        queried.clear()
        monkeypatch.setattr(DaskSource, "worker_memory", lambda self, of_test=memory: of_test)
        clone(model).fit(dataset_of(collect_below=0, worker_below=None))
        assert bool(queried) == is_queried
        # A size that was given is taken as it is.
        queried.clear()
        clone(model).fit(dataset_of(collect_below=0, worker_below=size + 1))
        assert not queried
    monkeypatch.setattr(DaskSource, "worker_memory", lambda self: pytest.fail("never needed"))
    assert not dataset_of(worker_below=None).engine.fits_worker(10**9)


@pytest.mark.parametrize(
    ("settings", "master", "expected"),
    [
        ({}, "local[2]", None),
        ({"spark.executor.memory": "1g"}, "spark://host:7077", None),
        ({}, "yarn", 384 * 10**6),
        ({"spark.executor.memoryOverhead": "2g"}, "k8s://https://host", 2 * 10**9),
        ({"spark.executor.memoryOverhead": "512"}, "yarn", 512 * 10**6),
        ({"spark.executor.pyspark.memory": "4g", "spark.executor.cores": "4"}, "yarn", 10**9),
        ({"spark.executor.pyspark.memory": "1g"}, "spark://host:7077", 10**9),
    ],
)
def test_the_settings_of_spark_say_what_a_worker_may_take(settings, master, expected):
    assert _memory_of_python(settings, master) == expected


def test_callbacks_are_called_here(queried):
    seen = []

    def listener(estimator, unit, number, most):
        seen.append((unit, number))

    with heard_by(listener):
        clone(LEARNERS["auc boost"]).fit(dataset_of(collect_below=0, worker_below="1GB"))
    assert queried
    assert seen


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WHOLE)
def test_what_needs_all_codes_is_fitted_on_a_worker_beyond_the_limit(name, monkeypatch):
    model = WHOLE[name]
    monkeypatch.setattr(DaskSource, "one_by_one", lambda *args: pytest.fail("rows are fetched"))
    found = clone(model).fit(dataset_of(collect_below=0))
    assert found._to_document() == in_memory(model)
    assert found.n_features_in_ == len(FEATURES)
    assert list(found.feature_names_in_) == FEATURES


def test_warnings_and_errors_of_a_worker_are_those_of_a_fit_here():
    alone = RankingForest(n_estimators=2, max_depth=0, random_state=0)
    with pytest.raises(ValueError, match="max_depth"):
        clone(alone).set_params(max_depth=-1).fit(dataset_of(collect_below=0))
    constant = GradientBoostingRanker(
        n_rounds=2, loss="pair_logistic", min_gain=1e9, early_stopping=False
    )
    said = "all scores are equal"
    with pytest.warns(UserWarning, match=said):
        clone(constant).fit(ROWS[FEATURES], ROWS["y"])
    with pytest.warns(UserWarning, match=said):
        clone(constant).fit(dataset_of(weight=None, collect_below=0))


def test_an_ensemble_that_needs_all_rows_raises_an_error_beyond_the_limit():
    members = [("tree", TreeRank(max_depth=2, pruning=None))]
    model = RankingEnsemble(members=members, n_folds=2, random_state=0)
    said = r"it needs all 600 rows of the Dask collection of 3 partitions here.* 0\.000\d+ MB; if"
    with pytest.raises(ValueError, match=said) as err:
        clone(model).fit(dataset_of(collect_below=800))
    size = str(err.value).rpartition("=")[2].strip("'")
    clone(model).fit(dataset_of(collect_below=size))


def test_a_time_limit_ends_a_fit_between_two_queries(queried):
    model = GradientBoostingRanker(n_rounds=8, n_bags=2, category_pairs=False, random_state=0)
    model.set_params(max_leaves=32, refit=False)
    clone(model).set_params(n_rounds=1).fit(dataset_of(collect_below=0))
    of_one_round = len(queried)
    queried.clear()
    ended = clone(model).set_params(time_limit=1e-9).fit(dataset_of(collect_below=0))
    # The first round is grown to its end, and no other one begins.
    assert (ended._model.n_rounds, len(queried)) == (2, of_one_round)


def test_the_limit_is_on_all_that_a_fit_takes(queried):
    model = LEARNERS["tree"]
    facts = dataset_of().facts(clone(model))
    size = 600 * (9 + 8 + 5) + model._bytes_besides_codes(600, len(facts.schema.features))
    clone(model).fit(dataset_of(collect_below=size))
    assert queried
    queried.clear()
    clone(model).fit(dataset_of(collect_below=size + 1))
    assert not queried


def test_a_line_says_which_road_was_taken(capsys):
    loud = clone(LEARNERS["tree"]).set_params(verbose=1)
    clone(loud).fit(dataset_of())
    assert "[TreeRank] 600 rows collected from the cluster, 0.01" in capsys.readouterr().out
    clone(loud).fit(dataset_of(collect_below=0))
    said = capsys.readouterr().out
    assert " queries to the cluster, " in said
    assert said.count("the cluster") == 1
    clone(loud).fit(dataset_of(collect_below=0, worker_below="1GB"))
    said = capsys.readouterr().out
    assert "[TreeRank] 600 rows brought to one worker of the cluster, 0.01" in said
    assert said.count("the cluster") == 1


def test_rows_of_one_frame_say_nothing_of_roads(capsys):
    Dataset.from_batches(ROWS, target="y", columns=FEATURES)
    loud = clone(LEARNERS["tree"]).set_params(verbose=1)
    loud.fit(Dataset.from_batches(ROWS, target="y", columns=FEATURES))
    assert "cluster" not in capsys.readouterr().out


def test_workers_may_end_once_rows_are_collected(monkeypatch):
    codes = DaskSource.codes

    def then_kill(self, *args):
        found = codes(self, *args)
        for pid in self._client.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)
        self._client.cluster.close()
        return found

    model = LEARNERS["tree"]
    monkeypatch.setattr(DaskSource, "codes", then_kill)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False, timeout=HANG) as client,
    ):
        collection = dd.from_pandas(ROWS, npartitions=2)
        dataset = Dataset.from_dask(
            collection, target="y", weight="w", columns=FEATURES, client=client
        )
        # Arrays of other processes begin anywhere in memory.
        passing = LEARNERS["rimarc"]
        assert clone(passing).fit(dataset)._to_document() == in_memory(passing)
        assert clone(model).fit(dataset)._to_document() == in_memory(model)


@pytest.mark.parametrize(
    ("size", "kind", "said"),
    [
        (-1, ValueError, "at least 0"),
        ("much", ValueError, "'256MB' or '2GB', got 'much'"),
        ("-1MB", ValueError, "got '-1MB'"),
        (0.5, TypeError, "a number of bytes or a text"),
        (None, TypeError, "got None"),
        (True, TypeError, "got True"),
    ],
)
def test_an_invalid_limit_is_rejected(size, kind, said):
    with pytest.raises(kind, match=f"^collect_below must be .*{said}"):
        dataset_of(collect_below=size)
    if size is not None:
        with pytest.raises(kind, match=f"^worker_below must be .*{said}"):
            dataset_of(worker_below=size)

"""A fit to a Dask collection gives the document of the fit to one frame with all of its rows."""

import os
import signal
import time
from itertools import pairwise
from threading import Event, Thread

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    AURORA,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingForest,
    SMartiRank,
    TreeRank,
)
from aucrank.data import DataChangedError, Dataset, _sampled
from aucrank.data._dask import DaskRows, DaskSource
from aucrank.data._raw import ReadRows
from aucrank.metrics import RocState, roc_auc_score, roc_state
from sklearn.base import clone

from tests.common.limits import HANG
from tests.common.parts import (
    FEATURES,
    TOWN_FEATURES,
    distinguishes_rare_towns,
    mixed_rows,
    on_dask,
    town_rows,
)
from tests.common.spilled import n_spilled_bytes

dask = pytest.importorskip("dask", reason="fits on the workers of dask, which is not installed")
distributed = pytest.importorskip("distributed", reason="fits on workers of distributed")
dd = pytest.importorskip("dask.dataframe", reason="reads data frames of dask")

ROWS = mixed_rows(1200)
#: With pruning by cross-validation, which is the default.
MODEL = TreeRank(max_depth=4, random_state=0)
BOOSTER = GradientBoostingRanker(n_rounds=3, n_bags=2, max_leaves=6, random_state=0)
#: A lost worker or unavailable data must not make a test wait for ever.
WAIT = HANG


@pytest.fixture(scope="module", autouse=True)
def client():
    """Client of two workers in this process, used by all tests but those with another."""
    with (
        dask.config.set({"distributed.comm.timeouts.connect": WAIT}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def collection_of(parts):
    """Return a collection whose partitions are frames."""
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=ROWS[:0], verify_meta=False)


def cut(rows, cuts):
    """Return the rows between some positions as frames of their own."""
    edges = [0, *cuts, len(rows)]
    return [rows[first:last] for first, last in pairwise(edges)]


def roles(rows, weight=None):
    """Return X, y and weights of a frame."""
    return rows[FEATURES], rows["y"], None if weight is None else rows[weight]


def check_same_fit(collection, rows, weight=None, model=MODEL, **kwargs):
    """The document of a fit to a collection is that of the fit to a frame."""
    dataset = on_dask(collection, target="y", weight=weight, columns=FEATURES, **kwargs)
    found, expected = clone(model).fit(dataset), clone(model).fit(*roles(rows, weight))
    assert len(np.unique(expected.decision_function(rows[FEATURES]))) > 2
    assert found._to_document() == expected._to_document()
    assert found.n_features_in_ == expected.n_features_in_
    assert found.feature_names_in_.tolist() == FEATURES


# The same fit


@pytest.mark.parametrize(
    ("n_parts", "weight"), [(1, None), (2, None), (7, None), (1, "w"), (7, "w"), (24, "w")]
)
def test_a_fit_does_not_depend_on_partitions(n_parts, weight):
    cuts = [len(ROWS) * part // n_parts for part in range(1, n_parts)]
    check_same_fit(collection_of(cut(ROWS, cuts)), ROWS, weight)


@pytest.mark.parametrize("weight", [None, "w"])
def test_classes_are_balanced_by_all_partitions(weight):
    rows = ROWS.sort_values("y")
    model = clone(MODEL).set_params(class_weight="balanced")
    check_same_fit(collection_of(cut(rows, [100, 150])), rows, weight, model)


@pytest.mark.parametrize("pruning", ["penalty", "validation", None])
def test_every_way_of_pruning_is_that_of_one_frame(pruning):
    model = clone(MODEL).set_params(pruning=pruning)
    check_same_fit(collection_of(cut(ROWS, [400, 900])), ROWS, "w", model)


#: Partitions that lack rows, classes or values of the whole.
LACKING = {
    "no row": cut(ROWS, [0, 600, 600, 1200]),
    "one row": cut(ROWS, [1, 2, 1199]),
    "one class": cut(ROWS.sort_values("y", kind="stable"), [200, 500, 1000]),
    "no weight": cut(ROWS.sort_values("w", kind="stable"), [50, 700]),
    "categories": cut(ROWS.sort_values("colour", kind="stable"), [300, 800, 1100]),
    "no number": [
        ROWS[:300].assign(x=np.nan),
        ROWS[300:500].assign(x=None, colour=None),
        ROWS[500:].assign(small=ROWS["small"].where(ROWS.index < 700)),
    ],
}


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("parts", LACKING.values(), ids=LACKING)
def test_partitions_may_lack_rows_classes_and_values(parts, weight):
    assert len(parts) > 2
    rows = pd.concat(parts).astype({"x": float})
    check_same_fit(collection_of(parts), rows, weight)


@pytest.mark.parametrize("n_parts", [1, 7])
@pytest.mark.parametrize("weight", [None, "w"])
def test_boosting_does_not_depend_on_partitions(n_parts, weight):
    rows = ROWS.sort_values("y", kind="stable")
    cuts = [len(rows) * part // n_parts for part in range(1, n_parts)]
    check_same_fit(collection_of(cut(rows, [0, *cuts])), ROWS, weight, BOOSTER)


@pytest.mark.parametrize("model", [RankingForest(n_estimators=3, random_state=0)], ids=["forest"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_learners_in_memory_gather_the_codes_in_order(model, weight):
    dataset = Dataset.from_dask(
        collection_of(cut(ROWS, [0, 1, 700])), target="y", weight=weight, columns=FEATURES
    )
    expected = clone(model).fit(*roles(ROWS, weight))
    assert clone(model).fit(dataset)._to_document() == expected._to_document()


#: Learners that ask the workers for sums, besides trees.
ASKING = {
    "marti": MartiRank(n_rounds=4, random_state=1),
    "threshold": MartiRank(
        n_rounds=3, weak_ranker="threshold", output="node_rate", max_bins=None, random_state=2
    ),
    "smarti": SMartiRank(n_rounds=5, noise_rate="auto", random_state=3),
    "sampled": SMartiRank(n_rounds=3, sample_size=150, level_rates="raw", random_state=4),
    "rank boost": RankBoost(n_rounds=6, random_state=5),
    "stopped": RankBoost(
        n_rounds=12, early_stopping=True, n_iter_no_change=2, refit=True, random_state=6
    ),
    "auc boost": AUCBoost(n_rounds=5, max_features=3, learning_rate=0.5, random_state=7),
}


@pytest.fixture
def codes_stay(monkeypatch):
    """Make it fail if codes are gathered by the client."""
    monkeypatch.setattr(DaskSource, "codes", None)


@pytest.mark.usefixtures("codes_stay")
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("model", ASKING.values(), ids=ASKING)
def test_learners_that_send_queries_learn_on_the_workers(model, weight):
    parts = [*LACKING["one class"], *cut(ROWS, [0, 1, 900])]
    rows = pd.concat(parts)
    check_same_fit(collection_of(parts), rows, weight, model)


#: Learners that rows answer with rates of rare categories.
RATED = {
    "tree": TreeRank(max_depth=5, random_state=1),
    "rank boost": RankBoost(n_rounds=6, random_state=2),
    "auc boost": AUCBoost(n_rounds=8, weak_ranker="threshold", max_features=1, random_state=6),
}


@pytest.mark.usefixtures("codes_stay")
@pytest.mark.filterwarnings("ignore:Column 'town' looks as if")
@pytest.mark.parametrize("n_parts", [1, 2, 7])
@pytest.mark.parametrize("model", RATED.values(), ids=RATED)
def test_rates_of_rare_categories_are_learned_on_the_workers(model, n_parts):
    rows = town_rows(2000)
    expected = clone(model).fit(rows[TOWN_FEATURES], rows["y"])
    assert distinguishes_rare_towns(expected, rows)
    collection = dd.from_pandas(rows.sort_values("y"), npartitions=n_parts)
    dataset = on_dask(collection, target="y", columns=TOWN_FEATURES)
    assert clone(model).fit(dataset)._to_document() == expected._to_document()


SAMPLED = {
    "aurora": AURORA(max_features=4, radius=3.0, depth="shallow", random_state=0),
    "linear": LinearRanker(thresholds=3),
}


@pytest.mark.filterwarnings("ignore:.* is fitted to 5.. of 1,200 rows")
@pytest.mark.parametrize("most", [200_000, 500])
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", SAMPLED)
def test_a_sampled_fit_gathers_only_the_rows_of_its_sample(name, weight, most, monkeypatch):
    monkeypatch.setattr(_sampled, "MOST_ROWS", most)
    model, brought = SAMPLED[name], []
    gather = DaskSource.gather

    def look(self, results):
        found = gather(self, results)
        batches = [one for one in found if isinstance(one, tuple) and isinstance(one[0], list)]
        brought.append(sum(len(positive) for _, positive, *_ in batches))
        return found

    monkeypatch.setattr(DaskSource, "gather", look)
    whole = Dataset.from_batches(ROWS, target="y", weight=weight, columns=FEATURES)
    facts = whole.facts(clone(model))
    n_taken = whole.sample(facts, 1, by_class=model._samples_classes).n_rows
    assert (n_taken < len(ROWS)) == (most < len(ROWS))
    expected = clone(model).fit(whole)
    assert (expected.sampled_rows_ is None) == (n_taken == len(ROWS))
    for cuts in ([], [700], [0, 1, 300, 800, 800, 1000]):
        dataset = on_dask(
            collection_of(cut(ROWS, cuts)), target="y", weight=weight, columns=FEATURES
        )
        brought.clear()
        assert clone(model).fit(dataset)._to_document() == expected._to_document()
        assert max(brought) == n_taken


def test_partitions_may_be_kept_on_the_workers():
    check_same_fit(dd.from_pandas(ROWS, npartitions=3).persist(), ROWS)


def test_the_client_can_be_passed(client, monkeypatch):
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        other = distributed.Client(cluster, set_as_default=False)
        assert distributed.get_client() is client
        monkeypatch.setattr(client, "submit", None)
        check_same_fit(dd.from_pandas(ROWS, npartitions=2), ROWS, client=other)
        other.close()


# Workers that are lost


@pytest.fixture(scope="module")
def processes():
    """Client of two worker processes, restarted by nannies."""
    # Some time after a worker is lost the cluster looks whether one of its name is there, or gives
    # it up: an earlier test's look must not fall into the moment in which a later one kills it.
    with (
        dask.config.set(
            {
                "distributed.deploy.lost-worker-timeout": "1 hour",
                # A worker that starts anew is a copy of a process that has imported dask.
                "distributed.worker.multiprocessing-method": "forkserver",
            }
        ),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def workers_of(client):
    """Return process ids of the workers."""
    return list(client.run(os.getpid).values())


def kill_in_round(number, pids, rows, monkeypatch):
    """Let processes be killed before a round; return the list of the rounds so far."""
    round_of_fit, rounds = rows.round, []

    def deadly_round(self, ask):
        rounds.append(ask)
        if len(rounds) == number:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
        return round_of_fit(self, ask)

    monkeypatch.setattr(rows, "round", deadly_round)
    return rounds


@pytest.mark.parametrize("n_killed", [1, 2])
def test_a_fit_outlives_its_workers(n_killed, processes, monkeypatch):
    processes.wait_for_workers(2, timeout=WAIT)
    before = workers_of(processes)
    rounds = kill_in_round(3, before[:n_killed], DaskRows, monkeypatch)
    check_same_fit(dd.from_pandas(ROWS, npartitions=5), ROWS, "w", client=processes)
    assert len(rounds) > 3
    processes.wait_for_workers(2, timeout=WAIT)
    assert len(set(workers_of(processes)) - set(before)) == n_killed


@pytest.mark.parametrize("model", ASKING.values(), ids=ASKING)
def test_fits_of_other_learners_outlive_a_worker(model, processes, monkeypatch):
    processes.wait_for_workers(2, timeout=WAIT)
    before = workers_of(processes)
    rounds = kill_in_round(4, before[:1], DaskRows, monkeypatch)
    collection = dd.from_pandas(ROWS, npartitions=5)
    check_same_fit(collection, ROWS, "w", model, client=processes)
    assert len(rounds) > 4
    processes.wait_for_workers(2, timeout=WAIT)


@pytest.mark.parametrize("n_killed", [1, 2])
def test_boosting_outlives_its_workers(n_killed, processes, monkeypatch):
    processes.wait_for_workers(2, timeout=WAIT)
    before = workers_of(processes)
    # Within the second tree: the next holder of the rows gets the first one again.
    rounds = kill_in_round(20, before[:n_killed], DaskRows, monkeypatch)
    check_same_fit(dd.from_pandas(ROWS, npartitions=5), ROWS, "w", BOOSTER, client=processes)
    assert len(rounds) > 20
    processes.wait_for_workers(2, timeout=WAIT)
    assert len(set(workers_of(processes)) - set(before)) == n_killed


@pytest.mark.parametrize("n_killed", [1, 2])
def test_passes_over_values_outlive_the_workers(n_killed, processes, monkeypatch):
    processes.wait_for_workers(2, timeout=WAIT)
    before = workers_of(processes)
    rounds = kill_in_round(2, before[:n_killed], ReadRows, monkeypatch)
    model = RIMARC(weight_folds=3, random_state=0)
    collection = dd.from_pandas(ROWS, npartitions=5)
    check_same_fit(collection, ROWS, "w", model, client=processes)
    # One for the hashes that folds are dealt by, and one for the cells of values.
    assert len(rounds) >= 2
    processes.wait_for_workers(2, timeout=WAIT)
    assert len(set(workers_of(processes)) - set(before)) == n_killed


def test_a_closed_client_raises_an_error(processes, monkeypatch):
    client = distributed.Client(processes.cluster, set_as_default=False)
    dataset = on_dask(
        dd.from_pandas(ROWS, npartitions=2), target="y", columns=FEATURES, client=client
    )
    round_of_fit = DaskRows.round

    def last_round(self, ask):
        client.close()
        return round_of_fit(self, ask)

    model = clone(MODEL)
    with monkeypatch.context() as patched:
        patched.setattr(DaskRows, "round", last_round)
        with pytest.raises(RuntimeError, match="the client of the cluster is closed"):
            model.fit(dataset)
    assert not hasattr(model, "tree_")
    # The cluster goes on.
    check_same_fit(dd.from_pandas(ROWS, npartitions=2), ROWS, client=processes)


def test_rows_lost_with_a_worker_raise_an_error(processes):
    processes.wait_for_workers(2, timeout=WAIT)
    workers = list(processes.scheduler_info()["workers"])
    pids = processes.run(os.getpid)
    held = processes.scatter([ROWS[:600], ROWS[600:]], workers=workers[:1])
    collection = dd.from_delayed(held, meta=ROWS[:0], verify_meta=False)
    dataset = on_dask(collection, target="y", columns=FEATURES, client=processes)
    os.kill(pids[workers[0]], signal.SIGKILL)
    with pytest.raises(RuntimeError, match="cannot be computed again"):
        clone(MODEL).fit(dataset)


# Partitions that change


#: How often the second partition was computed.
CALLS = []


def with_value(name, value):
    rows = ROWS[600:].reset_index(drop=True)
    rows.loc[5, name] = value
    return rows


LAST = ROWS[600:]
FLIPPED = LAST.assign(y=LAST["y"].map({"yes": "no", "no": "yes"}))
CHANGES = {
    "fewer rows": (LAST[:-1], "partition 1 has 599 rows, but had 600"),
    "flipped labels": (FLIPPED, "partition 1 has other labels or weights"),
    "other weights": (LAST.assign(w=LAST["w"] + 1), "partition 1 has other labels or weights"),
    "a number": (with_value("x", 0.123), "partition 1 has other values"),
    "a missing number": (LAST.assign(x=np.nan), "partition 1 has other values"),
    "a category": (with_value("colour", "green"), "partition 1 has other values"),
    "a truth value": (LAST.assign(flag=~LAST["flag"]), "partition 1 has other values"),
    "columns of other rows": (
        LAST.assign(count=LAST["count"].to_numpy()[::-1]),
        "partition 1 has other values",
    ),
}


def second(later, from_call):
    """Return the second partition, or another frame from some call on."""
    CALLS.append(None)
    return later if len(CALLS) >= from_call else LAST


def moody(later, from_call=2):
    """Return a collection whose second partition changes."""
    CALLS.clear()
    parts = [dask.delayed(ROWS[:600]), dask.delayed(second, pure=False)(later, from_call)]
    return dd.from_delayed(parts, meta=ROWS[:0], verify_meta=False)


@pytest.mark.parametrize("from_call", [2, 3])
@pytest.mark.parametrize(("later", "said"), CHANGES.values(), ids=CHANGES)
def test_a_partition_that_changes_between_passes_is_named_in_the_error(later, said, from_call):
    collection = moody(later, from_call)
    dataset = on_dask(collection, target="y", columns=FEATURES, weight="w")
    with pytest.raises(DataChangedError, match=said):
        clone(MODEL).fit(dataset)
    assert len(CALLS) >= from_call


@pytest.mark.parametrize("model", [RIMARC(), LinearRanker()], ids=repr)
def test_every_way_to_fit_detects_a_changed_partition(model):
    dataset = on_dask(moody(with_value("x", 0.123)), target="y", columns=FEATURES)
    with pytest.raises(DataChangedError, match="partition 1 has other values"):
        model.fit(dataset)


def test_rows_of_a_partition_may_come_in_another_order():
    check_same_fit(moody(LAST[::-1]), ROWS, "w")
    assert len(CALLS) > 1


@pytest.mark.parametrize("change", ["fewer rows", "flipped labels", "other weights", "a number"])
def test_rows_that_change_after_the_loss_of_a_worker_are_detected(
    change, processes, monkeypatch, tmp_path
):
    processes.wait_for_workers(2, timeout=WAIT)
    path = tmp_path / "rows.pickle"
    ROWS[600:].to_pickle(path)
    parts = [dask.delayed(ROWS[:600]), dask.delayed(pd.read_pickle)(path)]
    collection = dd.from_delayed(parts, meta=ROWS[:0], verify_meta=False)
    dataset = on_dask(collection, target="y", columns=FEATURES, weight="w", client=processes)
    round_of_fit, pids = DaskRows.round, workers_of(processes)
    later, said = CHANGES[change]

    def deadly_round(self, ask):
        if pids:
            later.to_pickle(path)
            while pids:
                os.kill(pids.pop(), signal.SIGKILL)
        return round_of_fit(self, ask)

    monkeypatch.setattr(DaskRows, "round", deadly_round)
    with pytest.raises(DataChangedError, match=said):
        clone(MODEL).fit(dataset)


# Errors


def fit_with(change, row=700):
    """Fit to two partitions, of whose second one row is changed."""
    rows = ROWS.astype({"y": object})
    rows.loc[row, list(change)] = list(change.values())
    collection = collection_of(cut(rows, [600]))
    dataset = on_dask(collection, target="y", weight="w", columns=FEATURES)
    return clone(MODEL).fit(dataset)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"x": np.inf}, r"column 'x' is inf in row 100 \(partition 1\); X must not hold inf"),
        ({"y": "maybe"}, "Only binary classification is supported"),
        ({"y": None}, r"target column 'y' is missing in row 100 \(partition 1\)"),
        ({"w": -1.0}, r"weight column 'w' holds -1.0 in row 100 \(partition 1\)"),
        ({"w": np.nan}, r"weight column 'w' holds nan in row 100 \(partition 1\)"),
    ],
)
def test_an_invalid_value_is_named_with_its_partition(change, said):
    with pytest.raises(ValueError, match=said):
        fit_with(change)


def test_a_partition_without_a_column_is_named_in_the_error():
    collection = collection_of([ROWS[:600], ROWS[600:].drop(columns="count")])
    dataset = on_dask(collection, target="y", columns=FEATURES)
    with pytest.raises(ValueError, match="partition 1 has no column 'count'"):
        clone(MODEL).fit(dataset)


def test_partitions_whose_columns_differ_in_type_are_named_in_the_error():
    collection = collection_of([ROWS[:600], ROWS[600:].assign(x="text")])
    dataset = on_dask(collection, target="y", columns=FEATURES)
    said = "column 'x' holds categories in partition 1 and numbers in partition 0"
    with pytest.raises(TypeError, match=said):
        clone(MODEL).fit(dataset)


def test_a_fit_needs_two_classes_and_rows():
    one = on_dask(collection_of([ROWS[ROWS["y"] == "no"]]), target="y", columns=FEATURES)
    with pytest.raises(ValueError, match="the data contains only one class: 'no'"):
        clone(MODEL).fit(one)
    none = on_dask(collection_of([ROWS[:0], ROWS[:0]]), target="y", columns=FEATURES)
    with pytest.raises(ValueError, match=r"0 sample\(s\) in the Dask collection of 2 partitions"):
        clone(MODEL).fit(none)


def test_input_that_is_not_a_dask_collection_is_rejected():
    with pytest.raises(TypeError, match="collection must be a data frame of Dask, got DataFrame"):
        on_dask(ROWS, target="y")
    with pytest.raises(ValueError, match="has no column 'z'"):
        on_dask(collection_of([ROWS]), target="z")


def test_a_collection_needs_a_client(monkeypatch):
    def no_client():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "get_client", no_client)
    with pytest.raises(ValueError, match="there is no client of a Dask cluster: start one"):
        on_dask(collection_of([ROWS]), target="y")


# Scores


@pytest.fixture(scope="module")
def model():
    return clone(MODEL).fit(*roles(ROWS))


NEW = mixed_rows(1000, seed=1)


def test_partitions_are_scored_one_after_the_other(model):
    dataset = on_dask(collection_of(cut(NEW, [0, 300, 301])))
    found = list(model.decision_function_batches(dataset))
    assert [len(scores) for scores in found] == [300, 1, 699]
    np.testing.assert_array_equal(np.concatenate(found), model.decision_function(NEW[FEATURES]))


def test_scores_of_partitions_are_written_to_one_file(model, tmp_path):
    dataset = on_dask(collection_of(cut(NEW, [300])))
    path = tmp_path / "scores.parquet"
    assert model.write_scores(dataset, path, columns=["id"]) == len(NEW)
    found = pd.read_parquet(path)
    np.testing.assert_array_equal(found["id"], NEW["id"])
    np.testing.assert_array_equal(found["score"], model.decision_function(NEW[FEATURES]))


def test_scores_stay_on_the_workers(model, tmp_path):
    rows = NEW.set_index("id")
    collection = dd.from_pandas(rows, npartitions=3)
    scores = on_dask(collection).scores(model, columns=["colour"])
    assert scores.divisions == collection.divisions
    scores.to_parquet(tmp_path / "scores")
    found = pd.read_parquet(tmp_path / "scores")
    assert found.columns.tolist() == ["colour", "score"]
    np.testing.assert_array_equal(found.index, rows.index)
    assert found["colour"].fillna("").tolist() == rows["colour"].fillna("").tolist()
    np.testing.assert_array_equal(found["score"], model.decision_function(rows[FEATURES]))


def test_probabilities_stay_on_the_workers_besides_the_scores(model):
    dataset = on_dask(collection_of(cut(NEW, [0, 300])))
    scores = dataset.scores(model, columns=["id"], proba=True)
    assert scores.columns.tolist() == ["id", "score", "probability"]
    found = scores.compute()
    assert found["id"].tolist() == NEW["id"].tolist()
    np.testing.assert_array_equal(found["score"], model.decision_function(NEW[FEATURES]))
    np.testing.assert_array_equal(found["probability"], model.predict_proba(NEW[FEATURES])[:, 1])
    with pytest.raises(ValueError, match="columns holds 'probability', the name of an added"):
        dataset.scores(model, columns=["probability"], proba=True)
    with pytest.raises(TypeError, match="did you mean 'proba'"):
        dataset.scores(model, probability=True)
    without = RankBoost(n_rounds=2).fit(*roles(ROWS))
    with pytest.raises(ValueError, match="this RankBoost has no predict_proba: leave proba out"):
        dataset.scores(without, proba=True)


def test_scores_are_an_array_of_dask_on_request(model):
    collection = dd.from_pandas(NEW, npartitions=4)
    # The last partition has no row then.
    scores = on_dask(collection[collection["id"] < 700]).scores(model)
    array = scores["score"].to_dask_array(lengths=True)
    assert array.chunks == ((250, 250, 200, 0),)
    np.testing.assert_array_equal(array.compute(), model.decision_function(NEW[FEATURES][:700]))


def test_invalid_requests_for_scores_are_rejected(model):
    dataset = on_dask(collection_of([NEW]))
    with pytest.raises(ValueError, match="has no column 'nr'"):
        dataset.scores(model, columns=["nr"])
    with pytest.raises(ValueError, match="columns holds 'score', the name of an added column"):
        dataset.scores(model, columns=["score"])
    with pytest.raises(TypeError, match="columns must be a list of names, got 'id'"):
        dataset.scores(model, columns="id")
    with pytest.raises(TypeError, match="ranker has no decision_function, got a DataFrame"):
        dataset.scores(NEW)
    with pytest.raises(TypeError, match="is not on a cluster: call decision_function_batches"):
        Dataset.from_batches(NEW).scores(model)
    parts = [NEW[:400], NEW[400:].assign(x=np.inf)]
    scores = on_dask(collection_of(parts)).scores(model)
    with pytest.raises(ValueError, match=r"in rows 0 to 599 \(partition 1\): column 'x' is inf"):
        scores.compute()


def no_fetch(self, number):
    raise AssertionError(f"partition {number} was brought to the client")


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_roc_of_partitions_is_that_of_all_rows(weight, model, monkeypatch):
    # One site has the rows with large x: a mean of the AUCs of sites is another number.
    rows = NEW.sort_values("x", kind="stable")
    parts = [*cut(rows, [500, 500]), NEW[NEW["y"] == "no"]]
    monkeypatch.setattr(DaskSource, "fetch", no_fetch)
    dataset = on_dask(collection_of(parts), target="y", weight=weight)
    state = roc_state(model, dataset)
    together = pd.concat(parts)
    scores = model.decision_function(together[FEATURES])
    given = None if weight is None else together[weight]
    assert state.auc() == roc_auc_score(together["y"], scores, sample_weight=given)
    at_once = RocState(pos_label="yes").update(together["y"], scores, sample_weight=given)
    assert state.to_bytes() == at_once.to_bytes()


@pytest.mark.parametrize("weight", [None, "w"])
def test_scores_of_partitions_may_be_stored_in_files_of_the_client(
    weight, model, tmp_path, monkeypatch
):
    monkeypatch.setattr(DaskSource, "merged", None)
    rows = mixed_rows(150_000, seed=2)
    parts = cut(rows, [30_000, 30_000, 90_000])
    dataset = on_dask(collection_of(parts), target="y", weight=weight)
    whole = Dataset.from_batches(rows, target="y", weight=weight)
    by_score = clone(LinearRanker(thresholds=3)).fit(*roles(ROWS))
    before = n_spilled_bytes(tmp_path)
    state = roc_state(by_score, dataset, spill_dir=tmp_path, max_bytes=2**20)
    assert n_spilled_bytes(tmp_path) > before + 2**16
    expected = roc_state(by_score, whole)
    assert (state.n_pos, state.n_neg, state.size) == (
        expected.n_pos,
        expected.n_neg,
        expected.size,
    )
    assert state.auc() == expected.auc()
    assert state.interval() == expected.interval()
    del state
    assert os.listdir(tmp_path) == []


def test_the_roc_of_partitions_can_be_that_of_the_other_label(model):
    dataset = on_dask(collection_of(cut(NEW, [300])), target="y", positive="no")
    scores = -model.decision_function(NEW[FEATURES])
    assert roc_state(model, dataset).auc() == roc_auc_score(NEW["y"], scores)


def test_rows_that_cannot_be_evaluated_are_named_with_their_partition(model):
    parts = [NEW[:400], NEW[400:].assign(x=np.inf)]
    with pytest.raises(ValueError, match=r"in rows 0 to 599 \(partition 1\): column 'x' is inf"):
        roc_state(model, on_dask(collection_of(parts), target="y"))
    with pytest.raises(ValueError, match="has no labels"):
        roc_state(model, on_dask(collection_of(parts)))


# Interrupts


#: Partitions whose computation has begun, and whether it may end.
BEGAN, MAY_END = [], Event()


def slow(part):
    BEGAN.append(len(part))
    MAY_END.wait(HANG)
    return part


def interrupt_running(source):
    while len(BEGAN) < 2 or not source._owners:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_cancels_what_does_not_run_yet(client):
    BEGAN.clear()
    MAY_END.clear()
    parts = [dask.delayed(slow, pure=False)(part) for part in cut(ROWS, range(100, 1200, 100))]
    collection = dd.from_delayed(parts, meta=ROWS[:0], verify_meta=False)
    dataset = on_dask(collection, target="y", columns=FEATURES)
    source, tasks = dataset.passes.source, client.cluster.scheduler.tasks
    # Those of errors in other tests may still be there.
    others = set(tasks)
    Thread(target=interrupt_running, args=[source], daemon=True).start()
    try:
        # The error, and so its traceback with the futures, is kept.
        with pytest.raises(KeyboardInterrupt) as kept:
            clone(MODEL).fit(dataset)
        assert kept.tb is not None
        deadline = time.monotonic() + HANG
        while set(tasks) - others:
            assert time.monotonic() < deadline, "tasks are left"
            time.sleep(0.01)
    finally:
        MAY_END.set()
    assert len(BEGAN) == 2

"""A fit to rows of Ray gives the document of the fit to one frame with all of them.

Ray is not in the group of tests, since it is large: these run where it is installed.
"""

import os
import signal
import time
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank import RIMARC, LinearRanker, RankingForest, Scorecard, TreeRank
from aucrank.data import ClusterError, DataChangedError, Dataset, _patience
from aucrank.data._ray import RayRows
from aucrank.metrics import roc_auc_score, roc_state
from sklearn.base import clone

from tests.common.parts import FEATURES, mixed_rows, on_ray

ray = pytest.importorskip("ray", reason="holds rows in actors of ray, which is not installed")
ray_data = pytest.importorskip("ray.data", reason="reads data sets of ray")

ROWS = mixed_rows(1200)
NEW = mixed_rows(1000, seed=1)
MODEL = TreeRank(max_depth=4, random_state=0)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Of two workers."""
    ray.init(
        num_cpus=2, include_dashboard=False, object_store_memory=100_000_000, log_to_driver=False
    )
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def model():
    return clone(MODEL).fit(ROWS[FEATURES], ROWS["y"])


def cut(rows, cuts):
    """Return the rows between some positions as frames of their own."""
    edges = [0, *cuts, len(rows)]
    return [rows[first:last] for first, last in pairwise(edges)]


def put(parts):
    return [ray.put(part) for part in parts]


def check_same_fit(blocks, rows, weight=None):
    """The document of a fit to blocks is that of the fit to a frame."""
    dataset = on_ray(blocks, target="y", weight=weight, columns=FEATURES)
    X = rows.select(FEATURES) if hasattr(rows, "select") else rows[FEATURES]
    expected = clone(MODEL).fit(X, rows["y"], None if weight is None else rows[weight])
    assert expected.tree_.n_leaves > 2
    assert clone(MODEL).fit(dataset)._to_document() == expected._to_document()


@pytest.mark.parametrize(
    ("cuts", "weight"),
    [
        ([], None),
        ([0, 1, 600, 600], "w"),
        # More results than are merged at once.
        (range(100, 1200, 100), "w"),
    ],
)
def test_a_fit_does_not_depend_on_blocks(cuts, weight):
    check_same_fit(put(cut(ROWS, cuts)), ROWS, weight)


@pytest.mark.parametrize("change", [pl.from_pandas, pa.Table.from_pandas])
def test_blocks_may_be_frames_of_other_libraries(change):
    check_same_fit(put([change(part) for part in cut(ROWS, [500])]), change(ROWS))


def test_datasets_of_ray_are_read_by_block():
    rows = pa.Table.from_pandas(ROWS, preserve_index=False)
    blocks = ray_data.from_arrow([rows[:300], rows[300:301], rows[301:]])
    # The second block is empty then.
    check_same_fit(blocks.filter(expr="id != 300"), pa.concat_tables([rows[:300], rows[301:]]), "w")


@pytest.mark.parametrize("make", [Dataset.from_ray, on_ray], ids=["here", "on a worker"])
def test_learners_in_memory_gather_the_codes_in_order(make):
    blocks = put(cut(ROWS, [1, 700]))
    dataset = make(blocks, target="y", weight="w", columns=FEATURES)
    forest = RankingForest(n_estimators=3, random_state=0)
    expected = clone(forest).fit(ROWS[FEATURES], ROWS["y"], ROWS["w"])
    assert clone(forest).fit(dataset)._to_document() == expected._to_document()


@pytest.mark.parametrize(
    ("cuts", "weight", "of"),
    [
        ([0, 1, 700], None, lambda ranker: ranker),
        (range(100, 1200, 100), "w", lambda ranker: Scorecard(estimator=ranker)),
    ],
)
def test_passes_over_blocks_equal_those_over_one_frame(cuts, weight, of):
    blocks = put(cut(ROWS, cuts))
    dataset = on_ray(blocks, target="y", weight=weight, columns=FEATURES)
    model = of(RIMARC(weight_folds=3, random_state=0))
    given = None if weight is None else ROWS[weight]
    expected = clone(model).fit(ROWS[FEATURES], ROWS["y"], given)
    assert clone(model).fit(dataset)._to_document() == expected._to_document()


def test_a_fit_outlives_its_actors(monkeypatch):
    round_of_fit = RayRows.round
    n_rounds = 0

    def deadly_round(self, ask):
        nonlocal n_rounds
        n_rounds += 1
        assert len(self._actors) == 2
        # One, and then both.
        for actor, _ in self._actors[: {2: 1, 4: 2}.get(n_rounds, 0)]:
            ray.kill(actor, no_restart=False)
        return round_of_fit(self, ask)

    monkeypatch.setattr(RayRows, "round", deadly_round)
    check_same_fit(put(cut(ROWS, [200, 700])), ROWS, "w")
    assert n_rounds > 4


def test_restarted_actors_raise_no_warning(capfd):
    check_same_fit(put(cut(ROWS, [200])), ROWS)
    assert "constructor arguments" not in capfd.readouterr().err


# Blocks that change, and lost processes


def with_value(name, value):
    rows = LAST.reset_index(drop=True)
    rows.loc[5, name] = value
    return rows


LAST = ROWS[600:]
CHANGES = {
    "fewer rows": (LAST[:-1], "partition 1 has 599 rows, but had 600"),
    "flipped labels": (
        LAST.assign(y=LAST["y"].map({"yes": "no", "no": "yes"})),
        "partition 1 has other labels or weights",
    ),
    "other weights": (LAST.assign(w=LAST["w"] + 1), "partition 1 has other labels or weights"),
    "a number": (with_value("x", 0.123), "partition 1 has other values"),
    "a category": (with_value("colour", "green"), "partition 1 has other values"),
}


@pytest.mark.parametrize(
    ("model", "change"),
    [
        *((MODEL, change) for change in CHANGES),
        (RIMARC(), "a number"),
        (LinearRanker(), "a number"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_block_that_changes_between_passes_is_named_in_the_error(model, change, monkeypatch):
    later, said = CHANGES[change]
    dataset = on_ray(put([ROWS[:600], LAST]), target="y", columns=FEATURES, weight="w")
    facts, source = Dataset.facts, dataset.passes.source

    def then_change(self, *args, **kwargs):
        found = facts(self, *args, **kwargs)
        source._blocks[1] = ray.put(later)
        return found

    monkeypatch.setattr(Dataset, "facts", then_change)
    with pytest.raises(DataChangedError, match=said):
        clone(model).fit(dataset)


@pytest.mark.parametrize("change", ["fewer rows", "flipped labels", "other weights", "a number"])
def test_a_block_that_changes_after_the_loss_of_an_actor_is_detected(change, monkeypatch):
    round_of_fit = RayRows.round

    def deadly_round(self, ask):
        actor, part = self._actors[1]
        (_,), first, shared = ray.get(part[0])
        # As of a task that Ray runs anew, since the node with its block is lost.
        self._actors[1] = actor, [ray.put(([ray.put(later)], first, shared))]
        ray.kill(actor, no_restart=False)
        return round_of_fit(self, ask)

    later, said = CHANGES[change]
    monkeypatch.setattr(RayRows, "round", deadly_round)
    dataset = on_ray(put([ROWS[:600], LAST]), target="y", columns=FEATURES, weight="w")
    with pytest.raises(DataChangedError, match=said):
        clone(MODEL).fit(dataset)


def kill_me(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_block_that_kills_each_process_raises_an_error_that_says_what_to_do():
    dataset = on_ray(put([ROWS]), target="y", columns=FEATURES)
    source = dataset.passes.source
    with pytest.raises(ClusterError, match="give them more, or make smaller blocks") as err:
        source.gather(source.map(kill_me))
    assert isinstance(err.value.__cause__, ray.exceptions.WorkerCrashedError)
    merged = source.submit(lambda results: len(results), source.map(kill_me))
    with pytest.raises(ClusterError, match="give them more, or make smaller blocks"):
        source.gather([merged])


def test_a_fit_ends_if_there_is_no_node(monkeypatch):
    monkeypatch.setattr(_patience, "_SAID_AFTER", 1.0)
    dataset = on_ray(put([ROWS]), target="y", columns=FEATURES, timeout=2)
    source = dataset.passes.source
    slow = source.map(lambda *_: time.sleep(30))
    monkeypatch.setattr(ray, "cluster_resources", dict)
    with (
        pytest.warns(UserWarning, match="no node of the cluster has CPUs; the fit waits"),
        pytest.raises(ClusterError, match="no node of the cluster has CPUs, for 2 s now"),
    ):
        source.gather(slow)
    ray.cancel(slow[0], force=True)


def test_an_invalid_value_is_named_with_its_block():
    parts = [ROWS[:600], ROWS[600:].assign(x=np.inf)]
    dataset = on_ray(put(parts), target="y", columns=FEATURES)
    with pytest.raises(ValueError, match=r"^column 'x' is inf in row 0 \(partition 1\)"):
        clone(MODEL).fit(dataset)


def test_input_that_is_not_blocks_is_rejected():
    for blocks in (ROWS, [ROWS], "blocks"):
        with pytest.raises(TypeError, match=r"blocks must be a ray\.data\.Dataset or a list"):
            on_ray(blocks)
    with pytest.raises(ValueError, match="blocks holds no block with rows"):
        on_ray([])
    with pytest.raises(ValueError, match="has no column 'z'"):
        on_ray(put([ROWS]), target="z")


def test_blocks_are_scored_and_evaluated(model):
    dataset = on_ray(put(cut(NEW, [0, 300])), target="y", weight="w")
    scores = model.decision_function(NEW[FEATURES])
    found = list(model.decision_function_batches(dataset))
    assert [len(some) for some in found] == [300, 700]
    np.testing.assert_array_equal(np.concatenate(found), scores)
    stays = dataset.scores(model, columns=["id"]).to_pandas()
    pd.testing.assert_frame_equal(stays, NEW[["id"]].assign(score=scores))
    besides = dataset.scores(model, proba=True).to_pandas()
    proba = model.predict_proba(NEW[FEATURES])[:, 1]
    pd.testing.assert_frame_equal(besides, pd.DataFrame({"score": scores, "probability": proba}))
    expected = roc_auc_score(NEW["y"], scores, sample_weight=NEW["w"])
    assert roc_state(model, dataset).auc() == expected

"""Fits to data sets: the same document as from one frame, however the rows are divided."""

import gc
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    AUCBoost,
    GradientBoostingRanker,
    MartiRank,
    RankBoost,
    RankingForest,
    SMartiRank,
    ThresholdBinarizer,
    TreeRank,
)
from aucrank.data import Dataset, _stored
from aucrank.tree import LeafRank, ValidationPruning
from sklearn.base import clone

from tests.common.parts import FEATURES, mixed_rows, write_parts
from tests.common.paths import CHECKOUT
from tests.common.spilled import sizes_without_a_name

TREES = {
    "orthogonal": TreeRank(random_state=1),
    "leafrank": TreeRank(split="leafrank", min_samples_leaf=1, leaf_order="tree", random_state=2),
    "drawn": TreeRank(split=LeafRank(max_depth=2), max_features=2, random_state=3),
    "penalty": TreeRank(pruning="penalty"),
    "validation": TreeRank(pruning=ValidationPruning(fraction=0.3), max_bins=16, random_state=4),
    "monotone": TreeRank(pruning=None, monotonic_cst={"x": 1}, max_fpr=0.4, max_leaves=9),
    "balanced": TreeRank(class_weight="balanced", level_rates="raw", max_bins=None, random_state=5),
}

BOOSTERS = {
    "forest": RankingForest(n_estimators=7, oob_score=True, random_state=1),
    "forest of rankings": RankingForest(
        n_estimators=3, split="leafrank", aggregation="rank_mean", max_samples=200, random_state=2
    ),
    "rank boost": RankBoost(n_rounds=20, random_state=3),
    "by features": RankBoost(n_rounds=12, weak_ranker="feature", max_bins=None, random_state=13),
    "monotone boost": RankBoost(
        n_rounds=12, monotonic_cst={"x": 1}, level_rates="raw", random_state=15
    ),
    "window": RankBoost(n_rounds=12, selection="window", random_state=14),
    "stopped": RankBoost(n_rounds=60, early_stopping=True, random_state=4),
    "top": RankBoost(n_rounds=20, max_fpr=0.1, early_stopping=True, random_state=11),
    "top pairs": GradientBoostingRanker(
        n_rounds=20, loss="pair_exponential", max_fpr=0.2, random_state=12
    ),
    "auc boost": AUCBoost(n_rounds=10, weak_ranker="threshold", subsample=0.5, random_state=5),
    "gradient": GradientBoostingRanker(n_rounds=30, random_state=6),
    "pairs": GradientBoostingRanker(n_rounds=20, loss="pair_logistic", random_state=7),
    "bags": GradientBoostingRanker(n_rounds=10, n_bags=2, class_weight="balanced", random_state=8),
    "marti": MartiRank(n_rounds=3, random_state=9),
    "sampled marti": SMartiRank(n_rounds=3, sample_size=200, random_state=10),
}


def document(ranker):
    return ranker._to_document()


def dataset_of(rows, chunk_rows, weight=None, **kwargs):
    return Dataset.from_batches(
        rows, target="y", weight=weight, columns=FEATURES, chunk_rows=chunk_rows, **kwargs
    )


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", [*TREES, *BOOSTERS])
def test_a_fit_to_pieces_equals_that_to_one_frame(name, weight):
    # A piece of a single row takes as long to read as one of a thousand.
    ranker, rows = (TREES | BOOSTERS)[name], mixed_rows(200 if name == "penalty" else 700)
    whole = clone(ranker).fit(rows[FEATURES], rows["y"], None if weight is None else rows[weight])
    for chunk_rows in (1 if name == "penalty" else 61, 350, 10_000):
        fitted = clone(ranker).fit(dataset_of(rows, chunk_rows, weight))
        assert document(fitted) == document(whole)
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.feature_names_in_.tolist() == FEATURES


def test_the_order_and_division_of_files_do_not_matter_to_a_tree(tmp_path):
    rows = mixed_rows(900)
    whole = TreeRank(random_state=0).fit(rows[FEATURES], rows["y"], rows["w"])
    # Files of one class, of one category, and one of a single row.
    rows = rows.sort_values(["y", "colour"], na_position="first")
    write_parts(tmp_path, rows, [1, 200, 201, 650])
    dataset = Dataset.from_parquet(tmp_path, target="y", weight="w", columns=FEATURES)
    assert document(TreeRank(random_state=0).fit(dataset)) == document(whole)


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize(
    "ranker",
    [
        TreeRank(max_depth=4, random_state=0),
        GradientBoostingRanker(n_rounds=5, random_state=0),
    ],
)
def test_cuts_are_computed_from_a_sample_if_rows_are_many(ranker, weight):
    rng = np.random.default_rng(0)
    n = 230_000
    rows = pd.DataFrame({"a": rng.normal(size=n), "b": rng.integers(0, 40, n), "w": rng.random(n)})
    # Of the towns, most have too few rows for a code of their own.
    rows["town"] = pd.Series(np.char.mod("t%d", (3000 * rng.random(n) ** 3).astype(int)))
    rows["y"] = (rows["a"] + rng.normal(size=n) > 1).astype(int)
    given, columns = None if weight is None else rows[weight], ["a", "b", "town"]
    whole = clone(ranker).fit(rows[columns], rows["y"], given)
    shuffled = rows.sample(frac=1, random_state=0) if isinstance(ranker, TreeRank) else rows
    dataset = Dataset.from_batches(shuffled, target="y", weight=weight, columns=columns)
    assert document(clone(ranker).fit(dataset)) == document(whole)


def test_many_codes_are_stored_in_a_file(monkeypatch, tmp_path):
    rows, found = mixed_rows(500), []
    whole = TreeRank(random_state=0).fit(rows[FEATURES], rows["y"])
    monkeypatch.setattr(_stored, "_IN_MEMORY", 100)
    fit_rows = TreeRank._fit_rows

    def look(self, stored, params, context):
        # Where the system allows it, the file has no name once it is open.
        if sys.platform == "linux":
            assert os.listdir(tmp_path) == []
            found.extend(sizes_without_a_name())
        elif files := list(tmp_path.iterdir()):
            found.extend(path.stat().st_size for path in files)
        else:
            found.append(stored.n_file_bytes)
        assert stored.n_file_bytes in found
        return fit_rows(self, stored, params, context)

    monkeypatch.setattr(TreeRank, "_fit_rows", look)
    fitted = TreeRank(random_state=0).fit(dataset_of(rows, 100, spill_dir=tmp_path))
    assert document(fitted) == document(whole)
    assert found
    gc.collect()
    assert os.listdir(tmp_path) == []


KILLED = """
import os, signal, sys
from aucrank import TreeRank
from aucrank.data import Dataset, _stored
from tests.common.parts import FEATURES, mixed_rows
_stored._IN_MEMORY = 0
def die(self, stored, params, context):
    assert stored.n_file_bytes > 0
    os.kill(os.getpid(), signal.SIGKILL)
TreeRank._fit_rows = die
dataset = Dataset.from_batches(mixed_rows(500), target="y", columns=FEATURES, spill_dir=sys.argv[1])
TreeRank(random_state=0).fit(dataset)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="open files have names on Windows")
def test_a_fit_that_is_killed_leaves_no_file(tmp_path):
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(CHECKOUT), *sys.path])}
    command = [sys.executable, "-P", "-c", KILLED, str(tmp_path)]
    assert subprocess.run(command, env=env, check=False).returncode == -signal.SIGKILL
    assert os.listdir(tmp_path) == []


def test_a_fit_that_fails_leaves_no_file(monkeypatch, tmp_path):
    monkeypatch.setattr(_stored, "_IN_MEMORY", 100)

    def fail(self, stored, params, context):
        raise RuntimeError("no")

    monkeypatch.setattr(TreeRank, "_fit_rows", fail)
    ranker = TreeRank()
    with pytest.raises(RuntimeError, match="no"):
        ranker.fit(dataset_of(mixed_rows(300), 100, spill_dir=tmp_path))
    assert os.listdir(tmp_path) == []
    assert not hasattr(ranker, "classes_")


def test_a_deleted_spill_folder_is_named_in_the_error(monkeypatch, tmp_path):
    monkeypatch.setattr(_stored, "_IN_MEMORY", 100)
    folder = tmp_path / "gone"
    folder.mkdir()
    dataset = dataset_of(mixed_rows(300), 100, spill_dir=folder)
    folder.rmdir()
    with pytest.raises(OSError, match="gone"):
        TreeRank().fit(dataset)


REFUSED = {
    "split is 'dyadic', which needs all rows in a frame": TreeRank(split="dyadic"),
    "missing is 'cell_mean', which needs all rows in a frame": TreeRank(missing="cell_mean"),
    "pruning of the LeafRank": TreeRank(split=LeafRank(pruning="cv")),
    "weak_ranker is 'linear'": RankBoost(weak_ranker="linear"),
    "calibration is 'auto'": RankBoost(calibration="auto"),
    "class_weight is 'balanced'": AUCBoost(class_weight="balanced"),
    "warm_start is True": GradientBoostingRanker(warm_start=True),
    "interactions is 3": GradientBoostingRanker(interactions=3),
    "interactions is 'auto'": GradientBoostingRanker(interactions="auto"),
    "routing is 'sampled'": MartiRank(routing="sampled"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_estimators_that_need_a_frame_are_named_in_the_error(message):
    ranker = REFUSED[message]
    with pytest.raises(ValueError, match=f"^{message}"):
        ranker.fit(dataset_of(mixed_rows(100), 50))
    assert not hasattr(ranker, "classes_")


def test_estimators_without_support_for_a_dataset_raise_an_error():
    with pytest.raises(TypeError, match=r"^X is a Dataset, whose rows need not fit in memory"):
        ThresholdBinarizer().fit(dataset_of(mixed_rows(100), 50))


def test_labels_and_weights_are_those_of_the_data_set():
    rows = mixed_rows(100)
    for given in ({"y": rows["y"]}, {"sample_weight": rows["w"]}):
        (name,) = given
        with pytest.raises(ValueError, match=f"^{name} was given with a Dataset"):
            TreeRank().fit(dataset_of(rows, 50), **given)
    with pytest.raises(ValueError, match="X_val was given with a Dataset"):
        TreeRank().fit(dataset_of(rows, 50), X_val=rows[FEATURES], y_val=rows["y"])


def test_infinity_is_named_with_its_row_and_batch():
    rows = mixed_rows(100)
    rows.loc[77, "x"] = np.inf
    with pytest.raises(ValueError, match=r"^column 'x' is inf in row 77 \(batch 0\)"):
        TreeRank().fit(dataset_of(rows, 50))


def test_progress_is_printed(capsys):
    TreeRank(verbose=1).fit(dataset_of(mixed_rows(300), 50))
    assert "[TreeRank] 10 of 10 folds" in capsys.readouterr().out


def test_reading_the_rows_counts_towards_a_time_limit(capsys, monkeypatch):
    facts = Dataset.facts

    def slow_facts(self, *args):
        time.sleep(0.3)
        return facts(self, *args)

    monkeypatch.setattr(Dataset, "facts", slow_facts)
    model = GradientBoostingRanker(
        n_rounds=50, learning_rate=0.1, max_leaves=4, time_limit=0.2, verbose=2, random_state=0
    )
    model.fit(Dataset.from_batches(mixed_rows(500), target="y", columns=FEATURES))
    said = [line for line in capsys.readouterr().out.splitlines() if " of 50 rounds" in line]
    assert len(said) == 1

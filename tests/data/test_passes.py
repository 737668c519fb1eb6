"""RIMARC, MAD2C and Scorecard in passes over a data set: the same document as from one frame."""

import json
import os
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    AURORA,
    MAD2C,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    RankBoost,
    Scorecard,
)
from aucrank.data import Dataset, _raw, _scores
from aucrank.data._gathered import ScoresOf
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from tests.common.estimators import SHORT_SEARCH
from tests.common.parts import FEATURES, mixed_rows, on_dask, write_parts
from tests.common.spilled import n_spilled_bytes

MODELS = {
    "rimarc": RIMARC(),
    "value": RIMARC(missing="value", shrinkage=3.0, level_rates="raw"),
    "folds": RIMARC(weight_folds=5, random_state=1),
    "folds of all": RIMARC(
        weight_folds=3,
        missing="value",
        class_weight="balanced",
        special_values={"count": [0, 7]},
        random_state=2,
    ),
    "special": RIMARC(special_values=[0.0, 3.0, -9.0], class_weight={"no": 2.5, "yes": 1}),
    "up": RIMARC(monotonic_cst={"x": 1, "small": -1}, weight_folds=4, random_state=7),
    "mad2c": MAD2C(),
    "down": MAD2C(monotonic_cst={"x": -1, "count": -1}, special_values={"count": [2]}),
    "listed": MAD2C(categorical_features=["colour", "count", "flag"]),
}

#: Frozen rankers have seen other rows, without one category, and with one of their own.
EARLIER = mixed_rows(400, seed=5).replace({"colour": {"amber": "violet"}})

CARDS = {
    "card": Scorecard(
        estimator=GradientBoostingRanker.additive(
            n_rounds=20, max_bins=16, refit=True, random_state=0
        )
    ),
    "card of rimarc": Scorecard(estimator=RIMARC()),
    "card of folds": Scorecard(
        estimator=RIMARC(missing="value", weight_folds=3, shrinkage=2.0),
        special_values={"count": [0, 7]},
        monotone=["x"],
        min_bin_share=0.05,
        high_points="negative",
        class_weight="balanced",
        random_state=1,
    ),
    "card with values apart": Scorecard(
        estimator=GradientBoostingRanker.additive(
            n_rounds=30, monotonic_cst={"x": 1}, calibration="auto", random_state=0
        ),
        special_values={"count": [0, 7], "x": [0.5]},
        class_weight={"no": 2.5, "yes": 1},
    ),
    "card of directions": Scorecard(
        monotone={"x": -1},
        special_values={"x": [0.5]},
    ),
    "card of thresholds": Scorecard(
        estimator=AUCBoost(n_rounds=9, weak_ranker="threshold", calibration="auto"),
        base_points=500.0,
        base_odds=50.0,
        pdo=45.0,
        monotone=True,
        categorical_features=["colour", "count"],
        random_state=2,
    ),
    "card of features": Scorecard(estimator=RankBoost(n_rounds=9), random_state=3),
    "card of frozen": Scorecard(
        estimator=FrozenEstimator(RIMARC().fit(EARLIER[FEATURES], EARLIER["y"]))
    ),
    "card of frozen boosting": Scorecard(
        estimator=FrozenEstimator(
            GradientBoostingRanker.additive(n_rounds=20, random_state=4).fit(
                EARLIER[FEATURES], EARLIER["y"]
            )
        ),
        special_values=[3.0],
    ),
}
MODELS |= CARDS


def dataset_of(rows, chunk_rows, weight=None, columns=FEATURES):
    return Dataset.from_batches(
        rows, target="y", weight=weight, columns=columns, chunk_rows=chunk_rows
    )


def check_same_fit(model, dataset, rows, columns=FEATURES):
    """The document of a fit to a data set is that of the fit to a frame."""
    weight = None if dataset.weight is None else rows[dataset.weight]
    whole = clone(model).fit(rows[columns], rows["y"], weight)
    fitted = clone(model).fit(dataset)
    assert fitted._to_document() == whole._to_document()
    return fitted


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", MODELS)
def test_a_fit_to_pieces_equals_that_to_one_frame(name, weight):
    # A card reads the pieces four times more.
    rows = mixed_rows(300 if name in CARDS else 600)
    for chunk_rows in (61, 250, 10_000):
        fitted = check_same_fit(MODELS[name], dataset_of(rows, chunk_rows, weight), rows)
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.feature_names_in_.tolist() == FEATURES


@pytest.mark.parametrize("name", ["folds", "card of rimarc"])
def test_pieces_may_be_single_rows(name):
    rows = mixed_rows(50)
    check_same_fit(MODELS[name], dataset_of(rows, 1, "w"), rows)


def test_integer_weights_equal_copies():
    rows = mixed_rows(400).assign(w=np.arange(400) % 4)
    fitted = check_same_fit(MODELS["folds"], dataset_of(rows, 77, "w"), rows)
    copies = rows.loc[rows.index.repeat(rows["w"])]
    again = clone(MODELS["folds"]).fit(dataset_of(copies, 100))
    assert again._to_document() == fitted._to_document()


def test_the_order_and_division_of_files_do_not_matter(tmp_path):
    rows = mixed_rows(900)
    # Files of one class, of one category, and one of a single row.
    parts = rows.sort_values(["y", "colour"], na_position="first")
    write_parts(tmp_path, parts, [1, 200, 201, 650])
    dataset = Dataset.from_parquet(tmp_path, target="y", weight="w", columns=FEATURES)
    check_same_fit(MODELS["folds of all"], dataset, rows)


def odd_columns(n):
    """Columns that need many passes, and others that need few."""
    rng = np.random.default_rng(0)
    u, y = rng.random(n), rng.random(n) < 0.3
    tiny = np.ldexp(rng.integers(-50, 50, n).astype(float), -1074)
    return pd.DataFrame(
        {
            "constant": np.full(n, 2.5),
            "missing": np.full(n, np.nan),
            "one class": np.where(y, u, np.nan),
            "few": rng.integers(0, 5, n),
            "zeros": np.where(u < 0.5, -0.0, 0.0),
            "subnormal": tiny,
            "outliers": np.where(rng.random(n) < 0.01, 1e300 * (u - 0.5), u + 0.2 * y),
            "crowded": 1 + 1e-12 * rng.random(n) + 1e-13 * y,
            "noise": rng.normal(size=n),
            "sorted": np.sort(u),
            "single": rng.normal(size=n).astype(np.float32) - 0.1 * y,
            "y": y.astype(int),
        }
    )


@pytest.mark.parametrize("weight_folds", [None, 3])
def test_columns_of_every_kind_are_cut_as_in_one_frame(weight_folds):
    rows = odd_columns(7000)
    columns = [name for name in rows if name != "y"]
    model = RIMARC(weight_folds=weight_folds, random_state=0)
    check_same_fit(model, dataset_of(rows, 1500, columns=columns), rows, columns)


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("weight_folds", [None, 10])
def test_more_values_than_cells_take_more_passes(weight, weight_folds, monkeypatch):
    questions = []
    answer = _raw.ReadRows.round
    monkeypatch.setattr(
        _raw.ReadRows, "round", lambda self, ask: questions.append(ask) or answer(self, ask)
    )
    n = 230_000
    rows = odd_columns(n)[["noise", "outliers", "few", "y"]]
    rows["w"] = np.random.default_rng(1).random(n)
    columns = ["noise", "outliers", "few"]
    model = RIMARC(weight_folds=weight_folds, random_state=0)
    check_same_fit(model, dataset_of(rows, 65_536, weight, columns), rows, columns)
    # With folds, the first pass computes their assignment.
    assert len(questions) >= (2 if weight_folds is None else 3)


def test_rows_that_cannot_be_split_into_folds_are_weighted_together():
    rows = mixed_rows(60)
    # All positive rows are copies of one another.
    positive = rows[rows["y"] == "yes"]
    copies = positive.iloc[[0] * len(positive)]
    rows = pd.concat([rows[rows["y"] == "no"], copies], ignore_index=True)
    with pytest.warns(UserWarning, match="no row can be left out"):
        fitted = clone(MODELS["folds"]).fit(dataset_of(rows, 7))
    assert fitted.weight_folds_ is None
    with pytest.warns(UserWarning, match="no row can be left out"):
        whole = clone(MODELS["folds"]).fit(rows[FEATURES], rows["y"])
    assert fitted._to_document() == whole._to_document()


def test_infinity_is_named_with_its_row_and_batch():
    rows = mixed_rows(100)
    rows.loc[77, "x"] = np.inf
    model = RIMARC()
    with pytest.raises(ValueError, match=r"^column 'x' is inf in row 77 \(batch 0\)"):
        model.fit(dataset_of(rows, 50))
    assert not hasattr(model, "classes_")


def test_special_values_are_checked_by_column():
    with pytest.raises(ValueError, match="special_values has numbers for column 'colour'"):
        MAD2C(special_values={"colour": [1]}).fit(dataset_of(mixed_rows(100), 50))


def test_labels_and_weights_are_those_of_the_data_set():
    rows = mixed_rows(100)
    with pytest.raises(ValueError, match=r"^y was given with a Dataset"):
        RIMARC().fit(dataset_of(rows, 50), rows["y"])


def test_progress_is_printed_by_pass():
    class Printing(RIMARC):
        verbose = 2

    lines = []
    printing = Printing(weight_folds=3, random_state=0)
    printing._progress_line = lambda unit, number, most, figures: lines.append((unit, number, most))
    printing.fit(dataset_of(mixed_rows(300), 50))
    assert lines[:2] == [("pass", 1, None), ("pass", 2, None)]


def test_a_card_prints_its_passes_after_those_of_its_ranker():
    lines = []

    class Printing(Scorecard):
        verbose = 2

        def _progress_line(self, unit, number, most, figures):
            lines.append((unit, number, most))

    Printing(estimator=RIMARC()).fit(dataset_of(mixed_rows(300), 50))
    assert lines == [("pass", number, 4) for number in (1, 2, 3, 4)]


def test_a_card_of_a_ranker_of_the_sample_counts_all_rows(monkeypatch):
    rows = mixed_rows(300)
    model = Scorecard(estimator=AURORA(order=1, **SHORT_SEARCH), random_state=0)
    check_same_fit(model, dataset_of(rows, 70), rows)
    # Of 60 rows, which lack a category.
    monkeypatch.setattr("aucrank.data._sampled.MOST_ROWS", 60)
    with pytest.warns(UserWarning, match="AURORA is fitted to 60 of 300 rows"):
        card = clone(model).fit(dataset_of(rows, 70))
    assert json.loads(card._model.to_json())["total"]["rows"] == 300
    found = card.score_table()
    assert found["size"].sum() == 300
    assert card.auc_ == pytest.approx(card.score(rows[FEATURES], rows["y"]), abs=1e-15)


def test_rows_in_the_same_bins_have_one_total():
    rows = pd.DataFrame({"constant": 2.5, "missing": np.nan, "y": [0, 1] * 30})
    columns = ["constant", "missing"]
    fitted = check_same_fit(
        Scorecard(estimator=RIMARC()), dataset_of(rows, 7, columns=columns), rows, columns
    )
    assert fitted.points_range_ == (600, 600)


def test_a_card_has_columns_of_every_kind_as_in_one_frame():
    rows = odd_columns(7000)
    columns = [name for name in rows if name != "y"]
    booster = GradientBoostingRanker.additive(n_rounds=4, max_bins=16, random_state=0)
    for ranker in (booster, RIMARC(missing="value")):
        model = Scorecard(estimator=ranker, special_values=[0.0])
        check_same_fit(model, dataset_of(rows, 1500, columns=columns), rows, columns)


@pytest.mark.parametrize("weight", [None, "w"])
def test_many_scores_of_a_card_are_stored_in_files(weight, monkeypatch, tmp_path):
    before, add = n_spilled_bytes(tmp_path), ScoresOf.add
    n_bytes = []

    def look(self, *args):
        add(self, *args)
        n_bytes.append(n_spilled_bytes(tmp_path) - before)

    monkeypatch.setattr(ScoresOf, "add", look)
    monkeypatch.setattr(_scores, "_IN_MEMORY", 2**20)
    n = 230_000
    columns = ["noise", "outliers", "crowded", "sorted", "single"]
    rows = odd_columns(n)[[*columns, "y"]]
    rows["w"] = np.random.default_rng(1).random(n)
    dataset = Dataset.from_batches(
        rows, target="y", weight=weight, columns=columns, spill_dir=tmp_path
    )
    check_same_fit(Scorecard(estimator=RIMARC(), pdo=200.0), dataset, rows, columns)
    assert max(n_bytes) > 2**16
    assert os.listdir(tmp_path) == []


def test_a_card_of_a_ranker_that_needs_a_frame_raises_an_error():
    class OfFrames(RIMARC):
        _fits_dataset = None

    card = Scorecard(estimator=OfFrames())
    with pytest.raises(TypeError, match=r"^OfFrames is fitted to a frame, not to a Dataset"):
        card.fit(dataset_of(mixed_rows(100), 50))
    other = Scorecard(estimator=GradientBoostingRanker.additive(n_bags=1, warm_start=True))
    with pytest.raises(ValueError, match=r"^warm_start is True, which needs all rows in a frame"):
        other.fit(dataset_of(mixed_rows(100), 50))
    assert not hasattr(card, "classes_")


# On a cluster


@pytest.fixture(scope="module")
def client():
    """Of two workers in this process."""
    distributed = pytest.importorskip("distributed", reason="fits on workers of distributed")
    pytest.importorskip("dask.dataframe", reason="reads data frames of dask")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def on_cluster(rows, n_parts, client, weight):
    """Return a data set of so many partitions, of which one is empty."""
    import dask
    import dask.dataframe as dd

    edges = [0, 0, *(len(rows) * part // n_parts for part in range(1, n_parts)), len(rows)]
    parts = [dask.delayed(rows[first:last]) for first, last in pairwise(edges)]
    collection = dd.from_delayed(parts, meta=rows[:0], verify_meta=False)
    return on_dask(collection, target="y", weight=weight, columns=FEATURES, client=client)


@pytest.mark.parametrize(
    ("name", "n_parts", "weight"),
    [
        ("rimarc", 1, None),
        ("folds of all", 2, "w"),
        ("folds", 7, None),
        ("down", 7, "w"),
        ("mad2c", 64, None),
        ("card", 1, "w"),
        ("card of folds", 2, "w"),
        ("card with values apart", 7, None),
        ("card of frozen", 7, "w"),
    ],
)
def test_a_fit_does_not_depend_on_partitions(name, n_parts, weight, client):
    rows = mixed_rows(700)
    check_same_fit(MODELS[name], on_cluster(rows, n_parts, client, weight), rows)


def test_an_invalid_value_is_named_with_its_partition(client):
    rows = mixed_rows(200)
    rows.loc[150, "x"] = np.inf
    with pytest.raises(ValueError, match=r"column 'x' is inf in row 50 \(partition 2\)"):
        RIMARC().fit(on_cluster(rows, 2, client, None))

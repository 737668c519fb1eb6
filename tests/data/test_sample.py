"""Fits to samples of a data set: all rows, or those of the least hashes, of all or by class."""

import pickle
import warnings

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank import AURORA, LinearRanker, RankOpt
from aucrank.data import Dataset, _sampled
from sklearn.base import clone

from tests.common.parts import FEATURES, mixed_rows

#: Without missing values and categories.
NUMBERS = ["small", "count", "z"]

AURORA_FEW = AURORA(max_features=6, radius=3.0, depth="shallow", random_state=1)

MODELS = {
    "aurora": AURORA_FEW,
    "folds": clone(AURORA_FEW).set_params(selection="cv", n_folds=3, max_features=4),
    "calibrated": clone(AURORA_FEW).set_params(calibration="auto", order=1),
    "typed": clone(AURORA_FEW).set_params(feature_types={"count": "categorical"}),
    "linear": LinearRanker(thresholds=3),
    "balanced": LinearRanker(class_weight="balanced"),
    "rank opt": RankOpt(radii=(1.0, 4.0)),
    "cut": RankOpt(objective="ramp", radii=(2.0,), calibration="sigmoid", class_weight="balanced"),
}


def rows_of(n=600, seed=0):
    rows = mixed_rows(n, seed)
    return rows.assign(z=rows["x"].fillna(0.5))


def features_of(ranker):
    return NUMBERS if isinstance(ranker, RankOpt) else FEATURES


def dataset_of(rows, ranker, chunk_rows=100, weight=None):
    return Dataset.from_batches(
        rows, target="y", weight=weight, columns=features_of(ranker), chunk_rows=chunk_rows
    )


def fitted_to_frame(ranker, rows, weight=None):
    given = None if weight is None else rows[weight]
    return clone(ranker).fit(rows[features_of(ranker)], rows["y"], given)


def sampled(dataset, ranker):
    facts = dataset.facts(clone(ranker), also=ranker._extra_categories())
    return dataset.sample(facts, 2, by_class=ranker._samples_classes)


def smalls(sample, rows=slice(None)):
    """The column of 32-bit floats, equal only in copies of a row."""
    return sample.columns[sample.schema.names.index("small")][rows]


def are_taken(rows, sample):
    """Return which rows of a frame are in a sample; of copies, those of a class may be."""
    is_yes = rows["y"] == "yes"
    yes, no = smalls(sample, sample.labels), smalls(sample, ~sample.labels)
    return np.where(is_yes, rows["small"].isin(yes), rows["small"].isin(no))


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", MODELS)
def test_a_fit_to_pieces_of_few_rows_equals_that_to_one_frame(name, weight):
    ranker, rows = MODELS[name], rows_of(300)
    whole = fitted_to_frame(ranker, rows, weight)
    for chunk_rows in (61, 10_000):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fitted = clone(ranker).fit(dataset_of(rows, ranker, chunk_rows, weight))
        assert fitted._to_document() == whole._to_document()
    assert fitted.sampled_rows_ is None
    assert fitted.feature_names_in_.tolist() == features_of(ranker)


def test_a_piece_may_have_one_row():
    ranker, rows = MODELS["linear"], rows_of(60)
    fitted = clone(ranker).fit(dataset_of(rows, ranker, 1, "w"))
    assert fitted._to_document() == fitted_to_frame(ranker, rows, "w")._to_document()


def with_copies():
    """Rows, some twice with another label and weight, and very rare categories."""
    rows = rows_of(900)
    rows.loc[::30, "colour"] = [f"only {index}" for index in range(30)]
    copies = rows[:300].assign(y=rows["y"][300:600].to_numpy(), w=rows["w"][300:600].to_numpy())
    return pd.concat([rows, copies], ignore_index=True)


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", MODELS)
def test_many_rows_are_sampled_for_the_fit(name, weight, monkeypatch):
    monkeypatch.setattr(_sampled, "MOST_ROWS", 400)
    ranker, rows = MODELS[name], with_copies()
    if name in ("balanced", "cut"):
        # By the classes of all rows.
        ranker = clone(ranker).set_params(class_weight={"no": 2.0, "yes": 0.5})
    sample = sampled(dataset_of(rows, ranker, 100, weight), ranker)
    taken = rows[are_taken(rows, sample)]
    if ranker._samples_classes:
        # The weight of a row is the number of rows of its class per sampled one.
        dataset = dataset_of(rows, ranker, 100, weight)
        facts = dataset.facts(clone(ranker), also=ranker._extra_categories())
        _, (low, high) = dataset.sample_of_classes(facts, 1, 200)
        factors = np.where(taken["y"] == "yes", 2**64 / (high + 1), 2**64 / (low + 1))
        taken = taken.assign(scaled=factors * (1.0 if weight is None else taken[weight]))
        expected = fitted_to_frame(ranker, taken, "scaled")
    else:
        expected = fitted_to_frame(ranker, taken, weight)
    shuffled = rows.sample(frac=1, random_state=0)
    for some, chunk_rows in ((rows, 450), (shuffled, 70)):
        with pytest.warns(UserWarning, match=f"is fitted to {len(taken)} of 1,200 rows, a sample"):
            fitted = clone(ranker).fit(dataset_of(some, ranker, chunk_rows, weight))
        assert fitted.sampled_rows_ == (len(taken), 1200)
        # All else is the same.
        del fitted._sampled_rows
        assert fitted._to_document() == expected._to_document()


def test_a_saved_model_records_its_sample(monkeypatch, tmp_path):
    monkeypatch.setattr(_sampled, "MOST_ROWS", 100)
    ranker, rows = clone(MODELS["linear"]), rows_of()
    with pytest.warns(UserWarning, match="is fitted to 100 of 600 rows"):
        ranker.fit(dataset_of(rows, ranker))
    ranker.save(tmp_path / "model.json")
    loaded = aucrank.load(tmp_path / "model.json")
    assert loaded.sampled_rows_ == pickle.loads(pickle.dumps(ranker)).sampled_rows_ == (100, 600)
    assert loaded._to_document() == ranker._to_document()
    assert ranker.fit(rows[FEATURES], rows["y"]).sampled_rows_ is None


def test_all_rows_of_a_rare_class_are_sampled(monkeypatch):
    monkeypatch.setattr(_sampled, "MOST_ROWS", 500)
    rows = rows_of(4000).sort_values("x", kind="stable")
    rows["y"] = np.where(np.arange(4000) % 50 == 0, "yes", "no")
    sample = sampled(dataset_of(rows, MODELS["linear"]), MODELS["linear"])
    assert sample.labels.sum() == 80
    assert (~sample.labels).sum() == 420
    assert (sample.weight[sample.labels] == 1).all()
    # Of n hashes, the share below the k-th is k / n with a deviation of sqrt(k) / n.
    assert abs(sample.weight[~sample.labels].sum() / 3920 - 1) < 5 / np.sqrt(420)


def test_weights_of_a_sample_by_class_add_up_to_about_those_of_all_rows(monkeypatch):
    monkeypatch.setattr(_sampled, "MOST_ROWS", 1000)
    rows = rows_of(4000)
    sample = sampled(dataset_of(rows, MODELS["linear"], weight="w"), MODELS["linear"])
    for is_of_class, label in ((~sample.labels, "no"), (sample.labels, "yes")):
        assert len(np.unique(smalls(sample, is_of_class & (sample.weight > 0)))) == 500
        share = sample.weight[is_of_class].sum() / rows["w"][rows["y"] == label].sum()
        assert abs(share - 1) < 5 * np.sqrt(2 / 500)


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_sample_has_the_requested_distinct_rows_with_all_their_copies(weight, monkeypatch):
    monkeypatch.setattr(_sampled, "MOST_ROWS", 250)
    ranker, rows = AURORA_FEW, with_copies()
    sample = sampled(dataset_of(rows, ranker, 100, weight), ranker)
    found = smalls(sample)
    weighing = found if weight is None else found[sample.weight > 0]
    assert len(np.unique(weighing)) == 250
    assert len(found) == rows["small"].isin(found).sum()
    assert len(found) > len(np.unique(found))


def test_the_sample_is_one_of_all_rows(monkeypatch):
    """Of a column that names the half of a row, each half has its share."""
    monkeypatch.setattr(_sampled, "MOST_ROWS", 1000)
    rows = rows_of(4000)
    found = smalls(sampled(dataset_of(rows, AURORA_FEW), AURORA_FEW))
    share = np.mean(rows["small"].isin(found) & (np.arange(4000) < 2000)) * 4
    # Five standard deviations of a hypergeometric share.
    assert abs(share - 0.5) < 5 * np.sqrt(0.25 / 1000 * 0.75)


def test_a_class_missing_from_the_sample_is_named_in_the_error(monkeypatch):
    monkeypatch.setattr(_sampled, "MOST_ROWS", 5)
    rows = rows_of(3000)
    rows["y"] = np.where(np.arange(3000) == 1234, "yes", "no")
    ranker = clone(AURORA_FEW)
    with pytest.raises(ValueError, match=r"^class 'yes' is so rare that none of its rows"):
        ranker.fit(dataset_of(rows, ranker))
    assert not hasattr(ranker, "classes_")


def test_a_warm_start_is_rejected_for_a_dataset():
    ranker = clone(AURORA_FEW).set_params(warm_start=True)
    with pytest.raises(ValueError, match=r"^warm_start is True, which needs all rows in a frame"):
        ranker.fit(dataset_of(rows_of(100), ranker))


def test_probabilities_are_calibrated_within_the_sample():
    ranker, rows = MODELS["calibrated"], rows_of()
    fitted = clone(ranker).fit(dataset_of(rows, ranker))
    expected = fitted_to_frame(ranker, rows).predict_proba(rows[FEATURES])
    assert np.array_equal(fitted.predict_proba(rows[FEATURES]), expected)

"""MAD2C against all sets of cuts and scikit-learn's AUC; invariances of the bins."""

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank import MAD2C
from aucrank.datasets import load_breast_cancer
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score, roc_curve

# The definition: the AUC of the shares of positives over all sets of cuts.


def auc_by_pairs(scores, y):
    """Share of pairs of a positive and a negative row in order, a tie counting one half."""
    pairs = [
        (s, t)
        for s, p in zip(scores, y, strict=True)
        if p
        for t, q in zip(scores, y, strict=True)
        if not q
    ]
    wins = sum(
        Fraction(1) if s > t else Fraction(1, 2) if s == t else Fraction(0) for s, t in pairs
    )
    return wins / len(pairs)


def all_cut_sets(values):
    distinct = np.unique(values)
    midpoints = (distinct[:-1] + distinct[1:]) / 2
    return chain.from_iterable(combinations(midpoints, size) for size in range(len(midpoints) + 1))


def best_by_enumeration(values, y):
    """Largest AUC of intervals ranked in the order of the feature, per direction, and the fewest
    cuts that reach it."""
    best = {}
    for direction in (1, -1):
        for cuts in all_cut_sets(values):
            number = direction * np.digitize(values, cuts)
            auc = auc_by_pairs(number, y)
            if auc > best.get(direction, (-1, ()))[0]:
                best[direction] = auc, cuts  # fewer cuts come first
    direction = 1 if best[1][0] >= best[-1][0] else -1
    return direction, *best[direction]


@st.composite
def labelled_numbers(draw, max_size=9):
    row = st.tuples(st.integers(-3, 4), st.booleans())
    rows = draw(st.lists(row, min_size=0, max_size=max_size - 2))
    values, y = zip(
        (draw(st.integers(-3, 4)), True), (draw(st.integers(-3, 4)), False), *rows, strict=True
    )
    return np.array(values, dtype=float), np.array(y)


@given(labelled_numbers())
def test_cuts_have_the_largest_auc_and_are_the_fewest_that_do(sample):
    values, y = sample
    direction, auc, cuts = best_by_enumeration(values, y)
    model = MAD2C().fit(values[:, None], y)
    assert model.directions_[0] == direction
    assert model.aucs_[0] == pytest.approx(float(auc), abs=1e-12)
    assert_array_equal(model.cut_points_[0], cuts)


@pytest.mark.parametrize("direction", [1, -1])
@given(labelled_numbers())
def test_a_requested_direction_is_kept(direction, sample):
    values, y = sample
    best = max(auc_by_pairs(direction * np.digitize(values, c), y) for c in all_cut_sets(values))
    model = MAD2C(monotonic_cst=[direction]).fit(values[:, None], y)
    assert model.directions_[0] == direction
    assert model.aucs_[0] == pytest.approx(float(best), abs=1e-12)


def test_cuts_are_the_corners_of_the_hull_of_the_curve():
    X, y = load_breast_cancer(return_X_y=True)
    model = MAD2C().fit(X, y)
    for j in range(X.shape[1]):
        fpr, tpr, thresholds = roc_curve(y, model.directions_[j] * X[:, j], drop_intermediate=False)
        # Upper hull by gift wrapping: from each corner to the farthest point of the steepest slope.
        corner, cuts = 0, []
        while corner < len(fpr) - 1:
            rise, run = tpr[corner + 1 :] - tpr[corner], fpr[corner + 1 :] - fpr[corner]
            angle = np.arctan2(rise, run)
            corner += 1 + int(
                np.flatnonzero(np.isclose(angle, angle.max(), rtol=0, atol=1e-12))[-1]
            )
            cuts.append(corner)
        values = model.directions_[j] * thresholds
        expected = sorted((values[c] + values[c + 1]) / 2 for c in cuts[:-1])
        assert_allclose(model.cut_points_[j], expected, rtol=1e-12)


# Output.


def mixed(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.35
    X = pd.DataFrame(
        {
            "up": (rng.normal(size=n) + y).round(1),
            "down": (rng.normal(size=n) - y).round(1),
            "noise": rng.integers(0, 5, n),
            "calls": np.where(rng.random(n) < 0.3 - 0.2 * y, -1, rng.poisson(3 + 2 * y)),
            "city": pd.Categorical(rng.choice(["Oslo", "Bergen", "Lund", "Turku"], n)),
            "plan": pd.Categorical(np.where(rng.random(n) < 0.3 + 0.4 * y, "pro", "free")),
        }
    )
    return X, y


SPECIAL = {"calls": [-1]}


@pytest.mark.parametrize("encode", ["ordinal", "rate"])
@pytest.mark.parametrize("special_values", [None, SPECIAL])
def test_the_transformed_column_has_the_auc_reported(encode, special_values):
    X, y = mixed()
    model = MAD2C(encode=encode, special_values=special_values).fit(X, y)
    found = model.transform(X)
    assert found.dtype == np.float64
    for j, (auc, direction) in enumerate(zip(model.aucs_, model.directions_, strict=True)):
        sign = direction if encode == "ordinal" else 1
        assert roc_auc_score(y, sign * found[:, j]) == pytest.approx(auc, abs=1e-12)
    assert model.directions_.tolist()[:2] == [1, -1]
    assert model.directions_.tolist()[4:] == [1, 1]


def test_categories_and_special_values_are_ranked_by_their_rates():
    X, y = mixed()
    model = MAD2C(special_values=SPECIAL).fit(X, y)
    found = model.transform(X)
    for j in range(X.shape[1]):
        rates = pd.Series(y).groupby(found[:, j]).mean()
        assert_array_equal(rates.index, np.arange(model.n_bins_[j]))
        assert (np.diff(rates) * model.directions_[j] >= 0).all()
    apart = found[X["calls"] == -1, 3]
    assert len(set(apart)) == 1
    assert apart[0] not in found[X["calls"] != -1, 3]


def test_shares_that_differ_little_are_numbered_in_their_order():
    kinds = np.repeat(["a", "b"], [1003, 1001])
    y = np.concatenate([np.arange(1003) < 501, np.arange(1001) < 500])
    table = MAD2C().fit(pd.DataFrame({"kind": pd.Categorical(kinds)}), y).bins()
    # 500 of 1001 is less than 501 of 1003, by one in a million.
    assert table["rule"].tolist() == ["kind = b", "kind = a"]


def test_equal_shares_are_numbered_in_the_order_of_the_categories():
    X = pd.DataFrame({"c": pd.Categorical(list("bbaaccdd"))})
    y = [0, 1, 0, 1, 1, 1, 0, 0]
    rows = pd.DataFrame({"c": pd.Categorical(list("abcd"))})
    assert MAD2C().fit(X, y).transform(rows).ravel().tolist() == [1, 2, 3, 0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_rates_are_those_of_the_training_rows_of_the_bin(dtype):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 12, size=(200, 3)).astype(dtype)
    y = rng.random(200) < 0.2 + 0.05 * X[:, 0]
    weight = rng.integers(0, 4, 200).astype(float)
    number = MAD2C().fit(X, y, weight).transform(X)
    rates = MAD2C(encode="rate").fit(X, y, weight).transform(X)
    for j in range(3):
        for k in np.unique(number[:, j]):
            rows = number[:, j] == k
            assert_allclose(rates[rows, j], np.average(y[rows], weights=weight[rows]), rtol=1e-15)


def test_onehot_encoding_has_one_column_per_bin():
    X, y = mixed()
    X.loc[:9, "up"] = np.nan
    model = MAD2C(encode="onehot-dense", special_values=SPECIAL).fit(X, y)
    found = model.transform(X)
    number = MAD2C(special_values=SPECIAL).fit_transform(X, y)
    expected = np.hstack(
        [number[:, [j]] == np.arange(k) for j, k in enumerate(model.n_bins_)]
    ).astype(float)
    assert_array_equal(found, expected)
    assert_array_equal(found[:10, : model.n_bins_[0]], 0)
    names = model.get_feature_names_out()
    assert len(names) == len(set(names)) == found.shape[1]
    # Names of columns.
    for name, column in zip(names, found.T, strict=True):
        feature, _, said = name.partition("_")
        match said.split("_"):
            case ["known"]:
                inside = X[feature].notna()
            case ["below", high]:
                inside = X[feature] < float(high)
            case ["from", low]:
                inside = X[feature] >= float(low)
            case [low, "to", high]:
                inside = (X[feature] >= float(low)) & (X[feature] < float(high))
            case ["is", value]:
                inside = X[feature] == float(value)
            case [level]:
                inside = X[feature] == level
        if feature == "calls" and said != "is_-1":
            inside &= X[feature] != -1
        assert_array_equal(column, inside.astype(float), err_msg=name)


def test_names_of_close_cuts_differ():
    X = [[1.0], [1.0 + 1e-9], [1.0 + 2e-9]] * 2
    model = MAD2C(encode="onehot-dense").fit(X, [0, 0, 1, 0, 1, 1])
    names = model.get_feature_names_out()
    assert len(set(names)) == model.n_bins_[0] == 3


def test_unknown_column_names_are_rejected():
    X, y = mixed()
    model = MAD2C(encode="onehot-dense").fit(X.to_numpy()[:, :3].astype(float), y)
    assert model.get_feature_names_out(["a", "b", "c"])[0].startswith("a_")
    with pytest.raises(ValueError, match="length"):
        model.get_feature_names_out(["a"])
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        MAD2C().fit(X, y).get_feature_names_out(list("abcdef"))


# Missing values and those that no training row had.


def test_missing_values_stay_missing():
    X, y = mixed()
    gaps = X.astype(object)
    gaps.iloc[::7, 0] = None
    gaps.iloc[::5, 4] = np.nan
    gaps = gaps.astype({"up": float, "city": "category"})
    model = MAD2C(categorical_features=["city", "plan"]).fit(gaps, y)
    for encode in ("ordinal", "rate"):
        found = model.set_params(encode=encode).transform(gaps)
        assert_array_equal(np.isnan(found), gaps.isna().to_numpy())
    for j, name in enumerate(("up", "city")):
        known = gaps[name].notna().to_numpy()
        alone = MAD2C().fit(X.loc[known, [name]], y[known])
        assert alone.aucs_[0] == model.aucs_[4 * j]
        bins = model.bins()
        last = {column: values[bins["feature"] == name][-1] for column, values in bins.items()}
        assert last["rule"] == f"{name} is missing"
        assert np.isnan(last["bin"])
        assert (last["size"], last["n_pos"]) == ((~known).sum(), y[~known].sum())


def test_values_unseen_in_training_are_missing():
    X = pd.DataFrame(
        {"x": [1.0, 2, 3, 4], "c": pd.Categorical(list("aabb")), "never": [np.nan] * 4}
    )
    y = [0, 1, 0, 1]
    model = MAD2C(special_values={"x": [9]}).fit(X, y)
    rows = pd.DataFrame({"x": [9.0], "c": pd.Categorical(["z"]), "never": [1.0]})
    assert np.isnan(model.transform(rows)).all()
    assert model.n_bins_.tolist() == [3, 2, 0]
    assert model.aucs_[2] == 0.5
    dense = model.set_params(encode="onehot-dense").transform(rows)
    assert dense.tolist() == [[0.0] * 5]
    assert len(model.get_feature_names_out()) == 5
    assert "x = 9" not in model.bins()["rule"]


def test_a_value_equal_to_a_cut_lies_above_it():
    model = MAD2C().fit([[1.0], [2.0]], [0, 1])
    assert_array_equal(model.cut_points_[0], [1.5])
    below = np.nextafter(1.5, 0)
    assert model.transform([[below], [1.5]]).ravel().tolist() == [0, 1]


# Invariances of the bins.


def same(model, other):
    assert repr(model.bins()) == repr(other.bins())
    assert_array_equal(model.aucs_, other.aucs_)
    assert model._model.to_json() == other._model.to_json()


def test_threads_and_the_order_of_rows_change_nothing():
    X, y = mixed(2000)
    weight = np.random.default_rng(2).random(2000)
    model = MAD2C(n_jobs=1).fit(X, y, weight)
    same(model, MAD2C(n_jobs=2).fit(X, y, weight))
    order = np.random.default_rng(3).permutation(2000)
    same(model, MAD2C(n_jobs=1).fit(X.iloc[order], y[order], weight[order]))


def test_weight_k_equals_k_copies():
    X, y = mixed()
    times = np.random.default_rng(4).integers(0, 4, len(y))
    weighted = MAD2C(special_values=SPECIAL).fit(X, y, times)
    again = np.repeat(np.arange(len(y)), times)
    copied = MAD2C(special_values=SPECIAL).fit(X.iloc[again], y[again])
    assert repr(weighted.bins()) == repr(copied.bins())
    assert_array_equal(weighted.aucs_, copied.aucs_)
    assert_array_equal(weighted.transform(X), copied.transform(X))


def test_a_negated_feature_changes_its_direction_alone():
    X, y = mixed()
    numbers = X[["up", "down", "noise"]].to_numpy(dtype=float)
    model, negated = MAD2C().fit(numbers, y), MAD2C().fit(-numbers, y)
    assert_array_equal(negated.directions_[:2], -model.directions_[:2])
    assert_array_equal(negated.aucs_, model.aucs_)
    for cuts, others in zip(model.cut_points_[:2], negated.cut_points_[:2], strict=True):
        assert_array_equal(others, -cuts[::-1])


def test_swapped_labels_mirror_the_bins():
    # No two cities with the same share, which would stay in the order of their names.
    X, y = mixed(seed=1)
    assert pd.Series(y).groupby(X["city"], observed=True).mean().nunique() == 4
    model, swapped = (
        MAD2C(special_values=SPECIAL).fit(X, y),
        MAD2C(special_values=SPECIAL).fit(X, ~y),
    )
    assert_array_equal(swapped.aucs_, model.aucs_)
    found, mirrored = model.transform(X), swapped.transform(X)
    for j in range(X.shape[1]):
        is_category = model.cut_points_[j] is None
        assert swapped.directions_[j] == (1 if is_category else -model.directions_[j])
        top = model.n_bins_[j] - 1
        assert_array_equal(mirrored[:, j], top - found[:, j] if is_category else found[:, j])
    rates = MAD2C(encode="rate", special_values=SPECIAL)
    assert_allclose(rates.fit_transform(X, ~y), 1 - rates.fit_transform(X, y), atol=1e-15)


def test_a_monotone_change_of_a_feature_changes_no_bin():
    X, y = load_breast_cancer(return_X_y=True)
    assert_array_equal(
        MAD2C().fit(X, y).transform(X), MAD2C().fit(np.cbrt(X), y).transform(np.cbrt(X))
    )


def test_every_kind_of_frame_gives_the_same_bins():
    X, y = mixed()
    X.loc[:20, "up"] = np.nan
    X.loc[10:30, "city"] = None
    model = MAD2C().fit(X, y)
    assert model.feature_names_in_.tolist() == list(X)
    found = model.transform(X)
    polars = pl.from_pandas(X)
    for frame in (polars, polars.to_arrow(), X.convert_dtypes()):
        other = MAD2C().fit(frame, y)
        assert repr(other.bins()) == repr(model.bins())
        assert_array_equal(other.transform(frame), found)
        assert_array_equal(model.transform(frame), found)
    assert isinstance(polars.to_arrow(), pa.Table)
    listed = MAD2C(categorical_features=[4, 5]).fit(X.astype(object).to_numpy(), y)
    assert_array_equal(listed.transform(X.astype(object).to_numpy()), found)


# The table.


def test_the_table_adds_up_to_the_training_rows():
    X, y = mixed()
    X.loc[::9, "down"] = np.nan
    model = MAD2C(special_values=SPECIAL).fit(X, y)
    bins = model.bins()
    assert list(bins) == ["feature", "bin", "rule", "size", "n_pos", "rate", "direction"]
    assert list(dict.fromkeys(bins["feature"])) == list(X)
    found = model.transform(X)
    for j, name in enumerate(X):
        rows = bins["feature"] == name
        assert (bins["size"][rows].sum(), bins["n_pos"][rows].sum()) == (len(y), y.sum())
        assert set(bins["direction"][rows]) == {model.directions_[j]}
        for number, size, n_pos, rate in zip(
            *(bins[c][rows] for c in ("bin", "size", "n_pos", "rate")), strict=True
        ):
            inside = np.isnan(found[:, j]) if np.isnan(number) else found[:, j] == number
            assert (size, n_pos) == (inside.sum(), y[inside].sum())
            assert rate == pytest.approx(y[inside].mean(), abs=1e-15)
    calls = bins["rule"][bins["feature"] == "calls"]
    assert calls[0].endswith(" except -1")
    assert calls[-1] == "calls = -1"
    assert bins["size"].dtype.kind == "i"


def test_bins_are_described_as_rules():
    X = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": pd.Categorical(list("xyxy")), "k": [0.0] * 4})
    bins = MAD2C().fit(X, [0, 1, 0, 1], [0.5, 1, 1, 1]).bins()
    assert bins["rule"].tolist() == [
        "a < 1.5", "1.5 <= a < 3.5", "a >= 3.5", "b = x", "b = y", "k is known",
    ]  # fmt: skip
    assert bins["size"].tolist() == [0.5, 2, 1, 1.5, 2, 3.5]
    unnamed = MAD2C().fit([[1.0], [2.0]], [0, 1]).bins()
    assert unnamed["rule"].tolist() == ["x0 < 1.5", "x0 >= 1.5"]


# Bad input.


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        (
            {"encode": "onehot"},
            ValueError,
            "encode must be one of 'ordinal', 'onehot-dense', 'rate'",
        ),
        ({"encode": 1}, ValueError, "encode must be one of"),
        ({"special_values": "none"}, ValueError, "special_values must be a list"),
        ({"special_values": [np.nan]}, ValueError, "special_values.*got nan"),
        ({"special_values": {"z": [1]}}, ValueError, r"special_values names columns .*\['z'\]"),
        (
            {"special_values": {"city": [1]}},
            ValueError,
            "special_values .* column 'city', which is cat",
        ),
        ({"special_values": [True]}, ValueError, "special_values.*got True"),
        ({"monotonic_cst": [2] * 6}, ValueError, "monotonic_cst must be -1, 0 or 1, got 2"),
        ({"monotonic_cst": [1]}, ValueError, r"monotonic_cst has shape \(1,\)"),
        (
            {"monotonic_cst": {"city": 1}},
            ValueError,
            "column 'city' is categorical, so monotonic_cst",
        ),
        ({"categorical_features": "all"}, ValueError, "categorical_features must be"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
    ],
)
def test_a_bad_parameter_is_named_in_the_error(params, error, message):
    X, y = mixed()
    with pytest.raises(error, match=message):
        MAD2C(**params).fit(X, y)


def test_bad_rows_are_named_in_the_error():
    X, y = mixed()
    with pytest.raises(ValueError, match="column 'up' is inf in row 3"):
        MAD2C().fit(X.assign(up=X["up"].where(X.index != 3, np.inf)), y)
    model = MAD2C().fit(X, y)
    with pytest.raises(ValueError, match="column 'down' is -inf in row 5"):
        model.transform(X.assign(down=X["down"].where(X.index != 5, -np.inf)))
    with pytest.raises(ValueError, match="requires y to be passed"):
        MAD2C().fit(X, None)
    with pytest.raises(ValueError, match="only one class"):
        MAD2C().fit(X, np.zeros(len(y)))

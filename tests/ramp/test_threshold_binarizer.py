"""ThresholdBinarizer against numpy's percentiles and plain definitions; invariances."""

import pickle
import warnings
from inspect import signature

import aucrank
import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import ThresholdBinarizer
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import issparse
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder

EVERY_FIFTH = np.arange(5, 100, 5)


def thinned(values, share):
    """Return the values, sorted, no more copies of any than a share of all, but at least one."""
    most = max(1, int(np.floor(share * len(values))))
    distinct, counts = np.unique(values, return_counts=True)
    return np.repeat(distinct, np.minimum(counts, most))


def cut_at_percentiles(values, percentiles=EVERY_FIFTH, share=0.01):
    """Return the percentiles of the thinned values that each part all values in a new way."""
    found, n_below = [], 0
    for threshold in np.percentile(thinned(values, share), percentiles):
        below = (values < threshold).sum()
        if below > n_below:
            found.append(threshold)
            n_below = below
    return found


def cut_between_levels(values, share=0.001):
    """Return the midpoints of neighbours, unless both are rare."""
    distinct, counts = np.unique(values, return_counts=True)
    rare = counts < share * len(values)
    middles = (distinct[:-1] + distinct[1:]) / 2
    return middles[~(rare[:-1] & rare[1:])]


def mixed(n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.35
    X = pd.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(size=n)),
            "age": np.where(rng.random(n) < 0.3, 40, (rng.normal(40, 12, n) + 5 * y).round()),
            "calls": rng.poisson(3 + 2 * y).astype(float),
            "city": pd.Categorical(rng.choice(["Oslo", "Bergen", "Lund", "Turku"], n)),
            "plan": pd.Categorical(np.where(rng.random(n) < 0.3 + 0.4 * y, "pro", "free")),
        }
    )
    X.loc[rng.random(n) < 0.05, "city"] = None
    return X, y


# Thresholds.


@pytest.mark.parametrize("draw", ["normal", "standard_cauchy", "lognormal"])
def test_percentiles_are_those_of_numpy_to_the_last_bit(draw):
    values = getattr(np.random.default_rng(1), draw)(size=5000)
    model = ThresholdBinarizer().fit(values[:, None])
    assert_array_equal(model.thresholds_[0], np.percentile(values, EVERY_FIFTH))
    model = ThresholdBinarizer(percentiles=[99.5, 1, 33.3, 1]).fit(values[:, None])
    assert_array_equal(model.thresholds_[0], np.percentile(values, [1, 33.3, 99.5]))


@given(
    st.lists(st.one_of(st.integers(-30, 30), st.floats(-2, 2), st.just(7.5)), min_size=1),
    st.sampled_from([0.0, 0.01, 0.05, 1.0]),
)
def test_continuous_numbers_are_cut_at_percentiles_of_what_is_left_of_spikes(values, share):
    values = np.array(values, dtype=float) + 0.0
    model = ThresholdBinarizer(feature_types=["continuous"], max_spike_share=share)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "nothing parts the training rows")
        model.fit(values[:, None])
    assert_array_equal(model.thresholds_[0], cut_at_percentiles(values, share=share))


def test_imputed_values_do_not_draw_all_thresholds():
    rng = np.random.default_rng(2)
    known = rng.normal(size=1000)
    values = np.concatenate([known, np.full(4000, 0.1)])
    found = ThresholdBinarizer().fit(values[:, None]).thresholds_[0]
    assert_array_equal(found, cut_at_percentiles(values))
    assert len(found) == 19
    plain = ThresholdBinarizer(max_spike_share=1.0).fit(values[:, None]).thresholds_[0]
    assert_array_equal(plain, cut_at_percentiles(values, share=1.0))
    assert len(plain) < 7


def test_integers_of_many_levels_are_cut_at_percentiles():
    values = np.random.default_rng(3).poisson(40, 3000).astype(float)
    assert len(np.unique(values)) > 22
    assert_array_equal(
        ThresholdBinarizer().fit(values[:, None]).thresholds_[0], cut_at_percentiles(values)
    )


@given(st.lists(st.integers(-9, 9), min_size=2).filter(lambda values: len(set(values)) > 1))
def test_few_values_have_a_threshold_between_all_of_them(values):
    values = np.array(values, dtype=float)
    model = ThresholdBinarizer().fit(values[:, None])
    assert_array_equal(model.thresholds_[0], cut_between_levels(values))
    distinct = np.unique(values)
    assert_array_equal(model.thresholds_[0], (distinct[:-1] + distinct[1:]) / 2)


def test_22_values_are_few_and_23_are_not():
    values = np.tile(np.arange(23.0), 10)[:, None]
    assert_array_equal(ThresholdBinarizer().fit(values).thresholds_[0], cut_at_percentiles(values))
    few = values[values < 22][:, None]
    assert_array_equal(ThresholdBinarizer().fit(few).thresholds_[0], np.arange(21) + 0.5)
    wider = ThresholdBinarizer(max_levels=23).fit(values)
    assert_array_equal(wider.thresholds_[0], np.arange(22) + 0.5)


def test_rare_neighbours_are_joined():
    # Less than 0.1% of 4,000 rows is 3 at most.
    counts = [2000, 3, 3, 1980, 4, 3, 4, 3]
    values = np.repeat(np.arange(8.0), counts)
    model = ThresholdBinarizer().fit(values[:, None])
    assert_array_equal(model.thresholds_[0], [0.5, 2.5, 3.5, 4.5, 5.5, 6.5])
    assert_array_equal(model.thresholds_[0], cut_between_levels(values))
    assert len(ThresholdBinarizer(min_level_share=0).fit(values[:, None]).thresholds_[0]) == 7
    with pytest.warns(UserWarning, match="nothing parts the training rows"):
        assert not len(ThresholdBinarizer(min_level_share=1).fit(values[:, None]).thresholds_[0])


def test_a_given_feature_type_overrides_the_data():
    X, _ = mixed()
    types = {"age": "discrete", "calls": "categorical", "income": "continuous"}
    model = ThresholdBinarizer(feature_types=types).fit(X)
    levels = np.unique(X["age"])
    assert len(levels) > 22
    assert_array_equal(model.thresholds_[1], (levels[:-1] + levels[1:]) / 2)
    assert model.thresholds_[2] is None
    assert "calls = 3" in model.get_feature_names_out()
    assert_array_equal(
        model.transform(X)[:, list(model.get_feature_names_out()).index("calls = 3")],
        X["calls"] == 3,
    )
    by_place = [types.get(name) for name in X]
    assert_array_equal(
        ThresholdBinarizer(feature_types=by_place).fit(X).terms()["term"], model.terms()["term"]
    )
    few = np.tile([0.0, 1.0, 2.0], 50)[:, None]
    model = ThresholdBinarizer(feature_types=["continuous"], max_spike_share=1.0).fit(few)
    assert_array_equal(model.thresholds_[0], cut_at_percentiles(few.ravel(), share=1.0))


def test_a_continuous_number_takes_the_edges_of_quantile_bins():
    X = np.random.default_rng(4).normal(size=(3000, 4))
    # Before it had a choice, scikit-learn knew this method alone.
    has_choice = "quantile_method" in signature(KBinsDiscretizer).parameters
    method = {"quantile_method": "linear"} if has_choice else {}
    bins = KBinsDiscretizer(
        20, strategy="quantile", encode="ordinal", subsample=None, **method
    ).fit(X)
    model = ThresholdBinarizer().fit(X)
    for thresholds, edges in zip(model.thresholds_, bins.bin_edges_, strict=True):
        np.testing.assert_allclose(thresholds, edges[1:-1], rtol=1e-12)
    # As many terms are on as the number of the bin.
    on = model.transform(X).reshape(len(X), 4, 19).sum(axis=2)
    assert_array_equal(on, bins.transform(X))


# Terms.


def test_a_term_is_1_where_its_name_holds():
    X, y = mixed()
    model = ThresholdBinarizer().fit(X, y)
    found = model.transform(X)
    terms = model.terms()
    names = model.get_feature_names_out()
    assert found.shape == (len(X), model.n_terms_) == (len(X), len(names))
    assert found.dtype == np.float64
    assert_array_equal(terms["term"], names)
    assert_array_equal(terms["feature"], np.array(list(X))[model.feature_indices_])
    assert (np.diff(model.feature_indices_) >= 0).all()
    columns = zip(names, terms["feature"], terms["threshold"], terms["category"], strict=True)
    for place, (name, feature, threshold, category) in enumerate(columns):
        values = X[feature]
        if category:
            expected = values == category
            assert name == f"{feature} = {category}"
        elif np.isnan(threshold):
            expected = values.isna()
            assert name == f"{feature} is missing"
        else:
            expected = values >= threshold
            shown = name.removeprefix(f"{feature} >= ")
            assert float(shown) == threshold
        assert_array_equal(found[:, place], expected, err_msg=name)
        assert terms["size"][place] == expected.sum()
        assert terms["n_pos"][place] == (expected & y).sum()
        assert terms["auc"][place] == pytest.approx(roc_auc_score(y, expected), abs=1e-12)
    assert terms["size"].dtype.kind == "i"
    # Two plans are one term; the four cities and none of them are five.
    assert [name for name in names if name.startswith("plan")] == ["plan = free"]
    assert sum(name.startswith("city") for name in names) == 5
    assert names[19] == "income is missing"


def test_without_labels_the_terms_are_the_same():
    X, y = mixed()
    model, blind = ThresholdBinarizer().fit(X, y), ThresholdBinarizer().fit(X)
    assert_array_equal(blind.get_feature_names_out(), model.get_feature_names_out())
    for thresholds, others in zip(model.thresholds_, blind.thresholds_, strict=True):
        assert_array_equal(thresholds, others)
    assert list(blind.terms()) == ["term", "feature", "threshold", "category", "size"]
    assert_array_equal(blind.terms()["size"], model.terms()["size"])
    assert not hasattr(blind, "classes_")
    assert_array_equal(model.classes_, [False, True])
    assert_array_equal(
        ThresholdBinarizer().fit_transform(X), ThresholdBinarizer().fit_transform(X, y)
    )


def test_missing_and_unseen_values():
    X, _ = mixed()
    model = ThresholdBinarizer().fit(X)
    names = model.get_feature_names_out().tolist()
    rows = X[:3].copy()
    rows["city"] = ["Rome", None, "Lund"]
    # These two are never missing in training, so that there is no term for it.
    rows["calls"] = [np.nan, 0, 99]
    rows["plan"] = ["pro", "team", "free"]
    found = pd.DataFrame(model.transform(rows), columns=names)
    cities = [name for name in names if name.startswith("city = ")]
    assert_array_equal(found["city is missing"], [1, 1, 0])
    assert_array_equal(found[cities].sum(axis=1), [0, 0, 1])
    calls = [name for name in names if name.startswith("calls")]
    assert_array_equal(found[calls].sum(axis=1), [0, 0, len(calls)])
    assert_array_equal(found["plan = free"], [0, 0, 1])
    silent = ThresholdBinarizer(missing_indicator=False).fit(X)
    assert not [name for name in silent.get_feature_names_out() if name.endswith("is missing")]
    assert [n for n in names if not n.endswith("is missing")] == list(
        silent.get_feature_names_out()
    )


def test_complements_and_constants_have_no_term():
    gap = np.nan
    X = pd.DataFrame(
        {
            "one": [1.0, 1, 1, 1],
            "one_or_none": [1.0, gap, 1, 1],
            "none": [gap] * 4,
            "letter": pd.Categorical(list("aaaa")),
            "letter_or_none": pd.Categorical(["a", None, "a", None]),
            "two_or_none": pd.Categorical(["a", "b", "a", None]),
        }
    )
    model = ThresholdBinarizer().fit(X)
    assert model.get_feature_names_out().tolist() == [
        "one_or_none is missing",
        "letter_or_none is missing",
        "two_or_none = a",
        "two_or_none = b",
        "two_or_none is missing",
    ]
    model = ThresholdBinarizer(missing_indicator=False).fit(X)
    assert model.get_feature_names_out().tolist() == [
        "letter_or_none = a",
        "two_or_none = a",
        "two_or_none = b",
    ]


def test_constant_columns_give_no_output_columns_and_a_warning():
    with pytest.warns(UserWarning, match="nothing parts the training rows") as caught:
        model = ThresholdBinarizer().fit([[1.0, np.nan]] * 3, [0, 1, 0])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.transform([[0.0, 0.0]]).shape == (1, 0)
    assert model.n_terms_ == len(model.get_feature_names_out()) == model.terms().n_rows == 0
    assert model.set_params(sparse_output=True).transform([[0.0, 0.0]]).shape == (1, 0)
    with pytest.raises(ValueError, match="column 1 is inf in row 0"):
        model.transform([[0.0, np.inf]])


def test_names_of_thresholds_and_categories_differ():
    close = np.array([1.0, 1.0 + 1e-9, 1.0 + 2e-9])[:, None]
    names = ThresholdBinarizer().fit(close).get_feature_names_out()
    assert len(set(names)) == 2
    for name, row in zip(names, close[1:], strict=True):
        assert float(name.removeprefix("x0 >= ")) <= row[0]
    kinds = np.array([[1], ["1"], ["b"]], dtype=object)
    model = ThresholdBinarizer(categorical_features=[0]).fit(kinds)
    assert model.get_feature_names_out().tolist() == ["x0 = 1", "x0 = '1'", "x0 = 'b'"]
    given = model.get_feature_names_out(["kind"])
    assert given[0] == "kind = 1"
    with pytest.raises(ValueError, match="length"):
        model.get_feature_names_out(["a", "b"])


@pytest.mark.parametrize("dtype", ["float64", np.float32, np.dtype("uint8"), bool])
def test_dense_and_sparse_are_the_same_in_every_type(dtype):
    X, y = mixed(1500)
    expected = ThresholdBinarizer().fit_transform(X, y)
    dense = ThresholdBinarizer(dtype=dtype).fit_transform(X, y)
    sparse = ThresholdBinarizer(dtype=dtype, sparse_output=True).fit_transform(X, y)
    assert dense.dtype == sparse.dtype == np.dtype(dtype)
    assert issparse(sparse)
    assert sparse.format == "csr"
    assert_array_equal(dense, expected)
    assert_array_equal(sparse.toarray(), dense)
    assert sparse.nnz == dense.sum()
    indices = sparse.indices.copy()
    sparse.has_sorted_indices = False
    sparse.sort_indices()
    assert_array_equal(sparse.indices, indices)


# Invariances of the terms.


def same(model, other):
    assert model._model.to_json() == other._model.to_json()


def test_threads_and_the_order_of_rows_change_nothing():
    X, y = mixed(3000)
    weight = np.random.default_rng(5).random(3000)
    model = ThresholdBinarizer(n_jobs=1).fit(X, y, weight)
    same(model, ThresholdBinarizer(n_jobs=3).fit(X, y, weight))
    order = np.random.default_rng(6).permutation(3000)
    same(model, ThresholdBinarizer().fit(X.iloc[order], y[order], weight[order]))


def test_layout_and_width_of_the_matrix_change_nothing():
    X = np.random.default_rng(7).normal(size=(2000, 11)).astype(np.float32)
    X[X > 1.5] = np.nan
    model = ThresholdBinarizer().fit(X)
    for other in (np.asfortranarray(X), X.astype(np.float64), np.asfortranarray(X, np.float64)):
        found = ThresholdBinarizer().fit(other)
        same(model, found)
        assert_array_equal(found.transform(other), model.transform(X))


@given(st.integers(0, 2**32 - 1), st.sampled_from([None, "discrete", "continuous"]), st.booleans())
def test_weight_k_equals_k_copies(seed, of_type, has_labels):
    rng = np.random.default_rng(seed)
    n = 200
    X = np.column_stack([rng.normal(size=n).round(1), rng.poisson(1, n), rng.integers(0, 50, n)])
    X[rng.random(X.shape) < 0.1] = np.nan
    times = rng.integers(0, 4, n)
    y = np.arange(n) % 2
    times[:2] = 1
    again = np.repeat(np.arange(n), times)
    model = ThresholdBinarizer(feature_types=[of_type] * 3)
    labels, copied = (y, y[again]) if has_labels else (None, None)
    weighted = pickle.loads(pickle.dumps(model.fit(X, labels, times)))
    same(weighted, model.fit(X[again], copied))


def test_rows_of_weight_zero_do_not_count():
    X, y = mixed()
    weight = np.ones(len(y))
    weight[::3] = 0
    kept = weight > 0
    rows = X.copy()
    rows.loc[~kept, "income"] = 1e6
    rows["city"] = rows["city"].cat.add_categories("Rome")
    rows.loc[~kept, "city"] = "Rome"
    same(ThresholdBinarizer().fit(rows, y, weight), ThresholdBinarizer().fit(X[kept], y[kept]))
    same(ThresholdBinarizer().fit(rows, None, weight), ThresholdBinarizer().fit(X[kept]))


def test_an_ascending_change_of_a_feature_changes_no_term_of_few_values():
    X, _ = mixed()
    calls = X[["calls"]]
    found = ThresholdBinarizer().fit(calls).transform(calls)
    stretched = np.exp(calls)
    assert_array_equal(ThresholdBinarizer().fit(stretched).transform(stretched), found)


def test_every_kind_of_frame_gives_the_same_terms():
    X, y = mixed()
    model = ThresholdBinarizer().fit(X, y)
    polars = pl.from_pandas(X)
    for frame in (polars, polars.to_arrow(), X.convert_dtypes()):
        same(ThresholdBinarizer().fit(frame, y), model)
        assert_array_equal(model.transform(frame), model.transform(X))
    objects = X.astype(object).to_numpy()
    listed = ThresholdBinarizer(categorical_features=[3, 4]).fit(objects, y)
    assert_array_equal(listed.transform(objects), model.transform(X))
    types = [None, None, None, "categorical", "categorical"]
    typed = ThresholdBinarizer(feature_types=types, categorical_features=None).fit(objects, y)
    same(typed, listed)


# Against scikit-learn.


def test_a_pipeline_learns_from_the_terms():
    X, y = mixed(1200)
    logistic = LogisticRegression(max_iter=500)
    for sparse_output in (False, True):
        pipeline = make_pipeline(ThresholdBinarizer(sparse_output=sparse_output), logistic)
        assert cross_val_score(pipeline, X, y, scoring="roc_auc", cv=3).min() > 0.6
    both = make_column_transformer(
        (ThresholdBinarizer(), ["age", "calls"]),
        (OneHotEncoder(sparse_output=False), ["plan"]),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    found = both.fit_transform(X, y)
    ages = ThresholdBinarizer().fit(X[["age", "calls"]]).get_feature_names_out()
    assert list(found.columns) == [*ages, "plan_free", "plan_pro"]
    for backend, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        out = ThresholdBinarizer().set_output(transform=backend).fit_transform(X)
        assert isinstance(out, frame)
        assert list(out.columns) == ThresholdBinarizer().fit(X).get_feature_names_out().tolist()


# Stores.


@pytest.mark.parametrize("has_labels", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, "bool"])
def test_a_saved_transformer_is_restored_completely(has_labels, dtype, tmp_path):
    X, y = mixed()
    model = ThresholdBinarizer(
        dtype=dtype, feature_types={"calls": "categorical"}, percentiles=np.array([10, 50])
    ).fit(X, y if has_labels else None)
    model.save(tmp_path / "terms.json")
    for back in (aucrank.load(tmp_path / "terms.json"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(back.transform(X), model.transform(X))
        assert back.transform(X).dtype == np.dtype(dtype)
        assert repr(back.terms()) == repr(model.terms())
        assert hasattr(back, "classes_") == has_labels
        assert back._to_document() == model._to_document()
        assert_array_equal(back.fit(X).get_feature_names_out(), model.get_feature_names_out())


# Bad input.


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"max_levels": 0}, ValueError, "max_levels must be at least 1, got 0"),
        ({"max_levels": 2.5}, TypeError, "max_levels must be an int"),
        ({"percentiles": 0}, ValueError, "percentiles must be an int from 1 to 99 .* got 0"),
        ({"percentiles": 100}, ValueError, "percentiles must be .* got 100"),
        ({"percentiles": []}, ValueError, r"percentiles must be .* got \[\]"),
        ({"percentiles": [5, 101]}, ValueError, "percentiles must be .* got 101"),
        ({"percentiles": [5, np.nan]}, ValueError, "percentiles must be .* got nan"),
        ({"percentiles": "deciles"}, ValueError, "percentiles must be .* got 'deciles'"),
        ({"percentiles": [[5], [6, 7]]}, ValueError, "percentiles must be"),
        ({"percentiles": True}, ValueError, "percentiles must be .* got True"),
        ({"min_level_share": 1.5}, ValueError, r"min_level_share must be in \[0.0, 1.0\], got 1.5"),
        ({"max_spike_share": -0.1}, ValueError, "max_spike_share must be in .* got -0.1"),
        ({"feature_types": ["discrete"]}, ValueError, r"feature_types has shape \(1,\)"),
        ({"feature_types": {"age": "ordinal"}}, ValueError, "feature_types must .* got 'ordinal'"),
        ({"feature_types": {"z": None}}, ValueError, r"feature_types names columns .*\['z'\]"),
        ({"feature_types": "discrete"}, ValueError, "feature_types must be None, a dict"),
        (
            {"feature_types": {"city": "continuous"}},
            ValueError,
            "feature_types says 'continuous' of column 'city', which is categorical",
        ),
        ({"categorical_features": "all"}, ValueError, "categorical_features must be"),
        ({"missing_indicator": "yes"}, TypeError, "missing_indicator must be True or False"),
        ({"sparse_output": 1}, TypeError, "sparse_output must be True or False"),
        ({"dtype": "int"}, ValueError, "dtype must be one of float64, float32, uint8, bool"),
        ({"dtype": None}, ValueError, "dtype must be one of"),
        ({"dtype": "half-float"}, ValueError, "dtype must be one of"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
    ],
)
def test_a_bad_parameter_is_named_in_the_error(params, error, message):
    X, y = mixed()
    model = ThresholdBinarizer().fit(X, y)
    with pytest.raises(error, match=message):
        model.set_params(**params).fit(X, y)
    assert not hasattr(model, "_model")


def test_bad_rows_are_named_in_the_error():
    X, y = mixed()
    with pytest.raises(ValueError, match="column 'income' is inf in row 3"):
        ThresholdBinarizer().fit(X.assign(income=X["income"].where(X.index != 3, np.inf)), y)
    model = ThresholdBinarizer().fit(X)
    for sparse_output in (False, True):
        with pytest.raises(ValueError, match="column 'calls' is -inf in row 5"):
            model.set_params(sparse_output=sparse_output).transform(
                X.assign(calls=X["calls"].where(X.index != 5, -np.inf))
            )
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[600, 599\]"):
        ThresholdBinarizer().fit(X, y[:-1])
    with pytest.raises(ValueError, match="only one class"):
        ThresholdBinarizer().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="feature_types is a dict, but X has no column names"):
        ThresholdBinarizer(feature_types={"a": "discrete"}).fit([[1.0], [2.0]])


@pytest.mark.parametrize("has_labels", [True, False])
def test_bad_weights_are_named_in_the_error(has_labels):
    X, y = mixed()
    y = y if has_labels else None
    for weight, message in (
        (np.full(600, -1.0), "sample_weight must not be negative"),
        (np.full(600, np.nan), "sample_weight contains NaN"),
        (np.zeros(600), "sample_weight is zero for every row"),
        (np.ones(599), r"sample_weight.shape == \(599,\), expected \(600,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            ThresholdBinarizer().fit(X, y, weight)

"""Columns that look like identifiers or hold numbers and a few codes: one warning a fit."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank import (
    AURORA,
    MAD2C,
    RIMARC,
    AUCBoost,
    ColumnWarning,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    Scorecard,
    ThresholdBinarizer,
)
from aucrank._base.registry import public_estimators
from aucrank.boosting import TwoSidedClassifier
from aucrank.cli import main
from sklearn.base import clone

from tests.common.command_line import TREE
from tests.common.estimators import few_members
from tests.common.paths import DATA

N = 120
RNG = np.random.default_rng(0)
Y = RNG.permutation(np.repeat([0, 1], N // 2))
X = (RNG.normal(size=N) + Y).round(2)
NAMES = [f"n{k}" for k in range(N)]

LEARNERS = {
    name: cls() for name, cls in public_estimators().items() if name not in ("RankOpt", "AURORA")
} | {
    "RankingForest": RankingForest(n_estimators=5),
    "AURORA": AURORA(radius=1.5, depth="shallow", max_features=4),
    "RankingEnsemble": RankingEnsemble(members=few_members(), n_folds=2),
    "MAD2C": MAD2C(),
    "ThresholdBinarizer": ThresholdBinarizer(),
    "Scorecard of RankBoost": Scorecard(estimator=RankBoost(n_rounds=5)),
    "AUCBoost of RIMARC": AUCBoost(weak_ranker=RIMARC(), n_rounds=3),
    "AUCBoost of trees": AUCBoost(weak_ranker="tree", n_rounds=3),
    "TwoSidedClassifier": TwoSidedClassifier(ranker=RIMARC()),
}


def warnings_of(fit):
    """Column warnings of a fit; others are ignored."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit()
    return [warning for warning in found if warning.category is ColumnWarning]


def warning_of(X, y=Y, model=None, **more):
    """The column warning of a fit, if any."""
    found = warnings_of(lambda: clone(model or RIMARC()).fit(X, y, **more))
    assert len(found) <= 1
    return str(found[0].message) if found else None


# Identifiers.


@pytest.mark.parametrize("model", LEARNERS.values(), ids=LEARNERS)
def test_every_learner_warns_once_of_a_column_that_looks_like_an_identifier(model):
    rows = pd.DataFrame({"x": X, "id": pd.Categorical(NAMES)})
    found = warnings_of(lambda: clone(model).fit(rows, Y))
    assert len(found) == 1
    assert str(found[0].message).startswith("Column 'id' looks like an identifier")
    assert "'x'" not in str(found[0].message)
    assert found[0].filename == __file__
    assert not warnings_of(lambda: clone(model).fit(rows[["x"]], Y))


@pytest.mark.parametrize(
    "make",
    [
        lambda names: pd.DataFrame({"x": X, "id": names}),
        lambda names: pd.DataFrame({"x": X, "id": np.array(names, dtype=object)}, dtype=object),
        lambda names: pd.DataFrame({"x": X, "id": pd.Categorical(names, ordered=True)}),
        lambda names: pl.DataFrame({"x": X, "id": names}),
        lambda names: pl.DataFrame({"x": X, "id": pl.Series(names).cast(pl.Categorical)}),
        lambda names: pl.DataFrame({"x": X, "id": pl.Series(names, dtype=pl.Enum(names))}),
        lambda names: pa.table({"x": X, "id": names}),
    ],
    ids=["str", "object", "category", "polars", "Categorical", "Enum", "pyarrow"],
)
def test_an_identifier_is_recognised_in_every_kind_of_frame(make):
    expected = (
        "Column 'id' looks like an identifier, with more than one category for every 3 rows: what"
        " is learned from categories of so few rows holds for these rows alone. Leave it out of X."
    )
    assert warning_of(make(NAMES)) == expected


def test_a_column_without_a_name_is_named_by_its_position():
    data = np.c_[X, np.arange(N)]
    assert warning_of(data) is None
    said = warning_of(data, model=RIMARC(categorical_features=[1]))
    assert said.startswith("Column 1 looks like an identifier")


@pytest.mark.parametrize(
    ("n_rows", "n_levels", "looks_so"),
    [
        (49, 49, False),
        (50, 50, True),
        (50, 17, True),
        (60, 20, False),
        (60, 21, True),
        (3000, 1000, False),
        (3000, 1001, True),
    ],
)
def test_an_identifier_has_fewer_than_three_rows_a_category_and_fifty_rows(
    n_rows, n_levels, looks_so
):
    rows = pd.DataFrame({"c": pd.Categorical([f"c{k % n_levels}" for k in range(n_rows)])})
    # Not alternating: rows of a level would all have one label, like a group.
    y = np.random.default_rng(0).permutation(n_rows) % 2
    assert (warning_of(rows, y) is not None) == looks_so


def test_missing_values_and_rows_of_weight_zero_are_not_counted():
    known = np.arange(N) < 60
    ids = pd.Series(NAMES).where(known | (np.arange(N) % 2 == 0), "n0")
    assert warning_of(pd.DataFrame({"c": ids})) is not None
    # Of 60 known rows there are 30 names.
    assert (
        warning_of(pd.DataFrame({"c": pd.Series([f"n{k % 20}" for k in range(N)]).where(known)}))
        is None
    )
    assert warning_of(pd.DataFrame({"c": pd.Series(NAMES).where(known)})) is not None
    assert warning_of(pd.DataFrame({"c": pd.Series(NAMES).where(np.arange(N) < 49)})) is None
    # Rows of weight zero and their names do not count.
    few = pd.DataFrame({"c": pd.Categorical([f"n{k % 20 if k < 60 else k}" for k in range(N)])})
    assert warning_of(few, sample_weight=np.ones(N)) is not None
    assert warning_of(few, sample_weight=known.astype(float)) is None
    many = pd.DataFrame({"c": pd.Categorical([f"n{k if k < 60 else 0}" for k in range(N)])})
    assert warning_of(many, sample_weight=known.astype(float)) is not None


def test_the_warning_is_filtered_by_its_class():
    rows = pd.DataFrame({"id": NAMES})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ColumnWarning)
        RIMARC().fit(rows, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ColumnWarning)
        with pytest.raises(ColumnWarning):
            RIMARC().fit(rows, Y)


def test_a_fit_after_a_failed_one_warns_too():
    rows = pd.DataFrame({"id": NAMES})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="categorical"):
            Scorecard(monotone=["id"]).fit(rows, Y)
    assert warning_of(rows) is not None


@pytest.mark.parametrize("name", ["adult", "bank_marketing", "churn", "german", "horse_colic"])
def test_columns_of_real_data_raise_no_warning(name):
    path = DATA / f"{name}.parquet"
    if not path.exists():
        pytest.skip("the data sets of development are not here")
    rows = pd.read_parquet(path).head(5000)
    y = rows.pop("target")
    assert warning_of(rows, y, MAD2C()) is None
    assert "'id'" in warning_of(rows.assign(id=[f"r{k}" for k in range(len(rows))]), y, MAD2C())


# Numbers that are text for a few codes.


def texts(*odd):
    """A column of numbers as text, with some other texts in place of the first of them."""
    column = [f"{value:.2f}" for value in X]
    column[: len(odd)] = odd
    return column


@pytest.mark.parametrize(
    ("odd", "named"),
    [
        (["?"], "'?'"),
        (["?", "?", "n.a.", "?"], "'?', 'n.a.'"),
        (["1,100.00"], "'1,100.00'"),
        (["?", "1,100.00"], "'?', '1,100.00'"),
        (["unknown", "not given", "-", "refused", "."], "'-', '.'"),
        (["1,100.00", "2,100.00", "3,100.00", "12,345,678"], "'1,100.00', '12,345,678'"),
        (["$ 5", "€12.50", "30%"], "'$ 5', '30%', '€12.50'"),
        (["1 234,5", "1.234.567,8", "1'234", "0,5"], "'0,5', '1 234,5'"),
        (["(1,200)"], "'(1,200)'"),
        (["<0.01"], "'<0.01'"),
        (["inf"], "'inf'"),
        (["18446744073709551616"], "'18446744073709551616'"),
        (["much " * 20], "'much much much much…'"),
    ],
)
def test_number_columns_read_as_text_are_named_with_the_codes_that_are_not_numbers(odd, named):
    said = warning_of(pd.DataFrame({"x": X, "income": texts(*odd)}))
    assert said.startswith(f"Column 'income' (such as {named}")
    assert "convert the column to numbers" in said
    assert "identifier" not in said


@pytest.mark.parametrize("model", LEARNERS.values(), ids=LEARNERS)
def test_every_learner_warns_of_numbers_that_are_text(model):
    rows = pd.DataFrame({"x": X, "income": texts("?")})
    found = warnings_of(lambda: clone(model).fit(rows, Y))
    assert [str(warning.message).partition(")")[0] for warning in found] == [
        "Column 'income' (such as '?'"
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda values: pd.DataFrame({"income": values}),
        lambda values: pd.DataFrame({"income": pd.Categorical(values)}),
        lambda values: pl.DataFrame({"income": values}),
        lambda values: pl.DataFrame({"income": pl.Series(values).cast(pl.Categorical)}),
        lambda values: pa.table({"income": values}),
    ],
    ids=["str", "category", "polars", "Categorical", "pyarrow"],
)
def test_numbers_that_are_text_are_recognised_in_every_kind_of_frame(make):
    assert warning_of(make(texts("?", "1,100.00"))).startswith(
        "Column 'income' (such as '?', '1,100"
    )


@pytest.mark.parametrize(
    "rows",
    [
        {"all plain": texts()},
        {"codes of a kind": [f"{k % 30:02d}" if k % 2 else f"V{k % 30}" for k in range(N)]},
        {"names": [f"{k % 30:03d}" if k else "none" for k in range(N)]},
        {"few": [str(k % 9) if k else "?" for k in range(N)]},
        {"words": [f"word {k % 30}" for k in range(N)]},
        {"nothing": pd.Series([None] * N, dtype="str")},
        {"numbers": X},
        {"dates": [f"2020-01-{1 + k % 28:02d}" for k in range(N)]},
    ],
    ids=lambda rows: next(iter(rows)),
)
def test_text_columns_that_are_not_numbers_raise_no_warning_about_numbers(rows):
    said = warning_of(pd.DataFrame(rows))
    assert said is None or "identifier" in said


PLACES = RNG.integers(0, 10_000, N)
UNREAD = {
    "dates": [f"{['Jan', 'Feb', 'Mar', 'Apr'][k % 4]}-{1980 + k % 40}" for k in PLACES],
    "numbers": [f"{k % 90} Years and {k % 12} Months" for k in PLACES],
    "numbers in km and min": [f"{k} {'km' if k % 2 else 'min'}" for k in PLACES],
    "numbers or dates": [f"{k % 31 + 1}-{['Jan', 'Feb', 'Mar', 'Apr'][k % 4]}" for k in PLACES],
}


@pytest.mark.parametrize("what", UNREAD)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_texts_that_are_numbers_or_dates_are_named_as_such(what, make):
    said = warning_of(make({"x": X, "c": UNREAD[what]}))
    assert said.startswith(f"Column 'c' ({what}, such as '")
    assert "looks like numbers or dates that are not read" in said
    assert "identifier" not in said
    assert "belonged together" not in said


@pytest.mark.parametrize(
    "texts",
    [
        [f"C-{k % 35:04}" for k in range(N)],
        [f"Main Street {k % 35}" for k in range(N)],
        [f"({k % 35}, {k % 35 + 1}]" for k in range(N)],
        [f"{k % 12}{'abk'[k % 3]}" for k in range(N)],
        [f"{k % 9}-{k % 9 + 1}" for k in range(N)],
        [f"{k % 35:02}" for k in range(N)],
    ],
    ids=["codes", "streets", "intervals", "houses", "ranges", "digits"],
)
def test_texts_that_only_hold_digits_are_not_named_as_numbers(texts):
    said = warning_of(pd.DataFrame({"x": X, "c": texts})) or ""
    assert "not read" not in said


def test_a_pattern_of_digits_with_the_name_of_an_identifier_is_one():
    texts = [f"{k:04}-{7 * k:05}" for k in range(N)]
    assert "looks like an identifier" in warning_of(pd.DataFrame({"order_id": texts}))
    assert "not read" in warning_of(pd.DataFrame({"order": texts}))


@pytest.mark.parametrize(
    ("mark", "others", "is_named"),
    [
        (999, RNG.integers(18, 80, N), True),
        (-999.0, RNG.normal(size=N), True),
        (-1, RNG.integers(0, 40, N), True),
        (-1, RNG.integers(-40, 40, N), False),
        (99, RNG.integers(18, 98, N), False),
        (0, RNG.integers(500, 510, N), False),
        (999, RNG.integers(1, 5, N), False),
    ],
)
def test_a_repeated_number_far_from_all_others_is_named(mark, others, is_named):
    values = np.where(np.arange(N) % 5 < 2, mark, others)
    for data in (pd.DataFrame({"x": X, "c": values}), pl.DataFrame({"x": X, "c": values})):
        said = warning_of(data) or ""
        assert (f"Column 'c' ({mark:g}) repeats a number" in said) == is_named
        assert (f"--missing-in c={mark:g}" in said) == is_named
    few = np.where(np.arange(N) % 30 < 1, mark, others)
    assert warning_of(pd.DataFrame({"x": X, "c": few})) is None


def test_declared_categories_raise_no_warning():
    values = [str(k % 20) if k else "?" for k in range(N)]
    declared = sorted(set(values))
    for rows in (
        pd.DataFrame({"grade": pd.Categorical(values, declared, ordered=True)}),
        pl.DataFrame({"grade": pl.Series(values, dtype=pl.Enum(declared))}),
    ):
        assert warning_of(rows) is None
    rows = pd.DataFrame({"grade": values})
    assert warning_of(rows) is not None
    assert warning_of(rows, model=RIMARC(categorical_features=["grade"])) is None


def test_all_column_warnings_of_a_fit_are_one_warning():
    rows = {f"id{k}": [f"{k}-{name}" for name in NAMES] for k in range(7)}
    rows |= {"income": texts("?"), "debt": texts("1,100.00")}
    said = warning_of(pd.DataFrame(rows))
    assert said.startswith("Columns 'id0', 'id1', 'id2', 'id3', 'id4' and 2 more look like identif")
    assert "Columns 'income' (such as '?'), 'debt' (such as '1,100.00') hold numbers" in said


# The command line.


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_command_line_prints_the_warning_in_one_line(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"x": X, "who": NAMES, "income": texts("n.k.", "1,100.00"), "y": Y})
    rows.to_csv("rows.csv", index=False) if kind == "csv" else rows.to_parquet("rows.parquet")
    models = ("--models", "RIMARC", "TreeRank", "--folds", "2")
    for command in (("fit", *TREE), ("compare", *models)):
        assert main([*command, f"rows.{kind}", "--target", "y"]) == 0
        err = capsys.readouterr().err
        assert "'who' looks like an identifier" in err
        assert err.count("ning: Column") == 1
        if kind == "parquet":
            assert err.count("\n") == 1
            assert "Column 'income' (such as 'n.k.', '1,100.00') holds numbers" in err
        else:
            # Of a file of texts, these become numbers.
            assert "'n.k.' as missing in 1 row (income), commas in thousands (income)" in err
    declared = ("--drop", "who", "--categorical", "income")
    assert main(["fit", *TREE, f"rows.{kind}", "--target", "y", *declared]) == 0
    err = capsys.readouterr().err
    assert "holds numbers" not in err

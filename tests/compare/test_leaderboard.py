"""`aucrank.compare` against scikit-learn's cross-validation and plain tests."""

import io
import json
from contextlib import redirect_stdout
from datetime import timedelta

import aucrank
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank import RIMARC, RankOpt, TreeRank, TwoSidedClassifier
from aucrank._compare import contestants, peers
from aucrank._compare.peers import PEERS
from aucrank.metrics import cross_validated_auc, cross_validated_compare
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.common.contestants import Column, sample
from tests.common.loans import loans


def columns(n):
    return {f"column {place}": Column(place) for place in range(n)}


def board_of(*args, **kwargs):
    return aucrank.compare(*args, **kwargs).models.to_frame().set_index("model")


def test_aucs_are_those_of_scikit_learn_on_the_same_folds():
    X, y = sample()
    models = {
        "logistic": LogisticRegression(),
        "forest": RandomForestClassifier(20, random_state=0),
    }
    board = aucrank.compare(X, y, models=models, cv=4, n_repeats=2, random_state=3)
    folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=3)
    for name, model in models.items():
        expected = cross_val_score(model, X, y, cv=folds, scoring="roc_auc")
        of_model = board.folds["model"] == name
        assert board.folds["auc"][of_model] == pytest.approx(expected, abs=1e-12)
        row = board.models["model"] == name
        assert board.models["auc"][row] == pytest.approx(expected.mean(), abs=1e-12)
    assert board.models["package"].tolist() == ["sklearn", "sklearn"]


def test_intervals_and_tests_are_those_of_the_metrics_adjusted_for_all_pairs():
    X, y = sample(200, noise=(1.0, 1.1, 1.2, 3.0))
    board = board_of(X, y, models=columns(4), cv=StratifiedKFold(5), confidence=0.9)
    fold = np.zeros(200)
    for number, (_, test) in enumerate(StratifiedKFold(5).split(X, y)):
        fold[test] = number
    best = max(range(4), key=lambda place: cross_validated_auc(y, X[:, place], fold).auc)
    assert board.index[0] == f"column {best}"
    p_values = {
        (one, other): cross_validated_compare(y, X[:, one], X[:, other], fold).p_value
        for one in range(4)
        for other in range(one)
    }
    # Bonferroni's method: six pairs of four models.
    adjusted = {pair: min(1.0, 6 * p_value) for pair, p_value in p_values.items()}
    for place in range(4):
        row = board.loc[f"column {place}"]
        interval = cross_validated_auc(y, X[:, place], fold, confidence=0.9)
        assert (row["low"], row["high"]) == (interval.low, interval.high)
        if place == best:
            assert row["difference"] == 0
            assert np.isnan(row["p_value"])
            continue
        pair = (max(place, best), min(place, best))
        assert row["p_value"] == pytest.approx(adjusted[pair])
        assert row["difference"] == pytest.approx(row["auc"] - board["auc"].iloc[0])


def test_the_interval_of_a_difference_leaves_out_0_where_its_p_value_is_small():
    X, y = sample(150, noise=(1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 2.0, 3.0))
    facts = aucrank.compare(X, y, models=columns(8))._facts
    found = [(s.behind.high < 0, s.p_value < 0.05) for s in facts.standings[1:]]
    assert set(found) == {(False, False), (True, True)}


def test_a_p_value_is_never_shown_as_0():
    X, y = sample(400, noise=(0.3, 30.0))
    board = aucrank.compare(X, y, models=columns(2))
    assert board.models["p_value"][1] < 1e-6
    assert "< 0.001" in repr(board)
    assert "&lt; 0.001" in board.models._repr_html_()


def test_equally_good_models_differ_significantly_in_at_most_one_case_of_twenty():
    """The first of ten is lucky: tests against it alone would call another one worse too often."""
    worse, naive, n_draws = 0, 0, 60
    folds = list(StratifiedKFold(2).split(np.zeros(120), np.tile([0, 1], 60)))
    for seed in range(n_draws):
        X, y = sample(120, seed, noise=(1.0,) * 10)
        board = aucrank.compare(X, y, models=columns(10), cv=folds).models
        worse += bool(np.nanmin(board["p_value"]) < 0.05)
        spread = (board["high"] - board["low"]) / (2 * norm.ppf(0.975))
        z = board["difference"][-1] / np.hypot(spread[0], spread[-1])
        naive += bool(2 * norm.sf(-z) < 0.05)
    # Of 60 draws at a level of 5 %, more than 7 have a chance of one in a hundred.
    assert worse <= 7
    assert naive > 30


# Compared models


def test_models_may_be_names_estimators_or_a_dict():
    X, y = sample(120)

    def names(models, **more):
        return sorted(aucrank.compare(X, y, models=models, cv=2, **more).models["model"])

    assert names("RIMARC") == ["RIMARC"]
    assert names(RIMARC()) == ["RIMARC"]
    assert names(["RIMARC", "RIMARC", Column(1), Column(2)]) == ["Column", "Column 2", "RIMARC"]
    assert names(["RIMARC", RIMARC(shrinkage=1.0)]) == ["RIMARC", "RIMARC 2"]
    assert names({"one": RIMARC(), "two": TreeRank()}) == ["one", "two"]


def test_without_models_all_of_ours_and_the_installed_peers_take_part(monkeypatch):
    X, y = sample(60)
    monkeypatch.setattr(contestants, "our_names", lambda: ["RIMARC", "TreeRank", "MartiRank"])
    monkeypatch.setattr(contestants, "MOST_VALUES", {"MartiRank": 179})
    monkeypatch.setattr(peers, "find_spec", lambda name: name == "sklearn" or None)
    ours, of_sklearn = {"RIMARC", "TreeRank"}, {"LogisticRegression", "RandomForestClassifier"}
    of_sklearn |= {"HistGradientBoostingClassifier"}

    def names(**kwargs):
        return set(aucrank.compare(X, y, cv=2, **kwargs).models["model"])

    assert names() == ours | of_sklearn
    assert names(peers=False) == ours
    assert names(models="all", peers=False) == ours | {"MartiRank"}
    assert names(models=["RIMARC"], peers=True) == {"RIMARC"} | of_sklearn
    notes = aucrank.compare(X, y, cv=2, peers=False).notes
    assert notes == ["without MartiRank: slow on data of this size"]


def test_a_model_that_fails_is_a_row_with_its_error():
    def refuse(_):
        raise RuntimeError("out of\nluck")

    class Odd(Column):
        def decision_function(self, X):
            return np.full(len(X), np.nan)

    X, y = sample(100)
    models = {"bad": Column(0, refuse), "odd": Odd(), "good": Column(1)}
    board = board_of(X, y, models=models, cv=2)
    assert board.index[0] == "good"
    assert board.loc["bad", "error"] == "failed: RuntimeError: out of luck"
    assert board.loc["odd", "error"] == "failed: ValueError: decision_function of Odd returned NaN"
    assert board.loc["good", "error"] == ""
    assert board.loc[["bad", "odd"], ["rank", "auc", "p_value"]].isna().all(axis=None)
    assert np.isnan(board.loc["good", "p_value"])


def test_the_table_exists_even_if_all_models_fail(tmp_path):
    def refuse(_):
        raise RuntimeError("no")

    X, y = sample(20)
    board = aucrank.compare(X, y, models={"bad": Column(0, refuse)}, cv=2)
    assert board.one_line == "1 model, none of which did all folds"
    assert "failed: RuntimeError: no" in repr(board)
    assert "failed: RuntimeError: no" in board.to_html()


# Rows


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_any_library_and_labels_of_any_kind(make):
    X, labels = loans(300, seed=1)
    plain = {n: X[n].astype(object).where(X[n].notna(), None).tolist() for n in X}
    for name in plain:
        if X[name].dtype.kind == "f":
            plain[name] = X[name].tolist()
    models = ["RIMARC", "LogisticRegression", "RankOpt"]
    expected = board_of(X, labels == "fine", models=models, cv=3)
    found = board_of(make(plain), labels, models=models, cv=3)
    assert found["auc"].to_dict() == pytest.approx(expected["auc"].to_dict(), abs=1e-12)


def test_listed_categories_are_categories_to_all():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, 400)
    # No order of the codes is informative.
    y = (rng.random(400) < np.array([0.1, 0.9, 0.2, 0.8, 0.1, 0.9])[codes]).astype(int)
    X = np.c_[codes, rng.normal(size=400)].astype(float)
    models = ["RIMARC", "LogisticRegression", "RankOpt"]
    as_numbers = board_of(X, y, models=models, categorical_features=None)
    as_categories = board_of(X, y, models=models, categorical_features=[0])
    assert (as_categories["auc"] > 0.8).all()
    assert as_numbers.loc[["LogisticRegression", "RankOpt"], "auc"].max() < 0.7


def test_weights_count_in_fits_and_aucs_and_rows_of_weight_zero_do_not():
    X, y = sample(240)
    weight = np.random.default_rng(0).integers(0, 3, 240).astype(float)
    kept = weight > 0
    board = aucrank.compare(X, y, models="LogisticRegression", cv=3, sample_weight=weight)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    expected = []
    X, y, weight = X[kept], y[kept], weight[kept]
    repeated = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    for train, test in repeated.split(X, y):
        model.fit(X[train], y[train], logisticregression__sample_weight=weight[train])
        scores = model.decision_function(X[test])
        expected.append(roc_auc_score(y[test], scores, sample_weight=weight[test]))
    assert board.folds["auc"] == pytest.approx(expected, abs=1e-9)


def test_a_model_without_sample_weight_fails_if_weights_are_given():
    X, y = sample(60)
    models = [KNeighborsClassifier(3), "RIMARC"]
    board = board_of(X, y, models=models, cv=2, sample_weight=np.ones(60))
    error = "failed: ValueError: KNeighborsClassifier must take sample_weight"
    assert board.loc["KNeighborsClassifier", "error"].startswith(error)
    assert board.loc["RIMARC", "error"] == ""


def test_folds_are_ranges_of_time():
    X, y = sample(120)
    time = np.random.default_rng(0).permutation(120) // 3
    X = np.c_[X, time]
    met = []

    class Spy(Column):
        def fit(self, X, y):
            self.times_ = set(X[:, -1])
            return super().fit(X, y)

        def decision_function(self, X):
            met.append((self.times_, set(X[:, -1])))
            return super().decision_function(X)

    board = aucrank.compare(X, y, models={"spy": Spy()}, time=time, cv=4)
    for fold, (fitted, held_out) in enumerate(met):
        assert held_out == set(range(10 * fold, 10 * fold + 10))
        assert fitted == set(range(40)) - held_out
    latest = time >= 30
    auc = roc_auc_score(y[latest], Column(0).fit(X, y).decision_function(X[latest]))
    assert board.models["auc_latest"].tolist() == [pytest.approx(auc)]
    assert "4 ranges of time" in board.to_html()
    assert "AUC, latest" in board.to_html()
    assert "auc_latest" not in list(aucrank.compare(X, y, models={"spy": Spy()}).models)


@pytest.mark.parametrize(("unit", "gap"), [(1, 2), ("D", timedelta(days=2))])
def test_rows_of_a_fit_are_a_gap_away_from_those_that_it_ranks(unit, gap):
    X, y = sample(120)
    time = np.arange(120) // 3
    met = []

    class Spy(Column):
        def fit(self, X, y):
            self.times_ = set(X[:, -1])
            return super().fit(X, y)

        def decision_function(self, X):
            met.append((self.times_, set(X[:, -1])))
            return super().decision_function(X)

    given = time if unit == 1 else np.datetime64("2024-01-01") + time.astype("m8[D]")
    board = aucrank.compare(np.c_[X, time], y, models={"spy": Spy()}, time=given, gap=gap, cv=4)
    for fold, (fitted, held_out) in enumerate(met):
        assert held_out == set(range(10 * fold, 10 * fold + 10))
        near = set(range(10 * fold - 2, 10 * fold + 12))
        assert fitted == set(range(40)) - near
    assert "more than 2" in board.to_html()


def test_a_group_has_the_time_of_its_latest_row():
    X, y = sample(120)
    time = np.arange(120)
    groups = np.r_[0, np.arange(1, 119), 0]
    met = []

    class Spy(Column):
        def decision_function(self, X):
            met.append(set(X[:, -1]))
            return super().decision_function(X)

    aucrank.compare(np.c_[X, time], y, models={"spy": Spy()}, time=time, groups=groups, cv=3)
    assert {0, 119} <= met[-1]


def test_rankers_are_given_the_times():
    X, y = sample(200)
    time = np.arange(200)
    board = aucrank.compare(X, y, models=["GradientBoostingRanker"], time=time, cv=2)
    rows = np.arange(100)
    model = aucrank.GradientBoostingRanker(random_state=0).fit(X[rows], y[rows], time=time[rows])
    auc = roc_auc_score(y[100:], model.decision_function(X[100:]))
    assert board.models["auc_latest"][0] == pytest.approx(auc)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"time": np.arange(119)}, "time has 119 entries"),
        ({"time": np.arange(120) // 60}, "time has 2 values"),
        ({"time": np.arange(120), "cv": KFold(3)}, "leave time out for folds of your own"),
        ({"time": np.arange(120), "n_repeats": 2}, "the same ranges of time again"),
        ({"time": np.sort(sample(120)[1])}, "time has 2 values"),
        ({"gap": 1}, "gap=1 is between ranges of time: pass time, too"),
        ({"time": np.arange(120), "gap": -1}, "gap must be 0 or more, and finite; got -1"),
        ({"time": np.arange(120), "gap": 96}, "gap=96 leaves rows of one class, or none"),
    ],
)
def test_times_that_make_no_folds_are_rejected(given, message):
    X, y = sample(120)
    with pytest.raises(ValueError, match=message):
        aucrank.compare(X, y, models={"x": Column(0)}, **given)


def test_a_gap_is_of_the_kind_of_the_times():
    X, y = sample(120)
    days = pd.date_range("2024-01-01", periods=120)
    for time, gap in [(np.arange(120), timedelta(days=1)), (days, 1), (np.arange(120), "1")]:
        with pytest.raises(TypeError, match="gap"):
            aucrank.compare(X, y, models={"x": Column(0)}, time=time, gap=gap)


def test_the_error_for_a_panel_of_groups_and_times_says_what_to_do():
    X, y = sample(120)
    panel = {"groups": np.arange(120) % 12, "time": np.arange(120) // 12}
    rows = pd.DataFrame(X).rename(columns=str).assign(y=y, **panel)
    dataset = aucrank.data.Dataset.from_batches(
        [rows], target="y", groups="groups", time="time", columns=["0", "1"]
    )
    for given in ({"X": X, "y": y} | panel, {"X": dataset}):
        with pytest.raises(ValueError, match="100% of the rows are of groups with the same latest"):
            aucrank.compare(**given, models={"x": Column(0)}, cv=5)
    for name, values in panel.items():
        board = aucrank.compare(X, y, models={"x": Column(0)}, cv=5, **{name: values})
        assert board.models["n_folds"].tolist() == [5]


def test_groups_are_never_split():
    X, y = sample(120)
    groups = np.arange(120) // 6
    X = np.c_[X, groups]
    met = []

    class Spy(Column):
        def fit(self, X, y):
            self.groups_ = set(X[:, -1])
            return super().fit(X, y)

        def decision_function(self, X):
            met.append(self.groups_ & set(X[:, -1]))
            return super().decision_function(X)

    board = aucrank.compare(X, y, models={"spy": Spy()}, groups=groups, cv=4, n_repeats=2)
    assert met == [set()] * 8
    assert "groups kept together" in board.to_html()
    met.clear()
    aucrank.compare(X, y, models={"spy": Spy()}, groups=groups, cv=GroupKFold(3))
    assert met == [set()] * 3


@pytest.mark.parametrize("seed", [0, 7])
def test_estimators_without_a_seed_have_that_of_the_comparison(seed):
    X, y = sample(120)
    trees = {"n_estimators": 5, "max_features": 1}

    def models(random_state):
        forest = RandomForestClassifier(**trees, random_state=random_state)
        return {
            "forest": forest,
            "within": make_pipeline(StandardScaler(), forest),
            "own seed": RandomForestClassifier(**trees, random_state=3),
        }

    given = models(None)
    board = aucrank.compare(X, y, models=given, random_state=seed)
    expected = aucrank.compare(X, y, models=models(seed), random_state=seed)
    assert dict(zip(board.models["model"], board.models["auc"], strict=True)) == dict(
        zip(expected.models["model"], expected.models["auc"], strict=True)
    )
    assert given["forest"].random_state is None
    by_name = aucrank.compare(X, y, models="RankingForest", random_state=seed)
    by_class = aucrank.compare(X, y, models=aucrank.RankingForest(), random_state=seed)
    assert by_name.models["auc"].tolist() == by_class.models["auc"].tolist()


def test_row_numbers_of_folds_refer_to_the_passed_rows():
    X, y = sample(40)
    weight = np.ones(40)
    weight[:4] = 0
    halves = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(40) < 20)]
    board = aucrank.compare(X, y, models="RIMARC", cv=halves, sample_weight=weight)
    # Rows of weight 0 do not count.
    model = RIMARC().fit(X[4:20], y[4:20])
    first = roc_auc_score(y[20:], model.decision_function(X[20:]))
    assert board.folds["auc"][0] == pytest.approx(first)


# Time and size


def test_numbers_of_rules_are_those_reported_by_the_models():
    X, y = sample(200)
    forest = RandomForestClassifier(7, random_state=0)
    models = {
        "tree": TreeRank(random_state=0),
        "table": RIMARC(),
        "linear": RankOpt(),
        "forest": forest,
        "two-sided": TwoSidedClassifier(ranker=LogisticRegression()),
    }
    board = aucrank.compare(
        X,
        y,
        models=models,
        cv=[(np.arange(100), np.arange(100, 200)), (np.arange(100, 200), np.arange(100))],
    )
    folds = board.folds.to_frame().set_index(["model", "fold"])
    fitted = TreeRank(random_state=0).fit(X[:100], y[:100])
    assert folds.loc[("tree", 1), "n_rules"] == fitted.tree_.n_leaves
    assert folds.loc[("linear", 1), "n_rules"] == 3
    # Models other than ours and the known peers report nothing.
    assert np.isnan(folds.loc[("forest", 1), "n_rules"])
    known = aucrank.compare(X, y, models="RandomForestClassifier", cv=2).folds
    assert known["n_rules"].min() > 100


def test_every_installed_peer_is_compared_and_counted():
    X, labels = loans(200, seed=2)
    # An explainable boosting machine takes a minute, and CatBoost ten seconds.
    slow = {"ExplainableBoostingClassifier", "CatBoostClassifier"}
    names = [name for name, peer in PEERS.items() if peer.is_installed and name not in slow]
    board = board_of(X, labels, models=names, cv=2)
    assert (board["error"] == "").all()
    counted = [name for name in names if PEERS[name].rules is not None]
    assert (board.loc[counted, "n_rules"] > 0).all()


def test_the_size_of_our_models_is_that_of_their_files(tmp_path):
    X, y = sample(100)
    halves = [(np.arange(50), np.arange(50, 100)), (np.arange(50, 100), np.arange(50))]
    board = aucrank.compare(X, y, models="TreeRank", cv=halves)
    for (train, _), n_bytes in zip(halves, board.folds["n_bytes"], strict=True):
        TreeRank(random_state=0).fit(X[train], y[train]).save(tmp_path / "model.json")
        assert n_bytes == (tmp_path / "model.json").stat().st_size


# Printed output


def test_it_prints_its_progress_on_request():
    X, y = sample(40)

    def said(verbose):
        with redirect_stdout(io.StringIO()) as out:
            aucrank.compare(X, y, models=columns(2), cv=2, verbose=verbose)
        return out.getvalue().splitlines()

    assert said(0) == []
    assert [line.split(":")[0] for line in said(1)] == ["[compare] column 0", "[compare] column 1"]
    assert len(said(2)) == 4
    assert " 1 of 2 folds" in said(2)[0]
    assert said(2)[0].endswith("left")


def test_tables_go_into_frames_of_every_library():
    X, y = sample(40)
    board = aucrank.compare(X, y, models=columns(2), cv=2)
    for backend, module in (("pandas", pd), ("polars", pl), ("pyarrow", pa)):
        frame = board.to_frame(backend)
        assert type(frame).__module__.startswith(module.__name__)
        assert list(frame.columns if backend != "pyarrow" else frame.column_names) == list(
            board.models
        )
    assert json.loads(board.to_frame().to_json())["rank"] == {"0": 1, "1": 2}
    assert "<table>" in board._repr_html_()


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"models": "RIMARCK"}, ValueError, "no model 'RIMARCK'; did you mean 'RIMARC'"),
        ({"models": []}, ValueError, "models is empty"),
        ({"models": {1: RIMARC()}}, TypeError, "name of a model"),
        ({"models": {"a": "RIMARC"}}, TypeError, "model 'a' must be an estimator"),
        ({"models": RIMARC}, TypeError, "got the class RIMARC"),
        ({"models": [StandardScaler()]}, TypeError, "must score rows"),
        ({"peers": "yes"}, TypeError, "peers"),
        ({"cv": 1}, ValueError, "cv must be at least 2"),
        ({"cv": "five"}, TypeError, "cv must be a number of folds"),
        ({"cv": 21}, ValueError, "the smaller class has 20 rows"),
        ({"cv": ShuffleSplit(3, random_state=0)}, ValueError, "cv must hold out each row"),
        ({"cv": [([0, 1], [1, 2])]}, ValueError, "cv fits to rows of fold 1 that it holds out"),
        ({"cv": [([0, 1], [40, 2])]}, ValueError, "cv gives rows from 2 to 40, but X has 40"),
        ({"cv": [([0, 2], [1, 3])]}, ValueError, "cv fits to rows of one class, or none, in fold"),
        ({"cv": StratifiedKFold(2), "n_repeats": 2}, ValueError, "n_repeats=2 needs a number"),
        ({"n_repeats": 0}, ValueError, "n_repeats"),
        ({"groups": [1, 2]}, ValueError, "groups has 2 entries, but y has 40"),
        ({"confidence": 1.0}, ValueError, "confidence"),
        ({"time_limit": 0}, ValueError, "time_limit"),
        ({"parallel": "processes"}, ValueError, "parallel must be one of 'threads', 'folds'"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"verbose": -1}, ValueError, "verbose"),
        ({"sample_weight": np.arange(40) % 2}, ValueError, "sample_weight is zero for every row"),
    ],
)
def test_bad_input_is_named_in_the_error(kwargs, error, message):
    X, y = sample(40)
    with pytest.raises(error, match=message):
        aucrank.compare(X, y, **{"models": columns(1)} | kwargs)


def test_a_peer_that_is_not_installed_raises_an_error_that_names_it(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    X, y = sample(40)
    with pytest.raises(ImportError, match="LGBMClassifier needs lightgbm, which is not installed"):
        aucrank.compare(X, y, models="LGBMClassifier")

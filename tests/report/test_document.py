"""`aucrank.report`: its input, its output and its errors."""

import html
import sys
from datetime import datetime

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank import RIMARC, LinearRanker, MartiRank, RankingEnsemble, Scorecard
from aucrank.metrics import auc_interval, partial_auc
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from tests.common.reports import halves, models, to_arrow, to_polars


def report(which=("table", "tree"), **options):
    X, y = halves()[2:]
    return aucrank.report({name: models()[name] for name in which}, X, y, **options)


def test_the_main_figures_are_those_of_the_statistics():
    X, y = halves()[2:]
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    found = report(sample_weight=weight, confidence=0.9, max_fpr=0.2).models
    assert found["model"].tolist() == ["table", "tree"]
    for place, name in enumerate(found["model"]):
        model = models()[name]
        scores = model.decision_function(X)
        interval = auc_interval(y, scores, sample_weight=weight, confidence=0.9, method="logit")
        assert found["auc"][place] == pytest.approx(roc_auc_score(y, scores, sample_weight=weight))
        assert (found["low"][place], found["high"][place]) == (interval.low, interval.high)
        assert found["partial_auc"][place] == pytest.approx(
            partial_auc(y, scores, sample_weight=weight, fpr=(0, 0.2), standardize=True)
        )
        assert found["brier"][place] == pytest.approx(
            brier_score_loss(y, model.predict_proba(X)[:, 1], sample_weight=weight)
        )


def test_rows_of_weight_0_do_not_count():
    X, y = halves()[2:]
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    kept = weight > 0
    model = models()["tree"]
    without = aucrank.report(model, X[kept], y[kept], sample_weight=weight[kept])
    assert aucrank.report(model, X, y, sample_weight=weight).html == without.html


def test_equal_models_and_rows_make_equal_pages():
    X_train = halves()[0]
    assert report(X_train=X_train).html == report(X_train=X_train).html


@pytest.mark.parametrize("convert", [to_polars, to_arrow])
def test_frames_of_every_library_make_the_same_page(convert):
    X_train, _, X, y = halves()
    expected = report(X_train=X_train)
    made = aucrank.report(
        {name: models()[name] for name in ("table", "tree")},
        convert(X),
        y,
        X_train=convert(X_train),
    )
    assert made.html == expected.html


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        LinearSVC(),
        RIMARC(),
        MartiRank(n_rounds=2),
        Scorecard(),
        RankingEnsemble(members=[("linear", LinearRanker()), ("table", RIMARC())], n_folds=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_any_model_that_scores_rows_is_reported_on(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    y = np.where(X[:, 0] + rng.normal(size=240) > 0, "yes", "no")
    model.fit(X[:120], y[:120])
    made = aucrank.report(model, X[120:], y[120:])
    scores = (
        model.decision_function(X[120:])
        if hasattr(model, "decision_function")
        else model.predict_proba(X[120:])[:, 1]
    )
    assert made.models["auc"][0] == pytest.approx(roc_auc_score(y[120:] == "yes", scores))
    assert np.isnan(made.models["brier"][0]) == (not hasattr(model, "predict_proba"))
    assert "of class yes, the positive one" in made.summary


def test_models_are_named_by_class_by_given_name_or_by_key():
    X, y = halves()[2:]
    two = [models()["table"], models()["table"]]
    assert aucrank.report(two, X, y).models["model"].tolist() == ["RIMARC 1", "RIMARC 2"]
    made = aucrank.report(two, X, y, names=["old", "new"])
    assert made.models["model"].tolist() == ["old", "new"]
    assert report().models["model"].tolist() == ["table", "tree"]


def test_the_saved_page_is_complete(tmp_path):
    made = report(path=tmp_path / "here.html")
    assert (tmp_path / "here.html").read_text("utf-8") == made.html
    made.save(tmp_path / "there.html")
    assert (tmp_path / "there.html").read_bytes() == (tmp_path / "here.html").read_bytes()


def test_a_notebook_shows_the_page_in_an_iframe():
    made = report(["tree"])
    shown = made._repr_html_()
    assert shown.startswith("<iframe ")
    assert html.escape(made.html) in shown
    assert repr(made).startswith("<Report of 400 rows, tree: AUC 0.")


def test_a_title_and_a_time_are_shown():
    made = report(["tree"], title="Loans of 2026", timestamp=datetime(2026, 11, 23, 9, 30))
    assert "<h1>Loans of 2026</h1>" in made.html
    assert '<time datetime="2026-11-23T09:30:00">2026-11-23 09:30</time>' in made.html


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"confidence": 1.0}, ValueError, "confidence == 1.0"),
        ({"max_fpr": 0}, ValueError, r"max_fpr must be in \(0.0, 1.0\], got 0"),
        ({"costs": {"fp": 1}}, ValueError, "costs must be a dict with the keys"),
        (
            {"costs": {"false_positive": 1, "false_negative": -1}},
            ValueError,
            r"costs\['false_negative'\] must be in",
        ),
        ({"title": 3}, TypeError, "title must be a str or None, got 3"),
        ({"sample_weight": [1.0]}, ValueError, "sample_weight.shape"),
        ({"names": ["a", "b"]}, ValueError, "models has names of its own"),
        ({"X_train": [[1.0]]}, ValueError, "X_train has other columns than X"),
    ],
)
def test_bad_arguments_are_named_in_the_error(options, error, message):
    with pytest.raises(error, match=message):
        report(**options)


def test_labels_must_be_those_of_the_models_and_of_both_classes():
    X, y = halves()[2:]
    model = models()["tree"]
    with pytest.raises(ValueError, match="contains only one class: 1"):
        aucrank.report(model, X, np.ones(len(y), int))
    with pytest.raises(ValueError, match="none of the classes seen in fit"):
        aucrank.report(model, X, np.where(y == 1, "bad", "fine"))
    with pytest.raises(ValueError, match="X has 400 rows but y has 399 labels"):
        aucrank.report(model, X, y[1:])


def test_objects_that_are_not_fitted_rankers_are_rejected():
    X, y = halves()[2:]
    with pytest.raises(NotFittedError):
        aucrank.report(RIMARC(), X, y)
    with pytest.raises(TypeError, match="must be an estimator, got the class RIMARC"):
        aucrank.report([RIMARC], X, y)
    with pytest.raises(TypeError, match="has neither"):
        aucrank.report([StandardScaler().fit(X[["age"]])], X, y)
    with pytest.raises(ValueError, match="1 to 8 models, got 0"):
        aucrank.report([], X, y)
    with pytest.raises(ValueError, match="1 to 8 models, got 9"):
        aucrank.report([models()["tree"]] * 9, X, y)
    with pytest.raises(ValueError, match="two models are called 'a'"):
        aucrank.report([models()["tree"]] * 2, X, y, names=["a", "a"])


def test_a_model_of_three_classes_is_rejected():
    X = np.arange(30.0).reshape(-1, 1)
    model = LogisticRegression().fit(X, np.arange(30) % 3)
    with pytest.raises(ValueError, match="model 'LogisticRegression' has 3"):
        aucrank.report(model, X, np.arange(30) % 2)


def test_without_jinja2_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'aucrank\[report\]'"):
        report()


def test_the_fewest_possible_rows_give_a_page():
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
    model = RIMARC().fit(X, [0, 0, 1, 1])
    made = aucrank.report(model, X[1:3], [0, 1])
    assert any("has 1 row, fewer than 100" in text for text in made.warnings)
    constant = aucrank.report(model, X.assign(x=np.nan), [0, 1, 0, 1])
    assert constant.models["auc"][0] == 0.5
    assert any("same score" in text for text in constant.warnings)

"""The page of a model, which every estimator has."""

import sys

import aucrank
import numpy as np
import pytest
from aucrank import AUCBoost, GradientBoostingRanker, RankingForest, Scorecard, TreeRank
from aucrank._base.registry import public_estimators
from sklearn.exceptions import NotFittedError

from tests.common.html import Page
from tests.common.reports import halves, model_pages


@pytest.fixture(scope="module", params=public_estimators())
def name(request):
    pytest.importorskip("jinja2")
    return request.param


def test_every_estimator_has_a_page_without_external_resources(name):
    html = model_pages()[name]
    assert html.startswith("<!DOCTYPE html>")
    page = Page(html)
    assert not page.all("img", "link", "iframe", "object", "embed", "form", "use", "image")
    for element in page.elements:
        attributes = element["attributes"]
        assert not {"src", "srcset", "action"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")
    assert "url(" not in html
    assert "@import" not in html
    assert "http://" not in html
    assert "https://" not in html


def test_the_page_shows_the_columns_and_the_parameters(name):
    if name in ("Scorecard", "IntegerScore"):
        pytest.skip("a card has a page of its own form")
    X = halves()[0]
    page = Page(model_pages()[name])
    assert page.all("h1")[0]["text"] == f"{name}: 1 above 0"
    heads = [e["text"] for e in page.all("th") if e["attributes"]["scope"] == "row"]
    for column in X.drop(columns="trade") if name == "RankOpt" else X:
        assert column in heads
    for parameter in public_estimators()[name]().get_params(deep=False):
        assert parameter in heads


def test_columns_are_sorted_by_importance():
    X, y, *_ = halves()
    for model in (
        TreeRank(random_state=0),
        RankingForest(n_estimators=5, random_state=0),
        GradientBoostingRanker(n_rounds=5, random_state=0),
    ):
        page = Page(model.fit(X, y).to_html())
        shown = [e["text"] for e in page.all("th") if e["attributes"]["scope"] == "row"]
        importance = dict(zip(X, model.feature_importances_, strict=True))
        found = [importance[column] for column in shown[: len(importance)]]
        assert found == sorted(importance.values(), reverse=True)


def test_the_page_shows_the_rules_and_strata_of_a_tree():
    X, y, *_ = halves()
    tree = TreeRank(random_state=0).fit(X, y)
    page = Page(tree.to_html())
    cells = [e["text"].strip() for e in page.all("td")]
    for rule in tree.tree_.strata["rule"]:
        assert rule in cells
    assert page.all("pre")[0]["text"].rstrip() == tree.tree_.to_text().rstrip()


def test_a_saved_model_has_the_same_page(tmp_path):
    X, y, *_ = halves()
    model = AUCBoost(n_rounds=5).fit(X, y)
    model.save(tmp_path / "model.json")
    assert aucrank.load(tmp_path / "model.json").to_html() == model.to_html()


def test_columns_without_names_and_constant_models_have_a_page():
    X, y = np.ones((20, 2)), np.arange(20) % 2
    page = Page(TreeRank(pruning=None).fit(X, y).to_html())
    assert {"x0", "x1"} <= {e["text"] for e in page.all("th")}


def test_long_lists_of_columns_are_cut():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 700)), np.arange(60) % 2
    text = Page(TreeRank(random_state=0).fit(X, y).to_html()).all("main")[0]["text"]
    assert "200 more columns are left out." in text


def test_to_html_needs_a_fit_and_jinja2(monkeypatch):
    with pytest.raises(NotFittedError):
        TreeRank().to_html()
    X, y, *_ = halves()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"TreeRank\.to_html needs jinja2: run `pip install 'auc"):
        TreeRank(random_state=0).fit(X, y).to_html()
    # The page of a card needs no jinja2.
    assert Scorecard().fit(X, y).to_html().startswith("<!DOCTYPE html>")

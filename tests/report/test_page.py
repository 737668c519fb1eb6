"""The page as HTML: contents, accessibility and security."""

import base64
import hashlib
import re
from itertools import pairwise

import aucrank
import numpy as np
import pytest
from aucrank import GradientBoostingRanker, Scorecard
from aucrank._page import formats
from aucrank._utils.plain_text import escaped
from aucrank.metrics import auc_compare, auc_interval

from tests.common.html import Page
from tests.common.reports import HOSTILE, OTHER_PAGES, PAGES, halves, models


@pytest.fixture(scope="module", params=PAGES | OTHER_PAGES)
def html(request):
    return (PAGES | OTHER_PAGES)[request.param]()


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


@pytest.fixture(scope="module", params=PAGES)
def report(request):
    return Page(PAGES[request.param]())


def test_nothing_is_requested_and_no_other_script_may_run(html, page):
    assert not page.all("img", "link", "iframe", "object", "embed", "form", "use", "image")
    for element in page.elements:
        attributes = element["attributes"]
        assert not {"src", "srcset", "style", "action", "xlink:href"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("href", "#").startswith("#")
    assert not re.search(r"url\(|@import", html)
    (script,) = page.all("script")
    digest = base64.b64encode(hashlib.sha256(script["text"].encode()).digest()).decode()
    policy = next(
        e["attributes"]["content"]
        for e in page.all("meta")
        if e["attributes"].get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src 'sha256-{digest}'" in policy


def test_landmarks_and_headings_are_in_order(page):
    for landmark in ("header", "nav", "main", "footer"):
        assert len(page.all(landmark)) == 1
    levels = [int(element["tag"][1]) for element in page.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.all("html")[0]["attributes"]["lang"] == "en"
    assert page.all("title")[0]["text"] == page.all("h1")[0]["text"]
    assert page.all("a")[0]["attributes"] == {"class": "skip", "href": "#summary"}


def test_ids_are_unique_and_links_have_targets(page):
    names = [e["attributes"]["id"] for e in page.elements if "id" in e["attributes"]]
    assert len(names) == len(set(names))
    for element in page.elements:
        if "href" in element["attributes"]:
            assert element["attributes"]["href"][1:] in names
        if "aria-labelledby" in element["attributes"]:
            assert element["attributes"]["aria-labelledby"] in names


def test_every_picture_has_a_description_or_is_hidden(report):
    pictures = report.all("svg")
    assert len(pictures) > 8
    for picture in pictures:
        attributes = picture["attributes"]
        if attributes.get("role") == "img":
            assert re.search(r"\d", attributes["aria-label"])
            assert "figure" in picture["within"]
        else:
            assert attributes["aria-hidden"] == "true"
    numbers = re.compile(r"^[MLZV\d. -]*$")
    assert all(numbers.match(e["attributes"]["d"]) for e in report.all("path"))


def test_a_report_has_its_figures_in_tables_too(report):
    assert len(report.all("table")) >= 6


def test_tables_have_captions_and_headings_and_scroll_by_the_keyboard(page):
    tables = page.all("table")
    assert len(tables) >= 2
    assert len(page.all("caption")) == len(tables)
    for head in page.all("th"):
        assert head["attributes"]["scope"] in ("col", "row")
    for box in page.elements:
        if "scroll" in box["attributes"].get("class", "").split():
            assert box["attributes"]["tabindex"] == "0"
            assert box["attributes"]["role"] == "group"
    assert all("details" in e["within"] for e in page.all("summary"))


def test_names_levels_and_labels_are_escaped():
    page = Page(PAGES["hostile"]())
    text = page.all("main")[0]["text"]
    for name in HOSTILE:
        assert escaped(name) in text or len(name) == 300
    assert "left\\u202e\\x07" in text
    assert page.all("h1")[0]["text"] == rf"{HOSTILE[2]}\ud800"
    assert len(page.all("script")) == 1
    # The one of the page itself.
    assert "alert" not in page.all("script")[0]["text"]


def test_names_and_labels_of_a_model_are_escaped():
    page = Page(OTHER_PAGES["hostile model"]())
    text = page.all("main")[0]["text"]
    for name in HOSTILE:
        assert escaped(name) in text
    assert page.all("h1")[0]["text"] == f"TreeRank: {HOSTILE[0]} above {HOSTILE[1]}"
    assert len(page.all("script")) == 1
    assert "alert" not in page.all("script")[0]["text"]


def test_figures_of_the_tables_are_those_of_the_statistics():
    X, y = halves()[2:]
    two = {name: models()[name] for name in ("table", "tree")}
    page = Page(aucrank.report(two, X, y, confidence=0.9).html)
    cells = [e["text"].strip() for e in page.all("td", "th")]
    scores = [model.decision_function(X) for model in two.values()]
    for name, of_model in zip(two, scores, strict=True):
        found = auc_interval(y, of_model, confidence=0.9)
        start = cells.index(name)
        assert cells[start + 1] == formats.area(found.auc)
        assert cells[start + 2] == f"{formats.area(found.low)} to {formats.area(found.high)}"
        assert cells[start + 3] == formats.area(found.standard_error)
    found = auc_compare(y, *scores, confidence=0.9)
    start = cells.index("table less tree")
    assert cells[start + 1] == formats.signed(found.difference)
    assert cells[start + 2] == f"{formats.signed(found.low)} to {formats.signed(found.high)}"
    assert cells[start + 3] == formats.p_value(found.p_value)


def test_a_long_card_is_complete_and_collapsed():
    X_train, y_train, X, y = halves()
    card = Scorecard().fit(X_train, y_train)
    assert card.to_text().count("\n") > 40
    page = Page(aucrank.report(card, X, y).html)
    (text,) = page.all("pre")
    assert text["text"].rstrip() == card.to_text().rstrip()
    assert "details" in text["within"]


def test_a_page_of_many_rows_is_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120_000, 5))
    y = X[:, 0] + rng.normal(size=len(X)) > 1
    model = GradientBoostingRanker(n_rounds=30, random_state=0).fit(X[:5000], y[:5000])
    made = aucrank.report(model, X, y)
    assert len(made.html) < 400_000

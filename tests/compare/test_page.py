"""The leaderboard as a page."""

import re
from datetime import UTC, datetime
from html import escape
from xml.etree import ElementTree

import aucrank
import numpy as np
import pytest
from aucrank._compare import page
from aucrank._compare.page import n_bytes_in_words
from sklearn.linear_model import LogisticRegression

from tests.common.contestants import Column, sample
from tests.common.reports import HOSTILE, board


def text_of(html):
    """The visible text, without the styles and the script."""
    body = re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body))


def test_the_text_names_the_best_model_and_those_significantly_worse():
    text = text_of(board().to_html())
    table = board().models
    assert table["model"].tolist() == ["good", "as good", "worse", "broken"]
    assert table["p_value"][1] > 0.05 > table["p_value"][2]
    assert "good (tests) ranks best" in text
    assert "Chance would explain how far as good (tests) is behind it." in text
    assert "by Bonferroni&#39;s method for 3 pairs of models" in text
    assert "failed: RuntimeError: out of luck" in text
    for place in range(3):
        for name in ("auc", "low", "high"):
            assert f"{table[name][place]:.4f}" in text


def test_the_chart_has_a_dot_and_a_whisker_for_each_model():
    html = board().to_html()
    (drawn,) = re.findall(r"<svg role=.img.*?</svg>", html, flags=re.DOTALL)
    picture = ElementTree.fromstring(drawn)
    dots = [group for group in picture.iter("g") if "dot" in group.get("class", "").split()]
    assert [group.get("class").split()[0] for group in dots] == ["s1", "s1", "quiet"]
    table = board().models
    tops, bottoms, middles = [], [], []
    for group in dots:
        low, high = re.fullmatch(
            r"M[0-9.]+ ([0-9.]+)V([0-9.]+)", group.find("path").get("d")
        ).groups()
        bottoms.append(float(low))
        tops.append(float(high))
        middles.append(float(group.find("circle").get("cy")))
    # All places are on one linear scale.
    places = [*bottoms, *tops, *middles]
    values = [*table["low"][:3], *table["high"][:3], *table["auc"][:3]]
    least, most = np.argmin(values), np.argmax(values)
    slope = (places[most] - places[least]) / (values[most] - values[least])
    for place, value in zip(places, values, strict=True):
        assert place == pytest.approx(places[least] + slope * (value - values[least]), abs=0.11)


def test_equal_results_make_equal_pages_and_the_time_is_added_on_request(tmp_path):
    found = board()
    assert found.to_html() == found.to_html()
    found.save(tmp_path / "a.html", title="Mine", timestamp=datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    content = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<h1>Mine</h1>" in content
    assert "2026-01-02 03:04" in content


def test_names_are_shown_escaped():
    X, y = sample(40)
    html = aucrank.compare(X, y, models={name: Column() for name in HOSTILE[:4]}, cv=2).to_html()
    for name in HOSTILE[:4]:
        assert escape(name, quote=False) in html.replace("&#34;", '"')
        if "<" in name:
            assert name not in html


def test_a_single_model_is_compared_with_none():
    X, y = sample(40)
    html = aucrank.compare(X, y, models=LogisticRegression(), cv=2).to_html()
    assert "Differences to the best" not in html
    assert "How 1 model ranks" in html


def test_any_number_of_models_is_shown():
    X, y = sample(40, noise=(1.0,) * 50)
    models = {f"column {place}": Column(place) for place in range(50)}
    html = aucrank.compare(X, y, models=models, cv=2).to_html()
    (drawn,) = re.findall(r"<svg role=.img.*?</svg>", html, flags=re.DOTALL)
    assert drawn.count("<circle") == 50
    assert drawn.count('<text class="x"') <= 20


def test_without_jinja2_the_error_says_what_to_install(monkeypatch):
    def absent():
        raise ImportError("report needs jinja2: run `pip install 'aucrank[report]'`")

    monkeypatch.setattr("aucrank._page.page.import_jinja", absent)
    with pytest.raises(ImportError, match="jinja2"):
        board().to_html()
    assert page.one_line(board()._facts) == board().one_line


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (12_345, "12.3 kB"),
        (2.5e6, "2.5 MB"),
        (7e9, "7 GB"),
    ],
)
def test_sizes_are_written_in_a_suitable_unit(n_bytes, text):
    assert n_bytes_in_words(n_bytes) == text

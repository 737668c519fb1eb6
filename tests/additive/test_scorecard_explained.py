"""Output of a scorecard: reasons, the table of the card, the page, the sheet."""

import csv
import io
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from aucrank import RIMARC, RankBoost, Scorecard
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator

from tests.common.loans import SPECIAL, X, Y, document
from tests.common.real_data import load, needs_data

# Reasons.


@pytest.fixture(scope="module")
def card():
    return Scorecard(special_values=SPECIAL, min_bin_share=0.02).fit(X, Y)


@pytest.mark.parametrize("why", ["few", "many"])
@pytest.mark.parametrize("baseline", ["extreme", "mean"])
def test_reasons_are_the_features_that_cost_most(card, why, baseline):
    codes, points = card.reason_codes(X, 3, why=why, baseline=baseline, return_points=True)
    parts = card.points_by_feature(X)
    names = list(X.columns)
    for row in range(0, len(X), 37):
        lost = []
        for place in range(len(names)):
            column = parts[:, place]
            best = {"few": max, "many": min}[why](column)
            best = column.mean() if baseline == "mean" else best
            lost.append((best - column[row]) * (1 if why == "few" else -1))
        order = sorted(range(len(names)), key=lambda place: (-lost[place], place))
        expected = [names[place] if lost[place] > 1e-9 else None for place in order[:3]]
        assert codes[row].tolist() == expected
        assert_allclose(points[row], [max(lost[place], 0) for place in order[:3]], atol=1e-9)


def test_reasons_are_printed_in_words(card):
    codes = card.reason_codes(X, 2, reasons={"age": "A1: too young", "income": "B2"})
    assert (
        {"A1: too young", "B2"} <= set(codes.ravel()) <= {"A1: too young", "B2", None, *X.columns}
    )
    best = X.iloc[[card.points(X).argmax()]]
    assert card.reason_codes(best, 9).shape == (1, 9)
    assert card.reason_codes(best, 9)[0, 5:].tolist() == [None] * 4
    for params, error, message in (
        ({"n_reasons": 0}, ValueError, "n_reasons must be at least 1"),
        ({"why": "low"}, ValueError, "why must be one of"),
        ({"baseline": "best"}, ValueError, "baseline must be one of"),
        ({"reasons": {"Age": "x"}}, ValueError, "reasons names columns that X does not have"),
        ({"reasons": ["x"]}, TypeError, "reasons must be a mapping"),
        ({"return_points": 1}, TypeError, "return_points"),
    ):
        with pytest.raises(error, match=message):
            card.reason_codes(X, **params)


def test_a_bin_without_training_rows_is_no_baseline():
    # Missing values have most points of all, but no training row had one.
    rows = pd.DataFrame({"a": [0.0, 1.0] * 30, "b": [0.0, 0.0, 1.0] * 20})
    y = np.array([0, 1] * 30)
    y[::7] = 1 - y[::7]
    ranker = RankBoost(n_rounds=5).fit(rows, y)
    card = Scorecard(estimator=FrozenEstimator(ranker)).fit(rows, y)
    best = rows.iloc[[card.points(rows).argmax()]]
    assert card.reason_codes(best).tolist() == [[None] * 4]


# Printed card.


def test_the_table_of_the_card_counts_the_training_rows(card):
    table = card.card()
    frame = card.to_frame()
    assert list(frame.columns) == list(table)
    for name, block in frame.groupby("feature"):
        assert block["size"].sum() == len(X), name
        assert block["n_pos"].sum() == (Y == "default").sum()
        assert block["share"].sum() == pytest.approx(1)
    known = frame["size"] > 0
    assert_allclose(frame["rate"][known], (frame["n_pos"] / frame["size"])[known])
    # Each row of X, looked up by its rule.
    points = np.full(len(X), card.initial_points_)
    for rule, of_bin in zip(frame["rule"], frame["points"], strict=True):
        points[rows_of(rule)] += of_bin
    assert_array_equal(points, card.points(X))


def rows_of(rule):
    """Return which rows of X satisfy a printed rule."""
    name, _, rest = rule.partition(" ")
    if rest == "is missing":
        return X[name].isna().to_numpy()
    if " = " in rule and name != "trade":
        return (X[name] == float(rule.split(" = ")[1])).to_numpy()
    if rule.startswith("trade"):
        listed = rule.split(" = ", 1)[1] if " = " in rule else rule.split(" in {")[1].rstrip("}")
        return X["trade"].isin(listed.split(", ")).to_numpy()
    rule, _, apart = rule.partition(" except ")
    said = X.eval(rule.replace("trade", "age")) if "<" in rule or ">" in rule else None
    rows = said.to_numpy().copy()
    if apart:
        column = next(name for name in X.columns if name in rule)
        rows &= ~(X[column] == float(apart)).to_numpy()
    return rows


def test_bands_of_points_hold_the_training_rows(card):
    points, positive = card.points(X), Y == "default"
    for n_bands in (1, 4, 10, 10_000):
        table = card.score_table(n_bands)
        assert table.n_rows <= n_bands
        for place in range(table.n_rows):
            rows = (points >= table["low"][place]) & (points <= table["high"][place])
            assert rows.sum() == table["size"][place]
            assert positive[rows].sum() == table["n_pos"][place]
            assert table["rate"][place] == pytest.approx(positive[rows].mean())
            mean = card.predict_proba(X[rows])[:, 1].mean()
            assert table["expected_rate"][place] == pytest.approx(mean)
            below = points <= table["high"][place]
            assert table["size_up_to"][place] == pytest.approx(below.mean())
            assert table["pos_up_to"][place] == pytest.approx(below[positive].mean())
            assert table["neg_up_to"][place] == pytest.approx(below[~positive].mean())
            gap = abs(below[positive].mean() - below[~positive].mean())
            assert table["ks"][place] == pytest.approx(gap, abs=1e-12)
        assert table["size"].sum() == len(X)
    assert table["ks"].max() == pytest.approx(card.ks_)
    assert card.score_table(10).n_rows > 5
    # A band holds the rows whose middle it does: 60 in 100 are no more than one of two bands.
    two = Scorecard(estimator=RIMARC()).fit(
        np.repeat([[0.0], [1.0]], [60, 40], axis=0), np.arange(100) % 7 > 3
    )
    assert two.score_table(2)["size"].tolist() == [60, 40]
    with pytest.raises(ValueError, match="n_bands must be at least 1"):
        card.score_table(0)


def test_points_can_be_added_up_from_the_printed_card(card):
    text = card.to_text()
    assert max(map(len, text.splitlines())) <= 100
    assert f"Start with {card.initial_points_} points" in text
    blocks, name = {}, None
    for line in text[text.index("rows  share") : text.index("Total")].splitlines()[1:]:
        if line and not line.startswith(" "):
            name = line
            blocks[name] = []
        elif line.strip():
            blocks[name].append(line)
    on_card = document(card)["features"]
    # Points without training rows are below the blocks.
    shown = {name: lines for name, lines in blocks.items() if name in X}
    assert list(shown) == [X.columns[feature["feature"]] for feature in on_card]
    for feature, lines in zip(on_card, shown.values(), strict=True):
        seen = [
            (sums["rows"], points)
            for points, sums in zip(feature["points"], feature["sums"], strict=True)
            if sums["rows"] > 0
        ]
        found = [
            tuple(map(int, line.replace(",", "").split()[-4:-2][::-1]))
            for line in lines
            if line.endswith("%")
        ]
        assert sorted(found) == sorted(seen)


def test_categories_with_most_points_are_printed_first(card):
    lines = [line.split() for line in card.to_text().splitlines()]
    listed = [line for line in lines if line and line[0] in {*X["trade"].cat.categories}]
    points = [int(line[1]) for line in listed]
    assert len(points) > 2
    assert points == sorted(points, reverse=True)


def test_printed_totals_have_their_probability_and_share_of_rows(card):
    table = card.to_text().partition("rows with fewer\n")[2].partition("\n\n")[0]
    points = card.points(X)
    shares = []
    for line in table.splitlines():
        total, chance, share = line.split()
        assert chance == f"{100 * card.probability_at(int(total)):.1f}%"
        shares.append((points < int(total)).mean())
        assert share == f"{100 * shares[-1]:.1f}%"
    assert shares[0] == 0
    assert shares[-1] == 1
    # A total may be that of a row, which then does not count as lower.
    assert {int(line.split()[0]) for line in table.splitlines()} & {*points.tolist()}


def test_a_small_share_is_not_printed_as_zero():
    kinds = pd.DataFrame({"kind": np.repeat(["a", "b", "rare"], [2000, 1999, 1])})
    y = np.arange(4000) % 10 < np.repeat([2, 8], 2000)
    text = Scorecard(estimator=RIMARC(), min_bin_share=0).fit(kinds, y).to_text()
    (line,) = (line for line in text.splitlines() if line.strip().startswith("rare"))
    assert "<0.1%" in line


def test_special_and_missing_values_without_rows_are_printed_below_the_card():
    card = Scorecard(special_values=[-1, 9_999_999]).fit(X, Y)
    blocks, below = " ".join(card.to_text().split()).split("Points of what no training row had: ")
    assert "exactly -1 " in blocks
    assert "exactly 9999999" not in blocks
    table = card.card()
    unseen = table["size"] == 0
    # Six digits would make it 1e+07.
    assert "age = 9999999" in table["rule"][unseen]
    listed = zip(table["rule"][unseen], table["points"][unseen], strict=True)
    said = ", ".join(f"{rule} {points}" for rule, points in listed)
    assert below.startswith(f"{said}. Total")
    page = card.to_html()
    assert f"<p>Points of what no training row had: {said}.</p>" in page.replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert "exactly 9999999" not in page


class Page(HTMLParser):
    """Tags and texts of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.links = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for key, value in attrs if key in ("src", "href")]

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_is_self_contained_and_executes_no_text_of_the_data(card):
    page = card.to_html()
    parsed = Page(page)
    assert parsed.links == []
    assert "url(" not in page
    assert "@import" not in page
    assert "b" not in parsed.tags
    assert "script" not in parsed.tags
    assert any("<b>judge" in text for text in parsed.texts)
    assert parsed.tags.count("table") == 2
    points = [str(p) for feature in document(card)["features"] for p in feature["points"]]
    assert sum(text in points for text in parsed.texts) >= len(points) - len(card.card()["rule"])


def test_the_sheet_for_excel_runs_no_formula(card, tmp_path):
    fitted = Scorecard(categorical_features=[0]).fit(
        [["=1+1"], ["@x"], ["-"], ["ok"]] * 10, [1, 1, 0, 0] * 10
    )
    frame = pd.DataFrame({'=HYPERLINK("http://x")': X["age"], "+plus": X["months"]})
    names = Scorecard().fit(frame, Y)
    for model in (card, fitted, names):
        path = tmp_path / "card.csv"
        assert model.to_csv(path) is None
        raw = path.read_bytes()
        assert raw.startswith(b"\xef\xbb\xbf")
        assert b"\n" not in raw.replace(b"\r\n", b"")
        rows = list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")))
        assert rows[0] == list(model.card())
        assert rows[1][:2] == ["initial points", "every row"]
        assert int(rows[1][-1]) == model.initial_points_
        assert all(not row[0].startswith(("=", "+", "-", "@")) for row in rows)
        assert all(not row[1].startswith(("=", "+", "-", "@")) for row in rows)
        assert len(rows) == 2 + model.card().n_rows
        assert model.to_csv() == raw.decode("utf-8-sig")
        back = pd.read_csv(path)
        assert back["points"][1:].tolist() == model.card()["points"].tolist()
        assert_allclose(back["rate"][1:], model.card()["rate"])
    plain = names.to_csv(excel=False)
    assert plain.split("\r\n")[2].startswith('"=HYPERLINK(""http://x"")"')
    names.to_csv(path, excel=False)
    assert not path.read_bytes().startswith(b"\xef\xbb\xbf")


@pytest.mark.filterwarnings("ignore:No split lowers the loss")
def test_a_card_without_features_raises_a_warning():
    card = Scorecard().fit(np.zeros((20, 2)), [0, 1] * 10)
    assert "every row has 600 points" in card.to_text()
    assert card.card().n_rows == 0
    assert card.score_table().n_rows == 1
    assert card.reason_codes(np.zeros((2, 2))).tolist() == [[None] * 4] * 2
    assert card.to_html().count("<table>") == 2
    assert len(card.to_csv().splitlines()) == 2
    assert (card.auc_, card.ks_, card.points_range_) == (0.5, 0, (600, 600))


@needs_data
def test_a_card_of_german_credit_is_accurate_and_fits_100_columns():
    rows, y = load("german")
    card = Scorecard(min_bin_share=0.05).fit(rows, y)
    assert card.auc_ > 0.8
    assert abs(card.rounding_loss_) < 0.002
    assert max(map(len, card.to_text().splitlines())) <= 100


# Evidence.


def test_weights_of_evidence_come_from_the_shares_of_both_classes(card):
    table = card.card().to_frame()
    positive = Y == "default"
    n_pos, n_neg = positive.sum(), (~positive).sum()
    for _, lines in table.groupby("feature", sort=False):
        pos, neg = lines["n_pos"].to_numpy(), (lines["size"] - lines["n_pos"]).to_numpy()
        half = 0.5 * (((pos == 0) | (neg == 0)) & (pos + neg > 0))
        pos, neg = (pos + half) / n_pos, (neg + half) / n_neg
        with np.errstate(divide="ignore", invalid="ignore"):
            woe = np.log(pos / neg)
        assert_allclose(lines["woe"], woe)
        assert_allclose(lines["iv"], np.nansum((pos - neg) * woe))


def test_long_lists_of_categories_are_cut_in_print_and_complete_in_the_sheet():
    towns = np.array([f"town {place:02}" for place in range(40)])
    frame = pd.DataFrame({"town": pd.Categorical(np.repeat(towns, 20))})
    y = np.tile(np.arange(20) < 10, 40)
    y[: 20 * 20] = np.tile(np.arange(20) < 5, 20)
    ranker = RIMARC(missing="value", level_rates="raw")
    model = Scorecard(estimator=ranker).fit(frame, y)
    listed = ", ".join(towns[:6])
    assert f"town in {{{listed} and 14 more}}" in model.card()["rule"]
    assert f"{listed} and 14 more" in " ".join(model.to_text().split())
    assert f"{listed} and 14 more" in model.to_html()
    assert ", ".join(towns[:20]) in model.to_csv()


def test_the_table_of_an_edited_card_has_the_date_of_each_edit():
    model = Scorecard(special_values=SPECIAL).fit(X, Y)
    edited = model.merge("age", [0, 1], date="2026-01-31")
    table = edited.card()
    assert set(table["edited"][table["feature"] == "age"]) == {"2026-01-31"}
    assert set(table["edited"][table["feature"] != "age"]) == {""}
    rows = list(csv.reader(io.StringIO(edited.to_csv())))
    assert rows[0] == list(table)
    assert {len(row) for row in rows} == {len(table)}


def test_days_are_dates_in_the_table_and_in_cuts():
    frame = pd.DataFrame({"opened": 18_262.0 + X["age"]})
    model = Scorecard(min_bin_share=0.2).fit(frame, Y)
    model._schema = model._schema.counting({"opened": "days"})
    edited = model.with_cuts("opened", [18_293, 18_322], frame, Y)
    assert edited.card()["rule"].tolist() == [
        "opened < 2020-02-01",
        "2020-02-01 <= opened < 2020-03-01",
        "opened >= 2020-03-01",
        "opened is missing",
    ]
    assert edited.edits_[0].change == "cuts 2020-02-01, 2020-03-01"

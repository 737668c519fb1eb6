"""Drift of a scorecard's rows, against the plain formulas over rows binned by hand."""

import json
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import RIMARC, Scorecard
from aucrank.metrics import auc_interval
from scipy.stats import chi2, chisquare
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning
from sklearn.metrics import roc_auc_score

mpl.use("agg")


def applicants(n_rows, seed, moved=0.0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": rng.normal(size=n_rows) + moved,
            "debt": rng.choice([-9.0, 0.5, 1.0, 2.0, 4.0], n_rows),
            "purpose": pd.Categorical(rng.choice(["car", "tv", "other"], n_rows)),
            "noise": rng.normal(size=n_rows),
        }
    )
    X.loc[rng.random(n_rows) < 0.1, "income"] = np.nan
    risk = X["income"].fillna(0) + 0.4 * X["debt"] + (X["purpose"] == "tv")
    return X, (risk + rng.normal(size=n_rows) > 0.8).to_numpy()


@pytest.fixture(scope="module")
def card():
    X, y = applicants(1500, 0)
    return Scorecard(special_values={"debt": [-9]}, min_bin_share=0.02).fit(X, y)


def bin_numbers(card, X):
    """Return the bin of each row by the exported card: for each feature a vector of places."""
    document = json.loads(card.to_json())
    binned = {}
    for feature in document["features"]:
        column = X.iloc[:, feature["position"]]
        places = np.full(len(X), len(feature["bins"]) - 1)
        for place, bin_ in reversed(list(enumerate(feature["bins"]))):
            if "special" in bin_:
                places[column == bin_["special"]] = place
            elif "categories" in bin_:
                places[column.isin(bin_["categories"])] = place
            elif "low" in bin_:
                low = -np.inf if bin_["low"] is None else bin_["low"]
                high = np.inf if bin_["high"] is None else bin_["high"]
                places[(column >= low) & (column < high)] = place
        binned[feature["name"]] = places, feature["bins"]
    return binned


def plain_psi(then, now):
    """Sum the terms of the index over bins; an empty one has half a row."""
    total = 0.0
    for a, b in zip(then, now, strict=True):
        if a == b == 0:
            continue
        p = (a or 0.5) / sum(then)
        q = (b or 0.5) / sum(now)
        total += (q - p) * np.log(q / p)
    return total


def of_feature(table, name):
    return {column: values[table["feature"] == name] for column, values in table.items()}


def test_psi_is_that_of_the_plain_formula(card):
    train, _ = applicants(1500, 0)
    X, _ = applicants(700, 1, moved=0.6)
    report = card.drift(X)
    then, now = bin_numbers(card, train), bin_numbers(card, X)
    assert set(report.features["feature"]) == set(then)
    for name, (places, bins) in then.items():
        counts = [np.bincount(p, minlength=len(bins)) for p in (places, now[name][0])]
        row = of_feature(report.features, name)
        assert row["psi"][0] == pytest.approx(plain_psi(*counts), rel=1e-12)
        listed = of_feature(report.bins, name)
        assert sorted(listed["share_now"]) == pytest.approx(sorted(counts[1] / 700))
        assert listed["psi"].sum() == pytest.approx(row["psi"][0])
        assert (listed["psi"] >= 0).all()
        gained = np.array([bin_["points"] for bin_ in bins])
        moved = gained[now[name][0]].mean() - gained[places].mean()
        assert row["points_shift"][0] == pytest.approx(moved)
        n_used = ((counts[0] > 0) | (counts[1] > 0)).sum()
        chance = chi2.sf(row["psi"][0] / (1 / 1500 + 1 / 700), n_used - 1)
        assert row["p_value"][0] == pytest.approx(chance)
    assert report.features["missing_now"][report.features["feature"] == "income"] == (
        X["income"].isna().mean()
    )
    assert (np.diff(report.features["psi"]) <= 0).all()


def band_numbers(words, points):
    """Return the band of each row, read from the words of the bands."""
    bands = np.full(len(points), -1)
    for place, word in enumerate(words):
        match word.split():
            case ["<=", top]:
                inside = points <= int(top)
            case [">", bottom]:
                inside = points > int(bottom)
            case [low, "to", top]:
                inside = (points >= int(low)) & (points <= int(top))
            case [only]:
                inside = points == int(only)
        assert (bands[inside] == -1).all()
        bands[inside] = place
    assert (bands >= 0).all()
    return bands


def test_bands_are_tenths_of_whole_points_and_give_the_score_psi(card):
    train, _ = applicants(1500, 0)
    X, _ = applicants(700, 1, moved=0.6)
    report = card.drift(X)
    words = report.points["band"].tolist()
    then, now = card.points(train), card.points(X)
    counts = [np.bincount(band_numbers(words, points), minlength=10) for points in (then, now)]
    assert report.score_psi == pytest.approx(plain_psi(*counts), rel=1e-12)
    np.testing.assert_allclose(report.points["share_now"], counts[1] / 700)
    # As close to tenths as points allow: no band is off by more than its heaviest value.
    heaviest = np.unique(then, return_counts=True)[1].max() / 1500
    assert len(words) == 10
    assert abs(report.points["share_then"] - 0.1).max() <= heaviest


def test_a_bin_empty_in_one_sample_counts_as_half_a_row(card):
    train, _ = applicants(1500, 0)
    X, _ = applicants(700, 1)
    X = X[(X["purpose"] != "tv") & (X["debt"] != -9)]
    report = card.drift(X)
    then, now = bin_numbers(card, train), bin_numbers(card, X)
    for name in ("purpose", "debt"):
        n_bins = len(then[name][1])
        counts = [np.bincount(of[name][0], minlength=n_bins) for of in (then, now)]
        assert ((counts[0] > 0) & (counts[1] == 0)).any()
        row = of_feature(report.features, name)
        assert row["psi"][0] == pytest.approx(plain_psi(*counts), rel=1e-12)


def test_the_training_rows_have_not_moved(card):
    X, y = applicants(1500, 0)
    report = card.drift(X, y)
    assert report.score_psi == 0.0
    assert not report.features["psi"].any()
    assert not report.features["points_shift"].any()
    assert set(report.features["verdict"]) == {"stable"} == {report.score_verdict}
    assert (report.score_p_value, set(report.features["p_value"])) == (1.0, {1.0})
    assert report.auc_now == report.auc_then
    np.testing.assert_array_equal(report.bins["rate_now"], report.bins["rate_then"])
    np.testing.assert_array_equal(report.features["auc_now"], report.features["auc_then"])


def test_with_labels_the_report_has_rates_expected_numbers_and_the_auc(card):
    train, y_train = applicants(1500, 0)
    X, y = applicants(700, 1, moved=0.6)
    report = card.drift(X, y)
    bands = band_numbers(report.points["band"].tolist(), card.points(X))
    probability = card.predict_proba(X)[:, 1]
    for band in range(10):
        inside = bands == band
        assert report.points["observed"][band] == y[inside].sum()
        assert report.points["expected"][band] == pytest.approx(probability[inside].sum())
        assert report.points["rate_now"][band] == pytest.approx(y[inside].mean())
        assert report.points["expected_rate"][band] == pytest.approx(probability[inside].mean())
    assert report.observed == y.sum()
    assert report.expected == pytest.approx(probability.sum())
    for interval, labels, rows in ((report.auc_then, y_train, train), (report.auc_now, y, X)):
        expected = auc_interval(labels, card.points(rows).astype(float))
        for name in ("auc", "low", "high", "standard_error"):
            assert getattr(interval, name) == pytest.approx(getattr(expected, name), rel=1e-9)
    places, bins = bin_numbers(card, X)["income"]
    gained = np.array([bin_["points"] for bin_ in bins])[places]
    row = of_feature(report.features, "income")
    assert row["auc_now"][0] == pytest.approx(roc_auc_score(y, gained))
    rates = of_feature(report.bins, "income")["rate_now"]
    known = [y[places == place].mean() for place in range(len(bins)) if (places == place).any()]
    assert sorted(rates[~np.isnan(rates)]) == pytest.approx(sorted(known))


def test_the_class_with_many_points_changes_neither_drift_nor_auc():
    X, y = applicants(1500, 0)
    new, y_new = applicants(700, 1, moved=0.6)
    report, mirrored = (
        Scorecard(estimator=RIMARC(missing="value"), high_points=high).fit(X, y).drift(new, y_new)
        for high in ("positive", "negative")
    )
    assert mirrored.auc_now.auc == pytest.approx(report.auc_now.auc, abs=2e-3)
    assert mirrored.auc_then.auc > 0.7
    np.testing.assert_allclose(
        mirrored.features["psi"], report.features["psi"], rtol=0.05, atol=1e-3
    )
    assert mirrored.bins["in_order"].mean() > 0.5


def test_a_feature_that_ranks_the_other_way_is_out_of_order(card):
    X, y = applicants(2000, 2)
    honest = card.drift(X, y)
    assert of_feature(honest.bins, "income")["in_order"].all()
    turned = card.drift(X.assign(income=-X["income"]), y)
    assert not of_feature(turned.bins, "income")["in_order"].all()
    assert of_feature(turned.features, "income")["auc_now"][0] < 0.5


def test_a_bin_is_out_of_order_if_its_rate_is_on_the_wrong_side_of_another(card):
    X, y = applicants(2000, 2)
    table = of_feature(card.drift(X.assign(income=-X["income"]), y).bins, "income")
    size, rate, points = table["share_now"] * len(X), table["rate_now"], table["points"]
    expected = []
    for j in range(len(size)):
        wrong = False
        for k in range(len(size)):
            if not size[j] * size[k] or points[j] == points[k]:
                continue
            few, many = (j, k) if points[j] < points[k] else (k, j)
            pooled = (size[j] * rate[j] + size[k] * rate[k]) / (size[j] + size[k])
            error = np.sqrt(pooled * (1 - pooled) * (1 / size[j] + 1 / size[k]))
            wrong |= rate[few] - rate[many] > 1.96 * error
        expected.append(not wrong)
    assert table["in_order"].tolist() == expected
    assert len(expected) > 2


def test_verdicts_are_at_the_usual_limits(card):
    verdicts = set()
    for moved in np.linspace(0, 1.2, 13):
        report = card.drift(applicants(3000, 3, moved=moved)[0])
        for psi, verdict in zip(report.features["psi"], report.features["verdict"], strict=True):
            assert verdict == ("stable" if psi < 0.1 else "watch" if psi < 0.25 else "shifted")
            verdicts.add(verdict)
    assert verdicts == {"stable", "watch", "shifted"}


def test_without_drift_one_p_value_in_twenty_is_below_five_hundredths(card):
    """The card has 1500 rows, so its own sample is a part of the chance: new cards each time."""
    p_values = []
    for seed in range(60):
        fitted = Scorecard(estimator=RIMARC(), min_bin_share=0.05)
        fitted.fit(*applicants(600, 1000 + seed))
        report = fitted.drift(applicants(400, 5000 + seed)[0])
        p_values += [report.score_p_value]
    counts = np.histogram(p_values, bins=[0, 0.25, 0.5, 0.75, 1])[0]
    assert chisquare(counts).pvalue > 1e-3, counts
    assert np.mean(np.array(p_values) < 0.05) < 0.2


def test_the_report_says_that_few_rows_move_by_chance(card):
    report = card.drift(applicants(25, 7)[0])
    assert report.score_verdict != "stable"
    assert report.score_p_value > 0.05
    assert "may be chance: p = 0." in repr(report)


def test_weight_k_equals_k_rows_and_weight_zero_no_row(card):
    X, y = applicants(400, 4, moved=0.3)
    weight = np.arange(400) % 4
    weighted = card.drift(X, y, sample_weight=weight)
    places = np.repeat(np.arange(400), weight)
    repeated = card.drift(X.iloc[places], y[places])
    assert weighted.n_rows == repeated.n_rows == weight.sum()
    assert_same(weighted, repeated)


def test_only_ratios_of_fractional_weights_matter(card):
    X, y = applicants(400, 4, moved=0.3)
    weight = np.random.default_rng(0).random(400)
    first = card.drift(X, y, sample_weight=weight)
    second = card.drift(X, y, sample_weight=weight * 1024)
    assert first.n_rows == second.n_rows == 400
    assert first.score_psi == second.score_psi
    assert first.auc_now.low == pytest.approx(second.auc_now.low)
    assert second.expected == pytest.approx(1024 * first.expected)


def assert_same(first, second):
    assert (first.score_psi, first.score_p_value) == (second.score_psi, second.score_p_value)
    assert first.auc_now == second.auc_now
    for name in ("features", "bins", "points"):
        tables = getattr(first, name), getattr(second, name)
        assert list(tables[0]) == list(tables[1])
        for column in tables[0]:
            np.testing.assert_array_equal(tables[0][column], tables[1][column])


def test_order_of_rows_threads_and_kind_of_frame_change_nothing(card):
    X, y = applicants(40_000, 5, moved=0.2)
    report = card.drift(X, y)
    order = np.random.default_rng(0).permutation(len(X))
    assert_same(report, card.drift(X.iloc[order], y[order]))
    assert_same(report, card.drift(pl.from_pandas(X), y))
    alone = Scorecard(**card.get_params()).set_params(n_jobs=1).fit(*applicants(1500, 0))
    assert_same(report, alone.drift(X, y))


def test_unseen_categories_count_as_missing(card):
    X, _ = applicants(500, 6)
    X["purpose"] = np.where(np.arange(500) % 5 == 0, "new", X["purpose"].astype(str))
    row = of_feature(card.drift(X).features, "purpose")
    assert (row["missing_then"][0], row["missing_now"][0]) == (0.0, 0.2)
    X["purpose"] = X["purpose"].where(X["purpose"] != "new", None)
    assert of_feature(card.drift(X).features, "purpose")["missing_now"][0] == 0.2


def test_labels_of_one_class_leave_out_the_auc_alone(card):
    X, _ = applicants(100, 8)
    report = card.drift(X, np.ones(100, dtype=bool))
    assert report.auc_now is None
    assert report.observed == 100
    assert np.isnan(report.features["auc_now"]).all()
    assert set(report.points["rate_now"]) <= {1.0}
    assert "AUC" not in repr(report)


def test_one_row_and_one_positive_row_raise_no_warning(card):
    X, y = applicants(100, 8)
    y = np.arange(100) == np.flatnonzero(y)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report, alone = card.drift(X, y), card.drift(X.head(1), y[:1])
    with pytest.warns(UndefinedMetricWarning):
        expected = auc_interval(y, card.points(X).astype(float))
    for name in ("auc", "low", "high", "standard_error"):
        assert getattr(report.auc_now, name) == pytest.approx(getattr(expected, name))
    assert (alone.n_rows, alone.auc_now) == (1, None)
    assert np.isfinite(alone.features["psi"]).all()
    assert repr(alone).startswith("1 new row. Points: PSI")


def test_labels_are_optional(card):
    X, _ = applicants(100, 8)
    report = card.drift(X)
    assert report.auc_now is None
    assert np.isnan(report.observed)
    assert report.expected == pytest.approx(card.predict_proba(X)[:, 1].sum())
    assert not {"rate_now", "auc_now", "observed"} & {
        *report.bins,
        *report.features,
        *report.points,
    }


def test_bad_input_raises_a_clear_error(card):
    X, y = applicants(20, 9)
    with pytest.raises(ValueError, match="feature names"):
        card.drift(X.drop(columns="debt"))
    with pytest.raises(ValueError, match=r"column 'noise'.*inf"):
        card.drift(X.assign(noise=np.inf))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        card.drift(X, y[:5])
    with pytest.raises(ValueError, match="none of the classes seen in fit"):
        card.drift(X, np.full(20, "yes"))
    with pytest.raises(ValueError, match="sample_weight"):
        card.drift(X, y, sample_weight=-np.ones(20))
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        card.drift(X, sample_weight=np.zeros(20))
    with pytest.raises(ValueError, match="0 sample"):
        card.drift(X.head(0))
    with pytest.raises(NotFittedError):
        Scorecard().drift(X)


@pytest.mark.filterwarnings("ignore:No split lowers the loss")
def test_a_card_without_features_has_one_band():
    empty = Scorecard().fit(np.ones((10, 1)), np.arange(10) % 2)
    report = empty.drift(np.ones((4, 1)), [0, 1, 1, 1])
    assert report.points["band"].tolist() == ["all"]
    assert (report.score_psi, report.score_p_value) == (0.0, 1.0)
    assert report.features.n_rows == report.bins.n_rows == 0
    assert report.auc_now.auc == 0.5
    assert "PSI 0.0000, stable" in repr(report)


def test_a_saved_card_has_the_same_drift(card, tmp_path):
    from aucrank import load

    X, y = applicants(300, 10)
    card.save(tmp_path / "card.json")
    assert_same(card.drift(X, y), load(tmp_path / "card.json").drift(X, y))


def test_the_report_prints_as_text_and_as_tables(card):
    X, y = applicants(700, 1, moved=0.6)
    report = card.drift(X, y)
    text = repr(report)
    assert "700 new rows" in text
    assert "income" in text
    html = report._repr_html_()
    assert html.count("<table>") == 3
    assert "income is missing" in html


def test_the_picture_has_a_panel_for_the_points_and_each_feature(card):
    X, _ = applicants(700, 1, moved=0.6)
    report = card.drift(X)
    display = report.plot(2)
    titles = [panel.get_title() for panel in display.axes_]
    assert titles[0].startswith("total points: PSI")
    assert titles[1].startswith(f"{report.features['feature'][0]}: PSI")
    then, now = display.axes_[0].containers
    assert [bar.get_width() for bar in then] == report.points["share_then"].tolist()
    assert [bar.get_width() for bar in now] == report.points["share_now"].tolist()
    axes = mpl.figure.Figure().subplots(1, 2)
    assert report.plot(["debt"], ax=axes).axes_[1].get_title().startswith("debt: PSI")
    with pytest.raises(ValueError, match="there are 2 panels to draw but 1 axes"):
        report.plot(["debt"], ax=axes[0])
    with pytest.raises(ValueError, match="'age', which is not on the card"):
        report.plot(["age"])
    with pytest.raises(ValueError, match="must be a number or a list of names"):
        report.plot("debt")

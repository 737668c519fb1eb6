"""Printed rules, applied by hand, give what the model gives, for all training rows."""

import csv
import re
from datetime import date, datetime, timedelta
from html import unescape

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    MAD2C,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    RankBoost,
    Scorecard,
    SMartiRank,
    ThresholdBinarizer,
    TreeRank,
    load,
)
from aucrank._base.summary import Section
from aucrank._data.table import Table
from aucrank._page import formats
from aucrank._page.tables import parts_of
from aucrank._utils.numbers import bound_text, exact, part_text, value_text
from aucrank.cli import main
from hypothesis import given
from hypothesis import strategies as st

EDGES = [0.0, 5e-324, 1e-310, -1e-310, 1e300, -1e300, 2.0**53, 0.1 + 0.2, 0.3, 20240614.5]


@st.composite
def samples(draw):
    """Rows of one column whose values are large, tiny, close to each other or negative."""
    start = draw(st.sampled_from(EDGES) | st.floats(-1e300, 1e300))
    step = draw(st.sampled_from(["next", 1e-12, 1e-3, 1.0, 7.0, 1e8]))
    column = [start]
    for _ in range(draw(st.integers(1, 7))):
        last = column[-1]
        column.append(float(np.nextafter(last, np.inf)) if step == "next" else last + step)
    column += draw(st.lists(st.sampled_from(EDGES), max_size=4))
    values = np.array(sorted({*column, column[0] + 1.0, 7.0}))
    rows = np.repeat(values, 2)
    labels = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    y = np.array(labels, dtype=int)
    y[:2], y[-2:] = 0, 1
    return pd.DataFrame({"x": rows}), y


def holds(rule, values):
    """The values for which a printed rule holds, evaluated by Python."""
    if rule == "all rows":
        return np.ones(len(values), dtype=bool)
    rule = rule.replace("x is missing", "False").replace("x is known", "True")
    return np.array([eval(rule, {"x": float(x)}) for x in values], dtype=bool)


def assert_steps(rules, values, X, found):
    """The values of rules, of which one holds for each row, are what was found for the rows."""
    column = X["x"].to_numpy()
    inside = np.array([holds(rule, column) for rule in rules])
    assert (inside.sum(axis=0) == 1).all(), list(rules)
    assert np.array_equal(np.asarray(values)[inside.argmax(axis=0)], found)


@given(samples())
def test_a_printed_card_gives_the_points_by_hand(sample):
    X, y = sample
    card = Scorecard().fit(X, y)
    points = card.points(X)
    table = card.card()
    if table.n_rows == 0:
        return
    assert_steps(table["rule"], table["points"] + card.initial_points_, X, points)
    lines = list(csv.reader(card.to_csv().splitlines()))[2:]
    # A quote before a leading sign makes a spreadsheet read text.
    assert [line[1].removeprefix("'") for line in lines] == list(table["rule"])
    page = card.to_html()
    cells = re.findall(r'<tr><td>([^<]*)</td><td class="points"[^>]*>(-?\d+)</td>', page)
    # A long label goes on in the next line.
    joined = re.sub(
        r" to under\n +", " to under ", re.sub(r"(\d) *\n +to", r"\1 to", card.to_text())
    )
    text = re.findall(r"^  (\S.*?) +(-?\d+) +\S+ +\S+%", joined, re.M)
    for lines in ([(unescape(label), n) for label, n in cells], text):
        rules = [rule_of_line(label) for label, _ in lines]
        assert_steps(rules, [card.initial_points_ + int(n) for _, n in lines], X, points)


def rule_of_line(label):
    """A line of a card as a comparison."""
    bound = r"(\S+)"
    for pattern, rule in [
        (f"under {bound}", r"x < \1"),
        (f"{bound} and up", r"x >= \1"),
        (f"{bound} to under {bound}", r"\1 <= x < \2"),
        ("any number", "True"),
        ("missing", "False"),
    ]:
        if re.fullmatch(pattern, label):
            return re.sub(pattern, rule, label)
    raise AssertionError(label)


@given(samples())
def test_a_printed_tree_gives_the_score_by_hand(sample):
    X, y = sample
    model = TreeRank(min_samples_leaf=1, pruning=None, max_bins=None).fit(X, y)
    tree = model.tree_
    leaf = tree.apply(X)
    assert_steps(tree.strata["rule"], tree.strata["node"], X, leaf)
    nodes, column = tree.nodes, X["x"].to_numpy()
    paths = tree.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(nodes["left"] >= 0):
        here = paths[:, node]
        goes_left = holds(nodes["rule"][node], column[here])
        assert np.array_equal(goes_left, paths[here, nodes["left"][node]])
        label = nodes["rule"][node]
        assert f'label="{label}\\n' in tree.to_dot()
    lines = re.findall(r"^[|` -]*(.*): \S+ of \S+ positive", tree.to_text(), re.M)
    # Rules of a node and of its sibling exclude each other, and those of a path hold together.
    sides = [holds(rule, column) for rule in lines]
    assert len(sides) == nodes.n_rows
    order = _in_print(nodes, 0)
    for side, node in zip(sides, order, strict=True):
        parent = nodes["parent"][node]
        above = paths[:, parent] if parent >= 0 else np.ones(len(X), dtype=bool)
        assert np.array_equal(side[above], paths[above, node])


def _in_print(nodes, node):
    yield node
    if nodes["left"][node] >= 0:
        for side in ("left", "right"):
            yield from _in_print(nodes, nodes[side][node])


@given(samples())
def test_printed_bins_and_terms_give_the_values_by_hand(sample):
    X, y = sample
    mad2c = MAD2C().fit(X, y)
    bins = mad2c.bins()
    assert_steps(bins["rule"], bins["bin"], X, mad2c.transform(X)[:, 0])
    rimarc = RIMARC().fit(X, y)
    table = rimarc.bins()
    assert_steps(table["rule"], table["bin"], X, mad2c.transform(X)[:, 0])
    for booster in (
        RankBoost(n_rounds=4, calibration=None),
        AUCBoost(n_rounds=3, calibration=None),
        GradientBoostingRanker(n_rounds=4, max_depth=1, calibration=None),
    ):
        model = booster.fit(X, y)
        terms = model.terms()
        if terms.n_rows:
            assert_steps(terms["rule"], terms["value"], X, model.explain(X)[:, 0])


@given(samples())
def test_printed_binary_terms_give_the_values_by_hand(sample):
    X, y = sample
    model = ThresholdBinarizer().fit(X, y)
    terms, on = model.terms(), model.transform(X)
    for place, rule in enumerate(terms["term"]):
        assert np.array_equal(holds(rule, X["x"]), on[:, place] == 1)
    for line, bound in zip(repr(terms).splitlines()[1:], terms["threshold"], strict=True):
        assert float(re.match(r"x >= \S+ +x +(\S+)", line)[1]) == bound


@given(samples())
def test_a_printed_round_gives_the_score_by_hand(sample):
    X, y = sample
    model = GradientBoostingRanker(n_rounds=1, min_samples_leaf=1, early_stopping=False).fit(X, y)
    if model.n_iter_ == 0:
        return
    lines = [
        (len(first) // 4, rule, value and float(value))
        for first, rule, value in re.findall(
            r"^([|` -]*)(\S.*) \(\S+ rows\)(?:: (\S+))?$", model.to_text(), re.M
        )
    ]
    for x, score in zip(X["x"], model.decision_function(X), strict=True):
        place = 0
        while lines[place][2] == "":
            depth = lines[place][0] + 1
            place = next(
                at
                for at, (level, rule, _) in enumerate(lines)
                if at > place and level == depth and holds(rule, [x])[0]
            )
        assert lines[place][2] == pytest.approx(score - model.base_score_, abs=6e-5)


@given(samples())
def test_a_printed_program_gives_the_score_by_hand(sample):
    X, y = sample
    program = SMartiRank(n_rounds=1, random_state=0).fit(X, y).program_
    masses = {row["index"]: row for row in _rows(program.nodes) if row["layer"] == 1}
    for node in masses.values():
        if node["kind"] == "ranker":
            inside = holds(node["rule"], X["x"])
            assert 0 < inside.sum() < len(X)


def _rows(table):
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_in_full_reads_back(value):
    text = exact(value)
    assert float(text) == value
    assert "e" not in text or not 1e-7 <= abs(value) < 1e21


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (20240614.5, "20240614.5"),
        (1e16, "10000000000000000"),
        (0.00001, "0.00001"),
        (-0.0, "0"),
        (3, "3"),
        (111448800000000016.0, "111448800000000016"),
        (1e300, "1e+300"),
        (5e-324, "5e-324"),
    ],
)
def test_a_number_is_written_as_a_person_writes_it(value, text):
    assert exact(value) == text


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_a_threshold_of_a_report_separates_the_scores_next_to_it(one, other):
    below, score = sorted((one, other))
    if below < score:
        assert below < float(part_text(below, score)) <= score
        shown = formats.threshold(score, below).replace(",", "").replace("\N{MINUS SIGN}", "-")
        assert below < float(shown) <= score


# Dates.

DAY = date(1970, 1, 1)


@given(st.dates(), st.dates())
def test_a_date_as_a_bound_separates_days(one, other):
    low, high = sorted(((one - DAY).days, (other - DAY).days))
    if low < high:
        bound = low / 2 + high / 2
        printed = date.fromisoformat(bound_text(bound, "days"))
        assert DAY + timedelta(low) < printed <= DAY + timedelta(high)
    assert value_text(low, "days") == (DAY + timedelta(low)).isoformat()


@given(
    st.datetimes(datetime(1000, 1, 1), datetime(2900, 1, 1)),
    st.datetimes(datetime(1000, 1, 1), datetime(2900, 1, 1))
    | st.timedeltas(timedelta(0), timedelta(0, 2)),
)
def test_a_time_as_a_bound_separates_times(one, other):
    other = one + other if isinstance(other, timedelta) else other
    days = lambda moment: (moment - datetime(1970, 1, 1)).total_seconds() / 86_400  # noqa: E731
    low, high = sorted((one, other))
    if days(low) < days(high):
        bound = days(low) / 2 + days(high) / 2
        bound = bound if days(low) < bound else days(high)
        printed = datetime.fromisoformat(bound_text(bound, "moments"))
        assert low < printed <= high


def test_a_column_that_counts_days_is_printed_as_dates(tmp_path):
    rng = np.random.default_rng(1)
    days = rng.integers(19723, 20089, 400).astype(float)
    y = (rng.random(400) < 1 / (1 + np.exp(-(days - 19900) / 40))).astype(int)
    X = pd.DataFrame({"opened": days})
    dates = [(DAY + timedelta(int(d))).isoformat() for d in days]
    model = TreeRank().fit(X, y)
    model._schema = model._schema.counting({"opened": "days"})
    model.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert again.tree_.strata["rule"].tolist() == model.tree_.strata["rule"].tolist()
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    for rule, node in zip(*(again.tree_.strata[name] for name in ("rule", "node")), strict=True):
        quoted = re.sub(r"\d{4}-\d\d-\d\d", lambda m: repr(m[0]), rule)
        inside = [eval(quoted, {"opened": day}) for day in dates]
        assert np.array_equal(inside, again.tree_.apply(X) == node), rule
    card = Scorecard().fit(X, y)
    card._schema = card._schema.counting({"opened": "days"})
    assert re.search(r"^  under 2024-\d\d-\d\d  ", card.to_text(), re.M)


def test_bounds_in_a_table_are_shown_in_full():
    assert "1718000000.5" in repr(Table(threshold=[1718000000.5, 0.25]))
    assert "0.123456789" in repr(Table(score_from=[0.123456789]))


def test_bounds_are_in_full_on_pages_and_in_descriptions(tmp_path, capsys):
    X = pd.DataFrame({"x": [0.00012345678, 0.00012345679, 3.0, 4.0] * 5})
    model = ThresholdBinarizer().fit(X, [0, 1, 0, 1] * 5)
    model.save(tmp_path / "m.json")
    assert main(["describe", str(tmp_path / "m.json")]) == 0
    described = capsys.readouterr().out
    (part,) = parts_of([Section("Terms", "", {"threshold": model.terms()["threshold"]})])
    shown = [cell for (cell,) in part.table.rows]
    for bound in model.terms()["threshold"]:
        assert re.search(rf"\b{re.escape(repr(float(bound)))}\s", described)
        assert float(shown.pop(0)) == bound

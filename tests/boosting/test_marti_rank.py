"""MartiRank and SMartiRank against a plain version of the paper, and their properties."""

import pickle

import numpy as np
import pandas as pd
import pytest
from aucrank import MartiRank, SMartiRank, TwoSidedClassifier, load
from aucrank.boosting import BranchingProgram
from aucrank.datasets import load_breast_cancer, make_gaussian_pair, make_noisy_labels
from aucrank.tree import LeafRank
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB


def sample(n_rows=60, seed=0, n_values=6):
    """Rows of three features with few values, so that ties are common."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, size=(n_rows, 3)).astype(float)
    y = X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=n_rows) > 2
    return X, y


def best_feature(X, pos, neg):
    """Scores of the single feature of the highest AUC, in either direction; the first of equals."""
    y = np.repeat([True, False], len(X))
    best, found = 0.5 + 1e-12, None
    for column in X.T:
        auc = roc_auc_score(y, np.tile(column, 2), sample_weight=np.r_[pos, neg])
        for value, sign in ((auc, 1), (1 - auc, -1)):
            if value > best + 1e-12:
                best, found = value, sign * column
    return found


def chances(scores, pos, neg):
    """The probability of a positive prediction by the classifier of Lemma 4."""
    best, found = (np.inf, np.inf), None
    # From the largest threshold on, so that the first of equals is kept.
    for theta in (np.inf, *np.unique(scores[pos + neg > 0])[::-1]):
        high = scores >= theta
        p_pos, p_neg = pos[~high].sum() / pos.sum(), neg[high].sum() / neg.sum()
        difference = abs(p_pos - p_neg)
        error, zeta = max(p_pos, p_neg) / (1 + difference), difference / (1 + difference)
        if p_pos + p_neg < best[0] - 1e-9 or (
            p_pos + p_neg < best[0] + 1e-9 and error < best[1] - 1e-9
        ):
            best = p_pos + p_neg, error
            found = np.where(high, 1, zeta) if p_neg <= p_pos else np.where(high, 1 - zeta, 0)
    return found


def marti_rank(X, y, weight, n_rounds, freeze=None):
    """Basic MartiRank in the mean over its coins, over the training rows alone.

    Returns the share of each row at every node, the masses there, and the expected votes.
    """
    share = {(1, 0): np.ones(len(y))}
    votes = np.zeros(len(y))
    masses = {}
    for layer in range(1, n_rounds + 2):
        for index in range(layer):
            here = share.get((layer, index), np.zeros(len(y)))
            pos, neg = here * weight * y, here * weight * ~y
            masses[layer, index] = pos.sum(), neg.sum()
            left = n_rounds + 1 - layer
            if layer == n_rounds + 1:
                votes += here * index
                continue
            if pos.sum() + neg.sum() == 0:
                votes += here * (index + left / 2)
                continue
            label = freeze(pos.sum(), neg.sum()) if freeze else None
            if min(pos.sum(), neg.sum()) == 0:
                label = pos.sum() > 0
            if label is not None:
                votes += here * (index + left * label)
                continue
            scores = best_feature(X, pos, neg)
            right = np.full(len(y), 0.5) if scores is None else chances(scores, pos, neg)
            for vote, part in ((0, here * (1 - right)), (1, here * right)):
                place = layer + 1, index + vote
                share[place] = share.get(place, np.zeros(len(y))) + part
    return masses, votes


def check_against_the_oracle(model, X, y, weight, freeze=None):
    model.fit(X, y, weight)
    used = np.ones(len(y)) if weight is None else weight
    masses, votes = marti_rank(X, y, used, model.n_rounds, freeze)
    nodes = model.program_.nodes
    for layer, index, positives, negatives in zip(
        nodes["layer"], nodes["index"], nodes["positives"], nodes["negatives"], strict=True
    ):
        assert (positives, negatives) == pytest.approx(masses[layer, index], abs=1e-5)
    assert model.decision_function(X) + model.threshold_ == pytest.approx(votes, abs=1e-5)
    return nodes


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
def test_the_model_equals_a_plain_version_of_the_algorithm_of_the_paper(seed, weighted):
    X, y = sample(seed=seed)
    weight = np.random.default_rng(seed).integers(1, 4, size=60).astype(float) if weighted else None
    nodes = check_against_the_oracle(MartiRank(n_rounds=4), X, y, weight)
    rankers = nodes["kind"] == "ranker"
    # Equal errors of both classes at every node, so each class parts by the error (Lemma 4).
    edges = MartiRank(n_rounds=4).fit(X, y, weight).program_.edges
    for layer, index in zip(nodes["layer"][rankers], nodes["index"][rankers], strict=True):
        node = (nodes["layer"] == layer) & (nodes["index"] == index)
        ways = (edges["layer"] == layer) & (edges["index"] == index)
        left, right = (ways & (edges["vote"] == vote) for vote in (0, 1))
        error = nodes["error"][node]
        assert edges["positives"][left] == pytest.approx(error * nodes["positives"][node], abs=1e-4)
        assert edges["negatives"][right] == pytest.approx(
            error * nodes["negatives"][node], abs=1e-4
        )


@pytest.mark.parametrize("epsilon", [0.2, 0.9])
def test_nodes_are_frozen_by_inequality_2(epsilon):
    n_rounds = 6
    X, y = sample(200, seed=1)
    n_pos, n_neg = y.sum(), (~y).sum()
    bound = epsilon / (n_rounds * (n_rounds + 1))

    def freeze(pos, neg):
        few_pos, few_neg = pos < bound * n_pos, neg < bound * n_neg
        if few_pos and few_neg:
            return pos / n_pos > neg / n_neg
        return few_neg if few_pos or few_neg else None

    model = SMartiRank(n_rounds=n_rounds, epsilon=epsilon, min_samples_class=0)
    nodes = check_against_the_oracle(model, X, y, None, freeze)
    frozen = nodes["kind"] == "frozen"
    assert frozen.any()
    assert np.isin(nodes["label"][frozen], (-1, 1)).all()
    # Equation 3: ways that end at the wrong label are a small part of the class.
    for name, label, total in (("positives", -1, n_pos), ("negatives", 1, n_neg)):
        wrong = frozen & (nodes["label"] == label)
        assert nodes[name][wrong].sum() < epsilon / 2 * total


def test_few_rows_of_a_class_freeze_a_node():
    X, y = sample(400, seed=2)
    nodes = SMartiRank(min_samples_class=25).fit(X, y).program_.nodes
    fewest = np.minimum(nodes["positives"], nodes["negatives"])
    assert (fewest[nodes["kind"] == "ranker"] >= 25).all()
    assert (nodes["kind"] == "frozen").any()
    assert (fewest[nodes["kind"] == "frozen"] < 25).all()


def test_too_few_rows_raise_a_warning():
    with pytest.warns(UserWarning, match="A class has too few rows"):
        model = SMartiRank().fit([[0.0], [1.0]], [0, 1])
    assert model.score([[0.0], [1.0]], [0, 1]) == 0.5


@pytest.mark.parametrize("routing", ["expected", "sampled"])
@pytest.mark.parametrize("output", ["votes", "sign", "node_rate"])
@pytest.mark.parametrize("kind", [MartiRank, SMartiRank])
def test_threads_order_and_copies_change_nothing(kind, output, routing):
    X, y = sample(300, seed=3)
    settings = {"n_rounds": 5, "output": output, "routing": routing, "random_state": 0}
    if kind is SMartiRank:
        settings |= {"sample_size": 40}
    model = kind(**settings, n_jobs=1).fit(X, y)
    scores = model.decision_function(X)
    assert np.array_equal(kind(**settings, n_jobs=3).fit(X, y).decision_function(X), scores)
    order = np.random.default_rng(0).permutation(300)
    shuffled = kind(**settings).fit(X[order], y[order])
    assert np.array_equal(shuffled.decision_function(X), scores)
    weight = np.random.default_rng(1).integers(0, 4, size=300)
    weighted = kind(**settings).fit(X, y, weight)
    copies = kind(**settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert np.array_equal(copies.decision_function(X), weighted.decision_function(X))


def test_expected_routing_is_the_mean_over_coins():
    X, y = sample(400, seed=4)
    model = MartiRank(n_rounds=3).fit(X, y)
    nodes = model.program_.nodes
    mean = 0.0
    for seed in range(60):
        sampled = MartiRank(n_rounds=3, routing="sampled", random_state=seed).fit(X, y)
        mean = mean + sampled.program_.nodes["positives"] / 60
    # The first layers: below, rankers are fitted to other rows and differ.
    first = nodes["layer"] <= 2
    assert mean[first] == pytest.approx(nodes["positives"][first], rel=0.05, abs=3)


def test_votes_sign_and_node_rate_come_from_the_same_paths():
    X, y = sample(300, seed=5)
    votes, sign, rate = (
        MartiRank(n_rounds=5, routing="sampled", output=output, random_state=0).fit(X, y)
        for output in ("votes", "sign", "node_rate")
    )
    ends = votes.decision_function(X) + votes.threshold_
    assert set(np.unique(ends)) <= set(np.arange(0, 5.5, 0.5))
    h = sign.decision_function(X) + sign.threshold_
    assert np.array_equal(h, np.where(ends >= 2.5, 1, -1))
    nodes = votes.program_.nodes
    share = dict(zip(nodes["votes"], nodes["share"], strict=True))
    last = nodes["layer"] == 6
    rates = rate.decision_function(X) + rate.threshold_
    if not (nodes["kind"] == "frozen").any():
        share = dict(zip(nodes["votes"][last], nodes["share"][last], strict=True))
        assert rates == pytest.approx([share[end] for end in ends], abs=1e-9)


@pytest.mark.parametrize("kind", [MartiRank, SMartiRank])
def test_flipping_three_labels_in_ten_lowers_the_auc_little(kind):
    # Positives within an ellipse, so that one feature is not enough.
    law = {"positive_mean": (0.5, 0.5), "positive_cov": ((0.05, 0.03), (0.03, 0.05))}
    train = make_gaussian_pair(8000, random_state=0, **law)
    fresh = make_gaussian_pair(20_000, random_state=1, **law)
    noisy = make_noisy_labels(train.y, 0.3, random_state=2)
    settings = {"noise_rate": 0.3} if kind is SMartiRank else {}
    clean = kind().fit(train.X, train.y).score(fresh.X, fresh.y)
    found = kind(**settings).fit(train.X, noisy).score(fresh.X, fresh.y)
    assert clean > 0.7
    assert found > clean - 0.02


def test_the_program_prints_its_rules():
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical(["red", "blue", "green", "red"] * 30),
            "size": np.tile([1.0, np.nan, 3.0, 1.0], 30),
            "noise": np.arange(120.0) % 7,
        }
    )
    y = np.tile([True, False, False, True], 30)
    program = MartiRank(n_rounds=2).fit(frame[["colour", "noise"]], y).program_
    assert isinstance(program, BranchingProgram)
    assert repr(program) == "BranchingProgram(n_layers=2, n_nodes=3)"
    assert program.nodes["rule"][0].startswith("colour = red")
    assert program.nodes["kind"].tolist()[:3] == ["ranker", "frozen", "frozen"]
    assert program.nodes["label"].tolist()[:3] == [0, -1, 1]
    assert program.to_text().splitlines() == [
        "layer 1",
        "  #0 colour = red: 60 of 120 positive (50.0%)",
        "layer 2",
        "  #0 frozen, negative: 0 of 60 positive (0.0%)",
        "  #1 frozen, positive: 60 of 60 positive (100.0%)",
        "layer 3 (terminal)",
    ]
    by_size = MartiRank(n_rounds=1).fit(frame[["size"]], y).program_
    assert by_size.nodes["rule"][0] == "size < 2"
    by_missing = MartiRank(n_rounds=1).fit(frame[["size"]], np.isnan(frame["size"])).program_
    assert by_missing.nodes["rule"][0] == "size is missing"


@pytest.mark.parametrize(
    "model",
    [
        MartiRank(n_rounds=4),
        MartiRank(n_rounds=4, routing="sampled", output="node_rate", random_state=3),
        SMartiRank(noise_rate=0.1, sample_size=50, weak_ranker="threshold"),
    ],
    ids=repr,
)
def test_a_saved_copied_or_pickled_model_scores_the_same(model, tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model.fit(X, y)
    scores = model.decision_function(X)
    model.save(tmp_path / "model.json")
    for again in (load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert type(again) is type(model)
        assert again.get_params() == model.get_params()
        assert np.array_equal(again.decision_function(X), scores)
        assert again.program_.to_text() == model.program_.to_text()


@pytest.mark.parametrize(
    ("weak_ranker", "rule"),
    [
        ("threshold", "worst_"),
        ("linear", "linear score >= "),
        ("tree", "in the first "),
        (LeafRank(max_depth=2), "in the first "),
        (GaussianNB(), "score of ranker 0 >= "),
    ],
    ids=str,
)
def test_any_weak_ranker_makes_a_program(weak_ranker, rule):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = MartiRank(n_rounds=3, weak_ranker=weak_ranker).fit(X, y)
    assert model.program_.nodes["rule"][0].startswith(rule)
    assert model.score(X, y) > 0.97
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    # Lemma 4 at the root, by the ranker alone.
    if isinstance(weak_ranker, GaussianNB):
        alone = TwoSidedClassifier(ranker=GaussianNB()).fit(X, y)
        nodes = model.program_.nodes
        assert nodes["error"][0] == pytest.approx(alone.error_, abs=1e-6)
        assert nodes["zeta"][0] == pytest.approx(alone.zeta_, abs=1e-6)


def test_uninformative_features_give_nodes_that_are_fair_coins():
    y = np.arange(40) % 4 == 0
    model = MartiRank(n_rounds=2).fit(np.zeros((40, 2)), y)
    assert model.program_.nodes["kind"].tolist() == ["coin"] * 3 + ["terminal"] * 3
    assert model.program_.nodes["positives"].tolist() == [10, 5, 5, 2.5, 5, 2.5]
    assert np.unique(model.decision_function([[0, 0], [9, 9]])).size == 1
    assert model.program_.to_text().startswith("layer 1\n  #0 fair coin: 10 of 40 positive (25.0%)")


@pytest.mark.parametrize(
    ("kind", "settings", "error", "named"),
    [
        (MartiRank, {"n_rounds": 0}, ValueError, "n_rounds"),
        (MartiRank, {"n_rounds": 1001}, ValueError, "n_rounds"),
        (MartiRank, {"n_rounds": 2.5}, TypeError, "n_rounds"),
        (MartiRank, {"weak_ranker": "strong"}, ValueError, "weak_ranker"),
        (MartiRank, {"criterion": "least"}, ValueError, "criterion"),
        (MartiRank, {"routing": "random"}, ValueError, "routing"),
        (MartiRank, {"output": "score"}, ValueError, "output"),
        (MartiRank, {"max_bins": 1}, ValueError, "max_bins"),
        (SMartiRank, {"epsilon": 0.0}, ValueError, "epsilon"),
        (SMartiRank, {"epsilon": 1.0}, ValueError, "epsilon"),
        (SMartiRank, {"noise_rate": 0.5}, ValueError, "noise_rate"),
        (SMartiRank, {"noise_rate": 0.45}, ValueError, "share of the rarer class"),
        (SMartiRank, {"min_samples_class": -1}, ValueError, "min_samples_class"),
        (SMartiRank, {"min_samples_class": float("inf")}, ValueError, "min_samples_class"),
        (SMartiRank, {"sample_size": 0}, ValueError, "sample_size"),
    ],
)
def test_a_bad_setting_is_named_in_the_error(kind, settings, error, named):
    X, y = sample()
    assert 0.3 < y.mean() < 0.45
    with pytest.raises(error, match=named):
        kind(**settings).fit(X, y)


@pytest.mark.parametrize("kind", [MartiRank, SMartiRank])
def test_bad_rows_are_named_in_the_error_and_unusual_ones_accepted(kind):
    X, y = sample()
    with pytest.raises(ValueError, match="column 1 is inf in row 3"):
        kind().fit(np.where(np.indices(X.shape).tolist()[0] == np.array(3), [[0, np.inf, 0]], X), y)
    settings = {} if kind is MartiRank else {"min_samples_class": 0}
    two = kind(**settings).fit([[0.0], [1.0]], [0, 1])
    assert two.predict([[0.0], [1.0]]).tolist() == [0, 1]
    missing = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    assert 0.5 < kind().fit(missing, y).score(missing, y) < 1
    assert (
        kind().fit(np.full((40, 1), np.nan), np.arange(40) > 15).score([[np.nan]] * 2, [0, 1])
        == 0.5
    )


# --- The picture --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rounds", [1, 4, 10])
@pytest.mark.parametrize("rules", [None, True, False])
def test_the_picture_shows_every_node_and_nothing_overlaps(plt, n_rounds, rules):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    program = MartiRank(n_rounds=n_rounds).fit(X, y).program_
    display = program.plot(rules=rules)
    nodes = program.nodes
    assert len(display.nodes_) == nodes.n_rows
    assert len(display.texts_) == program.n_nodes
    display.figure_.canvas.draw()
    boxes = [patch.get_window_extent() for patch in display.nodes_.values()]
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:place])
    for at, text in display.texts_.items():
        inside, outline = text.get_window_extent(), display.nodes_[at].get_window_extent()
        assert outline.x0 <= inside.x0
        assert outline.x1 >= inside.x1
        assert outline.y0 <= inside.y0
        assert outline.y1 >= inside.y1


def test_widths_of_edges_show_rows_and_colours_the_share_of_positives(plt):
    X, y = load_breast_cancer(return_X_y=True)
    program = MartiRank(n_rounds=6).fit(X, y).program_
    display = program.plot()
    edges = program.edges
    rates = edges["positives"] / y.sum(), edges["negatives"] / (1 - y).sum()
    taken = sum(rates) > 0
    widths = np.array(display.edges_.get_linewidths())
    assert np.corrcoef(widths, sum(rates)[taken])[0, 1] > 0.999
    share = rates[0][taken] / sum(rates)[taken]
    assert display.edges_.get_colors() == pytest.approx(display.colours_.to_rgba(share))
    frozen = program.nodes["kind"] == "frozen"
    for layer, index, label in zip(
        *(program.nodes[name][frozen] for name in ("layer", "index", "label")), strict=True
    ):
        sign = display.texts_[layer, index].get_text()[0]
        assert sign == ("+" if label > 0 else "\N{MINUS SIGN}")


def test_the_picture_is_drawn_on_the_given_axes(plt):
    X, y = sample()
    program = MartiRank(n_rounds=2).fit(X, y).program_
    figure, ax = plt.subplots()
    display = program.plot(ax, rules=False, cmap="viridis")
    assert display.ax_ is ax
    assert display.figure_ is figure
    with pytest.raises(TypeError, match="rules"):
        program.plot(rules="some")


@pytest.mark.parametrize("cls", [MartiRank, SMartiRank])
def test_importances_are_the_pairs_that_rankers_sort(cls):
    """By the tables of the program: the AUC of a cut above 1/2, times its share of all pairs."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 5))
    y = rng.random(600) < 1 / (1 + np.exp(-2 * X[:, 1] - X[:, 3]))
    model = cls(n_rounds=4, random_state=0).fit(X, y)
    nodes = model.program_.nodes
    pairs = nodes["positives"] * nodes["negatives"]
    expected = np.zeros(5)
    for place in np.flatnonzero(nodes["kind"] == "ranker"):
        rate = 1 - nodes["p_pos"][place] - nodes["p_neg"][place]
        (column,) = (j for j in range(5) if f"x{j}" in nodes["rule"][place])
        expected[column] += rate / 2 * pairs[place] / pairs[0] / 4
    assert_allclose(model.feature_importances_, expected, atol=1e-12)
    assert set(np.argsort(expected)[-2:]) == {1, 3}
    assert model.feature_importances_.sum() <= 0.5


@pytest.mark.parametrize("cls", [MartiRank, SMartiRank])
def test_features_are_eliminated_by_importance(cls):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(500, 6))
    y = rng.random(500) < 1 / (1 + np.exp(-3 * X[:, 2] - 2 * X[:, 5]))
    ranker = cls(n_rounds=4, random_state=0)
    assert RFE(ranker, n_features_to_select=2).fit(X, y).get_support(indices=True).tolist() == [
        2,
        5,
    ]
    chosen = RFECV(ranker, cv=3, scoring="roc_auc").fit(X, y)
    assert {2, 5} <= set(chosen.get_support(indices=True).tolist())
    kept = SelectFromModel(ranker, max_features=2, threshold=-np.inf).fit(X, y)
    assert kept.get_support(indices=True).tolist() == [2, 5]


def test_importances_exist_for_trees_and_not_for_linear_rankers():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 3))
    y = rng.random(400) < 1 / (1 + np.exp(-2 * X[:, 0]))
    of_trees = MartiRank(n_rounds=3, weak_ranker="tree", random_state=0).fit(X, y)
    assert np.argmax(of_trees.feature_importances_) == 0
    assert 0 < of_trees.feature_importances_.sum() <= 0.5
    lines = MartiRank(n_rounds=3, weak_ranker="linear", random_state=0).fit(X, y)
    assert not hasattr(lines, "feature_importances_")


def test_an_unknown_noise_rate_is_estimated_and_saved(tmp_path):
    sample = make_gaussian_pair(600, random_state=0)
    y = make_noisy_labels(sample.y, 0.3, random_state=0)
    model = SMartiRank(noise_rate="auto", random_state=0).fit(sample.X, y)
    assert model.noise_rate_ in [guess / 20 for guess in range(10)]
    known = SMartiRank(noise_rate=model.noise_rate_, random_state=0).fit(sample.X, y)
    assert_array_equal(model.decision_function(sample.X), known.decision_function(sample.X))
    assert known.noise_rate_ == model.noise_rate_
    model.save(tmp_path / "program.json")
    assert load(tmp_path / "program.json").noise_rate_ == model.noise_rate_
    assert SMartiRank().fit(sample.X, y).noise_rate_ == 0
    with pytest.raises(ValueError, match="noise_rate must be one of 'auto'"):
        SMartiRank(noise_rate="guess").fit(sample.X, y)

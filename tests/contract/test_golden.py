"""Models saved by earlier versions are still read, and score the same.

The files in ``golden`` are never made again, whatever this version would write: a change that
breaks them breaks the models that users have saved. A new format adds files next to them.
"""

import json
from statistics import NormalDist

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank._base.registry import is_savable, public_names
from aucrank.tree import CrossValidatedPruning, LeafRank

from tests.common.paths import GOLDEN

TEXT = """
all rows: 38.059 of 70.967 positive (53.6%)
|-- amount < 1563.245: 26.602 of 32.992 positive (80.6%)
|   |-- (amount < 933.16) or (amount >= 933.16 and months < 30): 23.876 of 24.773 positive (96.4%)  #1
|   `-- amount >= 933.16 and months >= 30: 2.726 of 8.219 positive (33.2%)  #3
`-- amount >= 1563.245: 11.457 of 37.975 positive (30.2%)
    |-- (status in {low, none} or status is missing) or (status in {high, overdrawn} and amount < 2278.295): 11.457 of 23.263 positive (49.2%)
    |   |-- (months < 30 and (savings < 229.3 or savings is missing)) or (months >= 30 and savings < 131.75): 10.257 of 13.578 positive (75.5%)  #2
    |   `-- (months < 30 and savings >= 229.3) or (months >= 30 and (savings >= 131.75 or savings is missing)): 1.2 of 9.685 positive (12.4%)  #4
    `-- status in {high, overdrawn} and amount >= 2278.295: 0 of 14.712 positive (0.0%)  #5
"""  # noqa: E501


@pytest.fixture(scope="module")
def stored():
    return json.loads((GOLDEN / "tree_rank_v1_scores.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def model():
    return aucrank.load(GOLDEN / "tree_rank_v1.json")


def rows_of(stored):
    X = pd.DataFrame(stored["columns"])
    return X.assign(
        status=pd.Categorical(X["status"]),
        rate=pd.Categorical(X["rate"]),
        phone=X["phone"].astype("boolean"),
    )


def test_a_tree_of_format_1_has_the_same_nodes_and_leaves(model, stored):
    tables = {"nodes": model.tree_.nodes, "strata": model.tree_.strata, "pruning": model.pruning_}
    for key, table in tables.items():
        assert {name: table[name].tolist() for name in stored[key]} == stored[key]


def test_a_tree_of_format_1_has_the_same_splits(model):
    # The words may change with the version, and then here; what they say may not.
    assert model.tree_.to_text().splitlines() == TEXT.strip().splitlines()


def test_a_tree_of_format_1_scores_the_same_bits(model, stored):
    X = rows_of(stored)
    assert model.decision_function(X).tolist() == stored["scores"]
    assert model.predict_proba(X)[:, 1].tolist() == stored["probabilities"]
    assert model.predict(X).tolist() == stored["labels"]


def test_a_tree_of_format_1_has_its_parameters(model, stored):
    assert type(model) is aucrank.TreeRank
    params = model.get_params(deep=False)
    split, pruning = params.pop("split"), params.pop("pruning")
    assert type(split) is LeafRank
    assert type(pruning) is CrossValidatedPruning
    assert (split.max_depth, split.max_leaves) == (2, None)
    assert (pruning.n_folds, pruning.one_standard_error) == (3, False)
    assert {k: params[k] for k in ("max_depth", "min_samples_leaf", "random_state", "n_jobs")} == {
        "max_depth": 3,
        "min_samples_leaf": 4,
        "random_state": 0,
        "n_jobs": None,
    }
    assert model.classes_.tolist() == ["bad", "good"]
    assert model.feature_names_in_.tolist() == list(stored["columns"])


@pytest.mark.parametrize("name", ["stumps", "cubes"])
def test_a_tree_of_format_2_is_the_same_and_scores_the_same_bits(name):
    model = aucrank.load(GOLDEN / f"tree_rank_v2_{name}.json")
    stored = json.loads((GOLDEN / f"tree_rank_v2_{name}_scores.json").read_text(encoding="utf-8"))
    tables = {"nodes": model.tree_.nodes, "strata": model.tree_.strata, "pruning": model.pruning_}
    for key, table in tables.items():
        assert {name: table[name].tolist() for name in stored[key]} == stored[key]
    # The words may change with the version, and then here; what they say may not.
    assert model.tree_.to_text().splitlines() == stored["text"]
    X = rows_of(stored)
    assert model.decision_function(X).tolist() == stored["scores"]
    assert model.predict_proba(X)[:, 1].tolist() == stored["probabilities"]


@pytest.fixture(scope="module")
def stored_forest():
    return json.loads((GOLDEN / "ranking_forest_v2_scores.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def forest():
    return aucrank.load(GOLDEN / "ranking_forest_v2.json")


def test_a_forest_of_format_2_has_the_same_trees(forest, stored_forest):
    X = rows_of(stored_forest)
    assert len(forest.estimators_) == len(stored_forest["nodes"]) == 5
    for tree, nodes, leaves in zip(
        forest.estimators_, stored_forest["nodes"], stored_forest["leaves"], strict=True
    ):
        assert {name: tree.nodes[name].tolist() for name in nodes} == nodes
        assert tree.apply(X).tolist() == leaves


def test_a_forest_of_format_2_scores_the_same_bits(forest, stored_forest):
    X = rows_of(stored_forest)
    assert forest.decision_function(X).tolist() == stored_forest["scores"]
    assert forest.predict_proba(X)[:, 1].tolist() == stored_forest["probabilities"]
    assert forest.predict(X).tolist() == stored_forest["labels"]


def test_a_forest_of_format_2_has_its_statistics_and_parameters(forest, stored_forest):
    interval = forest.oob_interval()
    assert interval.auc == stored_forest["oob"][0]
    # It was DeLong's plain interval; the quantile of the normal law is Python's.
    reach = NormalDist().inv_cdf(0.975) * interval.standard_error
    ends = [interval.auc - reach, interval.auc + reach]
    assert ends == pytest.approx(stored_forest["oob"][1:], rel=1e-12)
    assert forest.feature_importances_.tolist() == stored_forest["importances"]
    params = forest.get_params(deep=False)
    assert type(params["split"]) is LeafRank
    assert {k: params[k] for k in ("n_estimators", "aggregation", "max_depth", "oob_score")} == {
        "n_estimators": 5,
        "aggregation": "kendall",
        "max_depth": 4,
        "oob_score": True,
    }
    with pytest.raises(AttributeError, match="does not store min_samples_leaf_"):
        forest.min_samples_leaf_  # noqa: B018
    assert forest.classes_.tolist() == ["bad", "good"]
    assert forest.feature_names_in_.tolist() == list(stored_forest["columns"])


def with_steps(model):
    """Return a model of format 2 in format 3: categories as steps, not as codes."""
    if isinstance(model, list):
        return [with_steps(item) for item in model]
    if not isinstance(model, dict):
        return model
    read = {key: with_steps(value) for key, value in model.items()}
    match read:
        case {"levels": [int(), *_] as codes}:
            read["levels"] = {"only": np.diff(codes, prepend=0).tolist()}
        case {"levels": [[int(), *_], *_] as sets}:
            read["levels"] = [{"only": np.diff(codes, prepend=0).tolist()} for codes in sets]
    return read


def with_shared_sets(model):
    """Return a model of format 4 in format 5: each set of categories of trees once."""
    if model["family"] == "ensemble":
        members = [
            member | {"models": [with_shared_sets(of_fold) for of_fold in member["models"]]}
            for member in model["members"]
        ]
        return model | {"members": members}
    if model["family"] == "gradient_boosted":
        return model | {"trees": sharing_sets(model["trees"])}
    return sharing_sets(model) if model["family"] == "ranking_forest" else model


def sharing_sets(saved):
    """Return trees in columns whose sets of categories stand once, by what they list."""

    def order(levels):
        ((kind, steps),) = levels.items()
        return np.cumsum(steps).tolist(), kind == "all_but"

    sets = []
    for levels in sorted((s for tree in saved["trees"] for s in tree.get("levels", [])), key=order):
        if levels not in sets[-1:]:
            sets.append(levels)
    if not sets:
        return saved
    trees = [
        {key: column for key, column in tree.items() if key != "levels"}
        | ({"level_sets": [sets.index(s) for s in tree["levels"]]} if "levels" in tree else {})
        for tree in saved["trees"]
    ]
    return saved | {"level_sets": sets, "trees": trees}


def test_a_forest_of_format_2_is_saved_unchanged(forest, tmp_path):
    # Besides sets of categories, the parameters, which may become more, and the version that
    # writes.
    path = tmp_path / "forest.json"
    forest.save(path)
    again, before = (
        json.loads(file.read_text(encoding="utf-8"))["body"]
        for file in (path, GOLDEN / "ranking_forest_v2.json")
    )
    assert again["model"] == with_shared_sets(with_steps(before["model"]))
    assert again["header"]["features"] == before["header"]["features"]


@pytest.mark.parametrize("name", ["tree", "forest"])
def test_sets_of_categories_of_format_3_score_the_same_bits(name, tmp_path):
    stored = json.loads((GOLDEN / "level_sets_v3_scores.json").read_text(encoding="utf-8"))
    path = GOLDEN / f"level_sets_v3_{name}.json"
    text = path.read_text(encoding="utf-8")
    assert '"only"' in text
    assert '"all_but"' in text
    model = aucrank.load(path)
    X = pd.DataFrame(stored["columns"]).astype({"town": "category"})
    assert model.decision_function(X).tolist() == stored[name]["scores"]
    assert model.predict_proba(X)[:, 1].tolist() == stored[name]["probabilities"]
    model.save(tmp_path / "again.json")
    again = json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))
    assert again["body"]["model"] == with_shared_sets(json.loads(text)["body"]["model"])


@pytest.fixture(scope="module")
def answers():
    found, later = (
        json.loads((GOLDEN / name).read_text(encoding="utf-8"))
        for name in ("families_v3_answers.json", "reports_v5_answers.json")
    )
    return found | later | {"answers": found["answers"] | later["answers"]}


FAMILIES = sorted(
    path.stem.removeprefix("families_v3_")
    for path in GOLDEN.glob("families_v3_*.json")
    if path.stem != "families_v3_answers"
)


def in_columns(model):
    """Return a model of format 3 in format 4: gradient boosting without nodes."""
    if model["family"] == "ensemble":
        members = [
            member | {"models": [in_columns(of_fold) for of_fold in member["models"]]}
            for member in model["members"]
        ]
        return model | {"members": members}
    if model["family"] != "gradient_boosted":
        return model
    splits = [[node["split"] for node in tree if "split" in node] for tree in model["trees"]]
    tests = [split["test"] for of_tree in splits for split in of_tree]
    thresholds = [set() for _ in range(1 + max(test["feature"] for test in tests))]
    for test in tests:
        if "levels" not in test["left"] and "known" not in test["left"]:
            thresholds[test["feature"]] |= set(test["left"].values())
    thresholds = [sorted(of_feature) for of_feature in thresholds]
    trees = [tree_in_columns(tree, thresholds) for tree in model["trees"]]
    return model | {"trees": {"thresholds": thresholds, "trees": trees}}


def tree_in_columns(nodes, thresholds):
    """Return a tree of gradient boosting of format 4, given its nodes and all thresholds."""
    columns = {name: [] for name in ("features", "gains", "levels", "thresholds")}
    columns |= {"missing": "", "nodes": "", "values": [], "weights": []}
    for node in nodes:
        if "leaf" in node:
            columns["nodes"] += "."
            columns["values"].append(int(node["leaf"]["value"] * 2**32))
            columns["weights"].append(node["leaf"]["weight"])
            continue
        test = node["split"]["test"]
        ((kind, about),) = test["left"].items()
        letters = {"below": "<", "at_least": ">", "levels": "=", "known": "k" if about else "u"}
        columns["nodes"] += letters[kind]
        columns["features"].append(test["feature"])
        columns["gains"].append(node["split"]["gain"])
        columns["missing"] += "l" if test["missing_left"] else "r"
        if kind == "levels":
            columns["levels"].append(about)
        elif kind != "known":
            columns["thresholds"].append(thresholds[test["feature"]].index(about))
    return {name: column for name, column in columns.items() if column or name != "levels"}


#: Their saved form changed with a format.
SINCE = [
    (version, path.stem.removeprefix(f"families_v{version}_"))
    for version in (4, 5)
    for path in sorted(GOLDEN.glob(f"families_v{version}_*.json"))
]


@pytest.mark.parametrize(
    ("version", "name"),
    [(3, name) for name in FAMILIES] + SINCE,
)
def test_a_stored_model_of_any_family_scores_the_same_bits(version, name, answers, tmp_path):
    path = GOLDEN / f"families_v{version}_{name}.json"
    model = aucrank.load(path)
    X = pd.DataFrame(answers["columns"]).astype({"town": "category"})
    if list(model.feature_names_in_) == ["amount", "age"]:
        X = X.loc[:39, ["amount"]].assign(age=answers["ages"])
    ask = model.decision_function if hasattr(model, "decision_function") else model.transform
    found = np.asarray(ask(X))
    assert np.where(np.isnan(found), None, found).tolist() == answers["answers"][name]
    model.save(tmp_path / "again.json")
    again, before = (
        json.loads(file.read_text(encoding="utf-8"))["body"]
        for file in (tmp_path / "again.json", path)
    )
    before_model = in_columns(before["model"]) if version == 3 else before["model"]
    assert again["model"] == (with_shared_sets(before_model) if version < 5 else before_model)
    assert again["header"]["features"] == before["header"]["features"]


def test_there_is_a_stored_model_of_every_estimator_that_saves(answers):
    files = [*((3, name) for name in FAMILIES), *SINCE]
    models = [aucrank.load(GOLDEN / f"families_v{version}_{name}.json") for version, name in files]
    stored = {type(model).__name__ for model in models}
    assert stored == {name for name in public_names() if is_savable(name)}
    assert {name for _, name in files} == set(answers["answers"])


def test_an_ensemble_from_a_file_without_a_report_raises_a_clear_error():
    model = aucrank.load(GOLDEN / "families_v5_ensemble.json")
    for name in ("leaderboard_", "weights_", "feature_importances_"):
        with pytest.raises(AttributeError, match="a model from a file has no"):
            getattr(model, name)
    assert [section.title for section in model._summary()] == ["Ensemble (3 members)"]


def test_the_report_of_an_ensemble_is_read(answers):
    model = aucrank.load(GOLDEN / "families_v5_ensemble_reported.json")
    stored = answers["reported"]
    assert {name: of.tolist() for name, of in model.leaderboard_.items()} == stored["leaderboard"]
    assert model.feature_importances_.tolist() == stored["importances"]

"""The Rust crate alone reads a saved model and scores a CSV file to the bit."""

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    MAD2C,
    MartiRank,
    RankBoost,
    RankingForest,
    RankOpt,
    TreeRank,
)
from sklearn.base import clone

from tests.common.estimators import SCORED_BY_THE_CRATE
from tests.common.limits import HANG
from tests.common.paths import CHECKOUT
from tests.common.user_tools import BOOSTER, make_rows, new_rows, typed


@pytest.fixture(scope="module")
def score_csv():
    """Build the example, and return a function that runs it."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    if not (CHECKOUT / "rust" / "aucrank" / "Cargo.toml").exists():
        pytest.skip("this is not a checkout: rust/aucrank/Cargo.toml is absent")
    build = subprocess.run(
        [
            *("cargo", "build", "--locked", "--message-format=json-render-diagnostics"),
            # With the package of the wheel, whose build of the core is reused.
            *("--release", "-p", "aucrank", "-p", "aucrank-python", "--example", "score_csv"),
        ],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert build.returncode == 0, build.stderr
    artefacts = [json.loads(line) for line in build.stdout.splitlines()]
    (program,) = (
        artefact["executable"]
        for artefact in artefacts
        if artefact.get("target", {}).get("name") == "score_csv"
    )

    def run(*args):
        return subprocess.run(
            [program, *map(str, args)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=HANG,
            check=False,
        )

    return run


def clients(n, seed):
    """Clients with every kind of column, and who left."""
    rng = np.random.default_rng(seed)
    city = rng.choice(["Oslo", "Århus", 'The "Hague", NL', "São\nPaulo", "1"], n)
    age = rng.normal(40, 12, n)
    spent = np.exp(rng.normal(0, 30, n))
    children = rng.integers(0, 5, n)
    y = rng.random(n) < 1 / (1 + np.exp(-(age - 40) / 6 - (city == "Oslo") + (children > 2)))
    y ^= rng.random(n) < 0.2 * (spent > 1)
    age[rng.random(n) < 0.2] = np.nan
    X = pd.DataFrame(
        {
            "age": age,
            "spent, €": spent,
            "city": pd.Categorical(np.where(rng.random(n) < 0.1, None, city)),
            "children": pd.Categorical(children),
            "rate": pd.Categorical(rng.choice([0.5, 1.0, 2.0**60, -1e-3], n)),
            "member": pd.Categorical(rng.random(n) < 0.5 + 0.2 * y),
            "phone": rng.random(n) < 0.5 + 0.1 * y,
        }
    )
    return X, y


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    X, y = clients(3000, 0)
    path = tmp_path_factory.mktemp("model") / "model.json"
    model = TreeRank(split="leafrank", min_samples_leaf=1, max_depth=8, pruning=None).fit(X, y)
    assert model.tree_.n_leaves > 50
    assert (model.feature_importances_ > 0).all()
    model.save(path)
    return model, path


def strangers(X):
    """Rows with unseen categories, and additional columns, in another order."""
    X = X.astype(dict.fromkeys(("city", "children", "rate", "member"), object))
    X.loc[::7, "city"] = "Atlantis"
    X.loc[::11, "children"] = 17
    X.loc[::13, "rate"] = 0.25
    X.loc[::17, "member"] = None
    return X.assign(id=range(len(X)))[["member", "id", *X.columns.drop("member")]]


@pytest.mark.parametrize("write", ["pandas", "polars"])
def test_scores_equal_those_of_python_to_the_bit(write, score_csv, model, tmp_path):
    fitted, path = model
    X = strangers(clients(2000, 1)[0])
    if write == "pandas":
        X.to_csv(tmp_path / "data.csv", index=False, na_rep="NA")
    else:
        # Booleans in lower case, missing ones empty.
        polars = pytest.importorskip("polars")
        kinds = {"city": str, "children": "Int64", "rate": float, "member": "boolean"}
        frame = polars.from_pandas(X.astype(kinds))
        frame.with_columns(polars.col("city").replace("nan", None)).write_csv(tmp_path / "data.csv")
    run = score_csv(path, tmp_path / "data.csv")
    assert (run.returncode, run.stderr) == (0, "")
    header, *scores = run.stdout.splitlines()
    assert header == "score"
    expected = fitted.decision_function(X[fitted.feature_names_in_])
    assert len(np.unique(expected)) > 30
    assert np.array_equal(np.array(scores, dtype=np.float64), expected)


def test_scores_with_pairs_of_categories_equal_those_of_python_to_the_bit(score_csv, tmp_path):
    X, y = make_rows(1)
    fitted = clone(BOOSTER).fit(typed(X), y)
    assert json.loads(fitted._to_document())["body"]["model"]["pairs"]
    fitted.save(tmp_path / "model.json")
    X_new, _ = new_rows()
    X_new.to_csv(tmp_path / "data.csv", index=False, na_rep="NA")
    run = score_csv(tmp_path / "model.json", tmp_path / "data.csv")
    assert (run.returncode, run.stderr) == (0, "")
    scores = np.array(run.stdout.splitlines()[1:], dtype=np.float64)
    assert np.array_equal(scores, fitted.decision_function(X_new))


@pytest.mark.parametrize("aggregation", ["eta", "rank_mean", "rank_median", "kendall"])
def test_scores_of_a_forest_equal_those_of_python_to_the_bit(aggregation, score_csv, tmp_path):
    forest = RankingForest(
        n_estimators=15, split="leafrank", max_depth=6, aggregation=aggregation, random_state=0
    )
    X, y = clients(1000, 0)
    forest.fit(X, y).save(tmp_path / "forest.json")
    X_new = strangers(clients(1500, 1)[0])
    X_new.to_csv(tmp_path / "data.csv", index=False, na_rep="NA")
    run = score_csv(tmp_path / "forest.json", tmp_path / "data.csv")
    assert (run.returncode, run.stderr) == (0, "")
    expected = forest.decision_function(X_new[forest.feature_names_in_])
    assert len(np.unique(expected)) > 30
    assert np.array_equal(np.array(run.stdout.split()[1:], dtype=np.float64), expected)


@pytest.mark.parametrize("name", [*SCORED_BY_THE_CRATE, "lines", "program of lines", "weights"])
def test_scores_of_boosted_models_equal_those_of_python_to_the_bit(name, score_csv, tmp_path):
    X, y = clients(1000, 0)
    X_new = strangers(clients(1500, 1)[0])
    if name in SCORED_BY_THE_CRATE:
        model = clone(SCORED_BY_THE_CRATE[name])
    else:
        # Numbers alone.
        if name == "weights":
            model = RankOpt()
            X, X_new = (frame.fillna({"age": 40.0, "spent, €": 0.0}) for frame in (X, X_new))
        else:
            model = MartiRank(n_rounds=5) if "program" in name else RankBoost(n_rounds=20)
            model.set_params(weak_ranker="linear")
        X = X[["age", "spent, €"]].assign(**{"old, or not": X["age"] ** 2})
        X_new = X_new.assign(**{"old, or not": X_new["age"] ** 2})
    model.fit(X, y).save(tmp_path / "model.json")
    X_new.to_csv(tmp_path / "data.csv", index=False, na_rep="NA")
    run = score_csv(tmp_path / "model.json", tmp_path / "data.csv")
    assert (run.returncode, run.stderr) == (0, "")
    expected = model.decision_function(X_new[model.feature_names_in_])
    has_sides = name == "two sides" or model.get_params().get("output") == "sign"
    assert len(np.unique(expected)) > (1 if has_sides else 5)
    assert np.array_equal(np.array(run.stdout.split()[1:], dtype=np.float64), expected)


def test_missing_values_have_the_same_texts_as_on_the_command_line(score_csv, model, tmp_path):
    from aucrank._data.text_survey import MISSING

    fitted, path = model
    X = clients(1, 2)[0].astype(object)
    known, missing = X.iloc[[0] * len(MISSING)], X.iloc[[0] * len(MISSING)].copy()
    for name in ("age", "city"):
        texts, missing[name] = known.copy(), None
        texts[name] = MISSING
        texts.to_csv(tmp_path / "data.csv", index=False)
        run = score_csv(path, tmp_path / "data.csv")
        assert (run.returncode, run.stderr) == (0, "")
        scores = np.array(run.stdout.split()[1:], dtype=np.float64)
        frame = missing.assign(
            age=missing["age"].astype(float), phone=missing["phone"].astype(bool)
        )
        frame["spent, €"] = frame["spent, €"].astype(float)
        assert np.array_equal(scores, fitted.decision_function(frame))
        missing[name] = known[name]


def test_a_file_with_other_columns_is_a_one_line_error_with_status_1(score_csv, model, tmp_path):
    _, path = model
    X, data = clients(3, 3)[0], tmp_path / "data.csv"
    X.to_csv(data, index=False)
    good = data.read_bytes()
    rows = good.decode().splitlines(keepends=True)
    assert "São" not in good.decode()

    def replaced(column, text):
        X.astype(object).assign(**{column: text}).to_csv(data, index=False)
        return data.read_bytes()

    cases = [
        (replaced("age", "old"), 'line 2, column "age": "old" is neither a finite number nor miss'),
        (replaced("age", "inf"), 'line 2, column "age": "inf" is neither a finite number'),
        (replaced("age", "1e999"), '"1e999" is neither a finite number'),
        (good.replace(b"age", b"Age", 1), 'no column "age", which the model needs'),
        (good.replace(b"city", b"age", 1), 'two columns are called "age"'),
        ("".join([*rows[:2], "1,2\n"]).encode(), "found record with 2 fields"),
        (good.replace(b"True", b"\xff\xfe").replace(b"False", b"\xff\xfe"), "invalid UTF-8"),
        (b"", 'no column "age"'),
    ]
    for content, message in cases:
        data.write_bytes(content)
        run = score_csv(path, data)
        assert run.returncode == 1
        assert run.stdout == ""
        assert message in run.stderr
        assert run.stderr.startswith(f"score_csv: {data}: ")
        assert run.stderr.count("\n") == 1, run.stderr


def test_a_file_that_is_not_a_model_is_a_one_line_error_with_status_1(score_csv, model, tmp_path):
    _, path = model
    X, y = clients(50, 4)
    X.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "cut.json").write_text(path.read_text(encoding="utf-8")[:500], encoding="utf-8")
    TreeRank(pruning=None).fit(X[["age"]].to_numpy(), y).save(tmp_path / "nameless.json")
    cases = [
        ((tmp_path / "cut.json", tmp_path / "data.csv"), "not a complete JSON document"),
        ((tmp_path / "none.json", tmp_path / "data.csv"), "none.json: "),
        ((path, tmp_path / "none.csv"), "none.csv: "),
        ((tmp_path / "nameless.json", tmp_path / "data.csv"), "columns without names"),
        ((path,), "usage: score_csv MODEL.json DATA.csv"),
    ]
    for args, message in cases:
        run = score_csv(*args)
        assert (run.returncode, run.stdout) == (1, "")
        assert message in run.stderr
        assert run.stderr.count("\n") == 1, run.stderr


def test_a_file_without_rows_gives_no_scores(score_csv, model, tmp_path):
    clients(1, 5)[0][:0].to_csv(tmp_path / "data.csv", index=False)
    run = score_csv(model[1], tmp_path / "data.csv")
    assert (run.returncode, run.stdout, run.stderr) == (0, "score\n", "")


def test_a_transformer_raises_an_error_that_names_its_file(score_csv, tmp_path):
    X, y = clients(100, 0)
    MAD2C().fit(X, y).save(tmp_path / "bins.json")
    run = score_csv(tmp_path / "bins.json", tmp_path / "absent.csv")
    assert (run.returncode, run.stdout) == (1, "")
    (line,) = run.stderr.splitlines()
    assert line.endswith("bins.json: this model turns features into others and has no score")

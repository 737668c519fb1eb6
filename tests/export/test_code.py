"""Code in other languages, compiled and run: the score to the last bit."""

import ctypes
import json
import shutil
import subprocess

import numpy as np
import pytest
from aucrank import GradientBoostingRanker
from numpy.testing import assert_array_equal

from tests.common.formulas import NOT_IN_SQL, OF_NUMBERS, WITH_CATEGORIES, fitted_formula
from tests.common.limits import HANG
from tests.common.loans import loans

pd = pytest.importorskip("pandas")

ALL = [*WITH_CATEGORIES, *OF_NUMBERS, *NOT_IN_SQL]


def plain_rows(frame):
    """Return rows of Python's numbers and strings, None for what is missing."""
    return [
        [None if pd.isna(v) else v if isinstance(v, str) else float(v) for v in row]
        for row in frame.astype(object).to_numpy()
    ]


def program(name):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


def by_python(code, rows, _):
    names = {}
    exec(compile(code, "score", "exec"), names)
    return [names["score"](row) for row in rows]


def by_c(code, rows, folder):
    (folder / "score.c").write_text(code, encoding="ascii")
    flags = ["-O1", "-std=c99", "-Wall", "-Werror", "-ffp-contract=off", "-shared", "-fPIC"]
    command = [program("gcc"), *flags, "score.c", "-o", "score.so", "-lm"]
    subprocess.run(command, cwd=folder, check=True, timeout=HANG)
    score = ctypes.CDLL(str(folder / "score.so")).score
    score.restype = ctypes.c_double
    n_columns = len(rows[0])
    scores = []
    for row in rows:
        numbers = [np.nan if v is None or isinstance(v, str) else v for v in row]
        texts = [v.encode() if isinstance(v, str) else None for v in row]
        arrays = (ctypes.c_double * n_columns)(*numbers), (ctypes.c_char_p * n_columns)(*texts)
        scores.append(score(*arrays))
    return scores


def by_javascript(code, rows, folder):
    (folder / "score.js").write_text(code, encoding="ascii")
    (folder / "rows.json").write_text(json.dumps(rows))
    main = """
const { score } = require("./score.js");
const rows = JSON.parse(require("fs").readFileSync("rows.json"));
console.log(rows.map((row) => String(score(row))).join("\\n"));
"""
    (folder / "main.js").write_text(main)
    return output_of([program("node"), "main.js"], folder)


def by_java(code, rows, folder):
    (scores,) = by_java_at_once([(code, rows)], folder)
    return scores


def by_java_at_once(programs, folder):
    """Return the scores of several programs with rows, since Java and its compiler start slowly."""
    program("javac")
    calls = []
    for place, (code, rows) in enumerate(programs):
        # Each is a class of this name, and there is one of a name.
        name = f"Ranker{place}"
        code = code.replace("public final class Ranker {", f"public final class {name} {{")
        (folder / f"{name}.java").write_text(code, encoding="ascii")
        texts = ["\t".join("" if v is None else f"={json.dumps(v)}" for v in row) for row in rows]
        (folder / f"{name}.txt").write_text("\n".join(texts))
        calls.append(f'for (Object[] row : rows("{name}.txt")) print({name}.score(row));')
    main = """
import java.nio.file.*;
public class Main {
  static Object[][] rows(String file) throws Exception {
    return Files.readAllLines(Paths.get(file)).stream().map(Main::row).toArray(Object[][]::new);
  }
  static Object[] row(String line) {
    String[] parts = line.split("\\t", -1);
    Object[] row = new Object[parts.length];
    for (int j = 0; j < parts.length; j++)
      if (parts[j].startsWith("=\\"")) row[j] = parts[j].substring(2, parts[j].length() - 1);
      else if (!parts[j].isEmpty()) row[j] = Double.parseDouble(parts[j].substring(1));
    return row;
  }
  static void print(double score) { System.out.println(score); }
  public static void main(String[] args) throws Exception {
    %s
  }
}
"""
    (folder / "Main.java").write_text(main % "\n    ".join(calls))
    sources = ["Main.java", *(f"Ranker{place}.java" for place in range(len(programs)))]
    subprocess.run(["javac", *sources], cwd=folder, check=True, timeout=HANG)
    scores = output_of([program("java"), "Main"], folder)
    ends = np.cumsum([len(rows) for _, rows in programs])
    assert len(scores) == ends[-1]
    return np.split(scores, ends[:-1])


def output_of(command, folder):
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True, timeout=HANG
    )
    return [float(line) for line in done.stdout.split()]


RUNS = {"python": by_python, "c": by_c, "javascript": by_javascript, "java": by_java}


@pytest.mark.parametrize("language", ["python", "c", "javascript"])
@pytest.mark.parametrize("name", ALL)
def test_code_gives_the_score_to_the_last_bit(name, language, tmp_path):
    model, new = fitted_formula(name)
    scores = model.decision_function(new)
    assert len(np.unique(scores)) > 1
    found = RUNS[language](model.to_code(language), plain_rows(new), tmp_path)
    assert_array_equal(found, scores)


def test_java_gives_the_score_of_every_model_to_the_last_bit(tmp_path):
    models = {name: fitted_formula(name) for name in ALL}
    programs = [(model.to_code("java"), plain_rows(new)) for model, new in models.values()]
    found = by_java_at_once(programs, tmp_path)
    for (name, (model, new)), scores in zip(models.items(), found, strict=True):
        assert len(np.unique(scores)) > 1
        assert_array_equal(scores, model.decision_function(new), err_msg=name)


@pytest.mark.parametrize("language", RUNS)
def test_a_large_booster_compiles(language, tmp_path):
    X, y = loans(2500, 0)
    new, _ = loans(100, 1)
    model = GradientBoostingRanker(random_state=0).fit(X, y)
    found = RUNS[language](model.to_code(language), plain_rows(new), tmp_path)
    assert_array_equal(found, model.decision_function(new))


@pytest.mark.parametrize("language", ["python", "c", "javascript"])
def test_names_and_categories_may_contain_any_characters(language, tmp_path):
    levels = ["x", "", " ", "*/", "a\\", "\\u000a", '"', "a\nb", "é", "\u2028", "??/", "😀", "a\r"]
    name = '*/ \\\n"""'
    X = pd.DataFrame({name: pd.Categorical(levels * 20), "n": np.arange(20.0 * len(levels))})
    y = np.tile(np.arange(len(levels)) % 3 == 0, 20)
    model = GradientBoostingRanker(n_rounds=5, min_samples_leaf=1, random_state=0).fit(X, y)
    rows = X.head(len(levels))
    found = RUNS[language](model.to_code(language), plain_rows(rows), tmp_path)
    assert_array_equal(found, model.decision_function(rows))


def test_categories_in_java_may_contain_any_characters(tmp_path):
    levels = ["x", " ", "*/", "a\\", "\\u000a", '"', "é", "\u2028", "😀"]
    X = pd.DataFrame({"\\u000a */": pd.Categorical(levels * 20)})
    model = GradientBoostingRanker(n_rounds=5, min_samples_leaf=1, random_state=0)
    model.fit(X, np.tile(np.arange(len(levels)) % 3 == 0, 20))
    program("javac")
    (tmp_path / "Ranker.java").write_text(model.to_code("java"), encoding="ascii")
    rows = ", ".join(json.dumps(level) for level in levels)
    main = f"""
public class Main {{
  public static void main(String[] args) {{
    for (String level : new String[] {{{rows}}})
      System.out.println(Ranker.score(new Object[] {{level}}));
  }}
}}
"""
    (tmp_path / "Main.java").write_text(main, encoding="ascii")
    command = ["javac", "Main.java", "Ranker.java"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=HANG)
    found = output_of(["java", "Main"], tmp_path)
    assert_array_equal(found, model.decision_function(X.head(len(levels))))


def test_models_that_cannot_be_written_as_code_raise_an_error():
    model, _ = fitted_formula("stumps")
    with pytest.raises(ValueError, match="language must be one of 'c', 'python'"):
        model.to_code("fortran")
    X = pd.DataFrame({"c": pd.Categorical(["a\0", "b"] * 20)})
    model = GradientBoostingRanker(n_rounds=3, min_samples_leaf=1).fit(X, np.arange(40) % 2)
    with pytest.raises(ValueError, match="holds a character that C cannot write"):
        model.to_code("c")


@pytest.mark.parametrize("language", ["c", "javascript", "java"])
def test_whole_numbers_that_doubles_merge_are_refused_by_name(language):
    levels = [2**53, 2**53 + 1, 2**60 + 3]
    X = pd.DataFrame({"account": pd.Categorical(levels * 40), "n": np.arange(120.0)})
    y = np.tile([0, 1, 0], 40)
    model = GradientBoostingRanker(n_rounds=5, min_samples_leaf=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"'account' has the category 9007199254740993.*2\^53"):
        model.to_code(language)
    rows = [[level, 1.0] for level in [*levels, 2**53 + 2, 2**60]]
    found = by_python(model.to_code("python"), rows, None)
    scored = pd.DataFrame({"account": pd.array([r[0] for r in rows], dtype="int64"), "n": 1.0})
    assert_array_equal(found, model.decision_function(scored))
    assert len(set(found)) > 1


def test_an_empty_field_is_missing_in_javascript(tmp_path):
    X = pd.DataFrame({"n": np.r_[np.nan, np.arange(-30.0, 30.0)]})
    y = np.r_[1, np.arange(60) >= 30]
    X, y = pd.concat([X] * 4), np.tile(y, 4)
    model = GradientBoostingRanker(n_rounds=5, min_samples_leaf=1, random_state=0).fit(X, y)
    rows = [[""], [" "], [None], [0], ["0"], ["-3"]]
    found = by_javascript(model.to_code("javascript"), rows, tmp_path)
    new = pd.DataFrame({"n": [np.nan, np.nan, np.nan, 0.0, 0.0, -3.0]})
    assert_array_equal(found, model.decision_function(new))

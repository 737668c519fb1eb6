"""Names of columns and categories that are written to harm, in all that is read by other programs.

SQL is read back by sqlglot in every dialect, and run by the databases that there are. What comes
back must be the names, the categories and the arithmetic of a score, and nothing else.
"""

import html
import json
import os
import re
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlglot
from aucrank import RIMARC, MartiRank, Scorecard, SMartiRank, TreeRank
from aucrank._base import registry as _registry
from aucrank._data.schema import Feature, Schema
from aucrank._export.sql import SqlWriter
from aucrank._utils.plain_text import shown
from aucrank._utils.sql_spelling import DIALECTS
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from tests.common.estimators import few_members

#: Grammars of sqlglot for each dialect.
GRAMMARS = {
    "ansi": ["sqlite", "duckdb", "postgres", "oracle"],
    "duckdb": ["duckdb"],
    "postgres": ["postgres"],
    "mysql": ["mysql"],
    "bigquery": ["bigquery"],
    "snowflake": ["snowflake"],
    "spark": ["spark"],
    "tsql": ["tsql"],
}
READERS = [(dialect, reader) for dialect, readers in GRAMMARS.items() for reader in readers]

QUOTES = ["'", '"', "`", "[", "]", "''", '""', "``", "]]", "\\", "\\\\", "[a]", '"a"', "`a`"]
ESCAPES = ["a\\'b", 'a\\"b', "a\\`b", "a\\]b", "\\n", "\\x41 \\u0041 \\101", "ends in \\", "c\\\nd"]
BLANKS = [" x", "\nx", "a\r\nb", "\tx", "\x01", "\x1b[31m", "\x7f", "\x85", "\u2028", "\ufeff"]
LOOKALIKES = [
    "\u02bc",
    "\u2019",
    "\uff07",
    "\uff02",
    "\u201d",
    "\uff40",
    "\uff3d",
    "\uff3c",
    "é",
    "e\u0301",
]
WORDS = [
    "--",
    "# x",
    "/*",
    "*/",
    "/*! 1 */",
    ";",
    "$$",
    "%s",
    "?",
    ":x",
    "@@version",
    "{{x}}",
    "NULL",
]
ATTACKS = [
    f"{opening} IS NULL OR 1=1) THEN (SELECT secret FROM vault) -- x"
    for opening in ("x`", "x\\`", 'x"', 'x\\"', "x]", "x'", "x\\'")
]
HOSTILE = [*QUOTES, *ESCAPES, *BLANKS, *LOOKALIKES, *WORDS, *ATTACKS]
#: Categories besides: what some databases take for another string, or for none.
LEVELS = [*HOSTILE, "", " ", "x", "x ", "X", "\N{PILE OF POO}"]

#: Nodes allowed in the expression of a score.
ARITHMETIC = (exp.Case, exp.If, exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div)
CONDITIONS = (exp.And, exp.Or, exp.Not, exp.LT, exp.GT, exp.GTE, exp.EQ, exp.In, exp.Is)
LEAVES = (exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean)
STRINGS = (exp.National, exp.Introducer, exp.HexString, exp.Var)
FUNCTIONS = (exp.Coalesce, exp.Nullif, exp.Cast, exp.DataType, exp.Round)
#: How PostgreSQL rounds halves away from 0.
ROUNDING = (exp.Sign, exp.Floor, exp.Abs)
EXPECTED = (exp.Select, *ARITHMETIC, *CONDITIONS, *LEAVES, *STRINGS, *FUNCTIONS, *ROUNDING)
#: What models of many trees have besides, in any dialect.
STEPS = (exp.Subquery, exp.With, exp.CTE, exp.From, exp.Table, exp.Alias, exp.TableAlias)
#: What a branching program has besides: queries in queries, none of which reads a table, and whole
#: numbers, some of them shifted. Masses, their parts and shares have names of its own.
NESTED = (
    exp.Subquery,
    exp.From,
    exp.Offset,
    exp.Star,
    exp.Alias,
    exp.TableAlias,
    exp.BitwiseRightShift,
    exp.Anonymous,
)
OWN_NAME = re.compile(r"[mrs][0-9]+_[0-9]+")


def text_of(node):
    """Return the string that a node stands for, None where it stands for none."""
    match node:
        case exp.Literal() if node.is_string:
            return node.this
        case exp.National():
            return node.this if isinstance(node.this, str) else text_of(node.this)
        case exp.Introducer():
            assert str(node.this) == "_utf8mb4"
            return bytes.fromhex(node.expression.this).decode()
        case exp.Add():
            parts = [text_of(node.left), text_of(node.right)]
            return None if None in parts else "".join(parts)


def strings_in(node):
    """Return the strings of an expression, those that are joined as one."""
    text = text_of(node)
    if text is not None:
        return [text]
    return [text for child in node.iter_expressions() for text in strings_in(child)]


def read_back(sql, reader, *, is_nested=False):
    """Return the names and the strings of a score, which must be made of nothing else."""
    (tree,) = sqlglot.parse(f"SELECT {sql}", read=reader)
    assert [key for key, value in tree.args.items() if value] == ["expressions"]
    assert len(tree.expressions) == 1
    expected = (*EXPECTED, *NESTED) if is_nested else EXPECTED
    if is_in_steps := sql.startswith("(WITH codes AS "):
        expected = (*EXPECTED, *STEPS)
        (steps,) = tree.find_all(exp.With)
        own = [step.alias for step in steps.expressions]
        assert own == ["codes", *(f"s{place}_" for place in range(len(own) - 1))]
        # Each step reads the one before it, and no other table.
        assert sorted(table.sql() for table in tree.find_all(exp.Table)) == sorted(own)
    for node in tree.walk():
        assert isinstance(node, expected), f"{node!r} in {sql}"
        assert not node.comments, f"{node.comments} in {sql}"
        if isinstance(node, exp.Anonymous):
            assert node.name == "BITSHIFTRIGHT"
    # sqlglot takes a dot in a name of BigQuery for the one between a table and its column.
    names = {".".join(part.this for part in column.parts) for column in tree.find_all(exp.Column)}
    if is_nested:
        names = {name for name in names if not OWN_NAME.fullmatch(name)}
    if is_in_steps:
        # Names of the fit are quoted, those of the steps never.
        columns = tree.find_all(exp.Column)
        names = {column.name for column in columns if column.this.args["quoted"]}
    return names, set(strings_in(tree))


# Any texts ---------------------------------------------------------------------------------------

TEXTS = st.one_of(
    st.text("'\"`]\\\n", min_size=1, max_size=6),
    st.text("'\"`[]\\\n\r\t\x01-*/#;$%?:@{}aunxXU04 \u02bc\uff07é", min_size=1, max_size=12),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
)


@pytest.mark.parametrize(("dialect", "reader"), READERS)
@given(name=TEXTS, level=st.just("") | TEXTS, other=TEXTS)
def test_every_name_and_category_is_read_back_unchanged(dialect, reader, name, level, other):
    if dialect == "mysql":
        name = "".join(min(character, "\uffff") for character in name)
    # Names have a longest length in some dialects: 63 bytes in that of PostgreSQL.
    while len(name.encode()) > 63:
        name = name[:-1]
    writer = SqlWriter(Schema((Feature(name, (level, other)),)), dialect)
    sql = f"CASE WHEN {writer.among(0, [level, other])} THEN {writer.name(0)} END"
    assert read_back(sql, reader) == ({name}, {level, other})


@pytest.mark.parametrize(("dialect", "reader"), READERS)
@pytest.mark.parametrize("text", HOSTILE)
def test_every_hostile_text_is_read_back_unchanged(dialect, reader, text):
    writer = SqlWriter(Schema((Feature(text, (text,)),)), dialect)
    sql = f"CASE WHEN {writer.among(0, [text])} THEN 1 ELSE 0 END"
    assert read_back(sql, reader) == ({text}, {text})


def test_names_and_strings_are_written_by_the_rules_of_each_dialect():
    """The rules: doubled quotes, and the backslashes of BigQuery's lexical structure."""
    text = "a`b\"c]d'e\\f\n"
    plain = ('"a`b""c]d\'e\\f\n"', "'a`b\"c]d''e\\f\n'")
    written = {
        "ansi": plain,
        "sqlite": plain,
        "duckdb": plain,
        "postgres": plain,
        "mysql": ("`a``b\"c]d'e\\f\n`", f"_utf8mb4 X'{text.encode().hex()}'"),
        "bigquery": ("`a\\`b\"c]d'e\\\\f\\n`", "'a`b\"c]d\\'e\\\\f\\n'"),
        "snowflake": ('"a`b""c]d\'e\\f\n"', "'a`b\"c]d''e\\\\f\n'"),
        "spark": ("`a``b\"c]d'e\\f\n`", "'a`b\"c]d\\'e\\\\f\\n'"),
        "tsql": ("[a`b\"c]]d'e\\f\n]", "'a`b\"c]d''e\\' + '\nf'"),
    }
    schema = Schema((Feature(text, (text, "c\\\nf")),))
    for dialect in DIALECTS:
        writer = SqlWriter(schema, dialect)
        level = "a`b\"c]d'e\\\nf" if dialect == "tsql" else text
        assert (writer.name(0), writer.literal(0, level)) == written[dialect]
    assert SqlWriter(schema, "tsql").literal(0, "naïve") == "N'naïve'"


def test_every_dialect_is_read_back():
    plain = {dialect for dialect, how in DIALECTS.items() if how is DIALECTS["ansi"]}
    assert set(DIALECTS) == plain | set(GRAMMARS)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\udfffx"])
def test_text_that_sql_cannot_write_raises_an_error_that_names_the_column(dialect, text):
    named = SqlWriter(Schema((Feature("age"), Feature(text))), dialect)
    with pytest.raises(ValueError, match=r"the name of column '.*' holds the character '\\") as err:
        named.name(1)
    assert repr(text) in str(err.value)
    held = SqlWriter(Schema((Feature("plan", (text,)),)), dialect)
    with pytest.raises(ValueError, match=r"the category '.*' of column 'plan' holds the character"):
        held.literal(0, text)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_empty_name_raises_an_error_in_sql(dialect):
    """It must not become x0, which another column may be called."""
    writer = SqlWriter(Schema((Feature(""), Feature("x0"))), dialect)
    with pytest.raises(ValueError, match="column 0 has an empty name, which SQL cannot write"):
        writer.name(0)
    assert "x0" in writer.name(1)


@pytest.mark.parametrize(
    ("dialect", "longest"), [("mysql", 256), ("bigquery", 300), ("snowflake", 255), ("tsql", 128)]
)
def test_a_name_that_is_too_long_for_a_dialect_raises_an_error(dialect, longest):
    writer = SqlWriter(Schema((Feature("x" * longest), Feature("y" * (longest + 1)))), dialect)
    assert "x" * longest in writer.name(0)
    message = rf"column 'y+' has {longest + 1} characters; {dialect} takes {longest} at most"
    with pytest.raises(ValueError, match=message):
        writer.name(1)
    assert "y" in SqlWriter(Schema((Feature("y" * 1000),)), "ansi").name(0)


def test_postgres_limits_the_bytes_of_a_name():
    writer = SqlWriter(Schema((Feature("é" * 31), Feature("é" * 32))), "postgres")
    assert "é" * 31 in writer.name(0)
    with pytest.raises(ValueError, match=r"column 'é+' has 64 bytes; postgres takes 63 at most"):
        writer.name(1)


def test_mysql_rejects_names_beyond_the_basic_plane():
    writer = SqlWriter(Schema((Feature("\N{PILE OF POO}", ("\N{PILE OF POO}",)),)), "mysql")
    with pytest.raises(ValueError, match="holds the character '\N{PILE OF POO}'"):
        writer.name(0)
    assert writer.literal(0, "\N{PILE OF POO}") == "'\N{PILE OF POO}'"


# Every model that writes SQL ---------------------------------------------------------------------

WRITERS = [
    (name, kind)
    for name in _registry.ESTIMATORS
    for kind in ("categories", "numbers")
    if hasattr(_registry.get_estimator(name), "to_sql")
    or hasattr(_registry.get_estimator(name), "tree_")
    if (name, kind) != ("RankOpt", "categories")  # its columns are numbers
]

SETTINGS = {
    "TreeRank": {"pruning": None, "min_samples_leaf": 1},
    # Each tree asks for a dozen columns.
    "RankingForest": {"n_estimators": 12, "random_state": 0},
    "AUCBoost": {"n_rounds": 100},
    "RankBoost": {"n_rounds": 100},
    # More branches than one expression takes, and not many more: databases plan all of them.
    "GradientBoostingRanker": {"n_rounds": 20, "n_bags": 1, "early_stopping": False},
    # Without the forest, which is above.
    "RankingEnsemble": {"members": few_members()[::2], "n_folds": 2, "random_state": 0},
    "AURORA": {"selection": None, "radius": 3.0, "max_features": 40},
    "IntegerScore": {"max_features": 12, "min_gain": 0.0},
}


def hostile_rows(kind):
    """Rows with hostile names, of categories that are hostile too, or of numbers."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, (300, len(HOSTILE)))
    levels = np.array(LEVELS, dtype=object)
    X = pd.DataFrame(
        {
            name: levels[(3 * place + 7 * codes[:, place]) % len(levels)]
            if kind == "categories"
            else codes[:, place].astype(float)
            for place, name in enumerate(HOSTILE)
        }
    )
    lean = rng.normal(size=len(HOSTILE))
    return X, (codes > 1) @ lean + rng.normal(size=300) > 0.6 * lean.sum()


@pytest.fixture(scope="module", params=WRITERS, ids="-".join)
def written(request):
    """Return what writes SQL, its rows, and the scores of these."""
    name, kind = request.param
    X, y = hostile_rows(kind)
    model = _registry.get_estimator(name)(**SETTINGS.get(name, {})).fit(X, y)
    score = getattr(model, "points", model.decision_function)
    # As many rows as have every category in every column, several times over.
    X = X.head(40)
    return getattr(model, "tree_", model), X, np.asarray(score(X), dtype=float)


@pytest.mark.parametrize(("dialect", "reader"), READERS)
def test_a_score_in_sql_is_arithmetic_on_the_columns_of_the_fit(written, dialect, reader):
    model, X, _ = written
    is_program = isinstance(model, MartiRank | SMartiRank)
    if is_program and dialect == "spark":
        with pytest.raises(ValueError, match="spark takes no query in FROM that refers to the row"):
            model.to_sql(dialect)
        return
    names, strings = read_back(model.to_sql(dialect), reader, is_nested=is_program)
    assert names <= set(HOSTILE)
    assert len(names) > 5
    if isinstance(X.iloc[0, 0], str):
        assert strings <= set(LEVELS)
        assert len(strings) > 5
    else:
        assert not strings


def test_the_models_use_every_hostile_name_and_category():
    """The tests above and below cover every column."""
    X, y = hostile_rows("categories")
    names, strings = read_back(_registry.get_estimator("RIMARC")().fit(X, y).to_sql(), "duckdb")
    assert (names, strings) == (set(HOSTILE), set(LEVELS))


def identifier(name, reader):
    return exp.to_identifier(name, quoted=True).sql(dialect=reader)


def asker(run, model, X, dialect, reader, types):
    """Load rows into a database, with a table that no score may name; return a query function."""
    kind = types[0] if isinstance(X.iloc[0, 0], str) else types[1]
    columns = ", ".join(f"{identifier(name, reader)} {kind}" for name in X.columns)
    marks = ", ".join(["%s" if dialect in ("mysql", "postgres") else "?"] * (X.shape[1] + 1))
    run("CREATE TABLE vault (secret INTEGER)")
    run("INSERT INTO vault VALUES (4242)")
    run(f"CREATE TABLE hostile_rows (place INTEGER, {columns})")
    run(f"INSERT INTO hostile_rows VALUES ({marks})", X.reset_index().to_numpy().tolist())
    query = f"SELECT place, {model.to_sql(dialect)} FROM hostile_rows ORDER BY place"
    return lambda: [score for _, score in run(query)]


def test_sqlite_gives_the_scores_for_any_names(written):
    model, X, scores = written
    with closing(sqlite3.connect(":memory:")) as database:

        def run(statement, rows=None):
            if rows is None:
                return database.execute(statement).fetchall()
            return database.executemany(statement, rows)

        found = asker(run, model, X, "ansi", "sqlite", ("TEXT", "REAL"))()
    np.testing.assert_allclose(found, scores, rtol=1e-12, atol=1e-12)


def test_duckdb_gives_the_scores_for_any_names(written):
    model, X, scores = written
    with duckdb.connect() as database:

        def run(statement, rows=None):
            if rows is None:
                return database.execute(statement).fetchall()
            return database.executemany(statement, rows)

        found = asker(run, model, X, "ansi", "duckdb", ("VARCHAR", "DOUBLE"))()
    np.testing.assert_allclose(found, scores, rtol=1e-12, atol=1e-12)


@pytest.fixture(scope="module")
def mariadb():
    """Return a connection to a separate server, on a socket in its own folder."""
    pymysql = pytest.importorskip("pymysql")
    install, serve = (
        shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
        for name in ("mariadb-install-db", "mariadbd")
    )
    if install is None or serve is None:
        pytest.skip("MariaDB is not installed")
    # Not a folder of pytest: it keeps them, the path of a socket has 107 bytes at most, and no one
    # else may enter it.
    with TemporaryDirectory(prefix="mariadb-") as name:
        folder, socket = Path(name), f"{name}/socket"
        options = ["--no-defaults", f"--datadir={folder / 'data'}"]
        if os.geteuid() == 0:
            options.append("--user=root")
        made = subprocess.run(
            [install, *options, "--auth-root-authentication-method=normal", "--skip-test-db"],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            pytest.skip(f"MariaDB makes no data folder: {made.stdout[-300:]}{made.stderr[-300:]}")
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [serve, *options, f"--socket={socket}", "--skip-networking"], stderr=log
            )
        try:
            for _ in range(600):
                try:
                    connection = pymysql.connect(unix_socket=socket, user="root", charset="utf8mb4")
                    break
                except pymysql.err.OperationalError:
                    assert server.poll() is None, (folder / "log").read_text()
                    time.sleep(0.1)
            else:
                raise AssertionError((folder / "log").read_text())
            with closing(connection):
                yield connection
        finally:
            server.terminate()
            server.wait()


def test_postgres_gives_the_scores_for_any_names(written, postgres):
    model, X, scores = written

    def run(statement, rows=None):
        if rows is None:
            found = postgres.execute(statement)
            return found.fetchall() if found.description else None
        return postgres.cursor().executemany(statement, rows)

    run("DROP SCHEMA IF EXISTS public CASCADE")
    run("CREATE SCHEMA public")
    found = asker(run, model, X, "postgres", "postgres", ("TEXT", "FLOAT8"))()
    np.testing.assert_allclose(np.array(found, dtype=float), scores, rtol=1e-12, atol=1e-12)


# In both modes, backslashes being plain or not, and names in double quotes or not.
MODES = ["", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES,ANSI_QUOTES"]


def test_mariadb_gives_the_scores_for_any_names_and_sql_mode(written, mariadb):
    model, X, scores = written
    if isinstance(model, MartiRank | SMartiRank):
        pytest.skip("MariaDB takes no query in FROM that refers to the row outside")
    cursor = mariadb.cursor()

    def run(statement, rows=None):
        if rows is None:
            cursor.execute(statement)
            return cursor.fetchall()
        return cursor.executemany(statement, rows)

    run("SET sql_mode = ''")
    run("CREATE OR REPLACE DATABASE hostile COLLATE utf8mb4_nopad_bin")
    run("USE hostile")
    ask = asker(run, model, X, "mysql", "mysql", ("VARCHAR(99)", "DOUBLE"))
    for mode in MODES:
        run(f"SET sql_mode = '{mode}'")
        np.testing.assert_allclose(ask(), scores, rtol=1e-12, atol=1e-12)


# Graphs, pages, documents ------------------------------------------------------------------------


def labels_of(dot):
    """Return the labels of a graph: all its text in quotes, by the rules of DOT."""
    statement = re.compile(r'\s*(?:[\w>\- ]+)\[(?:\w+=(?:\w+|"(?:[^"\\]|\\.)*"),? ?)+\];')
    first, *statements, last = dot.split("\n")
    assert (first, last) == ("digraph RankingTree {", "}")
    assert all(statement.fullmatch(line) for line in statements)
    found = [re.search(r'label="((?:[^"\\]|\\.)*)"', line) for line in statements[1:]]
    unescaped = {"\\n": "\n", "\\\\": "\\", '\\"': '"'}
    return [
        html.unescape(re.sub(r"\\.", lambda pair: unescaped[pair[0]], label[1])) for label in found
    ]


@pytest.mark.parametrize("text", [*HOSTILE, "a\0b", "&lt;b&gt;", "<b>", "\\N \\G", '"];x->y;"'])
def test_a_graph_has_hostile_names_only_in_its_labels(text):
    X = pd.DataFrame({text: pd.Categorical([text, "plain"] * 20)})
    tree = TreeRank(pruning=None).fit(X, np.arange(40) % 2).tree_
    name = shown(text)
    labels = labels_of(tree.to_dot())
    assert labels[0] in (
        f"{name} = {name}\n20 of 40 positive",
        f"{name} = plain\n20 of 40 positive",
    )
    assert sorted(labels[1:]) == sorted(
        ["#1\n20 of 20 positive", "yes", "#2\n0 of 20 positive", "no"]
    )


class Page(HTMLParser):
    """Reads a page: its tags, its attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")


@pytest.mark.parametrize("text", [*HOSTILE, "<script>alert(1)</script>", "&lt;", "<!-- x", "</td>"])
def test_pages_have_hostile_names_only_in_their_text(text):
    X = pd.DataFrame({text: [text, "plain"] * 20})
    card = Scorecard(estimator=RIMARC()).fit(
        X, np.array([f"{text} bad", f"{text} good"])[np.arange(40) % 2]
    )
    pages = [card.to_html(), card.card()._repr_html_(), card.drift(X)._repr_html_()]
    for page in map(Page, pages):
        tables = {"table", "thead", "tbody", "tr", "th", "td", "p"}
        around = {"html", "head", "meta", "title", "style", "body", "h1", "strong"}
        assert page.tags <= tables | around
        assert page.attributes <= {
            "lang",
            "charset",
            "http-equiv",
            "name",
            "content",
            "class",
            "style",
            "colspan",
        }
    assert shown(text) in Page(pages[0]).text


@pytest.mark.parametrize("text", HOSTILE)
def test_pmml_and_json_preserve_hostile_names_and_categories(text):
    X = pd.DataFrame({text: [text, "plain"] * 20})
    y = np.array([f"{text} bad", f"{text} good"])[np.arange(40) % 2]
    card = Scorecard(estimator=RIMARC()).fit(X, y)
    (feature,) = json.loads(card.to_json())["features"]
    assert feature["name"] == text
    assert [text] in [bin_.get("categories") for bin_ in feature["bins"]]
    if min(text) < " " and not set(text) & set("\n\r\t"):
        with pytest.raises(
            ValueError, match=r"column '.*': '.*' holds the character '.*', which XML"
        ):
            card.to_pmml()
        return
    root = ElementTree.fromstring(card.to_pmml(model_name=text))
    names = {part.get(key) for part in root.iter() for key in ("field", "reasonCode")}
    assert names == {None, text, "points"}
    values = [part.get("value") for part in root.iter() if part.get("value") is not None]
    assert sorted(values) == sorted([text, "plain"] * 2)
    assert root.find("{*}Scorecard").get("modelName") == text


def test_an_empty_name_is_rejected_by_pmml():
    card = Scorecard(estimator=RIMARC()).fit(
        pd.DataFrame({"": [0.0, 1.0] * 20, "x0": [1.0, 2.0] * 20}), [0, 1] * 20
    )
    with pytest.raises(ValueError, match="column 0 has an empty name, which PMML cannot write"):
        card.to_pmml()

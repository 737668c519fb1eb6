"""The AUC calculator of the documentation, in Chromium: its figures are those of the package."""

import contextlib
import csv
import io
import json
import re
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import aucrank
import numpy as np
import pytest
from aucrank.metrics import (
    auc_compare,
    auc_interval,
    calibration_curve,
    decision_curve,
    roc_curve,
)

from tests.common.browser import start_browser
from tests.common.limits import HANG
from tests.common.paths import CHECKOUT, GOLDEN

DOCS = CHECKOUT / "docs"
ASSETS = DOCS / "_static" / "calculator"
MODULE = ASSETS / "aucrank.wasm"
# What a visitor downloads, without the examples.
MOST_BYTES = 600_000

pytestmark = [
    pytest.mark.skipif(not DOCS.is_dir(), reason="needs the checkout: there is no docs/"),
    pytest.mark.skipif(not MODULE.is_file(), reason="needs the module: `make calculator`"),
]


class Site(NamedTuple):
    """A folder that is served."""

    folder: Path
    address: str
    requested: list[str]


class Files(SimpleHTTPRequestHandler):
    """Serves a folder, and notes what is requested for."""

    def __init__(self, *args, requested, **options):
        self.requested = requested
        super().__init__(*args, **options)

    def log_message(self, *_):
        self.requested.append(self.path)


@contextlib.contextmanager
def served(folder):
    """The address of the page in a folder, and what was requested for."""
    requested = []
    handler = partial(Files, directory=folder, requested=requested)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/calculator.html", requested
    server.shutdown()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The page without the theme, next to its files: the folder, the address, the requests."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "_static").mkdir()
    shutil.copytree(ASSETS, folder / "_static" / "calculator")
    page = (DOCS / "calculator.md").read_text("utf-8")
    parts = re.findall(r"^```\{raw\} html\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert len(parts) == 3
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>AUC calculator</title>'
    head += '<meta name="viewport" content="width=device-width">'
    icon = '<link rel="icon" href="data:,">'
    (folder / "calculator.html").write_text(head + icon + "".join(parts), "utf-8")
    with served(folder) as (address, requested):
        yield Site(folder, address, requested)


@pytest.fixture(scope="module")
def browser():
    driver = start_browser()
    driver.set_script_timeout(HANG)
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, site):
    browser.get(site.address)
    wait(browser, "return document.getElementById('calculator').dataset.ready === ''")
    return browser


def wait(browser, script, *args):
    """What a script returns, once that is true."""
    ui = pytest.importorskip("selenium.webdriver.support.ui")
    return ui.WebDriverWait(browser, HANG).until(lambda own: own.execute_script(script, *args))


ASK = """
const [files, request, done] = arguments;
(async () => {
  const worker = new Worker("_static/calculator/worker.js", { type: "module" });
  const ask = (name, request) => new Promise((resolve, reject) => {
    worker.onmessage = ({ data: { result, error } }) =>
      error === undefined ? resolve(result) : reject(error);
    worker.postMessage({ id: 1, name, request });
  });
  try {
    const answers = [];
    for (const [name, text] of files) answers.push(await ask(name, { blob: new Blob([text]) }));
    for (const answer of answers) {
      if (answer.blob) answer.text = await answer.blob.text();
    }
    if (request !== null) {
      const { label, score, other } = answers[0].guess;
      const scores = other === null ? [score] : [score, other];
      const chosen = { label, scores, positive: null, probabilities: null };
      answers.push(await ask("measure", { ...chosen, ...request }));
    }
    return answers;
  } finally {
    worker.terminate();
  }
})().then((answers) => done({ answers }), (error) => done({ error: String(error) }));
"""


def ask(page, *files, request=None):
    """The answers of the page's worker to files, each with the name of what is requested."""
    found = page.execute_async_script(ASK, files, request)
    if "error" in found:
        raise ValueError(found["error"])
    return found["answers"]


def measure(page, text, **request):
    """The figures of a file, with the columns that the page guesses."""
    return ask(page, ("open", text), request=request)[-1]


def as_csv(separator=",", **columns):
    file = io.StringIO()
    rows = csv.writer(file, delimiter=separator, lineterminator="\r\n")
    rows.writerow(columns)
    rows.writerows(zip(*columns.values(), strict=True))
    return file.getvalue()


def sample(n_rows, seed):
    """Labels, and two columns of probabilities with ties."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-1, 1.2, n_rows)
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-log_odds))).astype(int)
    y[:2] = 0, 1
    noisy = log_odds + rng.normal(0, 0.8, n_rows)
    return y, *(np.round(1 / (1 + np.exp(-scale)), 3) for scale in (1.5 * log_odds, noisy))


def close(found, expected):
    """Compare two lists of numbers; JSON has null in place of NaN and infinity."""
    values = np.asarray([np.nan if value is None else value for value in found], dtype=float)
    expected = np.asarray(expected, dtype=float)
    np.testing.assert_allclose(
        values, np.where(np.isfinite(expected), expected, np.nan), 1e-9, 1e-11
    )


@pytest.mark.parametrize(("n_rows", "seed"), [(8, 5), (60, 1), (6000, 2)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_figures_are_those_of_the_package(page, n_rows, seed):
    y, first, second = sample(n_rows, seed)
    found = measure(page, as_csv(outcome=y, score_a=first, score_b=second))
    assert (found["n_rows"], found["n_pos"], found["positive"]) == (n_rows, y.sum(), "1")
    for model, scores in zip(found["models"], (first, second), strict=True):
        for own, method in ((model["auc"], "logit"), (model["delong"], "delong")):
            expected = auc_interval(y, scores, method=method)
            fields = ("auc", "low", "high", "standard_error")
            close([own[field] for field in fields], [getattr(expected, field) for field in fields])
            assert own["method"] == expected.method
        for name, expected in zip(("fpr", "tpr", "thresholds"), roc_curve(y, scores), strict=True):
            close(model["curve"][name], expected)
        calibration = calibration_curve(y, scores)
        table = calibration.measures
        assert set(model["calibration"]["measures"]) == set(table["measure"])
        for figure, *expected in zip(*(table[name] for name in table), strict=True):
            close(model["calibration"]["measures"][figure], expected)
        steps = calibration.isotonic
        expected = [steps[name] for name in ("low", "high", "size", "observed")]
        close(np.ravel(model["calibration"]["isotonic"]), np.column_stack(expected).ravel())
        smooth = calibration.curve
        if np.isfinite(smooth["observed"]).all():
            expected = [smooth[name] for name in ("probability", "observed", "low", "high")]
            close(np.ravel(model["calibration"]["curve"]), np.column_stack(expected).ravel())
        else:
            assert model["calibration"]["curve"] == []
        table = decision_curve(y, scores).table
        names = ("threshold", "tpr", "fpr", "net_benefit", "low", "high")
        for own, kind in (("model", "model"), ("all", "all")):
            rows = table["model"] == kind
            expected = np.column_stack([table[name][rows] for name in names])
            close(np.ravel(model["decision"][own]), expected.ravel())
    expected = auc_compare(y, first, second)
    for field in ("difference", "low", "high", "standard_error", "z", "p_value"):
        close([found["comparison"][field]], [getattr(expected, field)])
    assert found["comparison"]["method"] == expected.method


@pytest.mark.parametrize(
    ("y", "scores"),
    [
        ([0, 0, 0, 1, 1], [1, 2, 3, 4, 5]),
        ([0, 0, 0, 1, 1], [5, 4, 3, 2, 1]),
        ([0, 0, 0, 1, 1], [7, 7, 7, 7, 7]),
        ([0, 0, 0, 0, 1], [1, 3, 4, 2, 3.5]),
    ],
    ids=["perfect", "reversed", "tied", "one positive row"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_intervals_without_a_variance_are_those_of_the_package(page, y, scores):
    found = measure(page, as_csv(y=y, score=scores))
    assert not found["probabilities"]
    for name, method in (("auc", "logit"), ("delong", "delong")):
        own, expected = found["models"][0][name], auc_interval(y, scores, method=method)
        fields = ("auc", "low", "high", "standard_error")
        close([own[field] for field in fields], [getattr(expected, field) for field in fields])
        assert own["method"] == expected.method


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_files_of_all_kinds_have_the_same_figures(page, separator):
    y, scores, _ = sample(50, 3)
    text = as_csv(
        separator, id=[f'No. "{row}"{separator} x' for row in range(50)], y=y, score=scores
    )
    expected = auc_interval(y, scores).auc
    assert measure(page, text)["models"][0]["auc"]["auc"] == expected
    without_names = text.partition("\r\n")[2].replace("\r\n", "\n\n")
    assert measure(page, without_names)["models"][0]["auc"]["auc"] == expected
    words = as_csv(separator, y=np.where(y, "yes", "no"), score=scores)
    found = measure(page, words)
    assert (found["positive"], found["models"][0]["auc"]["auc"]) == ("yes", expected)
    mirrored = measure(page, words, positive="no")["models"][0]["auc"]["auc"]
    assert mirrored == pytest.approx(1 - expected, abs=1e-15)
    if separator != ",":
        commas = text.replace("0.", "0,")
        assert measure(page, commas)["models"][0]["auc"]["auc"] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y,score\n0,1\n1,2\n0,NaN\n", 'row 4 of the file, column "score": the score is missing'),
        ("y,score\n0,1\n1,high\n", 'row 3 of the file, column "score": "high" is not a number'),
        ("y,score\n0,1\n,2\n1,2\n", 'row 3 of the file, column "y": the label is missing'),
        (
            "y,score\n0,1\n1,2\n2,3\n",
            'column "y" has more than two classes: "0" in row 2, "1" in row 3, "2" in row 4',
        ),
        ("y,score\n1,1\n1.0,2\n", 'column "y" has one class only, "1": there is no pair to rank'),
        ("y,score\n0,1\n1\n", "row 3 of the file has 1 cell, but the first row has 2"),
        ("y;score\n0;1\n1;2;3\n", "row 3 of the file has 3 cells, but the first row has 2"),
        ('y,score\n0,"1\n1,2\n', "row 2 of the file: a quote is not closed"),
        ('y,score\n0,"1"2\n', 'row 2 of the file: there is text after the quotes of "1"'),
        ("", "the file is empty"),
        ("y,score\n", "the file has a row of names, and no other"),
        ("PK\x03\x04 ...", "a workbook or an archive, not text"),
        ("y\n0\n1\n", 'column "y" is chosen both as the label and as a score'),
    ],
)
def test_bad_input_is_named_with_its_row_and_column(page, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        measure(page, text)


def test_a_score_that_is_no_probability_is_named(page):
    text = "y,score\n0,0.5\n\n1,0.7\n1,1.5\n"
    assert "calibration" not in measure(page, text)["models"][0]
    message = 'row 5 of the file, column "score": 1.5 is not a probability from 0 to 1'
    with pytest.raises(ValueError, match=re.escape(message)):
        measure(page, text, probabilities=True)


def test_a_card_has_the_points_and_probabilities_of_the_package(page):
    card = aucrank.load(ASSETS / "card.json")
    with open(ASSETS / "tumours.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = list(card.feature_names_in_)
    X = np.array([[float(row[name]) for name in names] for row in rows])
    X[3, 1] = np.nan
    text = as_csv(
        **{name: ["" if np.isnan(x) else x for x in X[:, i]] for i, name in enumerate(names)}
    )
    saved = (ASSETS / "card.json").read_text("utf-8")
    about, found = ask(page, ("loadCard", saved), ("scoreFile", text))
    assert [feature["name"] for feature in about["features"]] == names
    scored = list(csv.DictReader(io.StringIO(found["text"])))
    frame = pytest.importorskip("pandas").DataFrame(X, columns=names)
    assert [int(row["points"]) for row in scored] == card.points(frame).tolist()
    probability = card.predict_proba(frame)[:, 1]
    assert [float(row["probability"]) for row in scored] == probability.tolist()

    wrong = ("scoreFile", text.replace("\r\n", "\r\nx", 1))
    with pytest.raises(ValueError, match='row 2 of the file: column "mean_texture"'):
        ask(page, ("loadCard", saved), wrong)


@pytest.mark.parametrize("name", ["families_v3_scorecard", "families_v5_integer_score"])
def test_a_card_with_categories_has_the_points_of_the_package(page, name):
    pandas = pytest.importorskip("pandas")
    saved = (GOLDEN / f"{name}.json").read_text("utf-8")
    columns = json.loads((GOLDEN / "families_v3_answers.json").read_text("utf-8"))["columns"]
    card = aucrank.load(GOLDEN / f"{name}.json")
    frame = pandas.DataFrame(columns)[list(card.feature_names_in_)]
    text = frame.to_csv(index=False, sep=";")
    about, found = ask(page, ("loadCard", saved), ("scoreFile", text))
    assert about["classes"] == list(card.classes_)
    scored = list(csv.DictReader(io.StringIO(found["text"]), delimiter=";"))
    assert [int(row["points"]) for row in scored] == card.points(frame).tolist()
    probability = card.predict_proba(frame)[:, 1]
    assert [float(row["probability"]) for row in scored] == probability.tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda saved: saved.replace('"scorecard"', '"rimarc"'), "checksum"),
        (lambda saved: saved[:-1], "not a complete JSON document"),
        (lambda _: "[1, 2]", "not an aucrank model"),
        (
            lambda _: (GOLDEN / "families_v3_rimarc.json").read_text("utf-8"),
            "the model is a rimarc, not a scorecard",
        ),
    ],
)
def test_what_is_no_card_is_named(page, change, message):
    saved = (ASSETS / "card.json").read_text("utf-8")
    with pytest.raises(ValueError, match=message):
        ask(page, ("loadCard", change(saved)))


def test_a_visitor_measures_and_scores_with_the_keyboard(page, tmp_path):
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    page.execute_script("document.getElementById('scores-example').focus()")
    page.switch_to.active_element.send_keys(keys.ENTER)
    text = wait(page, "return document.querySelector('#scores-results')?.innerText")
    assert "Net benefit" in text
    with open(ASSETS / "tumours.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    y = [int(row["malignant"]) for row in rows]
    scores = [
        [float(row[name]) for row in rows] for name in ("card_probability", "booster_probability")
    ]
    for own in scores:
        found = auc_interval(y, own)
        assert f"{found.auc:.4f}" in text
        assert f"{found.low:.4f} to {found.high:.4f}" in text
    assert f"{auc_compare(y, *scores).p_value:.4f}" in text

    page.execute_script("document.getElementById('card-example').focus()")
    page.switch_to.active_element.send_keys(keys.ENTER)
    wait(page, "return document.querySelector('#card-results .sum')")
    field = page.find_element("id", "card-field-0")
    for key in "25.5":
        field.send_keys(key)
    card = aucrank.load(ASSETS / "card.json")
    pandas = pytest.importorskip("pandas")
    typed = pandas.DataFrame([[25.5, np.nan, np.nan, np.nan]], columns=card.feature_names_in_)
    expected = f"{card.points(typed)[0]} points"
    wait(page, f"return document.querySelector('#card-results').innerText.includes('{expected}')")

    path = tmp_path / "wrong.csv"
    path.write_text("y,score\n0,1\n1,x\n", "utf-8")
    page.find_element("id", "scores-file").send_keys(str(path))
    message = wait(page, "return document.querySelector('#scores-message.error')?.innerText")
    assert message == 'Row 3 of the file, column "score": "x" is not a number.'
    assert page.execute_script("return document.querySelector('#scores-results').innerText") == ""


def test_a_site_without_the_module_says_so(browser, site, tmp_path):
    shutil.copytree(ASSETS, tmp_path / "_static" / "calculator")
    (tmp_path / "_static" / "calculator" / MODULE.name).unlink()
    shutil.copy(site.folder / "calculator.html", tmp_path)
    with served(tmp_path) as (address, _):
        browser.get(address)
        browser.find_element("id", "scores-example").click()
        message = wait(browser, "return document.querySelector('#scores-message.error')?.innerText")
    assert "built without the module that computes" in message


def test_every_control_has_a_name_and_nothing_is_sent(page, site):
    nodes = page.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    for node in nodes:
        role = node.get("role", {}).get("value")
        if role in ("button", "combobox", "checkbox", "textbox", "image"):
            assert node["name"]["value"].strip(), node
    own = {"/calculator.html", *(f"/_static/calculator/{path.name}" for path in ASSETS.iterdir())}
    assert set(site.requested) <= own


def test_what_a_visitor_downloads_is_small():
    needed = [path for path in ASSETS.iterdir() if path.suffix in (".wasm", ".js", ".css")]
    assert sum(path.stat().st_size for path in needed) < MOST_BYTES


@pytest.mark.parametrize("width", [390, 768, 1400])
def test_the_page_is_no_wider_than_the_screen(page, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.execute_script("document.getElementById('scores-example').click()")
    page.execute_script("document.getElementById('card-example').click()")
    wait(page, "return document.querySelectorAll('#scores-results svg[role]').length === 3")
    wait(page, "return document.querySelector('#card-results .sum')")
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

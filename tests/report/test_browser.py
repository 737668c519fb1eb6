"""The page in Debian's Chromium: on a screen, on a phone, on paper, and by the keyboard."""

import base64
import json

import pytest

from tests.common.browser import start_browser
from tests.common.limits import HANG
from tests.common.reports import OTHER_PAGES, PAGES

# Paper of A4, less the margins of the page, at 96 dots to the inch.
PAPER = round((210 - 2 * 13) / 25.4 * 96)
PHONE = 360


@pytest.fixture(scope="module")
def browser():
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture(scope="module", params=PAGES | OTHER_PAGES)
def file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text((PAGES | OTHER_PAGES)[request.param](), encoding="utf-8")
    return path.as_uri()


def open_page(browser, file, *, width=1280, media="screen", scheme="light"):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.get(file)


def test_nothing_is_logged_and_nothing_is_requested(browser, file):
    for log in ("browser", "performance"):
        browser.get_log(log)
    open_page(browser, file)
    assert browser.get_log("browser") == []
    messages = [json.loads(e["message"])["message"] for e in browser.get_log("performance")]
    requested = {
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    }
    assert requested == {file}


def test_the_content_policy_blocks_injected_content(browser, file):
    open_page(browser, file)
    browser.execute_script(
        """
        window.stopped = [];
        addEventListener("securitypolicyviolation", (e) => stopped.push(e.effectiveDirective));
        const image = new Image();
        image.src = "http://localhost:9/pixel.png";
        document.body.append(image);
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.body.append(script);
        """
    )
    assert browser.execute_script("return window.ran === undefined")
    assert "script-src-elem" in browser.execute_script("return stopped")
    browser.get_log("browser")


@pytest.mark.parametrize("width", [PHONE, 768, 1280])
def test_the_page_is_no_wider_than_the_screen(browser, file, width):
    open_page(browser, file, width=width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


WIDER = """
const room = document.documentElement.clientWidth;
return [...document.querySelectorAll("table, pre, figure, p, li, h1, h2, h3, h4")]
  .filter((e) => e.getBoundingClientRect().right > room + 1 || e.scrollWidth > e.clientWidth + 1
    && getComputedStyle(e).overflowX !== "visible")
  .map((e) => e.outerHTML.slice(0, 200));
"""


def test_no_table_is_cut_on_paper(browser, file):
    open_page(browser, file, width=PAPER, media="print")
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert browser.execute_script("return document.querySelector('details:not([open])')") is None
    assert browser.execute_script(WIDER) == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= PAPER
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert browser.execute_script("return document.querySelector('details[open]')") is None


def test_the_page_prints_on_a4(browser, file):
    open_page(browser, file)
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    content = base64.b64decode(printed["data"])
    assert content.startswith(b"%PDF")
    # 210 mm and 297 mm in points, but for the rounding.
    assert b"/MediaBox [0 0 594.9" in content or b"/MediaBox [0 0 595" in content


CONTRAST = """
const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
const light = (rgb) => {
  const [r, g, b] = rgb.map((v) => v / 255).map(
    (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const [r, g, b, a = 1] = numbers(getComputedStyle(e).backgroundColor);
    if (a > 0) return [r, g, b];
  }
  throw new Error("no background");
};
const low = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || ["SCRIPT", "STYLE", "title"].includes(element.tagName)) continue;
  const style = getComputedStyle(element);
  const ink = numbers(element instanceof SVGElement ? style.fill : style.color).slice(0, 3);
  const [a, b] = [light(ink), light(ground(element))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) low.push([ratio, element.outerHTML.slice(0, 120)]);
}
return low;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(browser, file, scheme):
    open_page(browser, file, scheme=scheme)
    assert browser.execute_script(CONTRAST) == []
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")


def announced_by(browser):
    """Roles and names in the accessibility tree; none before the whole page is in it."""
    nodes = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    announced = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node["ignored"]
    ]
    # The footer comes last.
    return announced if any(role == "contentinfo" for role, _ in announced) else []


def test_a_screen_reader_announces_the_structure_of_the_page(browser, file):
    open_page(browser, file)
    # It is made next to the page, and empty before it is there.
    wait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait(browser, HANG)
    announced = wait.until(announced_by)
    roles = [role for role, _ in announced]
    for landmark in ("banner", "navigation", "main", "contentinfo"):
        assert roles.count(landmark) == 1
    # The page of a model has no picture.
    has_picture = browser.execute_script("return document.querySelector('figure') !== null")
    pictures = ["image"] if has_picture else []
    for role in (*pictures, "table", "region", "link", "heading", "DisclosureTriangle"):
        names = [name for of_node, name in announced if of_node == role]
        assert names
        assert all(name.strip() for name in names), role


def test_the_page_can_be_used_with_the_keyboard(browser, file):
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    open_page(browser, file)
    focused = "const e = document.activeElement; return [e.tagName, e.className, e.id]"

    def press(key):
        browser.switch_to.active_element.send_keys(key)

    press(keys.TAB)
    assert browser.execute_script(focused)[:2] == ["A", "skip"]
    assert browser.execute_script("return document.activeElement.getBoundingClientRect().left >= 0")
    press(keys.ENTER)
    assert browser.execute_script(focused) == ["SECTION", "", "summary"]
    assert browser.execute_script("return document.querySelector('details[open]')") is None
    browser.execute_script("document.querySelector('summary').focus()")
    press(keys.ENTER)
    assert browser.execute_script("return document.querySelector('details').open")
    # What scrolls can be reached, and scrolled.
    assert (
        browser.execute_script(
            """
        return [...document.querySelectorAll("*")].filter((e) => e.scrollWidth > e.clientWidth + 1
          && ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.tabIndex < 0).length
        """
        )
        == 0
    )


def test_motion_is_left_out_on_request(browser, file):
    open_page(browser, file)
    smooth = "return getComputedStyle(document.documentElement).scrollBehavior"
    assert browser.execute_script(smooth) == "smooth"
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]},
    )
    assert browser.execute_script(smooth) == "auto"

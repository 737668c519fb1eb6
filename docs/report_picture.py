"""Take the picture of docs/report.md: the top of a report, in a browser without a window.

python docs/report_picture.py    (needs Chromium, its driver, and selenium of the group `test`)
"""

import shutil
import tempfile
from pathlib import Path

import aucrank
from aucrank import GradientBoostingRanker, Scorecard
from aucrank.datasets import load_breast_cancer
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from sklearn.model_selection import train_test_split

PICTURE = Path(__file__).parent / "_static" / "report.png"


def write_report(path):
    """Write a report about two models of tumours."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X[["mean_texture", "mean_smoothness", "mean_symmetry", "mean_area"]]
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=0
    )
    models = {
        "card": Scorecard(min_bin_share=0.1, random_state=0).fit(X_train, y_train),
        "booster": GradientBoostingRanker(random_state=0).fit(X_train, y_train),
    }
    costs = {"false_positive": 1, "false_negative": 5}
    aucrank.report(models, X_test, y_test, X_train=X_train, costs=costs).save(path)


def main():
    """Write a report, and photograph it."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(argument)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        write_report(page)
        browser = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        try:
            size = {"width": 900, "height": 1740, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            browser.get(page.as_uri())
            browser.save_screenshot(str(PICTURE))
        finally:
            browser.quit()
    # The page has few colours, and a table of them takes a third of the bytes.
    Image.open(PICTURE).convert("RGB").quantize(64).save(PICTURE, optimize=True)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()

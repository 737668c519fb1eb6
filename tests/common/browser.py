"""Debian's Chromium without a window, for tests of pages."""

import shutil

import pytest


def start_browser():
    """A driver of Chromium; skips the test where it is not installed."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    programs = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    browser = next(filter(None, programs), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("Chromium and its driver are not installed (chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    # As root, and in a container with little shared memory.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))

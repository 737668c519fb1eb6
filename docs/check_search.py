"""Ask the search of a built site what newcomers ask; the first hit must be a page that answers.

python docs/check_search.py docs/_build/html    (needs Chromium)
"""

import argparse
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote_plus

ANSWERS = {
    "confidence interval of an AUC": ("roc_statistics", "auc_interval"),
    "AUC calculator": ("calculator",),
    "compare two models": ("roc_statistics", "leaderboard"),
    "groups": ("roc_statistics", "reviewers"),
    "SQL": ("production", "warehouses"),
    "missing values": ("which_ranker", "ranking_trees"),
    "calibration": ("probabilities", "reviewers"),
    "monotone": ("which_ranker", "ranking_trees"),
    "larger than memory": ("larger_than_memory",),
    "few rows": ("which_ranker",),
    "cross-validation": ("roc_statistics", "leaderboard"),
    "install": ("getting_started",),
    "coming from R": ("from_r", "from_proc"),
    "import a model of LightGBM": ("model_already", "from_lightgbm"),
    "AutoScore": ("from_r", "additive", "small_models", "IntegerScore"),
    "scorecard": ("additive", "credit_risk", "Scorecard"),
    "scores of a vendor": ("scores",),
}


class Files(SimpleHTTPRequestHandler):
    """Serves the site, and says nothing."""

    def log_message(self, *_):
        """Leave the requests out of what the check prints."""


def hits(question, port):
    """Return the pages that the search finds, best first, without `.html`."""
    address = f"http://127.0.0.1:{port}/search.html?q={quote_plus(question)}"
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    options = ["--headless", "--no-sandbox", "--virtual-time-budget=20000", "--dump-dom"]
    page = subprocess.run([browser, *options, address], capture_output=True, text=True, timeout=120)
    found = re.findall(r'<li class="[^"]*kind-[^"]*"[^>]*>\s*<a href="([^"#?]+)\.html', page.stdout)
    return list(dict.fromkeys(found))


def main():
    """Print the first three hits of each question; fail if the first one does not answer it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    missed = 0
    for question, pages in ANSWERS.items():
        found = hits(question, server.server_port)
        first = found[0].removeprefix("api/generated/aucrank.").split(".")[-1] if found else ""
        missed += first not in pages
        print(f"{'ok' if first in pages else 'MISSED':<7}{question:<30} {', '.join(found[:3])}")
    server.shutdown()
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()

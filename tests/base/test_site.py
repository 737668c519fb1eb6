"""The scripts that check the built documentation, and put it next to that of other versions."""

import json
import runpy

import pytest

from tests.common.paths import CHECKOUT

DOCS = CHECKOUT / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="needs the checkout: there is no docs/")


def write_site(folder, page):
    """Write a site of one page, with the lists that every build has."""
    (folder / "_static").mkdir(parents=True)
    (folder / ".doctrees").mkdir()
    (folder / "index.html").write_text(page, "utf-8")
    (folder / "llms.txt").write_text("# aucrank\n", "utf-8")
    (folder / "sitemap.xml").write_text("<urlset></urlset>\n", "utf-8")
    return folder


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("#top", None),
        ("index.html#top", None),
        ("https://aucrank.github.io/aucrank/stable/index.html", None),
        ("https://aucrank.github.io/aucrank/dev/index.html", None),
        ("https://scikit-learn.org/nowhere", None),
        ("https://aucrank.github.io/aucrank/stable/guide.html", "there is no such file"),
        ("#bottom", "the page has no such anchor"),
        ("guide.html", "there is no such file"),
        ("../dev/index.html", "it leaves the folder of the site"),
    ],
)
def test_a_link_that_leads_nowhere_is_named_with_its_page(link, reason, tmp_path):
    broken_links = runpy.run_path(str(DOCS / "check_links.py"))["broken_links"]
    site = write_site(tmp_path / "site", f'<h1 id="top">A</h1><a href="{link}">B</a>')
    assert list(broken_links(site)) == ([("index.html", link, reason)] if reason else [])


def test_stable_is_the_latest_release_whichever_was_published_last(tmp_path):
    script = runpy.run_path(str(DOCS / "publish.py"))
    site = tmp_path / "site"
    site.mkdir()
    seen = []
    for ref in ("main", "v0.9.0", "v0.10.0", "v0.9.1", "main"):
        built = write_site(tmp_path / f"built {len(seen)}", f"{ref}, build {len(seen)}")
        script["place"](built, script["version_of"](ref), site)
        seen.append((site / "stable" / "index.html").read_text("utf-8"))
    assert seen == ["main, build 0", "v0.9.0, build 1", *["v0.10.0, build 2"] * 3]
    assert (site / "dev" / "index.html").read_text("utf-8") == "main, build 4"
    assert not list(site.glob("*/.doctrees"))
    menu = json.loads((site / "0.9.0" / "_static" / "switcher.json").read_text("utf-8"))
    address = "https://aucrank.github.io/aucrank"
    assert [(entry["name"], entry["url"]) for entry in menu] == [
        ("0.10.0 (stable)", f"{address}/stable/"),
        ("dev", f"{address}/dev/"),
        ("0.9.1", f"{address}/0.9.1/"),
        ("0.9.0", f"{address}/0.9.0/"),
    ]

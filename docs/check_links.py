"""Check that links between pages of a built site lead to a file, and to an anchor that it has.

python docs/check_links.py docs/_build/html    (reads no network: other sites are not visited)
"""

import argparse
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

SITE = "https://aucrank.github.io/aucrank/stable/"


class Page(HTMLParser):
    """What a page links to, and the anchors that others may link to."""

    def __init__(self, text):
        super().__init__()
        self.links = []
        self.anchors = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Look at the addresses and names of an element."""
        attributes = dict(attrs)
        self.anchors |= {attributes.get("id"), attributes.get("name")} - {None}
        if tag == "meta":
            if attributes.get("property") in ("og:url", "og:image"):
                self.links.append(attributes["content"])
            return
        self.links += [attributes[name] for name in ("href", "src", "data") if attributes.get(name)]
        self.links += [part.split()[0] for part in attributes.get("srcset", "").split(",") if part]


def broken_links(folder):
    """Yield each link of the site that leads nowhere: the page, the link and why."""
    pages = {}
    # The theme has a template among its files.
    for path in sorted(set(folder.rglob("*.html")) - set(folder.glob("_static/*.html"))):
        pages[path.relative_to(folder).as_posix()] = Page(path.read_text("utf-8"))
    links = {name: page.links for name, page in pages.items()}
    for name, pattern in (("llms.txt", r"\]\((\S+?)\)"), ("sitemap.xml", r"<loc>(.+?)</loc>")):
        links[name] = re.findall(pattern, (folder / name).read_text("utf-8"))
    for name, found in links.items():
        for link in dict.fromkeys(found):
            address = urljoin(SITE + name, link)
            if not address.startswith(SITE):
                if not urlsplit(link).scheme and not urlsplit(link).netloc:
                    yield name, link, "it leaves the folder of the site"
                continue
            parts = urlsplit(address)
            target = unquote(parts.path).removeprefix(urlsplit(SITE).path)
            target += "index.html" if target.endswith("/") or not target else ""
            if not (folder / target).is_file():
                yield name, link, "there is no such file"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors | {""}:
                yield name, link, "the page has no such anchor"


def main():
    """Print the links of a site that lead nowhere; fail if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    broken = list(broken_links(folder))
    for page, link, reason in broken:
        print(f"{folder / page}: {link}: {reason}", file=sys.stderr)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()

"""What search engines, link previews and language models read of the site.

The summary of a page is its first sentence, or `description` of its front matter. It is the
description in the head of the page, next to the tags of Open Graph (https://ogp.me), and the line
of the page in `llms.txt` (https://llmstxt.org). Together with `sitemap.xml` that file is written
from the lists of pages when the build ends, so that neither goes stale.
"""

import re
from html import escape
from pathlib import Path
from xml.sax.saxutils import escape as escape_xml

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

CARD = "_static/social_card.png"
CARD_ALT = "aucrank: models that rank, and that a person can read. Strata, and their ROC curve."
_ASIDE = (nodes.admonition, nodes.note, nodes.warning, nodes.table, nodes.figure, addnodes.only)
# A description is cut by search engines behind 160 characters, and says little below 60.
_SHORT = 60


def _markdown(paragraph):
    """Return the text of a paragraph with code in backticks."""
    text = "".join(
        f"`{node.astext()}`" if isinstance(node.parent, nodes.literal) else node.astext()
        for node in paragraph.findall(nodes.Text)
    )
    return " ".join(text.split())


def first_paragraph(doctree):
    """Return the text of the first paragraph outside of notes and tables, or an empty one."""
    for paragraph in doctree.findall(nodes.paragraph):
        node = paragraph.parent
        while node is not None and not isinstance(node, _ASIDE):
            node = node.parent
        if node is None:
            return _markdown(paragraph)
    return ""


def first_sentences(text):
    """Return the first sentence of a text, and the next ones while these are short."""
    found = ""
    for sentence in re.split(r"(?<=[.?!])\s+(?=[A-Z`])", text):
        found = f"{found} {sentence}".strip()
        if len(found) >= _SHORT:
            break
    return re.sub(":$", ".", found)


def keep_summary(app, doctree):
    """Keep what a page is about with its metadata, which outlive it in incremental builds."""
    of_page = app.env.metadata[app.env.docname]
    of_page["lead"] = first_paragraph(doctree)
    if not of_page.setdefault("description", first_sentences(of_page["lead"])):
        where = app.env.docname
        logging.getLogger(__name__).warning("the page has no first sentence", location=where)


def add_tags(app, page, _template, context, _doctree):
    """Add the description and the tags of Open Graph to the head of a page."""
    if page not in app.env.found_docs:
        return
    description = app.env.metadata[page]["description"].replace("`", "")
    base = app.config.html_baseurl
    title = "".join(re.split(r"<[^>]*>", context["title"]))
    tags = {
        "og:site_name": escape(app.config.project),
        "og:type": "website",
        "og:title": title,
        "og:description": escape(description),
        "og:url": base + app.builder.get_target_uri(page),
        "og:image": base + CARD,
        "og:image:alt": escape(CARD_ALT),
    }
    lines = [f'<meta name="description" content="{escape(description)}">']
    lines += [f'<meta property="{name}" content="{tags[name]}">' for name in tags]
    lines += ['<meta name="twitter:card" content="summary_large_image">']
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines])


def _below(env, page):
    """Return all pages in the lists of a page and in those of the pages there, in order."""
    found = []
    for child in env.toctree_includes.get(page, []):
        found += [child, *_below(env, child)]
    return found


def llms_txt(app):
    """Return what the package is, when to take it, and a line for each page."""
    env = app.env
    root = app.config.root_doc

    def line(page):
        address = app.config.html_baseurl + app.builder.get_target_uri(page)
        return f"- [{env.titles[page].astext()}]({address}): {env.metadata[page]['description']}"

    pages = env.toctree_includes[root]
    sections = {"Overview": [page for page in pages if page not in env.toctree_includes]}
    for page in pages:
        if page in env.toctree_includes:
            sections[env.titles[page].astext()] = [page, *_below(env, page)]
    parts = [f"# {app.config.project}", f"> {env.metadata[root]['lead']}"]
    parts += [env.metadata["guide"]["lead"]]
    for title, listed in sections.items():
        parts += [f"## {title}", "\n".join(line(page) for page in listed)]
    return "\n\n".join(parts) + "\n"


def sitemap(app):
    """Return the addresses of all pages but copies of sources."""
    base = app.config.html_baseurl
    pages = sorted(app.env.found_docs)
    rows = [escape_xml(base + app.builder.get_target_uri(page)) for page in pages]
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    lines += ['<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">']
    lines += [f"<url><loc>{row}</loc></url>" for row in rows]
    return "\n".join([*lines, "</urlset>", ""])


def write_lists(app, exception):
    """Write `llms.txt` and `sitemap.xml` next to the first page."""
    if exception is None and app.builder.name == "html":
        Path(app.outdir, "llms.txt").write_text(llms_txt(app), "utf-8")
        Path(app.outdir, "sitemap.xml").write_text(sitemap(app), "utf-8")


def setup(app):
    """Let Sphinx know of it."""
    app.connect("doctree-read", keep_summary)
    app.connect("html-page-context", add_tags)
    app.connect("build-finished", write_lists)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

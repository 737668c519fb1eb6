"""Sphinx settings. The build needs no network, and its warnings are errors (`make docs`)."""

import os
import sys
from pathlib import Path

import aucrank

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "aucrank"
author = "the aucrank developers"
copyright = author
release = version = aucrank.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "sphinx.ext.viewcode",
    "mathml",
    "named_things",
    "page_programs",
    "site_index",
    "myst_parser",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]

exclude_patterns = ["_build", "templates", "examples", "extensions", "drawings"]
templates_path = ["templates"]
default_role = "py:obj"
suppress_warnings = ["myst.header"]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

extlinks = {
    "doi": ("https://doi.org/%s", "doi:%s"),
    "arxiv": ("https://arxiv.org/abs/%s", "arXiv:%s"),
}

# Public names are those in `__all__`, re-exports included.
autosummary_generate = True
# Some file systems take the pages of a function and a class for one, which differ in case alone.
autosummary_filename_map = {"aucrank.Report": "aucrank.Report-class"}
autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {
    "members": True,
    # Inherited from classes of our own, yes; what scikit-learn gives to every estimator, no.
    "inherited-members": ",".join(
        [
            "BaseEstimator",
            "ClassifierMixin",
            "TransformerMixin",
            "OneToOneFeatureMixin",
            "_SetOutputMixin",
            "_MetadataRequester",
            "BaseException",
            "Exception",
            "ValueError",
            "tuple",
        ]
    ),
    "exclude-members": ",".join(
        f"set_{method}_request"
        for method in ("fit", "score", "predict", "predict_proba", "decision_function", "transform")
    ),
}

# autodoc lists the methods; a second list by numpydoc would want a page for each.
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "backreferences_dir": "api/generated/backreferences",
    "doc_module": ("aucrank",),
    "filename_pattern": r"[/\\]plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "download_all_examples": False,
}

html_math_renderer = "mathml"
# Search engines are to find the last release, whichever version they read (`publish.py`).
html_baseurl = "https://aucrank.github.io/aucrank/stable/"

html_theme = "pydata_sphinx_theme"
html_title = f"aucrank {release}"
html_show_sourcelink = False
html_search_scorer = str(Path(__file__).with_name("search_scores.js"))
html_static_path = ["_static"]
html_css_files = ["aucrank.css"]
html_theme_options = {
    "github_url": "https://github.com/aucrank/aucrank",
    "navigation_with_keys": False,
    "show_prev_next": False,
    # More do not stand in one line of 1,280 pixels, nor do these next to a field to search in.
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    "switcher": {
        "json_url": "_static/switcher.json",
        "version_match": release if os.environ.get("GITHUB_REF_TYPE") == "tag" else "dev",
    },
    # The list is completed by `publish.py`: nothing to compare with when a page is built.
    "check_switcher": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
}
# These have no pages below or next to them, so that the room on the left would stay empty.
_ALONE = (
    "index",
    "getting_started",
    "which_ranker",
    "benchmarks",
    "glossary",
    "develop",
    "changelog",
)
html_sidebars = {page: [] for page in _ALONE}

# For `make external-links`. Publishers refuse programs: whether a DOI exists, its registry says.
linkcheck_timeout = 30
# Not those within the site, which `check_links.py` follows.
linkcheck_ignore = [r"https://aucrank\.github\.io/", "(?!https?:)"]


def setup(app):
    """Let Sphinx ask the registry of DOIs for those of papers."""
    app.connect(
        "linkcheck-process-uri",
        lambda _, uri: uri.replace("https://doi.org/", "https://doi.org/api/handles/", 1),
    )

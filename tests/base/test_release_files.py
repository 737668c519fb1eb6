"""Files of a release: one version, forms that can be read, actions that are pinned."""

import json
import re
import tomllib
from importlib import metadata

import pytest

from tests.common.paths import CHECKOUT

#: A commit, with the version that it is.
SHA = re.compile(r"@[0-9a-f]{40} # v\d+(\.\d+)*$")

#: A dependency of the recipe; conda has all of ours under the names of the package index.
REQUIREMENT = re.compile(r"^ +- ([a-z0-9-]+) (>=[\d.]+)$", re.MULTILINE)


def read(name):
    return (CHECKOUT / name).read_text("utf-8")


pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "CITATION.cff").exists(), reason="needs the checkout: there is no CITATION.cff"
)


@pytest.fixture(scope="module")
def version():
    return tomllib.loads(read("Cargo.toml"))["workspace"]["package"]["version"]


def test_citation_and_recipe_have_the_version_of_the_package(version):
    assert re.findall(r"^version: (.+)$", read("CITATION.cff"), re.MULTILINE) == [version]
    assert re.findall(r'^  version: "(.+)"$', read("conda/recipe.yaml"), re.MULTILINE) == [version]


def test_citation_zenodo_and_paper_have_the_title_licences_and_authors_of_the_package():
    citation = read("CITATION.cff")
    zenodo = json.loads(read(".zenodo.json"))
    assert f'title: "{zenodo["title"]}"' in citation
    names = [creator["name"] for creator in zenodo["creators"]]
    assert re.findall(r"^  - name: (.+)$", citation, re.MULTILINE) == names
    assert re.findall(r"^  - name: (.+)$", read("paper/paper.md"), re.MULTILINE) == names
    licences = metadata.metadata("aucrank")["License-Expression"].split(" OR ")
    assert re.findall(r"^license:\n((?:  - .+\n)+)", citation, re.MULTILINE) == [
        "".join(f"  - {licence}\n" for licence in licences)
    ]


def test_the_recipe_requires_what_the_package_requires():
    required = [r for r in metadata.requires("aucrank") if "extra ==" not in r]
    wanted = {tuple(re.fullmatch(r"([\w-]+)(>=[\d.]+)", r).groups()) for r in required}
    recipe = read("conda/recipe.yaml")
    run = recipe.partition("\n  run:\n")[2].partition("\n  ignore_run_exports")[0]
    assert set(REQUIREMENT.findall(run)) == wanted
    oldest = metadata.metadata("aucrank")["Requires-Python"].removeprefix(">=")
    assert f'python_min: "{oldest}"' in recipe


FORMS = (
    ".github/dependabot.yml",
    *(f".github/ISSUE_TEMPLATE/{name}.yml" for name in ("bug", "feature", "config")),
    *(f".github/workflows/{name}.yml" for name in ("tests", "wheels", "docs", "scorecard")),
    "CITATION.cff",
    "conda/recipe.yaml",
    "conda/variants.yaml",
)


@pytest.mark.parametrize("name", FORMS)
def test_yaml_can_be_read(name):
    yaml = pytest.importorskip("yaml")
    assert isinstance(yaml.safe_load(read(name)), dict)


def test_every_yaml_file_is_read_above():
    folders = [CHECKOUT / ".github", CHECKOUT / "conda"]
    found = {path for folder in folders for path in folder.rglob("*.y*ml")}
    assert {path.relative_to(CHECKOUT).as_posix() for path in found} <= set(FORMS)


@pytest.mark.parametrize("name", [name for name in FORMS if "/workflows/" in name])
def test_actions_are_pinned_by_commit_with_their_version(name):
    used = re.findall(r"^\s*(?:- )?uses: (.+)$", read(name), re.MULTILINE)
    assert used
    assert [action for action in used if not SHA.search(action)] == []


def test_an_action_has_one_version_in_all_workflows():
    used = set()
    for name in FORMS:
        used |= set(re.findall(r"uses: (\S+)@(\w+)", read(name)))
    assert len({action for action, _ in used}) == len(used)


def test_the_bug_form_asks_for_the_versions():
    form = read(".github/ISSUE_TEMPLATE/bug.yml")
    assert 'python -c "import aucrank; aucrank.show_versions()"' in form


def test_every_reference_of_the_paper_is_in_its_bibliography_and_cited():
    cited = set(re.findall(r"@([\w-]+)", read("paper/paper.md").partition("\n---\n")[2]))
    keys = re.findall(r"^@\w+\{([\w-]+),$", read("paper/paper.bib"), re.MULTILINE)
    assert len(keys) == len(set(keys))
    assert cited == set(keys)

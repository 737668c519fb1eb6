"""What is shipped: one version, types, the command, the licences, and a complete source package."""

import os
import pkgutil
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import aucrank
import pytest

from tests.common.limits import HANG
from tests.common.paths import CHECKOUT

PACKAGE = Path(aucrank.__file__).parent


def run(*command, **kwargs):
    """Run a command outside the checkout's settings, and capture its output."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=HANG, **kwargs
    )


@pytest.fixture(scope="module")
def checkout():
    if not (CHECKOUT / "Cargo.toml").exists():
        pytest.skip("needs the checkout: there is no Cargo.toml next to tests/")
    return CHECKOUT


@pytest.fixture(scope="module")
def cargo_toml(checkout):
    return tomllib.loads((checkout / "Cargo.toml").read_text("utf-8"))


def test_cargo_python_and_the_compiled_module_have_one_version(cargo_toml):
    version = cargo_toml["workspace"]["package"]["version"]
    assert aucrank.__version__ == version
    assert aucrank._core.__version__ == version
    assert metadata.version("aucrank") == version
    assert cargo_toml["workspace"]["dependencies"]["aucrank"]["version"] == version


def test_the_changelog_starts_with_unreleased_changes_and_then_this_version(checkout, cargo_toml):
    version = cargo_toml["workspace"]["package"]["version"]
    headings = re.findall(
        r"^## \[(.+?)\]", (checkout / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    assert headings[0] == "Unreleased"
    assert len(headings) == 1 or headings[1] == version


def test_the_docs_state_the_oldest_python_and_rust(checkout, cargo_toml):
    rust = cargo_toml["workspace"]["package"]["rust-version"]
    python = metadata.metadata("aucrank")["Requires-Python"].removeprefix(">=")
    for page in ("README.md", "CONTRIBUTING.md"):
        text = (checkout / page).read_text("utf-8")
        assert f"Python {python}" in text, page
        assert f"Rust {rust}" in text, page


# The pages of the package index and of the crate show these outside the checkout.
@pytest.mark.parametrize("page", ["README.md", "rust/aucrank/README.md"])
def test_links_of_a_readme_work_from_any_page(page, checkout):
    text = (checkout / page).read_text("utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(<?([^)>\s]+)", prose)
    links += re.findall(r"^ *\[[^\]]+\]: *<?([^>\s]+)", prose, re.MULTILINE)
    links += re.findall(r"""(?:href|src)=["']([^"']+)""", prose)
    assert links or page != "README.md"
    anchors = {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    }
    for link in links:
        if link.startswith("#"):
            assert link[1:] in anchors, link
            continue
        assert link.startswith("https://"), link
        if found := re.match(
            r"https://github.com/aucrank/aucrank/(?:blob|tree)/main/([^#]+)", link
        ):
            assert (checkout / found[1]).exists(), link
        if found := re.match(r"https://aucrank\.github\.io/aucrank/stable/(.+)\.html", link):
            assert (checkout / f"docs/{found[1]}.md").exists(), link
        raw = "https://raw.githubusercontent.com/aucrank/aucrank/main/"
        if link.startswith(raw):
            assert (checkout / link.removeprefix(raw)).stat().st_size < 100_000, link
    for script in re.findall(r"python (\S+\.py)", text):
        assert (checkout / script).is_file(), script
    for module in re.findall(r"python -m (benches[\w.]+)", text):
        assert (checkout / f"{module.replace('.', '/')}.py").is_file(), module


def test_a_stranger_meets_a_number_and_the_installation_first(checkout):
    lines = (checkout / "README.md").read_text("utf-8").splitlines()
    assert len(lines) <= 120
    assert re.search(r"\d\.\d+ ± \d\.\d+", " ".join(lines[:8]))
    assert "pip install aucrank" in lines[:12]
    assert sum("make demo" in line or "make test" in line for line in lines) == 2


def test_every_package_the_docs_install_exists(checkout):
    extras = set(metadata.metadata("aucrank").get_all("Provides-Extra"))
    for page in (checkout / "README.md", *(checkout / "docs").glob("*.md")):
        named = re.findall(r"aucrank\[([\w,]+)\]", page.read_text("utf-8"))
        assert {extra for names in named for extra in names.split(",")} <= extras, page


def test_every_public_module_is_in_the_reference(checkout):
    modules = {module.name for module in pkgutil.iter_modules(aucrank.__path__)}
    public = {name for name in modules if not name.startswith("_")} - {"cli"}
    page = (checkout / "docs" / "api" / "index.md").read_text("utf-8")
    assert public <= set(re.findall(r"^   aucrank\.(\w+)$", page, re.MULTILINE))


def test_types_are_shipped():
    assert (PACKAGE / "py.typed").is_file()
    assert (PACKAGE / "_core.pyi").is_file()


def test_the_compiled_module_carries_no_debug_information():
    module = Path(aucrank._core.__file__)
    files = {Path(file.locate()).resolve() for file in metadata.files("aucrank")}
    if module.resolve() not in files:
        pytest.skip("the module was not installed from a wheel")
    # The code takes 10 MB, and tables of lines nine times as much.
    assert module.stat().st_size < 20e6


def test_both_licences_are_shipped_and_named():
    about = metadata.metadata("aucrank")
    assert about["License-Expression"] == "MIT OR Apache-2.0"
    assert set(about.get_all("License-File")) == {"LICENSE-MIT", "LICENSE-APACHE"}


def test_only_packages_of_the_quick_start_are_required():
    required = [r for r in metadata.requires("aucrank") if "extra ==" not in r]
    names = {re.match(r"[\w.-]+", r).group() for r in required}
    # pandas reads the first file, and jinja2 writes the first report.
    assert names == {"numpy", "scikit-learn", "narwhals", "pandas", "jinja2"}


def test_every_extra_that_the_package_mentions_exists():
    extras = set(metadata.metadata("aucrank").get_all("Provides-Extra"))
    named = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text("utf-8")
        named |= set(re.findall(r"aucrank\[(\w+)\]", text))
        named |= set(re.findall(r'import_extra\("[\w.]+", "(\w+)"', text))
    assert named >= {"plot", "arrow", "onnx", "report"}
    assert named <= extras


def test_import_loads_no_optional_package_that_scikit_learn_does_not_load(tmp_path):
    optional = {"pandas", "polars", "pyarrow", "matplotlib", "dask", "jinja2", "onnx", "skops"}
    optional |= {"onnxruntime", "skl2onnx"}
    # scikit-learn itself imports pandas if installed.
    code = (
        "import sys, sklearn.base; before = set(sys.modules); "
        f"import aucrank; print(*({optional} & set(sys.modules) - before))"
    )
    result = run(sys.executable, "-c", code, cwd=tmp_path)
    assert result.stderr == ""
    assert result.stdout.split() == []


@pytest.mark.parametrize("how", ["command", "module"])
def test_the_command_prints_its_version(how, tmp_path):
    if how == "command":
        command = shutil.which("aucrank", path=sysconfig.get_path("scripts"))
        assert command, "the entry point `aucrank` is not installed next to this Python"
        result = run(command, "--version", cwd=tmp_path)
    else:
        result = run(sys.executable, "-m", "aucrank", "--version", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["aucrank", aucrank.__version__]


def test_import_from_an_unbuilt_checkout_says_what_to_run(tmp_path):
    unbuilt = tmp_path / "python"
    compiled = shutil.ignore_patterns("_core*.so", "_core*.pyd", "__pycache__")
    shutil.copytree(PACKAGE, unbuilt / "aucrank", ignore=compiled)
    # Before site-packages, which has the built one.
    code = f"import sys; sys.path.insert(0, {str(unbuilt)!r}); import aucrank"
    result = run(sys.executable, "-c", code, cwd=tmp_path)
    assert result.returncode == 1
    last_line = result.stderr.strip().splitlines()[-1]
    assert last_line.startswith("ImportError: ")
    assert "make build" in last_line


@pytest.mark.skipif(find_spec("maturin") is None, reason="needs maturin")
@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
def test_the_source_package_holds_the_whole_workspace(checkout, tmp_path):
    result = run(sys.executable, "-m", "maturin", "sdist", "--out", str(tmp_path), cwd=checkout)
    assert result.returncode == 0, result.stderr
    root = f"aucrank-{aucrank.__version__}"
    with tarfile.open(tmp_path / f"{root}.tar.gz") as sdist:
        names = {name.removeprefix(f"{root}/") for name in sdist.getnames()}

    def of_checkout(folder, *patterns):
        paths = (path for pattern in patterns for path in (checkout / folder).rglob(pattern))
        return {path.relative_to(checkout).as_posix() for path in paths}

    wanted = {"Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "PKG-INFO"}
    wanted |= {"LICENSE-MIT", "LICENSE-APACHE"}
    wanted |= of_checkout("rust/aucrank", "Cargo.toml", "README.md", "LICENSE-*")
    wanted |= of_checkout("rust/aucrank/src", "*.rs")
    wanted |= of_checkout("rust/aucrank-python", "Cargo.toml", "*.rs")
    wanted |= of_checkout("python", "*.py", "*.pyi", "py.typed")
    assert wanted <= names
    built = re.compile(r"\.(so|pyd|pyc)$|(^|/)(target|\.venv|__pycache__)/")
    assert not [name for name in names if built.search(name)]

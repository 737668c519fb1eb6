# One virtual environment, .venv, serves every target. It needs Python >= 3.11 and cargo.
#
# The package is installed from its wheel, not linked to the checkout, so that tests see the files that users get.
# Stamp files record what is installed, so that a second call repeats only what depends on changed sources.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
WHEELS := target/wheels
# The wheel that is installed and tested: built here, unless `make test WHEEL=path` gives one.
ifdef WHEEL
BUILT := $(WHEEL)
else
BUILT := $(WHEELS)/aucrank-*.whl
endif
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python

# All sources of the wheel.
SOURCES := Cargo.toml Cargo.lock pyproject.toml README.md \
	$(shell find rust -type f \( -name '*.rs' -o -name Cargo.toml \)) \
	$(shell find python -type f \( -name '*.py' -o -name '*.pyi' -o -name py.typed \)) \
	$(shell find python -type f \( -path '*/templates/*' -o -path '*/_tables/*' \))
PY_FILES := $(filter %.py,$(SOURCES))

# A caller's environment would hide the packages of .venv.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE VIRTUAL_ENV CONDA_PREFIX

# uv does not read pip's setting of the package index.
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif

.DELETE_ON_ERROR:
.NOTPARALLEL:
.DEFAULT_GOAL := help

.PHONY: help
help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: $(STAMPS)/package  ## Build the package and install it into .venv

.PHONY: demo
demo: $(STAMPS)/package $(STAMPS)/group-demo  ## Rank the bundled breast cancer data
	$(BIN)/aucrank demo

# Test processes: one per core, or WORKERS=0 for a single process that a debugger can stop. Work stealing keeps
# neighbouring tests, which share fixtures, in one process.
WORKERS ?= auto
# Failures are shown at once, since a run takes minutes.
PYTEST := -P -m pytest -n $(WORKERS) --dist worksteal --instafail --durations=10

.PHONY: test
test: $(STAMPS)/package $(STAMPS)/group-test  ## Run the Python tests and docstring examples
	$(BIN)/python $(PYTEST) $(PYTEST_ARGS)

.PHONY: test-fast
test-fast: $(STAMPS)/package $(STAMPS)/group-test  ## Run the tests that are not listed as slow, in two minutes
	$(BIN)/python $(PYTEST) -m 'not slow' tests $(PYTEST_ARGS)

# The library's own tests need all features. All others are linked with the library of the wheel: together with
# the fuzzer, the crate has the wheel's features, and cargo does not compile it again.
RUST_PROFILE ?= dev
.PHONY: rust-test
rust-test:  ## Run the Rust tests and documentation examples
	cargo test --locked --profile $(RUST_PROFILE) -p aucrank --lib --all-features
	cargo test --locked --profile $(RUST_PROFILE) -p aucrank -p aucrank-fuzz --bins --examples --test '*'
	cargo test --locked --profile $(RUST_PROFILE) -p aucrank -p aucrank-fuzz --doc

WASM := wasm32-unknown-unknown
WASM_PROFILE ?= small
WASM_BUILD := cargo build --locked --profile $(WASM_PROFILE) --target $(WASM) -p aucrank-wasm --no-default-features
WASM_BUILT := target/$(WASM)/$(WASM_PROFILE)/aucrank_wasm.wasm
# The module must score the stored models to the last bit.
.PHONY: wasm
wasm:  ## Build the scorer for browsers with a target from rustup, and test it if node is installed
	rustup target add $(WASM)
	$(WASM_BUILD) --features models
	! command -v node || node rust/aucrank-wasm/check.mjs $(WASM_BUILT) tests/golden

.PHONY: calculator
calculator:  ## Build the module of the AUC calculator, a page of the documentation, likewise
	rustup target add $(WASM)
	$(WASM_BUILD) --features calculator
	install -m 644 $(WASM_BUILT) docs/_static/calculator/aucrank.wasm

# Minutes for each of the two harnesses. Each run has a new seed, which it prints.
MINUTES ?= 10
FUZZ_SECONDS ?= $(shell expr 60 \* $(MINUTES))
SEED ?= $(shell date +%s)

.PHONY: fuzz
fuzz:  ## Look for new failures: damaged models, random calls, more examples (MINUTES=10)
	$(MAKE) --keep-going fuzz-models fuzz-calls fuzz-properties SEED=$(SEED)

FUZZ_PROFILE ?= fuzz
.PHONY: fuzz-models
fuzz-models:
	cargo run --locked --profile $(FUZZ_PROFILE) -p aucrank-fuzz -- --seed $(SEED) --seconds $(FUZZ_SECONDS)

.PHONY: fuzz-calls
fuzz-calls: $(STAMPS)/package $(STAMPS)/group-test
	$(BIN)/python fuzz/random_calls.py --seed $(SEED) --seconds $(FUZZ_SECONDS)

# All property tests of both languages, with a hundred times as many examples as usual.
.PHONY: fuzz-properties
fuzz-properties: $(STAMPS)/package $(STAMPS)/group-test
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python $(PYTEST) -m hypothesis --hypothesis-seed=$(SEED) \
		$(PYTEST_ARGS)
	PROPTEST_CASES=25600 PROPTEST_RNG_SEED=$(SEED) cargo test --release --locked --no-fail-fast \
		-p aucrank --lib --tests

.PHONY: lint
lint: lint-rust lint-python  ## Check formatting, types, stubs, imports, spelling and docstrings

.PHONY: lint-rust
lint-rust:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --features aucrank/arrow,aucrank/ndarray --locked -- -D warnings

# Cargo.toml states the oldest compiler. In a separate folder, since it would replace the current compiler's results.
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
.PHONY: msrv
msrv:  ## Check the crates with the oldest supported Rust, from rustup
	rustup toolchain install $(MSRV) --profile minimal
	CARGO_TARGET_DIR=target/msrv cargo +$(MSRV) check --locked -p aucrank -p aucrank-python

.PHONY: crate
crate:  ## Build the documentation and the package of the crate, as docs.rs and crates.io do
	RUSTDOCFLAGS='-D warnings' cargo doc --no-deps --locked -p aucrank
	cargo package -p aucrank --locked --allow-dirty --no-verify

# Any revision can be the baseline: SEMVER_BASELINE=HEAD~20.
SEMVER_BASELINE ?= $(shell git describe --tags --abbrev=0 2>/dev/null)
.PHONY: semver
semver:  ## Compare the interface of the crate with the last release
	@cargo semver-checks --version >/dev/null 2>&1 || { \
		echo "cargo-semver-checks is missing: cargo install --locked cargo-semver-checks"; exit 1; }
	@test -n "$(SEMVER_BASELINE)" || { \
		echo "there is no tag to compare with: make semver SEMVER_BASELINE=REVISION"; exit 1; }
	cargo semver-checks -p aucrank --all-features --baseline-rev $(SEMVER_BASELINE)

.PHONY: lint-python
lint-python: $(STAMPS)/package $(STAMPS)/group-lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/python -P -m mypy.stubtest --mypy-config-file pyproject.toml \
		--allowlist .ci/stubtest-allowlist.txt aucrank._core
	$(BIN)/lint-imports --no-cache
	$(BIN)/numpydoc lint $(PY_FILES)

.PHONY: docs
docs: $(STAMPS)/package $(STAMPS)/group-docs  ## Build the documentation into docs/_build/html
	@if rustup target add $(WASM) >/dev/null 2>&1; then $(MAKE) calculator; else \
		echo "rustup has no $(WASM): the AUC calculator says that its module is missing"; fi
	rm -rf docs/api/generated docs/auto_examples
	$(BIN)/python -P -m sphinx --fresh-env -W --keep-going --quiet -b html docs docs/_build/html
	$(BIN)/python -P docs/check_links.py docs/_build/html
	@echo "open docs/_build/html/index.html"

.PHONY: docs-search
docs-search:  ## Ask the search of the built documentation what newcomers ask; needs Chromium
	$(BIN)/python -P docs/check_search.py docs/_build/html

.PHONY: external-links
external-links: $(STAMPS)/package $(STAMPS)/group-docs  ## Visit the links of the documentation to other sites
	$(BIN)/python -P -m sphinx -D plot_gallery=0 --quiet -b linkcheck docs docs/_build/linkcheck

# uv can resolve to the oldest versions, and fetches Python 3.11 if it is missing.
MIN := $(VENV)-min
.PHONY: minimum-versions
minimum-versions: $(STAMPS)/package  ## Run the Python tests on the oldest dependencies
	$(BIN)/uv venv --quiet --clear --python 3.11 $(MIN)
	$(BIN)/uv pip install --quiet --python $(MIN) --resolution lowest-direct --group test \
		-r pyproject.toml
	$(BIN)/uv pip install --quiet --python $(MIN) --no-deps $(BUILT)
	$(BIN)/uv pip list --python $(MIN)
	$(MIN)/bin/python $(PYTEST) $(PYTEST_ARGS)

# A test environment has packages that hide a missing dependency of an extra: this page runs without them.
ALONE := $(VENV)-alone
.PHONY: pages-alone
pages-alone: $(STAMPS)/package  ## Run the page on MLflow and its tests in an environment of that extra
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(ALONE)
	$(BIN)/uv pip install --quiet --python $(ALONE) pytest hypothesis skops \
		"$$(ls $(BUILT))[mlflow]"
	$(ALONE)/bin/python -P -m pytest -k mlflow tests/base/test_docs.py tests/export/test_mlflow*.py

.PHONY: check-wheel
check-wheel: $(STAMPS)/package $(STAMPS)/group-dist  ## Check the wheel as a package index does
	$(BIN)/twine check --strict $(BUILT)
	$(BIN)/check-wheel-contents $(BUILT)
	$(BIN)/abi3audit --strict $(BUILT)

.PHONY: sdist
sdist: $(STAMPS)/maturin  ## Build the source distribution into dist
	$(BIN)/maturin sdist --out dist

.PHONY: clean
clean:  ## Remove everything that was built, .venv included
	rm -rf $(VENV) $(MIN) $(ALONE) target dist docs/_build docs/auto_examples docs/api/generated \
		docs/drawings/*.png docs/pictures docs/sg_execution_times.rst \
		docs/_static/calculator/aucrank.wasm .hypothesis .mypy_cache \
		.pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# uv installs the packages in a tenth of pip's time.
$(STAMPS)/venv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "aucrank needs Python 3.11 or newer; try make PYTHON=python3.13")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --disable-pip-version-check install --quiet 'uv>=0.8'
	mkdir -p $(STAMPS) && touch $@

$(STAMPS)/maturin: $(STAMPS)/venv
	$(INSTALL) 'maturin>=1.16'
	touch $@

$(STAMPS)/group-%: pyproject.toml $(STAMPS)/venv
	$(INSTALL) --group $*
	touch $@

# Each build has the same version, so the package is reinstalled by force.
ifdef WHEEL
$(STAMPS)/package: $(WHEEL) $(STAMPS)/venv
	$(INSTALL) --reinstall-package aucrank $(WHEEL)
	touch $@
else
$(STAMPS)/package: $(SOURCES) $(STAMPS)/maturin
	@command -v cargo >/dev/null || { \
		echo "cargo is missing: install Rust 1.88 or newer from https://rustup.rs"; exit 1; }
	rm -f $(WHEELS)/aucrank-*.whl
	@echo "compiling the core: 5 to 15 minutes on two cores the first time"
	@{ minutes=0; while sleep 60 >/dev/null 2>&1 && kill -0 $$$$ 2>/dev/null; do \
		minutes=$$((minutes + 1)); echo "still compiling: $$minutes min"; done; } & \
	clock=$$!; trap 'kill $$clock 2>/dev/null' EXIT; \
	$(BIN)/maturin build --release --locked --compression-level 9 --interpreter $(BIN)/python \
		--out $(WHEELS)
	$(INSTALL) --reinstall-package aucrank $(BUILT)
	touch $@
endif

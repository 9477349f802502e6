# The two commands of the README, each from nothing: `make demo` and `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test check test-long fuzz lock clean collector

demo: $(VENV)/installed-demo
	@$(BIN)/dbagenteval demo

# The locked development set first, then the linters, the types, the layers and the whole suite.
test: $(VENV)/installed-dev check
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

check: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# Long property tests and fuzzing; hours, not minutes.
test-long: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m slow

# Fuzz what the receiver decodes, by coverage; what is found stays in build/fuzz. Linux only.
FUZZ_SECONDS ?= 3600
fuzz: $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet atheris
	@mkdir -p build/fuzz
	$(BIN)/python fuzz/otlp.py build/fuzz/corpus -artifact_prefix=build/fuzz/ \
	    -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=4096

# Pin the development set anew, for every Python that we support.
lock: $(VENV)/installed-dev
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --universal --python-version 3.10 --generate-hashes --upgrade --quiet \
	    --no-header --no-annotate --no-emit-index-url --extra dev pyproject.toml \
	    --output-file requirements-dev.lock

# The Collector that the tests of `collector-config/` run; needs Go, kept in ~/.cache.
collector:
	@sh collector-config/build.sh

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/installed-demo: $(VENV)/bin/python pyproject.toml
	@test -e $(VENV)/installed-dev || $(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/bin/python requirements-dev.lock pyproject.toml
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# Every command sets up what it needs in .venv, once; the stamp files remember that it is done.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# Kernels are compiled when the package is installed; a change of one installs it again.
KERNELS := setup.py $(shell grep -rl --include=*.py 'import cython$$' src)
# Those of the kernels, none of which needs Torch.
WHEEL_TESTS := tests/test_compiled.py tests/core/test_constraint_kernels.py tests/core/test_spectral.py \
	tests/optimize/test_columns.py tests/optimize/test_columns_kernels.py tests/optimize/test_exact.py \
	tests/optimize/test_update.py tests/search
# What every part of the package that needs no Torch is tested by.
OLDEST_TESTS := tests/drawing tests/report/test_page.py tests/tables tests/io tests/effects tests/diagnostics \
	tests/linear/test_auto.py tests/linear/test_choice.py tests/linear/test_labels.py tests/linear/test_selection.py \
	tests/search/test_search_engine.py tests/core/test_spectral.py tests/test_metrics.py tests/test_graphs.py \
	tests/test_datasets.py tests/test_simulate.py tests/test_knowledge.py tests/test_cli.py tests/test_cli_effect.py
PLAN ?= constraint-cost
RUNS ?= runs
BUDGET ?= 0.05
SEED ?= 0

.DEFAULT_GOAL := help
.PHONY: help demo test build wheel oldest notebooks lint type docs bench bench-report fuzz check clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/core.stamp ## learn a protein network from real cells
	@$(BIN)/analyticdag demo
	@echo "Once in every terminal, before these:  . $(BIN)/activate"

test: $(VENV)/dev.stamp ## run the tests, with branch coverage
	$(BIN)/python -m pytest --numprocesses auto --cov --cov-report=term:skip-covered

build: $(VENV)/core.stamp ## compile the kernels (the other commands do it when it is needed)

wheel: $(BIN)/python ## build a wheel and test it, installed in an environment of its own
	rm -rf build dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		dist/*.whl pytest pytest-xdist hypothesis array-api-strict pandas cython setuptools
	build/wheel/bin/python -W error -c 'import analyticdag.optimize, analyticdag.search'
	build/wheel/bin/python -m pytest --numprocesses auto $(WHEEL_TESTS)

oldest: ## run tests with the oldest versions that are allowed, in an environment of its own
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-oldest.txt \
		--editable '.[data,parquet,excel,spss,plots,cluster,metrics]' polars \
		pytest pytest-xdist hypothesis array-api-strict cython setuptools
	build/oldest/bin/python -m pytest -W ignore::DeprecationWarning --numprocesses auto $(OLDEST_TESTS)

notebooks: $(VENV)/dev.stamp ## execute the notebooks of the documentation again
	$(BIN)/python docs/notebooks/execute.py

lint: $(VENV)/dev.stamp ## check style and formatting with ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: $(VENV)/dev.stamp ## check types with mypy, strictly
	$(BIN)/mypy

docs: $(VENV)/docs.stamp ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/bench.stamp ## run a benchmark plan and print its table (PLAN=quick for a small one)
	@$(BIN)/python -m benchmarks run $(PLAN) --out $(RUNS)/$(PLAN)
	@$(BIN)/python -m benchmarks render $(RUNS)/$(PLAN)

bench-report: $(VENV)/bench.stamp ## write the benchmark pages again, from the records that are kept
	$(BIN)/python -m benchmarks report docs/benchmarks

fuzz: $(VENV)/dev.stamp ## hostile input against docs/reliability.md (BUDGET=1 for a whole campaign)
	$(BIN)/python -m fuzz run --budget $(BUDGET) --seed $(SEED) --out $(RUNS)/fuzz

check: test lint type docs ## everything that has to pass before a change lands

clean: ## remove what these commands made
	find src '(' -name '*.so' -o -name '*.pyd' ')' -delete
	rm -rf $(VENV) build dist site .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/core.stamp: pyproject.toml constraints.txt $(KERNELS) | $(BIN)/python
	$(INSTALL) --editable .
	@touch $@

$(VENV)/dev.stamp: pyproject.toml benchmarks/pyproject.toml constraints.txt $(KERNELS) | $(BIN)/python
	$(INSTALL) --editable '.[dev]' --editable ./benchmarks
	@touch $@ $(VENV)/core.stamp $(VENV)/bench.stamp

$(VENV)/docs.stamp: pyproject.toml constraints.txt $(KERNELS) | $(BIN)/python
	$(INSTALL) --editable '.[docs]'
	@touch $@ $(VENV)/core.stamp

$(VENV)/bench.stamp: pyproject.toml benchmarks/pyproject.toml constraints.txt $(KERNELS) | $(BIN)/python
	$(INSTALL) --editable . --editable './benchmarks[plots]'
	@touch $@ $(VENV)/core.stamp

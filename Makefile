# make papers   recompute the papers and write a report to build/papers
# make docs     build the site in build/docs, run every example; warnings are errors
# make test     lint, types and tests
# make test-lowest   tests with the lowest versions that pyproject.toml declares, in .venv-lowest
# The others make .venv first, with the versions of constraints.txt.

PYTHON ?= python3
BIN = .venv/bin

.PHONY: docs papers test tests test-long test-lowest lint bench clean

papers: .venv/installed
	$(BIN)/polhode papers --out build/papers
	@echo "Open build/papers/index.html"

docs: .venv/installed
	$(BIN)/sphinx-build -W --keep-going -E -q -c docs/_site docs build/docs
	@echo "Open build/docs/index.html"

# Beside each other: lint is done long before the tests, and where either fails all of it does.
test: .venv/installed
	@$(MAKE) --no-print-directory --jobs 2 lint tests

tests: .venv/installed
	$(BIN)/python -m pytest -n 2

test-long: .venv/installed
	$(BIN)/python -m pytest -n 2 -m long

# Each dependency is touched by one of these. Old versions of one use what new versions of another deprecate.
LOWEST = house results cli cli_errors programs simulation expressions docs mechanics animation quotient \
         multibody_solvers multibody_systems references packaging cli_machines films
test-lowest: .venv-lowest/installed
	.venv-lowest/bin/python -m pytest -n 2 -m 'not slow and not long' \
	  -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning $(LOWEST:%=tests/test_%.py)

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed
	$(BIN)/polhode bench

# Compiled to bytecode on two cores, of which pip uses one, but for what no test imports; what packages hold of other makes
# of Python is left as it is.
.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "polhode needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt \
	  --editable '.[docs,test]'
	-$(BIN)/python -m compileall -qq -j 2 -x '/(tests?|pip|mypyc?|jedi)/' .venv/lib src
	@touch $@

.venv-lowest/installed: pyproject.toml tests/lowest.py
	rm -rf .venv-lowest
	$(PYTHON) -m venv .venv-lowest
	$(PYTHON) tests/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint .venv-lowest/constraints.txt --editable '.[test]'
	@touch $@

clean:
	rm -rf .venv .venv-lowest build

# make papers   recompute the papers and write a report to build/papers
# make test     lint, types and tests
# Both make .venv first, with the versions of constraints.txt.

PYTHON ?= python3
BIN = .venv/bin

.PHONY: papers test test-long lint bench clean

papers: .venv/installed
	$(BIN)/polhode papers --out build/papers
	@echo "Open build/papers/index.html"

test: .venv/installed lint
	$(BIN)/python -m pytest -n 2

test-long: .venv/installed
	$(BIN)/python -m pytest -n 2 -m long

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed
	$(BIN)/polhode bench

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "polhode needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	@touch $@

clean:
	rm -rf .venv build

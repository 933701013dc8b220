# Needs Python 3.11 or newer and make; everything else goes into .venv.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
CARD := cards/max_pooling_backward.md
# empty is unset: each process of the tests would compile, and rewrite for pytest, all that it imports
export PYTHONDONTWRITEBYTECODE :=

.PHONY: sheet gallery docs words test fuzz check bench clean

sheet: $(VENV)/.installed
	$(BIN)/derive solve $(CARD)

# what the repository shows: sheets, handouts and the notebook, which the tests compare with what is written today,
# and pictures, which need a TeX and pdftoppm
gallery: $(VENV)/.installed
	$(BIN)/derive solve $(CARD) --format md,tex,html -o output/gallery
	$(BIN)/derive solve $(filter-out cards/declined/,$(wildcard cards/*/)) --variant 1 --format md -o output/gallery
	$(BIN)/python docs/notebook.py
	$(BIN)/python docs/pictures.py

# the documentation as pages: docs/_build/index.html
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W -q -b html -d docs/_build/.doctrees docs docs/_build

# after a change in the words of the sheets, once they are read and true, in each language: no sheet is written before
words: $(VENV)/.installed
	$(BIN)/python -c "from derive.words import mark_read; mark_read()"

test: check
	$(BIN)/python -m pytest -n auto --dist worksteal

# thousands of cards that nobody would write, each in a process of its own
fuzz: $(VENV)/.installed-dev
	DERIVE_FUZZ=2000 $(BIN)/python -m pytest tests/test_fuzz.py

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks

clean:
	rm -rf $(VENV) build dist docs/_build

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name one: make PYTHON=…" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "on Debian: apt-get install python3-venv" >&2; exit 1; }

# The stamps make a second run fast: pip runs again only when pyproject.toml has changed.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@ $(VENV)/.installed

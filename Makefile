# `make study` answers the lab's question and shows the page; `make test` passes the tests. Both install what they need.
# `make study` writes into out/, which git ignores; the committed pages are those of reports/.
PYTHON ?= python3
BIN := .venv/bin

# What is compiled is kept: the tests start some hundred processes, and each would compile the lab anew.
unexport PYTHONDONTWRITEBYTECODE

# A module is compiled when it is first imported, where pip would compile all that it lays down.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable

.PHONY: study test test-all check-reports lint docs gallery dist lock bench proofs fuzz crash clean

study: .venv/.installed
	$(BIN)/hardness study run exponential-in-m --out out/exponential-in-m

test: .venv/.installed-dev
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "not slow"

test-all: .venv/.installed-dev
	$(BIN)/python -m pytest -n 2

check-reports: .venv/.installed-dev
	$(BIN)/python -m pytest tests/check_reports.py

# Damaged files, 5,000 a format, and 5,000 random command lines; what fails is made smaller before it is shown.
fuzz: .venv/.installed-dev
	$(BIN)/python -m pytest -n 2 --hypothesis-profile=fuzz tests/fuzz

# The crash tests, each with its figure; two hundred kills among them.
crash: .venv/.installed-dev
	$(BIN)/python -m pytest -v -rA --durations=0 tests/engine/test_crash.py tests/engine/test_study_engine.py

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --site-dir build/site
	@echo "the site: build/site/index.html"

# The pictures of examples/ and of docs/gallery.md, and the outputs of the notebook, which the site shows.
gallery: .venv/.installed-dev
	@mkdir -p build/examples
	@for file in examples/*.py; do \
		(cd build/examples && MATPLOTLIBRC=../../examples SOURCE_DATE_EPOCH=0 ../../$(BIN)/python ../../$$file) || exit 1; \
	done
	@cp build/examples/*.svg examples/
	cd docs/gallery && ../../$(BIN)/python ../making/gallery.py
	$(BIN)/python tests/support/notebook.py examples/ray.ipynb

dist: .venv/.installed-dev
	$(BIN)/python -m build --outdir dist

# The versions with which continuous integration runs, torch left out; no index and no path is written into the file.
lock: .venv/.installed-dev
	$(BIN)/python -m piptools compile --quiet --extra dev,docs,lattice,cluster,parquet,notebook --strip-extras --resolver backtracking \
		--no-emit-index-url --no-emit-find-links --no-header --output-file requirements.lock pyproject.toml

bench: .venv/.installed-bench
	$(BIN)/python -m benchmarks

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; set PYTHON=")'
	$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml .venv/bin/python
	$(INSTALL) .
	touch $@

.venv/.installed-dev: pyproject.toml .venv/bin/python
	$(INSTALL) '.[dev]'
	@# Before three test processes each compile the same large kernels: the two halves, side by side.
	@$(BIN)/python -m pytest -q learner/student.py >/dev/null & \
		$(BIN)/python -c "import learner.kernels_diagonal, sympy, sklearn" & wait
	touch $@ .venv/.installed

.venv/.installed-bench: pyproject.toml .venv/bin/python
	$(INSTALL) '.[dev,bench]'
	touch $@ .venv/.installed-dev .venv/.installed

.venv/.installed-docs: pyproject.toml .venv/bin/python
	$(INSTALL) '.[docs]'
	touch $@ .venv/.installed

# The machine-checked part of the theory; the statements proved, and the axioms they rest on, are printed.
PROOFS := build/proofs
proofs:
	@command -v coqc >/dev/null || { echo "proofs are checked by Coq: apt-get install coq (or opam install coq)"; exit 1; }
	@mkdir -p $(PROOFS) && cp checker/proofs/*.v $(PROOFS)
	@cd $(PROOFS) && for part in lemma_l counting theorem_a theorem_b; do coqc $$part.v || exit 1; done

clean:
	rm -rf .venv build dist out *.egg-info

# demo: the real pipeline at a small size, to an HTML report. test: the tests. Both set everything up first.
PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3.14 python3,$(shell command -v $(p) 2>/dev/null)))
BIN := .venv/bin
comma := ,
GPUS := $(shell nvidia-smi -L 2>/dev/null | grep -c '^GPU')

.PHONY: demo test test-docs test-all browser test-faults test-slurm lint format docs site bench constraints setup clean
.DEFAULT_GOAL := demo

# Many containers set it. Each job of a pipeline would then compile all that it imports afresh, for up to ten seconds.
unexport PYTHONDONTWRITEBYTECODE

# Install this package with the extras $(1). uv takes a fraction of pip's time. It knows only these two variables of pip's
# configuration; if it fails, for instance because only pip's own files name a mirror, pip installs.
# Nothing is compiled to bytecode here, which would take longer than everything else: Python compiles what it imports.
install = $(if $(PIP_FIND_LINKS),UV_FIND_LINKS="$(PIP_FIND_LINKS)") $(if $(PIP_INDEX_URL),UV_DEFAULT_INDEX="$(PIP_INDEX_URL)") \
	$(BIN)/python -m uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable ".[$(1)]" \
	|| $(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable ".[$(1)]"

setup: .venv/developed

.venv/installed: pyproject.toml constraints.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' \
		|| { echo "Resolvent needs Python 3.11 to 3.14; name one: make PYTHON=/path/to/python3.13"; exit 1; }
	"$(PYTHON)" -m venv .venv
	-$(BIN)/python -m pip install --quiet uv
	$(call install,neuraloperator)
	touch $@

# What tests, tools and the documentation take beside; the demo does not wait for it.
.venv/developed: .venv/installed
	$(call install,dev$(comma)docs)
	touch $@

demo: .venv/installed
	$(BIN)/snakemake --cores all --resources gpu=$(GPUS) --configfile config/demo.yaml
	$(BIN)/python -m resolvent.figures.front results/demo

# Two processes, a file each at a time, those that take longest first (tests/conftest.py).
test: browser
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# The documentation: its site builds without a warning and works, its notebooks run.
test-docs: browser
	$(BIN)/python -m pytest -n 2 --dist loadfile -m docs tests/documentation

# Also those that take long, and repeat at length what others hold, and those with packages that read our exports.
test-all: browser
	$(call install,dev$(comma)docs$(comma)clients)
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not faults"

# For the tests of the pages: a Chromium that is at hand, or Debian's where this is root, or Playwright's.
browser: .venv/developed
	@for name in chromium chromium-browser google-chrome; do command -v $$name > /dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium > /dev/null; \
	else \
		$(BIN)/playwright install chromium; \
	fi || { echo "The tests of the pages need Chromium: install it (Debian: apt install chromium)"; exit 1; }

# What is survived: kills, full disks, damaged files, … Wants root, to mount small disks. FAULT_KILLS=8 is quicker.
test-faults: .venv/developed
	$(BIN)/python -m pytest -m faults tests/faults

# Root only: installs SLURM from Debian's packages, and starts and stops one of its own (docs/cluster.md).
test-slurm: .venv/developed
	$(call install,dev$(comma)docs$(comma)slurm)
	$(BIN)/python tests/slurm/cluster.py install
	$(BIN)/python -m pytest tests/slurm; status=$$?; $(BIN)/python tests/slurm/cluster.py stop; exit $$status

lint: .venv/developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy solvers models
	$(BIN)/mypy -p resolvent -p benchmarks
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

format: .venv/developed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow/rules

# Pages of docs/ that a command writes; the comparison with the paper is written where its runs are.
# The pictures of docs/theory.md have a command of their own: docs/scripts/theory.py.
docs: .venv/developed
	$(BIN)/python docs/scripts/write_pages.py
	$(BIN)/python docs/scripts/both_rules.py
	$(BIN)/python docs/scripts/leaks.py --table

# The documentation site, build/site/index.html; a warning or a broken link is an error. Executes the tutorials.
site: .venv/developed
	JAX_PLATFORMS=cpu $(BIN)/sphinx-build -W --keep-going -n -q docs build/site
	@echo "The site is file://$(CURDIR)/build/site/index.html"

# Timings against peers into docs/performance.md, its summary first; where there is a GPU, also steps on it. Takes four
# hours and wants a quiet machine; ended, it goes on where it was.
bench: .venv/developed
	$(call install,bench)
	$(BIN)/python -m benchmarks

environment.yml: pyproject.toml .venv/installed
	$(BIN)/python docs/scripts/conda_environment.py

# Keeps the versions that are there: take those out that are to be the newest. torch says itself what it needs of CUDA.
constraints: .venv/installed
	cp constraints.txt constraints.new
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy requires-python --all-extras \
		--no-annotate --no-header --output-file constraints.new pyproject.toml
	{ grep '^#' constraints.txt; grep -Ev '^(nvidia-|cuda-|triton)' constraints.new; } > constraints.both
	mv constraints.both constraints.txt; rm constraints.new

clean:
	rm -rf .venv .snakemake build data results logs

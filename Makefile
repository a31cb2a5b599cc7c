# make demo    triage a failing script on this machine's CPU
# make test    lint, type check, tests
# make bench   what starting, scanning a log, watching a script and sweeping cost; ten minutes
# make test-light  those tests that compile no model
# make test-newest  the server's tests with the newest libraries that pyproject.toml allows
# make evals   the replay tier's tables: scripted agents on the recorded cases, their admission; no torch
# make evals-live  scripted agents on the cases that need no GPU, whose patches are compiled and run
# make lint    ruff and mypy alone; `make types`, a part of it, is mypy over tests and evals
# make picture draw the README's picture anew from a real run
# make clean   remove what the other targets made here
#
# Everything goes into .venv/. PYTHON=… names an interpreter; the torch that it has is used as it
# is, and only where it has none a pinned one is installed into .venv/. ARGS=… goes on to pytest.

PYTHON ?= python3
ARGS   ?=
# A test process compiles models: more than a few at a time want more memory than cores. Two more
# than there are cores work while others wait for what must take its time.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN); echo $$((n < 2 ? 3 : 4)))
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet

TORCH_FOUND := import importlib.metadata as m; v = m.version("torch").split(".")
TORCH_FOUND += ; raise SystemExit((int(v[0]), int(v[1])) < (2, 6))
ifeq ($(shell '$(PYTHON)' -c '$(TORCH_FOUND)' 2>/dev/null && echo yes),yes)
TORCH_PYTHON := $(shell '$(PYTHON)' -c 'import sys; print(sys.executable)')
TORCH        :=
else
TORCH_PYTHON := $(abspath $(BIN)/python)
TORCH        := $(VENV)/.torch
endif
# Tests compile models of transformers; where that torch has none beside it, a folder here has it.
WITH_TRANSFORMERS := import importlib.util as u; raise SystemExit(u.find_spec("transformers") is None)
ifneq ($(TORCH)$(shell '$(PYTHON)' -c '$(WITH_TRANSFORMERS)' 2>/dev/null && echo yes),yes)
ifeq ($(TORCH),)
TRANSFORMERS := $(VENV)/transformers
export AOTI_DEBUG_TRANSFORMERS := $(abspath $(TRANSFORMERS))
endif
endif
export AOTI_DEBUG_PYTHON := $(TORCH_PYTHON)
unexport PYTHONUNBUFFERED PYTHONHOME

.PHONY: demo test test-light test-newest bench evals evals-live lint types picture clean setup compiler
.DELETE_ON_ERROR:

setup: compiler $(VENV)/.tools $(TORCH) $(TRANSFORMERS)

compiler:
	@command -v '$(CXX)' >/dev/null || { \
	  echo "No C++ compiler: $(CXX) is not on the PATH. Install g++, or name yours: make CXX=…" >&2; \
	  exit 2; }

demo: compiler $(VENV)/.package $(TORCH)
	@echo "Triaging evals/cases/demo.py, which compiles a model and then crashes:"
	@echo
	@mkdir -p build
	@$(BIN)/aoti-debug triage --report build/demo.md evals/cases/demo.py; test $$? -le 1
	@grep -q '= 1024 is outside' build/demo.md || { \
	  echo "This is not what is wrong with evals/cases/demo.py." >&2; exit 1; }

test: lint setup
	$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder $(ARGS)

# The directories whose tests compile no model.
LIGHT := cli diagnose environment facts package read report run server signatures
test-light: setup
	$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder $(ARGS) $(LIGHT:%=tests/%)

# Of requirements-dev.txt it takes the tools alone, which begin at the empty line.
NEWEST := build/newest
test-newest: setup
	@rm -rf $(NEWEST)
	@$(BIN)/uv venv --quiet --python $(BIN)/python $(NEWEST)
	@sed '1,/^$$/d' requirements-dev.txt > $(NEWEST)/tools.txt
	@$(BIN)/uv pip install --quiet --python $(NEWEST) --editable . --requirement $(NEWEST)/tools.txt
	@$(BIN)/uv pip freeze --python $(NEWEST)
	$(NEWEST)/bin/python -m pytest --numprocesses=$(WORKERS) --dist=loadfile $(ARGS) tests/server tests/cli

lint: types
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .
	$(BIN)/mypy --no-error-summary

# Tests and evals are checked like the rest, but pytest's fixtures, torch and what answers over JSON
# need no annotation; left out are programs that run where torch is.
LENIENT := --explicit-package-bases --ignore-missing-imports --implicit-reexport \
  --allow-untyped-defs --allow-incomplete-defs --allow-untyped-calls --allow-untyped-decorators \
  --allow-any-generics --allow-subclassing-any --no-warn-return-any --no-warn-unused-ignores
types: $(VENV)/.tools
	MYPYPATH=tests $(BIN)/mypy --no-error-summary $(LENIENT) --exclude '/targets/|planted' tests
	MYPYPATH=evals $(BIN)/mypy --no-error-summary $(LENIENT) --exclude '/(cases|zoo)/|prelude|explain_cases' evals

evals: $(VENV)/.tools
	$(BIN)/python evals/run.py agents --replay
	@echo
	$(BIN)/python evals/run.py admit --replay --needs all

evals-live: setup
	$(BIN)/python evals/run.py --jobs $(WORKERS) agents $(ARGS)

bench: setup
	$(BIN)/python evals/benchmarks/latency.py start
	@echo
	$(BIN)/python evals/benchmarks/latency.py scan --megabytes 320
	@echo
	$(BIN)/python evals/benchmarks/overhead.py --pairs 3
	@echo
	$(BIN)/python evals/benchmarks/sweep.py

picture: setup
	$(BIN)/python assets/draw.py assets/diagnosis.svg

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/.python:
	@'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "$(PYTHON) is no Python 3.10 or later. Name one: make PYTHON=/path/to/python" >&2; \
	  exit 2; }
	@echo "Making $(VENV) with $$('$(PYTHON)' --version)"
	@'$(PYTHON)' -m venv $(VENV) || { \
	  rm -rf $(VENV); \
	  echo "$(PYTHON) cannot make an environment. Debian, Ubuntu: apt install python3-venv" >&2; \
	  exit 2; }
	@touch $@

# Of requirements-dev.txt the package takes what stands before the first empty line, and what builds it.
$(VENV)/.package: requirements-dev.txt pyproject.toml | $(VENV)/.python
	@echo "Installing aoti-debug (once)"
	@sed -n '1,/^$$/p; /^hatchling/p' $< > $(VENV)/package.txt
	@$(PIP) --requirement $(VENV)/package.txt
	@$(PIP) --no-build-isolation --no-deps --editable .
	@touch $@

$(VENV)/.tools: requirements-dev.txt $(VENV)/.package
	@echo "Installing its tools (once)"
	@$(PIP) --requirement requirements-dev.txt
	@touch $@

$(VENV)/.torch: requirements-torch.txt | $(VENV)/.python
	@echo "Installing torch and transformers: $(PYTHON) has no torch. This can take minutes (once);"
	@echo "make PYTHON=/path/to/python uses one that is already there."
	@$(PIP) --requirement requirements-torch.txt
	@touch $@

$(VENV)/transformers: requirements-torch.txt | $(VENV)/.python
	@echo "Installing transformers for the tests, beside the torch of $(PYTHON) (once)"
	@rm -rf $@
	@grep '^transformers' $< > $(VENV)/transformers.txt
	@$(PIP) --target $@ --requirement $(VENV)/transformers.txt
	@touch $@

# Everything starts here: on a fresh clone, with Python 3.11 or newer, each target first makes .venv, installs
# the locked versions and this package (editable), then does its work. Later runs see that nothing changed
# and start at once.

.DEFAULT_GOAL := help
.PHONY: help run test demo readme docs bench evals lint format lock clean FORCE

HOST ?= 127.0.0.1
PORT ?= 8000
VENV := .venv
BIN  := $(VENV)/bin

# Only looked for when .venv has to be made. A Python without venv or ensurepip (Debian splits them off) cannot.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.14 python; do \
  $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
  && { command -v $$python; break; }; done)

# Named after what decides the installation, this folder included: a branch with another lock, or a folder that
# was moved, installs again; a checkout that only touches files does not.
STATE := $(shell { pwd -P; cat pyproject.toml requirements-run.lock requirements.lock; } | cksum | cut -d' ' -f1)
RUN := $(VENV)/.installed-run-$(STATE)
DEV := $(VENV)/.installed-dev-$(STATE)

PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
THIS := $(PIP) --no-deps --no-build-isolation --editable .
# What the first command would otherwise wait for: bytecode, tables and patterns as compiled (in ~/.cache).
WARM := $(BIN)/python -m compileall -q assistant && \
  $(BIN)/metric-assistant explain examples/verl-retool-steps-0-3.log -q 'What should I look at?' >/dev/null

help:
	@echo 'make run      serve the chat page and the REST API on http://$(HOST):$(PORT) (PORT=… changes it)'
	@echo 'make demo     three questions, zh and en, about the bundled example log'
	@echo 'make readme   put the output of the demo into the README'
	@echo 'make docs     a page for each metric card, into site/'
	@echo 'make test     the tests; ARGS="-k name" chooses'
	@echo 'make lint     ruff and mypy, changing nothing'
	@echo 'make format   ruff, mending what it can'
	@echo 'make bench    how fast it is, on this machine'
	@echo 'make evals    how often it is right'
	@echo 'make lock     resolve the dependencies anew (PYTHON=python3.11)'
	@echo 'make clean    remove .venv and what tools left behind'

# --- preparing -------------------------------------------------------------------------------------------

# A .venv whose Python was removed or moved is made anew.
ifneq ($(shell $(BIN)/python -c 'print("runs")' 2>/dev/null),runs)
$(VENV)/pyvenv.cfg: FORCE
$(RUN) $(DEV): FORCE
endif

$(VENV)/pyvenv.cfg:
	@python='$(PYTHON)'; if [ -z "$$python" ]; then \
	  echo 'No Python 3.11 or newer with venv was found (tried python3, python3.11 to 3.14, python).' >&2; \
	  echo 'Install one (Debian, Ubuntu: apt install python3 python3-venv; macOS: brew install python),' >&2; \
	  echo 'or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3' >&2; exit 2; fi; \
	echo "preparing $(VENV) with $$($$python --version)"; \
	$$python -m venv --clear $(VENV)

$(RUN): | $(VENV)/pyvenv.cfg
	@echo 'installing the locked packages (the first time only)'
	@$(PIP) --requirement requirements-run.lock
	@$(THIS)
	@$(WARM)
	@rm -f $(VENV)/.installed-*
	@touch $@

$(DEV): | $(VENV)/pyvenv.cfg
	@echo 'installing the locked packages and the test tools (the first time only)'
	@$(PIP) --requirement requirements.lock
	@$(THIS)
	@$(WARM)
	@rm -f $(VENV)/.installed-*
	@touch $@ $(RUN)

# --- doing -----------------------------------------------------------------------------------------------

run: $(RUN)
	@exec $(BIN)/metric-assistant serve --host $(HOST) --port $(PORT)

demo: $(RUN)
	@$(BIN)/python tools/demo.py $(ARGS)

readme: $(RUN)
	@$(BIN)/python tools/readme.py $(ARGS)

docs: $(RUN)
	@$(BIN)/python tools/pages.py $(ARGS)

bench: $(DEV)
	@$(BIN)/python tools/bench.py $(ARGS)
	@$(BIN)/python -m tools.bench_service $(SERVICE_ARGS)
	@$(BIN)/python tools/bench_page.py $(PAGE_ARGS)

test: $(DEV)
	@$(BIN)/python -m pytest --numprocesses auto --dist worksteal $(ARGS)

evals: $(DEV)
	@$(BIN)/python -m evals.run --all $(ARGS)

lint: $(DEV)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

format: $(DEV)
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

lock:
	@$(PYTHON) tools/lock.py $(ARGS)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Everything sets itself up: only python3 (3.11 or newer), pip and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help

help: ## Show what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: python3 3.11 or newer is needed; hint: make PYTHON=/path/to/python3.11"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

setup: $(STAMP) ## Make .venv with everything the project needs

run: setup ## Replay the golden sets offline, print the verdicts, and write them as a page with every trace
	@$(BIN)/harness run; ended=$$?; case $$ended in 0 | 1 | 3) \
	  page=$$($(BIN)/harness report --format html) || exit; echo "HTML report: $$page" ;; esac; exit $$ended

format: setup ## Format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lint: setup ## Static checks: format, lint, types, layers
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

browser: ## Install Chromium, which the tests of pages drive, where it is missing
	@test -x "$${HARNESS_CHROMIUM:-/usr/bin/chromium}" || test "$$(id -u)" = 0 || { echo "error: no Chromium at $${HARNESS_CHROMIUM:-/usr/bin/chromium}; hint: sudo apt-get install chromium fonts-dejavu-core, or HARNESS_CHROMIUM=/path/to/it"; exit 2; }
	@test -x "$${HARNESS_CHROMIUM:-/usr/bin/chromium}" || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null; }

check: lint browser ## What to run before a commit: static checks and the quick tests
	@$(BIN)/python -m pytest tests -n 2 --dist worksteal

test: lint browser ## Everything that CI runs
	@$(BIN)/python -m pytest tests -n 2 --dist worksteal
	@$(BIN)/harness cassettes check
	@$(BIN)/harness run

nightly: setup browser ## The long forms: more examples, every cassette over the wire
	@HARNESS_WIRE_ALL=1 HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest tests -n 2 --dist worksteal
	@$(BIN)/harness run --wire

bench: setup browser ## Replay cost, start-up and a large HTML report, side by side with their floors
	@$(BIN)/python benchmarks/replay.py
	@$(BIN)/python benchmarks/report.py

screenshots: setup browser ## Take the pictures in docs/ anew
	@$(BIN)/python docs/screenshots.py

lock: ## Resolve the dependencies anew into requirements.lock
	@$(BIN)/python -m pip install --quiet pip-tools
	@$(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-header \
	  --strip-extras --extra record --extra newsdesk --extra reports --extra serve --extra stats --output-file requirements.lock pyproject.toml requirements-dev.in

.PHONY: help setup run format lint browser check test nightly bench screenshots lock

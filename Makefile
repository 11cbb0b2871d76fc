# Two commands do all the set-up: `make run` and `make test`. Everything else is here for whoever works on Metnos.
VENV  := .venv
BIN   := $(VENV)/bin
UPGRADE ?= --upgrade
ARGS  ?=
NAME  ?=
DATA  ?=

# Where no bytecode is kept, each of the hundreds of commands that the tests start compiles all of Metnos again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test check lint bench lock docs clean

help: ## list these targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

run: ## install what is needed, start Metnos and print the link to its page; ARGS="doctor" runs a command instead
	@sh tools/setup.sh run
	@$(BIN)/metnos $(or $(ARGS),open)

test: ## the whole suite: linters, types, layers, sizes, every test, coverage
	@sh tools/setup.sh dev
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term-missing:skip-covered

check: ## the fast tier: everything but the slow tests
	@sh tools/setup.sh dev
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/sizes.py

bench: ## list the benchmarks; NAME=store runs one, DATA=dir gives it other data
	@sh tools/setup.sh dev
	@$(BIN)/python -m bench $(NAME) $(if $(DATA),--data $(DATA))

docs: ## write again what is generated from code (pages, tables, digests of the built-in executors)
	@sh tools/setup.sh dev
	@$(BIN)/python tools/digests.py
	@$(BIN)/python tools/docs.py

lock: ## resolve the dependencies again (needs uv); the locks name no host
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate $(UPGRADE) -q \
	  pyproject.toml --group build -o lock/run.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate $(UPGRADE) -q \
	  pyproject.toml --group build --group dev --extra defi --extra lab --extra local --extra onnx --extra lance --extra otel -o lock/dev.txt

clean: ## remove the environment and every cache
	rm -rf $(VENV) $(VENV).lock .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Two commands do all the set-up: `make run` and `make test`. Everything else is here for whoever works on Metnos.
VENV  := .venv
BIN   := $(VENV)/bin
UPGRADE ?= --upgrade
ARGS  ?=
NAME  ?=
DATA  ?=
KEY   ?=

# Where no bytecode is kept, each of the hundreds of commands that the tests start compiles all of Metnos again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test check cover soak lint bench lock docs release advisories clean

help: ## list these targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

run: ## install what is needed, start Metnos and print the link to its page; ARGS="doctor" runs a command instead
	@sh tools/setup.sh run
	@$(BIN)/metnos $(or $(ARGS),open)

test: ## the whole suite: linters, types, layers, sizes, every test
	@sh tools/setup.sh dev
	@$(BIN)/python tools/suite.py test $(ARGS)

check: ## the fast tier: everything but the slow tests
	@sh tools/setup.sh dev
	@$(BIN)/python tools/suite.py check $(ARGS)

cover: ## every test once more, with the coverage of lines and branches; fails below 90 %
	@sh tools/setup.sh dev
	@$(BIN)/python tools/suite.py cover $(ARGS)

soak: ## kills, escapes and fuzzing many times over, and real models; an hour to an hour and a half
	@sh tools/setup.sh dev
	@$(BIN)/python tools/suite.py soak $(ARGS)

lint:
	@$(BIN)/python tools/suite.py lint

bench: ## list the benchmarks; NAME=store runs one, DATA=dir gives it other data
	@sh tools/setup.sh dev
	@$(BIN)/python -m bench $(NAME) $(if $(DATA),--data $(DATA))

docs: ## write again what is generated from code (pages, tables, digests of the built-in executors)
	@sh tools/setup.sh dev
	@$(BIN)/python tools/digests.py
	@$(BIN)/python tools/docs.py

lock: ## resolve the dependencies again; the locks name no host
	@sh tools/setup.sh dev
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate $(UPGRADE) -q \
	  pyproject.toml --group build -o lock/run.txt
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate $(UPGRADE) -q \
	  pyproject.toml --group build --group dev --extra defi --extra lab --extra local --extra onnx --extra lance --extra otel -o lock/dev.txt

release: ## build this commit twice, compare, list its parts, sign: KEY=file of the release key
	@sh tools/setup.sh dev
	@$(BIN)/python tools/release.py build $(if $(KEY),--key "$(KEY)",--unsigned) $(ARGS)

advisories: ## compare the locks with known faults in OSV format: DATA=file, folder or zip; asks nobody
	@sh tools/setup.sh dev
	@$(BIN)/python tools/advisories.py "$(or $(DATA),$(error name the data: make advisories DATA=folder))"

clean: ## remove the environment and every cache
	rm -rf $(VENV) $(VENV).lock .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

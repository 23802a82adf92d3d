# Build, test and lint with nothing but python3 (>= 3.10, venv and headers), g++ (>= 12) and make;
# the rest is installed into .venv from pyproject.toml's lists. `make help` says what there is.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:

PYTHON ?= python3
PRESET ?= release
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
PYTEST_JOBS ?= $(JOBS)
CMAKE_ARGS ?=
ARGS ?=

export PATH := $(CURDIR)/.venv/bin:$(PATH)
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONPATH

venv := .venv/bin/python
run := PYTHONPATH=$(CURDIR)/$(BUILD)/python $(venv)
# One line for each test that passed is noise.
ctest = ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure | { grep -Ev '^ +Start |  Passed |^$$' || true; }
pytest := $(run) -m pytest -q -n $(PYTEST_JOBS)

install = $(venv) -m pip install -qq --progress-bar off -r

.PHONY: help
help: ## This list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  Variables: PRESET=release|dev|asan|tsan|cuda PYTHON=python3 JOBS=$(JOBS) CMAKE_ARGS=… ARGS=… (pytest, demo, bench)"

# ---- the environment -------------------------------------------------------------------------

.venv/bin/python:
	@$(PYTHON) tools/check_python.py
	@echo "creating .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv

# .venv/GROUPS.txt holds what was installed last: an edit of pyproject.toml that changes no requirement
# installs nothing. A word is one group or several joined by '+'.
.venv/stamp-%: pyproject.toml tools/requirements.py | .venv/bin/python
	@$(venv) tools/requirements.py $(subst +, ,$*) > .venv/$*.new
	@if ! cmp -s .venv/$*.new .venv/$*.txt; then \
	  echo "installing $(subst +,$(comma) ,$*) requirements into .venv"; \
	  $(install) .venv/$*.new; fi
	@mv .venv/$*.new .venv/$*.txt; touch $@
comma := ,
.SECONDARY:

ccache := $(if $(shell command -v ccache),,+ccache)
build_env := .venv/stamp-build-system+build$(ccache)

# ---- building ---------------------------------------------------------------------------------

$(BUILD)/build.ninja: | $(build_env)
	@echo "configuring $(BUILD)"; mkdir -p build
	@cmake --preset $(PRESET) -DPython_EXECUTABLE=$(CURDIR)/$(venv) $(CMAKE_ARGS) > $(BUILD).log 2>&1 || { tail -n 40 $(BUILD).log; exit 1; }
	@grep -h -A2 'CMake Warning' $(BUILD).log || true

.PHONY: build
build: $(BUILD)/build.ninja ## Compile into build/PRESET (incremental)
	@ninja -C $(BUILD) -j $(JOBS) --quiet

.PHONY: stubs
stubs: build .venv/stamp-lint ## Write the type stubs of mlx.core anew
	@$(run) tools/stubs.py

.PHONY: wheel
wheel: $(build_env) ## Build a wheel into dist/
	@$(venv) -m pip wheel -q --no-deps -w dist .
	@ls -l dist/*.whl

# ---- CUDA: compiled where nvcc is, checked against CUDA 12 where clang 19 is -------------------

nvcc := $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))

.PHONY: cuda
cuda: ## Compile the CUDA plugin as well, into build/cuda
	@if [ -z "$(nvcc)" ]; then echo "SKIPPED: CUDA plugin, no nvcc was found"; \
	else $(MAKE) PRESET=cuda .venv/stamp-build-system+build+cuda build; fi

.PHONY: cuda12-check
cuda12-check: ## Check the CUDA sources against the headers of CUDA 12 with clang 19
	@if ! command -v clang++-19 > /dev/null; then echo "SKIPPED: CUDA 12, no clang++-19 was found (Debian: clang-19)"; \
	else $(MAKE) .venv/stamp-cuda12-headers && $(venv) tools/cuda12_check.py; fi

# ---- testing ----------------------------------------------------------------------------------

.PHONY: test
test: test-cpp test-python test-structure ## All tests: C++, Python, structure

.PHONY: test-all
test-all: export MLX_TEST_ALL := 1
test-all: test ## The same with every layout of the table tests

.PHONY: test-cpp
test-cpp: build
	@if [ -e $(BUILD)/mlx_tests ]; then $(ctest); \
	else echo "SKIPPED: C++ tests, doctest was not found (Debian: apt-get install doctest-dev; then make clean)"; fi

.PHONY: test-python
test-python: build .venv/stamp-test
	@$(pytest) $(ARGS)

.PHONY: smoke
smoke: build .venv/stamp-test ## A few seconds of tests, for the commit hook
	@$(run) -m pytest -q -p no:cacheprovider tests/python/test_smoke.py $(ARGS)

.PHONY: test-structure
test-structure: .venv/bin/python
	@$(venv) tests/structure.py

# One run of the arithmetic per instruction set this machine has; start-time choice is tested as well.
.PHONY: test-isa
test-isa: build .venv/stamp-test ## The table tests once per instruction set of this CPU
	@$(venv) tests/isa_symbols.py $(BUILD)
	@for isa in $$($(venv) tools/cpu_isa.py); do echo "MLX_CPU_ISA=$$isa"; \
	  MLX_CPU_ISA=$$isa $(pytest) tests/python/test_table.py $(ARGS); done

.PHONY: consumer
consumer: build ## Install the C++ library and build a project that uses it
	@rm -rf build/consumer
	@cmake --install $(BUILD) --component cpp --prefix build/consumer/prefix > /dev/null
	@cmake -S tests/cpp/consumer -B build/consumer/build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=$(CURDIR)/build/consumer/prefix > /dev/null
	@ninja -C build/consumer/build --quiet
	@ctest --test-dir build/consumer/build --output-on-failure

.PHONY: asan
asan: ## C++ and most Python tests under address and undefined-behaviour sanitizers
	@$(MAKE) PRESET=asan sanitized-cpp sanitized-python

.PHONY: tsan
tsan: ## C++ tests under the thread sanitizer
	@$(MAKE) PRESET=tsan sanitized-cpp

export ASAN_OPTIONS ?= detect_leaks=0:abort_on_error=1:allocator_may_return_null=1
export UBSAN_OPTIONS ?= print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS ?= halt_on_error=1:die_after_fork=0:suppressions=$(CURDIR)/tests/tsan.supp

# All but what starts programs or builds huge graphs; exits are slower there, and so leave other traces.
SANITIZED ?= tests/python --ignore=tests/python/test_demo.py --ignore=tests/python/test_benchmarks.py \
  --ignore=tests/python/test_structure.py -k "not long_graphs and not exit_is_clean and not ctrl_c"

.PHONY: sanitized-cpp
sanitized-cpp: build
	@if [ -e $(BUILD)/mlx_tests ]; then $(ctest); \
	else echo "SKIPPED: C++ tests, doctest was not found"; fi

# Python itself is not instrumented: the run-times have to be there before it starts.
.PHONY: sanitized-python
sanitized-python: build .venv/stamp-test
	@export LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)"; \
	PYTHONPATH=$(CURDIR)/$(BUILD)/python $(venv) -m pytest -q -n $(PYTEST_JOBS) -p no:cacheprovider $(SANITIZED)

# ---- running ----------------------------------------------------------------------------------

.PHONY: demo
demo: build .venv/stamp-demo ## Train a small GPT on text and let it write
	@$(run) -m examples.gpt $(ARGS)

.PHONY: bench
bench: build .venv/stamp-bench ## Benchmarks, ARGS=FAMILY… for some of them
	@$(run) -m benchmarks $(ARGS)

# ---- style ------------------------------------------------------------------------------------

cpp_files = $(shell git ls-files '*.h' '*.cpp' '*.cu' '*.cuh' '*.metal')
cmake_files = $(shell git ls-files 'CMakeLists.txt' '*/CMakeLists.txt' '*.cmake')

.PHONY: lint
lint: .venv/stamp-lint build ## ruff, clang-format, mypy, codespell, structure, stubs
	@$(run) tools/lint.py

.PHONY: format
format: .venv/stamp-lint ## Rewrite all sources in the project's format
	@ruff check -q --fix-only .
	@ruff format -q .
	@$(if $(cpp_files),clang-format -i $(cpp_files))
	@$(if $(cmake_files),gersemi -q -i $(cmake_files))

.PHONY: clean
clean: ## Remove build trees and wheels (.venv stays; rm -r .venv for that)
	@rm -rf build dist

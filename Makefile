# make run    builds gpuvet and runs it; installs the packages that are missing
# make test   everything that a change must pass; the same as .ci/run
SHELL := /bin/bash
JOBS ?= $(shell nproc)
SECONDS_EACH := $(or $(SECONDS),60)
PREFIX ?= /usr/local
RELEASE := build/release/gpuvet
SAMPLE := scan tests/inputs/sample.so --gpu T4 --gpu A100 --gpu H100 --gpu "RTX 5090"
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export CTEST_PARALLEL_LEVEL := $(JOBS)

.PHONY: run build test test-real bench fuzz check-format format install dist clean
.DEFAULT_GOAL := run

# Arguments go through the shell: make run ARGS='scan app --gpu "RTX 5090"'. Without any: the doctor, then
# a sample. Neither a fault of this machine nor a GPU that the sample does not run on is an error here.
run: build
	$(if $(ARGS),$(RELEASE) $(ARGS),$(RELEASE) || [ $$? -ne 2 ])
	$(if $(ARGS),,@echo; echo "gpuvet $(subst ",\",$(SAMPLE))"; $(RELEASE) $(SAMPLE) || [ $$? -eq 1 ])

build:
	@tools/install-packages build
	@mkdir -p build; cmake --preset release -Wno-dev > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release --target gpuvet

test:
	@tools/install-packages test
	@$(MAKE) --no-print-directory check-format
	@tools/test-presets

# Tests on real wheels from PyPI: downloads gigabytes.
test-real: build
	python3 tests/real/pick_agreement.py --gpuvet $(RELEASE)
	python3 tests/real/run.py --gpuvet $(RELEASE) $(ARGS)
	python3 tests/real/arch/run.py --gpuvet $(RELEASE)

bench: build
	cmake --build --preset release
	python3 bench/run.py --build build/release $(ARGS)

fuzz:
	@tools/install-packages test
	cmake --preset fuzz && cmake --build --preset fuzz
	@tools/fuzz build/fuzz $(SECONDS_EACH)

check-format:
	@tools/format check

format:
	@tools/format fix

install: build
	cmake --install build/release --prefix "$(DESTDIR)$(PREFIX)"

# One folder that can be copied anywhere.
dist: build
	rm -rf build/dist
	cmake --install build/release --prefix build/dist/gpuvet
	python3 tests/release_binary.py --build build/release
	tar -C build/dist -czf build/dist/gpuvet.tar.gz gpuvet

clean:
	rm -rf build

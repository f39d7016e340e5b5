#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes build/mpich, where tests/python/test_mpich.py looks: the MPICH wheel twice, with libnuice and mpi4py for MPICH's own handles
# (native) and for the ABI of MPI 5 (abi; mpi4py is compiled with mpicc_abi). Nothing of it is in .venv but nuice, which is shared.
# usage: tools/mpich.sh            (called by make test-mpich, after make build; quick when there is nothing to do)
set -euo pipefail
cd "$(dirname "$0")/.."
export PIP_DISABLE_PIP_VERSION_CHECK=1
mpich=mpich==5.0.2
mpi4py=$(grep '^mpi4py==' requirements-dev.txt)
shared=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

for kind in native abi; do
  venv=$PWD/build/mpich/venv-$kind
  suffix=$([ "$kind" = native ] || echo _abi)
  [ -x "$venv/bin/python" ] || .venv/bin/python -m venv "$venv"
  python=$venv/bin/python
  "$python" -m pip install --quiet "$mpich"
  # As a wheel mpi4py is for MPICH and Open MPI; what is installed with other compilers stays.
  if ! "$python" -c 'import mpi4py' 2>/dev/null; then
    if [ "$kind" = abi ]; then
      CFLAGS=-O0 PATH=$venv/bin:$PATH MPICC=$venv/bin/mpicc_abi "$python" -m pip install --quiet --no-cache-dir --no-binary mpi4py "$mpi4py"
    else
      "$python" -m pip install --quiet "$mpi4py"
    fi
  fi
  echo "import site; site.addsitedir('$shared')" >"$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/nuice_shared.pth"
  # Unoptimised, as it is whether it works that is tested: half of the time.
  cmake -S . -B "build/mpich/$kind" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DNUICE_BUILD_MPI=ON -DNUICE_BUILD_TESTS=OFF \
    -DNUICE_BUILD_TOOLS=OFF -DMPI_CXX_COMPILER="$venv/bin/mpicxx$suffix" -DMPIEXEC_EXECUTABLE="$venv/bin/mpiexec" >"build/mpich/$kind.log"
  cmake --build "build/mpich/$kind"
  cmake --install "build/mpich/$kind" --prefix "$venv" >/dev/null
done

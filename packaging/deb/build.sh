#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes libnuice1, libnuice-dev and nuice-tools for the system's Open MPI, in build/deb; where its PETSc is (petsc-dev) libnuice-petsc too.
# usage: packaging/deb/build.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
petsc=OFF
if pkg-config --exists PETSc; then petsc=ON; fi
cmake -S . -B build/deb -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DNUICE_WERROR=ON \
  -DNUICE_BUILD_MPI=ON -DNUICE_BUILD_TOOLS=ON -DNUICE_BUILD_AM=ON -DNUICE_BUILD_PETSC=$petsc -DMPI_CXX_COMPILER=/usr/bin/mpicxx.openmpi
cmake --build build/deb
cd build/deb
rm -f ./*.deb
cpack -G DEB
ls -l ./*.deb

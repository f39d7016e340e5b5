#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds MPICH's tests of messages, collectives and topologies with Debian's Open MPI, for suites.py. Those of calls that it lacks are left out.
#
# usage: build_mpich_tests.sh SOURCE/test/mpi BUILD
set -euo pipefail
source=$(cd "$1" && pwd)
mkdir -p "$2"
cd "$2"
command -v mpifort.openmpi >/dev/null || { echo "Debian's Open MPI is missing: apt-get install libopenmpi-dev gfortran" >&2; exit 2; }
fortran=-fallow-argument-mismatch  # the tests pass buffers of all types to one routine
if [ ! -f Makefile ]; then
  "$source/configure" --with-mpi=/usr --disable-cxx --enable-strictmpi --disable-dependency-tracking MPICC=mpicc.openmpi CC=mpicc.openmpi \
    MPIF77=mpif77.openmpi F77=mpif77.openmpi MPIFC=mpifort.openmpi FC=mpifort.openmpi FFLAGS=$fortran FCFLAGS=$fortran >configure.log
fi
make -C util >util.log 2>&1
mpifort.openmpi -w -c "$source/util/mtest_f08.f90" -J util -o util/mtest_f08.o
for folder in coll topo pt2pt f77/coll f08/coll; do
  list=$source/$folder/testlist
  [ -f "$list" ] || list=$folder/testlist  # made by configure
  # Open MPI has declarations of MPI 1 only if asked; the tests of neighbourhoods count as not strict.
  grep -vE '^#|^$' "$list" | awk '{print $1}' | sort -u | xargs make --keep-going -C "$folder" \
    CFLAGS="-O1 -w -DOMPI_OMIT_MPI1_COMPAT_DECLS=0 -DTEST_NEIGHB_COLL=1" FCFLAGS="-w $fortran" \
    LIBS="$([ "$folder" != f08/coll ] || echo "$PWD/util/mtest_f08.o")" >"build-${folder%%/*}.log" 2>&1 || true
done

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the packages of build.sh with an MPI into a bare root, made by debootstrap, and builds and runs the heat equation there
# in C, C++ and Fortran, by one command each, and in Python, for which one command compiles nuice with the library of the packages:
# all must print the same sum. Where libnuice-petsc is there, a Poisson problem by petsc4py must give the same digits by the types nuice
# and basic. As root; needs debootstrap, Debian's mirror and PyPI.
# usage: packaging/deb/prove.sh [ROOT]     default build/deb/root
set -euo pipefail
cd "$(dirname "$0")/../.."
root=${1:-$PWD/build/deb/root}
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1 || true)
if [ ! -e "$root/etc/debian_version" ]; then
  debootstrap --variant=minbase "$suite" "$root" "${mirror:-http://deb.debian.org/debian}" >/dev/null
fi
mkdir -p "$root/nuice" && rm -rf "$root/nuice"/*
cp build/deb/*.deb "$root/nuice/"
cp -r examples/heat tests/petsc/use_petsc4py.py "$root/nuice/"
mkdir "$root/nuice/source"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$root/nuice/source"
# This machine's certificates, for networks that have their own.
cp /etc/ssl/certs/ca-certificates.crt "$root/nuice/"
# shellcheck disable=SC2016  # it is expanded inside
chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root PIP_CERT=/nuice/ca-certificates.crt sh -euc '
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq --no-install-recommends /nuice/*.deb g++ gfortran openmpi-bin pkg-config cmake python3-dev python3-venv >/dev/null
  cd /nuice
  mpicc -std=c99 heat/c/heat.c $(pkg-config --cflags --libs nuice) -o heat_c
  mpifort $(pkg-config --variable=fortran nuice) heat/fortran/grid.f90 heat/fortran/heat.f90 $(pkg-config --libs nuice) -o heat_fortran
  mpicxx -std=c++20 heat/cxx/heat.cpp $(pkg-config --cflags --libs nuice-cxx) -o heat_cxx
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  for program in heat_c heat_fortran heat_cxx; do
    printf "%s: " $program
    mpiexec --oversubscribe -n 4 ./$program | tee $program.out
  done
  python3 -m venv --clear venv
  venv/bin/pip install --quiet --config-settings=cmake.define.NUICE_PREBUILT=/usr "./source[mpi]"
  for program in heat heat_mpi; do
    printf "%s.py: " $program
    mpiexec --oversubscribe -n 4 venv/bin/python heat/python/$program.py | tee $program.out
  done
  venv/bin/python -c "import nuice.mpi as m; print(\"nuice.mpi for\", m.mpi_name, \"from\", m.library_path)"
  for program in heat_fortran heat_cxx heat heat_mpi; do cmp heat_c.out $program.out; done
  if dpkg-query -W libnuice-petsc >/dev/null 2>&1; then
    apt-get install -y -qq --no-install-recommends python3-petsc4py >/dev/null
    PETSC_DIR=$(ls -d /usr/lib/petscdir/petsc3*/*-real) # which petsc-dev would choose
    export PETSC_DIR
    load="-dll_append $(dpkg -L libnuice-petsc | grep "libnuice_petsc.so$")"
    for type in basic nuice; do
      mpiexec --oversubscribe -n 3 python3 use_petsc4py.py $load -sf_type $type -sf_nuice_scheduler coloring -sf_nuice_plan_at 1 \
        -options_left no >petsc_$type.out
      cat petsc_$type.out
    done
    test "$(cut -d " " -f 1 petsc_nuice.out | sort -u)" = nuice
    test "$(cut -d " " -f 2- petsc_nuice.out)" = "$(cut -d " " -f 2- petsc_basic.out)"
    echo "the same digits by types nuice and basic"
  fi
'
echo "the same sum in all four languages"

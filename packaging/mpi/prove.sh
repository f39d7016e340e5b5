#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# NUICE with the MPIs of a Debian release, in a bare root made by debootstrap: for each of MPICH and Open MPI the library is built, and
# the Fortran module's tests (mpif.h, mpi, mpi_f08) and the heat equation in C and Fortran run with it. Where that MPICH has the ABI of MPI 5,
# one more build by its compiler is tested in C under MPICH, and under Open MPI without compiling anything again.
# As root; needs debootstrap and Debian's mirror. Ranks of MPICH do not yield the core: some minutes.
# usage: packaging/mpi/prove.sh [SUITE] [WHAT]...      default sid; WHAT: mpich openmpi abi, default all
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=${1:-sid}
if [ $# -gt 0 ]; then shift; fi
if [ $# = 0 ]; then set -- mpich openmpi abi; fi
root=$PWD/build/mpi/$suite
if [ ! -e "$root/.complete" ]; then
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase "$suite" "$root" http://deb.debian.org/debian >/dev/null
  touch "$root/.complete"
fi
mkdir -p "$root/source" "$root/build"
rm -rf "$root/source"/*
git ls-files -z CMakeLists.txt cmake src include data examples tests/consumer tests/fortran tests/capi LICENSE |
  tar --create --null --files-from=- | tar --extract --directory "$root/source"

cat >"$root/build/prove.sh" <<'PROGRAM'
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get install -y -qq --no-install-recommends cmake ninja-build g++ gfortran pkg-config mpich libmpich-dev openmpi-bin libopenmpi-dev \
  zlib1g-dev libfmt-dev nlohmann-json3-dev libtomlplusplus-dev >/dev/null
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_btl=^ofi OMPI_MCA_pml=ob1
sum=37730.960018

fortran() { # MPI
  cmake -D SOURCE=/source -D SCRATCH=/build/$1 -D HEAT_SUM=$sum -D MPI=$1 -P /source/tests/consumer/fortran.cmake
  echo "$1: mpif.h, mpi and mpi_f08 on 1, 2 and 4 ranks, the heat equation in C and Fortran on 1, 4 and 6: $(version_of $1)"
}
version_of() { dpkg-query -W -f '${Package} ${Version}' "$([ $1 = mpich ] && echo mpich || echo openmpi-bin)"; }

# One build for all MPIs that have the ABI: only the library that libmpi_abi.so.1 is found in changes.
abi() {
  if ! ls /usr/lib/*/libmpi_abi_mpich.so.1.0.0 >/dev/null 2>&1; then
    echo "abi: MPICH has no ABI of MPI 5 here"
    return
  fi
  # Debian's mpicc_abi leads to whatever mpicc is, and its libmpi_abi.so is missing.
  mkdir -p /build/bin /build/link
  ln -sf /usr/lib/*/libmpi_abi_mpich.so.1.0.0 /build/link/libmpi_abi.so
  for language in mpicc=gcc mpicxx=g++; do
    words="${language#*=} -DMPI_ABI -I$(ls -d /usr/lib/*/mpich/include)"
    printf '#!/bin/sh\ncase "$1" in -show) echo %s -L/build/link -lmpi_abi ;; -showme*) exit 1 ;; *) exec %s "$@" -L/build/link -lmpi_abi ;; esac\n' \
      "$words" "$words" >/build/bin/${language%=*}_abi
    chmod +x /build/bin/${language%=*}_abi
  done
  cmake -S /source -B /build/abi -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DNUICE_BUILD_MPI=ON -DNUICE_BUILD_TESTS=OFF \
    -DNUICE_BUILD_TOOLS=OFF -DNUICE_BUILD_AM=OFF -DMPI_CXX_COMPILER=/build/bin/mpicxx_abi >/build/abi.log
  cmake --build /build/abi --target nuice_c >>/build/abi.log
  for component in lib c; do cmake --install /build/abi --component $component --prefix /build/abi-prefix >/dev/null; done
  export PKG_CONFIG_PATH=/build/abi-prefix/lib/pkgconfig
  options="$(pkg-config --cflags --libs nuice) -Wl,-rpath,/build/abi-prefix/lib"
  version=$(sed -n 's/^project(nuice VERSION \([0-9.]*\).*/\1/p' /source/CMakeLists.txt)
  cd /source/tests/capi
  /build/bin/mpicc_abi -std=c99 -D_POSIX_C_SOURCE=200809L "-DNUICE_EXPECTED_VERSION=\"$version\"" -I. exchange_test.c errors_test.c \
    halo_test.c planner_test.c $options -lpthread -o /build/capi_test
  /build/bin/mpicc_abi -std=c99 /source/examples/heat/c/heat.c $options -o /build/heat_abi
  test "$(readelf -d /build/abi-prefix/lib/libnuice.so | grep -c 'NEEDED.*libmpi')" = 1
  readelf -d /build/abi-prefix/lib/libnuice.so | grep -q 'NEEDED.*libmpi_abi.so.1'
  for mpi in mpich openmpi; do
    library=$(ls /usr/lib/*/libmpi_abi_$mpi.so.1.0.0)
    mkdir -p /build/abi-$mpi && ln -sf $library /build/abi-$mpi/libmpi_abi.so.1
    for ranks in 1 2 4; do LD_LIBRARY_PATH=/build/abi-$mpi mpiexec.$mpi -n $ranks /build/capi_test; done
    LD_LIBRARY_PATH=/build/abi-$mpi mpiexec.$mpi -n 4 /build/heat_abi | tee /build/out
    grep -q "$sum" /build/out
    echo "abi, compiled with MPICH, under $(version_of $mpi) ($library): C tests on 1, 2 and 4 ranks, heat equation on 4"
  done
}

for what in "$@"; do
  case $what in abi) abi ;; *) fortran $what ;; esac
done
PROGRAM

# In a mount namespace of its own, which goes with it.
# shellcheck disable=SC2016  # it is expanded inside
unshare --mount sh -euc '
  root=$1; shift
  mount --make-rprivate /
  mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  exec chroot "$root" sh /build/prove.sh "$@"
' sh "$root" "$@"

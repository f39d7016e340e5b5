#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the image from the Dockerfile, by buildah, and that of nuice.def, by Apptainer, and runs in each the heat equation in C, C++,
# Fortran and Python beside the plain-MPI twins, on 4 ranks: all must print the same sum. The base image is a Debian 12 made by debootstrap
# (with ccache, so that the second image compiles little), as no registry need be reached. Apptainer comes from Debian's unstable branch, in a
# root of its own. As root; needs debootstrap, Debian's mirror and PyPI; installs buildah and debootstrap.
# usage: packaging/containers/prove.sh [docker] [apptainer]        default both
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$PWD/build/containers
mirror=http://deb.debian.org/debian
mkdir -p "$work/ccache"
for program in buildah debootstrap; do command -v "$program" >/dev/null || apt-get install -y -qq "$program" >/dev/null; done
if [ ! -e "$work/base/.complete" ]; then
  rm -rf "$work/base"
  debootstrap --variant=minbase --include=ccache bookworm "$work/base" "$mirror" >/dev/null
  touch "$work/base/.complete"
fi
# What belongs to a kernel; and where both builds have the compiler's cache.
cache=/var/cache/ccache
rm -rf "$work/base/dev"/*
mkdir -p "$work/base$cache"
echo "cache_dir = $cache" >"$work/base/etc/ccache.conf"
# This machine's certificates, for networks that have their own.
mkdir -p "$work/base/etc/ssl"
cp /etc/ssl/certs/ca-certificates.crt "$work/base/etc/ssl/of-this-machine.crt"
printf '[global]\ncert = /etc/ssl/of-this-machine.crt\n' >"$work/base/etc/pip.conf"
# As a clean checkout has them, in today's text.
rm -rf "$work/source" && mkdir "$work/source"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$work/source"

# What runs in either image.
cat >"$work/examples.sh" <<'PROGRAM'
set -eu
cd "$(mktemp -d)"
heat=/opt/nuice/examples/heat
export MPIEXEC="mpiexec --oversubscribe -n 4" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpicc -std=c99 $heat/c/heat.c $(pkg-config --cflags --libs nuice) -o heat_c
mpicc -std=c99 $heat/c/heat_mpi.c -o heat_c_mpi
mpicxx -std=c++20 $heat/cxx/heat.cpp $(pkg-config --cflags --libs nuice-cxx) -o heat_cxx
mpicxx -std=c++20 $heat/cxx/heat_mpi.cpp -o heat_cxx_mpi
mpifort $(pkg-config --variable=fortran nuice) $heat/fortran/grid.f90 $heat/fortran/heat.f90 $(pkg-config --libs nuice) -o heat_fortran
mpifort $heat/fortran/grid.f90 $heat/fortran/heat_mpi.f90 -o heat_fortran_mpi
for program in ./heat_c ./heat_c_mpi ./heat_cxx ./heat_cxx_mpi ./heat_fortran ./heat_fortran_mpi \
  "python3 $heat/python/heat.py" "python3 $heat/python/heat_mpi.py"; do
  $MPIEXEC $program >out
  echo "$(id -un), $program: $(cat out)"
  cat out >>all
done
test "$(sort -u all | wc -l)" = 1
nuice list >/dev/null
python3 -c 'import nuice.mpi as m; print("nuice.mpi for", m.mpi_name, "from", m.library_path)'
PROGRAM

docker() {
  local container
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$work/base" / >/dev/null
  buildah config --cmd bash "$container"
  buildah commit --quiet --rm "$container" nuice-base >/dev/null
  buildah bud --layers --isolation chroot --build-arg BASE=localhost/nuice-base --volume "$work/ccache:$cache" \
    --file packaging/containers/Dockerfile --tag nuice "$work/source"
  container=$(buildah from localhost/nuice)
  buildah run --isolation chroot --volume "$work/examples.sh:/examples.sh:ro" "$container" sh /examples.sh
  buildah rm "$container" >/dev/null
}

# Apptainer, in a root of its own, and in a mount namespace that goes with it. The image is built in a user namespace, where root has every
# capability (not everywhere has root them all), and used by a user who is not root, from a folder, as FUSE may be root's only.
apptainer() {
  local root=$work/apptainer
  if [ ! -e "$root/.complete" ]; then
    rm -rf "$root"
    debootstrap --variant=minbase --include=apptainer sid "$root" "$mirror" >/dev/null
    chroot "$root" useradd --create-home tester
    touch "$root/.complete"
  fi
  mkdir -p "$root/host" "$work/image"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  # shellcheck disable=SC2016  # it is expanded inside
  env -i PATH="$PATH:/usr/sbin:/sbin" unshare --mount sh -euc '
    mount --make-rprivate / && mount --bind "$1" "$1" && cd "$1"
    mount -t proc proc proc && mount --rbind /sys sys && mount --rbind /dev dev && mount --bind "$2" mnt
    pivot_root . host
    exec chroot . sh -euc "
      umount -l /host && cd /mnt/source
      unshare --user --map-users=0,0,65536 --map-groups=0,0,65536 --setuid 0 --setgid 0 apptainer build --force \
        --build-arg bootstrap=localimage --build-arg from=/mnt/base --bind /mnt/ccache:$3 \
        /mnt/image/nuice.sif packaging/containers/nuice.def
      cd /tmp && export HOME=/home/tester
      setpriv --reuid=tester --regid=tester --clear-groups apptainer exec --unsquash --bind /mnt/examples.sh:/examples.sh \
        /mnt/image/nuice.sif sh /examples.sh
    "
  ' sh "$root" "$work" "$cache"
}

if [ $# = 0 ]; then set -- docker apptainer; fi
for way in "$@"; do "$way"; done
echo "the same sum in all"

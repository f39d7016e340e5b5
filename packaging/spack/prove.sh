#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Proves the recipe with a Spack of yours: audit, style, the concretizer, and an install of the working tree's HEAD, whose C example runs
# on 4 ranks. Debian's Open MPI and libraries are taken as they are (externals), so that nothing but nuice is built; nothing is
# written outside build/spack. With MPI and the library; the concretizer also sees +ucx+python and ~mpi.
# usage: packaging/spack/prove.sh SPACK SPACK_PACKAGES      checkouts of spack (1.0 or later) and of spack-packages
#   SPACK_MIRROR: a folder as `spack mirror create` makes it with the source of compiler-wrapper, where Spack cannot fetch that
#   SPACK_PYTHON: a Python with the package clingo, where Spack cannot fetch one; with flake8 the style is looked at too
set -euo pipefail
cd "$(dirname "$0")/../.."
spack=$(realpath "$1")/bin/spack
builtin=$(realpath "$2")/repos/spack_repo/builtin
work=$PWD/build/spack
rm -rf "$work/config" "$work/repo"
recipe=$work/repo/spack_repo/nuice_proof/packages/nuice
mkdir -p "$work/config" "$recipe"
export SPACK_USER_CONFIG_PATH=$work/config SPACK_SYSTEM_CONFIG_PATH=$work/none SPACK_USER_CACHE_PATH=$work/cache

version=$(sed -n 's/^project(nuice VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
archive=$work/nuice-$version.tar.gz
git archive --prefix="nuice-$version/" -o "$archive" HEAD
sed -e "s|url = .*|url = \"file://$archive\"|" \
  -e "s|# version(.*|version(\"$version\", sha256=\"$(sha256sum "$archive" | cut -d' ' -f1)\")|" packaging/spack/package.py >"$recipe/package.py"
printf 'repo:\n  namespace: nuice_proof\n  api: v2.0\n' >"$work/repo/spack_repo/nuice_proof/repo.yaml"

debian() { dpkg-query -W -f '${Version}' "$1" | sed -E 's/^[0-9]+://; s/^([0-9]+(\.[0-9]+)*).*/\1/'; }
external() { printf '  %s:\n    buildable: false\n    externals:\n    - {spec: "%s@%s%s", prefix: /usr}\n' "$1" "$1" "$(debian "$2")" "${3:-}"; }
gcc=$(gcc -dumpfullversion)
{
  printf 'packages:\n'
  external cmake cmake; external ninja ninja-build; external gmake make; external pkgconf pkg-config
  external openmpi libopenmpi-dev; external ucx libucx-dev; external zlib zlib1g-dev; external fmt libfmt-dev
  external nlohmann-json nlohmann-json3-dev; external tomlplusplus libtomlplusplus-dev; external cli11 libcli11-dev
  external metis libmetis-dev; external fftw libfftw3-dev '~mpi'; external random123 librandom123-dev
  printf '  gcc:\n    buildable: false\n    externals:\n    - spec: "gcc@%s languages:='"'c,c++,fortran'"'"\n      prefix: /usr\n' "$gcc"
  printf '      extra_attributes: {compilers: {c: /usr/bin/gcc, cxx: /usr/bin/g++, fortran: /usr/bin/gfortran}}\n'
  printf '  mpi: {require: openmpi}\n  zlib-api: {require: zlib}\n'
} >"$work/config/packages.yaml"
printf 'repos::\n  nuice_proof: %s\n  builtin: %s\n' "$work/repo/spack_repo/nuice_proof" "$builtin" >"$work/config/repos.yaml"
printf 'config:\n  install_tree: {root: %s}\n  build_stage: %s\n  build_jobs: %s\n' "$work/tree" "$work/stage" "${JOBS:-$(nproc)}" >"$work/config/config.yaml"

"$spack" audit packages nuice
if "${SPACK_PYTHON:-python3}" -c 'import flake8' 2>/dev/null; then
  "${SPACK_PYTHON:-python3}" -m flake8 --max-line-length 99 --extend-ignore F403,F405 packaging/spack/package.py
fi
for spec in 'nuice' 'nuice~mpi' 'nuice+ucx+python'; do
  "$spack" spec "$spec" >"$work/spec.txt" || { cat "$work/spec.txt"; exit 1; }
  echo "concretized $spec: $(grep -c '@' "$work/spec.txt") packages"
done
spec=${SPACK_SPEC:-nuice~tools}  # the library
if [ -n "${SPACK_MIRROR:-}" ]; then printf 'mirrors:\n  here: "file://%s"\n' "$SPACK_MIRROR" >"$work/config/mirrors.yaml"; fi
"$spack" install --no-cache "$spec"
prefix=$("$spack" location --install-dir "$spec")
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046  # flags are words
mpicc.openmpi -std=c99 examples/heat/c/heat.c $(pkg-config --cflags --libs nuice) -Wl,-rpath,"$prefix/lib" -o "$work/heat"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpiexec.openmpi --oversubscribe -n 4 "$work/heat"

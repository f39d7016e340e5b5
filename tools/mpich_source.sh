#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# MPICH's sources, whose tests are run (make test-suites), from Debian's archive into a folder: mpich_source.sh DIR. Does nothing where they are.
# apt has lists of its own for it, so that the machine's sources stay as they are. Prints the folder.
set -euo pipefail
dir=$(mkdir -p "$1" && cd "$1" && pwd)
if ! compgen -G "$dir/mpich-*/test/mpi/coll" >/dev/null; then
  mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache"
  # shellcheck source=/dev/null
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $release main" >"$dir/apt/sources.list"
  options=(-o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$dir/apt/lists"
    -o Dir::Cache="$dir/apt/cache" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" -qq update >&2
  (cd "$dir" && apt-get "${options[@]}" -qq --download-only source mpich >&2 && mkdir -p unpacked && tar xf mpich_*.orig.tar.* -C unpacked)
  mv "$dir"/unpacked/* "$dir"/mpich-source
fi
echo "$dir"/mpich-*

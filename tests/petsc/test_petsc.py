# SPDX-License-Identifier: BSD-3-Clause
"""The PetscSF type nuice in real programs, unmodified, with the same results as with type basic.

Programs: ours, PETSc's own tests and tutorials, petsc4py, DOLFINx. `make test-petsc` builds what this needs
and starts it; otherwise all of it is skipped.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("NUICE_PETSC_BUILD", ROOT / "build" / "petsc")).absolute()
LIBRARY = BUILD / "src" / "petsc" / "libnuice_petsc.so"
OWN_TEST = BUILD / "tests" / "petsc" / "petsc_sf_test"
DEVICE_TEST = BUILD / "tests" / "petsc" / "petsc_device_sf_test"
EXAMPLES = Path(os.environ.get("NUICE_PETSC_EXAMPLES", ROOT / "build" / "petsc-examples")).absolute()
DEBIAN_PYTHON = "/usr/bin/python3"

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="no libnuice_petsc.so: make test-petsc")

LOAD = ["-dll_append", str(LIBRARY)]
# Every exchange by a plan, from the first on: on one host nothing would be planned otherwise.
PLANNED = [*LOAD, "-sf_type", "nuice", "-sf_nuice_scheduler", "coloring", "-sf_nuice_plan_at", "1"]
BASIC = [*LOAD, "-sf_type", "basic"]


def start(ranks, *words, environment=(), timeout=240):
    """A program of Debian's Open MPI."""
    settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    settings |= {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    settings["OMPI_MCA_pml"] = "ob1"  # what it takes on one machine, without looking for fabrics first
    command = ["/usr/bin/mpiexec", "-n", str(ranks), *map(str, words)]
    return subprocess.run(
        command,
        env=dict(os.environ) | settings | dict(environment),
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )


def said(ranks, *words, **settings):
    """What a program printed; it must end well."""
    done = start(ranks, *words, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


WAYS = {
    "by basic": "",
    "coloring": "-sf_nuice_scheduler coloring -sf_nuice_plan_at 1",
    "notices": "-sf_nuice_scheduler rs_nh -sf_nuice_executor depend -sf_nuice_plan_at 1",
    "few at a time": "-sf_nuice_scheduler lpt -sf_nuice_executor async -sf_nuice_options 'async.max_sends=2'",
    "at once": "-sf_nuice_executor async -sf_nuice_plan_at 2",
    "pairwise": "-sf_nuice_scheduler lp -sf_nuice_executor pairwise",
    "forwarded": "-sf_nuice_scheduler bruck -sf_nuice_options hosts=1 -sf_nuice_plan_at 1",
}


SLOW = pytest.mark.slow


@pytest.mark.parametrize("ranks", [1, 2, pytest.param(3, marks=SLOW), 4, pytest.param(8, marks=SLOW)])
@pytest.mark.parametrize("way", ["by basic", "coloring"])
def test_random_forests_on_any_number_of_ranks(way, ranks):
    assert "all right" in said(ranks, OWN_TEST, *LOAD, *shlex.split(WAYS[way]))


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("by basic", "coloring")])
def test_random_forests_by_other_ways(way):
    printed = said(4, OWN_TEST, *LOAD, *shlex.split(WAYS[way]), "-sf_view")
    assert "all right" in printed
    assert "planned" in printed


ON_A_DEVICE = {
    "staged": ("-sf_nuice_scheduler coloring -sf_nuice_plan_at 1", "device: staged: through pinned memory"),
    "direct": ("-sf_nuice_options device=direct -sf_nuice_plan_at 1", "device: direct: MPI reads and writes"),
    "compared": ("-sf_nuice_compare -sf_nuice_scheduler coloring -sf_nuice_plan_at 2", "device: staged: "),
    "by basic": ("", "by basic: "),
}


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("way", ON_A_DEVICE)
def test_data_on_a_device_is_carried_as_on_the_host(way, ranks):
    words, told = ON_A_DEVICE[way]
    printed = said(ranks, DEVICE_TEST, *LOAD, *shlex.split(words), "-sf_view")
    assert "all right" in printed
    assert ("by basic: there is one rank" if ranks == 1 else told) in printed


def test_a_view_says_what_was_planned_and_what_was_not():
    printed = said(4, OWN_TEST, *LOAD, *shlex.split(WAYS["notices"]), "-sf_view")
    assert re.search(r"scheduler rs_nh, executor depend: \d+ phases \(least possible: \d+\)", printed)
    assert re.search(r"set up in \d+\.\d+ ms", printed)
    assert "by basic: all ranks share memory" in said(4, OWN_TEST, *LOAD, "-sf_view")


@pytest.fixture(scope="module")
def slow_plans(tmp_path_factory):
    """To be preloaded: every exchange by a plan takes 30 ms longer."""
    folder = tmp_path_factory.mktemp("slow")
    (folder / "slow.c").write_text(
        "#include <dlfcn.h>\n#include <unistd.h>\n"
        "int nuice_exchange_wait(void* exchange) {\n"
        '  void* nuice = dlopen("libnuice.so.1", RTLD_LAZY | RTLD_NOLOAD);\n'
        "  usleep(30000);\n"
        '  return ((int (*)(void*))dlsym(nuice, "nuice_exchange_wait"))(exchange);\n}\n'
    )
    command = ["cc", "-shared", "-fPIC", folder / "slow.c", "-o", folder / "slow.so"]
    subprocess.run(command, check=True)
    return folder / "slow.so"


@pytest.mark.parametrize("kept", ["the plan", "basic"])
@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=SLOW), pytest.param(7, marks=SLOW)])
def test_the_faster_of_basic_and_plan_is_kept(slow_plans, kept, ranks):
    words = ["-sf_view", "-sf_nuice_scheduler", "coloring", "-sf_nuice_compare", "-sf_nuice_plan_at", "1"]
    if kept == "basic":  # so often that it stands in the table of functions afterwards
        slow = {"LD_PRELOAD": str(slow_plans)}
        printed = said(ranks, OWN_TEST, *LOAD, *words, "-trials", "160", environment=slow)
    else:
        printed = said(ranks, OWN_TEST, *LOAD, *words, "-trials", "40", "-slow_basic", "0.03")
    assert "all right" in printed
    tried = re.findall(r"(broadcasts|reductions) of 8 bytes, timed in (.*) rounds: (.*)", printed)
    assert len(tried) >= 6, printed  # both directions of three forests
    for _, _, words in tried:
        took = re.fullmatch(r"basic (\S+) ms, plan (\S+) ms: (the plan|basic) is kept(.*)", words)
        assert took, words
        assert took[3] == kept
        assert (float(took[1]) > float(took[2])) == (kept == "the plan")
        pays_off = re.fullmatch(r"; its set-up pays off after \d+ exchanges", took[4])
        assert bool(pays_off) == (kept == "the plan")


def test_results_are_right_while_basic_and_plan_take_turns():
    words = ["-trials", "160", "-sf_view", "-sf_nuice_executor", "phased", "-sf_nuice_compare"]
    printed = said(3, OWN_TEST, *LOAD, *words)
    assert "all right" in printed
    assert "timed in" in printed


def test_whoever_names_a_way_gets_it_untried():
    printed = said(2, OWN_TEST, *LOAD, "-trials", "40", *shlex.split(WAYS["pairwise"]), "-sf_view")
    assert "all right" in printed
    assert "executor pairwise" in printed
    assert "timed in" not in printed


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """Compiles one of PETSc's examples: example("vec/is/sf/tests/ex4")."""
    folder = tmp_path_factory.mktemp("petsc")
    if not (EXAMPLES / ".fetched").exists():
        pytest.skip("PETSc's examples are not here: make test-petsc fetches them")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "PETSc"], capture_output=True, text=True)

    def compile_it(name):
        program = folder / name.replace("/", "_")
        if not program.exists():
            source = EXAMPLES / "src" / f"{name}.c"
            command = ["/usr/bin/mpicc", "-w", source, *flags.stdout.split(), "-lm", "-o", program]
            subprocess.run(command, check=True, capture_output=True)
        return program

    return compile_it


def compared(printed):
    """Without what tells the types apart, and times."""
    words = r"^\s*(type: |scatter type |nuice |units of |scheduler |set up in |why: |by basic: |MultiSF sort"
    words += r"|broadcasts of |reductions of |the plan's )"
    return [line for line in printed.splitlines() if not re.match(words, line) and "sec" not in line]


SF = "vec/is/sf"
OF_PETSC = [
    # program, ranks, arguments, as in the TEST blocks of the sources
    (f"{SF}/tests/ex1", 3, ""),
    (f"{SF}/tests/ex3", 2, "-op replace"),
    (f"{SF}/tests/ex3", 3, "-op sum"),
    (f"{SF}/tests/ex4", 1, "-sparse_sfB"),
    (f"{SF}/tests/ex5", 7, "-view -nl 5 -explicit_inverse 1"),
    (f"{SF}/tests/ex6", 2, ""),
    (f"{SF}/tests/ex7", 2, ""),
    (f"{SF}/tests/ex8", 3, ""),
    (f"{SF}/tests/ex9", 7, "-world2sub"),
    (f"{SF}/tests/ex9", 7, "-sub2sub"),
    (f"{SF}/tests/ex9", 7, "-world2subs"),
    (f"{SF}/tests/ex11", 2, ""),
    (f"{SF}/tests/ex12", 3, ""),
    (f"{SF}/tests/ex13", 3, ""),
    (f"{SF}/tests/ex14", 4, ""),
    (f"{SF}/tests/ex16", 3, "-testnum 0"),
    (f"{SF}/tests/ex16", 3, "-testnum 1"),
    (f"{SF}/tests/ex18", 3, "-nsfs 3 -n_leaves_per_rank 5 -leave_step 3 -share_roots true"),
    (
        f"{SF}/tests/ex19",
        3,
        "-n_leaves_per_rank 5 -leave_step 3 -localmode COPY_VALUES -remotemode COPY_VALUES",
    ),
    (f"{SF}/tutorials/ex1", 4, "-test_all -test_bcastop 0"),
    (f"{SF}/tutorials/ex1", 4, "-test_reduce -test_degree -test_gather -test_scatter -stride 2"),
    (f"{SF}/tutorials/ex2", 2, ""),
    (f"{SF}/tutorials/ex3", 1, ""),
    # The Laplacian, CG; of several right-hand sides; by multigrid on a 3-D grid; with Neumann conditions.
    ("ksp/ksp/tutorials/ex2", 4, "-m 40 -n 40 -ksp_type cg -pc_type jacobi -ksp_monitor"),
    ("ksp/ksp/tutorials/ex2", 3, "-m 40 -n 40 -ksp_type gmres -pc_type bjacobi -ksp_monitor"),
    ("ksp/ksp/tutorials/ex23", 3, "-n 200 -ksp_monitor -ksp_type cg"),
    ("ksp/ksp/tutorials/ex45", 4, "-da_refine 2 -pc_type mg -ksp_monitor -mg_levels_ksp_type richardson"),
    ("ksp/ksp/tutorials/ex50", 4, "-da_grid_x 20 -da_grid_y 20 -pc_type jacobi -ksp_type cg -ksp_monitor"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ranks", "arguments"), OF_PETSC)
def test_a_program_of_petscs_prints_the_same_as_with_basic(example, name, ranks, arguments):
    program, words = example(name), arguments.split()
    theirs = said(ranks, program, *words, *BASIC)
    ours = said(ranks, program, *words, *PLANNED, "-options_left", "no")
    assert compared(ours) == compared(theirs)


@pytest.mark.slow
def test_algebraic_multigrid_agrees_to_round_off(example):
    """Basic's own residuals differ in the last digits from run to run."""
    words = ["-da_grid_x", "20", "-da_grid_y", "20", "-pc_type", "gamg", "-ksp_monitor"]
    ways = [said(4, example("ksp/ksp/tutorials/ex50"), *words, *way) for way in (PLANNED, BASIC)]
    ours, theirs = ([float(norm) for norm in re.findall(r"norm (\S+)", printed)] for printed in ways)
    assert len(theirs) > 4
    assert ours == pytest.approx(theirs, rel=1e-9)


@pytest.mark.slow
def test_a_solver_exchanges_by_plans(example):
    words = ["-m", "40", "-n", "40", "-ksp_type", "cg", "-pc_type", "jacobi", "-sf_view"]
    printed = said(4, example("ksp/ksp/tutorials/ex2"), *words, *PLANNED)
    assert re.search(
        r"units of 8 bytes, \d\d+ exchanges: planned\n\s+scheduler coloring, executor phased", printed
    )


def test_python_programs_choose_it_as_others_do():
    if subprocess.run([DEBIAN_PYTHON, "-c", "import petsc4py"], capture_output=True).returncode != 0:
        pytest.skip("no python3-petsc4py")
    program = [DEBIAN_PYTHON, ROOT / "tests" / "petsc" / "use_petsc4py.py"]
    ours, theirs = said(3, *program, *PLANNED), said(3, *program, *BASIC)
    assert [line.split()[0] for line in ours.splitlines()] == ["nuice"] * 3
    assert [line.split()[1:] for line in ours.splitlines()] == [
        line.split()[1:] for line in theirs.splitlines()
    ]


def test_dolfinx_solves_its_poisson_problem():
    program = shutil.which("dolfinx-scaling-test")
    if program is None:
        pytest.skip("no fenicsx-performance-tests")
    words = ["--problem_type", "poisson", "--scaling_type", "strong", "--ndofs", "8000"]
    words += ["-ksp_type", "cg", "-pc_type", "jacobi"]
    # It hung twice, seen once in SCOTCH_dgraphPart, before PETSc exchanges anything: therefore no threads.
    alone = {"SCOTCH_PTHREAD_NUMBER": "1"}
    results = []
    for way in (PLANNED, BASIC):
        printed = said(4, program, *words, *way, "-sf_view", environment=alone)
        results.append(re.findall(r"(?:Krylov iterations|Solution norm): *(\S+)", printed))
        assert ("planned" in printed) == (way is PLANNED)
    assert len(results[0]) == 2
    assert results[0] == results[1]


@pytest.mark.parametrize("network", ["none:2", pytest.param("fast", marks=SLOW)])
def test_the_bench_compares_on_shared_memory_and_on_a_network(network):
    if network == "fast" and (os.geteuid() != 0 or shutil.which("tc") is None):
        pytest.skip("the test network needs root and iproute2")
    command = [sys.executable, ROOT / "bench" / "run.py", "petsc_sf", "--build", BUILD]
    command += ["--networks", network, "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    assert [figure["what"] for figure in figures] == ["exchange", "solve"]
    assert all(figure["right"] for figure in figures)


@pytest.mark.parametrize(
    ("ranks", "options"), [(1, ""), (3, "scheduler=coloring"), (8, "scheduler=rs_n executor=phased")]
)
def test_hypres_products_with_our_halos_are_hypres(tmp_path, ranks, options):
    """examples/hypre_halo, on all levels of BoomerAMG; hypre comes with petsc-dev."""
    folder = BUILD / "src" / "capi"
    command = ["/usr/bin/mpicc", "-O1", "-Wall", "-Werror", ROOT / "examples" / "hypre_halo" / "hypre_halo.c"]
    command += [
        "-isystem",
        "/usr/include/hypre",
        f"-I{ROOT / 'include'}",
        f"-L{folder}",
        f"-Wl,-rpath,{folder}",
    ]
    subprocess.run([*command, "-lnuice", "-lHYPRE", "-lm", "-o", tmp_path / "hypre_halo"], check=True)
    printed = said(ranks, tmp_path / "hypre_halo", "8", options)
    assert len(re.findall("^level", printed, re.MULTILINE)) >= 3
    assert "DIFFERENT" not in printed


@pytest.mark.parametrize(
    ("option", "value", "text", "code"),
    [
        ("scheduler", "nonsense", 'unknown scheduler "nonsense"', "Invalid argument"),
        ("executor", "nonsense", 'unknown executor "nonsense"', "Invalid argument"),
        ("options", "device.chunk=many", "device.chunk", "Invalid argument"),
        ("options", "auto.machine=/not/here.toml", "/not/here.toml", "Unable to open file"),
        ("options", "scheduler=rex executor=async", "rex forwards messages", "No support for this operation"),
        ("plan_at", "0", "uses are counted from 1", "Argument out of range"),
    ],
)
def test_what_cannot_be_is_an_error_of_petscs_with_our_words(option, value, text, code):
    done = start(2, OWN_TEST, *LOAD, f"-sf_nuice_{option}", value)
    assert done.returncode != 0
    assert text in done.stderr
    assert code in done.stderr


def test_who_waits_for_a_rank_that_does_not_come_says_for_whom():
    way = ["-sf_nuice_scheduler", "coloring", "-sf_nuice_plan_at", "1", "-sf_nuice_options", "watchdog=2s"]
    done = start(3, OWN_TEST, *LOAD, *way, "-rank_1_late", "60", timeout=50)
    assert done.returncode != 0
    assert "Error in external library" in done.stderr
    assert re.search(r"nuice: rank [02] gives up after .*waits for ranks? .*1", done.stderr)


def test_another_mpi_is_refused_with_both_names(tmp_path):
    """A libnuice that claims to be built with MPICH, instead of the real one."""
    source = tmp_path / "other.c"
    source.write_text('const char* nuice_mpi_name(void) { return "mpich"; }\n')
    library = tmp_path / "other.so"
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
    done = start(2, OWN_TEST, *LOAD, environment={"LD_PRELOAD": str(library)})
    assert done.returncode != 0
    assert "PETSc runs with Open MPI v4" in done.stderr
    assert "libnuice.so was built with mpich" in done.stderr

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the #include lines and the CMake files of the tree, fails on one that points outward (see docs),
and on a folder of the library with more files than a reader takes in at a glance.

usage: layering.py ROOT | layering.py --self-test
"""

import re
import sys
import tempfile
from pathlib import Path

PLANNING = {
    "core",
    "device",
    "topology",
    "machine",
    "schedulers",
    "advise",
    "mpi",
    "exchange",
    "exchange/bind",
}
EXECUTORS = {"core", "device", "mpi", "exchange", "exchange/bind", "exchange/exec"}
# Which folders of src/ (and of am/src/) a folder may include from, itself aside; folders below one that is
# not listed belong to it.
ALLOWED = {
    "core": set(),
    "device": {"core"},
    "patterns": {"core"},
    "topology": {"core"},
    "machine": {"core", "topology"},
    "schedulers": {"core"},
    "advise": {"core", "topology", "machine", "schedulers"},
    "flow": {"core"},
    "mpi": {"core"},
    "exchange": {"core"},
    "exchange/bind": {"core", "device", "mpi", "exchange"},
    "exchange/exec": {"core", "device", "mpi", "exchange", "exchange/bind"},
    "exchange/contest": {"exchange"},
    "exchange/learn": EXECUTORS | {"exchange/contest"},
    "exchange/staging": EXECUTORS,
    "exchange/shared_memory": EXECUTORS,
    "exchange/combine": EXECUTORS | {"exchange/shared_memory"},
    "exchange/choose": PLANNING | {"exchange/plan", "exchange/contest"},
    "exchange/calls": PLANNING
    | {"device", "exchange/exec", "exchange/plan", "exchange/shared_memory", "exchange/staging", "flow"},
    "exchange/plan": PLANNING
    | EXECUTORS
    | {
        "flow",
        "exchange/contest",
        "exchange/learn",
        "exchange/staging",
        "exchange/shared_memory",
        "exchange/combine",
    },
    "halo": {"core", "device", "exchange", "exchange/bind", "exchange/plan", "mpi"},
    "am": {"core"},
    "am/ucx": {"core", "am"},
    "am/mpi": {"core", "am", "am/ucx", "mpi"},
    "drs": {"core", "am"},
    "drs/mpi": {"core", "am", "am/mpi", "drs", "mpi"},
    "run": {"flow"},
    "capi": {
        "core",
        "topology",
        "machine",
        "schedulers",
        "advise",
        "mpi",
        "exchange",
        "exchange/bind",
        "exchange/plan",
        "exchange/calls",
        "halo",
    },
    "petsc": {"capi", "exchange/contest"},
}
# The layers of am/, whose folders are am/include and am/src. They may include any public header of the
# exchange library, and the library none of theirs.
AM = {"am", "am/mpi", "am/ucx", "drs", "drs/mpi"}
# The public headers that each layer owns.
HEADERS = {
    "core": {
        "core/bounds",
        "core/broadcast",
        "core/check",
        "core/check_pairs",
        "core/comm_matrix",
        "core/dependencies",
        "core/error",
        "core/executor",
        "core/hosts",
        "core/interrupt",
        "core/outcome",
        "core/phase_table",
        "core/random",
        "core/schedule",
        "core/text_io",
        "core/topology",
        "core/types",
    },
    "patterns": {"core/patterns"},
    "topology": {"core/networks"},
    "exchange": {"plan/serial_exchange"},
    "machine": {"plan/machine", "plan/machine_sections", "plan/packets", "plan/simulate"},
    "schedulers": {
        "plan/scheduler",
        "plan/broadcaster",
        "plan/paths",
        "plan/rows",
    },
    "advise": {"plan/advise"},
    "mpi": {"mpi/agree", "mpi/discover", "mpi/observer"},
    "exchange/bind": {"mpi/buffers", "mpi/exchange"},
    "exchange/plan": {
        "mpi/alltoallv",
        "mpi/exchanger",
        "mpi/options",
        "mpi/plan",
        "mpi/plan_info",
        "mpi/several",
        "mpi/sparse_alltoallv",
    },
    "halo": {"mpi/halo", "mpi/halo_field", "mpi/ownership"},
    "am": {
        "am/coalescer",
        "am/endpoint",
        "am/handler",
        "am/host_relay",
        "am/level_sync",
        "am/loopback",
        "am/port",
        "am/progress",
        "am/transport",
    },
    "am/mpi": {"mpi/am"},
    "drs": {"am/drs"},
    "drs/mpi": {"mpi/drs"},
    "capi": {"nuice.h", "nuice17"},
}
# Headers of everything; no file of src includes them.
UMBRELLAS = {"nuice", "mpi", "am"}
MPI_LAYERS = {
    "mpi",
    "exchange/bind",
    "exchange/exec",
    "exchange/calls",
    "exchange/choose",
    "exchange/combine",
    "exchange/learn",
    "exchange/shared_memory",
    "exchange/staging",
    "exchange/plan",
    "halo",
    "am/mpi",
    "drs/mpi",
    "capi",
    "run",
    "petsc",
}
# Only public headers and their own files, and of the parts next to the library what is named here.
OUTSIDE = {
    "bench": set(),
    "papers": {"bench/kit"},
    "am/bench": {"bench/kit"},
    "examples": set(),
    "python/bindings": set(),
}
PARTS = ("bench", "papers")
INSIDE = {name.split("/")[0] for name in ALLOWED} | {"src"}
# Targets whose name is not that of their layer.
TARGETS = {
    "mpi_parts": "mpi",
    "exec": "exchange/exec",
    "mpi": "exchange/plan",
    "am_mpi": "am/mpi",
    "am_ucx": "am/ucx",
    "drs_mpi": "drs/mpi",
}
LAYER_CALL = re.compile(r"nuice_layer\((\w+)\s(.*?)\)", re.S)
# What is compiled into one target: it links what all of them may include.
ONE_TARGET = {
    "exchange/exec": EXECUTORS,
    "exchange/plan": ALLOWED["exchange/plan"],
    "drs": ALLOWED["drs"] | {"exchange"},
    "drs/mpi": ALLOWED["drs/mpi"] | {"exchange"},
}

MOST_FILES = 20  # in a folder of TOPS
TOPS = ("src", "include", "am/src", "am/include")
# What the library may take from outside of src.
TAKEN_BY_CMAKE = {"data", "include", "src", "cmake"}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if match := INCLUDE.match(line):
            yield number, match.group(2)


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in {".hpp", ".cpp", ".h", ".c"})


def layer_of(folder):
    """The layer of a folder of src: itself, or the nearest one above it; None if there is none."""
    while folder and folder not in ALLOWED:
        folder = folder.rpartition("/")[0]
    return folder or None


def owner_of_header(name):
    return next((layer for layer, headers in HEADERS.items() if name in headers), None)


def wrong_target(layer, target):
    """Why `layer` may not include `target`, or None."""
    if target == "mpi.h":
        return None if layer in MPI_LAYERS else "mpi.h outside the MPI layers"
    if target.startswith("nuice/"):
        name = target.removeprefix("nuice/").removesuffix(".hpp")
        owner = owner_of_header(name)
        if owner is None:
            return f"{target} belongs to no layer (list it in tools/layering.py)"
        if layer in AM and owner not in AM and (owner not in MPI_LAYERS or layer in MPI_LAYERS):
            return None
    else:
        owner = layer_of(target.rpartition("/")[0])
        if owner is None:
            return None  # a system or third-party header
    if owner == layer or owner in ALLOWED[layer]:
        return None
    return f"{layer} may not include from {owner}"


def layer_of_target(name):
    return TARGETS.get(name, name)


def check_cmake(root):
    """The link lists of the layers, and paths that leave src."""
    for top in ("src", "am/src", *PARTS):
        for path in sorted((root / top).rglob("CMakeLists.txt")):
            yield from check_cmake_file(root, top, path)


def check_cmake_file(root, top, path):
    text = path.read_text()
    for folder in re.findall(r"\$\{PROJECT_SOURCE_DIR\}/(\w+)", text):
        if folder not in TAKEN_BY_CMAKE:
            yield f"{path.relative_to(root)}: {top} may not take files from {folder}"
    for name, body in LAYER_CALL.findall(text):
        layer = layer_of_target(name)
        for linked in re.findall(r"\bnuice_(\w+)", body.partition("LINKS")[2]):
            if layer_of_target(linked) not in ONE_TARGET.get(layer, ALLOWED[layer]):
                yield f"{path.relative_to(root)}: {layer} may not link {layer_of_target(linked)}"


def check_folders(root):
    for folder in sorted({path.parent for top in TOPS for path in (root / top).rglob("*.*")}):
        count = sum(path.is_file() for path in folder.iterdir())
        if count > MOST_FILES:
            yield f"{folder.relative_to(root)}: {count} files, more than {MOST_FILES}"


def layer_of_file(room, path):
    if path.is_relative_to(room / "src"):
        return layer_of(path.parent.relative_to(room / "src").as_posix())
    return owner_of_header(path.relative_to(room / "include/nuice").with_suffix("").as_posix())


def part_of(root, target):
    """`bench` or `papers` with the folder in it that an #include line names, or None."""
    folder = target.partition("/")[0]
    return next((f"{part}/{folder}" for part in PARTS if (root / part / folder).is_dir()), None)


def wrong_outside(root, folder, target):
    """Why a file of `folder`, one of OUTSIDE, may not include `target`, or None."""
    if target.split("/")[0] in INSIDE:
        return f"{target} is not a public header"
    part = part_of(root, target)
    if part is None or part in OUTSIDE[folder] or part.partition("/")[0] == folder:
        return None
    return f"{folder} may not include from {part}"


def check_file(room, layers, path):
    """The faults of a file of `room`, which holds `layers`."""
    layer = layer_of_file(room, path)
    if path.parent == room / "include/nuice" and path.stem in UMBRELLAS:
        for number, target in includes(path):
            owner = owner_of_header(target.removeprefix("nuice/").removesuffix(".hpp"))
            if owner not in {None, *layers}:
                yield f":{number}: may not include from {owner}"
    elif layer not in layers:
        yield ": belongs to no layer (list it in tools/layering.py)"
    else:
        for number, target in includes(path):
            if reason := wrong_target(layer, target):
                yield f":{number}: {reason}"


def check(root):
    problems = [*check_cmake(root), *check_folders(root)]
    for room, layers in ((root, ALLOWED.keys() - AM), (root / "am", AM)):
        for path in sources(room / "src") + sources(room / "include"):
            problems += (f"{path.relative_to(root)}{reason}" for reason in check_file(room, layers, path))
            problems += (
                f"{path.relative_to(root)}:{number}: may not include from {part}"
                for number, target in includes(path)
                if (part := part_of(root, target))
            )
    for folder in OUTSIDE:
        for path in sources(root / folder):
            for number, target in includes(path):
                if reason := wrong_outside(root, folder, target):
                    problems.append(f"{path.relative_to(root)}:{number}: {reason}")
    return problems


def self_test():
    """Plants one wrong arrow of each kind and a crowded folder, and expects each to be found."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        planted = {
            "src/core/a.cpp": '#include "nuice/plan/scheduler.hpp"\n',
            "src/core/b.cpp": "#include <mpi.h>\n",
            "src/schedulers/c.cpp": '#include "nuice/core/types.hpp"\n#include "exchange/plan/plan.hpp"\n',
            "src/elsewhere/d.cpp": "\n",
            "include/nuice/core/types.hpp": '#include "nuice/mpi/plan.hpp"\n',
            "include/nuice/stray.hpp": "\n",
            "src/core/deep/g.cpp": '#include "schedulers/graph/g.hpp"\n',
            "src/mpi/agree.cpp": '#include "nuice/plan/scheduler.hpp"\n',
            "am/src/drs/mpi/h.cpp": '#include "exchange/plan/plan_state.hpp"\n',
            "am/src/am/j.cpp": '#include "nuice/nuice.hpp"\n',
            "am/src/am/l.cpp": '#include "nuice/mpi/agree.hpp"\n',
            "am/src/exchange/m.cpp": "\n",
            "am/bench/n.cpp": '#include "am/endpoint_core.hpp"\n',
            "src/am/o.cpp": "\n",
            "src/halo/p.cpp": '#include "nuice/mpi/am.hpp"\n',
            "src/exchange/q.cpp": '#include "am/endpoint_core.hpp"\n',
            "include/nuice/mpi/am.hpp": "\n",
            "include/nuice/mpi.hpp": '#include "nuice/am/endpoint.hpp"\n',
            "src/exchange/combine/k.cpp": '#include "exchange/plan/plan_state.hpp"\n',
            "src/topology/CMakeLists.txt": "nuice_layer(topology SOURCES a.cpp\n"
            "  LINKS nuice_core nuice_schedulers)\n",
            "src/machine/CMakeLists.txt": "file(GLOB files ${PROJECT_SOURCE_DIR}/python/data/*.toml)\n",
            "bench/e.cpp": '#include "core/text/file_io.hpp"\n',
            "bench/kit/r.cpp": '#include "lee/maze.hpp"\n',
            "papers/lee/maze.hpp": '#include "testbed/s.hpp"\n',
            "bench/testbed/s.hpp": '#include "am/endpoint_core.hpp"\n',
            "src/topology/t.cpp": '#include "kit/units.hpp"\n',
            "papers/CMakeLists.txt": "file(GLOB files ${PROJECT_SOURCE_DIR}/bench/*.cpp)\n",
        }
        allowed = {
            "src/core/CMakeLists.txt": "# ${PROJECT_SOURCE_DIR}/data\nnuice_layer(core SOURCES a.cpp)\n",
            "am/src/drs/mpi/i.cpp": '#include "mpi/discover/gather.hpp"\n#include "nuice/mpi/plan.hpp"\n',
            "am/include/nuice/mpi/am.hpp": '#include "nuice/am/endpoint.hpp"\n',
            "papers/lee/u.cpp": '#include "kit/units.hpp"\n#include "nuice/am.hpp"\n',
            "am/include/nuice/am.hpp": '#include "nuice/am/drs.hpp"\n',
            "src/exchange/plan/f.cpp": "#include <mpi.h>\n"
            '#include <vector>\n#include "nuice/plan/scheduler.hpp"\n',
        }
        crowd = {f"src/topology/crowded/{i}.hpp": "\n" for i in range(MOST_FILES + 1)}
        for name, text in (planted | allowed | crowd).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        problems = check(root)
        expected = [*planted, "src/topology/crowded: "]
        missed = [name for name in expected if not any(p.startswith(name) for p in problems)]
        if missed or len(problems) != len(expected):
            sys.exit(f"layering self-test: missed {missed}, found {problems}")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    problems = check(Path(sys.argv[1]))
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()

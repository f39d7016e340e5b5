#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the #include lines of the tree and fails on one that points outward (see ARCHITECTURE.md).

usage: layering.py ROOT | layering.py --self-test
"""

import re
import sys
import tempfile
from pathlib import Path

# Which folders of src/ a folder may include from, besides itself; and which public headers each layer owns.
ALLOWED = {
    "core": set(),
    "patterns": {"core"},
    "topology": {"core"},
    "machine": {"core", "topology"},
    "schedulers": {"core"},
    "advise": {"core", "topology", "machine", "schedulers"},
    "exchange": {"core"},
    "exchange/mpi": {"core", "topology", "machine", "schedulers", "advise", "exchange", "mpi parts"},
    "halo": {"core", "exchange", "exchange/mpi", "mpi parts"},
    "am": {"core"},
    "am/ucx": {"core", "am"},
    "am/mpi": {"core", "am", "am/ucx", "mpi parts"},
    "drs": {"core", "exchange", "am"},
    "drs/mpi": {"core", "exchange", "am", "am/mpi", "drs", "mpi parts"},
    "mpi parts": {"core"},
}
# Headers of a folder that are a layer of their own, with a target of their own.
PARTS = {
    f"exchange/mpi/{name}.hpp": "mpi parts"
    for name in ("agree", "call", "communicator", "failure", "gather", "requests")
}
HEADERS = {
    "core": {
        "types",
        "error",
        "comm_matrix",
        "credit",
        "schedule",
        "phase_table",
        "bounds",
        "broadcast",
        "check",
        "hosts",
        "random",
        "text_io",
        "topology",
    },
    "patterns": {"patterns"},
    "topology": {"networks"},
    "machine": {"machine", "simulate"},
    "schedulers": {"scheduler", "update", "broadcaster", "host_schedule"},
    "advise": {"advise", "wisdom"},
    "exchange": {"exchange"},
    "exchange/mpi": {"mpi", "mpi_broadcast", "mpi_discover"},
    "halo": {"halo", "halo_field"},
    "am": {
        "am/coalescer",
        "am/endpoint",
        "am/handler",
        "am/level_sync",
        "am/loopback",
        "am/port",
        "am/progress",
        "am/ring",
        "am/transport",
    },
    "am/mpi": {"am/mpi"},
    "drs": {"drs"},
    "drs/mpi": {"drs_mpi"},
}
MPI_LAYERS = {"exchange/mpi", "halo", "am/mpi", "drs/mpi", "mpi parts"}
# Only public headers: apps, benches, bindings, examples.
OUTSIDE = ["apps", "bench", "examples", "python/bindings"]
INSIDE = {
    "core",
    "schedulers",
    "patterns",
    "topology",
    "machine",
    "advise",
    "exchange",
    "halo",
    "am",
    "drs",
    "src",
}
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
    else:
        owner = PARTS.get(target) or layer_of(target.rpartition("/")[0])
        if owner is None:
            return None  # a system or third-party header
    if owner == layer or owner in ALLOWED[layer]:
        return None
    return f"{layer} may not include from {owner}"


def check(root):
    problems = []
    src = root / "src"
    for path in sources(src):
        name = path.relative_to(src).with_suffix(".hpp").as_posix()
        layer = PARTS.get(name) or layer_of(path.parent.relative_to(src).as_posix())
        if layer is None:
            problems.append(
                f"{path.relative_to(root)}: its folder is no layer (list it in tools/layering.py)"
            )
            continue
        for number, target in includes(path):
            if reason := wrong_target(layer, target):
                problems.append(f"{path.relative_to(root)}:{number}: {reason}")
    for header in sources(root / "include"):
        name = header.relative_to(root / "include" / "nuice").with_suffix("").as_posix()
        if name == "nuice":
            continue
        layer = owner_of_header(name)
        if layer is None:
            problems.append(f"{header.relative_to(root)}: belongs to no layer (list it in tools/layering.py)")
            continue
        for number, target in includes(header):
            if reason := wrong_target(layer, target):
                problems.append(f"{header.relative_to(root)}:{number}: {reason}")
    for folder in OUTSIDE:
        for path in sources(root / folder):
            for number, target in includes(path):
                if target.split("/")[0] in INSIDE:
                    problems.append(f"{path.relative_to(root)}:{number}: {target} is not a public header")
    return problems


def self_test():
    """Plants one wrong arrow of each kind and expects each to be found."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        planted = {
            "src/core/a.cpp": '#include "nuice/scheduler.hpp"\n',
            "src/core/b.cpp": "#include <mpi.h>\n",
            "src/schedulers/c.cpp": '#include "nuice/types.hpp"\n#include "exchange/mpi/plan.hpp"\n',
            "src/elsewhere/d.cpp": "\n",
            "include/nuice/types.hpp": '#include "nuice/mpi.hpp"\n',
            "include/nuice/stray.hpp": "\n",
            "src/core/deep/g.cpp": '#include "schedulers/graph/g.hpp"\n',
            "src/exchange/mpi/agree.cpp": '#include "nuice/scheduler.hpp"\n',
            "src/drs/mpi/h.cpp": '#include "exchange/mpi/plan_state.hpp"\n',
            "bench/e.cpp": '#include "core/file_io.hpp"\n',
        }
        allowed = {
            "src/drs/mpi/i.cpp": '#include "exchange/mpi/gather.hpp"\n',
            "src/exchange/mpi/f.cpp": '#include <mpi.h>\n#include <vector>\n#include "nuice/scheduler.hpp"\n',
        }
        for name, text in (planted | allowed).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        problems = check(root)
        missed = [name for name in planted if not any(p.startswith(name) for p in problems)]
        if missed or len(problems) != len(planted):
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

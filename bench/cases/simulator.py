# SPDX-License-Identifier: BSD-3-Clause
"""How fast the simulator is: messages per second of processor time.

Limits: 1,024 ranks with 64 messages each in less than 5 s, and at least 100,000 messages per second. Ports
and, if the network has any, links are shared. Sizes are 1 to 32 KB, so that messages rarely end at the same
time.
"""

import time
from functools import partial
from statistics import median

import nuice
from kit import Case, Table, timed

MACHINE = """
topology = "{topology}"
[message]
start_up = "10 us"
[port]
bandwidth = "1 GB/s"
duplex = "{duplex}"
[network]
switching = "{switching}"
"""


def machines(ranks):
    side = 1 << (ranks.bit_length() - 1) // 2
    cube, grid = f"hypercube:{ranks.bit_length() - 1}", f"{side}x{ranks // side}"
    yield f"crossbar:{ranks}", "full", "packet"
    yield f"crossbar:{ranks}", "half", "packet"
    yield cube, "full", "packet"
    yield cube, "full", "circuit"
    yield f"fattree:{grid}/2", "full", "packet"
    yield f"torus:{grid}", "full", "packet"


def rows(options):
    matrix = nuice.random_regular(options.ranks, options.degree, unit_bytes=1000, max_units=32, seed=1)
    for topology, duplex, switching in machines(options.ranks):
        shape = {"topology": topology, "duplex": duplex, "switching": switching}
        machine = nuice.parse_machine(MACHINE.format(**shape), "bench")
        for scheduler, executor in (("ac", "async"), ("rs_n", "phased")):
            schedule = nuice.plan(matrix, scheduler).schedule
            simulate = partial(nuice.simulate, matrix, schedule, machine, executor)
            taken = [timed(simulate, time.process_time) for _ in range(options.repeat)]
            seconds, run = median(taken_s for taken_s, _ in taken), taken[0][1]
            yield {
                **shape,
                "scheduler": scheduler,
                "executor": executor,
                "messages": matrix.num_messages,
                "processor_seconds": seconds,
                "messages_per_second": matrix.num_messages / seconds,
                "simulated_seconds": run.seconds,
                "seconds_to_port_bound": run.seconds / nuice.port_bound_s(matrix, machine),
            }


CASE = Case(
    rows,
    options=dict(ranks=1024, degree=(64, "messages of each"), repeat=1),
    quick=dict(ranks=64, degree=8),
    minutes=1,
    tables=Table(
        "{o.ranks} ranks, {row[messages]} messages of 1 to 32 KB; processor time",
        "topology | duplex | switching | scheduler | executor",
        "s = processor_seconds .3f | messages/s = messages_per_second .0f",
    ),
)

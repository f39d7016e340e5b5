# SPDX-License-Identifier: BSD-3-Clause
"""The packet simulator compared with an independent simulator, CAMINOS (crate `caminos`, Camarero et al.).

Both simulate the same exchanges on meshes with fixed routes (first dimension first), all messages at once.
CAMINOS simulates phits: 16 phits per packet, input queues of 32 packets, one virtual channel, credits,
cut-through. Times are over the busiest link's bound.
"""

from statistics import median

import nuice
from kit import Case, Failed, Table, call, scratch

PHITS = 16  # in a packet
PACKET_BYTES = 4096
BUFFER_PACKETS = 32
CONFIGURATION = """
Configuration {{
  random_seed: {seed}, warmup: 0, measured: 100000000,
  topology: Mesh {{ sides: [{sides}], servers_per_router: 1 }},
  traffic: {traffic},
  maximum_packet_size: {phits},
  router: Basic {{
    virtual_channels: 1, virtual_channel_policies: [EnforceFlowControl, Random], delay: 0, bubble: false,
    buffer_size: {buffer}, flit_size: {phits}, intransit_priority: false, allow_request_busy_port: true,
    output_prioritize_lowest_label: false, output_buffer_size: 0,
  }},
  routing: DOR {{ order: [{order}] }},
  link_classes: [{links}],
}}
"""


def traffic_of(plan, packets, folder):
    """Returns a burst for each phase, all at once, because a pattern of CAMINOS has one destination per
    source."""
    bursts = []
    for phase in range(plan.phases):
        file = folder / f"phase{phase}"
        transfers = sorted((t.src, t.dst) for t in plan.schedule.transfers(phase))
        file.write_text("".join(f"{src} {dst}\n" for src, dst in transfers))
        bursts.append(
            f'Burst {{ pattern: FileMap {{ filename: "{file}" }}, tasks: {len(transfers)}, '
            f"messages_per_task: {packets}, message_size: {PHITS} }}"
        )
    return f"TrafficSum {{ list: [{', '.join(bursts)}] }}"


def caminos_slots(sides, plan, packets, seed, program):
    with scratch() as folder:
        text = CONFIGURATION.format(
            seed=seed,
            sides=", ".join(map(str, sides)),
            traffic=traffic_of(plan, packets, folder),
            phits=PHITS,
            buffer=BUFFER_PACKETS * PHITS,
            order=", ".join(str(i) for i in range(len(sides))),
            links=", ".join(["LinkClass { delay: 1 }"] * (len(sides) + 1)),
        )
        (folder / "main.cfg").write_text(text)
        call([program, folder / "main.cfg", f"--results={folder / 'result'}"], timeout_s=500)
        words = (folder / "result").read_text().replace(",", " ").replace("{", " ").split()
        if "cycle:" not in words:
            raise Failed(f"caminos wrote no cycle: {' '.join(words[:40])}")
        return float(words[words.index("cycle:") + 1]) / PHITS


def machine_of(spec):
    return nuice.parse_machine(
        f'topology = "{spec}"\n[port]\nbandwidth = "1 GB/s"\nsends_at_once = 0\n'
        f'[network]\npacket_payload = "{PACKET_BYTES} B"\n',
        "bench",
    )


def rows(options):
    for sides in ((8, 8), (4, 4, 4)):
        spec = "mesh:" + "x".join(map(str, sides))
        found = []
        for seed in range(1, options.seeds + 1):
            matrix = nuice.random_regular(64, 8, unit_bytes=options.packets * PACKET_BYTES, seed=seed)
            made = nuice.plan(matrix, "ac").schedule
            run = nuice.simulate_packets(matrix, made, machine_of(spec), "async")
            theirs = caminos_slots(
                sides, nuice.plan(matrix, "coloring"), options.packets, seed, options.program
            )
            bound = max(run.port_bound_slots, run.link_bound_slots)
            found.append((run.slots / bound, theirs / bound))
        yield {
            "topology": spec,
            "packets": options.packets,
            "ours_to_bound": median(ours for ours, _ in found),
            "caminos_to_bound": median(theirs for _, theirs in found),
            "ours_to_caminos": median(ours / theirs for ours, theirs in found),
            "all": found,
        }


CASE = Case(
    rows,
    needs=["caminos"],
    options=dict(seeds=3, packets=(64, "of a message"), program=("caminos", "the simulator")),
    quick=dict(seeds=1),
    minutes=5,
    tables=Table(
        "simulation, d = 8, 64 ranks, messages of {o.packets} packets, fifo; median of {o.seeds} matrices",
        "topology | ours / bound = ours_to_bound .3f | CAMINOS / bound = caminos_to_bound .3f",
        "ours / CAMINOS = ours_to_caminos .3f",
    ),
)

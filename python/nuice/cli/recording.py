# SPDX-License-Identifier: BSD-3-Clause
"""nuice record: shows the record that `nuice run --record` has made of a program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import _core
from ..advising import advise
from ..files import OutputFiles
from ..recording import RecordedExchange, Recording, load
from . import output
from .options import AsJson

LARGEST_IN_MEMORY = 65536  # bytes: the option shared_memory.largest
SMALL_SHARE = 0.02  # share of the run below which a plan does not pay
SMALL_GAIN = 1.05
MOST_ROWS = 20

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="What `nuice run --record DIR` has written.")]


def show(
    folder: Folder,
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Machine of the prediction; by default the file of nuice-calibrate --save."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a program exchanged: its calls, patterns and times, and how much time a plan would save on a
    machine."""
    recording = load(folder)
    target = machine_for_predictions(machine)
    result = {
        "ranks": recording.num_ranks,
        "hosts": list(recording.hosts),
        "mpi": recording.mpi,
        "seconds": recording.seconds,
        "machine": target.name if target else None,
        "exchanges": [_figures(exchange, recording, target) for exchange in recording.exchanges],
    }
    output.report(as_json, result, lambda console: show_recording(console, recording, target))


def merge(folder: Folder, as_json: AsJson = False) -> None:
    """Write the matrices of a record into DIR, the most expensive matrix first, and exchanges.json, which
    describes the matrices.
    """
    recording = load(folder)
    written = []
    for i, exchange in enumerate(recording.exchanges):
        for j, pattern in enumerate(exchange.patterns[:MOST_ROWS]):
            matrix = pattern.matrix()
            if matrix.num_messages == 0:
                continue
            path = folder / (f"exchange-{i:02d}.mtx" if j == 0 else f"exchange-{i:02d}-{j:02d}.mtx")
            _core.save_matrix_market(path, matrix)
            written.append(
                {"file": path.name, "calls": pattern.num_calls, "call": exchange.call, "site": exchange.site}
            )
    with OutputFiles() as files:
        files.temporary(folder / "exchanges.json").write_text(json.dumps(written, indent=1) + "\n")
    output.report(
        as_json, {"written": written}, lambda console: console.print(f"{len(written)} matrices in {folder}")
    )


def machine_for_predictions(name: str | None) -> _core.Machine | None:
    if name is not None:
        return _core.find_machine(name)
    saved = _core.calibrated_machine_path(False)
    return _core.find_machine(saved) if saved and Path(saved).is_file() else None


def predicted_gain(
    exchange: RecordedExchange, recording: Recording, machine: _core.Machine | None
) -> float | None:
    """Returns the predicted time of an exchange that sends all messages at once, divided by the predicted
    time with the best schedule; None without a prediction.
    """
    if machine is None or not exchange.patterns or len(recording.hosts) < 2:
        return None
    matrix = exchange.patterns[0].matrix()
    if matrix.num_messages == 0 or (machine.num_ranks and matrix.num_ranks > machine.num_ranks):
        return None
    advice = advise(matrix, machine, max(1, exchange.patterns[0].num_calls))
    at_once = [c.exchange_s for c in advice.candidates if c.applicable and c.name == "ac:async"]
    return at_once[0] / advice.choice.exchange_s if at_once and advice.choice.exchange_s > 0 else None


def _figures(
    exchange: RecordedExchange, recording: Recording, machine: _core.Machine | None
) -> dict[str, Any]:
    return {
        "call": exchange.call,
        "site": list(exchange.site),
        "ranks": len(exchange.ranks),
        "calls": exchange.num_calls,
        "patterns": len(exchange.patterns),
        "bytes_per_call": exchange.bytes_per_call,
        "seconds": exchange.seconds,
        "waiting_s": exchange.waiting_s,
        "share": exchange.share,
        "predicted_gain": predicted_gain(exchange, recording, machine),
        "verdict": verdict(exchange, recording, machine),
    }


def verdict(exchange: RecordedExchange, recording: Recording, machine: _core.Machine | None) -> str:
    """Returns the recommendation in a few words, also if there is nothing to gain."""
    if exchange.share < SMALL_SHARE:
        return f"nothing to gain: {exchange.share:.1%} of the run"
    if exchange.waiting_s > 0.5 * exchange.seconds:
        return "mostly waiting for ranks that come late: balance the work first"
    on_one_host = len(recording.hosts) < 2
    if on_one_host and _least_bytes(exchange) > LARGEST_IN_MEMORY:
        return "nothing to gain: all ranks share a host, and messages are long"
    gain = None if on_one_host else predicted_gain(exchange, recording, machine)
    if gain is not None and gain < SMALL_GAIN:
        return "nothing to gain on this machine, by prediction"
    if exchange.repeats < 0.5:
        return "patterns do not repeat: a plan would be used once or twice"
    if on_one_host:
        return "all ranks share a host: a plan by auto uses its shared memory, without MPI"
    if gain is None:
        return "may gain: calibrate (nuice-calibrate --save) or give --machine"
    return f"a plan may take {1 / gain:.0%} of the time, by prediction"


def _least_bytes(exchange: RecordedExchange) -> int:
    """Returns the least number of bytes of a message."""
    sizes = [size for pattern in exchange.patterns for size in pattern.matrix().entries()[2]]
    return min(map(int, sizes), default=0)


def show_recording(console: Any, recording: Recording, machine: _core.Machine | None) -> None:
    facts = {
        "ranks": f"{recording.num_ranks} on {len(recording.hosts)} hosts, {recording.mpi.partition(',')[0]}",
        "MPI_Init to MPI_Finalize": f"{recording.seconds:.3g} s",
        "predictions": f"for {machine.name}" if machine else "none: no machine was calibrated or named",
    }
    console.print(output.pairs(facts))
    if not recording.exchanges:
        console.print("No exchange was seen: no call of the all-to-all kind, and no Isend or Irecv.")
        return
    rows = [
        (
            exchange.call,
            str(len(exchange.ranks)),
            str(exchange.num_calls),
            str(len(exchange.patterns)),
            f"{exchange.repeats:.0%}",
            f"{exchange.bytes_per_call:.3g}",
            f"{exchange.seconds:.3g}",
            f"{exchange.share:.1%}",
            f"{exchange.waiting_s / exchange.seconds:.0%}" if exchange.seconds else "-",
            _short(exchange.site[0]) if exchange.site else "",
            verdict(exchange, recording, machine),
        )
        for exchange in recording.exchanges[:MOST_ROWS]
    ]
    columns = (
        "call",
        "ranks",
        "calls",
        "patterns",
        "repeat",
        "B a call",
        "s a rank",
        "of the run",
        "waiting",
    )
    console.print(output.table((*columns, "from", "what a plan would do"), rows))
    console.print(_what_repeats(recording))
    if len(recording.exchanges) > MOST_ROWS:
        console.print(f"and {len(recording.exchanges) - MOST_ROWS} more that took less")


def _what_repeats(recording: Recording) -> str:
    """Returns a sentence on the patterns that repeat, for which a plan is worth its cost. Other patterns are
    mostly set-up."""
    again = [p for exchange in recording.exchanges for p in exchange.patterns if p.num_calls > 1]
    once = [p for exchange in recording.exchanges for p in exchange.patterns if p.num_calls == 1]
    return (
        f"What repeats: {len(again)} patterns in {sum(p.num_calls for p in again)} calls, "
        f"{sum(p.seconds for p in again):.3g} s; exchanged once, mostly set-up: {len(once)} patterns, "
        f"{sum(p.seconds for p in once):.3g} s."
    )


def _short(site: str) -> str:
    """Returns a short name of a call site, such as "liblammps.so.0: remap_3d": the function without its
    arguments, or the whole site if the function has no name.
    """
    file, _, rest = site.partition("+")
    _, _, function = rest.partition(" (")
    name = function.removesuffix(")").partition("(")[0]
    return f"{file}: {name}" if name else site


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="What `nuice run --record` has recorded.", no_args_is_help=True)
    group.command()(show)
    group.command()(merge)
    app.add_typer(group, name="record")

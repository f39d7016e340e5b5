# SPDX-License-Identifier: BSD-3-Clause
"""002, figures 14 to 18: the cost of a message in each paradigm, in one direction and as a circular shift in
both.

No points are printed, so claims are tested. Costs are those with which simulated_cm5 runs the programs. An
empty message of send/receive costs 88 us (001 s.2), and an interrupt 53 us at each end (fitted to one figure
of Lee). A packet of four words costs 1.6 us to send and 1.7 us to receive (004 s.2.3). A put costs 7.5 us to
start at each end (from the point where the curves of fig. 17 are said to cross), and a poll of the network 1
us (assumed). Strata costs 0.2 us less at each end. A packet received by interrupt costs 28.3 us, including
sending (004 table 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .report import Curves, Reproduction, least, most, reproduces
from .runs import Lab

SIZES = (4, 8, 16, 32, 64, 128, 256)  # words
SENT, TAKEN, LOOK, NETWORK = 1.6, 1.7, 1.0, 1.0  # us
STRATA = 0.2
MESSAGE, INTERRUPT, PUT = 88.0, 53.0, 7.5
ENTRY = 28.3
IN_THE_NETWORK = 10  # packets

Cost = Callable[[int], float]  # us for this number of words


def packets(words: int) -> int:
    return -(-words // 4)


def _stream(words: int, each: float = SENT + TAKEN) -> float:
    """Returns the time in one direction: packets follow each other as fast as the slower end."""
    return each + (packets(words) - 1) * max(SENT, TAKEN) + NETWORK


ONE_WAY: dict[str, Cost] = {
    "synchronous": lambda w: MESSAGE + _stream(w),
    "asynchronous": lambda w: MESSAGE + 2 * INTERRUPT + _stream(w),
    "CMAML": _stream,
    "Strata": lambda w: _stream(w) - STRATA,
    "put": lambda w: 2 * PUT + _stream(w),
}
BY_INTERRUPT: dict[str, Cost] = {
    "CMAML, interrupt": lambda w: packets(w) * ENTRY + NETWORK,
    "put, interrupt": lambda w: 2 * PUT + _stream(w) + ENTRY - SENT - TAKEN,
}


def _shift(words: int, packet: float, start: float = 0.0) -> float:
    """Returns the time in both directions: every node sends and receives, so it handles twice as many
    packets."""
    return 2 * (start + packets(words) * packet) + NETWORK


def polled(words: int, every: int) -> float:
    """Returns the time with polling. CMAML's RPC polls the network only if it cannot send; the program polls
    after `every` packets in each direction.

    The network holds ten packets for a node (s.4.1 and the note to s.6); the two neighbours send 2 * every
    between two polls. If that is more, a send fails, polls, and then finds the network empty.
    """
    each_way = packets(words)
    every = min(every, each_way)
    blocked = -(-2 * every // IN_THE_NETWORK) - 1
    looks = each_way / every * (1 + 2 * max(0, blocked))
    return _shift(words, SENT + TAKEN) + LOOK * looks


SHIFT: dict[str, Cost] = {
    "synchronous": lambda w: _shift(w, SENT + TAKEN, MESSAGE),
    "asynchronous": lambda w: _shift(w, SENT + TAKEN, MESSAGE + 2 * INTERRUPT),
    "CMAML": lambda w: _shift(w, SENT + TAKEN + LOOK),
    "Strata": lambda w: _shift(w, SENT + TAKEN - 2 * STRATA + LOOK),
    "put": lambda w: _shift(w, SENT + TAKEN, 2 * PUT),
}


def _curves(title: str, costs: dict[str, Cost]) -> Curves:
    lines = {name: [(float(w), cost(w)) for w in SIZES] for name, cost in costs.items()}
    return Curves(title, "words", "us", lines)


def _claim_everywhere(found: Reproduction, text: str, low: Sequence[Cost], high: Sequence[Cost]) -> None:
    """Claims that all of `low` are below all of `high`, at every size."""
    between = {w: (max(c(w) for c in low), min(c(w) for c in high)) for w in SIZES}
    seen = "; ".join(f"{w} words: {between[w][0]:.1f} and {between[w][1]:.1f} us" for w in (4, 64, 256))
    found.claim(text, all(a < b for a, b in between.values()), seen)


@reproduces("002-fig14", "one-to-one messages")
def figure14(found: Reproduction, lab: Lab, quick: bool) -> None:
    one = ONE_WAY
    slopes = [one[name](256) - one[name](128) for name in one]
    _claim_everywhere(
        found,
        "active messages, Strata's and CMAML's, are the fastest",
        [one["Strata"], one["CMAML"]],
        [one["synchronous"], one["asynchronous"], one["put"]],
    )
    seen = ", ".join(f"{slope / 128:.3f}" for slope in slopes) + " us a word"
    found.claim("all paradigms have the same slope", max(slopes) < 1.01 * min(slopes), seen)
    cmaml, strata, empty = one["CMAML"](16), one["Strata"](16), one["synchronous"](4)
    found.claim(
        "the difference between Strata and CMAML is very small",
        cmaml - strata < 0.1 * cmaml,
        f"{cmaml:.1f} and {strata:.1f} us for 16 words",
    )
    found.claim(
        "short messages by send/receive: the software takes more than the data",
        empty > 2 * (empty - MESSAGE),
        f"{MESSAGE:.0f} of {empty:.1f} us for 4 words",
    )
    found.curves = [_curves("one-to-one", one)]


@reproduces("002-fig15", "interrupt and polling")
def figure15(found: Reproduction, lab: Lab, quick: bool) -> None:
    costs = {name: ONE_WAY[name] for name in ("CMAML", "put")} | BY_INTERRUPT
    for text, name in (("active messages", "CMAML"), ("put", "put")):
        polled, interrupted = [costs[name]], [costs[f"{name}, interrupt"]]
        _claim_everywhere(found, f"{text}: polling is cheaper than the interrupt", polled, interrupted)
    many, one = (costs[f"{name}, interrupt"](256) for name in ("CMAML", "put"))
    text = "many active messages by interrupt cost more than one put by interrupt"
    found.claim(text, many > one, f"256 words: {many:.0f} and {one:.0f} us")
    found.curves = [_curves("interrupt and polling", costs)]


@reproduces("002-fig16", "how often to poll")
def figure16(found: Reproduction, lab: Lab, quick: bool) -> None:
    ways = {f"F = {f}": (lambda w, f=f: polled(w, f)) for f in (1, 5, 10)}
    ways["F = M"] = lambda w: polled(w, packets(w))
    at_256 = {name: cost(256) for name, cost in ways.items()}
    seen = ", ".join(f"{name} {time:.0f}" for name, time in at_256.items()) + " us (256 words)"
    found.claim("polling after every packet (F = 1) is the worst", most(at_256) == "F = 1", seen)
    found.claim("F = 5 is the best", least(at_256) == "F = 5", seen)
    found.curves = [_curves("polling", ways)]


@reproduces("002-fig17", "circular shift by active messages")
def figure17(found: Reproduction, lab: Lab, quick: bool) -> None:
    costs = {name: SHIFT[name] for name in ("CMAML", "Strata", "put")}
    cmaml, put = costs["CMAML"], costs["put"]
    _claim_everywhere(found, "Strata's active messages before CMAML's", [costs["Strata"]], [cmaml])
    seen = f"16 words: {cmaml(16):.1f} and {put(16):.1f} us"
    found.claim("short messages: active messages before put", cmaml(16) < put(16), seen)
    seen = f"256 words: {put(256):.0f} and {cmaml(256):.0f} us"
    found.claim("long messages: put before CMAML's active messages", put(256) < cmaml(256), seen)
    found.notes = [
        "where the curves cross, at 60 and 100 words, was used for the start of a put and Strata's share"
    ]
    found.curves = [_curves("shift", costs)]


@reproduces("002-fig18", "circular shift, all paradigms")
def figure18(found: Reproduction, lab: Lab, quick: bool) -> None:
    active = [SHIFT[name] for name in ("CMAML", "Strata", "put")]
    waiting, not_waiting = [SHIFT["synchronous"]], [SHIFT["asynchronous"]]
    _claim_everywhere(found, "active messages before send/receive", active, waiting + not_waiting)
    text = "asynchronous send/receive is slower than synchronous"
    _claim_everywhere(found, text, waiting, not_waiting)
    found.curves = [_curves("shift", SHIFT)]

# SPDX-License-Identifier: BSD-3-Clause
"""Settings of an MPI library: the environment of a job, and the command before its program.

A setting is a word whose parts are joined by +:
  installed             nothing
  rcvbuf=4k eager=1m    a knob of the table below, under the name that the MPI in use has for it
  LD_PRELOAD=/lib/x.so  any variable of the environment (capital letters)
  with=nice             a command before the program
  NAME:PART+PART        under a name of its own: no tuning of MPI, but a further column
Settings are environment variables. No file of the user is read or changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .case import Failed

UNITS = {"": 1, "k": 1024, "m": 1024**2}
# For each MPI, the variables that each knob sets. The number is the factor from the knob's value to that of
# the variable.
KNOBS: dict[str, dict[str, dict[str, int]]] = {
    "openmpi": {
        "rcvbuf": {"OMPI_MCA_btl_tcp_rcvbuf": 1},
        "sndbuf": {"OMPI_MCA_btl_tcp_sndbuf": 1},
        # A fragment must hold the largest eager message.
        "eager": {
            "OMPI_MCA_btl_tcp_eager_limit": 1,
            "OMPI_MCA_btl_tcp_rndv_eager_limit": 1,
            "OMPI_MCA_btl_tcp_max_send_size": 2,
        },
    },
    "mpich-ofi": {"eager": {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": 1}},
    "mpich-ucx": {
        "rcvbuf": {"UCX_TCP_RCVBUF": 1},
        "sndbuf": {"UCX_TCP_SNDBUF": 1},
        "eager": {"UCX_RNDV_THRESH": 1},
    },
}
CHOSEN = {"mpich-ofi": {"MPIR_CVAR_CH4_NETMOD": "ofi"}, "mpich-ucx": {"MPIR_CVAR_CH4_NETMOD": "ucx"}}
BUFFERS = ["2k", "2560", "3k", "4k", "5k", "6k", "8k", "16k", "32k", "64k", "256k"]


class Setting(NamedTuple):
    """words: the command before the program. is_column: not a tuning of MPI, but a column of its own."""

    name: str
    environment: Mapping[str, str] = {}
    words: tuple[str, ...] = ()
    is_column: bool = False

    @property
    def prefix(self) -> list[str]:
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        return [*(["/usr/bin/env", *variables] if variables else []), *self.words]


class UnknownKnob(Exception):
    """The MPI in use has no such knob."""


def number(text: str) -> int:
    found = re.fullmatch(r"(\d+)([km]?)", text)
    if found is None:
        raise Failed(f"{text} is not a count of bytes, such as 4096, 4k or 1m")
    return int(found[1]) * UNITS[found[2]]


def setting(word: str, mpi: str) -> Setting:
    """Parses a setting. mpi: a key of KNOBS. Raises UnknownKnob, or Failed if the word is no setting."""
    name, colon, text = word.partition(":") if re.match(r"[a-z0-9_-]+:", word) else (word, "", word)
    environment, words = dict(CHOSEN.get(mpi, {})), ()
    for part in text.split("+"):
        key, equals, value = part.partition("=")
        if part == "installed":
            continue
        if not equals:
            raise Failed(
                f"{word}: {part} is not a setting: installed, KNOB=BYTES, VARIABLE=VALUE or with=COMMAND"
            )
        if key == "with":
            words += tuple(value.split())
        elif key.isupper() or "_MCA_" in key:
            environment[key] = value
        elif key not in KNOBS[mpi]:
            raise UnknownKnob(f"{key} ({mpi} has {', '.join(KNOBS[mpi])})")
        else:
            environment |= {name: str(times * number(value)) for name, times in KNOBS[mpi][key].items()}
    return Setting(name, environment, words, bool(colon))


def usual_settings(mpi: str) -> list[str]:
    """Returns a sweep of settings: all buffer sizes, each with the usual and with a large eager limit, and
    small send buffers once."""
    few = ["2560", "4k", "8k", "32k"] if "rcvbuf" in KNOBS[mpi] else []
    buffers = BUFFERS if mpi == "openmpi" else few
    plain = ["installed", *(f"rcvbuf={size}" for size in buffers)]
    large = ["eager=1m", *(f"rcvbuf={size}+eager=1m" for size in buffers)]
    return [*plain, *large, *(["sndbuf=4k"] if mpi == "openmpi" else [])]


def family(mpi_library: str, netmod: str = "") -> str:
    """Returns the key of KNOBS for the text of MPI_Get_library_version()."""
    if "Open MPI" in mpi_library:
        return "openmpi"
    return f"mpich-{netmod or 'ofi'}"


def names_in(settings: Iterable[Setting]) -> dict[str, str]:
    """Returns all variables of MPI libraries in the settings, to ask an MPI which of them it knows."""
    found: dict[str, str] = {}
    for each in settings:
        found |= {name: value for name, value in each.environment.items() if name.startswith(KNOWN)}
    return found


KNOWN = ("OMPI_MCA_", "MPIR_CVAR_", "FI_", "UCX_")

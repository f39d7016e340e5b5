"""
The C++ library nuice: communication matrices, schedules, their checker and their files.
"""

from collections.abc import Callable, Sequence
import os
from typing import Annotated

import numpy
from numpy.typing import NDArray


MAX_BYTES: int = 4611686018427387904

DEFAULT_PHASE_COST_BYTES: int = 16384

NO_RANK: int = -1

NO_LINK: int = -1

class CommMatrix:
    """
    Who sends how many bytes to whom: COM(src, dst) = bytes. Immutable.

    A message's id is its index in the order (src, dst). Entries of zero bytes are dropped;
    what a rank sends to itself is in self_bytes and is no message.
    """

    @staticmethod
    def from_messages(num_ranks: int, messages: Sequence[tuple[int, int, int]]) -> CommMatrix:
        """
        Builds the matrix from (src, dst, bytes) in any order. Raises nuice.Error naming the pair for a
        rank outside 0..num_ranks-1, a negative size, a pair given twice, or sums above MAX_BYTES.
        """

    @staticmethod
    def from_arrays(num_ranks: int, src: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], dst: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> CommMatrix:
        """As from_messages, from three int64 arrays of equal length."""

    @property
    def num_ranks(self) -> int: ...

    @property
    def num_messages(self) -> int:
        """Messages between different ranks."""

    @property
    def src(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Sender by message id."""

    @property
    def dst(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Receiver by message id."""

    @property
    def bytes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Size by message id."""

    @property
    def self_bytes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Bytes that each rank sends to itself."""

    def entries(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        All entries as arrays (src, dst, bytes), those of ranks to themselves included.
        """

    def message(self, id: int) -> tuple[int, int, int]:
        """(src, dst, bytes) of a message."""

    def sent_by(self, rank: int) -> list[int]:
        """Ids of what the rank sends, by ascending receiver."""

    def received_by(self, rank: int) -> list[int]:
        """Ids of what the rank receives, by ascending sender."""

    def find(self, src: int, dst: int) -> int | None:
        """Id of the message from src to dst, or None."""

    @property
    def fingerprint(self) -> int:
        """64-bit hash, the same on every platform."""

    def __eq__(self, arg: CommMatrix, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class Piece:
    """Byte range [offset, offset + bytes) of one message."""

    def __init__(self, message: int, offset: int, bytes: int) -> None: ...

    @property
    def message(self) -> int:
        """Id of the message in its CommMatrix."""

    @property
    def offset(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    def __eq__(self, arg: Piece, /) -> bool: ...

class Transfer:
    """src -> dst, carries one or more pieces of messages."""

    def __init__(self, src: int, dst: int, pieces: Sequence[Piece]) -> None: ...

    @property
    def src(self) -> int: ...

    @property
    def dst(self) -> int: ...

    @property
    def pieces(self) -> list[Piece]: ...

    @property
    def bytes(self) -> int:
        """Sum over the pieces."""

    def __eq__(self, arg: Transfer, /) -> bool: ...

class Schedule:
    """
    Phases, one after the other, of transfers that may run at the same time. Immutable.
    """

    @staticmethod
    def from_phases(num_ranks: int, phases: Sequence[Sequence[Transfer]]) -> Schedule:
        """
        A schedule from lists of Transfer, one per phase; empty phases are left out. Nothing is checked:
        that is what check() is for.
        """

    @property
    def num_ranks(self) -> int: ...

    @property
    def num_phases(self) -> int: ...

    @property
    def num_transfers(self) -> int: ...

    @property
    def num_pieces(self) -> int: ...

    def transfers(self, phase: int) -> list[Transfer]:
        """The transfers of a phase, in their order."""

    def transfer_table(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """One row (phase, src, dst, bytes) per transfer, as an array."""

    def __eq__(self, arg: Schedule, /) -> bool: ...

    def __repr__(self) -> str: ...

def phase_bytes(schedule: Schedule) -> int:
    """Sum over the phases of the largest transfer."""

class Part:
    """A byte range of the message from src to dst, as part of a transfer."""

    @property
    def src(self) -> int: ...

    @property
    def dst(self) -> int: ...

    @property
    def offset(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    def __eq__(self, arg: Part, /) -> bool: ...

class PhaseEntry:
    """
    One line of a phase table. Offsets count from the start of the buffer for that partner;
    a partner of NO_RANK means that nothing is sent or received.
    """

    @property
    def phase(self) -> int: ...

    @property
    def send_partner(self) -> int: ...

    @property
    def send_bytes(self) -> int: ...

    @property
    def send_offset(self) -> int: ...

    @property
    def recv_partner(self) -> int: ...

    @property
    def recv_bytes(self) -> int: ...

    @property
    def recv_offset(self) -> int: ...

    @property
    def send_parts(self) -> range:
        """
        Which of the table's parts the send carries; empty where it is the message to send_partner itself.
        """

    @property
    def recv_parts(self) -> range:
        """Likewise."""

    def __eq__(self, arg: PhaseEntry, /) -> bool: ...

class Partner:
    """A rank to send to or to receive from, and how many bytes in all."""

    @property
    def rank(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    def __eq__(self, arg: Partner, /) -> bool: ...

class PhaseTable:
    """All that one rank needs to know of a schedule."""

    @property
    def rank(self) -> int: ...

    @property
    def num_ranks(self) -> int: ...

    @property
    def num_phases(self) -> int: ...

    @property
    def destinations(self) -> list[Partner]:
        """By ascending rank, the rank itself included."""

    @property
    def sources(self) -> list[Partner]:
        """By ascending rank, the rank itself included."""

    @property
    def entries(self) -> list[PhaseEntry]:
        """By ascending phase."""

    @property
    def parts(self) -> list[Part]:
        """Of all entries; empty if nothing is forwarded."""

    @property
    def staged_bytes(self) -> int:
        """Bytes that the rank keeps for others during an exchange."""

    def __eq__(self, arg: PhaseTable, /) -> bool: ...

def slice(matrix: CommMatrix, schedule: Schedule, rank: int) -> PhaseTable:
    """
    The phase table of one rank. Raises nuice.Error if the schedule takes bytes back to their source or on from
    their destination.
    """

def slice_all(matrix: CommMatrix, schedule: Schedule) -> list[PhaseTable]:
    """The phase tables of all ranks in one pass."""

class Link:
    """
    One direction of a cable. Vertices below num_ranks are ranks, others switches.
    """

    @property
    def src(self) -> int:
        """Vertex where it begins."""

    @property
    def dst(self) -> int:
        """Vertex where it ends."""

    @property
    def capacity(self) -> float:
        """Transfers at the same time at the full speed of a rank's port."""

    @property
    def slots(self) -> int:
        """
        Transfers of one phase without link contention: 1 or the whole capacity.
        """

    def __repr__(self) -> str: ...

class Topology:
    """A network with static routing; make_topology() makes one."""

    @property
    def name(self) -> str:
        """What make_topology() was given."""

    @property
    def num_ranks(self) -> int: ...

    @property
    def num_links(self) -> int: ...

    def link(self, id: int) -> Link: ...

    def route(self, src: int, dst: int) -> list[int]:
        """
        Numbers of the links that a transfer crosses, in order. A rank's own port is no link.
        """

    def num_paths(self, src: int, dst: int) -> int:
        """Ways among which a sender may choose."""

    def path(self, src: int, dst: int, number: int) -> list[int]:
        """The links of one of them."""

    def vertex_name(self, vertex: int) -> str:
        """"rank 5", "switch 2", or a file's name for it."""

    def __repr__(self) -> str: ...

class TopologyKind:
    """A row of the table of kinds of networks."""

    @property
    def name(self) -> str: ...

    @property
    def syntax(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def source(self) -> str: ...

class LinkBounds:
    """What no direct schedule without link contention can beat."""

    @property
    def phases(self) -> int:
        """Most messages over a link, per slot."""

    @property
    def phases_at(self) -> int:
        """That link; -1 if no route has links."""

    @property
    def bytes(self) -> int:
        """Most bytes over a link, per slot."""

    @property
    def bytes_at(self) -> int: ...

def link_bounds(matrix: CommMatrix, topology: Topology) -> LinkBounds:
    """Lower bounds on phases and phase_bytes from the busiest link."""

def link_rounds(schedule: Schedule, topology: Topology) -> int:
    """
    Phases that a schedule takes if transfers that share a link wait for each other.
    """

def topology_kinds() -> list[TopologyKind]:
    """All kinds of networks, in a fixed order."""

def make_topology(spec: str) -> Topology:
    """
    The network that "hypercube:6", "torus:8x8" or "file:NAME" stands for (docs/reference/networks.md).
    """

class Busiest:
    """Where a bound is reached."""

    @property
    def rank(self) -> int:
        """NO_RANK for a matrix without messages."""

    @property
    def direction(self) -> str:
        """"send" or "receive"."""

class Bounds:
    """What no schedule can beat where each rank has one port."""

    @property
    def max_degree(self) -> int:
        """Most messages that a rank sends or receives."""

    @property
    def max_degree_at(self) -> Busiest: ...

    @property
    def max_port_bytes(self) -> int:
        """Most bytes that a rank sends or receives."""

    @property
    def max_port_bytes_at(self) -> Busiest: ...

    @property
    def total_bytes(self) -> int: ...

def lower_bounds(matrix: CommMatrix) -> Bounds:
    """Lower bounds on phases and phase_bytes."""

def whole_message_bytes(matrix: CommMatrix) -> int:
    """
    Lower bound on the phase_bytes of schedules that split no message: the sum over k of the largest
    k-th-largest message of any rank.
    """

class Violation:
    """What is wrong with a schedule, and where."""

    @property
    def kind(self) -> str: ...

    @property
    def phase(self) -> int: ...

    @property
    def src(self) -> int: ...

    @property
    def dst(self) -> int: ...

    @property
    def message_src(self) -> int: ...

    @property
    def message_dst(self) -> int: ...

    @property
    def offset(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def link(self) -> int:
        """Where transfers meet: a number for Topology.link(), or NO_LINK."""

    @property
    def other_src(self) -> int:
        """Ends of an earlier transfer over that link."""

    @property
    def other_dst(self) -> int: ...

    @property
    def text(self) -> str:
        """One sentence with all of it."""

    def __repr__(self) -> str: ...

def check(matrix: CommMatrix, schedule: Schedule, guarantees: Sequence[str] = [], topology: Topology | None = None) -> Violation | None:
    """
    The first violation, or None if the schedule delivers every byte of the matrix exactly once and keeps
    the guarantees ("direct", "one_port", "fewest_phases", "fewest_bytes", and with a topology
    "link_free").
    """

def find_link_contention(schedule: Schedule, phase: int, topology: Topology) -> Violation | None:
    """
    The first transfer of the phase that is one too many on a link, or None.
    """

def find_node_contention(schedule: Schedule, phase: int) -> Violation | None:
    """
    The first rank that sends twice or receives twice in the phase, or None.
    """

class Scheduler:
    """A row of the table of scheduling algorithms."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str:
        """One line."""

    @property
    def source(self) -> str:
        """Paper and figure."""

    @property
    def guarantees(self) -> list[str]:
        """What every schedule of this row keeps."""

    @property
    def needs_topology(self) -> bool:
        """Whether it promises link_free."""

    @property
    def randomized(self) -> bool:
        """Whether the seed matters."""

    @property
    def alias_of(self) -> str:
        """
        The row with the same algorithm under its first name; empty for that one.
        """

    @property
    def gathers(self) -> bool:
        """
        Whether every rank needs the whole matrix, or its own sends and receives are enough.
        """

    def why_not(self, matrix: CommMatrix, seed: int = 0, phase_cost_bytes: int = 16384, topology: Topology | None = None) -> str:
        """Empty if applicable, otherwise the reason in one sentence."""

    def __repr__(self) -> str: ...

def schedulers() -> list[Scheduler]:
    """All rows, in a fixed order."""

def find_scheduler(name: str) -> Scheduler:
    """The row with that name; nuice.Error lists the known names."""

def load_rows(path: str | os.PathLike) -> None:
    """
    Adds the schedulers and executors of a shared object (nuice/plan/rows.hpp) for as long as Python runs. It
    runs with all rights of this process: load none that you do not trust. Raises nuice.Error.
    """

def make_schedule(matrix: CommMatrix, scheduler: str, seed: int = 0, phase_cost_bytes: int = 16384, topology: Topology | None = None, prefer_pairs: bool = False) -> tuple[Schedule, float]:
    """
    (schedule, seconds that making it took). The same arguments give the same schedule everywhere.
    phase_cost_bytes is what a phase costs besides its largest transfer; kpbs looks at it. Rows that promise
    link_free need a topology; prefer_pairs asks rs_nl for exchanges in pairs.
    Raises nuice.Error for an unknown scheduler or one that is not applicable.
    """

class Update:
    """What a batch of changes came to, in messages."""

    @property
    def added(self) -> int: ...

    @property
    def removed(self) -> int: ...

    @property
    def resized(self) -> int:
        """Messages that stay in their phase."""

    @property
    def moved(self) -> int:
        """Changes of phase of messages that stay."""

    @property
    def planned_anew(self) -> bool:
        """Paths had become dearer than planning anew."""

    def __eq__(self, arg: Update, /) -> bool: ...

    def __repr__(self) -> str: ...

class DynamicSchedule:
    """
    A schedule that follows its matrix, at a cost that grows with the change; still max-degree phases.

    Takes a direct one-port schedule of whole messages, such as coloring makes; raises nuice.Error for
    others. When removals lower the maximum degree, each change moves a few messages down from the phases
    above it; compact() moves all.
    """

    def __init__(self, matrix: CommMatrix, schedule: Schedule) -> None: ...

    def apply(self, changes: Sequence[tuple[int, int, int]]) -> Update:
        """
        Each (src, dst, bytes) gives a message its new size; 0 for no message. Raises nuice.Error, with
        nothing changed, for a bad rank or size, a pair given twice, or sums above MAX_BYTES.
        """

    def apply_arrays(self, src: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], dst: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Update:
        """As apply, from three int64 arrays of equal length."""

    def set(self, src: int, dst: int, bytes: int) -> Update:
        """apply() of one entry."""

    def compact(self) -> int:
        """
        As many phases as the maximum degree now. Returns the number of messages moved.
        """

    @property
    def num_ranks(self) -> int: ...

    @property
    def num_messages(self) -> int: ...

    @property
    def max_degree(self) -> int: ...

    @property
    def num_phases(self) -> int: ...

    @property
    def phases_above_max_degree(self) -> int:
        """
        0 unless removals lowered the maximum degree and not all has moved down since.
        """

    def check_changes(self) -> Violation | None:
        """
        Checks what the last change did, and only that: the first Violation, or None.
        check(live.matrix(), live.schedule(matrix)) is for all of it.
        """

    def changed_ranks(self) -> list[int]:
        """Ranks whose table the last change may have altered, ascending."""

    def table(self, rank: int) -> PhaseTable:
        """The phase table of one rank now, without going over the others."""

    def matrix(self) -> CommMatrix:
        """What has become of the matrix. O(messages)."""

    def schedule(self, matrix: CommMatrix) -> Schedule:
        """
        What has become of the schedule; matrix must equal matrix(). O(messages).
        """

    def __repr__(self) -> str: ...

def random_regular(num_ranks: int, degree: int, unit_bytes: int = 1024, max_units: int = 1, seed: int = 0) -> CommMatrix:
    """
    Every rank sends `degree` messages and receives `degree`, none to itself (003 fig. 7). Sizes are
    unit_bytes times a whole number drawn from 1..max_units.
    """

def random_density(num_ranks: int, density: float, unit_bytes: int = 1024, max_units: int = 1, seed: int = 0) -> CommMatrix:
    """
    Every ordered pair of different ranks has a message with probability `density`.
    """

class ScheduleRecord:
    """A schedule with what a later reader must know of it."""

    def __init__(self, matrix: CommMatrix, schedule: Schedule, scheduler: str, seed: int, guarantees: Sequence[str], topology: str = '') -> None: ...

    @property
    def scheduler(self) -> str: ...

    @property
    def seed(self) -> int: ...

    @property
    def guarantees(self) -> list[str]: ...

    @property
    def matrix_fingerprint(self) -> int: ...

    @property
    def topology(self) -> str:
        """Name of the network of link_free, or empty."""

    @property
    def schedule(self) -> Schedule: ...

def load_matrix_market(path: str | os.PathLike) -> CommMatrix:
    """
    Reads a Matrix Market file: row = sender, column = receiver, value = bytes. Raises nuice.Error with
    "path:line: what is wrong".
    """

def save_matrix_market(path: str | os.PathLike, matrix: CommMatrix, comment: str = '') -> None: ...

def load_schedule(path: str | os.PathLike, matrix: CommMatrix) -> ScheduleRecord:
    """
    Reads a schedule for this matrix; nuice.Error if it is for another one.
    """

def save_schedule(path: str | os.PathLike, record: ScheduleRecord, matrix: CommMatrix) -> None: ...

def exchange_serially(tables: Sequence[PhaseTable], send: Sequence[Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]]], receive: Sequence[Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]]]) -> None:
    """
    Carries out the phases one after the other. send[r][i] (uint8) belongs to tables[r].destinations[i],
    receive[r][i] to tables[r].sources[i] and is written.
    """

class Machine:
    """A network and what sending on it costs (docs/reference/machines.md)."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def topology(self) -> str: ...

    @property
    def num_ranks(self) -> int: ...

    @property
    def duplex(self) -> str: ...

    @property
    def switching(self) -> str: ...

    @property
    def routing(self) -> str: ...

    def replace(self, **fields) -> Machine:
        """A copy with other values: machine.replace(start_up_s=1e-6)."""

    def __repr__(self) -> str: ...

    @property
    def start_up_s(self) -> float: ...

    @property
    def latency_s(self) -> float: ...

    @property
    def hop_s(self) -> float: ...

    @property
    def handshake_s(self) -> float: ...

    @property
    def send_overhead_s(self) -> float: ...

    @property
    def receive_overhead_s(self) -> float: ...

    @property
    def post_receive_s(self) -> float: ...

    @property
    def async_send_s(self) -> float: ...

    @property
    def phase_s(self) -> float: ...

    @property
    def idle_phase_s(self) -> float: ...

    @property
    def barrier_s(self) -> float: ...

    @property
    def barrier_level_s(self) -> float: ...

    @property
    def byte_s(self) -> float: ...

    @property
    def loss_per_sender(self) -> float: ...

    @property
    def loss_most(self) -> float: ...

    @property
    def loss_per_sender_sending(self) -> float: ...

    @property
    def loss_most_sending(self) -> float: ...

    @property
    def timeout_s(self) -> float: ...

    @property
    def copy_byte_s(self) -> float: ...

    @property
    def memory_slowdown(self) -> float: ...

    @property
    def am_send_s(self) -> float: ...

    @property
    def am_latency_s(self) -> float: ...

    @property
    def am_handler_s(self) -> float: ...

    @property
    def am_retry_s(self) -> float: ...

    @property
    def am_entry_s(self) -> float: ...

    @property
    def exchange_saves_s(self) -> float: ...

    @property
    def control_word_s(self) -> float: ...

    @property
    def control_sum_s(self) -> float: ...

    @property
    def planning_slowdown(self) -> float: ...

    @property
    def sends_at_once(self) -> int: ...

    @property
    def receives_at_once(self) -> int: ...

    @property
    def queue_senders(self) -> int: ...

    @property
    def queue(self) -> int: ...

    @property
    def eager_limit(self) -> int: ...

    @property
    def packet_payload(self) -> int: ...

    @property
    def packet_header(self) -> int: ...

    @property
    def buffer_limit(self) -> int: ...

    @property
    def memory_limit(self) -> int: ...

    @property
    def copies_parts(self) -> bool: ...

    @property
    def async_copies(self) -> bool: ...

    @property
    def lossless(self) -> bool: ...

    @property
    def holds_while_waiting(self) -> bool: ...

    @property
    def processor_moves_bytes(self) -> bool: ...

def concatenation_s(machine: Machine, ranks: int) -> float:
    """Seconds until every rank has the whole matrix of words (004 s.3)."""

def discovery_s(machine: Machine, ranks: int, degree: float) -> float:
    """
    Seconds until every rank knows its senders, who have `degree` messages each (004 fig. 1).
    """

def control_broadcast_s(machine: Machine, num_bytes: int) -> float:
    """Seconds of a broadcast by the control network; 0 where there is none."""

def calibrated_machine_path(one_host: bool) -> str:
    """Where `nuice-calibrate --save` leaves a machine; empty without a home."""

def find_machine(name: str) -> Machine:
    """The shipped machine of that name, or the one in the file NAME.toml."""

def load_machine(path: str | os.PathLike) -> Machine:
    """Reads a machine; nuice.Error with "path:line: what is wrong"."""

def parse_machine(text: str, name: str) -> Machine:
    """Reads a machine from TOML text."""

def machine_names() -> list[str]:
    """The shipped machines."""

class RankTimes:
    """What a rank did while a schedule ran on a machine; seconds."""

    @property
    def finished_s(self) -> float: ...

    @property
    def software_s(self) -> float: ...

    @property
    def waiting_s(self) -> float:
        """Of the processor."""

    @property
    def blocked_s(self) -> float:
        """Of the send port: links or the receiver were busy."""

    @property
    def idle_s(self) -> float:
        """Neither software nor bytes in either direction."""

    @property
    def sent_bytes(self) -> int: ...

    @property
    def received_bytes(self) -> int: ...

class Simulation:
    """How long a schedule takes on a machine, and where the time goes."""

    @property
    def seconds(self) -> float: ...

    @property
    def ranks(self) -> list[RankTimes]:
        """RankTimes by rank."""

    @property
    def transfers(self) -> int: ...

    @property
    def node_contention(self) -> int:
        """Transfers that found the receiver in use."""

    @property
    def link_contention(self) -> int:
        """Transfers that found a link full."""

    @property
    def timeouts(self) -> int: ...

    @property
    def inquiries(self) -> int: ...

    @property
    def refusals(self) -> int: ...

    @property
    def delivered(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Bytes, by message."""

    def interval_times(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Timeline: begin and end in seconds, by interval."""

    def interval_table(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        Timeline: rank, activity (index into ACTIVITIES), peer, bytes, phase, by interval.
        """

class Executor:
    """A row of the table of executors."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str:
        """One line."""

    @property
    def source(self) -> str:
        """Paper and section."""

    @property
    def needs(self) -> list[str]:
        """Guarantees of the schedules that it carries out."""

    @property
    def on_mpi(self) -> bool:
        """Whether plans on MPI have it."""

    @property
    def is_simulated(self) -> bool: ...

    @property
    def needs_schedule(self) -> bool: ...

    @property
    def without_scheduler(self) -> str:
        """
        What stands in the place of a scheduler's name where it needs no schedule.
        """

    def __repr__(self) -> str: ...

def executors() -> list[Executor]:
    """All rows, in a fixed order."""

def find_executor(name: str) -> Executor:
    """The row with that name; nuice.Error lists the known names."""

ACTIVITIES: tuple = ...

def simulate_schedule(matrix: CommMatrix, schedule: Schedule, machine: Machine, executor: str = 'phased', blocking_sends: bool = True, timeline: bool = False) -> Simulation:
    """Runs a schedule on a machine, with an executor that is_simulated."""

def simulate_drs_n_on(matrix: CommMatrix, machine: Machine, seed: int = 0, retry_delay_s: float | None = None, timeline: bool = False, when_busy: str = 'refuse', early_bytes: int = 0) -> Simulation:
    """
    Runs the handshaking DRS_N (004 fig. 5), which needs no schedule. A busy receiver: refuse, list.
    """

def port_bound_s(matrix: CommMatrix, machine: Machine) -> float:
    """Lower bound on the time of any execution, by the busiest port."""

def link_bound_s(matrix: CommMatrix, machine: Machine) -> float:
    """Lower bound for straight routes, by the busiest link."""

class PacketRun:
    """What the packet-level simulator found; times in slots of a packet."""

    @property
    def seconds(self) -> float: ...

    @property
    def slot_s(self) -> float: ...

    @property
    def slots(self) -> float: ...

    @property
    def port_bound_slots(self) -> float: ...

    @property
    def link_bound_slots(self) -> float: ...

    @property
    def packets(self) -> int: ...

    @property
    def packet_hops(self) -> int: ...

    @property
    def virtual_lanes(self) -> int: ...

    @property
    def arrived_slots(self) -> list[float]:
        """By transfer."""

    @property
    def delivered(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Bytes, by message."""

def simulate_packets_on(matrix: CommMatrix, schedule: Schedule, machine: Machine, executor: str = 'phased', queueing: str = 'fifo', routing: str | None = None, packet_bytes: int = 0, buffer_packets: int = 32, seed: int = 0, early_bytes: int = 49152, chunk_bytes: int = 16384, window_bytes: int = 131072, paths: Sequence[int] = []) -> PacketRun:
    """
    Runs a schedule packet by packet on a lossless network (docs/reference/machines.md).
    """

def choose_paths(schedule: Schedule, topology: Topology) -> tuple[Schedule, list[int]]:
    """
    The schedule, its phases divided where a tree is thinned, and a path for every transfer: no link contention.
    """

def switch_throughput(ports: int, queueing: str, slots: int = 20000, seed: int = 1) -> float:
    """Of one saturated switch (Karol et al. 1987)."""

class Broadcaster:
    """A row of the table of broadcast algorithms."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str:
        """One line."""

    @property
    def source(self) -> str:
        """Paper and figure."""

class BroadcastSchedule:
    """Steps of copies: one message from a root to many."""

    def __init__(self, num_ranks: int, root: int, steps: Sequence[Sequence[tuple[int, int]]]) -> None: ...

    @property
    def num_ranks(self) -> int: ...

    @property
    def root(self) -> int: ...

    @property
    def steps(self) -> list[list[tuple[int, int]]]:
        """Of each step the pairs (src, dst)."""

    def __eq__(self, arg: BroadcastSchedule, /) -> bool: ...

def broadcasters() -> list[Broadcaster]:
    """All rows, in a fixed order."""

def make_broadcast(name: str, num_ranks: int, root: int = 0, group: Sequence[int] | None = None) -> BroadcastSchedule:
    """
    The steps of a broadcast from root to all ranks, or to the group. Raises nuice.Error for an unknown
    name, a root or member that is no rank, or a member given twice.
    """

def check_broadcast(schedule: BroadcastSchedule, group: Sequence[int]) -> str | None:
    """
    None, or one sentence on the first fault: every rank of the group must get the message exactly once, from
    one that had it before, and no rank may send or receive twice in a step.
    """

class Candidate:
    """What is expected of one scheduler with one executor; seconds."""

    @property
    def name(self) -> str:
        """"rs_n:phased\""""

    @property
    def scheduler(self) -> str: ...

    @property
    def executor(self) -> str: ...

    @property
    def applicable(self) -> bool: ...

    @property
    def predicted_by(self) -> str:
        """rule, model, simulation or measurement"""

    @property
    def phases(self) -> int: ...

    @property
    def phase_bytes(self) -> int: ...

    @property
    def planning_s(self) -> float:
        """S: making and checking the schedule once."""

    @property
    def exchange_s(self) -> float:
        """C."""

    @property
    def total_s(self) -> float:
        """S / R + C."""

    @property
    def to_bound(self) -> float: ...

    @property
    def uncertainty(self) -> float:
        """Relative, of exchange_s."""

    @property
    def why_not(self) -> str:
        """Why it is not the choice; empty for the choice."""

    def __repr__(self) -> str: ...

class Advice:
    """Which candidate suits, what each would cost, and why not the others."""

    @property
    def machine(self) -> str: ...

    @property
    def topology(self) -> str: ...

    @property
    def reuse(self) -> int: ...

    @property
    def seed(self) -> int: ...

    @property
    def port_bound_s(self) -> float: ...

    @property
    def link_bound_s(self) -> float: ...

    @property
    def bound_s(self) -> float: ...

    @property
    def phase_cost_bytes(self) -> int: ...

    @property
    def prefer_pairs(self) -> bool: ...

    @property
    def candidates(self) -> list[Candidate]:
        """The choice first."""

    @property
    def choice(self) -> Candidate: ...

    @property
    def num_contenders(self) -> int:
        """
        How many of the first candidates cannot be told from the choice, itself included.
        """

    @property
    def decided_by(self) -> str: ...

    @property
    def deciding_s(self) -> float:
        """Estimated from counted work."""

    @property
    def budget_s(self) -> float: ...

    @property
    def sentence(self) -> str: ...

    def to_json(self) -> str:
        """One JSON object, as `nuice advise --json` prints it."""

    def to_text(self) -> str:
        """A table of all candidates and the reasons."""

    def __repr__(self) -> str: ...

def advise_on(matrix: CommMatrix, machine: Machine, reuse: int, candidates: Sequence[str], seed: int, predict_by: str | None, budget_s: float | None) -> Advice:
    """Predicts the candidates and chooses; nuice.advise has the defaults."""

def advised_schedule(matrix: CommMatrix, machine: Machine, advice: Advice) -> Schedule:
    """The choice's schedule."""

def all_candidates(machine: Machine) -> list[str]:
    """What can be simulated on the machine."""

def mpi_candidates(machine: Machine) -> list[str]:
    """What the MPI library can carry out."""

def planning_cost_s(matrix: CommMatrix, scheduler: str, machine: Machine | None = None) -> float:
    """Estimated seconds to make and check a schedule."""

class ScaleName:
    """A pattern or a law of sizes."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

class ScaleRun:
    """What the rounds came to."""

    @property
    def num_phases(self) -> int: ...

    @property
    def phase_bytes(self) -> int: ...

    @property
    def letters(self) -> int:
        """Of all ranks, beside the messages themselves."""

    @property
    def most_letters_of_a_rank(self) -> int: ...

    @property
    def num_rounds(self) -> int: ...

    @property
    def seconds(self) -> float:
        """Of all ranks in this process."""

    @property
    def verified(self) -> bool:
        """By the distributed check."""

    @property
    def violation(self) -> str:
        """What was wrong, or empty."""

class ScaleReport:
    """A plan of ranks that know their own messages only."""

    @property
    def num_ranks(self) -> int: ...

    @property
    def num_messages(self) -> int: ...

    @property
    def max_degree(self) -> int: ...

    @property
    def whole_message_bytes(self) -> int: ...

    @property
    def plan(self) -> ScaleRun: ...

    @property
    def memory_per_rank_bytes(self) -> int:
        """Of the rank that has most."""

    @property
    def process_bytes(self) -> int:
        """Most that this process has had in all."""

    @property
    def num_changed(self) -> int: ...

    @property
    def follow(self) -> ScaleRun: ...

def scale_patterns() -> list[ScaleName]:
    """Whom ranks send to, by name."""

def scale_sizes() -> list[ScaleName]:
    """How much ranks send, by name."""

def plan_at_scale(num_ranks: int, degree: int, pattern: str, sizes: str, seed: int, changed: float, progress: Callable[[str, float], None]) -> ScaleReport:
    """
    Plans with all ranks in this process; progress(step, share done) is called now and then. Raises
    nuice.Error for unknown names and degrees that a pattern does not have.
    """

def modelled_planning_s(report: ScaleReport, run: ScaleRun, machine: Machine) -> float:
    """Seconds that a machine would take for the rounds of a run: a model."""

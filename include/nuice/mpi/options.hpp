// SPDX-License-Identifier: BSD-3-Clause
// Options of plans. Every option has a name, so a program can also pass it in a string, and a user can set it
// at run time:
//
//   Plan plan(comm, destinations, {.scheduler = "coloring", .executor = "async", .async = {.max_sends = 4}});
//   Plan plan(comm, destinations, PlanOptions::parse("scheduler=coloring executor=async async.max_sends=4"));
//   NUICE_OPTIONS="scheduler=coloring executor=phased" mpiexec ...       // overrides the program
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "nuice/core/dependencies.hpp"
#include "nuice/core/executor.hpp"
#include "nuice/core/outcome.hpp"
#include "nuice/core/types.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::mpi {

/// Where the matrix is gathered and the schedule is made. All values give the same schedule for the same
/// scheduler.
enum class Planning {
  everywhere,  ///< Every rank gathers the matrix and makes the schedule; only the gather communicates.
  /// No rank gathers the matrix: each rank knows only its own messages, learns its sources, and finds the
  /// phases together with the other ranks (docs/how-to/at-scale.md). Requires the scheduler
  /// distributed_coloring. A small matrix is gathered nevertheless (DistributedOptions).
  distributed,
};

/// How much the scheduler "auto" may measure to choose a method, like the planner flags of FFTW.
enum class Effort {
  estimate,  ///< Nothing is measured; the prediction decides.
  /// The program's first exchanges are measured, and the fastest method stays (docs/adr/0050). If there are
  /// several hosts and no machine is named, predictions are used only to choose the order in which messages
  /// are sent, and the first exchanges also try methods that combine or forward messages. With `learn`,
  /// exchange n can complete only when every rank has completed exchange n - 3.
  learn
};

/// Options of the executor async.
struct AsyncOptions {
  /// The maximum number of active sends of a rank; 0: no limit. With a limit every send is synchronous, so
  /// that the buffers of a slow receiver cannot overflow (strip mining, 003 s.3.1).
  int max_sends = 0;
  /// The size of a chunk in bytes. A message of plain bytes travels in 2 to 16 chunks; a message that would
  /// need more chunks travels whole. The reason for chunks: MPI sends a short message at once. Before MPI
  /// sends a long message it asks the receiver, and this request waits in the queue behind all other bytes.
  /// 0: 32 KiB over TCP; on other networks every message travels whole.
  Bytes chunk_bytes = 0;
};

/// Options of the executor `depend`. A message of at least twice early_bytes travels in two parts. When the
/// first part has arrived, the senders that wait for the message's ports and links are notified, while its
/// last early_bytes are still in flight. Shorter messages do not wait, and no message waits for them.
struct DependOptions {
  Bytes early_bytes = default_early_bytes;
};

/// Options of Planning::distributed.
struct DistributedOptions {
  /// The largest matrix, in bytes (24 bytes per message), that is gathered on every rank nevertheless.
  /// Gathering takes fewer rounds and no more memory, and gives the same plan. 0: no matrix is gathered.
  Bytes gather_bytes = 65536;
};

/// Options of aggregation (PlanOptions::combine).
struct CombineOptions {
  /// The largest message, in bytes, that is combined; the executor carries larger messages from rank to rank
  /// in the same exchange. 0: nothing is combined.
  Bytes largest_bytes = 512;
  /// The maximum number of ranks per host that exchange combined messages with other hosts; each of them
  /// serves some of the other hosts. 0: all ranks.
  int leaders = 0;
};

/// Options of PlanOptions::shared_memory.
struct SharedMemoryOptions {
  /// The largest message, in bytes, that uses shared memory; the executor carries larger messages in the same
  /// exchange. 0: no message uses shared memory.
  Bytes largest_bytes = 65536;
};

/// How data in GPU memory is transferred (docs/how-to/gpu.md).
enum class DeviceWay {
  /// If MPI says that it can read GPU memory: `direct` or `staged`, whichever is faster in the program's own
  /// exchanges. Otherwise `staged`.
  automatic,
  direct,  ///< MPI gets the device pointers, even if it says that it cannot read GPU memory.
  staged,  ///< Data are copied through pinned host memory, in chunks. Works with every MPI.
};
struct DeviceOptions {
  DeviceWay way = DeviceWay::automatic;
  /// The size of a chunk in bytes, rounded up to a multiple of 16. One chunk is copied while other chunks
  /// travel. Messages between ranks of a host are sent whole. An H100 copies a chunk of the default size in
  /// 14 us.
  Bytes chunk_bytes = Bytes{1} << 18;
};

/// Options of the scheduler "auto". Rank 0 reads the files and environment variables.
struct AutoOptions {
  /// The expected number of uses of the plan, at least 1. The cost of an exchange includes the planning time
  /// divided by this number.
  std::uint64_t reuse = 100;
  /// The machine, a name or a file as for find_machine(). If this string is empty, the adviser takes the
  /// first that exists: the machine that $NUICE_MACHINE names, the file that nuice-calibrate --save wrote for
  /// one host or for several hosts, a shipped machine. Advice::sentence names the machine in use.
  std::string machine = {};
};

/// Options of a plan. They must be equal on all ranks.
struct PlanOptions {
  /// A name of nuice::schedulers(), or "auto". With "auto", nuice::advise() chooses scheduler and executor
  /// (docs/explanation/advise.md). With Planning::distributed, "auto" means distributed_coloring.
  std::string scheduler = "auto";
  /// A name of nuice::executors() that runs on MPI, or "auto". With the scheduler "auto", the adviser also
  /// chooses the executor. If a scheduler is named, "auto" means default_executor. Schedulers that forward
  /// messages (rex, bruck) need an executor with phases.
  std::string executor = "auto";
  Effort effort = Effort::learn;
  std::uint64_t seed = 0;
  /// The cost of a phase in addition to its largest transfer, as the number of bytes that could be sent in
  /// this time (alpha / beta, Hockney's n1/2). The schedulers kpbs, bruck and distributed_coloring use this
  /// cost. From 0 to max_bytes.
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  /// Whether two ranks exchange their messages for each other in one phase (Problem::prefer_pairs).
  bool prefer_pairs = false;
  /// The network, as for make_topology() ("torus:4x4", "file:NAME"). Rank i of the communicator is rank i of
  /// the network. Schedulers that guarantee link_free need a network, and the check then proves link_free.
  std::string topology = {};
  /// Which ranks share a host (a node) and its port. "auto": ranks that can share memory share a host. "4":
  /// four consecutive ranks share a host. "0,0,1,1": the host of every rank. "1" or empty: every rank has its
  /// own port. combine, shared_memory, once_per_host and the adviser use this option; schedules ignore it.
  std::string hosts = "auto";
  /// Whether all small messages from one host to another travel as one message (aggregation). The ranks of a
  /// host assemble and distribute this message in shared memory (docs/adr/0027). If ranks cannot share
  /// memory, no messages are combined (ExchangeInfo::combined says so). Not for schedulers that forward
  /// messages (rex, bruck).
  bool combine = false;
  /// Whether messages inside a host use shared memory, without MPI and without phases (docs/adr/0043). The
  /// limit of their size is SharedMemoryOptions::largest_bytes. If ranks cannot share memory, the executor
  /// carries these messages (ExchangeInfo::shared_memory says so). The scheduler "auto" sets this option if
  /// all ranks are on one host, no executor is named, auto.reuse is at least 50, and a message is short
  /// enough.
  bool shared_memory = false;
  /// For halos: whether a value that several ranks of a host need from another host crosses the network only
  /// once. The contributions of a host are then combined before they cross the network. This is done only if
  /// it saves at least a tenth of the bytes between hosts (PlanInfo::spared_bytes), and never with combine or
  /// a topology.
  bool once_per_host = true;
  /// Where the schedule is made. For thousands of ranks use Planning::distributed.
  Planning planning = Planning::everywhere;
  /// Whether nuice::check() verifies the schedule before it is used, which takes PlanInfo::check_s.
  bool check = true;
  /// The time without progress, in seconds, after which wait(), test(), next() and poll() throw Error with
  /// code `timeout`; the text names the ranks for which this rank waits. 0: ranks wait forever. The time
  /// between two calls counts as at most a thousandth of the limit, because other ranks may have waited for
  /// this rank. The limit should be well above the time of the slowest phase. With a watchdog, waiting ranks
  /// poll. The limit also applies to planning and binding: all ranks must begin such a call within the limit.
  double watchdog_s = 0;
  /// Whether each message is sent without a schedule, when Exchange::ready() is called for this message. For
  /// host buffers only.
  bool parts = false;
  /// The folder into which every rank writes a trace of its exchanges (docs/how-to/trace.md); empty: no
  /// trace. A trace takes 1.5 MiB of memory per bound exchange.
  std::string trace = {};
  /// Whether the environment variable NUICE_OPTIONS of rank 0, a string for parse(), overrides these options.
  bool environment = true;

  AsyncOptions async = {};
  DependOptions depend = {};
  DistributedOptions distributed = {};
  CombineOptions combining = {};
  SharedMemoryOptions sharing = {};
  AutoOptions automatic = {};
  DeviceOptions device = {};

  /// An error that a binding for another language has found on this rank. Planning then throws this error on
  /// all ranks.
  Outcome fault = {};

  /// Parses a string "name=value name=value ...", on top of `defaults`. plan_option_names() has the names.
  /// Sizes may have units ("64KiB"), and so may times ("2s"); flags are true or false. Only names and syntax
  /// are checked. Throws Error with code `parse`; the text names the option and the fault, and lists the
  /// known names if a name is unknown.
  static PlanOptions parse(std::string_view text, const PlanOptions& defaults);
  static PlanOptions parse(std::string_view text) { return parse(text, {}); }
  /// Returns the options that differ from the defaults, as a string for parse(); may be empty.
  std::string text() const;
};

struct PlanOptionName {
  std::string_view name;     ///< The name, such as "async.max_sends".
  std::string_view summary;  ///< A one-line description.
};
/// Returns all options, in a fixed order.
std::span<const PlanOptionName> plan_option_names();

}  // namespace nuice::mpi

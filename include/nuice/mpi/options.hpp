// SPDX-License-Identifier: BSD-3-Clause
// Options of plans. Every option has a name, so a program can also pass it in a string, and a user at run
// time:
//
//   Plan plan(comm, destinations, {.scheduler = "coloring", .executor = "async", .async = {.max_sends = 4}});
//   Plan plan(comm, destinations, PlanOptions::parse("scheduler=coloring executor=async async.max_sends=4"));
//   NUICE_OPTIONS="scheduler=coloring executor=phased" mpiexec ...       // overrides the program
#pragma once

#include <climits>
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

/// Where the matrix is gathered and the schedule is made. All give the same schedule.
enum class Planning {
  everywhere,  ///< Every rank gathers the matrix and makes the schedule; only the gather communicates.
  /// No rank gathers the matrix. Each rank knows its own messages only, learns its sources, and finds the phases
  /// together with the others (docs/how-to/at-scale.md): for the scheduler distributed_coloring. A small matrix is
  /// gathered nevertheless (DistributedOptions).
  distributed,
};

/// How much the scheduler "auto" may measure to choose a method, as FFTW's planner flags.
enum class Effort {
  estimate,  ///< Nothing: the prediction decides.
  /// On several hosts without a named machine only the order is predicted; the first exchanges try to combine or to
  /// forward messages, and the fastest method stays (docs/adr/0050). An exchange can then complete only when every
  /// rank has completed the third one before it.
  learn
};

/// Options of the executor async.
struct AsyncOptions {
  /// The maximum number of active sends of a rank, each of them synchronous, so that a slow receiver's buffers cannot
  /// overflow (strip mining, 003 s.3.1). 0: no limit.
  int max_sends = 0;
  /// The bytes of a piece. Messages of plain bytes travel as 2 to 16 pieces, longer ones whole. The reason:
  /// MPI sends a short message at once, but asks the receiver before a long one, and this request queues
  /// behind all other bytes. 0: 32 KiB over TCP, else whole.
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
  /// The largest matrix, in bytes (24 per message), that is gathered on every rank nevertheless: this takes
  /// fewer rounds and no more memory, and gives the same plan. 0: never.
  Bytes gather_bytes = 65536;
};

/// Options of aggregation (PlanOptions::combine).
struct CombineOptions {
  /// The largest message, in bytes, that is combined; the executor carries larger ones from rank to rank in
  /// the same exchange. 0: none is combined.
  Bytes largest_bytes = 512;
  /// The maximum number of ranks of a host that exchange with other hosts, each with some of the hosts. 0:
  /// all.
  int leaders = 0;
};

/// Options of PlanOptions::shared_memory.
struct SharedMemoryOptions {
  /// The largest message, in bytes, that uses shared memory; the executor carries larger ones in the same
  /// exchange. 0: none does.
  Bytes largest_bytes = 65536;
};

/// How data in GPU memory is transferred (docs/how-to/gpu.md).
enum class DeviceWay {
  automatic,  ///< The faster path in the user's own exchanges, if MPI says that it reads GPU memory;
              ///< otherwise staged.
  direct,     ///< MPI gets the device pointers, even if it says that it cannot read GPU memory.
  staged,     ///< Through pinned memory of the host, in chunks. With every MPI.
};
struct DeviceOptions {
  DeviceWay way = DeviceWay::automatic;
  /// Bytes of a chunk, rounded to a multiple of 16: one chunk is copied while others travel. Messages between ranks of a
  /// host are sent whole. An H100 copies the default in 14 us.
  Bytes chunk_bytes = Bytes{1} << 18;
};

/// Options of the scheduler "auto". Files and environment are those of rank 0.
struct AutoOptions {
  /// The expected number of uses of the plan, at least 1: the planning time divided by it is part of the cost
  /// of an exchange.
  std::uint64_t reuse = 100;
  /// A machine, as for find_machine(). Empty: $NUICE_MACHINE; else the file of nuice-calibrate --save for
  /// this kind of start (all ranks on one host, or not); else a shipped machine. Advice::sentence says which.
  std::string machine = {};
};

/// Must be equal on all ranks.
struct PlanOptions {
  /// A name of nuice::schedulers(); or "auto": nuice::advise() chooses scheduler and executor
  /// (docs/explanation/advise.md). With Planning::distributed "auto" is distributed_coloring.
  std::string scheduler = "auto";
  /// A name of nuice::executors() that runs on MPI; or "auto": the executor that the scheduler "auto"
  /// chooses, with a named scheduler default_executor. Schedulers that forward messages (rex, bruck) need an
  /// executor with phases.
  std::string executor = "auto";
  Effort effort = Effort::learn;
  std::uint64_t seed = 0;
  /// The cost of a phase in addition to its largest transfer, in bytes that could be sent in that time (alpha
  /// / beta, Hockney's n1/2); kpbs and bruck use it. Between 0 and max_bytes.
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  /// Whether two ranks that have messages for each other exchange them in the same phase (Problem::prefer_pairs).
  bool prefer_pairs = false;
  /// The network, as for make_topology() ("torus:4x4", "slurm:FILE"); rank i of the communicator is rank i of
  /// the network.
  /// Schedulers that promise link_free need it, and the check then proves it.
  std::string topology = {};
  /// Which ranks share a host (a node) and its port. "auto": ranks that can share memory; "4": four
  /// consecutive ranks per host; "0,0,1,1": the host of every rank; "1" or empty: every rank has its own
  /// port. Used by combine, shared_memory, once_per_host and the adviser; schedules concern ranks.
  std::string hosts = "auto";
  /// Aggregation: all small messages from one host to another travel as one message, which ranks of a host
  /// assemble and distribute in shared memory (docs/adr/0027). Without shared memory nothing is combined
  /// (ExchangeInfo::combined says so). Not for schedulers that forward (rex, bruck).
  bool combine = false;
  /// Messages inside a host, up to SharedMemoryOptions::largest_bytes, go through shared memory, without MPI
  /// and without phases (docs/adr/0043). If ranks cannot share memory, the executor carries these messages
  /// (ExchangeInfo::shared_memory says so). The scheduler "auto" sets this option if all ranks are on one
  /// host.
  bool shared_memory = false;
  /// For halos: a value that several ranks of a host need from another host crosses the network once, and a
  /// host's contributions are combined before they cross it, if this saves at least a tenth of the bytes
  /// between hosts (PlanInfo::spared_bytes). Not with combine or a topology.
  bool once_per_host = true;
  /// Where the schedule is made. For thousands of ranks, or many on a host, use root.
  Planning planning = Planning::everywhere;
  /// Whether nuice::check() verifies the schedule before it is used. PlanInfo::check_s is the time it takes.
  bool check = true;
  /// Seconds of waiting without progress after which wait(), test(), next() and poll() throw Error timeout,
  /// which names the ranks waited for. 0: wait forever. The time between two calls counts for at most a
  /// thousandth of the limit, because others may have waited for this rank. The limit should be well above
  /// the time of the slowest phase. With a watchdog, waiting polls. Planning and binding are watched too: all
  /// ranks must call them within the limit.
  double watchdog_s = 0;
  /// Each message is sent when Exchange::ready() is called for it, without a schedule. For host buffers only.
  bool parts = false;
  /// A folder into which every rank writes a trace of its exchanges (docs/how-to/trace.md); empty: no trace.
  /// Takes 1.5 MiB of memory per bound exchange.
  std::string trace = {};
  /// Whether rank 0's environment variable NUICE_OPTIONS, a string for parse(), overrides these options.
  bool environment = true;

  AsyncOptions async = {};
  DependOptions depend = {};
  DistributedOptions distributed = {};
  CombineOptions combining = {};
  SharedMemoryOptions sharing = {};
  AutoOptions automatic = {};
  DeviceOptions device = {};

  /// An error that a binding for another language has found on this rank. Planning then throws it on all
  /// ranks.
  Outcome fault = {};

  /// Parses a string "name=value name=value ...", on top of `defaults`. plan_option_names() has the names; sizes may have units
  /// ("64KiB"), times too ("2 s" without the space), flags are true or false. Only names and syntax are checked.
  /// Throws Error parse, which names the option and the fault; for an unknown name it lists the known ones.
  static PlanOptions parse(std::string_view text, const PlanOptions& defaults);
  static PlanOptions parse(std::string_view text) { return parse(text, {}); }
  /// The options that differ from the defaults, as a string for parse(); may be empty.
  std::string text() const;
};

/// Name and description of an option.
struct PlanOptionName {
  std::string_view name;     ///< "async.max_sends"
  std::string_view summary;  ///< One line.
};
/// All options, in a fixed order.
std::span<const PlanOptionName> plan_option_names();

}  // namespace nuice::mpi

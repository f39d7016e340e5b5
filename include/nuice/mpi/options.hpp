// SPDX-License-Identifier: BSD-3-Clause
// What a plan is made with. Every option has a name, so that it can be given as text too, by a program or at run time:
//
//   Plan plan(comm, destinations, {.scheduler = "coloring", .executor = "async", .async = {.max_sends = 4}});
//   Plan plan(comm, destinations, PlanOptions::parse("scheduler=coloring executor=async async.max_sends=4"));
//   NUICE_OPTIONS="scheduler=coloring executor=phased" mpiexec ...       // on top of what the program says
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

/// Where the matrix is gathered and the schedule is made. The schedule is the same.
enum class Planning {
  everywhere,  ///< Every rank gathers the matrix and makes the schedule: nothing but the gather is communicated.
  /// Nowhere: each rank knows its own messages only, learns its sources, and finds phases together with the others
  /// (docs/how-to/at-scale.md): for the scheduler distributed_coloring. A small matrix is gathered all the same
  /// (DistributedOptions).
  distributed,
};

/// How much the scheduler "auto" may measure to choose a method, as FFTW's planner flags.
enum class Effort {
  estimate,  ///< Nothing: what is predicted is taken.
  /// On several hosts and where no machine was named: only the order is predicted, and exchanges try to combine messages or to
  /// forward them, and keep what is fastest (docs/adr/0050). Every rank must then come to the end of an exchange for others to
  /// end the third one after it.
  learn
};

/// Options of the executor async.
struct AsyncOptions {
  /// The maximum number of active sends of a rank, each of them synchronous, so that a slow receiver's buffers cannot
  /// overflow (strip mining, 003 s.3.1). 0: no limit.
  int max_sends = 0;
  /// The bytes of a piece. Messages of plain bytes travel as 2 to 16 pieces, longer ones whole. MPI sends a short message at once; for a
  /// long one it first asks the receiver, behind all bytes that are queued on the way. 0: 32 KiB over TCP, else whole.
  Bytes chunk_bytes = 0;
};

/// Of the executor depend: a message of at least twice this size travels as two, and when the first of them is here, those
/// that wait for the ports and links on its way are told, so the rest covers the notices' time. Shorter messages neither
/// wait nor are waited for.
struct DependOptions {
  Bytes early_bytes = default_early_bytes;
};

/// Options of Planning::distributed.
struct DistributedOptions {
  /// The largest matrix, in bytes (24 a message), that is gathered on every rank after all: that takes fewer rounds, no more memory
  /// than planning without it may, and the plan is the same. 0: none is.
  Bytes gather_bytes = 65536;
};

/// Options of aggregation (PlanOptions::combine).
struct CombineOptions {
  /// The largest combined message in bytes; the executor carries larger ones from rank to rank in the same
  /// exchange. 0: none is.
  Bytes largest_bytes = 512;
  /// The maximum number of ranks of a host that exchange with other hosts, each with some of them. 0: all.
  int leaders = 0;
};

/// Options of PlanOptions::shared_memory.
struct SharedMemoryOptions {
  /// The largest such message in bytes; the executor carries larger ones in the same exchange. 0: none.
  Bytes largest_bytes = 65536;
};

/// How data in GPU memory is transferred (docs/how-to/gpu.md).
enum class DeviceWay {
  automatic,  ///< The faster in the user's own exchanges, if MPI says that it reads GPU memory; else staged.
  direct,     ///< MPI gets the device pointers, whatever it says.
  staged,     ///< Through pinned memory of the host, in chunks. With every MPI.
};
struct DeviceOptions {
  DeviceWay way = DeviceWay::automatic;
  /// Bytes of a chunk, rounded to multiples of 16: one is copied while others travel. Messages between ranks of a host are whole. The
  /// default takes an H100 14 us.
  Bytes chunk_bytes = Bytes{1} << 18;
};

/// Options of the scheduler "auto". Files and environment are those of rank 0.
struct AutoOptions {
  /// The expected number of uses: an exchange counts 1 / reuse of the planning time. At least 1.
  std::uint64_t reuse = 100;
  /// A machine as find_machine() takes it. Empty: $NUICE_MACHINE; without it what nuice-calibrate --save has left for this
  /// kind of start (all ranks on one host, or not); without that a shipped one. Advice::sentence says which.
  std::string machine = {};
};

/// Must be equal on all ranks.
struct PlanOptions {
  /// A name of nuice::schedulers(); or "auto": nuice::advise() chooses, and the executor with it (docs/explanation/advise.md); with
  /// Planning::distributed it is distributed_coloring.
  std::string scheduler = "auto";
  /// A name of nuice::executors() that runs on MPI; or "auto": default_executor, and with the scheduler "auto" the one that it
  /// chooses. Schedulers that forward messages (rex, bruck) need one with phases.
  std::string executor = "auto";
  Effort effort = Effort::learn;
  std::uint64_t seed = 0;
  /// The cost of a phase in addition to its largest transfer, as the bytes that could be sent meanwhile (alpha / beta, Hockney's
  /// n1/2); kpbs and bruck use it. Between 0 and max_bytes.
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  /// Whether two ranks that have messages for each other exchange them in the same phase (Problem::prefer_pairs).
  bool prefer_pairs = false;
  /// The network, as make_topology() takes it ("torus:4x4", "slurm:FILE"), rank i of the communicator being its rank i.
  /// Schedulers that promise link_free need it, and the check then proves it.
  std::string topology = {};
  /// Which ranks share a host (a node), and with it a port: "auto" finds which can share memory, "4" says four on
  /// each, one host after the other, "0,0,1,1" names every rank's; "1" or empty: every rank has a port of its own. For combine,
  /// shared_memory, once_per_host and the adviser; schedules are of ranks.
  std::string hosts = "auto";
  /// Aggregation. What ranks of one host send those of another in small messages is one message of the network,
  /// and ranks of a host hand each other theirs in memory that they share (docs/adr/0027). Where they cannot share any,
  /// nothing is combined: ExchangeInfo::combined. Not for schedulers that forward (rex, bruck).
  bool combine = false;
  /// Messages between ranks of a host that are not too long go through memory that they share, without MPI (docs/adr/0043). They
  /// keep to no phases. Where ranks cannot share memory, the executor carries them: ExchangeInfo::shared_memory. The scheduler
  /// "auto" does so where all ranks are on one host.
  bool shared_memory = false;
  /// For halos: a value that several ranks of a host need from another host crosses the network once, and contributions are
  /// summed up on the host before they do, if that saves at least a tenth of the bytes between hosts. Not with combine or
  /// a topology. PlanInfo::spared_bytes says how many.
  bool once_per_host = true;
  /// Where the schedule is made. For thousands of ranks, or many on a host, use root.
  Planning planning = Planning::everywhere;
  /// Whether nuice::check() verifies the schedule before it is used. PlanInfo::check_s says what it costs.
  bool check = true;
  /// Seconds of waiting without progress after which wait(), test(), next() and poll() throw Error timeout that
  /// names the ranks waited for. Time between two calls hardly counts (a thousandth of the limit at most): others may have
  /// waited for this rank. The limit should be well above what the slowest phase takes. Waiting then polls. 0: wait forever.
  /// Planning and binding are watched alike: all ranks must come to them within the limit.
  double watchdog_s = 0;
  /// Messages leave one by one, when Exchange::ready() says so, and go by no schedule. For buffers of the host.
  bool parts = false;
  /// A folder where every rank writes what its exchanges did, and when (docs/how-to/trace.md); empty: no trace.
  /// 1.5 MiB for every bound exchange.
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

  /// An error that a binding for another language has found on this rank. Planning then fails with it on all
  /// ranks.
  Outcome fault = {};

  /// Parses a string "name=value name=value ...", on top of `defaults`. plan_option_names() has the names; sizes may have units
  /// ("64KiB"), times too ("2 s" without the space), flags are true or false. Only names and syntax are checked.
  /// Throws Error parse that names the option and what is wrong, unknown names with the known ones.
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

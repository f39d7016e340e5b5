// SPDX-License-Identifier: BSD-3-Clause
// Planned exchanges on MPI: plan once, exchange as often as you like.
//
//   std::vector<nuice::Partner> destinations = {{3, 4096}, {5, 1024}};  // this rank's row of the matrix
//   nuice::mpi::Plan plan(MPI_COMM_WORLD, destinations, {.scheduler = "rs_n"});
//   // plan.sources() says who sends what to this rank: allocate one receive buffer per source, then
//   nuice::mpi::Exchange exchange = plan.bind(send_buffers, receive_buffers);
//   for (...) { exchange.start(); /* work */ exchange.wait(); }
//   exchange.free();
//   plan.free();
//
// Errors: "Collective" calls fail on all ranks of the communicator with the same Error, or on none.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/bounds.hpp"
#include "nuice/core/credit.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/core/serial_exchange.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice {
struct Advice;  // nuice/plan/advise.hpp
}

namespace nuice::mpi {

/// How a rank walks through its phase table. All but credit post all receives first.
enum class Executor {
  async,    ///< All sends at once, in the order of the table (AC, NICE s.3.1).
  phased,   ///< Loosely synchronous: the next phase begins when this rank's own send and receive are done.
  barrier,  ///< As phased, and no rank begins a phase before all have finished the one before.
  credit,  ///< Receivers grant chunks in the order of the table, so many that their port stays busy and no more.
  automatic,  ///< phased; with the scheduler "auto" the one that it chooses.
};

/// "async", "phased", "barrier", "credit", "auto".
std::string_view executor_name(Executor executor);
/// Throws Error invalid_argument that lists the known names.
Executor find_executor(std::string_view name);

/// Where the matrix comes together and the schedule is made. The schedule is the same.
enum class Planning {
  everywhere,  ///< Every rank gathers the matrix and makes the schedule: nothing but the gather is communicated.
  root,  ///< Rank 0 does, and sends every rank its slice: the others need memory for their own messages only.
};

/// Must be equal on all ranks.
struct PlanOptions {
  /// A name of nuice::schedulers(); or "auto": nuice::advise() chooses, and the executor with it (docs/exchange.md).
  std::string scheduler = "rs_n";
  std::uint64_t seed = 0;
  /// What a phase costs beside its largest transfer, as the bytes that could be sent meanwhile (alpha /
  /// beta); kpbs and bruck look at it. Between 0 and max_bytes.
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  /// The network, as make_topology() takes it ("torus:4x4", "slurm:FILE"), rank i of the communicator being its rank i.
  /// Schedulers that promise link_free need it, and the check then proves it.
  std::string topology = {};
  /// Which ranks share a host, and with it a port: "auto" asks MPI which can share memory, "4" says so many on each, one
  /// host after the other, "0,0,1,1" names every rank's. Empty: every rank has a port of its own. With hosts, schedulers
  /// that promise one_port schedule hosts (make_host_schedule()), and the ranks of a host share credit's window.
  std::string hosts = {};
  /// Only with hosts. What one host sends another is one message, which one rank gathers and another hands out
  /// (make_combined_schedule()): for small messages. Needs phased or barrier.
  bool combine = false;
  /// Schedulers that forward messages (rex, bruck) need phased or barrier.
  Executor executor = Executor::automatic;
  /// Executor async only: at most so many sends of a rank are under way, each of them synchronous, so that a
  /// slow receiver's buffers cannot overflow (strip mining, 003 s.3.1). 0: no limit.
  int max_sends_in_flight = 0;
  /// Executor credit only: pieces travel in chunks of so many bytes, and at most window_bytes of one exchange are on their
  /// way to a rank, and about as many from a rank. (While ranks that are through have begun the next exchange, as many of
  /// that one at most come on top.) A good window is seven eighths of what the switch can hold for one port (headers
  /// come on top), and at least what the port carries in a round trip; a chunk an eighth of that. What fits a receiver's
  /// window at the start is sent without asking; where that is everything, on all ranks, nothing is bounded. Ranks of one host
  /// share the window by the bytes that they are to receive, a chunk each at least, and chunks become smaller if need be.
  Bytes chunk_bytes = default_chunk_bytes;
  Bytes window_bytes = default_window_bytes;
  /// Executor credit only: so many senders share a receiver's window, fewer when fewer are left, so that one that is busy
  /// elsewhere or late does not leave the receiver's port idle; and so many receivers a sender's. 1: one message after the other, in the order of the table. Of
  /// schedules without link contention, which need their order, two at most.
  int window_senders = 4;
  /// When nothing has moved for so many seconds of waiting, wait(), test(), next() and poll() throw Error timeout that
  /// names the ranks waited for. Time between two calls hardly counts (a thousandth of the limit at most): others may have
  /// waited for this rank. The limit should be well above what the slowest phase takes. Waiting then polls. 0: wait for ever.
  /// Planning and binding are not watched.
  double watchdog_s = 0;
  /// For thousands of ranks, or many on a host, root spares all but one the memory.
  Planning planning = Planning::everywhere;
  /// Whether nuice::check() proves the schedule before the plan is handed out. PlanInfo::check_s says what it
  /// costs.
  bool check = true;

  // Scheduler "auto" only. Files and environment are those of rank 0.

  /// How often the plan will be used: planning costs 1 / reuse of its time an exchange. At least 1.
  std::uint64_t reuse = 100;
  /// A machine as find_machine() takes it. Empty: $NUICE_MACHINE; without it what nuice-calibrate --save has left for this
  /// kind of start (all ranks on one host, or not); without that a shipped one. Advice::sentence says which.
  std::string machine = {};
  /// Whether to time the candidates that the prediction cannot tell apart, at their real sizes with buffers of their own,
  /// which takes about a second; the fastest is the choice, and is kept as wisdom.
  bool measure = false;
  /// A file with wisdom (wisdom.hpp); empty: default_wisdom_path(); "none": no wisdom. What is found there is taken
  /// instead of predicting and measuring.
  std::string wisdom = {};
};

/// What is known of a plan. Equal on all ranks; the times are maxima over the ranks.
struct PlanInfo {
  std::string scheduler;  ///< Never "auto": the one that was chosen.
  std::uint64_t seed = 0;
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  Executor executor = Executor::phased;
  Rank num_hosts = 0;          ///< That were planned with; as many as ranks without PlanOptions::hosts.
  bool combined = false;       ///< Whether what one host sends another is combined.
  MessageId num_messages = 0;  ///< Of all ranks, those to themselves not counted.
  PhaseId num_phases = 0;
  Bytes phase_bytes = 0;  ///< Sum over the phases of the largest transfer.
  /// The most bytes that one rank keeps for others during an exchange, in memory that bind() takes; 0 if no
  /// message is forwarded.
  Bytes staged_bytes = 0;
  Bounds bounds;
  double gather_s = 0;  ///< Time to learn the matrix.
  double choose_s =
      0;  ///< Time to choose the scheduler, making and timing candidates included; 0 unless "auto".
  double schedule_s = 0;   ///< Time to make the schedule and this rank's table.
  double check_s = 0;      ///< Time of nuice::check(); 0 without it.
  double predicted_s = 0;  ///< "auto": the exchange time that was expected before anything was measured.
  std::string warning;     ///< Wisdom that was not used or not written, in words; usually empty.
};

class Exchange;

/// A message that has landed.
struct Arrival {
  Partner source;     ///< Who sent it, and its bytes as planned.
  std::size_t index;  ///< Of the source in the order of bind(): in sources(); bind_reverse(): destinations().
  std::span<std::byte> data;  ///< The receive buffer, as far as the message goes; empty with bind_fields().
};

/// One buffer for all partners: message i lies at data + offsets[i]. Without offsets they lie one behind the other in the
/// order of the partners.
struct SendArray {
  const void* data = nullptr;
  Bytes bytes = 0;  ///< Room behind data.
  std::span<const Bytes> offsets = {};
};
struct ReceiveArray {
  void* data = nullptr;
  Bytes bytes = 0;
  std::span<const Bytes> offsets = {};
};

/// One field of several: counts[i] elements of a datatype for partner i, the first of them offsets[i] elements (extents
/// of the type) behind data. Without offsets they lie one behind the other. Any committed type, derived ones too.
struct SendField {
  const void* data = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::span<const std::int64_t> counts = {};
  std::span<const std::int64_t> offsets = {};
};
struct ReceiveField {
  void* data = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::span<const std::int64_t> counts = {};
  std::span<const std::int64_t> offsets = {};
};

/// A checked schedule for one communication matrix, sliced for this rank.
class Plan {
 public:
  /// Collective over parent, which is duplicated. destinations: to whom this rank sends and how many bytes,
  /// in any order; the rank itself and zero bytes are allowed. Time and memory grow with the messages of all
  /// ranks (every rank gathers the matrix, O(ranks + messages), and makes the same schedule); with Planning::root memory
  /// does on rank 0 only.
  /// Throws Error, the same on all ranks, naming the rank or pair at fault:
  ///   invalid_argument  a destination outside the communicator or given twice, a negative size, an unknown
  ///                     scheduler, an option out of range, a null communicator or an intercommunicator
  ///   limit             sizes or sums above max_bytes, a rank out of memory
  ///   mismatch          options that differ between ranks
  ///   not_applicable    the scheduler cannot handle this matrix, or forwards (combines) and the executor is async or
  ///                     credit
  ///   state             MPI is not initialized, or is finalized
  ///   io, parse         "auto": the machine's file
  ///   mpi               MPI's own error, after which the ranks may not be able to agree; under Open MPI's fault tolerance
  ///                     it names the ranks that have died
  Plan(MPI_Comm parent, std::span<const Partner> destinations, const PlanOptions& options = {});

  /// Collective over parent. A plan for a schedule of your own, of which every rank gives its slice: one
  /// loaded from a file and cut with nuice::slice(), or one that the ranks have made together. Messages may
  /// be split into pieces over several phases and forwarded by other ranks. options.scheduler, seed and
  /// phase_cost_bytes are only names here. Cost as above: every rank gathers what all ranks send, O(ranks +
  /// pieces); the check is always made.
  /// Throws Error, the same on all ranks: mismatch where table and communicator, or the tables of two ranks,
  /// do not belong together (pair and phase are named) or a byte is not delivered exactly once, or is sent on
  /// by a rank that does not have it; otherwise as above.
  static Plan from_table(MPI_Comm parent, const PhaseTable& table, const PlanOptions& options = {});

  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();  ///< Frees what free() would, unless MPI is finalized.

  // What follows throws Error state after free(); functions that bind throw it on all ranks if one of them has freed the plan.

  /// Not collective. As given to the constructor, in the same order, zero bytes and the rank itself included.
  std::span<const Partner> destinations() const;
  /// Not collective. Who sends to this rank and how many bytes, by ascending rank, the rank itself included.
  std::span<const Partner> sources() const;
  const PhaseTable& table() const;
  const PlanInfo& info() const;
  /// Not collective. What there was to choose from and why; nullptr unless the scheduler was "auto". Equal on all ranks.
  const Advice* advice() const;

  /// Collective. Makes the requests for these buffers: persistent ones, but for sends of 256 bytes and less. send[i]
  /// belongs to destinations()[i], receive[i] to sources()[i]; the memory must stay valid until Exchange::free(). A plan may be bound any
  /// number of times, and its exchanges may be under way together. Where messages are forwarded, takes memory
  /// for what this rank keeps for others: nuice::staged_bytes(table()).
  /// Throws Error, the same on all ranks: invalid_argument for a wrong number of buffers or one that is null
  /// or too small (the pair is named); limit where a piece is larger than this MPI can send; mismatch where a rank
  /// binds another plan of the same communicator, or calls another function that binds; state after free().
  Exchange bind(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive);

  /// Collective. The exchange of the transposed matrix by the same table, its phases backwards: what arrived goes
  /// back, as ghost entries are added to their owners. send[i] belongs to sources()[i], receive[i] to
  /// destinations()[i]; otherwise as bind(). O(table) more.
  Exchange bind_reverse(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive);

  /// Collective. bind() and bind_reverse() with one buffer for all partners. Throws as they do, and invalid_argument for a
  /// wrong number of offsets or messages that reach out of the buffer.
  Exchange bind_array(const SendArray& send, const ReceiveArray& receive);
  Exchange bind_array_reverse(const SendArray& send, const ReceiveArray& receive);

  /// Collective. Several fields in one run of the schedule, as if message i were the elements for partner i of all
  /// fields. The plan's bytes only say which share of a message each phase carries, so one plan, made for the elements
  /// or for their bytes, serves fields of any size. Both ends of a message must have as many elements of as many bytes
  /// (the types may lie differently in memory), and all ranks as many fields. Transfers with few bytes are one
  /// MPI message of all fields; those with many are one per field. The executor credit cuts fields at whole elements; those
  /// of a type with gaps whose elements are larger than chunk_bytes it packs, which takes as much memory as they have
  /// bytes. Types may be freed once this returns.
  /// bind_fields_reverse(): as bind_reverse(). Cost: as bind(), and a small message to each destination.
  /// Throws Error, the same on all ranks: invalid_argument for fields that cannot be or that do not fit the partners;
  /// mismatch for ends that differ (pair and field are named); not_applicable, where the plan forwards, for messages that
  /// grow by different ratios or parts that end inside an element.
  Exchange bind_fields(std::span<const SendField> send, std::span<const ReceiveField> receive);
  Exchange bind_fields_reverse(std::span<const SendField> send, std::span<const ReceiveField> receive);

  /// Collective. Releases the tables, and the communicator once no Exchange needs it: those that are still
  /// bound stay usable. (The first plan's of a communicator stays until the last plan of it is destroyed.) Calling it again
  /// does nothing.
  void free();

 private:
  struct State;
  explicit Plan(std::unique_ptr<State> state);
  State& state() const;
  /// Whom one direction of an exchange is with, and a buffer for each of them.
  template <typename Buffer>
  struct Ends {
    std::span<const Partner> partners;
    std::span<const Buffer> buffers;
  };
  Exchange bind_table(const PhaseTable& table, const Ends<SendBuffer>& send,
                      const Ends<ReceiveBuffer>& receive);
  template <typename Buffer, typename Array>
  std::vector<Buffer> buffers_in(std::span<const Partner> partners, const Array& array) const;
  Exchange bind_field_table(const PhaseTable& table, const Ends<SendField>& send,
                            const Ends<ReceiveField>& receive);
  std::unique_ptr<State> state_;
};

/// A plan bound to buffers. After every start() there must be one wait(), or test() until it returns true, or
/// next() until it returns nothing.
/// Nothing in start, test, wait, next and poll allocates memory. A rank that waits does so inside MPI; by the executor
/// credit, or with a watchdog, it looks again and again and gives up its core between two looks.
///
/// When several exchanges of the executors phased, barrier and credit are under way together, wait for them in the
/// same order on all ranks or test() them in turn: later phases begin inside test and wait only.
class Exchange {
 public:
  Exchange(Exchange&&) noexcept;
  /// What the destructor does, then takes over the other.
  Exchange& operator=(Exchange&&) noexcept;
  /// free(). One that is under way is finished first, as its buffers are about to go; so it may wait for
  /// other ranks. Touches nothing when MPI is finalized.
  ~Exchange();

  /// Collective in the sense that all ranks of the plan must call it. Does not wait for other ranks. Until
  /// the exchange is complete send buffers must not be changed and receive buffers not be touched. A message
  /// to itself is copied here. Throws Error state if the exchange is already under way or was freed.
  void start();
  /// Makes progress; true when this rank's part is complete. Throws Error state without a start().
  bool test();
  /// Returns when this rank's part is complete. Throws Error state without a start(), mpi for MPI's own
  /// errors, after which the exchange can only be destroyed; timeout if PlanOptions::watchdog_s have passed without progress,
  /// likewise. Receive buffers are then the user's again: messages that have not begun to arrive are not written any more, and
  /// those that had are given a second to end. Send buffers are not: a rank that comes late may still read them, so they must
  /// stay, and stay unchanged, as long as its result matters. What such an exchange holds is not freed, for the same reason.
  void wait();

  // Message by message, so that work on one overlaps with the others (003 s.6). May be mixed with test() and wait(),
  // which hand over nothing: what they complete is not handed over later.

  /// Waits for a message to land that was not handed over yet. Nothing: this rank's part is complete. Messages come in
  /// the order in which they land, each once, as soon as its last byte is here, whatever its phase; those of a rank to
  /// itself too, empty ones never. Later phases begin inside this call. Throws as wait().
  std::optional<Arrival> next();
  /// As next(), but does not wait: nothing means that no message is here; is_under_way() then says whether any may come.
  std::optional<Arrival> poll();
  /// Started, and not yet known to be complete.
  bool is_under_way() const;
  /// next() until there is nothing: calls handler(Partner source, std::span<std::byte> data) for every message.
  template <typename Handler>
  void wait_each(Handler&& handler) {
    while (const std::optional<Arrival> arrival = next()) handler(arrival->source, arrival->data);
  }

  /// Collective, without waiting for other ranks. Releases the requests. Throws Error state while the
  /// exchange is under way. Calling it again does nothing.
  void free();

 private:
  friend class Plan;
  friend class BroadcastPlan;
  struct State;
  explicit Exchange(std::unique_ptr<State> state);
  State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace nuice::mpi

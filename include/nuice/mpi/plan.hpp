// SPDX-License-Identifier: BSD-3-Clause
// Planned exchanges on MPI: plan once, exchange as often as you like.
//
//   std::vector<nuice::Partner> destinations = {{3, 4096}, {5, 1024}};  // this rank's row of the matrix
//   nuice::mpi::Plan plan(MPI_COMM_WORLD, destinations);
//   // plan.sources() lists the messages to this rank: allocate one receive buffer per source, then
//   nuice::mpi::Exchange exchange = plan.bind(send_buffers, receive_buffers);
//   for (...) { exchange.start(); /* work */ exchange.wait(); }
//   exchange.free();
//   plan.free();
//
// Errors: "Collective" calls fail on all ranks of the communicator with the same Error, or on none.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string>

#include "nuice/core/bounds.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/mpi/exchange.hpp"
#include "nuice/mpi/options.hpp"

namespace nuice {
struct Advice;  // nuice/plan/advise.hpp
}

namespace nuice::mpi {

/// Statistics of a plan. Equal on all ranks; the times are maxima over the ranks.
struct PlanInfo {
  std::string scheduler;  ///< The scheduler, never "auto".
  std::uint64_t seed = 0;
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  std::string
      executor;  ///< A name of nuice::executors(); never "auto". Exchange::info() has what an exchange really uses.
  std::string overridden;  ///< The options that NUICE_OPTIONS has overridden.
  Rank num_hosts = 0;      ///< Number of hosts planned for; without PlanOptions::hosts the number of ranks.
  bool combined = false;   ///< Whether messages between two hosts are combined.
  bool shared_memory = false;  ///< Whether messages inside a host use shared memory.
  MessageId num_messages = 0;  ///< Number of messages of all ranks, without messages of a rank to itself.
  MessageId num_kept = 0;      ///< The number of these that Plan::follow() kept in their phases.
  PhaseId num_phases = 0;
  Bytes phase_bytes = 0;  ///< Sum over the phases of the largest transfer.
  /// The most bytes that one rank holds for other ranks during an exchange, in memory that bind() allocates;
  /// 0 if no message is forwarded.
  Bytes staged_bytes = 0;
  Bounds bounds;
  /// For a halo: bytes saved between hosts, because each host gets a value once (PlanOptions::once_per_host).
  Bytes spared_bytes = 0;
  double gather_s = 0;  ///< Time to learn the matrix.
  double choose_s =
      0;  ///< Time to choose the scheduler, making and timing candidates included; 0 unless "auto".
  double schedule_s = 0;   ///< Time to make the schedule and this rank's table.
  double check_s = 0;      ///< Time of nuice::check(); 0 without it.
  double predicted_s = 0;  ///< With "auto": the exchange time predicted before anything was measured.
};

/// A checked schedule for one communication matrix, sliced for this rank.
class Plan {
 public:
  /// Collective over parent. The plans of a communicator share one duplicate; a plan with a watchdog has its
  /// own. destinations: the ranks to which this rank sends, with their bytes, in any order; the rank itself
  /// and zero bytes are allowed. A rank may be listed several times (a periodic grid of width two): the
  /// schedule then has one message for it, and bind() takes one buffer for each time.
  /// Time and memory grow with the messages of all ranks: every rank gathers the matrix, O(ranks + messages),
  /// and makes the same schedule. With Planning::distributed a rank needs memory for its own messages only.
  /// Throws Error, the same on all ranks, naming the rank or pair at fault:
  ///   invalid_argument  a destination outside the communicator, a negative size, an unknown
  ///                     scheduler, an option out of range, a null communicator or an intercommunicator
  ///   limit             sizes or sums above max_bytes, a rank out of memory
  ///   mismatch          options that differ between ranks
  ///   not_applicable    the scheduler cannot handle this matrix, or forwards messages and the executor has
  ///                     no phases
  ///   state             MPI is not initialized, or is finalized
  ///   io, parse         "auto": the machine's file
  ///   mpi               MPI's own error, after which the ranks may not be able to agree; under Open MPI's fault tolerance
  ///                     it names the ranks that have died
  Plan(MPI_Comm parent, std::span<const Partner> destinations, const PlanOptions& options = {});

  /// Collective over parent. Makes a plan from your own schedule, of which every rank gives its slice: from a
  /// file, cut with nuice::slice(), or made by the ranks together. Messages may be split into pieces over
  /// several phases. Unless Planning::distributed is set, other ranks may forward them. options.scheduler,
  /// seed and phase_cost_bytes only label the plan. Cost as above: every rank gathers the tables of all
  /// ranks, O(ranks + pieces); with Planning::distributed each pair of ranks compares its own pieces, O(own
  /// pieces). The schedule is always checked.
  /// Throws Error, the same on all ranks: mismatch if table and communicator, or the tables of two ranks, do
  /// not belong together (pair and phase are named), if a byte is not delivered exactly once, or if a rank
  /// forwards a byte that it does not have; otherwise as above.
  static Plan from_table(MPI_Comm parent, const PhaseTable& table, const PlanOptions& options = {});

  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();  ///< As free(), unless MPI is finalized.

  /// Collective. Makes a plan for a changed matrix, with this plan's options. destinations: all current ones,
  /// as for the constructor. This plan and its exchanges do not change.
  /// A plan by distributed_coloring with Planning::distributed reuses its phases: partners exchange changes
  /// only, new messages get phases while the others keep theirs, and changed or moved messages are checked.
  /// Cost: O(own messages) time, about ten short messages per change, and one sum over all ranks for each of
  /// 15 to 45 rounds. There may be a twentieth more phases than in a fresh plan, so make one from time to
  /// time.
  /// All other plans are made again, by the same scheduler and executor: `auto` does not choose again, and a
  /// plan of from_table() uses the scheduler that its options name.
  /// Throws Error, the same on all ranks, as the constructor does; mismatch where ranks follow different plans; state where one
  /// has freed this plan. fault: as PlanOptions::fault.
  Plan follow(std::span<const Partner> destinations, const Outcome& fault = {}) const;

  /// Collective over comm, which consists of ranks of this plan, in any order: the ranks left after a death
  /// (MPIX_Comm_shrink), or some of them. Makes a new plan for the messages among these ranks, with this
  /// plan's options; this plan does not change. Ranks are numbered as in comm. destinations() keeps its
  /// order, without the ranks that are not in comm. A list in option hosts is reused for the ranks of comm;
  /// an option topology that does not suit the number of ranks is an error.
  /// Throws Error, the same on all ranks, as the constructor does; mismatch where ranks follow different
  /// plans; state where one has freed this plan; invalid_argument if a rank of comm does not belong to this
  /// plan. fault: as PlanOptions::fault.
  Plan follow_on(MPI_Comm comm, const Outcome& fault = {}) const;

  // The functions below throw Error state after free(); those that bind throw it on all ranks if one of them
  // has freed the plan.

  /// Not collective. The destinations as given to the constructor, in the same order, zero bytes and the rank itself included.
  std::span<const Partner> destinations() const;
  /// Not collective. The ranks that send to this rank, with their bytes, by ascending rank, the rank itself
  /// included. A rank that lists this one several times appears equally often, in its order, without empty
  /// messages.
  std::span<const Partner> sources() const;
  const PhaseTable& table() const;
  const PlanInfo& info() const;
  /// Not collective. The candidates and the reason of the choice; nullptr unless the scheduler was "auto". Equal on all ranks.
  const Advice* advice() const;

  /// Collective. Rank 0 gathers the matrix of all ranks and writes it, for the command nuice (show, compare, advise, report) and
  /// nuice-bench. Memory on rank 0 grows with the messages of all ranks. Throws Error io on all ranks if it
  /// cannot be written.
  void save_matrix(const std::string& path) const;

  // Binding. Collective; all ranks must bind the same plan in the same form and direction. The memory must stay valid until
  // Exchange::free(). A plan may be bound any number of times, and its exchanges may be active together. If
  // messages are forwarded, binding allocates memory for the bytes that this rank holds for others:
  // nuice::staged_bytes(table()). Backwards, a rank sends to its sources() and receives from its
  // destinations(). Cost: O(table).
  // Throws Error, the same on all ranks: invalid_argument for a wrong number of buffers, or one that is null or too small
  // (the pair is named); limit where a piece is larger than this MPI can send; mismatch if ranks bind
  // different plans of the communicator, or a plan in different forms; state after free().

  /// One buffer per partner: send[i] belongs to destinations()[i], receive[i] to sources()[i].
  Exchange bind(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                Direction direction = Direction::forwards);

  /// One buffer for all partners. Throws invalid_argument also for a wrong number of offsets, and for
  /// messages that exceed the buffer.
  Exchange bind(const SendArray& send, const ReceiveArray& receive,
                Direction direction = Direction::forwards);

  /// Several fields in one run of the schedule: message i consists of the elements for partner i of all
  /// fields. The plan's sizes only determine which share of a message each phase carries, so one plan, made
  /// for numbers of elements or for their bytes, serves fields of any size. Both ends of a message must have
  /// the same number of elements of the same size (memory layouts may differ), and all ranks the same number
  /// of fields. A transfer with few bytes is one MPI message for all fields; one with many bytes is one MPI
  /// message per field. Types may be freed once this returns. Additional cost: a small message to each
  /// destination.
  /// Throws also: invalid_argument for invalid fields and for fields that do not fit the partners; mismatch
  /// for ends that differ (pair and field are named); not_applicable, if the plan forwards, for messages that
  /// exceed their planned sizes by different factors and for parts that end inside an element.
  Exchange bind(std::span<const SendField> send, std::span<const ReceiveField> receive,
                Direction direction = Direction::forwards);

  /// For a layer above NUICE that finds an error in this rank's memory: call it while the other ranks call
  /// any bind(). All ranks throw this error, whose text then begins with this rank's name.
  [[noreturn]] void refuse(const Error& why);
  /// One entry per message, forwards: sends[i] has the bytes of destinations()[i]. receives have the bytes of
  /// sources(), in any order of ranks; several from one rank are in its order. Empty messages may be left out
  /// of both. Types may be freed once this returns. Arrival::index counts in `receives`.
  /// Throws also: mismatch if a rank expects other messages than are sent to it; the pair is named.
  Exchange bind_messages(std::span<const Outgoing> sends, std::span<const Incoming> receives);
  /// The same in place: every start() sends the present contents of `messages` to the ranks they come from,
  /// and the exchange replaces them. Copies the contents, and needs as much memory again.
  Exchange bind_in_place(std::span<const Incoming> messages);

  /// Collective. Releases the tables, and the communicator once no Exchange needs it: exchanges that are
  /// still bound stay usable. (The duplicate that plans of a communicator share stays until the last of them
  /// is destroyed.) Calling it again does nothing.
  void free();

 private:
  struct State;
  struct Planner;
  class Binder;
  explicit Plan(std::unique_ptr<State> state);
  State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace nuice::mpi

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
  MessageId num_kept = 0;      ///< The number of these that Plan::follow() left in their phases.
  PhaseId num_phases = 0;
  Bytes phase_bytes = 0;  ///< Sum over the phases of the largest transfer.
  /// The most bytes that one rank keeps for others during an exchange, in memory that bind() takes; 0 if no
  /// message is forwarded.
  Bytes staged_bytes = 0;
  Bounds bounds;
  /// For a halo: bytes that hosts need not send each other, because each host gets a value once
  /// (PlanOptions::once_per_host).
  Bytes spared_bytes = 0;
  double gather_s = 0;  ///< Time to learn the matrix.
  double choose_s =
      0;  ///< Time to choose the scheduler, making and timing candidates included; 0 unless "auto".
  double schedule_s = 0;   ///< Time to make the schedule and this rank's table.
  double check_s = 0;      ///< Time of nuice::check(); 0 without it.
  double predicted_s = 0;  ///< "auto": the exchange time that was expected before anything was measured.
};

/// A checked schedule for one communication matrix, sliced for this rank.
class Plan {
 public:
  /// Collective over parent; its plans share a duplicate, but one with a watchdog has its own. destinations: the ranks to which this rank sends, with their bytes,
  /// in any order; the rank itself and zero bytes are allowed, and a rank may stand there several times (a periodic grid that is
  /// two wide): it is one message in the schedule, and one buffer for each time in bind(). Time and memory grow with the messages of all
  /// ranks (every rank gathers the matrix, O(ranks + messages), and makes the same schedule); with
  /// Planning::distributed they do not.
  /// Throws Error, the same on all ranks, naming the rank or pair at fault:
  ///   invalid_argument  a destination outside the communicator, a negative size, an unknown
  ///                     scheduler, an option out of range, a null communicator or an intercommunicator
  ///   limit             sizes or sums above max_bytes, a rank out of memory
  ///   mismatch          options that differ between ranks
  ///   not_applicable    the scheduler cannot handle this matrix, or forwards (combines) and the executor has no phases
  ///   state             MPI is not initialized, or is finalized
  ///   io, parse         "auto": the machine's file
  ///   mpi               MPI's own error, after which the ranks may not be able to agree; under Open MPI's fault tolerance
  ///                     it names the ranks that have died
  Plan(MPI_Comm parent, std::span<const Partner> destinations, const PlanOptions& options = {});

  /// Collective over parent. A plan for a schedule of your own, of which every rank gives its slice: one
  /// loaded from a file and cut with nuice::slice(), or one that the ranks have made together. Messages may
  /// be split into pieces over several phases and, but with Planning::distributed, forwarded by other ranks. options.scheduler, seed and
  /// phase_cost_bytes are only names here. Cost as above: every rank gathers what all ranks send, O(ranks +
  /// pieces); with Planning::distributed each pair compares its own, O(own pieces). The check is always made.
  /// Throws Error, the same on all ranks: mismatch where table and communicator, or the tables of two ranks,
  /// do not belong together (pair and phase are named) or a byte is not delivered exactly once, or is sent on
  /// by a rank that does not have it; otherwise as above.
  static Plan from_table(MPI_Comm parent, const PhaseTable& table, const PlanOptions& options = {});

  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();  ///< Frees what free() would, unless MPI is finalized.

  /// Collective. A plan for a matrix that has changed, with this one's options. destinations: all current ones, as for the constructor.
  /// This plan and what it has bound stay as they are. One made by distributed_coloring with Planning::distributed, where hosts were not scheduled, passes on what it
  /// can: partners tell each other changes only, new messages look for phases while the others stay, and what has changed or
  /// moved is checked. Cost: O(own messages) time, about ten short messages for each change, and one sum over all ranks
  /// for each of some 15 to 45 rounds; phases may become a twentieth more than the constructor makes, so make a fresh plan from time to time.
  /// Every other plan is planned again, by the same scheduler and executor: `auto` does not choose again, and for from_table() it is the scheduler
  /// that its options name.
  /// Throws Error, the same on all ranks, as the constructor does; mismatch where ranks follow different plans; state where one
  /// has freed this plan. fault: as PlanOptions::fault.
  Plan follow(std::span<const Partner> destinations, const Outcome& fault = {}) const;

  /// Collective over comm, which has ranks of this plan only: those that are left after a death
  /// (MPIX_Comm_shrink), or some of them, in any order. A plan for the messages among them, with this one's
  /// options and made from scratch; this one stays as it is. Ranks get their numbers in comm. destinations() keeps
  /// its order, without the ranks that are not in comm. A list in option hosts is taken over; an option
  /// topology that does not suit the number of ranks is an error.
  /// Throws Error, the same on all ranks, as the constructor does; mismatch where ranks follow different
  /// plans; state where one has freed this plan; invalid_argument where a rank of comm is none of this
  /// plan's. fault: as PlanOptions::fault.
  Plan follow_on(MPI_Comm comm, const Outcome& fault = {}) const;

  // What is below throws Error state after free(); functions that bind throw it on all ranks if one of them has freed the plan.

  /// Not collective. The destinations as given to the constructor, in the same order, zero bytes and the rank itself included.
  std::span<const Partner> destinations() const;
  /// Not collective. The ranks that send to this rank, with their bytes, by ascending rank, the rank itself included. A rank that lists this
  /// one several times is listed as often, in its order, without empty messages.
  std::span<const Partner> sources() const;
  const PhaseTable& table() const;
  const PlanInfo& info() const;
  /// Not collective. The candidates and the reason of the choice; nullptr unless the scheduler was "auto". Equal on all ranks.
  const Advice* advice() const;

  /// Collective. Rank 0 gathers the matrix of all ranks and writes it, for the command nuice (show, compare, advise, report) and
  /// nuice-bench. Its memory grows with the messages of all ranks. Throws Error io on all ranks if it cannot be written.
  void save_matrix(const std::string& path) const;

  // Binding. Collective; all ranks must bind the same plan in the same form and direction. The memory must stay valid until
  // Exchange::free(). A plan may be bound any number of times, and its exchanges may be active together. Where messages
  // are forwarded, binding takes memory for what this rank keeps for others: nuice::staged_bytes(table()). Backwards the
  // partners to send to are sources(), those to receive from destinations(). Cost: O(table).
  // Throws Error, the same on all ranks: invalid_argument for a wrong number of buffers, or one that is null or too small
  // (the pair is named); limit where a piece is larger than this MPI can send; mismatch where a rank binds another plan of
  // the same communicator, or otherwise; state after free().

  /// A buffer per partner: send[i] belongs to destinations()[i], receive[i] to sources()[i].
  Exchange bind(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                Direction direction = Direction::forwards);

  /// One buffer for all partners. Throws invalid_argument too for a wrong number of offsets or messages that reach out of
  /// the buffer.
  Exchange bind(const SendArray& send, const ReceiveArray& receive,
                Direction direction = Direction::forwards);

  /// Several fields in one run of the schedule, as if message i were the elements for partner i of all fields. The plan's
  /// bytes only say which share of a message each phase carries, so one plan, made for the elements or for their bytes,
  /// serves fields of any size. Both ends of a message must have as many elements of as many bytes (the types may lie
  /// differently in memory), and all ranks as many fields. Transfers with few bytes are one MPI message of all fields; those
  /// with many are one per field. Types may be freed once this returns. Additional cost: a small message to each
  /// destination.
  /// Throws also: invalid_argument for fields that cannot be or that do not fit the partners; mismatch for ends that differ
  /// (pair and field are named); not_applicable, where the plan forwards, for messages that grow by different ratios or parts
  /// that end inside an element.
  Exchange bind(std::span<const SendField> send, std::span<const ReceiveField> receive,
                Direction direction = Direction::forwards);

  /// Instead of any bind() of the other ranks, for a layer above that finds this rank's memory wrong: all ranks throw this
  /// error, with this rank's name before its text.
  [[noreturn]] void refuse(const Error& why);
  /// Each message by itself, forwards: sends[i] has the bytes of destinations()[i]; receives have those of sources(), in any order of
  /// ranks, those of one rank in its order. Empty ones may be left out of both. Types may be freed once this returns.
  /// Arrival::index counts `receives`.
  /// Throws also: mismatch where a rank expects other messages than are sent to it; the pair is named.
  Exchange bind_messages(std::span<const Outgoing> sends, std::span<const Incoming> receives);
  /// The same where every start() sends what then stands in `messages`, to the ranks from which these come, and replaces it. Takes as much
  /// memory as they have bytes, and copies it.
  Exchange bind_in_place(std::span<const Incoming> messages);

  /// Collective. Releases the tables, and the communicator once no Exchange needs it: those that are still
  /// bound stay usable. (The first plan's of a communicator stays until the last plan of it is destroyed.) Calling it again
  /// does nothing.
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

// SPDX-License-Identifier: BSD-3-Clause
// Planned exchanges on MPI: a program plans once and exchanges any number of times.
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

/// Statistics of a plan. They are equal on all ranks; the times are maxima over the ranks.
struct PlanInfo {
  std::string scheduler;  ///< The scheduler that was used, never "auto".
  std::uint64_t seed = 0;
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  /// The executor, a name of nuice::executors(), never "auto". Exchange::info() says what an exchange really
  /// uses.
  std::string executor;
  std::string overridden;      ///< The options that NUICE_OPTIONS has overridden.
  Rank num_hosts = 0;          ///< The number of hosts; without PlanOptions::hosts the number of ranks.
  bool combined = false;       ///< Whether messages between two hosts are combined.
  bool shared_memory = false;  ///< Whether messages inside a host use shared memory.
  MessageId num_messages = 0;  ///< The number of messages of all ranks, without messages of a rank to itself.
  MessageId num_kept = 0;      ///< The number of messages that Plan::follow() kept in their phases.
  PhaseId num_phases = 0;
  Bytes phase_bytes = 0;  ///< The sum of the largest transfers of all phases.
  /// The maximum number of bytes that a rank stages for other ranks during an exchange, in memory that bind()
  /// allocates; 0 if no message is forwarded.
  Bytes staged_bytes = 0;
  Bounds bounds;
  /// For a halo: the bytes saved between hosts, because each host gets a value once
  /// (PlanOptions::once_per_host).
  Bytes spared_bytes = 0;
  double gather_s = 0;  ///< The time to learn the matrix.
  /// The time to choose the scheduler, including the time to make and to measure candidates; 0 unless "auto".
  double choose_s = 0;
  double schedule_s = 0;   ///< The time to make the schedule and this rank's table.
  double check_s = 0;      ///< The time of nuice::check(); 0 without it.
  double predicted_s = 0;  ///< With "auto": the exchange time predicted before anything was measured.
};

/// This rank's slice of a checked schedule for one communication matrix.
class Plan {
 public:
  /// Collective. Makes a plan on parent. destinations: the ranks to which this rank sends, with their bytes,
  /// in any order; the rank itself and zero bytes are allowed. A rank may be listed several times (a periodic
  /// grid of width two): the schedule then has one message for it, and bind() takes one buffer for each time.
  /// The plans of a communicator share one duplicate of it; a plan with a watchdog has its own duplicate.
  /// Time and memory grow with the messages of all ranks, because every rank gathers the matrix, O(ranks +
  /// messages), and makes the same schedule. With Planning::distributed a rank needs memory for its own
  /// messages only.
  /// Throws Error, the same on all ranks, naming the rank or pair at fault:
  ///   invalid_argument  a destination outside the communicator, a negative size, an unknown
  ///                     scheduler, an option out of range, a null communicator or an intercommunicator
  ///   limit             sizes or sums above max_bytes, a rank out of memory
  ///   mismatch          options that differ between ranks
  ///   not_applicable    the scheduler cannot handle this matrix, or forwards messages and the executor has
  ///                     no phases
  ///   state             MPI is not initialized, or is finalized
  ///   io, parse         with "auto": errors of the machine's file
  ///   mpi               an error of MPI, after which the ranks may not be able to agree; under Open MPI's
  ///                     fault tolerance it names the ranks that have died
  Plan(MPI_Comm parent, std::span<const Partner> destinations, const PlanOptions& options = {});

  /// Collective. Makes a plan from the program's own schedule, of which every rank gives its slice: cut from
  /// a file by nuice::slice(), or made by the ranks together. Messages may be split into pieces over several
  /// phases. Other ranks may forward them, unless Planning::distributed is set. options.scheduler, seed and
  /// phase_cost_bytes only label the plan. The schedule is always checked.
  /// Cost: every rank gathers the tables of all ranks, O(ranks + pieces); with Planning::distributed each
  /// pair of ranks compares its own pieces, O(own pieces).
  /// Throws Error, the same on all ranks: mismatch if table and communicator, or the tables of two ranks, do
  /// not belong together (pair and phase are named), if a byte is not delivered exactly once, or if a rank
  /// forwards a byte that it does not have; otherwise as the constructor.
  static Plan from_table(MPI_Comm parent, const PhaseTable& table, const PlanOptions& options = {});

  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();  ///< Calls free(), unless MPI is finalized.

  /// Collective. Makes a plan for a changed matrix, with this plan's options. destinations: all current
  /// destinations, as for the constructor. This plan and its exchanges do not change. fault: as
  /// PlanOptions::fault.
  /// A plan by distributed_coloring with Planning::distributed reuses its phases: partners exchange only
  /// changes, new messages get phases while the other messages keep theirs, and changed or moved messages are
  /// checked. Cost: O(own messages) time, about ten short messages per change, and one sum over all ranks for
  /// each of 15 to 45 rounds. The result may have a twentieth more phases than a fresh plan, so make a fresh
  /// plan from time to time.
  /// All other plans are made again, by the same scheduler and executor: `auto` does not choose again, and a
  /// plan of from_table() uses the scheduler that its options name.
  /// Throws Error, the same on all ranks, as the constructor does; mismatch if ranks follow different plans;
  /// state if a rank has freed this plan.
  Plan follow(std::span<const Partner> destinations, const Outcome& fault = {}) const;

  /// Collective over comm. Makes a plan for the messages among the ranks of comm, with this plan's options;
  /// this plan does not change. comm contains only ranks of this plan, in any order: for example the ranks
  /// that survive after a death (MPIX_Comm_shrink). The new plan numbers ranks as in comm, and keeps the
  /// order of destinations(), without ranks outside comm. A list in option hosts is reused for the ranks of
  /// comm; an option topology that does not suit the number of ranks is an error. fault: as
  /// PlanOptions::fault.
  /// Throws Error, the same on all ranks, as the constructor does; mismatch if ranks follow different plans;
  /// state if a rank has freed this plan; invalid_argument if a rank of comm does not belong to this plan.
  Plan follow_on(MPI_Comm comm, const Outcome& fault = {}) const;

  // After free() the functions below throw Error state. Functions that bind throw it on all ranks if one rank
  // has freed the plan.

  /// Not collective. Returns the destinations in the order given to the constructor, including zero bytes and
  /// the rank itself.
  std::span<const Partner> destinations() const;
  /// Not collective. Returns the ranks that send to this rank, with their bytes, ascending, including the
  /// rank itself. A rank that lists this rank several times appears once for each message that is not empty,
  /// in the order of its list.
  std::span<const Partner> sources() const;
  const PhaseTable& table() const;
  const PlanInfo& info() const;
  /// Not collective. Returns the candidates and the reason of the choice; nullptr unless the scheduler was
  /// "auto". Equal on all ranks.
  const Advice* advice() const;

  /// Collective. Gathers the matrix of all ranks on rank 0, which writes it for the commands of nuice (show,
  /// compare, advise, report) and nuice-bench. Memory on rank 0 grows with the messages of all ranks. Throws
  /// Error io on all ranks if the file cannot be written.
  void save_matrix(const std::string& path) const;

  // Binding is collective; all ranks must bind the same plan in the same form and direction. The memory must
  // stay valid until Exchange::free(). A plan may be bound any number of times, and its exchanges may be
  // active together. If messages are forwarded, binding allocates memory for the bytes that this rank stages
  // for other ranks: nuice::staged_bytes(table()). Backwards, a rank sends to its sources() and receives from
  // its destinations(). Cost: O(table).
  // Throws Error, the same on all ranks: invalid_argument for a wrong number of buffers, or a buffer that is
  // null or too small (the pair is named); limit if a piece is larger than this MPI can send; mismatch if
  // ranks bind different plans of the communicator, or a plan in different forms; state after free().

  /// Binds one buffer per partner: send[i] belongs to destinations()[i], receive[i] to sources()[i].
  Exchange bind(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                Direction direction = Direction::forwards);

  /// Binds one buffer for all partners. Throws invalid_argument also for a wrong number of offsets, and for
  /// messages that exceed the buffer.
  Exchange bind(const SendArray& send, const ReceiveArray& receive,
                Direction direction = Direction::forwards);

  /// Binds several fields to one run of the schedule: message i consists of the elements for partner i of all
  /// fields. The plan's sizes only determine which share of a message each phase carries, so a plan made for
  /// numbers of elements, or for their bytes, serves fields of any size. Both ends of a message must have the
  /// same number of elements of the same size (memory layouts may differ), and all ranks the same number of
  /// fields. A transfer with few bytes is one MPI message for all fields; a transfer with many bytes is one
  /// MPI message per field. Types may be freed once this returns. Additional cost: a small message to each
  /// destination.
  /// Throws also: invalid_argument for invalid fields and for fields that do not fit the partners; mismatch
  /// for ends that differ (pair and field are named); not_applicable, if the plan forwards, for messages that
  /// exceed their planned sizes by different factors and for parts that end inside an element.
  Exchange bind(std::span<const SendField> send, std::span<const ReceiveField> receive,
                Direction direction = Direction::forwards);

  /// Makes a bind() of the other ranks fail. A layer above NUICE that finds an error in this rank's memory
  /// calls it while the other ranks call any bind(). All ranks throw this error, whose text then begins with
  /// this rank's name.
  [[noreturn]] void refuse(const Error& why);
  /// Binds one entry per message, in the forward direction. sends[i] must have the size of destinations()[i],
  /// and `receives` the sizes of sources(), with ranks in any order. Several messages from one rank keep the
  /// order of its list.
  /// Empty messages may be left out of both. Types may be freed once this returns. Arrival::index counts in
  /// `receives`. Throws also: mismatch if a rank expects other messages than are sent to it; the pair is
  /// named.
  Exchange bind_messages(std::span<const Outgoing> sends, std::span<const Incoming> receives);
  /// Binds messages in place: every start() sends the present contents of `messages` to the ranks from which
  /// they come, and the exchange replaces them. It copies the contents, and needs the same amount of memory
  /// again.
  Exchange bind_in_place(std::span<const Incoming> messages);

  /// Collective. Releases the tables, and the communicator once no Exchange needs it; bound exchanges stay
  /// usable. (The duplicate that plans of a communicator share is freed with the last of them.) A second call
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

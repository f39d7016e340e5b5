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

#include "nuice/core/phase_table.hpp"
#include "nuice/mpi/exchange.hpp"
#include "nuice/mpi/options.hpp"
#include "nuice/mpi/plan_info.hpp"

namespace nuice {
struct Advice;  // nuice/plan/advise.hpp
}

namespace nuice::mpi {

/// This rank's slice of a checked schedule for one communication matrix.
class Plan {
 public:
  /// Collective. Makes a plan for the ranks of `parent`. destinations: the ranks to which this rank sends,
  /// and the bytes for each, in any order; this rank itself and zero bytes are allowed. A rank may be listed
  /// several times, for example in a periodic grid of width two. The schedule then has one message to that
  /// rank, and bind() takes one buffer for each list entry. All plans on a communicator share one duplicate
  /// of the communicator, but a plan with a watchdog has its own duplicate. Time and memory grow with the
  /// messages of all ranks, because every rank gathers the matrix, O(ranks + messages), and makes the same
  /// schedule. With Planning::distributed a rank needs memory for its own messages only.
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

  /// Collective. Makes a plan from the program's own schedule. Every rank passes its slice of the schedule:
  /// the slice was cut from a file by nuice::slice(), or the ranks made their slices together. Messages may
  /// be split into pieces over several phases. Other ranks may forward them, unless Planning::distributed is
  /// set. options.scheduler, seed and phase_cost_bytes only label the plan. The schedule is always checked.
  /// Cost: every rank gathers the tables of all ranks, O(ranks + pieces); with Planning::distributed each
  /// pair of ranks compares only the pieces between them, O(own pieces).
  /// Throws Error, the same on all ranks. The code is `mismatch` if table and communicator, or the tables of
  /// two ranks, do not belong together (the text names pair and phase), if a byte is not delivered exactly
  /// once, or if a rank forwards a byte that it does not have. Other errors are as for the constructor.
  static Plan from_table(MPI_Comm parent, const PhaseTable& table, const PlanOptions& options = {});

  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();  ///< Calls free(), unless MPI is finalized.

  /// Collective. Makes a new plan for a changed matrix, with this plan's options. destinations: all
  /// destinations in the changed matrix, as for the constructor. This plan and its exchanges do not change.
  /// fault: as PlanOptions::fault.
  /// If this plan was made by distributed_coloring with Planning::distributed, the new plan reuses its
  /// phases. Partners tell each other only what has changed. New messages get phases, and most other messages
  /// keep their phases. Changed and moved messages are checked. Cost: O(own messages) time, about ten short
  /// messages per change, and 15 to 45 rounds with one sum over all ranks each. The new plan may have about
  /// 5 % more phases than a plan from the constructor, so call the constructor from time to time.
  /// If this plan was made in any other way, the new plan is made from scratch, by the same scheduler and
  /// executor: `auto` does not choose again, and for a plan of from_table() the options name the scheduler.
  /// Throws Error, the same on all ranks, as the constructor does; also with code `mismatch` if ranks follow
  /// different plans, and `state` if a rank has freed this plan.
  Plan follow(std::span<const Partner> destinations, const Outcome& fault = {}) const;

  /// Collective over comm. Makes a new plan for the messages among the ranks of comm, with this plan's
  /// options; this plan does not change. comm contains only ranks of this plan, in any order: for example the
  /// ranks that survive when others have died (MPIX_Comm_shrink). The new plan numbers ranks as in comm. It
  /// keeps the order of destinations(), and omits ranks outside comm. If the option hosts is a list, each
  /// rank of comm keeps its host. If the option topology does not suit the number of ranks of comm, the call
  /// fails. fault: as PlanOptions::fault.
  /// Throws Error, the same on all ranks, as the constructor does; also with code `mismatch` if ranks follow
  /// different plans; `state` if a rank has freed this plan; `invalid_argument` if a rank of comm does not
  /// belong to this plan.
  Plan follow_on(MPI_Comm comm, const Outcome& fault = {}) const;

  // After free() the functions below throw Error with code `state`. If one rank has freed the plan, the
  // functions that bind throw this error on all ranks.

  /// Not collective. Returns the destinations in the order given to the constructor, including destinations
  /// with zero bytes and this rank itself.
  std::span<const Partner> destinations() const;
  /// Not collective. Returns the ranks that send to this rank, and the bytes from each, by ascending rank;
  /// this rank itself is included if it sends to itself. If a rank lists this rank several times, it appears
  /// once for each message that is not empty, in the order of the sender's list.
  std::span<const Partner> sources() const;
  const PhaseTable& table() const;
  const PlanInfo& info() const;
  /// Not collective. Returns the candidates and the reason for the choice; nullptr unless the scheduler was
  /// "auto". The result is equal on all ranks.
  const Advice* advice() const;

  /// Collective. Gathers the matrix on rank 0, which writes it to a file for `nuice show`, `compare`,
  /// `advise`, `report`, and nuice-bench. The memory that rank 0 needs grows with the messages of all ranks.
  /// Throws Error with code `io` on all ranks if the file cannot be written.
  void save_matrix(const std::string& path) const;

  // Binding is collective; all ranks must bind the same plan in the same form and direction. The memory must
  // stay valid until Exchange::free(). A plan may be bound any number of times, and several of its exchanges
  // may be active at once. If messages are forwarded, binding allocates memory for the bytes that this rank
  // stages for other ranks: nuice::staged_bytes(table()). If direction is `backwards`, a rank sends to its
  // sources() and receives from its destinations(). Cost: O(table).
  // Throws Error, the same on all ranks. Codes: `invalid_argument` for a wrong number of buffers, or a buffer
  // that is null or too small (the text names the pair); `limit` if a piece is larger than this MPI can send;
  // `mismatch` if ranks bind different plans of the communicator, or bind the plan in different forms;
  // `state` after free().

  /// Binds one buffer per partner: send[i] belongs to destinations()[i], receive[i] to sources()[i].
  Exchange bind(std::span<const SendBuffer> send, std::span<const ReceiveBuffer> receive,
                Direction direction = Direction::forwards);

  /// Binds one send buffer and one receive buffer for all partners. Throws Error with code `invalid_argument`
  /// also for a wrong number of offsets, and for messages that exceed the buffer.
  Exchange bind(const SendArray& send, const ReceiveArray& receive,
                Direction direction = Direction::forwards);

  /// Binds several fields, which travel in one exchange. Message i consists of the elements of all fields for
  /// partner i. The sizes in the plan only determine which share of a message each phase carries. Therefore a
  /// plan that was made for numbers of elements, or for bytes, serves fields of any size. Both ends of a
  /// message must have the same number of elements of the same size, but memory layouts may differ. All ranks
  /// must have the same number of fields. A transfer with few bytes is one MPI message for all fields; a
  /// transfer with many bytes is one MPI message per field. Types may be freed after the call. Additional
  /// cost: a small message to each destination.
  /// Throws also: `invalid_argument` for invalid fields, and for fields that do not suit the partners;
  /// `mismatch` if both ends of a message differ (the text names pair and field); `not_applicable` if the
  /// plan forwards messages, and the ratio of size to planned size differs between messages or a part ends
  /// inside an element.
  Exchange bind(std::span<const SendField> send, std::span<const ReceiveField> receive,
                Direction direction = Direction::forwards);

  /// Makes bind() fail on all ranks. A layer above NUICE that finds an error in this rank's memory calls
  /// refuse() while the other ranks call any form of bind(). All ranks throw the error `why`; its text then
  /// begins with this rank's number.
  [[noreturn]] void refuse(const Error& why);
  /// Binds one entry per message, in the forward direction. The size of sends[i] must be the size of
  /// destinations()[i]. `receives` must contain the messages of sources(), with the same sizes; the order of
  /// the ranks is free. If one rank sends several messages to this rank, `receives` lists them in the
  /// sender's order.
  /// Both lists may omit empty messages. Types may be freed after the call. Arrival::index is a position in
  /// `receives`. Throws also: `mismatch` if a rank expects other messages than are sent to it; the text names
  /// the pair.
  Exchange bind_messages(std::span<const Outgoing> sends, std::span<const Incoming> receives);
  /// Binds messages that are sent and received in the same memory. Each entry of `messages` names a rank and
  /// a buffer. Every start() sends the contents of the buffer to this rank; the message from this rank then
  /// replaces the contents. start() copies the contents first, so the exchange needs as much memory again.
  Exchange bind_in_place(std::span<const Incoming> messages);

  /// Collective. Releases the tables; bound exchanges stay usable. The duplicate of the communicator is freed
  /// when no plan and no exchange needs it any more. A second call of free() does nothing.
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

// SPDX-License-Identifier: BSD-3-Clause
// An exchange: a plan bound to memory. It is started, tested and waited for; messages can be taken one by one
// as they arrive.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nuice/core/error.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/mpi/buffers.hpp"

namespace nuice::mpi {

/// A message that has arrived.
struct Arrival {
  Partner source;             ///< Its sender, and its bytes as planned.
  std::size_t index;          ///< Index of the source in sources(); backwards in destinations().
  std::span<std::byte> data;  ///< The message in its receive buffer; empty for fields.
};

/// The direction of the messages of a plan.
enum class Direction {
  forwards,   ///< From senders to the destinations that they listed.
  backwards,  ///< From the receivers to the senders: the transposed matrix, with the phases of the same table
              ///< in reverse order. For example, ghost entries are added to their owners.
};

/// A method that the scheduler "auto" tries on exchanges of the user's own.
struct MethodTrial {
  std::string name;  ///< "coloring:phased"; "@" begins options in addition to the plan's, as in
                     ///< NUICE_OPTIONS.
  int blocks;        ///< Number of rounds in which it was timed.
  double mean_s;  ///< Time of the slowest rank in start, test, wait and next; geometric mean of the rounds.
  bool is_in;     ///< Whether it may be tried again.
};

/// How an exchange is carried out. The executor is equal on all ranks; results of trials are equal once all
/// ranks have received them.
struct ExchangeInfo {
  std::string executor;         ///< The plan's executor; if methods are tried, the one in use.
  std::string scheduler;        ///< The plan's scheduler; if methods are tried, that of the method in use.
  std::int64_t used_since = 1;  ///< The first exchange by this method, counted from 1.
  std::string last;             ///< If methods are tried: the method of the last exchange.
  std::vector<MethodTrial>
      methods;  ///< If methods are tried: all of them; the one chosen beforehand is first.
  /// With PlanOptions::combine: what is combined, or why nothing is, in words; otherwise empty.
  std::string combined;
  /// With PlanOptions::shared_memory: how many messages use it, or why none does; otherwise empty.
  std::string shared_memory;
  /// With buffers in GPU memory on any rank: how they are transferred, and why; otherwise empty.
  std::string device;
};

class DeviceRun;  // internal
class HaloExchange;
class KeptCalls;  // internal

/// A plan bound to buffers. After every start() there must be one wait(), or test() until it returns true, or
/// next() until it returns nothing.
/// start, test, wait, next and poll allocate no memory. A rank waits inside MPI; with a watchdog it polls,
/// and yields its core between two polls.
///
/// If several exchanges of executors other than async are active, wait for them in the same order on all
/// ranks, or test() them alternately: later phases begin inside test and wait only.
class Exchange {
 public:
  Exchange(Exchange&&) noexcept;
  /// Frees this exchange as the destructor does, then takes over the other.
  Exchange& operator=(Exchange&&) noexcept;
  /// Calls free(). An active exchange is completed first, because its buffers may be freed next; this may
  /// wait for other ranks, and reports the missing wait() on stderr, once. Does nothing if MPI is finalized.
  ~Exchange();

  /// All ranks of the plan must call it; it does not wait for them. Until the exchange is complete, do not
  /// change send buffers and do not touch receive buffers. A message to itself is copied here. Throws Error
  /// state if the exchange is already active or was freed.
  void start();
  /// As start(), for buffers in GPU memory and a program that works on a stream of its own (cudaStream_t,
  /// hipStream_t): the exchange follows all earlier work on the stream. start() without a stream follows the
  /// work on the legacy default stream. Both wait for that work, because the first bytes are sent before they
  /// return. On host memory the same as start().
  void start(void* stream);
  /// Makes progress; true when this rank's part is complete. Throws Error state without a start().
  bool test();
  /// Returns when this rank's part is complete. Throws Error state without a start(), mpi for MPI's own
  /// errors, timeout if PlanOptions::watchdog_s have passed without progress. After either the exchange can
  /// only be destroyed. Receive buffers may then be used again: a message that has not begun to arrive is no
  /// longer written, and a message that has begun gets a second to complete. Send buffers must stay unchanged
  /// as long as the result of a late rank matters, because that rank may still read them. For the same reason
  /// the resources of such an exchange are not freed.
  void wait();
  /// As wait(), but data may still be in transit to the GPU's memory: only later work on the stream may use
  /// the buffers. On host memory the same as wait().
  void wait(void* stream);

  // Message by message, so that work on one overlaps with the others (003 s.6). next() and poll() may be
  // mixed with test() and wait(), which return no messages: a message that these complete is not returned
  // later.

  /// Waits for the next message to arrive; returns nothing when this rank's part is complete. Messages are
  /// returned in the order of arrival, each once, as soon as the last byte has arrived, whatever the phase. A
  /// message of a rank to itself is returned too, an empty one is not. Later phases begin inside this call.
  /// Throws as wait().
  std::optional<Arrival> next();
  /// As next(), but does not wait: it returns nothing if no message has arrived; is_under_way() then tells
  /// whether more may arrive.
  std::optional<Arrival> poll();
  /// Whether it is active: started, and not yet known to be complete.
  bool is_under_way() const;
  /// How the exchange is carried out, and the results of trials so far. It may allocate memory.
  const ExchangeInfo& info() const;
  // Messages that are ready one by one, with PlanOptions::parts: start() sends nothing, as in MPI's
  // partitioned communication. Any thread may call ready() and arrived() while another is in wait(). With
  // MPI_THREAD_MULTIPLE the calling thread sends; otherwise the thread that initialised MPI does, in ready(),
  // test(), wait(), next() and poll().

  /// Lets send message i be sent. i counts in the order of bind(), or is the block of a call with MPI's
  /// arguments. Every start() needs one call for each message, empty ones included; wait() returns after the
  /// last. Throws Error state before start() and for a second call; not_applicable without parts; mpi.
  void ready(std::size_t i);
  /// Whether message i, counted as Arrival::index, has arrived. Makes progress. True for an empty message.
  /// Throws as ready().
  bool arrived(std::size_t i);
  /// Calls handler(Partner source, std::span<std::byte> data) for every message, by next() until none is
  /// left.
  template <typename Handler>
  void wait_each(Handler&& handler) {
    while (const std::optional<Arrival> arrival = next()) handler(arrival->source, arrival->data);
  }

  /// Collective, without waiting for other ranks. Releases the requests. Throws Error state while the
  /// exchange is active. Calling it again does nothing.
  void free();

 private:
  friend class Plan;
  friend class Exchanger;
  friend class DeviceRun;
  friend class KeptCalls;
  friend class HaloExchange;
  struct State;
  explicit Exchange(std::unique_ptr<State> state);
  /// The data to send could not be read: throws the error, and a device's error on all ranks.
  [[noreturn]] void give_up(const Error& error);
  State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace nuice::mpi

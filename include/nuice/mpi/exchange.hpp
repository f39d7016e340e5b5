// SPDX-License-Identifier: BSD-3-Clause
// An exchange: a plan bound to memory. A program starts it, tests it or waits for it, and may take messages
// one by one as they arrive.
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
  Partner source;     ///< The sender, and the planned number of bytes.
  std::size_t index;  ///< The index of the sender in sources(); in a backward exchange, in destinations().
  std::span<std::byte> data;  ///< The message in its receive buffer; empty for fields.
};

/// The direction of the messages of a plan.
enum class Direction {
  forwards,  ///< From senders to the destinations that they listed.
  /// From the receivers to the senders. The phases of the plan run in reverse order and deliver the
  /// transposed matrix. For example, ghost entries are added to their owners.
  backwards,
};

/// A method that the scheduler "auto" tries in the program's own exchanges.
struct MethodTrial {
  /// The name, such as "coloring:phased". If the name contains "@", the part after "@" is a string of options
  /// that the method adds to the plan's options.
  std::string name;
  int blocks;  ///< The number of rounds in which the method was timed.
  /// The time that the slowest rank spends in start, test, wait and next; the geometric mean over the rounds.
  double mean_s;
  bool is_in;  ///< Whether the method may be tried again.
};

/// Information on how an exchange is carried out. The executor is equal on all ranks; results of trials are
/// equal once all ranks have received them.
struct ExchangeInfo {
  std::string executor;   ///< The plan's executor; if methods are tried, the executor in use.
  std::string scheduler;  ///< The plan's scheduler; if methods are tried, the scheduler in use.
  /// The number of the first exchange that used the current method; exchanges count from 1.
  std::int64_t used_since = 1;
  std::string last;  ///< If methods are tried: the method of the last exchange.
  /// If methods are tried: all methods; the first is the method chosen before measuring.
  std::vector<MethodTrial> methods;
  /// With PlanOptions::combine: one line that says which messages are combined, or why no message is;
  /// otherwise empty.
  std::string combined;
  /// With PlanOptions::shared_memory: one line that says how many messages use shared memory, or why no
  /// message does; otherwise empty.
  std::string shared_memory;
  /// If any rank has buffers in GPU memory: one line that says how they are transferred, and why; otherwise
  /// empty.
  std::string device;
};

class DeviceRun;  // internal
class HaloExchange;

/// A plan bound to buffers. After every start() the program must call wait(), or test() until it returns
/// true, or next() until it returns nothing.
/// start, test, wait, next and poll allocate no memory. A waiting rank waits inside MPI; with a watchdog the
/// rank polls, and yields its core between two polls.
///
/// If several exchanges with executors other than async are active, all ranks must wait for these exchanges
/// in the same order, or test() them alternately. The reason: later phases begin only inside test and wait.
class Exchange {
 public:
  Exchange(Exchange&&) noexcept;
  /// Frees this exchange like the destructor, then takes over the other exchange.
  Exchange& operator=(Exchange&&) noexcept;
  /// Calls free(). An active exchange is completed first, because its buffers may be freed next. Completing
  /// it may wait for other ranks; the missing wait() is reported on stderr, once. Does nothing if MPI is
  /// finalized.
  ~Exchange();

  /// Starts the exchange. All ranks of the plan must call start(), but start() does not wait for other ranks.
  /// Until the exchange is complete, the program must not change send buffers, and must not access receive
  /// buffers. start() copies this rank's message to itself. Throws Error with code `state` if the exchange is
  /// already active or was freed.
  void start();
  /// Starts an exchange of GPU memory for a program that works on its own stream (cudaStream_t, hipStream_t).
  /// The exchange uses the buffers after all earlier work on the stream; with start() without a stream, after
  /// the work on the legacy default stream. Both functions wait for this work, because they send the first
  /// bytes before they return. For host memory this function is the same as start().
  void start(void* stream);
  /// Makes progress. Returns true if this rank's part is complete. Throws Error with code `state` if the
  /// exchange was not started.
  bool test();
  /// Waits until this rank's part is complete. Throws Error with code `state` if the exchange was not
  /// started; `mpi` for errors of MPI; `timeout` if PlanOptions::watchdog_s seconds have passed without
  /// progress.
  /// After an error with code `mpi` or `timeout` the exchange can only be destroyed. Receive buffers may then
  /// be used again: a message that has not begun to arrive is no longer written, and a message that has begun
  /// to arrive gets one second to complete. Send buffers must stay unchanged as long as the result of a late
  /// rank matters, because that rank may still read them. For the same reason the resources of such an
  /// exchange are not freed.
  void wait();
  /// Waits like wait(), but data may still be in transit to GPU memory: only later work on the stream may use
  /// the buffers. For host memory this function is the same as wait().
  void wait(void* stream);

  // The next functions return single messages, so that the program can work on one message while others are
  // in transit (003 s.6). They may be mixed with test() and wait(), which return no messages. A message that
  // test() or wait() completes is not returned later.

  /// Waits for the next message to arrive and returns it, or nothing if this rank's part is complete. Every
  /// message is returned once, when its last byte has arrived, whatever its phase; messages are returned in
  /// the order of arrival. A rank's message to itself is returned too, but an empty message is not. Later
  /// phases begin inside this call. Throws the errors of wait().
  std::optional<Arrival> next();
  /// Returns the next message without waiting; nothing if no message has arrived. is_under_way() then tells
  /// whether more messages may arrive.
  std::optional<Arrival> poll();
  /// Returns whether the exchange is active: started, and not yet known to be complete.
  bool is_under_way() const;
  /// Returns how the exchange is carried out, and the results of trials so far. May allocate memory.
  const ExchangeInfo& info() const;
  // With PlanOptions::parts a program sends each message when the message is ready, like MPI's partitioned
  // communication; start() then sends nothing. Any thread may call ready() and arrived() while another thread
  // is in wait(). With MPI_THREAD_MULTIPLE the calling thread sends; otherwise the thread that initialised
  // MPI sends, in ready(), arrived(), test(), wait(), next() and poll().

  /// Allows message i to be sent. Messages are numbered in the order of bind(); in a call with MPI's
  /// arguments (alltoallv_init()), i is the number of the block. After every start(), call ready() once for
  /// each message, including empty messages; wait() returns only after the last of these calls. Throws Error
  /// with code `state` before start(), and for a second call with the same message; `not_applicable` without
  /// PlanOptions::parts; `mpi` for errors of MPI.
  void ready(std::size_t i);
  /// Makes progress. Returns whether message i, numbered like Arrival::index, has arrived; true for an empty
  /// message. Throws the errors of ready().
  bool arrived(std::size_t i);
  /// Calls handler(Partner source, std::span<std::byte> data) for every message, in the order of next(),
  /// until no message is left.
  template <typename Handler>
  void wait_each(Handler&& handler) {
    while (const std::optional<Arrival> arrival = next()) handler(arrival->source, arrival->data);
  }

  /// Releases the requests. Collective, but does not wait for other ranks. Throws Error with code `state` if
  /// the exchange is active. A second call does nothing.
  void free();

 private:
  friend class Plan;
  friend class Exchanger;
  friend class DeviceRun;
  friend class HaloExchange;
  struct State;
  explicit Exchange(std::unique_ptr<State> state);
  /// Ends an exchange whose data could not be read: throws the error; an error of a device is thrown on all
  /// ranks.
  [[noreturn]] void give_up(const Error& error);
  State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace nuice::mpi

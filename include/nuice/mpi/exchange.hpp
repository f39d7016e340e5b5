// SPDX-License-Identifier: BSD-3-Clause
// An exchange: a plan bound to memory. start, test, wait, and messages one by one as they land.
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
#include "nuice/plan/serial_exchange.hpp"

namespace nuice::mpi {

/// A message that has arrived.
struct Arrival {
  Partner source;             ///< Its sender, and its bytes as planned.
  std::size_t index;          ///< Index of the source in sources(); backwards in destinations().
  std::span<std::byte> data;  ///< The message in its receive buffer; empty for fields.
};

/// One buffer for all partners: message i lies at data + offsets[i]. Without offsets they are contiguous in the
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
/// of the type) behind data. Without offsets they are contiguous. Any committed type, derived ones too.
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

/// `count` elements of a committed datatype for a rank, or from one. Both ends must agree on the bytes; types may differ as MPI allows.
struct Outgoing {
  Rank to;
  const void* data;
  std::int64_t count;
  MPI_Datatype type = MPI_BYTE;
};
struct Incoming {
  Rank from;
  void* data;
  std::int64_t count;
  MPI_Datatype type = MPI_BYTE;
};

/// The direction of the messages of a plan.
enum class Direction {
  forwards,  ///< From senders to the destinations that they listed.
  backwards,  ///< From the receivers to the senders: the transposed matrix by the same table, its phases backwards. What
              ///< arrived goes back, as ghost entries are added to their owners.
};

/// A method that the scheduler "auto" tries on exchanges of the user's own.
struct MethodTrial {
  std::string name;  ///< "coloring:phased"; after "@" options in addition to the plan's, as in NUICE_OPTIONS.
  int blocks;        ///< Number of rounds in which it was timed.
  double mean_s;  ///< Of the slowest rank, in start, test, wait and next; the geometric mean of the rounds.
  bool is_in;     ///< Whether it is tried again.
};

/// What carries out an exchange. The executor is equal on all ranks; what was learnt is once all have heard of it.
struct ExchangeInfo {
  std::string executor;         ///< The plan's, or where methods are tried the one in use.
  std::string scheduler;        ///< The plan's, or where methods are tried that of the one in use.
  std::int64_t used_since = 1;  ///< The exchange that was the first by this method, counted from 1.
  std::string last;             ///< Where methods are tried: the one of the last exchange.
  std::vector<MethodTrial>
      methods;  ///< Where methods are tried: all of them, the one chosen beforehand first.
  /// Of PlanOptions::combine: what is combined, or why nothing is, in words; empty without it.
  std::string combined;
  /// With PlanOptions::shared_memory: how many messages use it, or why none does; otherwise empty.
  std::string shared_memory;
  /// With buffers in GPU memory on any rank: how they are transferred, and why; otherwise empty.
  std::string device;
};

class DeviceRun;  // of the library
class HaloExchange;
class KeptCalls;  // likewise

/// A plan bound to buffers. After every start() there must be one wait(), or test() until it returns true, or
/// next() until it returns nothing.
/// Nothing in start, test, wait, next and poll allocates memory. A rank that waits does so inside MPI; with a
/// watchdog it looks again and again and gives up its core between two looks.
///
/// When several exchanges of executors other than async are active together, wait for them in the
/// same order on all ranks or test() them in turn: later phases begin inside test and wait only.
class Exchange {
 public:
  Exchange(Exchange&&) noexcept;
  /// Frees this exchange as the destructor does, then takes over the other.
  Exchange& operator=(Exchange&&) noexcept;
  /// free(). An active exchange is completed first, as its buffers are about to go; so it may wait for
  /// other ranks; it reports the missing wait() on stderr, once. Touches nothing when MPI is finalized.
  ~Exchange();

  /// Collective in the sense that all ranks of the plan must call it. Does not wait for other ranks. Until
  /// the exchange is complete send buffers must not be changed and receive buffers not be touched. A message
  /// to itself is copied here. Throws Error state if the exchange is already active or was freed.
  void start();
  /// As start(), where buffers lie in a GPU's memory and the program works on a stream of its own (cudaStream_t, hipStream_t): the
  /// exchange follows all earlier work on the stream. start() follows the work on the legacy default stream. Either
  /// waits for that work until the first bytes may be sent. On host memory the same as start().
  void start(void* stream);
  /// Makes progress; true when this rank's part is complete. Throws Error state without a start().
  bool test();
  /// Returns when this rank's part is complete. Throws Error state without a start(), mpi for MPI's own
  /// errors, after which the exchange can only be destroyed; timeout if PlanOptions::watchdog_s have passed without progress,
  /// likewise. Receive buffers are then the user's again: messages that have not begun to arrive are not written any more, and
  /// those that had are given a second to end. Send buffers are not: a rank that comes late may still read them, so they must
  /// stay, and stay unchanged, as long as its result matters. What such an exchange holds is not freed, for the same reason.
  void wait();
  /// As wait(), but data may still be in transit to the GPU's memory: later work on the stream
  /// finds it. Buffers must not be used otherwise before that. On host memory the same as wait().
  void wait(void* stream);

  // Message by message, so that work on one overlaps with the others (003 s.6). May be mixed with test() and wait(),
  // which hand over nothing: what they complete is not handed over later.

  /// Waits for the next message to arrive; nothing when this rank's part is complete. Messages are returned in
  /// the order of arrival, each once, as soon as its last byte is here, whatever its phase; those of a rank to
  /// itself too, empty ones never. Later phases begin inside this call. Throws as wait().
  std::optional<Arrival> next();
  /// As next(), but does not wait: nothing means that no message is here; is_under_way() then says whether any may come.
  std::optional<Arrival> poll();
  /// Whether it is active: started, and not yet known to be complete.
  bool is_under_way() const;
  /// How the exchange is carried out, and the results of trials so far. Do not call it between start() and the end of an exchange if nothing may allocate.
  const ExchangeInfo& info() const;
  // Messages that are ready one by one, with PlanOptions::parts: start() sends nothing, as MPI's partitioned communication. From any
  // thread, while another is in wait(). Where MPI_THREAD_MULTIPLE was asked for, the calling thread sends; otherwise the one
  // that initialised MPI does, in ready(), test(), wait(), next() and poll().

  /// Message i of those that are sent may leave: by the order of bind(), or the block of a call with MPI's arguments. Once for each
  /// message after every start(), an empty one too: wait() ends after the last. Throws Error state before start() and the second
  /// time; not_applicable without parts; mpi.
  void ready(std::size_t i);
  /// Whether message i is here, counted as Arrival::index. Makes progress. True for one without bytes. Throws as ready().
  bool arrived(std::size_t i);
  /// next() until there is nothing: calls handler(Partner source, std::span<std::byte> data) for every message.
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
  friend class BroadcastPlan;
  friend class DeviceRun;
  friend class KeptCalls;
  friend class HaloExchange;
  struct State;
  explicit Exchange(std::unique_ptr<State> state);
  /// What was to be sent is not there: throws the error, on all ranks where it is a device's.
  [[noreturn]] void give_up(const Error& error);
  State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace nuice::mpi

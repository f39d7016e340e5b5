// SPDX-License-Identifier: BSD-3-Clause
// Active messages: a message names a handler, which runs on the receiver when the message is received (von
// Eicken et al., ISCA 1992; CMAML and Strata in 002 s.4.3, 004 s.2.2).
//
//   am::Endpoint ep(am::mpi::connect(MPI_COMM_WORLD));    // nuice/mpi/am.hpp
//   auto visit = ep.on<Cell>("visit", [&](am::Context& from, const Cell& c) { queue.push(c); });
//   ep.seal();                                            // collective: do all ranks have the same handlers?
//   ep.send(neighbour, visit, Cell{3, 4});
//   ep.quiesce();                                         // collective: all messages are handled
//
// Progress: handlers run only inside calls documented as "Makes progress", or with Interruptible or
// ProgressThread (progress.hpp). Other calls make no progress.
//
// A handler may call reply() once, call send() and call() any number of times, push to a Coalescer, and
// re-arm ports. A handler must not wait: poll, poll_until, get, put of bulk data, barrier, quiesce and seal
// throw Error with code `state` inside a handler. Messages of a handler are sent when the receiver has room,
// at the latest while this rank polls. Until then this rank keeps them (Stats::most_deferred counts them). So
// no handler waits for another rank, even if all ranks send to each other as fast as they can.
//
// Guarantees: every message is handled once. Messages from one rank to another are handled in the order in
// which they were sent. This order includes results of calls, and coalesced items, which are sent when their
// buffer is flushed. Puts have an order of their own.
//
// Errors of an arriving message (unknown handler, wrong size, a late or oversized put) are thrown on the
// receiver, by the call that made the progress. The message is dropped and the endpoint stays usable. This
// call also throws the exceptions of handlers. If the handler of a call() throws, the exception goes to the
// rank that made the call(). A send, put or collective call that throws such an error has first done its own
// work.
//
// Failures: if a rank dies or never answers (EndpointOptions::watchdog_s), all other ranks stop waiting and
// throw a TransportError that names this rank. The endpoint is then unusable: every later call that makes
// progress throws the same error, and its destructor does not wait. am/docs/active-messages.md says which
// failures each transport detects, and how soon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nuice/am/handler.hpp"
#include "nuice/am/transport.hpp"
#include "nuice/core/types.hpp"

namespace nuice::am {

class Port;
struct PortRef;

/// The sender of the message that a handler processes.
class Context {
 public:
  Context(Endpoint& endpoint, Rank source) : endpoint_(endpoint), source_(source) {}
  Rank source() const { return source_; }
  Endpoint& endpoint() const { return endpoint_; }

  /// Sends a message to source(). A handler may call reply() at most once per run; the second call throws
  /// Error with code `state`.
  template <Argument A>
  void reply(Handler<A> handler, const A& argument, Tail tail = {});

  void next_item() { replied_ = false; }  ///< Internal: the next argument of a batch.

 private:
  [[noreturn]] static void replied_twice();
  Endpoint& endpoint_;
  Rank source_;
  bool replied_ = false;
};

struct EndpointOptions {
  /// The number of sends after which the main program polls once (F of 002 s.4.4); 0: send() never polls.
  int poll_every = 16;
  int poll_limit = 128;  ///< The approximate maximum number of messages that one poll() handles.
  /// The time, in seconds, without a message sent or received after which waiting calls throw Error with code
  /// `timeout`; the text names the ranks that do not answer. A bulk put counts as a message only when it is
  /// complete, so the limit must exceed the time of the largest put. 0: calls wait forever.
  double watchdog_s = 0;
};

/// The counts of this rank since the endpoint was made.
struct Stats {
  /// The number of messages, batches and results that this rank sent, without credits.
  std::uint64_t sent = 0;
  std::uint64_t handled = 0;  ///< The number of messages, batches and results that this rank handled.
  std::uint64_t stalls = 0;   ///< The number of sends of the main program that had to wait for room.
  /// The maximum number of messages of handlers that this rank kept at once because receivers had no room.
  std::uint64_t most_deferred = 0;
  std::uint64_t interrupts = 0;  ///< The number of doorbells that this rank answered.
};

/// The result of a call. A Future must not outlive its endpoint; it may be destroyed before the result
/// arrives.
template <Argument R>
class Future;

/// One rank's access to active messages. An endpoint cannot be moved, because handlers refer to it. Only one
/// thread may use it (progress.hpp has exceptions). Destroy the endpoint on all ranks after a quiesce().
class Endpoint {
 public:
  explicit Endpoint(std::unique_ptr<Transport> transport, EndpointOptions options = {});
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  ~Endpoint();

  Rank rank() const;
  Rank num_ranks() const;
  std::string transport_name() const;
  /// Returns the largest total size of argument and tail that send() accepts.
  std::size_t max_message_bytes() const;
  Stats stats() const;

  // --- Set-up ---

  /// Registers f(Context&, const A&) or f(Context&, const A&, Tail). The tail lies in the transport's memory
  /// and is valid only until f returns. Call on() before seal(), in the same order on every rank. Throws
  /// Error with code `state` after seal().
  template <Argument A, typename F>
  Handler<A> on(std::string_view name, F f);
  /// Registers f(Context&, std::span<const A>), which gets all items of a Coalescer's buffer at once; an
  /// argument of send() is one item. This form suits handlers of few instructions, whose loop the compiler
  /// can unroll. reply() may be called once per call of f, not per item.
  template <Argument A, typename F>
  Handler<A> on_items(std::string_view name, F f);
  /// Registers f(Context&, const A&) that returns R to the caller.
  template <Argument A, Argument R, typename F>
  Rpc<A, R> on_call(std::string_view name, F f);

  /// Collective. Compares the handlers of all ranks (names, sizes, order) and opens the endpoint. Throws
  /// Error with code `mismatch` on all ranks if handlers differ; the text names the lowest rank that differs
  /// from rank 0.
  void seal();

  // --- Messages ---

  /// Sends one message. If dst is this rank, a later poll handles the message. Returns when argument and tail
  /// may be reused. In the main program, send() makes progress every poll_every sends, and while the receiver
  /// has no room. In a handler, send() never waits. Throws Error with code `state` before seal(),
  /// `invalid_argument` for an invalid rank or more than max_message_bytes().
  template <Argument A>
  void send(Rank dst, Handler<A> handler, const A& argument, Tail tail = {});

  /// Calls a handler on dst that returns a result. Makes progress as send() does. If call() throws the
  /// exception of another handler, the called handler runs nevertheless, but its result is lost, because the
  /// caller has no Future for it.
  template <Argument A, Argument R>
  Future<R> call(Rank dst, Rpc<A, R> handler, const A& argument);

  /// Sends unchecked bytes to handler number `id`; for tests with bad messages.
  void send_raw(Rank dst, Kind kind, std::uint16_t id, std::span<const std::byte> payload);

  // --- Block transfer (AM-PUT); port.hpp ---

  /// Opens a port on `memory`, which must stay valid until the port is destroyed. The port is complete when
  /// ranks have put expected_bytes bytes into it, in any pieces. on_complete runs once per generation, as a
  /// handler. open_port() is not collective: send ref() to the ranks that will put data.
  Port open_port(std::span<std::byte> memory, Bytes expected_bytes,
                 std::function<void(Context&)> on_complete = {});

  /// Writes data at `offset` of the port's memory. Returns when data may be reused. Makes progress while it
  /// waits. In a handler, put() copies the data, and only puts below the transport's bulk size are allowed; a
  /// larger put throws Error with code `state`. Other errors arise on the receiver. If a put is for another
  /// generation of the port, or exceeds the port's memory or count, the receiver gets Error with code
  /// `mismatch` and nothing is written.
  void put(const PortRef& port, Bytes offset, std::span<const std::byte> data);

  // --- Progress ---

  /// Makes progress without waiting: runs the handlers of arrived messages, at most about poll_limit. Returns
  /// the number of messages.
  int poll();
  /// Makes progress until done() is true. Yields the core when nothing arrives.
  template <typename Done>
  void poll_until(Done&& done);

  // --- Collective calls ---

  /// Collective. Makes progress until every rank has called barrier(). Messages may still be in flight.
  void barrier();
  /// Collective. Makes progress until no rank has anything to send and every message has been handled,
  /// including messages of handlers and items in coalescers. A message that another rank sends after its
  /// quiesce() is not handled inside this call. Ranks that share the memory of a host count messages there,
  /// and the first ranks of the hosts add up the counts in two or more waves
  /// (am/src/am/transport/termination.hpp). Without shared memory quiesce() uses four counters (Mattern,
  /// Distributed Computing 2, 1987): two consecutive reductions must find equal sums of sent and handled
  /// messages; a barrier follows.
  void quiesce();
  /// Collective. Reduces values over all ranks, and makes progress until the reduction is complete. There are
  /// at most 8 values, the same number on all ranks.
  std::vector<std::int64_t> reduce(ReduceOp op, std::span<const std::int64_t> values);

  /// Returns whether the endpoint is unusable after a failure.
  bool has_failed() const;

  /// Internal to the library: the endpoint's state (am/src/am/endpoint_core.hpp).
  EndpointCore& core() const { return *core_; }

 private:
  friend class Context;
  template <Argument R>
  friend class Future;

  std::uint16_t add_handler(std::string_view name, std::size_t argument_bytes, std::size_t result_bytes,
                            bool has_tail, const detail::HandlerRow& row, std::shared_ptr<void> function);
  void send_bytes(Rank dst, std::uint16_t handler, const void* argument, std::size_t bytes, Tail tail);
  CallId call_bytes(Rank dst, std::uint16_t handler, const void* argument, std::size_t bytes);
  bool is_done(CallId call) const;
  void take_result(CallId call, std::span<std::byte> result);
  void drop_call(CallId call);
  void poll_until_true(bool (*done)(void*), void* context);

  std::unique_ptr<EndpointCore> core_;
};

template <Argument R>
class Future {
 public:
  Future(Future&& other) noexcept : endpoint_(std::exchange(other.endpoint_, nullptr)), id_(other.id_) {}
  Future& operator=(Future&& other) noexcept {
    std::swap(endpoint_, other.endpoint_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~Future() {
    if (endpoint_ != nullptr) endpoint_->drop_call(id_);
  }

  /// Returns whether the result has arrived.
  bool ready() const { return endpoint_->is_done(id_); }
  /// Makes progress until the result has arrived, and returns it. Call get() once. Throws Error with code
  /// `mismatch` and the text of the exception if the called handler threw an exception, and with code `state`
  /// inside a handler.
  R get() {
    endpoint_->poll_until([&] { return ready(); });
    R result{};
    endpoint_->take_result(id_, std::as_writable_bytes(std::span(&result, 1)).first(wire_bytes<R>));
    endpoint_ = nullptr;
    return result;
  }

 private:
  friend class Endpoint;
  Future(Endpoint* endpoint, CallId id) : endpoint_(endpoint), id_(id) {}
  Endpoint* endpoint_;
  CallId id_;
};

// --- Inline parts ---

template <Argument A, typename F>
void detail::MessageThunk<A, F>::run_batch(void* function, Context& context, const std::byte* payload,
                                           std::size_t bytes) {
  constexpr std::size_t size = wire_bytes<A>;
  if constexpr (takes_tail || size == 0) {
    wrong_size(context, size, bytes, takes_tail);
  } else {
    if (bytes % size != 0) [[unlikely]]
      wrong_size(context, size, bytes, false);
    F& f = *static_cast<F*>(function);
    for (const std::byte* const end = payload + bytes; payload != end; payload += size) {
      f(context, load<A>(payload));
      context.next_item();
    }
  }
}

template <Argument A>
void Context::reply(Handler<A> handler, const A& argument, Tail tail) {
  if (std::exchange(replied_, true)) [[unlikely]]
    replied_twice();
  endpoint_.send_bytes(source_, handler.id, &argument, wire_bytes<A>, tail);
}

template <Argument A>
void Endpoint::send(Rank dst, Handler<A> handler, const A& argument, Tail tail) {
  send_bytes(dst, handler.id, &argument, wire_bytes<A>, tail);
}

template <Argument A, Argument R>
Future<R> Endpoint::call(Rank dst, Rpc<A, R> handler, const A& argument) {
  return Future<R>(this, call_bytes(dst, handler.id, &argument, wire_bytes<A>));
}

template <Argument A, typename F>
Handler<A> Endpoint::on(std::string_view name, F f) {
  using Thunk = detail::MessageThunk<A, F>;
  const auto function = std::make_shared<F>(std::move(f));
  const detail::HandlerRow row{Thunk::run, Thunk::run_batch, function.get(), false};
  return {add_handler(name, wire_bytes<A>, 0, Thunk::takes_tail, row, function)};
}

template <Argument A, typename F>
Handler<A> Endpoint::on_items(std::string_view name, F f) {
  using Thunk = detail::ItemsThunk<A, F>;
  const auto function = std::make_shared<F>(std::move(f));
  const detail::HandlerRow row{Thunk::run, Thunk::run_batch, function.get(), false};
  return {add_handler(name, wire_bytes<A>, 0, false, row, function)};
}

template <Argument A, Argument R, typename F>
Rpc<A, R> Endpoint::on_call(std::string_view name, F f) {
  const auto function = std::make_shared<F>(std::move(f));
  const detail::HandlerRow row{detail::CallThunk<A, R, F>::run, nullptr, function.get(), true};
  return {add_handler(name, wire_bytes<A>, wire_bytes<R>, false, row, function)};
}

template <typename Done>
void Endpoint::poll_until(Done&& done) {
  poll_until_true(
      [](void* context) -> bool { return (*static_cast<std::remove_reference_t<Done>*>(context))(); },
      const_cast<void*>(static_cast<const void*>(std::addressof(done))));
}

}  // namespace nuice::am

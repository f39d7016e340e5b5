// SPDX-License-Identifier: BSD-3-Clause
// Active messages: a message names a handler, which runs at the receiver when the message is taken in (von Eicken et
// al., ISCA 1992; CMAML and Strata in 002 s.4.3, 004 s.2.2).
//
//   am::Endpoint ep(am::mpi::connect(MPI_COMM_WORLD));                        // nuice/mpi/am.hpp
//   auto visit = ep.on<Cell>("visit", [&](am::Context& from, const Cell& c) { queue.push(c); });
//   ep.seal();                                                               // collective: same handlers everywhere?
//   ep.send(neighbour, visit, Cell{3, 4});
//   ep.quiesce();                                                            // every message handled, everywhere
//
// Progress: handlers run only inside the calls that say "Makes progress" (or where Interruptible, ProgressThread of
// progress.hpp ask for more). A call that says nothing about progress makes none.
//
// What a handler may do: reply() once, send() and call() any number of times, push to a Coalescer, re-arm ports. It
// may not wait: poll, poll_until, get, put of bulk data, barrier, quiesce and seal throw Error state inside one.
// What a handler sends leaves when there is room, at the latest while polling; until then it is kept here (Stats::
// most_deferred tells how much), so that no handler waits for another rank and floods in all directions end.
//
// Guaranteed: every message is handled once; messages between two ranks in the order in which they were sent, results
// of calls and coalesced items included (items when their buffer is flushed); puts have an order of their own.
//
// Errors of an arriving message (unknown handler, wrong size, a late or oversized put) are thrown by the call that
// made the progress, at the receiver; the message is dropped and the endpoint stays usable. So is what a handler
// throws, except a handler of calls: that error goes to the caller. A send, put or collective call that throws such
// an error has done its own work first.
//
// Failures: a rank that dies, or that never answers (EndpointOptions::watchdog_s), ends the waiting of all others with a
// TransportError that names it. The endpoint is then given up: every later call that makes progress throws the same, and its
// destructor does not wait. am/docs/active-messages.md says which failures each transport detects, and how soon.
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

/// The sender of the message that a handler is working on.
class Context {
 public:
  Context(Endpoint& endpoint, Rank source) : endpoint_(endpoint), source_(source) {}
  Rank source() const { return source_; }
  Endpoint& endpoint() const { return endpoint_; }

  /// Sends to source(), at most once in each run of a handler. Throws Error state the second time.
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
  int poll_every = 16;   ///< F of 002 s.4.4: sends of the main program from poll to poll; 0: never.
  int poll_limit = 128;  ///< maximum number of messages that one poll() handles, roughly.
  /// Calls that wait throw Error timeout when nothing has moved on this rank for so long, no message in or out, and name the
  /// ranks that do not answer. A bulk put moves once, when it is there: take a limit above what the largest needs. 0: never.
  double watchdog_s = 0;
};

/// Counted since the endpoint was made.
struct Stats {
  std::uint64_t sent = 0;           ///< Messages, batches and results; no credits.
  std::uint64_t handled = 0;        ///< Of those, at this rank.
  std::uint64_t stalls = 0;         ///< Sends of the main program that had to wait for room.
  std::uint64_t most_deferred = 0;  ///< Most messages of handlers that were kept here for want of room.
  std::uint64_t interrupts = 0;     ///< Doorbells answered.
};

/// The result of a call. Must not outlive its endpoint. Dropping it early is allowed.
template <Argument R>
class Future;

/// One rank's door to active messages. Not movable, as handlers refer to it. For one thread (progress.hpp adds to
/// that). Destroy it on all ranks after a quiesce().
class Endpoint {
 public:
  explicit Endpoint(std::unique_ptr<Transport> transport, EndpointOptions options = {});
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  ~Endpoint();

  Rank rank() const;
  Rank num_ranks() const;
  std::string transport_name() const;
  /// Largest argument and tail together that send takes.
  std::size_t max_message_bytes() const;
  Stats stats() const;

  // --- Set-up -------------------------------------------------------------------------------------------------

  /// Registers f(Context&, const A&) or f(Context&, const A&, Tail); the tail lies in the transport's memory and is
  /// gone when f returns. Before seal(), in the same order on every rank. Throws Error state after seal().
  template <Argument A, typename F>
  Handler<A> on(std::string_view name, F f);
  /// Registers f(Context&, std::span<const A>): what a Coalescer has put together comes in one piece (of any length),
  /// a single send as one item. For handlers of few instructions, which the compiler can then unroll; reply() is for
  /// the piece, not for each item.
  template <Argument A, typename F>
  Handler<A> on_items(std::string_view name, F f);
  /// Registers f(Context&, const A&) that returns R to the caller.
  template <Argument A, Argument R, typename F>
  Rpc<A, R> on_call(std::string_view name, F f);

  /// Collective. Compares the handlers of all ranks (names, sizes, order) and opens the endpoint. Throws Error
  /// mismatch on all ranks, naming the lowest rank that differs from rank 0.
  void seal();

  // --- Messages -----------------------------------------------------------------------------------------------

  /// Sends one message; dst may be this rank (it is then handled by a later poll). Returns when argument and tail
  /// may be reused. In the main program: makes progress every poll_every sends, and while there is no room at the
  /// receiver; in a handler: never waits. Throws Error state before seal(), invalid_argument for a rank outside or
  /// more than max_message_bytes().
  template <Argument A>
  void send(Rank dst, Handler<A> handler, const A& argument, Tail tail = {});

  /// Asks dst for a result. Progress as send. If that throws what a handler threw, the handler of this call runs all the
  /// same, but its result is dropped, as there is no Future to take it.
  template <Argument A, Argument R>
  Future<R> call(Rank dst, Rpc<A, R> handler, const A& argument);

  /// Sends bytes as they are to handler number id: for tests of what a receiver makes of bad messages.
  void send_raw(Rank dst, Kind kind, std::uint16_t id, std::span<const std::byte> payload);

  // --- Block transfer (AM-PUT); port.hpp ----------------------------------------------------------------------

  /// Opens a port on `memory`, which must stay valid: complete when expected_bytes have been put into it, in any
  /// pieces from any ranks. on_complete runs once per generation, as a handler. Not collective: tell others ref().
  Port open_port(std::span<std::byte> memory, Bytes expected_bytes,
                 std::function<void(Context&)> on_complete = {});

  /// Writes data at `offset` of the port's memory. Returns when data may be reused. Makes progress while it waits.
  /// In a handler: only below the transport's bulk size (else Error state), and the data is copied.
  /// Errors arise at the receiver: a put to a generation that is not the port's, or beyond its memory or count, is
  /// Error mismatch there, and writes nothing.
  void put(const PortRef& port, Bytes offset, std::span<const std::byte> data);

  // --- Progress -----------------------------------------------------------------------------------------------

  /// Makes progress: runs the handlers of arrived messages, up to poll_limit; never waits. Returns how many.
  int poll();
  /// Makes progress until done() is true. Gives the core away when nothing arrives.
  template <typename Done>
  void poll_until(Done&& done);

  // --- Collective calls ---------------------------------------------------------------------------------------

  /// Collective. Makes progress until every rank is here. Says nothing about messages in flight.
  void barrier();
  /// Collective. Makes progress until no rank has anything to send and every message has been handled, those that
  /// handlers sent and those in coalescers included. A message that another rank sends after its quiesce() is not
  /// handled inside this one. Where ranks of a host share memory they count there, and the first ranks of hosts add up in two
  /// waves or more and wait for each other (am/src/am/transport/termination.hpp). Else four counters (Mattern, Distributed
  /// Computing 2, 1987): sums of sent and handled that two reductions in a row find equal, and a barrier.
  void quiesce();
  /// Collective. Makes progress until the reduction is there. values: at most 8, equally many on all ranks.
  std::vector<std::int64_t> reduce(ReduceOp op, std::span<const std::int64_t> values);

  /// Whether it was given up after a failure.
  bool has_failed() const;

  /// Internal to the library: all that an endpoint is made of (am/src/am/endpoint_core.hpp).
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

  /// Whether the result is here.
  bool ready() const { return endpoint_->is_done(id_); }
  /// Makes progress until the result is here, and takes it; once. Throws Error mismatch with the callee's text if
  /// its handler threw, Error state inside a handler.
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

// --- Inline parts -----------------------------------------------------------------------------------------------

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

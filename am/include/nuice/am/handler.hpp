// SPDX-License-Identifier: BSD-3-Clause
// Handlers: the functions that messages name, and how bytes become a typed call at the receiver.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "nuice/am/transport.hpp"
#include "nuice/core/types.hpp"

namespace nuice::am {

class Context;
class Endpoint;

using Tail = std::span<const std::byte>;  ///< The optional bytes after the argument.

/// The argument of the papers' active messages: four words, as on the CM-5 (002 s.4.3).
struct Packet {
  std::uint32_t words[4];
};

/// The argument of handlers that need none. It takes no bytes in the message.
struct Nothing {};

/// A type that can be sent: it is copied byte by byte between ranks that run the same program on the same
/// kind of machine.
template <typename A>
concept Argument = std::is_trivially_copyable_v<A> && std::default_initializable<A>;

template <Argument A>
inline constexpr std::size_t wire_bytes = std::is_empty_v<A> ? 0 : sizeof(A);

/// Names a handler for arguments of type A. Endpoint::on() returns it. It is the same on every rank.
template <Argument A>
struct Handler {
  std::uint16_t id = UINT16_MAX;
};

/// Names a handler that returns R to the caller. Endpoint::on_call() returns it.
template <Argument A, Argument R>
struct Rpc {
  std::uint16_t id = UINT16_MAX;
};

using CallId = std::uint64_t;

/// The number by which the caller recognises the result of a call.
struct CallTag {
  CallId id;
};

namespace detail {

/// An entry of the table of handlers, which is equal on all ranks (internal).
struct HandlerRow {
  using Run = void (*)(void* function, Context& context, const std::byte* payload, std::size_t bytes);
  Run run = nullptr;        ///< Kind::message, Kind::call and Kind::internal.
  Run run_batch = nullptr;  ///< Kind::batch.
  void* function = nullptr;
  bool is_call = false;
};

/// Throws Error `mismatch`, because the handler does not take this number of bytes.
[[noreturn]] void wrong_size(const Context& context, std::size_t expected, std::size_t bytes, bool or_more);
void send_result(const Context& context, CallId call, std::span<const std::byte> result);
void send_failure(const Context& context, CallId call, const char* text);

template <typename A>
[[gnu::always_inline]] inline A load(const std::byte* from) {
  A value;
  if constexpr (wire_bytes<A> != 0) std::memcpy(&value, from, sizeof(A));
  return value;
}

template <Argument A, typename F>
struct MessageThunk {
  static constexpr bool takes_tail = std::invocable<F&, Context&, const A&, Tail>;
  static_assert(takes_tail || std::invocable<F&, Context&, const A&>,
                "a handler is called as f(Context&, const A&) or f(Context&, const A&, Tail)");

  static void run(void* function, Context& context, const std::byte* payload, std::size_t bytes) {
    constexpr std::size_t size = wire_bytes<A>;
    if (takes_tail ? bytes < size : bytes != size) [[unlikely]]
      wrong_size(context, size, bytes, takes_tail);
    F& f = *static_cast<F*>(function);
    const A argument = load<A>(payload);
    if constexpr (takes_tail) {
      f(context, argument, Tail(payload + size, bytes - size));
    } else {
      f(context, argument);
    }
  }

  static void run_batch(void* function, Context& context, const std::byte* payload, std::size_t bytes);
};

/// A handler f(Context&, std::span<const A>) that gets all items of a batch at once.
template <Argument A, typename F>
struct ItemsThunk {
  static_assert(std::invocable<F&, Context&, std::span<const A>>,
                "called as f(Context&, std::span<const A>)");
  static_assert(wire_bytes<A> != 0, "items need a size");

  static void run(void* function, Context& context, const std::byte* payload, std::size_t bytes) {
    if (bytes != sizeof(A)) [[unlikely]]
      wrong_size(context, sizeof(A), bytes, false);
    const A item = load<A>(payload);
    (*static_cast<F*>(function))(context, std::span<const A>(&item, 1));
  }

  /// Copies only if the payload is not aligned, which happens at most with ucx.
  static void run_batch(void* function, Context& context, const std::byte* payload, std::size_t bytes) {
    if (bytes % sizeof(A) != 0) [[unlikely]]
      wrong_size(context, sizeof(A), bytes, false);
    F& f = *static_cast<F*>(function);
    if (reinterpret_cast<std::uintptr_t>(payload) % alignof(A) == 0) [[likely]] {
      f(context, std::span<const A>(reinterpret_cast<const A*>(payload), bytes / sizeof(A)));
      return;
    }
    for (const std::byte* const end = payload + bytes; payload != end; payload += sizeof(A)) {
      const A item = load<A>(payload);
      f(context, std::span<const A>(&item, 1));
    }
  }
};

template <Argument A, Argument R, typename F>
struct CallThunk {
  static_assert(std::invocable<F&, Context&, const A&> &&
                    std::convertible_to<std::invoke_result_t<F&, Context&, const A&>, R>,
                "a handler of calls is called as f(Context&, const A&) and returns R");

  static void run(void* function, Context& context, const std::byte* payload, std::size_t bytes) {
    constexpr std::size_t size = sizeof(CallTag) + wire_bytes<A>;
    if (bytes != size) [[unlikely]]
      wrong_size(context, size, bytes, false);
    const CallId call = load<CallTag>(payload).id;
    R result{};
    try {
      result = (*static_cast<F*>(function))(context, load<A>(payload + sizeof(CallTag)));
    } catch (const std::exception& error) {
      send_failure(context, call, error.what());
      return;
    } catch (...) {
      send_failure(context, call, "what its handler threw is not a std::exception");
      return;
    }
    send_result(context, call, std::as_bytes(std::span(&result, 1)).first(wire_bytes<R>));
  }
};

}  // namespace detail
}  // namespace nuice::am

// SPDX-License-Identifier: BSD-3-Clause
// What an Endpoint keeps behind its pointers.
#pragma once

#include <csignal>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "am/first_error.hpp"
#include "core/support/watchdog.hpp"
#include "nuice/am/endpoint.hpp"

namespace nuice::am {

/// Numbers of Kind::internal, in the order in which add_internal_handlers() adds them.
enum class InternalHandler : std::uint16_t { result, put, bulk_put, level_mark, roll_call, present, failure };

inline constexpr std::size_t num_internal_handlers = static_cast<std::size_t>(InternalHandler::failure) + 1;

inline Header internal_header(InternalHandler handler) {
  return {.handler = static_cast<std::uint16_t>(handler), .kind = Kind::internal};
}

/// The registry: what seal() compares, and the functions' lifetime.
struct Endpoint::Names {
  std::vector<std::string> names;
  std::vector<std::shared_ptr<void>> functions;
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
};

struct Endpoint::Calls {
  enum class State { free, waiting, done, failed };
  struct Slot {
    State state = State::free;
    std::uint32_t generation = 0;
    Rank callee = no_rank;
    std::vector<std::byte> result;
  };
  std::vector<Slot> slots;
  std::vector<std::uint32_t> free;
  Slot* find(CallId id) {
    const auto index = static_cast<std::uint32_t>(id);
    if (index >= slots.size() || slots[index].generation != static_cast<std::uint32_t>(id >> 32))
      return nullptr;
    return &slots[index];
  }
};

struct Endpoint::Ports {
  struct Slot {
    std::span<std::byte> memory;
    Bytes expected = 0;
    Bytes missing = 0;   // not announced yet
    Bytes incoming = 0;  // announced and accepted, but not here yet
    std::uint64_t generation = 0;
    std::uint64_t first_generation = 0;  // of the next port in this slot
    bool open = false;
    bool abandoned =
        false;  // its Port is gone, and bytes are on their way still: not to be used again before they came
    std::shared_ptr<const std::function<void(Context&)>>
        on_complete;  // shared with the run that destroys the port
  };
  struct Incoming {
    Rank src;
    std::uint32_t port;
    Bytes bytes;
    std::vector<std::byte> discarded;  // where bulk data goes that no port takes
  };
  std::vector<std::unique_ptr<Slot>> slots;
  std::vector<std::uint32_t> free;
  std::map<std::uint64_t, Incoming> incoming;
  std::uint64_t next_cookie = 0;
  std::uint64_t next_put = 0;
  std::map<std::pair<Rank, std::uint64_t>, bool> parts;  // puts of several messages: whether they are taken
};

struct Endpoint::Levels {
  std::uint32_t made = 0;
  std::vector<std::vector<std::uint64_t>> marks;  // by LevelSync, by rank
};

/// Messages of a rank to itself take the same kind of ring.
struct Endpoint::SelfRing {
  explicit SelfRing(std::size_t capacity)
      : words(capacity / sizeof(std::uint64_t), 0),
        producer(&control, reinterpret_cast<std::byte*>(words.data()), capacity, nullptr),
        consumer(&control, reinterpret_cast<std::byte*>(words.data()), capacity) {}
  RingControl control{};
  std::vector<std::uint64_t> words;
  RingProducer producer;
  RingConsumer consumer;
};

/// What handlers send inside the signal handler and cannot leave at once: in memory of its own, one behind the other, as
/// nothing may be allocated there. The next call outside sorts it into deferred_.
struct Endpoint::Kept {
  struct Record {
    Rank dst;
    std::uint32_t bytes;
    Header header;
  };
  Kept(std::size_t max_message, Rank num_ranks)
      : largest(sizeof(Record) + max_message),
        memory(4 * largest),
        any(static_cast<std::size_t>(num_ranks), 0) {}
  std::size_t largest;
  std::vector<std::byte> memory;
  std::size_t used = 0;
  std::vector<char> any;  // by destination
};

/// Interrupts and the progress thread; unused unless guarded_.
struct Endpoint::Guards {
  std::recursive_mutex mutex;  // held by whoever is inside the endpoint, when there is a thread
  bool has_thread = false;
  int signal = 0;                       // 0: no interrupts
  volatile std::sig_atomic_t busy = 0;  // calls of the endpoint and masks that are open
  volatile std::sig_atomic_t pending = 0;
  bool in_signal = false;
  std::exception_ptr error;  // of a handler that ran where nobody could catch
};

/// What a rank knows of failures (watch.cpp).
struct Endpoint::Watch {
  QuietTime quiet;  // of the call that waits
  double next_look_s = 0;
  std::vector<char> is_present;  // by rank: it has answered the roll call that is under way
  std::exception_ptr failure;    // why the endpoint was given up
};

}  // namespace nuice::am

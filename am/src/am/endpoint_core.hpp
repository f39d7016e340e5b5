// SPDX-License-Identifier: BSD-3-Clause
// The state of an Endpoint. The files of the endpoint, ports, coalescers, LevelSync and DRS_N use it
// directly.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "am/first_error.hpp"
#include "am/transport/ring.hpp"
#include "am/transport/termination.hpp"
#include "core/support/watchdog.hpp"
#include "nuice/am/endpoint.hpp"

namespace nuice::am {

class CoalescerBase;

/// The numbers of Kind::internal, in the order in which add_internal_handlers() adds them.
enum class InternalHandler : std::uint16_t { result, put, bulk_put, level_mark, roll_call, present, failure };

inline constexpr std::size_t num_internal_handlers = static_cast<std::size_t>(InternalHandler::failure) + 1;

inline Header internal_header(InternalHandler handler) {
  return {.handler = static_cast<std::uint16_t>(handler), .kind = Kind::internal};
}

class EndpointCore {
 public:
  EndpointCore(Endpoint& endpoint, std::unique_ptr<Transport> transport, const EndpointOptions& options);
  EndpointCore(const EndpointCore&) = delete;
  EndpointCore& operator=(const EndpointCore&) = delete;
  ~EndpointCore();

  /// Every public call holds an Entry while interrupts or a progress thread are in use.
  class Entry {
   public:
    explicit Entry(EndpointCore& core) : core_(core) {
      if (core_.guarded_) [[unlikely]]
        core_.enter();
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() {
      if (core_.guarded_) [[unlikely]]
        core_.leave();
    }

   private:
    EndpointCore& core_;
  };

  /// A flag that is true while this object exists.
  struct Flag {
    bool& flag;
    explicit Flag(bool& f) : flag(f) { flag = true; }
    Flag(const Flag&) = delete;
    Flag& operator=(const Flag&) = delete;
    ~Flag() { flag = false; }
  };

  struct Message {
    Header header;
    std::vector<std::byte> payload;
    std::uint64_t number;  // counts all messages kept here
  };

  /// The registered handlers: the properties that seal() compares, and the owners of the functions.
  struct Names {
    std::vector<std::string> names;
    std::vector<std::shared_ptr<void>> functions;
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  };

  struct Calls {
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

  struct Ports {
    struct Slot {
      std::span<std::byte> memory;
      Bytes expected = 0;
      Bytes missing = 0;   // not yet announced
      Bytes incoming = 0;  // announced and accepted, but not yet arrived
      std::uint64_t generation = 0;
      std::uint64_t first_generation = 0;  // of the next port in this slot
      bool open = false;
      bool abandoned = false;  // its Port was destroyed: the slot may be reused only when all bytes have
                               // arrived
      std::shared_ptr<const std::function<void(Context&)>> on_complete;  // shared: it may destroy the port
    };
    struct Incoming {
      Rank src;
      std::uint32_t port;
      Bytes bytes;
      std::vector<std::byte> discarded;  // memory for rejected bulk data
    };
    std::vector<std::unique_ptr<Slot>> slots;
    std::vector<std::uint32_t> free;
    std::map<std::uint64_t, Incoming> incoming;
    std::uint64_t next_cookie = 0;
    std::uint64_t next_put = 0;
    std::map<std::pair<Rank, std::uint64_t>, bool> parts;  // puts of several messages: whether they are
                                                           // accepted
  };

  struct Levels {
    std::uint32_t made = 0;
    std::vector<std::vector<std::uint64_t>> marks;  // by LevelSync, by rank
  };

  /// The ring for messages of a rank to itself.
  struct SelfRing {
    explicit SelfRing(std::size_t capacity)
        : words(capacity / sizeof(std::uint64_t), 0),
          producer(&control, reinterpret_cast<std::byte*>(words.data()), capacity, nullptr),
          consumer(&control, reinterpret_cast<std::byte*>(words.data()), capacity) {}
    RingControl control{};
    std::vector<std::uint64_t> words;
    RingProducer producer;
    RingConsumer consumer;
  };

  /// Messages that handlers send inside the signal handler, and for which there is no room. They are
  /// contiguous in memory that was allocated before, because a signal handler may not allocate. The next call
  /// outside a signal handler moves them to deferred_.
  struct Kept {
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
  struct Guards {
    std::recursive_mutex mutex;  // if there is a progress thread, the thread inside the endpoint holds it
    bool has_thread = false;
    int signal = 0;                       // 0: no interrupts
    volatile std::sig_atomic_t busy = 0;  // active calls of the endpoint, and masks
    volatile std::sig_atomic_t pending = 0;
    bool in_signal = false;
    std::exception_ptr error;  // an error of a handler that ran where no caller could catch it
  };

  /// What a rank knows about failures (watch.cpp).
  struct Watch {
    QuietTime quiet;  // of the waiting call
    double next_look_s = 0;
    std::vector<char> is_present;  // for each rank: whether it has answered the current roll call
    std::exception_ptr failure;    // why the endpoint is unusable
  };

  // --- The calls of Endpoint, as documented there (endpoint_core.cpp, collective.cpp, call.cpp, port.cpp)
  // ---
  Stats stats();
  int poll();
  void poll_until(bool (*done)(void*), void* context);
  void seal();
  void barrier();
  std::vector<std::int64_t> reduce(ReduceOp op, std::span<const std::int64_t> values);
  Port open_port(std::span<std::byte> memory, Bytes expected_bytes,
                 std::function<void(Context&)> on_complete);
  void put(const PortRef& port, Bytes offset, std::span<const std::byte> data);
  std::uint16_t add_row(std::string_view name, std::size_t argument_bytes, std::size_t result_bytes,
                        bool tail, detail::HandlerRow row, std::shared_ptr<void> function);

  // --- Parts of larger collective calls, which no rank may leave halfway. They return exceptions of handlers
  // (null if there are none). These are thrown after the last step, or later. ---
  std::exception_ptr try_reduce(ReduceOp op, std::span<const std::int64_t> values,
                                std::span<std::int64_t> result);
  std::exception_ptr try_quiesce();
  std::exception_ptr quiesce_by(TerminationDetector& detector);
  bool sleep(TerminationDetector& detector, TerminationDetector::Order newest, double seconds);
  bool has_nothing_left() const;  // to send
  std::exception_ptr reduce_into(ReduceOp op, std::span<const std::int64_t> values,
                                 std::span<std::int64_t> result, bool polling);
  std::exception_ptr flush_coalescers();
  /// Makes the next call that makes progress throw the error. Does nothing if the error is null or another
  /// error is waiting.
  void throw_later(std::exception_ptr error);
  void must_not_be_in_handler(const char* call) const;

  // --- Sending ---
  [[gnu::always_inline]] void post(Rank dst, Header header, const void* a, std::size_t a_bytes, Tail tail);
  /// Handles a batch of this rank to itself at once. Returns false if other messages must be handled first,
  /// or a handler is running.
  bool handled_at_once(Header header, const std::byte* payload);
  void count_send();
  void count_send_to(Rank dst);  // which may be on another host
  /// Sends by the transport if it has room, otherwise by post_slowly.
  void post_outside(Rank dst, Header header, std::span<const std::byte> a, Tail tail);
  void post_slowly(Rank dst, Header header, std::span<const std::byte> a, Tail tail);
  bool try_post(Rank dst, Header header, std::span<const std::byte> a, Tail tail);
  void defer(Rank dst, Header header, std::span<const std::byte> a, Tail tail);
  void send_deferred();
  bool has_left(Rank dst, std::uint64_t number) const;
  bool must_stay_behind(Rank dst) const;  // whether messages for dst are kept already
  bool keep_in_signal(Rank dst, Header header, std::span<const std::byte> a, Tail tail);
  void sort_kept();
  void check_sendable(Rank dst, std::size_t bytes) const;

  // --- Receiving and waiting ---
  [[gnu::always_inline]] void deliver(Rank src, Header header, const std::byte* payload);
  /// Handles items that another rank has forwarded, as if src had sent them.
  void run_batch(Rank src, std::uint16_t handler, Tail items);
  bool takes_in_signal(Header header) const;
  void bulk_arrived(std::uint64_t cookie);
  void reject(Rank src, Header header) const;
  int progress();           // poll without the checks
  int take_in();            // the receiving part of progress()
  void progress_or_idle();  // one step of a waiting loop
  void idle();              // nothing was found to do
  template <typename Done>
  void wait_until(Done&& done);  // errors of handlers are thrown at the end, because the rank must wait until
                                 // done() is true
  void age_coalescers();

  // --- Failures (watch.cpp) ---
  void begin_wait();
  void look_now_and_then(bool is_waiting);
  void look_for_failures(bool is_waiting);
  std::vector<Rank> silent_ranks();
  void add_failure_handlers();
  /// Not collective. Makes the endpoint unusable and tells the other ranks, which then throw the same error.
  /// Throws TransportError `timeout` with the text and the ranks that do not answer.
  [[noreturn]] void time_out(const std::string& text);
  /// Like time_out(), for an error of MPI (or of a transport), with the names of the dead ranks.
  [[noreturn]] void give_up_after(const Error& error);
  [[noreturn]] void give_up(ErrorCode code, const std::string& text);
  void fail(const Error& error, std::exception_ptr why) noexcept;
  void tell_of_failure(const Error& error) noexcept;
  void throw_failure() const;
  void poll_blindly() noexcept;
  template <typename Act>
  auto noting_failure(Act&& act);  // noting_failure.hpp

  // --- Calls with a result, level marks, puts ---
  CallId new_call();
  bool call_done(CallId id);
  void take_result(CallId id, std::span<std::byte> result);
  void drop_call(CallId id);
  void add_internal_handlers();
  void send_result(Rank dst, CallId id, bool failed, std::span<const std::byte> bytes);
  std::uint32_t add_level_sync();
  std::uint64_t level_marks(std::uint32_t sync, Rank src) const;
  void send_level_mark(std::uint32_t sync, Rank dst);
  void take_put(Context& context, const std::byte* payload, std::size_t bytes);
  void take_bulk_put(Context& context, const std::byte* payload, std::size_t bytes);
  std::string why_no_put(std::uint64_t port, std::uint64_t generation, Bytes offset, Bytes bytes) const;
  void complete_port(Context& context, std::uint32_t port);

  // --- Interrupts and the progress thread (progress.cpp) ---
  void enter();
  void leave() noexcept;
  void interrupted() noexcept;
  void drain() noexcept;
  static void on_signal(int signal);

  Endpoint& endpoint_;  // for Context
  std::unique_ptr<Transport> transport_;
  TerminationDetector* detector_;
  Rank rank_;
  Rank num_ranks_;
  std::size_t max_message_bytes_;
  EndpointOptions options_;
  Inbox inbox_;
  std::vector<detail::HandlerRow> rows_;
  std::vector<detail::HandlerRow> internal_rows_;
  std::uint64_t handled_ = 0;
  std::vector<RingProducer*> rings_;  // for each rank; null if the rank can be reached only through the
                                      // transport
  bool sealed_ = false;
  bool in_progress_ = false;  // handlers run
  bool guarded_ = false;      // whether interrupts or a progress thread are in use, so that enter() and
                              // leave() are needed
  bool has_failed_ = false;   // given up
  std::uint64_t sent_ = 0;
  std::uint64_t poll_period_;    // options_.poll_every; if that is 0, practically never
  std::uint64_t sends_to_poll_;  // sends left until the next automatic poll
  std::uint64_t num_deferred_ = 0;
  std::uint64_t last_deferred_ = 0;  // the number of the last deferred message
  unsigned empty_polls_ = 0;
  unsigned looks_ = 0;
  Stats stats_;
  std::unordered_map<Rank, std::deque<Message>> deferred_;
  std::vector<CoalescerBase*> coalescers_;
  Names names_;
  Calls calls_;
  Ports ports_;
  Levels levels_;
  SelfRing self_;
  std::unique_ptr<Kept> kept_;  // with interrupts
  Guards guards_;
  Watch watch_;
};

inline void EndpointCore::deliver(Rank src, Header header, const std::byte* payload) {
  struct Count {
    std::uint64_t& handled;
    ~Count() { ++handled; }
  } const count{handled_};
  Context context(endpoint_, src);
  if (header.handler < rows_.size()) [[likely]] {
    const detail::HandlerRow& row = rows_[header.handler];
    if ((header.kind == Kind::message && !row.is_call) || (header.kind == Kind::call && row.is_call))
        [[likely]] {
      row.run(row.function, context, payload, header.bytes);
      return;
    }
    if (header.kind == Kind::batch && !row.is_call) {
      row.run_batch(row.function, context, payload, header.bytes);
      return;
    }
  }
  if (header.kind == Kind::internal && header.handler < internal_rows_.size()) {
    const detail::HandlerRow& row = internal_rows_[header.handler];
    row.run(row.function, context, payload, header.bytes);
    return;
  }
  reject(src, header);
}

inline void EndpointCore::count_send() {
  ++sent_;
  if (--sends_to_poll_ == 0) [[unlikely]] {
    sends_to_poll_ = poll_period_;
    if (!in_progress_) progress();
  }
}

inline void EndpointCore::count_send_to(Rank dst) {
  if (detector_ != nullptr) detector_->note_send(dst);
  count_send();
}

inline void EndpointCore::post(Rank dst, Header header, const void* a, std::size_t a_bytes, Tail tail) {
  if (static_cast<std::size_t>(dst) < rings_.size() && num_deferred_ == 0) [[likely]] {
    RingProducer* const ring = rings_[static_cast<std::size_t>(dst)];
    if (ring != nullptr && a_bytes + tail.size() <= max_message_bytes_ &&
        ring->try_push(header, a, a_bytes, tail.data(), tail.size())) [[likely]] {
      count_send();
      return;
    }
  }
  post_outside(dst, header, {static_cast<const std::byte*>(a), a_bytes}, tail);
}

template <typename Done>
void EndpointCore::wait_until(Done&& done) {
  std::exception_ptr error;
  begin_wait();
  while (!done()) {
    try {
      progress_or_idle();
    } catch (const TransportError&) {
      throw;
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace nuice::am

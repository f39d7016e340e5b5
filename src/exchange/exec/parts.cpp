// SPDX-License-Identifier: BSD-3-Clause
// Messages that are sent one by one, when the program says that they are ready (PlanOptions::parts), as in
// MPI's partitioned communication.
//
//   start:    start all receives
//   ready:    start this send, in the calling thread if MPI allows it, and test what has arrived
//   advance:  start messages that are ready; test what has begun
//
// Threads share the messages' atomic flags, and take turns to test requests. Only the thread that waits uses
// the Arrivals; other threads that test append the senders of arrived messages to came_, which it reads.
//
// As in MPI's partitioned communication, an exchange is complete when every message, even an empty one, was
// made ready, and all calls of ready() have ended. So no call of ready() comes after the exchange is
// complete, or when it was started again.
//
// Why no rank waits forever: all receives are started before anything else, so every send that is started
// completes.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/support/no_index.hpp"
#include "core/text/names.hpp"
#include "exchange/bind/table_requests.hpp"
#include "exchange/exec/rows.hpp"
#include "exchange/exec/run.hpp"
#include "mpi/call.hpp"
#include "mpi/failure.hpp"
#include "mpi/wait.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

[[noreturn]] void refuse_index(std::size_t index, std::size_t count) {
  throw Error(ErrorCode::invalid_argument,
              "there is no message " + std::to_string(index) + " of " + std::to_string(count));
}

class PartsRun : public Run {
 public:
  PartsRun(const Binding& binding, std::span<const Partner> destinations, std::span<const Partner> sources,
           std::optional<SelfMessage> own)
      : comm_(binding.comm), arrivals_(binding.arrivals), own_(std::move(own)), own_tag_(binding.tag + 1) {
    int level = MPI_THREAD_SINGLE;
    must(MPI_Query_thread(&level), "MPI_Query_thread");
    is_multiple_ = level == MPI_THREAD_MULTIPLE;
    for (const Partner& partner : binding.table.destinations)
      if (partner.bytes > 0) add(binding, partner, true, sends_);
    for (const Partner& partner : binding.table.sources) {
      if (partner.bytes == 0) continue;
      add(binding, partner, false, receives_);
      if (partner.rank != comm_->rank()) arrivals_.expect_pieces(partner.rank, 1);
    }
    sends_by_index_ = listed_in(sends_, destinations, true);
    receives_by_index_ = listed_in(receives_, sources, false);
    for (const Partner& each : destinations) to_by_index_.push_back(each.rank);
    is_ready_ = std::make_unique<std::atomic<bool>[]>(sends_by_index_.size());
  }

  void start() override {
    const std::scoped_lock lock(testing_);  // another thread may still be in arrived()
    for (const auto& message : sends_) {
      message->num_held = message->num_listed;
      message->is_begun = message->is_done = false;
    }
    for (std::size_t i = 0; i < sends_by_index_.size(); ++i) is_ready_[i] = false;
    num_unready_ = sends_by_index_.size();
    came_.clear();
    num_undone_ = sends_.size() + receives_.size();
    for (const auto& message : receives_) {
      message->is_done = false;
      if (message->request != no_index) requests_.start(message->request, message->request + 1);
      message->is_begun = true;
    }
    is_active_.store(true, std::memory_order_release);
  }

  bool advance(bool block) override { return advance(block, false); }
  void follow() override {}
  bool always_follows() const override { return true; }
  bool next(bool block) override { return advance(block, block); }
  std::int64_t num_events() const override { return num_events_.load(std::memory_order_relaxed); }
  std::string waits_for() const override {
    std::vector<Rank> ranks;
    for (const auto& message : receives_)
      if (!message->is_done) ranks.push_back(message->partner);
    for (const auto& message : sends_)
      if (message->num_held == 0 && !message->is_done) ranks.push_back(message->partner);
    std::vector<Rank> held;
    for (std::size_t i = 0; i < to_by_index_.size(); ++i)
      if (!is_ready_[i] && std::ranges::find(held, to_by_index_[i]) == held.end())
        held.push_back(to_by_index_[i]);
    std::string text = names_of(ranks);
    if (!held.empty()) text += (text.empty() ? "" : "; ") + ("ready() of the messages to " + names_of(held));
    return text;
  }

  void cancel() noexcept override {
    is_active_ = false;
    requests_.cancel_receives();
  }

  void ready(std::size_t index) override {
    if (!is_active_.load(std::memory_order_acquire))
      throw Error(ErrorCode::state, "ready(): the exchange was not started");
    if (index >= sends_by_index_.size()) refuse_index(index, sends_by_index_.size());
    if (is_ready_[index].exchange(true))
      throw Error(ErrorCode::state, "ready(): message " + std::to_string(index) + " is ready already");
    if (sends_by_index_[index] != no_index) release(*sends_[sends_by_index_[index]]);
    ++num_events_;
    // last, because from here on the exchange may be over
    num_unready_.fetch_sub(1, std::memory_order_release);
  }

  bool arrived(std::size_t index) override {
    if (index >= receives_by_index_.size()) refuse_index(index, receives_by_index_.size());
    if (receives_by_index_[index] == no_index) return true;
    const Message& message = *receives_[receives_by_index_[index]];
    if (!message.is_done.load(std::memory_order_acquire) && is_active_ && may_call_mpi())
      if (const std::unique_lock lock(testing_, std::try_to_lock); lock.owns_lock()) step();
    return message.is_done.load(std::memory_order_acquire);
  }

 private:
  struct Message {
    Rank partner = no_rank;
    std::size_t request = no_index;  // none for the message to itself
    int num_listed = 0;              // how often the user lists this rank

    // State of the running exchange.
    std::atomic<int> num_held = 0;
    std::atomic<bool> is_begun = false;
    std::atomic<bool> is_done = false;
  };
  using Messages = std::vector<std::unique_ptr<Message>>;

  Message& add(const Binding& binding, const Partner& partner, bool is_send, Messages& messages) {
    Message& message = *messages.emplace_back(std::make_unique<Message>());
    message.partner = partner.rank;
    if (partner.rank == comm_->rank()) return message;
    Places places;
    binding.layout.find(partner.rank, is_send, 0, partner.bytes, places);
    std::erase_if(places, [](const Segment& place) { return place.count == 0; });
    Segment all = places.size() == 1 ? places[0] : Segment{static_cast<std::byte*>(MPI_BOTTOM), 1, MPI_BYTE};
    if (places.size() != 1) all.type = types_.emplace_back(Datatype::of_segments(places)).get();
    message.request = requests_.size();
    requests_.add(is_send ? Requests::Mode::send : Requests::Mode::receive, all, partner.rank, binding.tag,
                  comm_->get());
    return message;
  }

  /// Returns the index in `messages` for each listed partner. counts: also counts how often the user lists
  /// each message.
  static std::vector<std::size_t> listed_in(const Messages& messages, std::span<const Partner> listed,
                                            bool counts) {
    std::vector<std::size_t> by_index(listed.size(), no_index);
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (listed[i].bytes == 0) continue;
      const auto found = std::ranges::find(
          messages, listed[i].rank, [](const std::unique_ptr<Message>& each) { return each->partner; });
      by_index[i] = static_cast<std::size_t>(found - messages.begin());
      if (counts) ++(*found)->num_listed;
    }
    return by_index;
  }

  /// Whether this thread may call MPI: any thread with MPI_THREAD_MULTIPLE, otherwise the thread that
  /// initialised MPI.
  bool may_call_mpi() const {
    if (is_multiple_) return true;
    int is_main = 0;
    must(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
    return is_main != 0;
  }

  /// Notes that one listed part of this message is ready. Starts the message if all its parts are ready.
  void release(Message& message) {
    const bool is_last = message.num_held.fetch_sub(1, std::memory_order_acq_rel) == 1;
    if (!may_call_mpi()) return;
    if (is_last) begin(message);
    if (const std::unique_lock lock(testing_, std::try_to_lock); lock.owns_lock()) step();
  }

  void begin(Message& message) {
    if (message.request != no_index) {
      requests_.start(message.request, message.request + 1);
    } else if (own_) {
      own_->copy(*comm_, own_tag_);
    }
    message.is_begun.store(true, std::memory_order_release);
  }

  /// Tests all messages. Starts messages that are ready, if the threads that made them ready could not start
  /// them. Requires testing_ and a thread that may call MPI.
  void step() {
    bool is_own_here = false;
    for (const auto& message : sends_) {
      if (!is_multiple_ && !message->is_begun && message->num_held == 0) begin(*message);
      if (message->is_begun.load(std::memory_order_acquire) && !message->is_done) take(*message);
      is_own_here = is_own_here || (message->partner == comm_->rank() && message->is_done);
    }
    for (const auto& message : receives_) {
      if (message->is_done || (message->request == no_index && !is_own_here)) continue;
      take(*message);
      if (message->is_done) came_.push_back(message->partner);
    }
  }

  void take(Message& message) {
    if (message.request != no_index && !requests_.test(message.request, message.request + 1)) return;
    message.is_done.store(true, std::memory_order_release);
    --num_undone_;
    ++num_events_;
  }

  /// Hands messages over to the arrivals. Called by the waiting thread, under testing_.
  void hand_over() {
    for (const Rank rank : came_) {
      if (rank == comm_->rank())
        arrivals_.land_copied(rank);
      else
        arrivals_.land_piece(arrivals_.index_of(rank));
    }
    came_.clear();
  }

  bool advance(bool block, bool until_arrival) {
    Patience patience;
    while (true) {
      bool is_done = false;
      {
        const std::scoped_lock lock(testing_);
        step();
        hand_over();
        is_done = num_undone_ == 0 && num_unready_.load(std::memory_order_acquire) == 0;
      }
      if (is_done) is_active_.store(false, std::memory_order_release);
      if (is_done) return true;
      if (!block || (until_arrival && arrivals_.any())) return false;
      patience.found_nothing();
    }
  }

  std::shared_ptr<const Communicator> comm_;
  Arrivals& arrivals_;
  std::optional<SelfMessage> own_;
  int own_tag_;
  bool is_multiple_ = false;  // any thread may call MPI
  std::vector<Datatype> types_;
  Requests requests_;
  Messages sends_;
  Messages receives_;
  std::vector<std::size_t> sends_by_index_;  // no_index if it has no bytes
  std::vector<std::size_t> receives_by_index_;
  std::vector<Rank> to_by_index_;
  std::unique_ptr<std::atomic<bool>[]> is_ready_;  // by index

  // State of the running exchange.
  std::atomic<bool> is_active_ = false;
  std::atomic<std::size_t> num_unready_ = 0;  // calls of ready() that have not ended
  std::atomic<std::int64_t> num_events_ = 0;
  std::mutex testing_;
  std::vector<Rank> came_;      // arrived messages to be handed over; under testing_
  std::size_t num_undone_ = 0;  // messages that are not done; under testing_
};

}  // namespace

std::unique_ptr<Run> bind_parts(const Binding& binding, std::span<const Partner> destinations,
                                std::span<const Partner> sources, std::optional<SelfMessage> own) {
  return std::make_unique<PartsRun>(binding, destinations, sources, std::move(own));
}

}  // namespace nuice::mpi

// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/exec/parts.hpp"

#include <algorithm>
#include <utility>

#include "core/text/names.hpp"
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

}  // namespace

PartsRun::PartsRun(const Binding& binding, std::span<const Partner> destinations,
                   std::span<const Partner> sources, std::optional<SelfMessage> own)
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

PartsRun::Message& PartsRun::add(const Binding& binding, const Partner& partner, bool is_send,
                                 Messages& messages) {
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

/// Returns the index in `messages` for each listed partner. counts: also counts how often the user lists each
/// message.
std::vector<std::size_t> PartsRun::listed_in(const Messages& messages, std::span<const Partner> listed,
                                             bool counts) {
  std::vector<std::size_t> by_index(listed.size(), no_index);
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (listed[i].bytes == 0) continue;
    const auto found = std::ranges::find(messages, listed[i].rank,
                                         [](const std::unique_ptr<Message>& each) { return each->partner; });
    by_index[i] = static_cast<std::size_t>(found - messages.begin());
    if (counts) ++(*found)->num_listed;
  }
  return by_index;
}

void PartsRun::number(std::span<const Outgoing> sends, std::span<const std::size_t> receives,
                      std::size_t num_receives) {
  const auto renumber = [](std::vector<std::size_t>& by_index, std::span<const std::size_t> places,
                           std::size_t count) {
    std::vector<std::size_t> all(count, no_index);
    for (std::size_t i = 0; i < by_index.size(); ++i) all[places[i]] = by_index[i];
    by_index = std::move(all);
  };
  std::vector<std::size_t> with_bytes;
  for (std::size_t i = 0; i < sends.size(); ++i)
    if (sends[i].count * size_of(sends[i].type) > 0) with_bytes.push_back(i);
  renumber(sends_by_index_, with_bytes, sends.size());
  renumber(receives_by_index_, receives, num_receives);
  to_by_index_.clear();
  for (const Outgoing& each : sends) to_by_index_.push_back(each.to);
  is_ready_ = std::make_unique<std::atomic<bool>[]>(sends_by_index_.size());
}

void PartsRun::start() {
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

/// Whether this thread may call MPI: any thread with MPI_THREAD_MULTIPLE, otherwise the thread that
/// initialised MPI.
bool PartsRun::may_call_mpi() const {
  if (is_multiple_) return true;
  int is_main = 0;
  must(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  return is_main != 0;
}

void PartsRun::ready(std::size_t index) {
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

/// Notes that one listed part of this message is ready. Starts the message if all its parts are ready.
void PartsRun::release(Message& message) {
  const bool is_last = message.num_held.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (!may_call_mpi()) return;
  if (is_last) begin(message);
  if (const std::unique_lock lock(testing_, std::try_to_lock); lock.owns_lock()) step();
}

void PartsRun::begin(Message& message) {
  if (message.request != no_index) {
    requests_.start(message.request, message.request + 1);
  } else if (own_) {
    own_->copy(*comm_, own_tag_);
  }
  message.is_begun.store(true, std::memory_order_release);
}

/// Tests all messages. Starts messages that are ready, if the threads that made them ready could not start
/// them. Requires testing_ and a thread that may call MPI.
void PartsRun::step() {
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

void PartsRun::take(Message& message) {
  if (message.request != no_index && !requests_.test(message.request, message.request + 1)) return;
  message.is_done.store(true, std::memory_order_release);
  --num_undone_;
  ++num_events_;
}

bool PartsRun::arrived(std::size_t index) {
  if (index >= receives_by_index_.size()) refuse_index(index, receives_by_index_.size());
  if (receives_by_index_[index] == no_index) return true;
  const Message& message = *receives_[receives_by_index_[index]];
  if (!message.is_done.load(std::memory_order_acquire) && is_active_ && may_call_mpi())
    if (const std::unique_lock lock(testing_, std::try_to_lock); lock.owns_lock()) step();
  return message.is_done.load(std::memory_order_acquire);
}

/// Hands messages over to the arrivals. Called by the waiting thread, under testing_.
void PartsRun::hand_over() {
  for (const Rank rank : came_) {
    if (rank == comm_->rank())
      arrivals_.land_copied(rank);
    else
      arrivals_.land_piece(arrivals_.index_of(rank));
  }
  came_.clear();
}

bool PartsRun::advance(bool block, bool until_arrival) {
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

std::string PartsRun::waits_for() const {
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

void PartsRun::cancel() noexcept {
  is_active_ = false;
  requests_.cancel_receives();
}

}  // namespace nuice::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Executor depend: a transfer starts when the previous transfers on its ports and links are nearly complete
// (docs/adr/0020).
//
//   start:   post all receives, of messages and of notifications; start the sends that need no notification
//   when the first part of a message is here (all but early_bytes): notify the senders that wait for it
//   when the last notification for a send is here: start the send
//
// Why no rank waits forever: start() posts all receives, so everything that is sent arrives. A send waits
// only for receives of earlier phases (dependencies.hpp). So the sends of the first phase start, and by
// induction the sends of every other phase.
// Why pieces land where they belong: of two transfers between the same ranks, the later one also waits until
// the earlier one has started.
// A notification names its transfer, so notifications may arrive in any order.
//
// Cost: 2 to 4 notifications per transfer, each a message of 8 bytes. One call of MPI tests all requests.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/support/no_index.hpp"
#include "exchange/bind/table_requests.hpp"
#include "exchange/exec/rows.hpp"
#include "mpi/failure.hpp"

namespace nuice::mpi {
namespace {

/// The phase and the destination of the transfer that may start.
using NoticeText = std::array<int, 2>;

using Key = std::pair<PhaseId, Rank>;

class Depend : public Run {
 public:
  Depend(TableRequests requests, const Binding& binding)
      : requests_(std::move(requests)), arrivals_(binding.arrivals), rank_(binding.table.rank) {
    list_transfers(binding.table);
    all_.take(requests_.receives);
    all_.take(requests_.sends);
    make_notices(binding);
    indices_.resize(all_.size());
  }

  void start() override {
    num_left_ = all_.size();
    for (Outgoing& outgoing : outgoing_) outgoing.waits = outgoing.notices;
    for (Incoming& incoming : incoming_) incoming.heads_left = incoming.heads;
    expect(requests_.packed_receives);
    all_.start(0, first_send());
    all_.start(first_awaited(), first_given());
    for (std::size_t i = 0; i < outgoing_.size(); ++i)
      if (outgoing_[i].notices == 0) send(i);
    for (std::size_t i = 0; i < incoming_.size(); ++i)
      if (incoming_[i].heads == 0) tell(i);  // a message without bytes
  }

  bool advance(bool block) override { return go_on(block, false); }
  /// Does nothing, because arrivals are always recorded.
  void follow() override {}
  bool always_follows() const override { return true; }
  bool next(bool block) override { return go_on(block, true); }
  std::int64_t num_events() const override { return num_events_; }

  std::string waits_for() const override {
    std::vector<Rank> ranks;
    for (std::size_t i = 0; i < first_send(); ++i)
      if (!arrivals_.has_landed(i)) ranks.push_back(requests_.receive_from[i]);
    for (std::size_t i = 0; i < awaited_from_.size(); ++i)
      if (!all_.is_complete(first_awaited() + i)) ranks.push_back(awaited_from_[i]);
    for (std::size_t i = 0; i < requests_.send_to.size(); ++i)
      if (!all_.is_complete(first_send() + i)) ranks.push_back(requests_.send_to[i]);
    return names_of(ranks);
  }

  void cancel() noexcept override { all_.cancel_receives(); }

 private:
  struct Outgoing {
    Key key;  // its destination
    std::size_t begin = 0;
    std::size_t end = 0;                  // its sends
    std::size_t next_of_same = no_index;  // the next transfer to the same rank
    int notices = 0;                      // plus 1 if it waits for an earlier transfer to the same rank
    int waits = 0;                        // how many of them are still missing in the running exchange
  };
  struct Incoming {
    Key key;                      // its source
    int heads = 0;                // receives that must complete before senders are notified
    int heads_left = 0;           // how many of them are still missing in the running exchange
    std::size_t first_given = 0;  // of the notifications to other ranks
    std::size_t end_given = 0;
    std::vector<std::size_t> own;  // outgoing transfers of this rank that wait for it
  };

  std::size_t first_send() const { return requests_.receive_from.size(); }
  std::size_t first_awaited() const { return first_send() + requests_.send_to.size(); }
  std::size_t first_given() const { return first_awaited() + awaited_from_.size(); }

  void list_transfers(const PhaseTable& table) {
    RequestCount begin;
    for (std::size_t i = 0; i < table.entries.size(); ++i) {
      const PhaseEntry& entry = table.entries[i];
      const RequestCount end = requests_.ends[i];
      if (entry.send_partner != no_rank)
        outgoing_.push_back(
            {.key = {entry.phase, entry.send_partner}, .begin = begin.sends, .end = end.sends});
      if (entry.recv_partner != no_rank) {
        const auto count = static_cast<int>(end.receives - begin.receives);
        const int heads = count > 1 ? count - 1 : count;
        for (int k = 0; k < count; ++k) head_of_.push_back(k < heads ? incoming_.size() : no_index);
        incoming_.push_back({.key = {entry.phase, entry.recv_partner}, .heads = heads, .own = {}});
      }
      begin = end;
    }
    std::map<Rank, std::size_t> last_to;
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
      by_key_.push_back(i);
      const auto [last, is_first] = last_to.try_emplace(outgoing_[i].key.second, i);
      if (is_first) continue;
      outgoing_[std::exchange(last->second, i)].next_of_same = i;
      ++outgoing_[i].notices;
    }
    std::ranges::stable_sort(by_key_, {}, [this](std::size_t i) { return outgoing_[i].key; });
  }

  /// Returns the transfers with this phase and destination. There may be several.
  auto outgoing_with(const Key& key) const {
    return std::ranges::equal_range(by_key_, key, {}, [this](std::size_t i) { return outgoing_[i].key; });
  }

  void make_notices(const Binding& binding) {
    const Notices& notices = binding.notices;
    std::vector<Notice> gives = notices.gives;
    std::ranges::stable_sort(gives, {}, [](const Notice& n) { return Key(n.phase, n.partner); });
    given_texts_.reserve(gives.size());
    Requests given;
    for (Incoming& incoming : incoming_) {
      incoming.first_given = given.size();
      const auto here = std::ranges::equal_range(gives, incoming.key, {},
                                                 [](const Notice& n) { return Key(n.phase, n.partner); });
      for (const Notice& notice : here) {
        if (notice.peer != rank_) {
          given_texts_.push_back({static_cast<int>(notice.peer_phase), notice.peer_partner});
          given.add(Requests::Mode::send, bytes_of(given_texts_.back()), notice.peer, binding.tag + 1,
                    binding.comm->get());
          continue;
        }
        for (const std::size_t i : outgoing_with({notice.peer_phase, notice.peer_partner})) {
          incoming.own.push_back(i);
          ++outgoing_[i].notices;
        }
      }
      incoming.end_given = given.size();
      gives.erase(here.begin(), here.end());  // each phase and partner is listed once
    }
    awaited_texts_.resize(notices.awaits.size());
    for (const Notice& notice : notices.awaits) {
      if (notice.peer == rank_) continue;
      for (const std::size_t i : outgoing_with({notice.phase, notice.partner})) ++outgoing_[i].notices;
      all_.add(Requests::Mode::receive, bytes_of(awaited_texts_[awaited_from_.size()]), notice.peer,
               binding.tag + 1, binding.comm->get());
      awaited_from_.push_back(notice.peer);
    }
    all_.take(given);
  }

  static Segment bytes_of(NoticeText& text) {
    return {reinterpret_cast<std::byte*>(text.data()), sizeof(NoticeText), MPI_BYTE};
  }

  void send(std::size_t outgoing) {
    requests_.await(outgoing_[outgoing].begin, outgoing_[outgoing].end);
    gather(requests_.packed_sends, outgoing_[outgoing].begin, outgoing_[outgoing].end);
    all_.start(first_send() + outgoing_[outgoing].begin, first_send() + outgoing_[outgoing].end);
    for (std::size_t i = outgoing_[outgoing].begin; i < outgoing_[outgoing].end; ++i)
      arrivals_.trace().note(Trace::Kind::sent, requests_.send_to[i]);
    if (outgoing_[outgoing].next_of_same != no_index) heard(outgoing_[outgoing].next_of_same);
  }

  void tell(std::size_t incoming) {
    all_.start(first_given() + incoming_[incoming].first_given,
               first_given() + incoming_[incoming].end_given);
    for (const std::size_t i : incoming_[incoming].own) heard(i);
  }

  void heard(std::size_t outgoing) {
    if (--outgoing_[outgoing].waits == 0) send(outgoing);
  }

  bool go_on(bool block, bool until_arrival) {
    while (num_left_ > 0) {
      const bool may_wait = block && !(until_arrival && arrivals_.any());
      const auto found = all_.take_completed(may_wait, 0, all_.size(), indices_);
      if (found.empty()) return false;
      num_left_ -= found.size();
      num_events_ += std::ssize(found);
      for (const int place : found) take(static_cast<std::size_t>(place));
    }
    return true;
  }

  /// Handles a completed request.
  void take(std::size_t place) {
    if (place < first_send()) {
      scatter(requests_.packed_receives, place, place + 1);
      arrivals_.land_receive(place);
      const std::size_t incoming = head_of_[place];
      if (incoming != no_index && --incoming_[incoming].heads_left == 0) tell(incoming);
    } else if (place >= first_awaited() && place < first_given()) {
      const auto& [phase, partner] = awaited_texts_[place - first_awaited()];
      for (const std::size_t i : outgoing_with({static_cast<PhaseId>(phase), partner})) heard(i);
    }
  }

  TableRequests requests_;
  Arrivals& arrivals_;
  Rank rank_;
  std::vector<Outgoing> outgoing_;    // in the order of the table
  std::vector<std::size_t> by_key_;   // indices of outgoing_, by key
  std::vector<Incoming> incoming_;    // in the order of the table
  std::vector<std::size_t> head_of_;  // by receive: index in incoming_, or none
  std::vector<NoticeText> awaited_texts_;
  std::vector<NoticeText> given_texts_;
  std::vector<Rank> awaited_from_;
  Requests all_;  // receives, sends, notifications from others, notifications to them
  std::vector<int> indices_;
  // State of the running exchange.
  std::size_t num_left_ = 0;  // requests of all_ that have not completed
  std::int64_t num_events_ = 0;
};

}  // namespace

std::unique_ptr<Run> bind_depend(const Binding& binding) {
  TableRequests requests = make_requests(binding, false, binding.settings.early_bytes);
  return std::make_unique<Depend>(std::move(requests), binding);
}

}  // namespace nuice::mpi

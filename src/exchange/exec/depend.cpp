// SPDX-License-Identifier: BSD-3-Clause
// Executor depend: a transfer leaves when those before it on its ports and links are nearly through (docs/adr/0020).
//
//   start:   post all receives, of messages and of notices; start the sends that wait for nobody
//   when the first part of a message is here (all but early_bytes): tell the senders that wait for it
//   when a send's last notice is here: start it
//
// Why no rank waits for ever: all receives are posted by start(), so what is sent arrives; a send waits for receives of
// earlier phases only (dependencies.hpp), so the sends of the first phase leave, then by induction those of every other.
// Why pieces land where they belong: of two transfers between the same ranks the later one also waits until the earlier one
// has been started.
// A notice says for which transfer it is, so notices may come in any order.
//
// Cost: a message of 8 bytes per notice, 2 to 4 a transfer; one call of MPI looks at all requests.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "exchange/bind/table_requests.hpp"
#include "exchange/exec/rows.hpp"
#include "mpi/call.hpp"
#include "mpi/failure.hpp"

namespace nuice::mpi {
namespace {

/// The phase of the transfer that is waited for no more, and whom it goes to.
using NoticeText = std::array<int, 2>;

using Key = std::pair<PhaseId, Rank>;

constexpr std::size_t none = ~std::size_t{0};

class Depend : public Run {
 public:
  Depend(TableRequests requests, const Binding& binding)
      : requests_(std::move(requests)), arrivals_(binding.arrivals), rank_(binding.table.rank) {
    list_transfers(binding.table);
    make_notices(binding);
    all_.resize(requests_.receives.size() + requests_.sends.size() + awaited_.size() + given_.size(),
                MPI_REQUEST_NULL);
    indices_.resize(all_.size());
  }

  void start() override {
    sends_left_ = requests_.sends.size();
    receives_left_ = requests_.receives.size();
    awaited_left_ = awaited_.size();
    given_left_ = given_.size();
    for (Outgoing& outgoing : outgoing_) outgoing.waits = outgoing.notices;
    for (Incoming& incoming : incoming_) incoming.heads_left = incoming.heads;
    expect(requests_.packed_receives);
    start_range(requests_.receives, 0, requests_.receives.size(), 0);
    start_range(awaited_, 0, awaited_.size(), first_awaited());
    for (std::size_t i = 0; i < outgoing_.size(); ++i)
      if (outgoing_[i].notices == 0) send(i);
    for (std::size_t i = 0; i < incoming_.size(); ++i)
      if (incoming_[i].heads == 0) tell(i);  // of elements without bytes
  }

  bool advance(bool block) override { return go_on(block, false); }
  /// What lands is noted anyway.
  void follow() override {}
  bool always_follows() const override { return true; }
  bool next(bool block) override { return go_on(block, true); }
  std::int64_t num_events() const override { return num_events_; }

  std::string waits_for() const override {
    std::vector<Rank> ranks;
    for (std::size_t i = 0; i < requests_.receives.size(); ++i)
      if (!arrivals_.has_landed(i)) ranks.push_back(requests_.receive_from[i]);
    for (std::size_t i = 0; i < awaited_.size(); ++i)
      if (is_under_way(first_awaited() + i)) ranks.push_back(awaited_from_[i]);
    for (std::size_t i = 0; i < requests_.sends.size(); ++i)
      if (is_under_way(first_send() + i)) ranks.push_back(requests_.send_to[i]);
    return names_of(ranks);
  }

  void cancel() noexcept override {
    requests_.receives.cancel(0, requests_.receives.size());
    awaited_.cancel(0, awaited_.size());
  }

 private:
  struct Outgoing {
    Key key;  // whom it goes to
    std::size_t begin = 0;
    std::size_t end = 0;              // of the sends
    std::size_t next_of_same = none;  // the next one to the same rank
    int notices = 0;                  // and the start of the one before to the same rank
    int waits = 0;                    // of these, in the running exchange
  };
  struct Incoming {
    Key key;                      // who sends it
    int heads = 0;                // receives that come before notice is given
    int heads_left = 0;           // of these, in the running exchange
    std::size_t first_given = 0;  // of the notices to others
    std::size_t end_given = 0;
    std::vector<std::size_t> own;  // outgoing ones of this rank
  };

  std::size_t first_send() const { return requests_.receives.size(); }
  std::size_t first_awaited() const { return first_send() + requests_.sends.size(); }
  std::size_t first_given() const { return first_awaited() + awaited_.size(); }

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
        for (int k = 0; k < count; ++k) head_of_.push_back(k < heads ? incoming_.size() : none);
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

  /// The transfers with this key; of one phase there may be several between the same ranks.
  auto outgoing_with(const Key& key) const {
    return std::ranges::equal_range(by_key_, key, {}, [this](std::size_t i) { return outgoing_[i].key; });
  }

  void make_notices(const Binding& binding) {
    const Notices& notices = *binding.settings.notices;
    std::vector<Notice> gives = notices.gives;
    std::ranges::stable_sort(gives, {}, [](const Notice& n) { return Key(n.phase, n.partner); });
    given_texts_.reserve(gives.size());
    for (Incoming& incoming : incoming_) {
      incoming.first_given = given_.size();
      const auto here = std::ranges::equal_range(gives, incoming.key, {},
                                                 [](const Notice& n) { return Key(n.phase, n.partner); });
      for (const Notice& notice : here) {
        if (notice.peer != rank_) {
          add_given(notice, binding);
          continue;
        }
        for (const std::size_t i : outgoing_with({notice.peer_phase, notice.peer_partner})) {
          incoming.own.push_back(i);
          ++outgoing_[i].notices;
        }
      }
      incoming.end_given = given_.size();
      gives.erase(here.begin(), here.end());  // those of a phase and partner are given once
    }
    awaited_texts_.resize(notices.awaits.size());
    for (const Notice& notice : notices.awaits) {
      if (notice.peer == rank_) continue;
      for (const std::size_t i : outgoing_with({notice.phase, notice.partner})) ++outgoing_[i].notices;
      add_awaited(notice.peer, binding);
    }
  }

  void add_given(const Notice& notice, const Binding& binding) {
    given_texts_.push_back({static_cast<int>(notice.peer_phase), notice.peer_partner});
    given_.make_room();
    given_.add(
        {given_texts_.back().data(), sizeof(NoticeText), notice.peer, binding.tag + 1, binding.comm->get()});
  }

  void add_awaited(Rank from, const Binding& binding) {
    awaited_.make_room();
    MPI_Request request;
    must(MPI_Recv_init(awaited_texts_[awaited_.size()].data(), sizeof(NoticeText), MPI_BYTE, from,
                       binding.tag + 1, binding.comm->get(), &request),
         "MPI_Recv_init");
    awaited_.adopt(request);
    awaited_from_.push_back(from);
  }

  /// In their order.
  void start_range(Requests& requests, std::size_t begin, std::size_t end, std::size_t place) {
    requests.start(begin, end);
    for (std::size_t i = begin; i < end; ++i) all_[place + i] = requests[i];
  }

  void send(std::size_t outgoing) {
    requests_.await(outgoing_[outgoing].begin, outgoing_[outgoing].end);
    gather(requests_.packed_sends, outgoing_[outgoing].begin, outgoing_[outgoing].end);
    start_range(requests_.sends, outgoing_[outgoing].begin, outgoing_[outgoing].end, first_send());
    for (std::size_t i = outgoing_[outgoing].begin; i < outgoing_[outgoing].end; ++i)
      arrivals_.trace().note(Trace::Kind::sent, requests_.send_to[i]);
    if (outgoing_[outgoing].next_of_same != none) heard(outgoing_[outgoing].next_of_same);
  }

  void tell(std::size_t incoming) {
    start_range(given_, incoming_[incoming].first_given, incoming_[incoming].end_given, first_given());
    for (const std::size_t i : incoming_[incoming].own) heard(i);
  }

  void heard(std::size_t outgoing) {
    if (--outgoing_[outgoing].waits == 0) send(outgoing);
  }

  bool is_done() const { return sends_left_ + receives_left_ + awaited_left_ + given_left_ == 0; }

  bool go_on(bool block, bool until_arrival) {
    while (!is_done()) {
      const bool may_wait = block && !(until_arrival && arrivals_.any());
      int found = 0;
      const auto ready = may_wait ? MPI_Waitsome : MPI_Testsome;
      must(ready(static_cast<int>(all_.size()), all_.data(), &found, indices_.data(), MPI_STATUSES_IGNORE),
           may_wait ? "MPI_Waitsome" : "MPI_Testsome");
      if (found == MPI_UNDEFINED || found == 0) return false;
      num_events_ += found;
      for (int i = 0; i < found; ++i) take(static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]));
    }
    return true;
  }

  /// A request that is complete.
  void take(std::size_t place) {
    if (place < first_send()) {
      --receives_left_;
      scatter(requests_.packed_receives, place, place + 1);
      arrivals_.land_receive(place);
      const std::size_t incoming = head_of_[place];
      if (incoming != none && --incoming_[incoming].heads_left == 0) tell(incoming);
    } else if (place < first_awaited()) {
      --sends_left_;
      requests_.sends[place - first_send()] = all_[place];
    } else if (place < first_given()) {
      --awaited_left_;
      const auto& [phase, partner] = awaited_texts_[place - first_awaited()];
      for (const std::size_t i : outgoing_with({static_cast<PhaseId>(phase), partner})) heard(i);
    } else {
      --given_left_;
      given_[place - first_given()] = all_[place];
    }
  }

  bool is_under_way(std::size_t place) const {
    int complete = 1;
    if (all_[place] != MPI_REQUEST_NULL)
      must(MPI_Request_get_status(all_[place], &complete, MPI_STATUS_IGNORE), "MPI_Request_get_status");
    return complete == 0;
  }

  TableRequests requests_;
  Arrivals& arrivals_;
  Rank rank_;
  std::vector<Outgoing> outgoing_;    // in the order of the table
  std::vector<std::size_t> by_key_;   // of outgoing_
  std::vector<Incoming> incoming_;    // in the order of the table
  std::vector<std::size_t> head_of_;  // by receive: index in incoming_, or none
  std::vector<NoticeText> awaited_texts_;
  std::vector<NoticeText> given_texts_;
  Requests awaited_;  // notices from others
  Requests given_;    // and to them
  std::vector<Rank> awaited_from_;
  std::vector<MPI_Request> all_;  // copies: receives, sends, notices from others, notices to them
  std::vector<int> indices_;
  // of the running exchange
  std::size_t sends_left_ = 0;
  std::size_t receives_left_ = 0;
  std::size_t awaited_left_ = 0;
  std::size_t given_left_ = 0;
  std::int64_t num_events_ = 0;
};

}  // namespace

std::unique_ptr<Run> bind_depend(const Binding& binding) {
  TableRequests requests = make_requests(binding, false, binding.settings.early_bytes);
  return std::make_unique<Depend>(std::move(requests), binding);
}

}  // namespace nuice::mpi

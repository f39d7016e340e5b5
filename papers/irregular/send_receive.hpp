// SPDX-License-Identifier: BSD-3-Clause
// SSR-C-NO (002 figs 20, 21, 23) and ASR-C-O (fig. 24): the items of a level for a neighbour are one MPI
// message.
//
// SSR sends to one neighbour after the other. Each time it waits until the receiver has begun to take the
// message (MPI_Issend: the handshake of 002 s.4.2). It absorbs when all messages have come. ASR sends the
// items of level k - 1 at the end of that level, expands level k meanwhile, and then absorbs, one level late
// (scheme.hpp). Receives are posted before anything is sent, with room for max_first_bytes. Longer data
// follow in further messages of that size; the last may be shorter. Cost of a level: a message for every
// neighbour in each direction, even if there are no items.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "irregular/scheme.hpp"
#include "irregular/simulated.hpp"
#include "nuice/core/error.hpp"

namespace nuice::irregular {

template <typename Client, bool late>
class SendReceive {
 public:
  using Item = Client::Item;

  /// Collective. neighbours: distinct ranks; a slot is a position in this list.
  SendReceive(MPI_Comm comm, const SchemeOptions&, std::vector<Rank> neighbours, Client& client)
      : client_(client), slots_(neighbours.size()) {
    MPI_Comm_dup(comm, &comm_);
    int rank = 0;
    int num_ranks = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &num_ranks);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      slots_[i].rank = neighbours[i];
      slots_[i].incoming.resize(max_first_items);
      order_.push_back(i);
    }
    const auto to_the_right = [&](std::size_t i) { return (slots_[i].rank - rank + num_ranks) % num_ranks; };
    std::ranges::sort(order_, {}, to_the_right);  // messages to the right first, then to the left: fig. 21
    receives_.resize(slots_.size(), MPI_REQUEST_NULL);
    traffic_.items.resize(slots_.size());
  }
  SendReceive(const SendReceive&) = delete;
  SendReceive& operator=(const SendReceive&) = delete;
  ~SendReceive() { MPI_Comm_free(&comm_); }

  std::string transport() const { return "mpi"; }

  void begin(bool /*without_limit*/) { level_ = 0; }

  [[gnu::always_inline]] void emit(std::size_t slot, const Item& item) {
    slots_[slot].filling.push_back(item);
  }

  void poll() {}

  void end_level() {
    if constexpr (late) {
      if (level_ > 0) finish(true);
      start();
    } else {
      start();
      finish(true);
    }
    ++level_;
    ++traffic_.levels;
  }

  bool done() {
    ++traffic_.checks;
    const Vote mine = client_.vote();
    const bool sent_all =
        !late || std::ranges::all_of(slots_, [](const Slot& s) { return s.leaving.empty(); });
    std::array<int, 2> votes = {mine.idle && sent_all ? 0 : 1, mine.stop ? 1 : 0};
    MPI_Allreduce(MPI_IN_PLACE, votes.data(), 2, MPI_INT, MPI_MAX, comm_);
    const bool over = votes[0] == 0 || votes[1] != 0;
    if (late && over) finish(false);
    return over;
  }

  Traffic traffic() const { return traffic_; }

 private:
  static constexpr std::size_t max_first_bytes = 65536;
  static constexpr std::size_t max_first_items = max_first_bytes / sizeof(Item);
  static constexpr int tag = 0;

  struct Slot {
    Rank rank = no_rank;
    std::vector<Item> filling;  // items of the level that is expanded
    std::vector<Item> leaving;  // items that are being sent
    std::vector<Item> incoming;
  };

  static int bytes(std::size_t items) { return static_cast<int>(items * sizeof(Item)); }

  void start() {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      MPI_Irecv(slots_[i].incoming.data(), bytes(max_first_items), MPI_BYTE, slots_[i].rank, tag, comm_,
                &receives_[i]);
    for (const std::size_t i : order_) {
      Slot& slot = slots_[i];
      traffic_.items[i] += slot.filling.size();
      traffic_.messages += slot.filling.empty() ? 0 : 1;
      slot.leaving.clear();
      std::swap(slot.filling, slot.leaving);
      simulated_send(1, slot.leaving.size());
      send(slot);
    }
  }

  // The receive of the first message is posted, so its send may wait here. Sends of further messages may not
  // wait.
  void send(const Slot& slot) {
    std::size_t sent = 0;
    std::size_t items = 0;
    do {
      items = std::min(max_first_items, slot.leaving.size() - sent);
      MPI_Request& request = sends_.emplace_back();
      const auto start_send = late ? MPI_Isend : MPI_Issend;
      start_send(slot.leaving.data() + sent, bytes(items), MPI_BYTE, slot.rank, tag, comm_, &request);
      if (!late && sent == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
      sent += items;
    } while (items == max_first_items);
  }

  void finish(bool absorb) {
    std::vector<std::size_t>& counts = counts_;
    counts.resize(slots_.size());
    for (std::size_t i = 0; i < slots_.size(); ++i) counts[i] = receive(i);
    MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
    sends_.clear();
    if (!absorb) return clear();
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (counts[i] != 0)
        client_.absorb(std::span(slots_[i].incoming).first(counts[i]), late ? level_ - 1 : level_);
  }

  std::size_t receive(std::size_t i) {
    Slot& slot = slots_[i];
    MPI_Status status;
    MPI_Wait(&receives_[i], &status);
    std::size_t have = 0;
    for (;;) {
      int got = 0;
      MPI_Get_count(&status, MPI_BYTE, &got);
      have += static_cast<std::size_t>(got) / sizeof(Item);
      if (got < bytes(max_first_items)) break;
      if (slot.incoming.size() < have + max_first_items) slot.incoming.resize(2 * (have + max_first_items));
      MPI_Recv(slot.incoming.data() + have, bytes(max_first_items), MPI_BYTE, slot.rank, tag, comm_, &status);
    }
    simulated_receive(1, have);
    return have;
  }

  // When the run is over, items that remain because a rank voted to stop are discarded.
  void clear() {
    for (Slot& slot : slots_) {
      slot.filling.clear();
      slot.leaving.clear();
    }
  }

  Client& client_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<Slot> slots_;
  std::vector<std::size_t> order_;  // of the sends
  std::vector<MPI_Request> receives_;
  std::vector<MPI_Request> sends_;
  std::vector<std::size_t> counts_;
  Level level_ = 0;  // level within this run
  Traffic traffic_;
};

}  // namespace nuice::irregular

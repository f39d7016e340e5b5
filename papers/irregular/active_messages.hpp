// SPDX-License-Identifier: BSD-3-Clause
// AM-NC-O, ST-NC-O and AM-C-O send items at once, or when a buffer is full. The message's handler is the
// remote expansion (002 fig. 25). A level ends as in figures 26 and 27; see scheme.hpp. Cost of an item: one
// message of the transport, or its bytes and a push.
#pragma once

#include <array>
#include <optional>
#include <utility>

#include "irregular/scheme.hpp"
#include "irregular/simulated.hpp"
#include "irregular/transport.hpp"
#include "nuice/am/coalescer.hpp"
#include "nuice/am/endpoint.hpp"
#include "nuice/am/level_sync.hpp"

namespace nuice::irregular {

template <typename Client, bool coalesced>
class ActiveMessages {
 public:
  using Item = Client::Item;

  /// Collective. neighbours: distinct ranks; a slot is a position in this list.
  ActiveMessages(MPI_Comm comm, const SchemeOptions& options, std::vector<Rank> neighbours, Client& client)
      : client_(client),
        neighbours_(std::move(neighbours)),
        sync_(options.sync),
        endpoint_(connect(comm, options.transport), {.poll_every = options.poll_every}) {
    traffic_.items.resize(neighbours_.size());
    visit_ = endpoint_.template on_items<Item>(
        "visit", [this](am::Context& from, std::span<const Item> items) { arrived(from.source(), items); });
    endpoint_.seal();
    levels_.emplace(endpoint_, neighbours_);
    if constexpr (coalesced) buffers_.emplace(endpoint_, visit_, am::CoalescerOptions{options.buffer_bytes});
  }
  ActiveMessages(const ActiveMessages&) = delete;
  ActiveMessages& operator=(const ActiveMessages&) = delete;
  ~ActiveMessages() = default;

  std::string transport() const { return endpoint_.transport_name(); }

  void begin(bool without_limit) {
    first_level_ = level_;
    without_limit_ = without_limit;
  }

  [[gnu::always_inline]] void emit(std::size_t slot, const Item& item) {
    ++traffic_.items[slot];
    simulated_send(0, 1);
    if constexpr (coalesced) {
      buffers_->push(neighbours_[slot], item);
    } else {
      endpoint_.send(neighbours_[slot], visit_, item);
    }
  }

  void poll() {
    if (draining_) return;
    open_ = true;
    absorb_kept();
    endpoint_.poll();
    open_ = false;
  }

  void end_level() {
    if (draining_) return;
    ++traffic_.levels;
    open_ = true;
    absorb_kept();
    if (sync_ == Sync::none) {
      if constexpr (coalesced) buffers_->flush();
      endpoint_.poll();
    } else {
      // On the CM-5, a rank sends counts. With local synchronisation it sends a second message that confirms
      // them.
      const std::size_t packets = neighbours_.size() * (sync_ == Sync::local ? 2 : 1);
      simulated_send(0, packets);
      levels_->finish_level();
      simulated_receive(0, packets);
    }
    open_ = false;
    if (sync_ == Sync::global) endpoint_.barrier();
    ++level_;
  }

  bool done() {
    ++traffic_.checks;
    if (sync_ == Sync::none) {
      open_ = true;
      draining_ = without_limit_;
      if (draining_) {
        drain();
      } else {
        absorb_kept();
      }
      endpoint_.quiesce();
      open_ = draining_ = false;
      if (without_limit_) return true;
    }
    return is_over(endpoint_, client_.vote());
  }

  Traffic traffic() const {
    Traffic result = traffic_;
    const std::uint64_t markers = sync_ == Sync::none ? 0 : traffic_.levels * neighbours_.size();
    result.messages = endpoint_.stats().sent - markers;
    return result;
  }

 private:
  void arrived(Rank src, std::span<const Item> items) {
    simulated_receive(0, items.size());
    const Level level = sync_ == Sync::none ? level_ : levels_->level_of(src);
    if (!open_ || (Client::ordered && level != level_)) {
      auto& kept = kept_[level & 1];
      kept.insert(kept.end(), items.begin(), items.end());
      return;
    }
    client_.absorb(items, level - first_level_);
    if (draining_) drain();
  }

  // Absorbs kept items. If the client is ordered, absorbs only the items of this level.
  void absorb_kept() {
    for (const Level level : {level_, level_ + 1}) {
      if (Client::ordered && sync_ != Sync::none && level != level_) continue;
      auto& kept = kept_[level & 1];
      if (kept.empty()) continue;
      client_.absorb(kept, level - first_level_);
      kept.clear();
    }
  }

  // Handles arrivals at once, in and around quiesce(), so that one quiesce() ends the run. While the client
  // expands, arrivals are kept: if a ring is full, sending may take in messages. Inside a handler this cannot
  // happen. Here too, buffers are sent after every cycle, because other ranks may wait for work.
  void drain() {
    open_ = false;
    while (!client_.vote().idle || !all_absorbed()) {
      absorb_kept();
      client_.next_level();
      client_.expand(*this);
      ++traffic_.levels;
      if constexpr (coalesced) buffers_->flush();
    }
    open_ = true;
  }
  bool all_absorbed() const { return kept_[0].empty() && kept_[1].empty(); }

  Client& client_;
  std::vector<Rank> neighbours_;
  Sync sync_;
  am::Endpoint endpoint_;
  am::Handler<Item> visit_{};
  std::optional<am::LevelSync> levels_;
  std::optional<am::Coalescer<Item>> buffers_;
  std::array<std::vector<Item>, 2> kept_;  // by parity of the level: items that came too early
  Level level_ = 0;                        // levels that this rank has ended so far
  Level first_level_ = 0;                  // the first level of this run
  bool open_ = false;                      // absorb may be called
  bool draining_ = false;
  bool without_limit_ = false;
  Traffic traffic_;
};

}  // namespace nuice::irregular

// SPDX-License-Identifier: BSD-3-Clause
// AMP-C-NO (002 figs 20, 22, 23): at the end of a level each rank sends its neighbours the number of items.
// They arm their receive ports, and the items are put into these ports.
//
// Something must ensure that a port is armed before data arrive. With Sync::global (fig. 22) these are two
// barriers. With Sync::local, which 002 s.5 mentions as the longer program, it is an acknowledgement from
// each neighbour that receives data. Cost of a level: sizes for all neighbours, a put for each neighbour with
// items, and two barriers or a message back.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "irregular/scheme.hpp"
#include "irregular/simulated.hpp"
#include "irregular/transport.hpp"
#include "nuice/am/endpoint.hpp"
#include "nuice/am/port.hpp"
#include "nuice/core/error.hpp"

namespace nuice::irregular {

template <typename Client>
class PutIntoPorts {
 public:
  using Item = Client::Item;

  /// Collective. neighbours: distinct ranks; a slot is a position in this list.
  PutIntoPorts(MPI_Comm comm, const SchemeOptions& options, const std::vector<Rank>& neighbours,
               Client& client)
      : client_(client),
        sync_(options.sync),
        max_items_(options.max_items),
        endpoint_(connect(comm, options.transport), {.poll_every = options.poll_every}),
        slot_of_(static_cast<std::size_t>(endpoint_.num_ranks())) {
    port_is_ = endpoint_.template on<am::PortRef>(
        "port", [this](am::Context& from, const am::PortRef& ref) { slot(from).remote = ref; });
    size_is_ =
        endpoint_.template on<std::uint64_t>("size", [this](am::Context& from, const std::uint64_t& items) {
          Slot& s = slot(from);
          s.announced[s.announcements++ & 1] = items;
        });
    armed_ = endpoint_.template on<am::Nothing>(
        "armed", [this](am::Context& from, const am::Nothing&) { ++slot(from).armed; });
    endpoint_.seal();
    for (const Rank neighbour : neighbours) open(neighbour);
    for (const Slot& s : slots_) endpoint_.send(s.rank, port_is_, s.port->ref());
    endpoint_.quiesce();
    traffic_.items.resize(slots_.size());
  }
  PutIntoPorts(const PutIntoPorts&) = delete;
  PutIntoPorts& operator=(const PutIntoPorts&) = delete;
  ~PutIntoPorts() = default;

  std::string transport() const { return endpoint_.transport_name(); }

  void begin(bool /*without_limit*/) { first_level_ = level_; }

  [[gnu::always_inline]] void emit(std::size_t slot, const Item& item) {
    slots_[slot].filling.push_back(item);
  }

  void poll() {}

  void end_level() {
    if (sync_ == Sync::global) endpoint_.barrier();
    simulated_send(0, slots_.size());
    for (const Slot& s : slots_)
      endpoint_.send(s.rank, size_is_, static_cast<std::uint64_t>(s.filling.size()));
    wait_for([&](const Slot& s) { return s.announcements > level_; });
    simulated_receive(0, slots_.size());
    arm();
    if (sync_ == Sync::global)
      endpoint_.barrier();
    else
      wait_for([](const Slot& s) { return s.filling.empty() || s.armed > s.puts; });
    put();
    wait_for([](const Slot& s) { return s.port->complete(); });
    for (Slot& s : slots_) {
      const std::uint64_t items = s.announced[level_ & 1];
      simulated_receive(items != 0 ? 1 : 0, items);
      if (items != 0) client_.absorb(std::span(s.incoming.get(), items), level_ - first_level_);
      s.filling.clear();
    }
    ++level_;
    ++traffic_.levels;
  }

  bool done() {
    ++traffic_.checks;
    return is_over(endpoint_, client_.vote());
  }

  Traffic traffic() const { return traffic_; }

 private:
  struct Slot {
    Rank rank = no_rank;
    std::vector<Item> filling;
    std::unique_ptr<Item[]> incoming;
    std::unique_ptr<am::Port> port;
    am::PortRef remote;  // the neighbour's port for this rank, with the generation of the last put
    std::array<std::uint64_t, 2> announced{};  // announced items, by parity of the level
    std::uint64_t announcements = 0;           // number of announced levels
    std::uint64_t armed = 0;                   // number of acknowledgements
    std::uint64_t puts = 0;
  };

  Slot& slot(const am::Context& from) { return slots_[slot_of_[static_cast<std::size_t>(from.source())]]; }

  void open(Rank neighbour) {
    slot_of_[static_cast<std::size_t>(neighbour)] = slots_.size();
    Slot& s = slots_.emplace_back();
    s.rank = neighbour;
    s.incoming = std::make_unique_for_overwrite<Item[]>(max_items_);  // unused pages take no memory
    s.port = std::make_unique<am::Port>(
        endpoint_.open_port(std::as_writable_bytes(std::span(s.incoming.get(), max_items_)), 0));
  }

  void arm() {
    for (Slot& s : slots_) {
      const std::uint64_t items = s.announced[level_ & 1];
      if (items == 0) continue;
      s.port->rearm(static_cast<Bytes>(items * sizeof(Item)));
      if (sync_ == Sync::global) continue;
      simulated_send(0, 1);
      endpoint_.send(s.rank, armed_, am::Nothing{});
    }
  }

  void put() {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      Slot& s = slots_[i];
      if (s.filling.empty()) continue;
      traffic_.items[i] += s.filling.size();
      ++traffic_.messages;
      ++s.puts;
      simulated_send(1, s.filling.size());
      s.remote = s.remote.next();
      endpoint_.put(s.remote, 0, std::as_bytes(std::span(s.filling)));
    }
  }

  template <typename Condition>
  void wait_for(Condition&& condition) {
    endpoint_.poll_until([&] { return std::ranges::all_of(slots_, condition); });
  }

  Client& client_;
  Sync sync_;
  std::size_t max_items_;
  am::Endpoint endpoint_;
  std::vector<std::size_t> slot_of_;  // by rank
  std::vector<Slot> slots_;
  am::Handler<am::PortRef> port_is_{};
  am::Handler<std::uint64_t> size_is_{};
  am::Handler<am::Nothing> armed_{};
  Level level_ = 0;
  Level first_level_ = 0;
  Traffic traffic_;
};

}  // namespace nuice::irregular

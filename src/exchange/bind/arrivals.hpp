// SPDX-License-Identifier: BSD-3-Clause
// Which messages of a running exchange are here as a whole.
//
// A message comes in one piece or in several, by itself or as parts of transfers that carry others too. It has landed when
// all of them have, in whatever order. bind() names the pieces; the executors report what they have received. Nothing is
// allocated after bind(). Memory: O(sources + receives).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "exchange/bind/copies.hpp"
#include "exchange/bind/trace.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

class Arrivals {
 public:
  // For bind().
  /// Once, before the others. data[i]: where the message of partner i lies in the end; empty where it has no one place.
  /// A rank that stands there several times sends one message for all of them: its first place stands for it.
  void set_sources(std::span<const Partner> partners, std::span<const std::span<std::byte>> data);
  /// As Arrival::index has them from now on, for each partner.
  void number_sources(std::span<const std::size_t> indices);
  /// Others for the same sources, of which nothing is expected yet.
  Arrivals for_same_sources() const;
  /// The receive that is made next, from this rank, brings a piece of these sources' messages.
  /// lies_at: where the receive puts it, for Copies.
  void add_receive(Rank from, std::span<const Rank> sources, std::span<const Segment> lies_at = {});
  /// Those that are told of what comes, unless they are null. Before add_receive().
  void tell(Copies* copies) { copies_ = copies; }
  /// A message that arrives in this number of pieces, which land_piece() reports.
  void expect_pieces(Rank source, std::int64_t count);
  /// The place of a source among all by rank, for land_piece(). Requires that it is one.
  std::size_t index_of(Rank source) const;

  /// What is noted of the exchanges, if anything; executors add what they do.
  Trace& trace() { return trace_; }

  // For executors.
  void start();
  /// The message to itself, and messages without pieces, which are none of a step's.
  void land_copied(Rank rank);
  /// Receive i of bind()'s order is complete. Saying so again does nothing.
  void land_receive(std::size_t receive);
  void land_receives(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) land_receive(i);
  }
  bool has_landed(std::size_t receive) const { return landed_receives_[receive] != 0; }
  void land_piece(std::size_t source);

  bool any() const { return taken_ < landed_.size(); }
  std::optional<Arrival> take();

 private:
  struct Source {
    Partner partner;
    std::size_t index;  // in bind()'s order
    std::span<std::byte> data;
    std::int64_t pieces = 0;
    std::int64_t missing = 0;  // of the running exchange
  };
  /// All that is listed for the rank of this one, its first.
  void hand_over(std::size_t source);

  Trace trace_;
  Copies* copies_ = nullptr;
  std::vector<Rank> receive_from_;         // by receive
  std::vector<Source> sources_;            // by ascending rank
  std::vector<std::uint32_t> brings_;      // of all receives, back to back: indices of sources
  std::vector<std::size_t> receive_ends_;  // in brings_
  std::vector<char> landed_receives_;
  std::vector<Block> lie_at_;             // of all receives, where somebody is told
  std::vector<std::size_t> lie_at_ends_;  // in lie_at_
  std::vector<std::uint32_t> landed_;     // sources, in the order in which they came
  std::size_t taken_ = 0;
};

}  // namespace nuice::mpi

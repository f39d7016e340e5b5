// SPDX-License-Identifier: BSD-3-Clause
// Records which messages of a running exchange have arrived completely.
//
// A message arrives in one piece or in several, alone or in transfers that also carry parts of other
// messages. It has landed when all its pieces have landed, in any order. bind() declares the pieces;
// executors report what they have received. Nothing is allocated after bind(). Memory: O(sources + receives).
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

  /// Sets the sources. Call it once, before the other functions. data[i]: where the data of partner i's
  /// message ends up; empty if this is more than one place. A rank that is listed several times sends one
  /// message, which belongs to the first entry of that rank.
  void set_sources(std::span<const Partner> partners, std::span<const std::span<std::byte>> data);
  /// Sets the Arrival::index of each partner.
  void number_sources(std::span<const std::size_t> indices);
  /// Returns an Arrivals object with the same sources, which expects no pieces yet.
  Arrivals for_same_sources() const;
  /// Declares that the next receive, from rank `from`, brings a piece of these sources' messages. lies_at:
  /// where the receive puts it, for Copies.
  void add_receive(Rank from, std::span<const Rank> sources, std::span<const Segment> lies_at = {});
  /// Sets the copies that are told about arriving data; null: none. Call it before add_receive().
  void tell(Copies* copies) { copies_ = copies; }
  /// Declares that a message arrives in this number of pieces, which land_piece() reports.
  void expect_pieces(Rank source, std::int64_t count);
  /// Returns the index of a source for land_piece(). Requires that the rank is a source.
  std::size_t index_of(Rank source) const;

  /// The trace of the exchanges, to which executors add what they do.
  Trace& trace() { return trace_; }

  // For executors.
  void start();
  /// Reports a message that no receive brings: the rank's message to itself, or a message without pieces.
  void land_copied(Rank rank);
  /// Reports that a receive, numbered in bind()'s order, is complete. Repeated reports have no effect.
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
    std::int64_t missing = 0;  // in the running exchange
  };
  /// Hands over all messages that the user lists for the rank of this source. source: the index of the rank's
  /// first entry.
  void hand_over(std::size_t source);

  Trace trace_;
  Copies* copies_ = nullptr;
  std::vector<Rank> receive_from_;         // by receive
  std::vector<Source> sources_;            // by ascending rank
  std::vector<std::uint32_t> brings_;      // indices of sources, for all receives one after the other
  std::vector<std::size_t> receive_ends_;  // ends in brings_, by receive
  std::vector<char> landed_receives_;
  std::vector<Block> lie_at_;             // for all receives, if there are copies
  std::vector<std::size_t> lie_at_ends_;  // ends in lie_at_, by receive
  std::vector<std::uint32_t> landed_;     // sources in the order of arrival
  std::size_t taken_ = 0;
};

}  // namespace nuice::mpi

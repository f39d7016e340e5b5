// SPDX-License-Identifier: BSD-3-Clause
// Decomposes a matrix into perfect matchings, each of which is a phase with pieces of equal size (Birkhoff,
// Univ. Nac. Tucuman Rev. A 5, 1946).
//
// Senders and receivers are vertices. Messages are edges; their weight is their size in units, rounded up.
// Ranks that together send (or receive) little share a vertex. Fillers are added until every vertex has the
// weight of the busiest rank; there are fewer than two fillers per vertex. Then there is a perfect matching,
// and the graph without it again has equal weights:
//
//   Peeling peeling(matrix, unit_bytes);
//   while (peeling.left() > 0) {
//     if (peeling.match(least)) peeling.take(schedule); else lower(least);  // 1 always matches
//   }
//
// In every phase some rank without fillers sends or receives, so the phase waits for this rank's piece. With
// units of one byte all phases together wait for max_port_bytes, the minimum. The matching is kept from phase
// to phase. Only edges that have less than `least` left after a phase are replaced, by shortest alternating
// paths. Memory: 16 bytes per edge, about 100 per rank.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "nuice/core/schedule.hpp"

namespace nuice::sched {

class Peeling {
 public:
  /// The maximum number of messages, because places of edges are 32 bits wide.
  static constexpr std::uint64_t most_messages = std::uint64_t{1} << 31;

  Peeling(const CommMatrix& matrix, Bytes unit_bytes);

  /// The units that every vertex still has to send or to receive.
  Bytes left() const { return left_; }

  /// Returns whether there is a perfect matching of edges that each have at least `least` > 0 units left.
  /// `least` must not grow from one call to the next.
  bool match(Bytes least);

  /// Adds a phase with the matching just found. It takes from every edge of the matching as many units as its
  /// smallest edge has left.
  void take(Schedule& schedule);

 private:
  using Vertex = std::uint32_t;
  using Place = std::uint32_t;
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  struct Edge {
    Bytes units;        // units left; not up to date while the edge is matched
    MessageId message;  // none: a filler
    Vertex receiver;
  };
  struct Matched {
    Bytes units = 0;  // left
    Bytes bytes = 0;  // of the whole message
    MessageId message = none;
    Rank src = no_rank;
    Rank dst = no_rank;
    Vertex receiver = none;
    Place place = none;  // none: the sender has no edge
  };

  struct Row {
    Place begin;
    Place large_end;  // edges before this place have at least least_ units left
    Place end;        // edges from large_end to this place have less
  };
  struct Reached {
    std::uint32_t in_search = 0;  // the number of the search that reached this receiver
    Vertex sender = none;         // the sender from which it was reached
    Place place = none;           // the edge along which it was reached
  };

  void add_edges(std::span<const Vertex> sender_of, std::span<const Vertex> receiver_of);
  void widen(Row& row);
  void unmatch(Vertex sender);
  void set_matched(Vertex sender, Place place);
  bool find_edge_for(Vertex root);
  void turn_path(Vertex root, Vertex receiver);
  /// Returns the bytes of a message with `units` units left. Only its first unit may be short.
  Bytes bytes_of(Bytes units, Bytes message_bytes) const {
    return units * unit_bytes_ < message_bytes ? units * unit_bytes_ : message_bytes;
  }

  const CommMatrix& matrix_;
  Bytes unit_bytes_;
  Bytes left_ = 0;
  Bytes least_ = 0;
  std::vector<Edge> edges_;        // by sender
  std::vector<Row> rows_;          // by sender
  std::vector<Matched> matched_;   // by sender
  std::vector<Vertex> sender_at_;  // the sender matched to it, or none
  std::vector<Reached> reached_;   // by receiver
  std::vector<Vertex> queue_;      // of find_edge_for: senders reached
  std::uint32_t search_ = 0;
};

/// Decomposes the whole matrix. Phases of large pieces come first: `least` is lowered by a quarter whenever
/// there is no matching.
Schedule peel_large_first(const CommMatrix& matrix, Bytes unit_bytes);

}  // namespace nuice::sched

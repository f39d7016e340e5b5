// SPDX-License-Identifier: BSD-3-Clause
// The messages of a matrix as a regular bipartite multigraph, and the two steps that take it apart.
//
// A graph of degree D with n vertices on each side is an array of n * D edges, ordered by sender: the edges of sender
// v are at the places v * D .. v * D + D - 1. A graph of degree 1 is a perfect matching. Both steps work inside the
// array, so a graph is a span of it:
//   halve()          degree D -> two graphs of degree D / 2, back to back      O(n D)
//   split_matching() degree D -> one of degree D - 1 and a perfect matching behind it  O(n D + n log n) expected
// Memory: 20.5 bytes per edge, of which there are at most 2 messages + D.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/random.hpp"

namespace nuice::sched {

using Vertex = std::uint32_t;

struct Edge {
  static constexpr MessageId filler = std::numeric_limits<MessageId>::max();
  Vertex receiver;
  MessageId message;  // or filler
};

/// A message between two nodes, which may be hosts: two may have several.
struct Ends {
  Rank src;
  Rank dst;
  MessageId message;
};

/// Places are 32 bits wide.
inline constexpr std::uint64_t most_edges = std::uint64_t{1} << 31;

class RegularGraph {
 public:
  /// Ranks with few messages are merged into one vertex while their degrees together stay <= degree, so that there
  /// are not many more edges than messages; then filler edges make every vertex have `degree` edges.
  /// Requires degree >= the matrix's maximum degree, degree > 0. A proper edge colouring of this graph is one of the
  /// messages, as messages that share a rank share a vertex.
  RegularGraph(const CommMatrix& matrix, MessageId degree);
  /// The same of messages by ascending src.
  RegularGraph(Rank num_nodes, std::span<const Ends> messages, MessageId degree);

  Vertex num_vertices() const { return num_vertices_; }
  std::span<Edge> edges() { return edges_; }

  /// Requires an even degree.
  void halve(std::span<Edge> graph);
  void split_matching(std::span<Edge> graph, MessageId degree);
  /// `matchings` followed by a graph become one graph, whose degree is larger by their number.
  void merge_matchings(std::span<Edge> matchings_and_graph, MessageId num_matchings, MessageId degree);

 private:
  using Place = std::uint32_t;
  static constexpr Place none = std::numeric_limits<Place>::max();

  template <typename EndsOf>
  void build(Rank num_nodes, std::size_t num_messages, EndsOf&& ends_of, MessageId degree);
  void pair_at_receivers(std::span<const Edge> graph);
  void find_matching(std::span<const Edge> graph, MessageId degree);
  Place walk_to_free_receiver(std::span<const Edge> graph, MessageId degree, Vertex from);

  Vertex num_vertices_ = 0;
  std::vector<Edge> edges_;
  std::vector<Edge> scratch_;
  std::vector<Place> partner_;  // by place: the edge that it is paired with at its receiver
  std::vector<std::uint8_t>
      goes_first_;                  // by place / 2: which of two edges of a sender goes into the first half
  std::vector<Place> at_receiver_;  // by receiver: waiting edge, or matched edge
  std::vector<Place> at_sender_;    // by sender: the edge last tried, in the end the matched one
  Random random_{1};                // any seed: it changes the colouring, not the number of colours
};

/// By message: its colour, of as few as a node has messages, as coloring finds them. Messages by ascending src, of ids below
/// num_messages.
std::vector<PhaseId> color_between_nodes(Rank num_nodes, std::span<const Ends> messages,
                                         MessageId num_messages);

}  // namespace nuice::sched

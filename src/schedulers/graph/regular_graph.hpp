// SPDX-License-Identifier: BSD-3-Clause
// The messages of a matrix as a regular bipartite multigraph, and the two steps that decompose it.
//
// A graph of degree D with n vertices on each side is an array of n * D edges, ordered by sender: the edges
// of sender v are at the places v * D .. v * D + D - 1. A graph of degree 1 is a perfect matching. Two steps
// work inside the array, so every graph is a part of it:
// halve(): degree D becomes two graphs of degree D / 2, back to back. O(n D).
// split_matching(): degree D becomes a graph of degree D - 1, followed by a perfect matching. O(n D + n log
// n) expected.
// Memory: 20.5 bytes per edge. m messages have at most 2 m + D edges.
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

/// A message between two nodes, which may be hosts. There may be several messages between two nodes.
struct Ends {
  Rank src;
  Rank dst;
  MessageId message;
};

/// The limit on edges: places are 32 bits wide.
inline constexpr std::uint64_t most_edges = std::uint64_t{1} << 31;

class RegularGraph {
 public:
  /// Merges ranks with few messages into one vertex while the sum of their degrees is at most `degree`, so
  /// that there are not many more edges than messages. Filler edges then give every vertex `degree` edges.
  /// Requires degree > 0, and at least the matrix's maximum degree. A proper edge colouring of this graph is
  /// also a colouring of the messages, because messages that share a rank share a vertex.
  RegularGraph(const CommMatrix& matrix, MessageId degree);
  /// Makes the graph of `messages`, which must be sorted by src.
  RegularGraph(Rank num_nodes, std::span<const Ends> messages, MessageId degree);

  Vertex num_vertices() const { return num_vertices_; }
  std::span<Edge> edges() { return edges_; }

  /// Requires an even degree.
  void halve(std::span<Edge> graph);
  void split_matching(std::span<Edge> graph, MessageId degree);
  /// Joins matchings, and the graph that follows them, to one graph. Its degree is larger by num_matchings.
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
  std::vector<Place> partner_;            // for each place: the edge with which it is paired at its receiver
  std::vector<std::uint8_t> goes_first_;  // for each place / 2: which edge of the pair goes into the first
                                          // half
  std::vector<Place> at_receiver_;        // by receiver: the unpaired edge, or the matched edge
  std::vector<Place> at_sender_;          // for each sender: the edge that it tried last; in the end its
                                          // matched edge
  Random random_{1};                      // any seed: it changes the colouring, but not the number of colours
};

/// Returns the colour of each message. There are as many colours as the busiest node has messages. messages:
/// by ascending src, with ids below num_messages.
std::vector<PhaseId> color_between_nodes(Rank num_nodes, std::span<const Ends> messages,
                                         MessageId num_messages);

}  // namespace nuice::sched

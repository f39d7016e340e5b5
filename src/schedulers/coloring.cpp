// SPDX-License-Identifier: BSD-3-Clause
// Bipartite edge colouring: exactly as many phases as the maximum degree D (Koenig, Math. Annalen 77, 1916).
//
// Senders and receivers are the two sides of a bipartite graph. Messages are its edges, phases its colours.
// The graph is made D-regular (regular_graph.hpp) and decomposed into D perfect matchings, which are the
// phases:
// * D is a power of two: halve the graph until the degree is 1.
// * D is even: halve the graph and decompose the first half. Move matchings of the first half to the second
//   half until its degree is a power of two (Gabow and Kariv, SIAM J. Computing 11, 1982).
// * D is odd: split off one perfect matching, found by random walks (Goel, Kapralov, Khanna, SIAM J.
//   Computing 42, 2013).
//
// If some rank sends to, or receives from, all other ranks (D = n - 1), no search is needed: phase k = (dst -
// src) mod n is a partial permutation, and there are n - 1 such phases. Cost: O(m log D + n log n log D)
// expected, for any distribution of the messages. 32 bytes per message for matrices that are nearly regular,
// at most twice as much for others.
#include <algorithm>
#include <bit>
#include <vector>

#include "nuice/core/bounds.hpp"
#include "schedulers/graph/regular_graph.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

/// Decomposes a graph of degree D into D matchings, back to back.
class Decomposition {
 public:
  explicit Decomposition(RegularGraph& graph) : graph_(graph) {}

  void run(std::span<Edge> edges, MessageId degree) {
    if (std::has_single_bit(degree)) {
      halve_fully(edges, degree);
    } else if (degree % 2 == 1) {
      graph_.split_matching(edges, degree);
      run(edges.first(edges.size() - graph_.num_vertices()), degree - 1);
    } else {
      const MessageId half = degree / 2;
      graph_.halve(edges);
      run(edges.first(edges.size() / 2), half);
      const MessageId full = std::bit_ceil(half);
      const MessageId given = full - half;
      const std::span<Edge> rest = edges.last(std::size_t{full} * graph_.num_vertices());
      graph_.merge_matchings(rest, given, half);
      halve_fully(rest, full);
    }
  }

 private:
  void halve_fully(std::span<Edge> edges, MessageId degree) {
    if (degree == 1) return;
    graph_.halve(edges);
    halve_fully(edges.first(edges.size() / 2), degree / 2);
    halve_fully(edges.last(edges.size() / 2), degree / 2);
  }

  RegularGraph& graph_;
};

std::vector<PhaseId> phases_by_shift(const CommMatrix& matrix) {
  std::vector<PhaseId> phase_of(matrix.num_messages());
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    const Rank shift = matrix.dst(id) - matrix.src(id);  // never 0
    phase_of[id] = static_cast<PhaseId>(shift > 0 ? shift - 1 : shift + matrix.num_ranks() - 1);
  }
  return phase_of;
}

std::vector<PhaseId> phases_by_decomposition(RegularGraph graph, MessageId degree, MessageId num_messages) {
  Decomposition(graph).run(graph.edges(), degree);
  std::vector<PhaseId> phase_of(num_messages, 0);
  const std::span<const Edge> edges = graph.edges();
  for (PhaseId phase = 0; phase < degree; ++phase) {
    for (const Edge& edge : edges.subspan(std::size_t{phase} * graph.num_vertices(), graph.num_vertices())) {
      if (edge.message != Edge::filler) phase_of[edge.message] = phase;
    }
  }
  return phase_of;
}

/// Returns the maximum number of messages that any node sends to other nodes, or receives from them.
MessageId most_messages(std::span<const Ends> messages, Rank num_nodes) {
  std::vector<MessageId> sent(static_cast<std::size_t>(num_nodes), 0);
  std::vector<MessageId> received(sent);
  MessageId most = 0;
  for (const auto& [src, dst, message] : messages)
    most = std::max({most, ++sent[static_cast<std::size_t>(src)], ++received[static_cast<std::size_t>(dst)]});
  return most;
}

}  // namespace

std::string why_not_coloring(const Problem& problem) {
  const Bounds bounds = lower_bounds(problem.matrix);
  if (2 * std::uint64_t{problem.matrix.num_messages()} + bounds.max_degree < most_edges) return {};
  return "more than 2^30 messages";
}

Schedule make_coloring(const Problem& problem) {
  const MessageId degree = lower_bounds(problem.matrix).max_degree;
  if (degree == 0) return Schedule(problem.matrix.num_ranks());
  const bool is_complete_at_a_rank = degree + 1 == static_cast<MessageId>(problem.matrix.num_ranks());
  const std::vector<PhaseId> phase_of = is_complete_at_a_rank
                                            ? phases_by_shift(problem.matrix)
                                            : phases_by_decomposition(RegularGraph(problem.matrix, degree),
                                                                      degree, problem.matrix.num_messages());
  return Schedule::of_whole_messages(problem.matrix, phase_of, degree);
}

std::vector<PhaseId> color_between_nodes(Rank num_nodes, std::span<const Ends> messages,
                                         MessageId num_messages) {
  if (messages.empty()) return std::vector<PhaseId>(num_messages, 0);
  const MessageId degree = most_messages(messages, num_nodes);
  return phases_by_decomposition(RegularGraph(num_nodes, messages, degree), degree, num_messages);
}

}  // namespace nuice::sched

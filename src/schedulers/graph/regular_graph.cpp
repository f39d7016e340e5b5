// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/graph/regular_graph.hpp"

#include <algorithm>

#include "nuice/core/interrupt.hpp"

namespace nuice::sched {
namespace {

/// Merges consecutive ranks while the sum of their degrees is at most `limit`. Two neighbouring vertices
/// together have more than `limit` edges. So if there are m messages, there are at most 2 m / limit + 1
/// vertices.
template <typename DegreeOf>
std::vector<Vertex> merge_ranks(Rank num_ranks, std::size_t limit, DegreeOf degree_of) {
  std::vector<Vertex> vertex_of;
  vertex_of.reserve(static_cast<std::size_t>(num_ranks));
  Vertex vertex = 0;
  std::size_t sum = 0;
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    const std::size_t degree = degree_of(rank);
    if (sum + degree > limit) {
      ++vertex;
      sum = 0;
    }
    sum += degree;
    vertex_of.push_back(vertex);
  }
  return vertex_of;
}

}  // namespace

/// ends_of(i): the ends of the i-th message, by ascending src.
template <typename EndsOf>
void RegularGraph::build(Rank num_nodes, std::size_t num_messages, EndsOf&& ends_of, MessageId degree) {
  const auto index = [](Rank node) { return static_cast<std::size_t>(node); };
  std::vector<MessageId> sent(index(num_nodes), 0);
  std::vector<MessageId> received(index(num_nodes), 0);
  for (std::size_t i = 0; i < num_messages; ++i) {
    const Ends ends = ends_of(i);
    ++sent[index(ends.src)];
    ++received[index(ends.dst)];
  }
  const auto sender_of = merge_ranks(num_nodes, degree, [&](Rank node) { return sent[index(node)]; });
  const auto receiver_of = merge_ranks(num_nodes, degree, [&](Rank node) { return received[index(node)]; });
  num_vertices_ = std::max(sender_of.back(), receiver_of.back()) + 1;
  edges_.resize(std::size_t{num_vertices_} * degree);
  scratch_.resize(edges_.size());
  partner_.resize(edges_.size());
  goes_first_.resize(edges_.size() / 2);
  at_receiver_.assign(num_vertices_, none);
  at_sender_.assign(num_vertices_, none);

  // Messages are already ordered by sender. After a sender's messages come its fillers, which go to receivers
  // that lack edges.
  std::vector<MessageId> lacking(num_vertices_, degree);
  for (std::size_t i = 0; i < num_messages; ++i) --lacking[receiver_of[index(ends_of(i).dst)]];
  Vertex receiver = 0;
  std::size_t place = 0;
  std::size_t next = 0;
  for (Vertex sender = 0; sender < num_vertices_; ++sender) {
    const std::size_t end = place + degree;
    for (; next < num_messages && sender_of[index(ends_of(next).src)] == sender; ++next) {
      const Ends ends = ends_of(next);
      edges_[place++] = {receiver_of[index(ends.dst)], ends.message};
    }
    for (; place < end; ++place) {
      while (lacking[receiver] == 0) ++receiver;
      --lacking[receiver];
      edges_[place] = {receiver, Edge::filler};
    }
  }
}

RegularGraph::RegularGraph(const CommMatrix& matrix, MessageId degree) {
  const auto ends_of = [&](std::size_t i) {
    const auto id = static_cast<MessageId>(i);
    return Ends{matrix.src(id), matrix.dst(id), id};
  };
  build(matrix.num_ranks(), matrix.num_messages(), ends_of, degree);
}

RegularGraph::RegularGraph(Rank num_nodes, std::span<const Ends> messages, MessageId degree) {
  build(num_nodes, messages.size(), [&](std::size_t i) { return messages[i]; }, degree);
}

/// Pairs each receiver's edges in the order in which they come. Every edge gets a partner, because the degree
/// is even.
void RegularGraph::pair_at_receivers(std::span<const Edge> graph) {
  for (Place place = 0; place < graph.size(); ++place) {
    Place& waiting = at_receiver_[graph[place].receiver];
    if (waiting == none) {
      waiting = place;
    } else {
      partner_[place] = waiting;
      partner_[waiting] = place;
      waiting = none;
    }
  }
}

/// Splits the graph into halves by an Euler split (Gabow, Int. J. Computer and Information Sciences 5, 1976).
/// Edges are paired at receivers, and the edges at places 2k and 2k + 1 are paired at senders. These pairs
/// link all edges to cycles. The edges of a cycle go alternately into the two halves.
void RegularGraph::halve(std::span<Edge> graph) {
  check_interrupt();
  constexpr std::uint8_t undecided = 2;
  const std::size_t half = graph.size() / 2;
  pair_at_receivers(graph);
  std::fill_n(goes_first_.begin(), half, undecided);
  for (Place pair = 0; pair < half; ++pair) {
    for (Place place = 2 * pair; goes_first_[place / 2] == undecided;) {
      goes_first_[place / 2] = place % 2;  // `place` goes first, place ^ 1 second
      place = partner_[place ^ 1];         // shares a receiver with place ^ 1, so it goes first
    }
  }
  for (std::size_t pair = 0; pair < half; ++pair) {
    const Edge first = graph[2 * pair + goes_first_[pair]];
    scratch_[pair] = graph[2 * pair + 1 - goes_first_[pair]];
    graph[pair] = first;
  }
  std::copy_n(scratch_.begin(), half, graph.begin() + static_cast<std::ptrdiff_t>(half));
}

/// Walks from `from` along random edges to receivers, and back along matched edges to senders, until a
/// receiver is free.
RegularGraph::Place RegularGraph::walk_to_free_receiver(std::span<const Edge> graph, MessageId degree,
                                                        Vertex from) {
  for (Vertex sender = from;;) {
    const std::uint64_t draw = ((random_.next() >> 32) * degree) >> 32;
    const auto place = static_cast<Place>(sender * std::size_t{degree} + draw);
    at_sender_[sender] = place;
    const Place matched = at_receiver_[graph[place].receiver];
    if (matched == none) return place;
    sender = matched / degree;
  }
}

/// Finds a perfect matching by random walks (Goel, Kapralov, Khanna, SIAM J. Computing 42, 2013). In a
/// regular graph a walk from an unmatched sender reaches one of the k unmatched receivers after O(n / k)
/// steps on average, so all n walks together take O(n log n). Of the edges on which the walk left a sender,
/// the sender keeps the last one, so loops of the walk are left out.
void RegularGraph::find_matching(std::span<const Edge> graph, MessageId degree) {
  check_interrupt();
  for (Vertex from = 0; from < num_vertices_; ++from) {
    walk_to_free_receiver(graph, degree, from);
    for (Vertex sender = from;;) {
      Place& matched = at_receiver_[graph[at_sender_[sender]].receiver];
      const Place before = matched;
      matched = at_sender_[sender];
      if (before == none) break;
      sender = before / degree;
    }
  }
  for (Vertex receiver = 0; receiver < num_vertices_; ++receiver) {
    at_sender_[at_receiver_[receiver] / degree] = at_receiver_[receiver];
    at_receiver_[receiver] = none;
  }
}

void RegularGraph::split_matching(std::span<Edge> graph, MessageId degree) {
  find_matching(graph, degree);
  std::size_t kept = 0;
  for (Vertex sender = 0; sender < num_vertices_; ++sender) {
    scratch_[sender] = graph[at_sender_[sender]];
    for (std::size_t place = std::size_t{sender} * degree; place < std::size_t{sender + 1} * degree;
         ++place) {
      if (place != at_sender_[sender]) graph[kept++] = graph[place];
    }
  }
  std::copy_n(scratch_.begin(), num_vertices_, graph.begin() + static_cast<std::ptrdiff_t>(kept));
}

void RegularGraph::merge_matchings(std::span<Edge> matchings_and_graph, MessageId num_matchings,
                                   MessageId degree) {
  const auto graph = matchings_and_graph.subspan(std::size_t{num_matchings} * num_vertices_);
  std::size_t place = 0;
  for (Vertex sender = 0; sender < num_vertices_; ++sender) {
    for (MessageId matching = 0; matching < num_matchings; ++matching) {
      scratch_[place++] = matchings_and_graph[std::size_t{matching} * num_vertices_ + sender];
    }
    for (MessageId i = 0; i < degree; ++i) scratch_[place++] = graph[std::size_t{sender} * degree + i];
  }
  std::copy_n(scratch_.begin(), place, matchings_and_graph.begin());
}

}  // namespace nuice::sched

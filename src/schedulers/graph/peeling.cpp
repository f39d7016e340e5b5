// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/graph/peeling.hpp"

#include <algorithm>

#include "nuice/core/interrupt.hpp"

namespace nuice::sched {
namespace {

using Vertex = std::uint32_t;

Bytes units_of(Bytes bytes, Bytes unit_bytes) {
  return unit_bytes == 1 ? bytes : (bytes - 1) / unit_bytes + 1;
}

template <typename Ids>
Bytes sum_of_units(const CommMatrix& matrix, const Ids& ids, Bytes unit_bytes) {
  Bytes sum = 0;
  for (const MessageId id : ids) sum += units_of(matrix.bytes(id), unit_bytes);
  return sum;
}

/// Lets consecutive ranks share a vertex while the sum of their weights is at most `limit`.
std::vector<Vertex> merge_ranks(std::span<const Bytes> weights, Bytes limit) {
  std::vector<Vertex> vertex_of;
  vertex_of.reserve(weights.size());
  Vertex vertex = 0;
  Bytes room = limit;
  for (const Bytes weight : weights) {
    if (weight > room) {
      ++vertex;
      room = limit;
    }
    room -= weight;
    vertex_of.push_back(vertex);
  }
  return vertex_of;
}

}  // namespace

Peeling::Peeling(const CommMatrix& matrix, Bytes unit_bytes)
    : matrix_(matrix), unit_bytes_(std::max<Bytes>(unit_bytes, 1)) {
  if (matrix.num_messages() == 0) return;
  std::vector<Bytes> sent;
  std::vector<Bytes> received;
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) {
    sent.push_back(sum_of_units(matrix, matrix.sent_by(rank), unit_bytes_));
    received.push_back(sum_of_units(matrix, matrix.received_by(rank), unit_bytes_));
  }
  left_ = std::max(std::ranges::max(sent), std::ranges::max(received));
  const std::vector<Vertex> sender_of = merge_ranks(sent, left_);
  const std::vector<Vertex> receiver_of = merge_ranks(received, left_);
  add_edges(sender_of, receiver_of);
}

/// Adds the messages, which are already ordered by sender. After a sender's messages come its fillers, which
/// go to receivers that lack weight. Each filler completes a sender or a receiver.
void Peeling::add_edges(std::span<const Vertex> sender_of, std::span<const Vertex> receiver_of) {
  const Vertex num_vertices = std::max(sender_of.back(), receiver_of.back()) + 1;
  std::vector<Bytes> lacking(num_vertices, left_);
  for (MessageId id = 0; id < matrix_.num_messages(); ++id) {
    lacking[receiver_of[static_cast<std::size_t>(matrix_.dst(id))]] -=
        units_of(matrix_.bytes(id), unit_bytes_);
  }
  edges_.reserve(matrix_.num_messages() + 2 * std::size_t{num_vertices});
  Vertex receiver = 0;
  MessageId id = 0;
  for (Vertex sender = 0; sender < num_vertices; ++sender) {
    const auto begin = static_cast<Place>(edges_.size());
    Bytes missing = left_;
    for (; id < matrix_.num_messages() && sender_of[static_cast<std::size_t>(matrix_.src(id))] == sender;
         ++id) {
      const Bytes units = units_of(matrix_.bytes(id), unit_bytes_);
      edges_.push_back({units, id, receiver_of[static_cast<std::size_t>(matrix_.dst(id))]});
      missing -= units;
    }
    while (missing > 0) {
      while (lacking[receiver] == 0) ++receiver;
      const Bytes units = std::min(missing, lacking[receiver]);
      edges_.push_back({units, none, receiver});
      missing -= units;
      lacking[receiver] -= units;
    }
    rows_.push_back({begin, begin, static_cast<Place>(edges_.size())});
  }
  matched_.resize(num_vertices);
  sender_at_.assign(num_vertices, none);
  reached_.resize(num_vertices);
}

bool Peeling::match(Bytes least) {
  if (least != least_) {
    least_ = least;
    for (Vertex sender = 0; sender < matched_.size(); ++sender) widen(rows_[sender]);
  }
  for (Vertex sender = 0; sender < matched_.size(); ++sender) {
    if (matched_[sender].units < least) unmatch(sender);
  }
  for (Vertex sender = 0; sender < matched_.size(); ++sender) {
    if (matched_[sender].place == none && !find_edge_for(sender)) return false;
  }
  return true;
}

/// Moves the edges that are large enough for the new `least` to the large edges, and drops empty edges.
void Peeling::widen(Row& row) {
  for (Place place = row.large_end; place < row.end;) {
    if (edges_[place].units == 0) {
      edges_[place] = edges_[--row.end];
      continue;
    }
    if (edges_[place].units >= least_) std::swap(edges_[place], edges_[row.large_end++]);
    ++place;
  }
}

void Peeling::unmatch(Vertex sender) {
  Matched& matched = matched_[sender];
  if (matched.place == none) return;
  edges_[matched.place].units = matched.units;
  if (matched.units < least_) std::swap(edges_[matched.place], edges_[--rows_[sender].large_end]);
  sender_at_[matched.receiver] = none;
  matched = {};
}

/// Searches breadth first along alternating paths from an unmatched sender to an unmatched receiver.
bool Peeling::find_edge_for(Vertex root) {
  check_interrupt();
  ++search_;
  queue_.assign(1, root);
  for (std::size_t next = 0; next < queue_.size(); ++next) {
    const Vertex sender = queue_[next];
    for (Place place = rows_[sender].begin; place < rows_[sender].large_end; ++place) {
      const Vertex receiver = edges_[place].receiver;
      Reached& reached = reached_[receiver];
      if (reached.in_search == search_) continue;
      reached = {search_, sender, place};
      if (sender_at_[receiver] == none) {
        turn_path(root, receiver);
        return true;
      }
      queue_.push_back(sender_at_[receiver]);
    }
  }
  return false;
}

/// Walks along the path from `root` to `receiver`. Every sender on it takes the edge by which the path leaves
/// the sender.
void Peeling::turn_path(Vertex root, Vertex receiver) {
  for (;;) {
    const auto [search, sender, place] = reached_[receiver];
    const Vertex before = matched_[sender].receiver;
    unmatch(sender);
    set_matched(sender, place);
    if (sender == root) return;
    receiver = before;
  }
}

void Peeling::set_matched(Vertex sender, Place place) {
  const Edge& edge = edges_[place];
  Matched& matched = matched_[sender];
  matched = {.units = edge.units, .message = edge.message, .receiver = edge.receiver, .place = place};
  if (edge.message != none) {
    matched.bytes = matrix_.bytes(edge.message);
    matched.src = matrix_.src(edge.message);
    matched.dst = matrix_.dst(edge.message);
  }
  sender_at_[edge.receiver] = sender;
}

void Peeling::take(Schedule& schedule) {
  check_interrupt();
  Bytes units = left_;
  for (const Matched& matched : matched_) units = std::min(units, matched.units);
  schedule.begin_phase();
  for (Matched& matched : matched_) {
    if (matched.message != none) {
      const Bytes before = bytes_of(matched.units, matched.bytes);
      const Bytes after = bytes_of(matched.units - units, matched.bytes);
      const Piece piece{matched.message, matched.bytes - before, before - after};
      schedule.add(matched.src, matched.dst, {&piece, 1});
    }
    matched.units -= units;
  }
  left_ -= units;
}

Schedule peel_large_first(const CommMatrix& matrix, Bytes unit_bytes) {
  Peeling peeling(matrix, unit_bytes);
  Schedule schedule(matrix.num_ranks());
  // Reserves enough memory, because unused memory costs only addresses, but growing would copy everything.
  schedule.reserve(3 * std::size_t{matrix.num_messages()});
  for (Bytes least = peeling.left(); peeling.left() > 0;) {
    if (peeling.match(least)) {
      peeling.take(schedule);
    } else {
      least -= (least + 3) / 4;  // `least` stays at least 1; for 1 there always is a matching
    }
  }
  return schedule;
}

}  // namespace nuice::sched

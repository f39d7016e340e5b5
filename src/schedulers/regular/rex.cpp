// SPDX-License-Identifier: BSD-3-Clause
// REX, recursive exchange (001 s.3.3, fig. 3): store and forward in log2 n steps.
//
// The ranks are halved repeatedly. In each step a rank sends its partner in the other half all messages whose
// destination lies there, including messages that it holds for other ranks. Rank i exchanges with rank i xor
// n/2, then with i xor n/4, and so on. There are log2 n start-ups instead of n - 1, but a message is sent by
// up to log2 n ranks. If all ranks send each other messages of b bytes, a rank sends b n / 2 bytes in each
// step. Good for many small messages.
//
// 001 requires that n is a power of two. For other n NUICE adds two steps, where p is the largest power of
// two below n. First rank p + r sends all its messages to rank r. Then the first p ranks carry out their
// steps. At last rank r sends rank p + r its messages. Cost: O((messages + n) log n) time. The schedule has a
// piece (24 bytes) for every hop of every message; if every rank sends to every rank, a message has (log2 n)
// / 2 hops on average. 8 more bytes per message.
#include <bit>
#include <vector>

#include "nuice/core/interrupt.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

/// The rank that holds each message, and the steps that forward the messages.
class Forwarding {
 public:
  explicit Forwarding(const CommMatrix& matrix) : matrix_(matrix), schedule_(matrix.num_ranks()) {
    at_.reserve(matrix.num_messages());
    for (MessageId id = 0; id < matrix.num_messages(); ++id) at_.push_back(matrix.src(id));
  }

  /// Carries out one step. A message moves to next_hop(current rank, destination), or stays if this is the
  /// current rank. All messages that leave a rank must go to the same rank; they become one transfer.
  template <typename NextHop>
  void step(NextHop next_hop) {
    sort_movers_by_holder(next_hop);
    schedule_.begin_phase();
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < movers_.size(); ++i) {
      const MessageId id = movers_[i];
      const Rank from = at_[id];
      at_[id] = next_hop(from, matrix_.dst(id));
      pieces.push_back({id, 0, matrix_.bytes(id)});
      // at_ of later movers still says where they are, because a message moves once per step.
      const bool is_last_of_holder = i + 1 == movers_.size() || at_[movers_[i + 1]] != from;
      if (!is_last_of_holder) continue;
      schedule_.add(from, at_[id], pieces);
      pieces.clear();
    }
  }

  void reserve(std::size_t num_pieces) { schedule_.reserve(num_pieces); }
  Schedule take() { return std::move(schedule_); }

 private:
  template <typename NextHop>
  void sort_movers_by_holder(NextHop next_hop) {
    const auto moves = [&](MessageId id) { return next_hop(at_[id], matrix_.dst(id)) != at_[id]; };
    std::vector<std::size_t> place(static_cast<std::size_t>(matrix_.num_ranks()) + 1, 0);
    for (MessageId id = 0; id < at_.size(); ++id) {
      if (moves(id)) ++place[static_cast<std::size_t>(at_[id]) + 1];
    }
    for (std::size_t rank = 1; rank < place.size(); ++rank) place[rank] += place[rank - 1];
    movers_.resize(place.back());
    for (MessageId id = 0; id < at_.size(); ++id) {
      if (moves(id)) movers_[place[static_cast<std::size_t>(at_[id])]++] = id;
    }
  }

  const CommMatrix& matrix_;
  Schedule schedule_;
  std::vector<Rank> at_;           // by message
  std::vector<MessageId> movers_;  // of the current step, by holder
};

}  // namespace

Schedule make_rex(const Problem& problem) {
  const Rank num_ranks = problem.matrix.num_ranks();
  const auto core = static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(num_ranks)));
  const auto home = [core](Rank rank) { return rank < core ? rank : rank - core; };
  const auto hops = [&](const Message& message) {
    const auto in_core = static_cast<std::uint32_t>(home(message.src) ^ home(message.dst));
    const std::size_t outside = (message.src >= core ? 1 : 0) + (message.dst >= core ? 1 : 0);
    return static_cast<std::size_t>(std::popcount(in_core)) + outside;
  };
  std::size_t num_pieces = 0;
  for (MessageId id = 0; id < problem.matrix.num_messages(); ++id)
    num_pieces += hops(problem.matrix.message(id));
  Forwarding forwarding(problem.matrix);
  forwarding.reserve(num_pieces);
  if (core < num_ranks) forwarding.step([&](Rank at, Rank) { return home(at); });
  for (Rank half = core / 2; half > 0; half /= 2) {
    check_interrupt();
    forwarding.step([&](Rank at, Rank dst) { return ((at ^ home(dst)) & half) != 0 ? at ^ half : at; });
  }
  if (core < num_ranks) forwarding.step([&](Rank at, Rank dst) { return home(dst) == at ? dst : at; });
  return forwarding.take();
}

}  // namespace nuice::sched

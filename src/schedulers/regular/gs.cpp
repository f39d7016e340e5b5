// SPDX-License-Identifier: BSD-3-Clause
// GS, greedy scheduling (001 s.4.4, fig. 12): in every step the ranks, one after another, choose a partner.
//
// Ranks i = 0, 1, ... choose one after the other. A rank without a partner in this step takes the first free
// rank to which it still has to send. If the partner has a message for rank i as well, both messages are
// sent. Unlike in RS_N a rank has a single partner in a step, for sending and receiving, as the blocking
// calls of the CM-5 required. For the pattern P of 001 table 6 this gives exactly the printed table 10. For a
// complete exchange it gives the steps of pex. A message waits only while its sender or its receiver has
// another partner, so there are at most 2p - 1 steps, where p is the maximum number of partners of a rank.
// Cost: O(steps * messages) in the worst case, 8 bytes per message.
#include <algorithm>
#include <optional>
#include <vector>

#include "nuice/core/interrupt.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

/// The messages of every rank that are not yet scheduled, by ascending destination.
class RowsLeft {
 public:
  explicit RowsLeft(const CommMatrix& matrix) : ids_(matrix.num_messages()) {
    for (MessageId id = 0; id < matrix.num_messages(); ++id) ids_[id] = id;
    for (Rank src = 0; src < matrix.num_ranks(); ++src) {
      const auto sent = matrix.sent_by(src);
      begin_.push_back(sent.empty() ? 0 : sent.front());
      left_.push_back(static_cast<MessageId>(sent.size()));
    }
  }
  std::span<MessageId> row(Rank src) {
    const auto index = static_cast<std::size_t>(src);
    return {ids_.data() + begin_[index], left_[index]};
  }
  void remove(Rank src, MessageId id) {
    const std::span<MessageId> all = row(src);
    const auto at = std::ranges::lower_bound(all, id);
    std::copy(at + 1, all.end(), at);
    --left_[static_cast<std::size_t>(src)];
  }

 private:
  std::vector<MessageId> ids_;
  std::vector<MessageId> begin_;
  std::vector<MessageId> left_;
};

}  // namespace

Schedule make_gs(const Problem& problem) {
  const CommMatrix& matrix = problem.matrix;
  RowsLeft rows(matrix);
  std::vector<PhaseId> phase_of(matrix.num_messages());
  std::vector<PhaseId> busy_in(static_cast<std::size_t>(matrix.num_ranks()), 0);  // phase + 1
  PhaseId phase = 0;
  for (MessageId left = matrix.num_messages(); left > 0; ++phase) {
    check_interrupt();
    const auto is_busy = [&](Rank rank) { return busy_in[static_cast<std::size_t>(rank)] == phase + 1; };
    const auto send = [&](MessageId id) {
      phase_of[id] = phase;
      rows.remove(matrix.src(id), id);
      busy_in[static_cast<std::size_t>(matrix.src(id))] = phase + 1;
      busy_in[static_cast<std::size_t>(matrix.dst(id))] = phase + 1;
      --left;
    };
    for (Rank src = 0; src < matrix.num_ranks(); ++src) {
      if (is_busy(src)) continue;
      const std::span<MessageId> row = rows.row(src);
      const auto chosen = std::ranges::find_if(row, [&](MessageId id) { return !is_busy(matrix.dst(id)); });
      if (chosen == row.end()) continue;
      const MessageId id = *chosen;
      const std::optional<MessageId> reverse = matrix.find(matrix.dst(id), src);
      send(id);
      if (reverse) send(*reverse);  // not sent before: both messages are always sent together
    }
  }
  return Schedule::of_whole_messages(matrix, phase_of, phase);
}

}  // namespace nuice::sched

// SPDX-License-Identifier: BSD-3-Clause
// CCOM with prt (003 fig. 5; 000 s.3.3): each row's messages that are not yet scheduled, in random order. For
// rs_n and rs_nl.
#pragma once

#include <span>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/random.hpp"

namespace nuice::sched {

/// Rows of messages. The first left(src) places of row `src` hold the ids of its messages that are not yet
/// scheduled.
class CompressedRows {
 public:
  CompressedRows(const CommMatrix& matrix, Random& random) : ids_(matrix.num_messages()) {
    begin_.reserve(static_cast<std::size_t>(matrix.num_ranks()));
    for (MessageId id = 0; id < matrix.num_messages(); ++id) ids_[id] = id;
    for (Rank src = 0; src < matrix.num_ranks(); ++src) {
      const auto sent = matrix.sent_by(src);
      begin_.push_back(sent.empty() ? 0 : sent.front());
      left_.push_back(static_cast<MessageId>(sent.size()));
      random.shuffle(row(src));
    }
  }

  std::span<MessageId> row(Rank src) {
    const auto index = static_cast<std::size_t>(src);
    return {ids_.data() + begin_[index], left_[index]};
  }
  void remove(Rank src, MessageId& entry) {
    entry = row(src).back();
    --left_[static_cast<std::size_t>(src)];
  }

 private:
  std::vector<MessageId> ids_;
  std::vector<MessageId> begin_;
  std::vector<MessageId> left_;  // prt + 1
};

}  // namespace nuice::sched

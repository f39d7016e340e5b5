// SPDX-License-Identifier: BSD-3-Clause
// The messages of a matrix, some of them cut into pieces. What is not cut is one piece; the first piece of message id is
// piece id, and those behind it have ids from the number of messages on. 8 bytes per message.
#pragma once

#include <span>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/schedule.hpp"

namespace nuice::sched {

class CutMessages {
 public:
  /// Nothing is cut.
  explicit CutMessages(const CommMatrix& matrix) : matrix_(&matrix) {
    bytes_.reserve(matrix.num_messages());
    for (MessageId id = 0; id < matrix.num_messages(); ++id) bytes_.push_back(matrix.bytes(id));
  }

  /// Takes the last bytes off the piece that begins a message; 0 < last < its bytes.
  void cut(MessageId message, Bytes last) {
    bytes_[message] -= last;
    behind_.push_back({message, bytes_[message]});
    bytes_.push_back(last);
  }

  Rank num_ranks() const { return matrix_->num_ranks(); }
  MessageId size() const { return static_cast<MessageId>(bytes_.size()); }
  std::span<const Bytes> bytes() const { return bytes_; }  // by piece
  Rank src(MessageId id) const { return matrix_->src(message(id)); }
  Rank dst(MessageId id) const { return matrix_->dst(message(id)); }
  Piece piece(MessageId id) const {
    const MessageId whole = matrix_->num_messages();
    return id < whole ? Piece{id, 0, bytes_[id]}
                      : Piece{behind_[id - whole].message, behind_[id - whole].offset, bytes_[id]};
  }

 private:
  struct Behind {
    MessageId message;
    Bytes offset;
  };

  MessageId message(MessageId id) const {
    return id < matrix_->num_messages() ? id : behind_[id - matrix_->num_messages()].message;
  }

  const CommMatrix* matrix_;
  std::vector<Bytes> bytes_;    // by piece
  std::vector<Behind> behind_;  // of pieces that do not begin their messages
};

/// Coloring by size: as many phases as a rank has pieces at most.
Schedule color_pieces(const CutMessages& pieces);

}  // namespace nuice::sched

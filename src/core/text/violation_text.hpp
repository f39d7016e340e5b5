// SPDX-License-Identifier: BSD-3-Clause
// The sentences in which the checker describes violations.
#pragma once

#include <string>

#include "nuice/core/check.hpp"

namespace nuice::core {

inline std::string text(Rank rank) { return "rank " + std::to_string(rank); }
inline std::string text(Rank src, Rank dst) { return text(src) + " -> " + text(dst); }
inline std::string text(const Message& message) { return "message " + text(message.src, message.dst); }
inline std::string bytes_text(Bytes offset, Bytes bytes) {
  return "bytes [" + std::to_string(offset) + ", " + std::to_string(offset + bytes) + ")";
}

inline Violation at_transfer(ViolationKind kind, PhaseId phase, Rank src, Rank dst, const std::string& what) {
  Violation violation{.kind = kind, .phase = phase, .src = src, .dst = dst};
  violation.text = "phase " + std::to_string(phase) + ": " + what;
  return violation;
}

inline Violation at_piece(ViolationKind kind, PhaseId phase, const Transfer& transfer, const Message& message,
                          const Piece& piece, const std::string& what) {
  Violation violation = at_transfer(kind, phase, transfer.src, transfer.dst,
                                    "transfer " + text(transfer.src, transfer.dst) + ": " + what);
  violation.message_src = message.src;
  violation.message_dst = message.dst;
  violation.offset = piece.offset;
  violation.bytes = piece.bytes;
  return violation;
}

}  // namespace nuice::core

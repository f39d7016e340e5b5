// SPDX-License-Identifier: BSD-3-Clause
// Small matrices and schedules for them, drawn from bytes: whole, split and forwarded messages,
// right ones and ones that are wrong in a place or two. The same bytes draw the same; random
// bytes, a fuzzer's or those of a file do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "nuice/core/check.hpp"
#include "nuice/core/schedule.hpp"

namespace nuice::test {

/// Numbers from bytes; 0 when they are used up.
class ByteSource {
 public:
  explicit ByteSource(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  /// 0 .. bound - 1.
  std::uint32_t below(std::uint32_t bound) { return next_ < bytes_.size() ? bytes_[next_++] % bound : 0; }
  Rank rank(Rank num_ranks) { return static_cast<Rank>(below(static_cast<std::uint32_t>(num_ranks))); }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t next_ = 0;
};

struct AnyCase {
  CommMatrix matrix;
  Schedule schedule;
  unsigned guarantees = 0;
};

class AnyCaseMaker {
 public:
  explicit AnyCaseMaker(std::span<const std::uint8_t> bytes) : source_(bytes) {}

  AnyCase make() {
    const CommMatrix matrix = draw_matrix();
    for (MessageId id = 0; id < matrix.num_messages(); ++id) route(matrix, id);
    const std::uint32_t faults = source_.below(3);
    for (std::uint32_t i = 0; i < faults && !moves_.empty(); ++i) spoil(matrix);
    const unsigned guarantees = source_.below(16);  // direct, one_port, fewest_phases, fewest_bytes
    return {matrix, draw_schedule(matrix.num_ranks()), guarantees};
  }

 private:
  struct Move {
    PhaseId phase;
    Rank src;
    Rank dst;
    Piece piece;
  };

  CommMatrix draw_matrix() {
    const Rank num_ranks = 2 + source_.rank(4);
    std::vector<Message> messages;
    std::set<std::pair<Rank, Rank>> used;
    for (std::uint32_t left = 1 + source_.below(5); left > 0; --left) {
      const Rank src = source_.rank(num_ranks);
      const Rank dst = source_.rank(num_ranks);
      if (used.insert({src, dst}).second) messages.push_back({src, dst, 1 + source_.below(6)});
    }
    return CommMatrix::from_messages(num_ranks, messages);
  }

  /// In parts, each over ranks of its own in phases of its own.
  void route(const CommMatrix& matrix, MessageId id) {
    const Message message = matrix.message(id);
    for (Bytes done = 0; done < message.bytes;) {
      const Bytes rest = message.bytes - done;
      const Bytes size = source_.below(3) > 0 ? rest : 1 + source_.below(static_cast<std::uint32_t>(rest));
      Rank at = message.src;
      PhaseId phase = source_.below(2);
      for (std::uint32_t hops = source_.below(2) * source_.below(4); hops > 0; --hops) {
        const Rank next = source_.rank(matrix.num_ranks());
        if (next != at) moves_.push_back({phase++, at, next, {id, done, size}});
        at = next;
      }
      if (at != message.dst) moves_.push_back({phase, at, message.dst, {id, done, size}});
      done += size;
    }
  }

  void spoil(const CommMatrix& matrix) {
    Move& move = moves_[source_.below(static_cast<std::uint32_t>(moves_.size()))];
    const auto small = [&] { return static_cast<int>(source_.below(5)) - 2; };
    switch (source_.below(8)) {
      case 0:
        move.phase -= std::min(move.phase, 1U);
        break;
      case 1:
        move.src = source_.rank(matrix.num_ranks() + 2) - 1;
        break;
      case 2:
        move.dst = source_.rank(matrix.num_ranks() + 2) - 1;
        break;
      case 3:
        move.piece.offset += small();
        break;
      case 4:
        move.piece.bytes += small();
        break;
      case 5:
        move.piece.message += source_.below(2);
        break;
      case 6:
        moves_.push_back(Move(move));
        break;
      default:
        moves_.erase(moves_.begin() + (&move - moves_.data()));
        break;
    }
  }

  /// The phases in their order, in each the transfers in any, those with the same ends mostly as one.
  Schedule draw_schedule(Rank num_ranks) {
    for (std::size_t i = moves_.size(); i > 1; --i)
      std::swap(moves_[i - 1], moves_[source_.below(static_cast<std::uint32_t>(i))]);
    std::ranges::stable_sort(moves_, {}, &Move::phase);
    Schedule schedule(num_ranks);
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      if (i > 0 && moves_[i].phase != moves_[i - 1].phase) schedule.begin_phase();
      const Move& first = moves_[i];
      std::vector<Piece> pieces{first.piece};
      const auto joins = [&](const Move& m) {
        return m.phase == first.phase && m.src == first.src && m.dst == first.dst;
      };
      while (i + 1 < moves_.size() && joins(moves_[i + 1]) && source_.below(4) > 0)
        pieces.push_back(moves_[++i].piece);
      schedule.add(first.src, first.dst, pieces);
    }
    return schedule;
  }

  ByteSource source_;
  std::vector<Move> moves_;
};

inline AnyCase any_case(std::span<const std::uint8_t> bytes) { return AnyCaseMaker(bytes).make(); }

}  // namespace nuice::test

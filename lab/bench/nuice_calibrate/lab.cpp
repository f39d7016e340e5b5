// SPDX-License-Identifier: BSD-3-Clause
#include "nuice_calibrate/lab.hpp"

#include <array>
#include <utility>

namespace nuice::calibrate {
namespace {

using Pairs = std::vector<std::pair<Rank, Rank>>;  // src, dst

/// A matrix has one message for a pair; its pieces are the messages of a probe.
class Writer {
 public:
  Writer(Rank ranks, const std::vector<Message>& entries, Bytes piece_bytes, const std::string& executor)
      : probe_{CommMatrix::from_messages(ranks, entries), Schedule(ranks), executor},
        piece_bytes_(piece_bytes),
        next_(probe_.matrix.num_messages(), 0) {}

  void phase(const Pairs& pairs) {
    probe_.schedule.begin_phase();
    for (const auto& [src, dst] : pairs) {
      const MessageId id = *probe_.matrix.find(src, dst);
      const std::array<Piece, 1> piece = {{{id, next_[id], piece_bytes_}}};
      probe_.schedule.add(src, dst, piece);
      next_[id] += piece_bytes_;
    }
  }
  Probe take() { return std::move(probe_); }

 private:
  Probe probe_;
  Bytes piece_bytes_;
  std::vector<Bytes> next_;  // by message: where its next piece begins
};

/// `count` phases, in each of which every pair sends.
Probe repeated(Rank ranks, const Pairs& pairs, Bytes bytes, int count, const std::string& executor) {
  std::vector<Message> entries;
  for (const auto& [src, dst] : pairs) entries.push_back({src, dst, bytes * count});
  Writer writer(ranks, entries, bytes, executor);
  for (int i = 0; i < count; ++i) writer.phase(pairs);
  return writer.take();
}

}  // namespace

Probe ping_pong(Rank ranks, Bytes bytes, int rounds) {
  Writer writer(ranks, {{0, 1, bytes * rounds}, {1, 0, bytes * rounds}}, bytes, "phased");
  for (int round = 0; round < rounds; ++round) {
    writer.phase({{0, 1}});
    writer.phase({{1, 0}});
  }
  return writer.take();
}

Probe stream(Rank ranks, Bytes bytes, int count, const std::string& executor) {
  return repeated(ranks, {{0, 1}}, bytes, count, executor);
}

Probe both_ways(Rank ranks, Bytes bytes, int count, const std::string& executor) {
  return repeated(ranks, {{0, 1}, {1, 0}}, bytes, count, executor);
}

Probe ring(Rank ranks, Rank members, Bytes bytes, int count) {
  Pairs pairs;
  for (Rank rank = 0; rank < members; ++rank) pairs.emplace_back(rank, (rank + 1) % members);
  return repeated(ranks, pairs, bytes, count, "phased");
}

Probe fan_in(Rank ranks, Rank senders, Bytes bytes, bool and_out) {
  Pairs pairs;
  for (Rank rank = 1; rank <= senders; ++rank) {
    pairs.emplace_back(rank, 0);
    if (and_out) pairs.emplace_back(0, rank);
  }
  return repeated(ranks, pairs, bytes, 1, "async");
}

}  // namespace nuice::calibrate

// SPDX-License-Identifier: BSD-3-Clause
#include "nuice_calibrate/lab.hpp"

#include <array>

namespace nuice::calibrate {
namespace {

/// A matrix has one message for a pair; its pieces are the messages of a probe.
class Writer {
 public:
  Writer(Rank ranks, const std::vector<Message>& entries, Bytes piece_bytes, const std::string& executor)
      : probe_{CommMatrix::from_messages(ranks, entries), Schedule(ranks), executor},
        piece_bytes_(piece_bytes),
        next_(probe_.matrix.num_messages(), 0) {}

  void phase() { probe_.schedule.begin_phase(); }
  void send(Rank src, Rank dst) {
    const MessageId id = *probe_.matrix.find(src, dst);
    const std::array<Piece, 1> piece = {{{id, next_[id], piece_bytes_}}};
    probe_.schedule.add(src, dst, piece);
    next_[id] += piece_bytes_;
  }
  Probe take() { return std::move(probe_); }

 private:
  Probe probe_;
  Bytes piece_bytes_;
  std::vector<Bytes> next_;  // by message: where its next piece begins
};

}  // namespace

Probe ping_pong(Rank ranks, Bytes bytes, int rounds) {
  Writer writer(ranks, {{0, 1, bytes * rounds}, {1, 0, bytes * rounds}}, bytes, "phased");
  for (int round = 0; round < rounds; ++round) {
    writer.phase();
    writer.send(0, 1);
    writer.phase();
    writer.send(1, 0);
  }
  return writer.take();
}

Probe stream(Rank ranks, Bytes bytes, int count, const std::string& executor) {
  Writer writer(ranks, {{0, 1, bytes * count}}, bytes, executor);
  for (int i = 0; i < count; ++i) {
    writer.phase();
    writer.send(0, 1);
  }
  return writer.take();
}

Probe both_ways(Rank ranks, Bytes bytes, int count, const std::string& executor) {
  Writer writer(ranks, {{0, 1, bytes * count}, {1, 0, bytes * count}}, bytes, executor);
  for (int i = 0; i < count; ++i) {
    writer.phase();
    writer.send(0, 1);
    writer.send(1, 0);
  }
  return writer.take();
}

Probe ring(Rank ranks, Rank members, Bytes bytes, int count) {
  std::vector<Message> entries;
  for (Rank rank = 0; rank < members; ++rank) entries.push_back({rank, (rank + 1) % members, bytes * count});
  Writer writer(ranks, entries, bytes, "phased");
  for (int i = 0; i < count; ++i) {
    writer.phase();
    for (Rank rank = 0; rank < members; ++rank) writer.send(rank, (rank + 1) % members);
  }
  return writer.take();
}

Probe fan_in(Rank ranks, Rank senders, Bytes bytes, bool and_out) {
  std::vector<Message> entries;
  for (Rank rank = 1; rank <= senders; ++rank) {
    entries.push_back({rank, 0, bytes});
    if (and_out) entries.push_back({0, rank, bytes});
  }
  Writer writer(ranks, entries, bytes, "async");
  writer.phase();
  for (const Message& entry : entries) writer.send(entry.src, entry.dst);
  return writer.take();
}

}  // namespace nuice::calibrate

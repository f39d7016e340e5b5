// SPDX-License-Identifier: BSD-3-Clause
// Slices: large messages split, the small remainders whole. Between birkhoff and coloring_by_size.
//
// Matchings of edges with at least 2^k bytes are peeled off (peeling.hpp), for k from the largest down to a sixteenth of
// a mean message of the busiest rank; what is then left of the messages goes in as many phases as that has degree, like
// sizes together (coloring_by_size). After BigSlice of Solstice (CoNEXT 2015), which schedules optical switches; there
// the threshold is what a switch-over costs. For 128 dense ranks: 3.5 D phases, and half the way from the bytes of whole
// messages to the fewest.
// Cost: that of both parts.
#include <algorithm>
#include <bit>
#include <vector>

#include "nuice/core/bounds.hpp"
#include "schedulers/graph/peeling.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

CommMatrix matrix_of(const CommMatrix& matrix, std::span<const Bytes> bytes) {
  std::vector<Message> messages;
  messages.reserve(static_cast<std::size_t>(std::ranges::count_if(bytes, [](Bytes b) { return b > 0; })));
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    if (bytes[id] > 0) messages.push_back({matrix.src(id), matrix.dst(id), bytes[id]});
  }
  return CommMatrix::from_messages(matrix.num_ranks(), messages);
}

/// Appends the phases of a schedule for the last bytes of all messages.
void append_last_bytes(Schedule& schedule, const CommMatrix& matrix, const CommMatrix& last,
                       const Schedule& schedule_of_last) {
  std::vector<MessageId> id_in_matrix;  // both are sorted by sender and receiver
  for (MessageId id = 0; id_in_matrix.size() < last.num_messages(); ++id) {
    const Message message = last.message(static_cast<MessageId>(id_in_matrix.size()));
    if (matrix.src(id) == message.src && matrix.dst(id) == message.dst) id_in_matrix.push_back(id);
  }
  for (PhaseId phase = 0; phase < schedule_of_last.num_phases(); ++phase) {
    schedule.begin_phase();
    for (const Transfer& transfer : schedule_of_last.transfers(phase)) {
      const Piece rest = transfer.pieces[0];
      const MessageId id = id_in_matrix[rest.message];
      const Piece piece{id, matrix.bytes(id) - rest.bytes, rest.bytes};
      schedule.add(transfer.src, transfer.dst, {&piece, 1});
    }
  }
}

/// Takes off slices of all large messages. What is left of them.
CommMatrix slice_large(const CommMatrix& matrix, Schedule& schedule) {
  Peeling peeling(matrix, 1);
  const Bytes mean_bytes = peeling.left() / lower_bounds(matrix).max_degree;
  auto least = static_cast<Bytes>(std::bit_floor(static_cast<std::uint64_t>(peeling.left())));
  while (peeling.left() > 0 && least > mean_bytes / 16) {
    if (peeling.match(least)) {
      peeling.take(schedule);
    } else {
      least /= 2;
    }
  }
  return matrix_of(matrix, peeling.bytes_left());
}

}  // namespace

Schedule make_slices(const Problem& problem) {
  const CommMatrix& matrix = problem.matrix;
  Schedule schedule(matrix.num_ranks());
  if (matrix.num_messages() == 0) return schedule;
  // Room for parts that is not used takes addresses only, but growing would copy everything.
  schedule.reserve(4 * std::size_t{matrix.num_messages()});
  const CommMatrix last = slice_large(matrix, schedule);
  append_last_bytes(schedule, matrix, last, make_coloring_by_size({last}));
  return schedule;
}

}  // namespace nuice::sched

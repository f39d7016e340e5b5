// SPDX-License-Identifier: BSD-3-Clause
// Makes, in one process that knows the whole matrix, the schedule that ranks make together when each knows
// its own messages only (side.hpp). The result equals the result of Planning::distributed byte for byte.
//
// Cost: O(m (D + rounds)) in the worst case, with about 10 control messages per message; 60 bytes per
// message.
#include <algorithm>

#include "nuice/core/bounds.hpp"
#include "schedulers/distributed/all_ranks.hpp"
#include "schedulers/distributed/table_of.hpp"
#include "schedulers/graph/pieces.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

distributed::Rows rows_of(const CommMatrix& matrix) {
  distributed::Rows rows;
  rows.begin.assign(static_cast<std::size_t>(matrix.num_ranks()) + 1, 0);
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {  // by sender, then by receiver
    rows.begin[static_cast<std::size_t>(matrix.src(id)) + 1] = id + 1;
    rows.partners.push_back(matrix.dst(id));
    rows.bytes.push_back(matrix.bytes(id));
  }
  for (std::size_t i = 1; i < rows.begin.size(); ++i)
    rows.begin[i] = std::max(rows.begin[i], rows.begin[i - 1]);
  rows.colours.assign(rows.size(), distributed::no_colour);
  return rows;
}

/// The messages, cut into pieces, with the phase of each piece.
struct Coloured {
  Pieces pieces;
  std::vector<PhaseId> phase_of;
  PhaseId num_phases;
};

/// Returns the message of each piece.
std::vector<MessageId> messages_of(const distributed::Rows& rows, const distributed::Cut& cut) {
  std::vector<MessageId> messages;
  for (MessageId id = 0; id < rows.size(); ++id)
    messages.insert(messages.end(), cut.num_pieces(rows.bytes[id]), id);
  return messages;
}

Coloured coloured(const Problem& problem) {
  using namespace distributed;
  const Rows rows = rows_of(problem.matrix);
  const Rows columns = transposed(rows);
  const auto limits_at = [&](const Cut& cut) {
    return limits_of(cut_rows(rows, cut), cut_rows(columns, cut));
  };
  ChosenCut chosen =
      choose_cut(lower_bounds(problem.matrix).max_port_bytes, problem.phase_cost_bytes, limits_at);
  Rows sends = cut_rows(rows, chosen.cut);
  Rows receives = cut_rows(columns, chosen.cut);
  Palette palette(std::move(chosen.limits), nullptr, chosen.cut);
  AllRanks world(sends, receives, palette, problem.seed);
  run_rounds(world, palette);
  std::vector<std::uint8_t> used(palette.size(), 0);
  for (const Colour colour : sends.colours) used[colour] = 1;
  const std::vector<PhaseId> numbers = phases_of(used);
  Coloured result{.pieces = {messages_of(rows, chosen.cut), std::move(sends.bytes)},
                  .phase_of = {},
                  .num_phases = static_cast<PhaseId>(palette.size())};
  for (const Colour colour : sends.colours) result.phase_of.push_back(numbers[colour]);
  return result;
}

}  // namespace

std::string why_not_distributed_coloring(const Problem& problem) {
  const MessageId degree = lower_bounds(problem.matrix).max_degree;
  return std::size_t{2} * degree < distributed::most_colours ? "" : "a rank with more than 2^15 partners";
}

Schedule make_distributed_coloring(const Problem& problem) {
  const Coloured made = coloured(problem);
  return made.pieces.messages.size() == problem.matrix.num_messages()
             ? Schedule::of_whole_messages(problem.matrix, made.phase_of, made.num_phases)
             : schedule_of(problem.matrix, made.pieces, made.phase_of);
}

}  // namespace nuice::sched

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

/// The phase of each message of `sends`, and the number of phases.
struct Coloured {
  std::vector<PhaseId> phase_of;
  PhaseId num_phases;
};

Coloured coloured(distributed::Rows sends, std::uint64_t seed) {
  using namespace distributed;
  Rows receives = transposed(sends);
  Palette palette(limits_of(sends, receives));
  AllRanks world(sends, receives, palette, seed);
  run_rounds(world, palette);
  std::vector<std::uint8_t> used(palette.size(), 0);
  for (const Colour colour : sends.colours) used[colour] = 1;
  const std::vector<PhaseId> numbers = phases_of(used);
  Coloured result{{}, static_cast<PhaseId>(palette.size())};
  for (const Colour colour : sends.colours) result.phase_of.push_back(numbers[colour]);
  return result;
}

}  // namespace

std::string why_not_distributed_coloring(const Problem& problem) {
  const MessageId degree = lower_bounds(problem.matrix).max_degree;
  return std::size_t{2} * degree < distributed::most_colours ? "" : "a rank with more than 2^15 partners";
}

Schedule make_distributed_coloring(const Problem& problem) {
  const Coloured made = coloured(rows_of(problem.matrix), problem.seed);
  return Schedule::of_whole_messages(problem.matrix, made.phase_of, made.num_phases);
}

}  // namespace nuice::sched

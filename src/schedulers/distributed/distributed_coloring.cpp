// SPDX-License-Identifier: BSD-3-Clause
// The schedule that ranks make when each knows its own messages only (side.hpp), made here by one who knows all: what
// Planning::distributed gives, byte for byte.
//
// Cost: O(m (D + rounds)) at worst, some 10 letters a message; 60 bytes a message.
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

}  // namespace

std::string why_not_distributed_coloring(const Problem& problem) {
  const MessageId degree = lower_bounds(problem.matrix).max_degree;
  return 2 * degree < distributed::most_colours ? "" : "a rank with more than 2^15 partners";
}

Schedule make_distributed_coloring(const Problem& problem) {
  using namespace distributed;
  Rows sends = rows_of(problem.matrix);
  Rows receives = transposed(sends);
  Palette palette(limits_of(sends, receives));
  AllRanks world(sends, receives, palette, problem.seed);
  run_rounds(world, palette);
  std::vector<std::uint8_t> used(palette.size(), 0);
  for (const Colour colour : sends.colours) used[colour] = 1;
  const std::vector<PhaseId> numbers = phases_of(used);
  std::vector<PhaseId> phase_of;
  for (const Colour colour : sends.colours) phase_of.push_back(numbers[colour]);
  return Schedule::of_whole_messages(problem.matrix, phase_of, static_cast<PhaseId>(palette.size()));
}

}  // namespace nuice::sched

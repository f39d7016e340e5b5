// SPDX-License-Identifier: BSD-3-Clause
// shift: in phase k rank i sends to rank i + k, modulo the number of ranks. Phases without messages are
// left out. O(messages * log(messages)).
#include <algorithm>
#include <numeric>
#include <vector>

#include "toy.hpp"

namespace nuice::toy {
namespace {

Schedule make(const Problem& problem) {
  const CommMatrix& matrix = problem.matrix;
  const auto shift_of = [&](MessageId id) {
    const Rank shift = matrix.dst(id) - matrix.src(id);
    return shift > 0 ? shift : shift + matrix.num_ranks();
  };
  std::vector<MessageId> ids(matrix.num_messages());
  std::iota(ids.begin(), ids.end(), MessageId{0});
  std::ranges::stable_sort(ids, std::less{}, shift_of);
  Schedule schedule(matrix.num_ranks());
  Rank shift = 0;
  for (const MessageId id : ids) {
    if (shift_of(id) != shift) schedule.begin_phase();
    shift = shift_of(id);
    schedule.add_whole(matrix, id);
  }
  return schedule;
}

double expected_phases(const MatrixTraits& traits) { return std::min(traits.ranks - 1, traits.messages); }

}  // namespace

const Scheduler shift{.name = "shift",
                      .summary = "in phase k rank i sends to rank i + k",
                      .source = "tests/toy",
                      .guarantees = direct | one_port,
                      .randomized = false,
                      .make = make,
                      .expected_phases = expected_phases,
                      .expected_unevenness = 0.7,
                      .planning_passes = 1,
                      .gathers = false,
                      .tried_with = Paces(Pace::phases, Pace::at_once)};

}  // namespace nuice::toy

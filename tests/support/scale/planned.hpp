// SPDX-License-Identifier: BSD-3-Clause
// Distributed planning with all ranks in one process, which check() then judges with the whole matrix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "nuice/nuice.hpp"
#include "schedulers/distributed/all_ranks.hpp"
#include "schedulers/distributed/table_of.hpp"

namespace nuice::scale {

using namespace distributed;

struct Planned {
  Rows sends;
  Rows receives;
  Palette palette;
  std::size_t num_colours = 0;
  std::uint32_t rounds = 0;
  std::vector<RoundCount> counts = {};
  std::uint64_t most_letters_of_a_rank = 0;
  std::size_t most_letter_bytes_of_a_rank = 0;

  std::uint64_t letters() const {
    std::uint64_t sum = 0;
    for (const RoundCount& count : counts) sum += count.letters;
    return sum;
  }
};

inline Planned plan(Rows sends, std::uint64_t seed = 1, const Palette* earlier = nullptr) {
  Rows receives = transposed(sends);
  Palette palette(limits_of(sends, receives), earlier);
  Planned planned{.sends = std::move(sends), .receives = std::move(receives), .palette = std::move(palette)};
  AllRanks world(planned.sends, planned.receives, planned.palette, seed);
  planned.rounds = run_rounds(world, planned.palette);
  planned.num_colours = planned.palette.size();
  planned.counts = world.counts();
  planned.most_letters_of_a_rank = world.most_letters_of_a_rank();
  planned.most_letter_bytes_of_a_rank = world.most_letter_bytes_of_a_rank();
  return planned;
}

inline CommMatrix matrix_of(const Rows& rows) {
  std::vector<Message> messages;
  messages.reserve(rows.size());
  for (Rank src = 0; src < rows.num_ranks(); ++src)
    for (std::uint64_t i = rows.begin[static_cast<std::size_t>(src)];
         i < rows.begin[static_cast<std::size_t>(src) + 1]; ++i)
      messages.push_back({src, rows.partners[i], rows.bytes[i]});
  return CommMatrix::from_messages(rows.num_ranks(), messages);
}

inline std::vector<std::uint8_t> used_colours(const Planned& planned) {
  std::vector<std::uint8_t> used(planned.num_colours, 0);
  for (const Colour colour : planned.sends.colours) used.at(colour) = 1;
  return used;
}

inline Schedule schedule_of(const Planned& planned, const CommMatrix& matrix) {
  const std::vector<std::uint8_t> used = used_colours(planned);
  const std::vector<PhaseId> phase_of = phases_of(used);
  std::vector<PhaseId> phases;
  phases.reserve(planned.sends.size());
  for (const Colour colour : planned.sends.colours) phases.push_back(phase_of[colour]);
  return Schedule::of_whole_messages(matrix, phases, static_cast<PhaseId>(std::ranges::count(used, 1)));
}

}  // namespace nuice::scale

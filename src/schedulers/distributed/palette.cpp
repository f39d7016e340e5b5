// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/distributed/palette.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "nuice/core/error.hpp"

namespace nuice::distributed {
namespace {

void require_room(std::size_t num_colours) {
  if (num_colours > most_colours)
    throw Error(ErrorCode::limit, "distributed planning is for " + std::to_string(most_colours) +
                                      " phases and partners at most: " + std::to_string(num_colours));
}

}  // namespace

Palette::Palette(std::vector<Bytes> limits, const Palette* earlier)
    : limits_(std::move(limits)), step_(std::max<std::size_t>(1, limits_.size() / 128)) {
  if (earlier != nullptr) {
    limits_.resize(std::max(limits_.size(), earlier->size()), 0);
    for (std::size_t k = 0; k < earlier->size(); ++k) limits_[k] = std::max(limits_[k], earlier->limits_[k]);
  }
  require_room(limits_.size());
}

bool Palette::needs_more(std::uint64_t unsettled) {
  // With a colour to spare at every rank, so many rounds settle more than a third of what is left (D = 64); with none, holes
  // vanish only where two of them meet, ever more rarely.
  constexpr std::size_t patience = 16;
  history_.push_back(unsettled);
  return history_.size() > patience && unsettled * 8 > history_[history_.size() - 1 - patience] * 7;
}

void Palette::add(Bytes most) {
  constexpr std::size_t messages_for_a_colour = 16;
  const auto some = static_cast<std::size_t>(history_.back() / messages_for_a_colour);
  const std::size_t count = std::clamp<std::size_t>(some, 1, step_);
  require_room(limits_.size() + count);
  limits_.insert(limits_.end(), count, most);
  history_.clear();
}

}  // namespace nuice::distributed

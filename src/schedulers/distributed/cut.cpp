// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/distributed/cut.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace nuice::distributed {
namespace {

Bytes parts_of(Bytes bytes, Bytes part) { return bytes / part + (bytes % part == 0 ? 0 : 1); }

double sum_of(const std::vector<Bytes>& limits) { return std::accumulate(limits.begin(), limits.end(), 0.0); }

}  // namespace

Bytes Cut::piece_bytes(Bytes message_bytes) const {
  return std::max(most, parts_of(message_bytes, Bytes{most_pieces}));
}

std::size_t Cut::num_pieces(Bytes message_bytes) const {
  return static_cast<std::size_t>(parts_of(message_bytes, piece_bytes(message_bytes)));
}

CutMessages cut_messages(std::span<const Rank> partners, std::span<const Bytes> bytes, const Cut& cut) {
  CutMessages pieces;
  for (std::uint32_t message = 0; message < partners.size(); ++message) {
    Bytes left = bytes[message];
    const Bytes each = cut.piece_bytes(left);
    for (; left > 0; left -= pieces.bytes.back()) {
      pieces.partners.push_back(partners[message]);
      pieces.bytes.push_back(std::min(each, left));
      pieces.messages.push_back(message);
    }
  }
  return pieces;
}

ChosenCut choose_cut(Bytes max_port_bytes, Bytes phase_cost_bytes, const LimitsAt& limits_at) {
  constexpr double whole_is_enough = 1.05;
  constexpr double cut_is_enough = 1.10;
  constexpr double gain = 0.99;       // more pieces have to save at least 1 % of the cost
  constexpr double added_phases = 2;  // mostly some phases have to be added for pieces of the largest size
  constexpr int most_tries = 12;
  ChosenCut best{.cut = {}, .limits = limits_at({})};
  const auto bound = static_cast<double>(max_port_bytes);
  if (best.limits.empty() || sum_of(best.limits) <= whole_is_enough * bound) return best;
  const std::size_t most_phases = best.limits.size() + (best.limits.size() + 9) / 10;
  const auto bytes_of = [&](const std::vector<Bytes>& limits) {
    return sum_of(limits) + added_phases * static_cast<double>(limits.front());
  };
  const auto cost_of = [&](const std::vector<Bytes>& limits) {
    return bytes_of(limits) + static_cast<double>(limits.size()) * static_cast<double>(phase_cost_bytes);
  };
  Cut cut{best.limits.front()};
  for (int tries = 0; tries < most_tries && bytes_of(best.limits) > cut_is_enough * bound; ++tries) {
    cut.most -= cut.most / 5;
    std::vector<Bytes> limits = limits_at(cut);
    if (limits.size() > most_phases) break;
    if (cost_of(limits) < gain * cost_of(best.limits)) best = {cut, std::move(limits)};
  }
  return best;
}

}  // namespace nuice::distributed

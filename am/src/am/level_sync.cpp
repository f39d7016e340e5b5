// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/am/level_sync.hpp"

#include <algorithm>
#include <array>

#include "am/endpoint_core.hpp"
#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"

namespace nuice::am {
namespace {

/// Returns a value. If ranks a and b list each other, the sum of their values is 0.
std::int64_t signed_edge(Rank mine, Rank other) {
  const auto low = static_cast<std::uint64_t>(std::min(mine, other));
  const auto high = static_cast<std::uint64_t>(std::max(mine, other));
  const auto value = static_cast<std::int64_t>(mix64((low << 32) | high) >> 32);
  return mine < other ? value : -value;
}

}  // namespace

std::uint32_t EndpointCore::add_level_sync() {
  const Entry entry(*this);
  Levels& levels = levels_;
  const std::uint32_t id = levels.made++;
  if (id >= levels.marks.size()) levels.marks.resize(id + 1);
  levels.marks[id].resize(static_cast<std::size_t>(num_ranks_), 0);
  return id;
}

std::uint64_t EndpointCore::level_marks(std::uint32_t sync, Rank src) const {
  return levels_.marks[sync][static_cast<std::size_t>(src)];
}

void EndpointCore::send_level_mark(std::uint32_t sync, Rank dst) {
  post(dst, internal_header(InternalHandler::level_mark), &sync, sizeof sync, {});
}

LevelSync::LevelSync(Endpoint& endpoint, std::vector<Rank> neighbours)
    : core_(endpoint.core()), neighbours_(std::move(neighbours)), id_(core_.add_level_sync()) {
  const EndpointCore::Entry entry(core_);
  std::ranges::sort(neighbours_);
  std::array<std::int64_t, 2> mine = {0, 0};  // invalid lists, edges without their counterpart
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    const Rank other = neighbours_[i];
    const bool twice = i > 0 && neighbours_[i - 1] == other;
    if (other < 0 || other >= endpoint.num_ranks() || other == endpoint.rank() || twice) mine[0] = 1;
    mine[1] += signed_edge(endpoint.rank(), other);
  }
  std::array<std::int64_t, 2> all{};
  core_.throw_later(core_.try_reduce(ReduceOp::sum, mine, all));
  core_.reduce_into(ReduceOp::sum, {}, {}, false);  // no message of the first level is handled here
  if (all[0] != 0)
    throw Error(ErrorCode::invalid_argument,
                "neighbours: " + std::to_string(all[0]) +
                    " ranks list themselves, list a rank twice, or list an invalid rank");
  if (all[1] != 0) throw Error(ErrorCode::mismatch, "neighbours: a rank lists a rank that does not list it");
}

void LevelSync::finish_level() {
  const EndpointCore::Entry entry(core_);
  core_.must_not_be_in_handler("finish_level");
  core_.check_sendable(core_.rank_, 0);  // checked now, because after this no step may be left out
  FirstError error;
  error.add(core_.flush_coalescers());
  for (const Rank neighbour : neighbours_) error.of([&] { core_.send_level_mark(id_, neighbour); });
  ++level_;
  const auto all_have_told = [this] {
    return std::ranges::all_of(neighbours_, [this](Rank r) { return core_.level_marks(id_, r) >= level_; });
  };
  error.of([&] { core_.wait_until(all_have_told); });
  error.rethrow();
}

std::uint64_t LevelSync::level_of(Rank src) const {
  const EndpointCore::Entry entry(core_);
  return core_.level_marks(id_, src);
}

}  // namespace nuice::am

// SPDX-License-Identifier: BSD-3-Clause
#include "dropin/shadow.hpp"

#include <algorithm>
#include <utility>

#include "mpi/communicator.hpp"
#include "mpi/requests.hpp"

/// The drop-in replaces calls between MPI_Init and MPI_Finalize only, so it needs no communicator of a session.
MPI_Comm nuice::mpi::any_comm() { return MPI_COMM_SELF; }

namespace nuice::dropin {
namespace {

/// Of all communicators; MPI tells it of this one, and Open MPI of no other that was made by MPI_Comm_split.
std::int64_t last_tag() {
  void* value = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&value), &is_there);
  constexpr std::int64_t least_by_standard = 32767;
  return is_there != 0 ? *static_cast<int*>(value) : least_by_standard;
}

Bytes size_of(const Item& item) { return item.count == 0 ? 0 : item.count * mpi::size_of(item.type); }

}  // namespace

mpi::Segment segment_of(const Item& item) { return {item.at, item.count, item.type}; }

Bytes longest_of(const std::vector<Item>& items) {
  Bytes longest = 0;
  for (const Item& item : items) longest = std::max(longest, size_of(item));
  return longest;
}

double bytes_of_others(const std::vector<Item>& items, Rank me) {
  double bytes = 0;
  for (const Item& item : items)
    if (item.rank != me) bytes += static_cast<double>(size_of(item));
  return bytes;
}

std::vector<std::byte> packed(const std::vector<Item>& items) {
  std::vector<std::byte> all;
  for (const Item& item : items) {
    if (item.count == 0) continue;
    mpi::Travel travel(std::array{segment_of(item)});
    travel.pack();
    all.insert(all.end(), travel.at(), travel.at() + travel.bytes());
  }
  return all;
}

void unpack(const std::vector<std::byte>& bytes, const std::vector<Item>& items) {
  const std::byte* from = bytes.data();
  for (const Item& item : items) {
    if (item.count == 0) continue;
    mpi::Travel travel(std::array{segment_of(item)});
    std::copy_n(from, travel.bytes(), travel.at());
    from += travel.bytes();
    travel.unpack();
  }
}

void Call::take(const Items& items, const std::vector<int>& ranks) {
  outgoing_.clear();
  incoming_.clear();
  sends.clear();
  receives.clear();
  const auto in_shadow = [&](int rank) {
    return ranks.empty() ? rank : ranks[static_cast<std::size_t>(rank)];
  };
  for (const Item& item : items.out) {
    if (item.count == 0) continue;
    mpi::Travel travel(std::array{segment_of(item)}, items.in_place);
    if (travel.bytes() == 0) continue;
    sends.push_back({in_shadow(item.rank), travel.at(), travel.bytes()});
    outgoing_.push_back(std::move(travel));
  }
  for (const Item& item : items.in) {
    if (item.count == 0) continue;
    mpi::Travel travel(std::array{segment_of(item)});
    if (travel.bytes() == 0) continue;
    receives.push_back({in_shadow(item.rank), travel.at(), travel.bytes()});
    incoming_.push_back(std::move(travel));
  }
}

void Call::pack() {
  for (mpi::Travel& travel : outgoing_) travel.pack();
}

void Numbers::give(Call& call, ByRank& numbers, int offset) const {
  const auto next = [&](std::unordered_map<Rank, int>& of, Rank rank) {
    int& number = of[rank];
    const int tag = first_tag_ + offset + 2 * number;
    number = (number + 1) % calls;
    return tag;
  };
  for (mpi::PlanlessSend& send : call.sends) send.tag = next(numbers.sent, send.rank);
  for (mpi::PlanlessReceive& receive : call.receives) receive.tag = next(numbers.received, receive.rank);
}

Shadow::Shadow(const mpi::PlanlessChannel& channel, mpi::PlanlessSettings settings)
    : comm(channel.comm),
      near(settings.near),
      engine(channel, std::move(settings)),
      next_tag_(channel.first_tag + 2 * std::int64_t{channel.numbers}),
      last_tag_(last_tag()) {}

std::optional<Numbers> Shadow::next_numbers() {
  if (next_tag_ + Numbers::tags - 1 > last_tag_) return std::nullopt;
  const int first = static_cast<int>(next_tag_);
  next_tag_ += Numbers::tags;
  return Numbers(first);
}

std::unique_ptr<Call> Shadow::take_call() {
  if (idle_.empty()) return std::make_unique<Call>();
  std::unique_ptr<Call> call = std::move(idle_.back());
  idle_.pop_back();
  return call;
}

}  // namespace nuice::dropin

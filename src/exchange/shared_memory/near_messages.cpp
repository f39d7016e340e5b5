// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/shared_memory/near_messages.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/text/names.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/discover/raw_values.hpp"
#include "mpi/host/cores.hpp"
#include "mpi/host/host_ranks.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

/// A writer reads its reader's counter once in this number of exchanges. So on average an exchange moves 1/16
/// of a cache line for the counter.
constexpr Number most_slots = 16;
/// More slots let a rank run further ahead of others. They are used as long as their memory does not exceed
/// this: 16 slots for 4 messages of 4 KiB (docs/adr/0043).
constexpr std::size_t ample_bytes_per_rank = 256 * 1024;
/// If the messages need more memory than this, MPI carries all of them, because it copies large messages
/// without additional memory. It suffices for 128 messages of 64 KiB, the largest that use shared memory by
/// default, with least_slots slots each.
constexpr std::size_t most_bytes_per_rank = std::size_t{least_slots} * 128 * 65536;

/// A message of a rank, as the rank describes it to the other ranks of its host.
struct Sent {
  Rank dst;
  Bytes bytes;
};

/// The mailboxes of all ranks of the host. They are contiguous, by sender and then by destination.
class HostBoxes {
 public:
  HostBoxes(std::span<const Rank> near, const std::vector<std::vector<std::byte>>& told)
      : near_(near), begin_(near.size() * sizeof(ReaderLine)) {
    for (const auto& of_rank : told)
      for (const auto& [dst, bytes] : all_.emplace_back(values_in<Sent>(of_rank))) {
        (void)dst;
        slot_bytes_ += Mailbox::slot_bytes_for(bytes);
      }
    const std::size_t ample = near.size() * ample_bytes_per_rank;
    while (num_slots_ < most_slots && std::size_t{2} * num_slots_ * slot_bytes_ <= ample) num_slots_ *= 2;
  }

  Number num_slots() const { return num_slots_; }
  bool is_too_much() const { return memory_bytes() > near_.size() * most_bytes_per_rank; }
  std::size_t memory_bytes() const { return slot_bytes_ == 0 ? 0 : begin_ + num_slots_ * slot_bytes_; }

  /// Adds the mailboxes of this rank's messages to `parts`.
  void put(Rank rank, const WholeMessages& mine, NearParts& parts) const {
    std::size_t begin = begin_;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      for (const auto& [dst, bytes] : all_[i]) {
        if (near_[i] == rank) parts.sends.push_back({dst, index_of(dst), bytes, begin});
        if (dst == rank) {
          require_same(mine, near_[i], rank, bytes);
          parts.receives.push_back({near_[i], i, bytes, begin});
        }
        begin += num_slots_ * Mailbox::slot_bytes_for(bytes);
      }
    }
    require_sent(mine, parts, rank);
    parts.index = index_of(rank);
    parts.num_slots = num_slots_;
  }

 private:
  std::size_t index_of(Rank rank) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(near_, rank) - near_.begin());
  }
  [[noreturn]] static void differ(Rank src, Rank dst, Bytes sent, Bytes expected) {
    throw Error(ErrorCode::mismatch, pair_name(src, dst) + ": " + std::to_string(sent) + " bytes are sent, " +
                                         std::to_string(expected) + " are expected");
  }
  static void require_same(const WholeMessages& mine, Rank src, Rank dst, Bytes sent) {
    const auto found = mine.receives.find(src);
    const Bytes expected = found == mine.receives.end() ? 0 : found->second;
    if (expected != sent) differ(src, dst, sent, expected);
  }
  static void require_sent(const WholeMessages& mine, const NearParts& parts, Rank rank) {
    for (const auto& [src, bytes] : mine.receives)
      if (std::ranges::find(parts.receives, src, &NearPlace::partner) == parts.receives.end())
        differ(src, rank, 0, bytes);
  }

  std::span<const Rank> near_;
  std::vector<std::vector<Sent>> all_;  // by rank of the host
  std::size_t begin_;
  std::size_t slot_bytes_ = 0;  // the sum of one slot of every mailbox
  Number num_slots_ = least_slots;
};

/// Touches the memory that this rank will use.
void touch(const NearParts& parts, std::size_t num_near) {
  parts.memory.touch(0, num_near * sizeof(ReaderLine));
  for (const auto* places : {&parts.sends, &parts.receives})
    for (const NearPlace& place : *places)
      parts.memory.touch(place.begin, parts.num_slots * Mailbox::slot_bytes_for(place.bytes));
}

}  // namespace

Decoration find_near_messages(const std::shared_ptr<const Communicator>& comm, int tag,
                              std::span<const Rank> near, Bytes largest_bytes, const PhaseTable& table,
                              const Layout& layout) {
  WholeMessages taken;
  std::vector<Sent> mine;
  all_or_none(*comm, [&] {
    taken = WholeMessages::of(table, layout, [&](Rank partner, Bytes bytes) {
      return bytes <= largest_bytes && std::ranges::binary_search(near, partner);
    });
    for (const auto& [dst, bytes] : taken.sends) mine.push_back({dst, bytes});
  });
  const std::array self = {comm->rank()};
  if (near.empty()) near = self;
  const auto told = gather_on_host(*comm, near, std::as_bytes(std::span(mine)));
  NearParts parts;
  Decoration found;
  std::size_t memory_bytes = 0;
  bool is_too_much = false;
  all_or_none(*comm, [&] {
    const HostBoxes boxes(near, told);
    boxes.put(comm->rank(), taken, parts);
    memory_bytes = boxes.memory_bytes();
    is_too_much = boxes.is_too_much();
    found.rest = taken.rest_of(table);
  });
  std::array<std::int64_t, 2> sums = {std::ssize(mine), taken.are_all ? 0 : 1};
  all_reduce(*comm, MPI_IN_PLACE, sums.data(), 2, MPI_INT64_T, MPI_SUM);
  found.has_rest = sums[1] != 0;
  if (sums[0] == 0) {
    found.says = "no message inside a host has at most " + std::to_string(largest_bytes) + " bytes";
    return found;
  }
  if (!is_too_much) parts.memory = SharedSegment(*comm, near, memory_bytes);
  const bool is_missing = memory_bytes > 0 && parts.memory.data() == nullptr;
  int missing = is_missing ? comm->num_ranks() - comm->rank() : 0;
  all_reduce(*comm, MPI_IN_PLACE, &missing, 1, MPI_INT, MPI_MAX);
  if (missing > 0) {
    found.says =
        "none: the ranks of the host of " + rank_name(comm->num_ranks() - missing) + " cannot share memory";
    return found;
  }
  if (parts.memory.data() != nullptr) touch(parts, near.size());
  found.says = std::to_string(sums[0]) + " messages inside hosts, of at most " +
               std::to_string(largest_bytes) + " bytes";
  parts.comm = comm;
  parts.tag = tag;
  parts.elements = std::move(taken.elements);
  parts.is_oversubscribed = outnumber_cores(*comm, near);
  found.decorator = std::make_unique<NearParts>(std::move(parts));
  return found;
}

}  // namespace nuice::mpi

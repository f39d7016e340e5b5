// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of a plan's messages lie in this process: what bind() has been given, in one form for the maker of
// requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/text/names.hpp"
#include "mpi/communicator.hpp"
#include "mpi/requests.hpp"
#include "nuice/core/dependencies.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/core/types.hpp"

namespace nuice::mpi {

/// Contiguous, as they travel.
using Places = std::vector<Segment>;

/// Elements that come before byte `offset` of `whole` bytes, which hold `count` elements; rounded down.
std::int64_t share(std::int64_t count, Bytes offset, Bytes whole);

/// `width` numbers from `at` on, to or from a partner.
struct NumbersFor {
  Rank partner;
  int tag;
  std::size_t at;
};
/// Collective over the partners. What they sent; num_theirs of them.
std::vector<std::int64_t> exchange_numbers(const Communicator& comm, std::vector<std::int64_t> mine,
                                           std::span<const NumbersFor> sends, std::size_t num_theirs,
                                           std::span<const NumbersFor> receives, int width = 1);

struct Layout {
  /// A message, or a share of one: of several fields, or of those that the user lists for one rank.
  struct Place {
    Rank rank;
    Segment all;
    Bytes begin;  ///< In what the plan has for the rank.
    Bytes bytes;  ///< Likewise.
  };
  using ByRank =
      std::vector<Place>;  ///< Ascending, but as given (messages.hpp); those of a rank as they travel.
  /// Bytes of fields for a number of bytes of the plan, the same for all messages of all ranks.
  struct Ratio {
    Bytes fields = 1;
    Bytes plan = 1;
  };

  ByRank send;
  ByRank receive;
  std::vector<Datatype> types;  ///< Of the places, where they are not the user's.
  bool are_all_bytes =
      false;                  ///< Both ends of every message hold it as plain bytes, in one place or several.
  bool in_one_place = false;  ///< Each message is in one place at both ends.
  Bytes most_together = max_bytes;  ///< Segments of a longer message travel as messages of their own.
  Ratio ratio;                      ///< Where the plan forwards.

  /// Appends where bytes [offset, offset + bytes) of the message to this partner are, or of that from it will be. A partner
  /// that is none, or an empty range, adds nothing.
  void find(Rank partner, bool is_send, Bytes offset, Bytes bytes, Places& places) const;
  /// The bytes that forwarding takes for a number of bytes of the plan.
  Bytes scaled(Bytes plan_bytes) const { return share(ratio.fields, plan_bytes, ratio.plan); }
  /// Whether both ends of every message hold it as plain bytes in one place.
  bool is_bytes() const { return are_all_bytes && in_one_place; }
  /// Whether the segments of a transfer with this partner travel as messages of their own; the same at both ends.
  bool one_by_one(Rank partner, bool is_send) const;
};

/// One rank's part of a plan, in one direction: what is bound.
struct Slice {
  PhaseTable table;
  Notices notices;  ///< For executors that wait for them.
  // As the ranks list them: in the user's order, those of one rank perhaps several times.
  std::vector<Partner> send_to;
  std::vector<Partner> receive_from;
};

inline Slice reversed(const Slice& slice) {
  return {reversed(slice.table), reversed(slice.notices, slice.table.num_phases), slice.receive_from,
          slice.send_to};
}

}  // namespace nuice::mpi

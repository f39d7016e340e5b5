// SPDX-License-Identifier: BSD-3-Clause
// The layout of a plan's messages in this process: where their bytes lie, in one form for all ways in which
// memory is given to bind().
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

/// Segments whose bytes are contiguous in a message.
using Places = std::vector<Segment>;

/// The number of elements before byte `offset`, rounded down, if `whole` bytes hold `count` elements.
std::int64_t share(std::int64_t count, Bytes offset, Bytes whole);

/// Says that `width` numbers, beginning at index `at`, go to a partner or come from it.
struct NumbersFor {
  Rank partner;
  int tag;
  std::size_t at;
};
/// Collective over the partners. Returns the num_theirs numbers that partners have sent to this rank.
std::vector<std::int64_t> exchange_numbers(const Communicator& comm, std::vector<std::int64_t> mine,
                                           std::span<const NumbersFor> sends, std::size_t num_theirs,
                                           std::span<const NumbersFor> receives, int width = 1);

struct Layout {
  /// A message or a share of it. A share is one field of several, or one of the messages that the user lists
  /// for a rank.
  struct Place {
    Rank rank;
    Segment all;
    Bytes begin;  ///< Where its bytes begin in the plan's message with the rank.
    Bytes bytes;  ///< Its bytes in that message.
  };
  /// Places by ascending rank, or in the user's order (messages.hpp). The places of one rank are in the order
  /// of its message.
  using ByRank = std::vector<Place>;
  /// The ratio of field bytes to planned bytes, the same for all messages of all ranks.
  struct Ratio {
    Bytes fields = 1;
    Bytes plan = 1;
  };

  ByRank send;
  ByRank receive;
  std::vector<Datatype> types;  ///< Types of the places, if they are not the user's.
  /// Whether both ends of every message hold it as plain bytes, in one place or several.
  bool are_all_bytes = false;
  bool in_one_place = false;        ///< Whether each message is in one place at both ends.
  Bytes most_together = max_bytes;  ///< The segments of longer messages are sent one by one.
  Ratio ratio;                      ///< Used if the plan forwards messages.

  /// Appends the places of bytes [offset, offset + bytes) of the message that goes to this partner or comes
  /// from it. Appends nothing if there is no such message or the range is empty.
  void find(Rank partner, bool is_send, Bytes offset, Bytes bytes, Places& places) const;
  /// Returns how many field bytes are forwarded for this number of planned bytes.
  Bytes scaled(Bytes plan_bytes) const { return share(ratio.fields, plan_bytes, ratio.plan); }
  /// Whether both ends of every message hold it as plain bytes in one place.
  bool is_bytes() const { return are_all_bytes && in_one_place; }
  /// Whether the segments of a transfer with this partner are sent as separate messages. Both ends give the
  /// same answer.
  bool one_by_one(Rank partner, bool is_send) const;
};

/// One rank's part of a plan in one direction. Exchanges bind it to memory.
struct Slice {
  PhaseTable table;
  Notices notices;  ///< Used by executors that wait for notifications.
  // Partners as the ranks list them: in the user's order, possibly with repeated ranks.
  std::vector<Partner> send_to;
  std::vector<Partner> receive_from;
};

inline Slice reversed(const Slice& slice) {
  return {reversed(slice.table), reversed(slice.notices, slice.table.num_phases), slice.receive_from,
          slice.send_to};
}

}  // namespace nuice::mpi

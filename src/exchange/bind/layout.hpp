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

/// One behind the other, as they travel.
using Places = std::vector<Segment>;

/// Of a message of the plan.
struct MessageRange {
  Bytes begin;
  Bytes bytes;
};

/// Elements that come before byte `offset` of `whole` bytes, which hold `count` elements; rounded down.
std::int64_t share(std::int64_t count, Bytes offset, Bytes whole);
/// Appends the elements of `all` that are the share of bytes [offset, offset + bytes) of a message, in which
/// `all` is of_all.
void add_share(const Segment& all, MessageRange of_all, Bytes offset, Bytes bytes, Places& places);

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

class Layout {
 public:
  virtual ~Layout() = default;
  /// Appends where bytes [offset, offset + bytes) of the message to dst are, or of that from src will be. A partner
  /// that is none, or an empty range, adds nothing.
  virtual void find_to_send(Rank dst, Bytes offset, Bytes bytes, Places& places) const = 0;
  virtual void find_to_receive(Rank src, Bytes offset, Bytes bytes, Places& places) const = 0;
  /// What so many bytes of the plan take where they are forwarded.
  virtual Bytes scaled(Bytes bytes) const { return bytes; }
  /// Whether both ends of every message hold it as plain bytes in one place.
  virtual bool is_bytes() const { return false; }
  /// Whether both ends of every message hold it as plain bytes, in one place or several.
  virtual bool are_all_bytes() const { return false; }
  /// Whether the segments of a transfer with this partner travel as messages of their own; the same at both ends.
  virtual bool one_by_one(Rank, bool /*is_send*/) const { return false; }
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

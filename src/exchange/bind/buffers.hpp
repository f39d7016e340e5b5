// SPDX-License-Identifier: BSD-3-Clause
// Messages in bytes: one buffer per partner, or one array for all of them.
#pragma once

#include <span>
#include <vector>

#include "exchange/bind/messages.hpp"
#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

// Not collective. Both throw Error invalid_argument, which names the rank or the pair at fault.
/// A buffer for each message inside the array.
std::vector<SendBuffer> buffers_in(const SendArray& array, std::span<const Partner> partners, Rank rank);
std::vector<ReceiveBuffer> buffers_in(const ReceiveArray& array, std::span<const Partner> partners,
                                      Rank rank);
class BufferLayout : public Layout {
 public:
  /// Of messages that are plain bytes on all ranks. in_parts: some rank of the plan lists a partner several times.
  BufferLayout(const CheckedMessages& messages, bool in_parts);

  void find_to_send(Rank dst, Bytes offset, Bytes bytes, Places& places) const override;
  void find_to_receive(Rank src, Bytes offset, Bytes bytes, Places& places) const override;
  bool is_bytes() const override { return !in_parts_; }
  bool are_all_bytes() const override { return true; }

 private:
  /// A message, or one of the parts that the user lists for one rank.
  struct Place {
    Rank rank;
    std::byte* at;
    Bytes begin;  // in the message
    Bytes bytes;
  };
  using ByRank = std::vector<Place>;  // ascending, parts in their order
  static void settle(ByRank& places);
  static void find(const ByRank& all, Rank rank, Bytes offset, Bytes bytes, Places& places);

  ByRank send_;
  ByRank receive_;
  bool in_parts_;
};

}  // namespace nuice::mpi
